"""Rows that a region goes over without naming them: all, or so many that are drawn by a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest

from eqspec.compile import Compiled
from eqspec.errors import SpecError
from eqspec.report.statement import statement
from eqspec.tasks.row_source import RowSource
from eqspec.tasks.task import Task

Compile = Callable[..., Compiled]
HEAD = 'space s { features a, b outputs y, z }\nnetwork f = "2x2.onnx" in s network g = "2x2-b.onnx" in s\n'
TABLE = "kind,p,q\n" + "".join(f"k{i},{i},{-i}\n" for i in range(40))
HOLES = "a,b\n1,2\n3,nan\n5,6\n,8\n9,10\n"


def check(rows: str, more: str = "") -> str:
    return f"{HEAD} region r in s = ball linf 1 around {rows} check c {{ prove g keeps top1 of f on r {more} }}"


def rows_of(tasks: tuple[Task, ...]) -> list[int]:
    return [int(task.parameters["row"]) for task in tasks]


def test_rows_without_numbers_are_all_rows(compiled: Compile) -> None:
    tasks = compiled(check('rows of "t.csv" columns 1..2'), t__csv=TABLE).tasks
    assert rows_of(tasks) == list(range(40))
    assert tasks[7].around == (Fraction(7), Fraction(-7))
    assert tasks[7].row_source == RowSource("t.csv", 40, 40, "all")


def test_a_sample_is_drawn_by_its_seed_alone(compiled: Compile) -> None:
    def drawn(clause: str) -> list[int]:
        return rows_of(compiled(check(f'rows of "t.csv" columns 1..2 {clause}'), t__csv=TABLE).tasks)

    small, large = drawn("sample 5"), drawn("sample 12")
    assert len(set(small)) == 5
    assert small == sorted(small) == drawn("sample 5 seed 1")
    assert set(small) < set(large)  # what is kept of a smaller sample serves a larger one
    assert drawn("sample 5 seed 2") != small
    assert drawn("sample 40") == list(range(40))
    counts = Counter(row for seed in range(60) for row in drawn(f"sample 20 seed {seed}"))
    assert set(counts) == set(range(40))
    assert max(counts.values()) <= 46  # of a binomial with 60 and 1/2: less than one in 10 000 exceeds that


def test_a_sample_of_named_rows(compiled: Compile) -> None:
    tasks = compiled(check('rows 30..39, 2 of "t.csv" columns 1..2 sample 4'), t__csv=TABLE).tasks
    assert set(rows_of(tasks)) <= {2, *range(30, 40)}
    assert tasks[0].row_source == RowSource("t.csv", 40, 4, "sampled", seed=1)
    assert any("4 drawn by seed 1" in note for note in statement(tasks[0]).notes)


def test_rows_without_numbers_in_them_are_passed_over_and_counted(compiled: Compile) -> None:
    found = compiled(check('rows of "t.csv"'), t__csv=HOLES)
    assert rows_of(found.tasks) == [0, 2, 4]
    assert found.tasks[0].row_source == RowSource("t.csv", 5, 3, "all", unusable=2)
    (said,) = found.diagnostics
    assert (said.code, "2 rows hold a cell that is not a number, as 'nan' in column 1" in said.message) == (
        "W313",
        True,
    )
    drawn = compiled(check('rows of "t.csv" sample 3'), t__csv=HOLES)
    assert rows_of(drawn.tasks) == [0, 2, 4]
    with pytest.raises(SpecError, match="row 1, column 1"):  # what is named is meant
        compiled(check('rows 0..1 of "t.csv"'), t__csv=HOLES)


def test_a_search_goes_over_drawn_rows(compiled: Compile) -> None:
    text = (
        f'{HEAD} region r(d) in s = ball linf d around rows of "t.csv" columns 1..2 sample 3 '
        "check c { prove g stays within 9 of f on r(d) find largest d in 0.1 .. 2 }"
    )
    finds = compiled(text, t__csv=TABLE).finds
    assert len(finds) == 3
    assert [find.task_at(Fraction(1)).parameters["row"] for find in finds] == [f.parameters["row"] for f in finds]


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ('rows of "t.csv" columns 1..2 sample 41', "E140", "a sample of 41 rows: 't.csv' has 40"),
        ('rows 0..3 of "t.csv" columns 1..2 sample 5', "E138", "a sample of 5 from 4 rows"),
        ('rows of "t.csv" columns 1..2 sample 0', "E138", "a sample is a whole number from 1, not 0"),
        ('rows of "t.csv" columns 1..2 sample 3/2', "E138", "not 1.5"),
        ('rows of "t.csv" columns 1..2 sample 3 seed -1', "E138", "a seed is a whole number from 0, not -1"),
        ('rows of "t.csv" columns 0..1', "E141", "no row of 't.csv' holds numbers only: column 0 has 'k0'"),
        ('rows of "empty.csv"', "E140", "'empty.csv' has no rows"),
        ('rows of "none.csv"', "E110", "none.csv"),
    ],
)
def test_what_cannot_be_drawn(compiled: Compile, rows: str, code: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        compiled(check(rows), t__csv=TABLE, empty__csv="a,b\n")
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert words in found.message
