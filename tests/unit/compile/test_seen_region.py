"""Regions made of the rows of a table: the constraints against principal components computed another way, what is
dropped against every corner, and the count of held-out rows in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import examples
from eqspec.compile import Compiled
from eqspec.compile.seen_region import bites, largest
from eqspec.errors import SpecError
from eqspec.property import Epsilon
from eqspec.replay.replay import Replay, contains, raw_point
from eqspec.report.inputs import nearest_row
from eqspec.report.statement import statement
from eqspec.spec import parse_text, printer
from eqspec.tasks.binomial import at_least
from eqspec.tasks.question import Question, question
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.witness import Witness
from small_tasks import identity, network, task

Compile = Callable[..., Compiled]
F = Fraction
SIDES = st.tuples(st.integers(-5, 5), st.integers(-5, 0), st.integers(0, 5))
"""A coefficient, and the ends of a range."""
HEAD = (
    "space s { features a, b [m], c normalise zscore mean [5, -3/4, 0] std [2, 1/2, 3] outputs y, z }\n"
    'network f = "3x2.onnx" in s network g = "3x2-b.onnx" in s\n'
)


def table(count: int = 400, seed: int = 0) -> tuple[np.ndarray[Any, Any], str]:
    """Rows (N, 3) near a plane, of which b is nearly twice a, to four digits."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(5, 2, count), rng.normal(0, 3, count)
    rows = np.round(np.stack([a, 0.25 * a - 2 + 0.02 * rng.normal(size=count), c], axis=1), 4)
    return rows, "a,b,c\n" + "".join(f"{x},{y},{z}\n" for x, y, z in rows.tolist())


@pytest.fixture
def files(tmp_path: Any) -> None:
    for name in ("3x2", "3x2-b"):
        (tmp_path / f"{name}.onnx").write_text("")


def region(compiled: Compile, data: str, box: str = "all within 4 sigma", more: str = "") -> Task:
    spec = f"{HEAD} region r in s = box {{ {box} }} {more} and {data} check c {{ prove g keeps top1 of f on r }}"
    return compiled(spec, t__csv=table()[1]).tasks[0]


@pytest.mark.usefixtures("files")
class TestRegion:
    def test_rows_that_are_like_the_others_lie_in_it_and_others_do_not(self, compiled: Compile) -> None:
        asked = region(compiled, 'data "t.csv" keeping 0.95 with 2 components')
        rows, _ = table()

        def normalised(raw: Any) -> list[F]:
            space = asked.space
            return [(F(float(v)) - m) / s for v, m, s in zip(raw, space.centre, space.scale, strict=True)]

        inside = [contains(asked, normalised(row)) for row in rows]
        assert 0.9 < np.mean(inside) < 1.0
        fresh, _ = table(600, seed=9)
        assert 0.88 < np.mean([contains(asked, normalised(row)) for row in fresh]) < 1.0
        off = rows[0] + [0.0, 0.5, 0.0]  # within the range of every feature, and 25 standard deviations off the plane
        assert not contains(asked, normalised(off))

    def test_it_bounds_principal_components_and_the_distance_from_their_plane(self, compiled: Compile) -> None:
        """Against the eigenvectors of the covariance matrix: the same subspace, up to which rows are learnt from."""
        asked = region(compiled, 'data "t.csv" keeping 0.95 with 2 components')
        rows, _ = table()
        std = rows.std(axis=0)
        values, vectors = np.linalg.eigh(np.cov(((rows - rows.mean(axis=0)) / std).T))
        normals = np.array([[float(v) for v in c.coefficients] for c in asked.constraints])
        raw = normals / np.array([2.0, 0.5, 3.0]) * std  # of standardised features
        raw /= np.linalg.norm(raw, axis=1, keepdims=True)
        least = vectors[:, np.argmin(values)]
        along = np.abs(raw @ least)
        assert ((along > 0.99) | (along < 0.05)).all()  # across the plane, or in it
        assert (along > 0.99).any()
        assert asked.seen[0].components == 2
        assert asked.seen[0].explained == pytest.approx(1 - values.min() / values.sum(), abs=0.01)

    def test_as_few_components_as_explain_the_variance(self, compiled: Compile) -> None:
        assert region(compiled, 'data "t.csv" keeping 0.9').seen[0].components == 2  # of 1.99, 1 and 0.01

    def test_held_out_rows_are_counted_in_the_whole_region(self, compiled: Compile) -> None:
        asked = region(compiled, 'data "t.csv" keeping 0.9', "all within 2 sigma", more="and where { a + c <= 8 }")
        (seen,), rows = asked.seen, asked.observed[0].rows
        assert (seen.rows, seen.held_out) == (400, 100)
        exact = [
            contains(asked, [(v - m) / s for v, m, s in zip(row, asked.space.centre, asked.space.scale, strict=True)])
            for _, row in rows
        ]
        assert seen.inside <= sum(exact)  # of all rows, held out or not
        wide = region(compiled, 'data "t.csv" keeping 0.9', "all within 9 sigma").seen[0]
        assert seen.inside < wide.inside <= 97
        assert wide.at_least == at_least(wide.inside, 100)
        assert f"{seen.inside} of 100 held-out rows lie in the region" in "\n".join(statement(asked).region)

    def test_what_cuts_nothing_off_is_dropped_and_nothing_else(self, compiled: Compile) -> None:
        small = region(compiled, 'data "t.csv" keeping 0.99', "all within 0.1 sigma")
        large = region(compiled, 'data "t.csv" keeping 0.99', "all within 9 sigma")
        assert len(small.constraints) < len(large.constraints) == large.seen[0].biting == large.seen[0].constraints
        assert small.seen[0].biting == len(small.constraints)
        random = np.random.default_rng(0).uniform(-0.1, 0.1, (50, 3))
        for x in random.tolist():
            point = [F(v) for v in x]
            whole = all(
                sum(a * v for a, v in zip(c.coefficients, point, strict=True)) <= c.bound for c in large.constraints
            )
            assert contains(small, point) is whole

    def test_a_search_over_the_box_keeps_its_data(self, compiled: Compile) -> None:
        text = (
            f'{HEAD} region r(s) in s = box {{ all within s sigma }} and data "t.csv" keeping 0.9 '
            "check c { prove g keeps top1 of f on r(k) find largest k in 0.01 .. 9 }"
        )
        (find,) = compiled(text, t__csv=table()[1]).finds
        assert len(find.task_at(F("0.01")).constraints) < len(find.task_at(F(9)).constraints)
        moving = text.replace("keeping 0.9", "keeping s / 10")
        with pytest.raises(SpecError, match="what is kept of a table"):
            compiled(moving, t__csv=table()[1])

    def test_a_box_beside_the_rows_is_empty(self, compiled: Compile) -> None:
        with pytest.raises(SpecError, match=r"E133.*is empty: no input of its box lies as near to the rows of 't.csv'"):
            region(compiled, 'data "t.csv" keeping 0.9', "a: 5 .. 6 b: 3 .. 4 c: 0 .. 1")

    def test_each_of_two_tables_is_told_and_counted_with_the_other(self, compiled: Compile, tmp_path: Any) -> None:
        (tmp_path / "u.csv").write_text(table(500, seed=4)[1])
        both = region(compiled, 'data "t.csv" keeping 0.9 and data "u.csv" keeping 0.8')
        assert [seen.table for seen in both.seen] == ["t.csv", "u.csv"]
        assert sum(seen.biting for seen in both.seen) == len(both.constraints)
        assert both.seen[0].inside < region(compiled, 'data "t.csv" keeping 0.9').seen[0].inside
        assert len(question(both).constraints) == 2

    def test_a_region_may_still_be_called_data(self, compiled: Compile) -> None:
        text = f"{HEAD} region data in s = box {{ all within 1 sigma }} region r in s = data and box {{ a: 4 .. 5 }}"
        assert len(compiled(text + " check c { prove g keeps top1 of f on data }", t__csv="").tasks) == 1
        assert printer.text(parse_text(f"eqspec 1\n{text}")).count("data") == 2

    def test_the_question_is_kept_with_the_result(self, compiled: Compile) -> None:
        asked = question(region(compiled, 'data "t.csv" keeping 0.9'))
        assert Question.from_json(asked.to_json()) == asked
        assert asked.to_json()["seen"][0]["at_least"] == float(asked.seen[0].at_least)


@settings(max_examples=examples(40))
@given(st.lists(SIDES, min_size=1, max_size=4), st.integers(-20, 20))
def test_the_largest_value_is_that_of_a_corner(sides: list[tuple[int, int, int]], bound: int) -> None:
    coefficients, lower, upper = (tuple(map(F, part)) for part in zip(*sides, strict=True))
    constraint = LinearConstraint(coefficients, F(bound))
    ends = product(*zip(lower, upper, strict=True))
    corners = [sum(a * v for a, v in zip(coefficients, x, strict=True)) for x in ends]
    assert largest(constraint, lower, upper) == max(corners)
    assert bites(constraint, lower, upper) is any(value > bound for value in corners)


@pytest.mark.usefixtures("files")
def test_a_witness_says_how_far_the_nearest_row_is(compiled: Compile) -> None:
    observed = region(compiled, 'data "t.csv" keeping 0.9').observed
    twice = network((2 * np.eye(3), np.zeros(3)))
    asked = task(identity(3), twice, Epsilon("1"), (F(-3),) * 3, (F(3),) * 3, observed=observed)
    witness = Replay(asked).replay((F(3), F(3), F(-2)))
    assert witness is not None
    assert witness.nearest is not None
    rows, _ = table()
    apart = np.abs((rows - [5, -0.75, 0]) / [2, 0.5, 3] - [3, 3, -2]).max(axis=1)
    assert witness.nearest.row == int(apart.argmin())
    assert witness.nearest.distance == pytest.approx(apart.min())
    assert f"row is {witness.nearest.row} of t.csv, {apart.min():.3g} away" in nearest_row(witness)
    assert Witness.from_json(witness.to_json()) == witness
    assert raw_point(asked, witness.normalised) == (F(3), F(3), F(-2))
