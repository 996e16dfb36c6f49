"""Which cases tests take by default: a part that has every kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

import breadth

pytest_plugins = ("pytester",)

PLUGINS = ("-p", "breadth", "-p", "no:xdist", "-p", "no:eqspec", "-p", "no:cacheprovider")
TABLE = list(product(range(4), range(5), range(3)))


@pytest.fixture(autouse=True)
def _afterwards_as_before() -> Iterator[None]:
    before = breadth.profile()
    yield
    breadth.take(before)


@pytest.mark.parametrize(("number", "values"), [(5, 12), (20, 12), (59, 12), (60, 12), (1000, 12)])
def test_each_value_occurs_and_most_pairs(number: int, values: int) -> None:
    taken = [TABLE[at] for at in breadth.chosen(TABLE, number)]
    assert len(taken) == len(set(taken)) == min(number, len(TABLE))
    assert taken == sorted(taken)
    assert len({(at, value) for case in taken for at, value in enumerate(case)}) == values
    if number >= 20:
        assert {case[:2] for case in taken} == set(product(range(4), range(5)))


def test_of_one_parameter_they_are_spread() -> None:
    taken = breadth.chosen([(seed,) for seed in range(100)], 10)
    assert max(b - a for a, b in zip([0, *taken], [*taken, 99], strict=True)) <= 20
    assert breadth.chosen([], 3) == []


def test_a_kind_that_is_rare_is_taken() -> None:
    kinds = ["one"] * 50 + ["two"] + ["one"] * 50
    assert 50 in breadth.chosen([(kind,) for kind in kinds], 2)


@pytest.mark.parametrize("profile", [breadth.PART, breadth.WHOLE])
def test_a_loop_takes_some_in_their_order(profile: str) -> None:
    breadth.take(profile)
    taken = breadth.some(range(30), 7)
    assert taken == sorted(taken)
    assert len(taken) == (7 if profile == breadth.PART else 30)
    assert breadth.some("a", 7) == ["a"]
    assert breadth.examples(60) == breadth.EXAMPLES[profile]
    assert breadth.examples(1) == 2


SUITE = """
import pytest

@pytest.mark.part(4)
@pytest.mark.parametrize("shape", "ab")
@pytest.mark.parametrize("opset", [7, 9, 13, 17])
def test_table(opset, shape): pass

@pytest.mark.whole
def test_sweep(): pass

def test_single(): pass
"""


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [((), 5), (("--whole",), 10), (("-k", "table"), 8), (("test_suite.py::test_sweep",), 1)],
    ids=["default", "whole", "by a word", "by its name"],
)
def test_a_run_takes_what_it_is_told(arguments: tuple[str, ...], passed: int, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_suite=SUITE)
    pytester.runpytest_inprocess(*PLUGINS, *arguments).assert_outcomes(passed=passed)


def test_a_part_that_is_the_whole_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_suite=SUITE.replace("part(4)", "part(8)"))
    result = pytester.runpytest_inprocess(*PLUGINS)
    result.stderr.fnmatch_lines(["*its part is all 8 cases, so that it needs no mark"])
