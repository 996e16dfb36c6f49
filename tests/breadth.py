"""How many of its cases a test takes: a part of them that has every kind, or the whole, with `pytest --whole`.

What finds a class of faults is a kind of case: an operator, a rule, a message, a boundary of an opset. What makes tests
long is their combination: every operator in every opset in every shape with every rounding, and thirty seeds of each.

- `@pytest.mark.part(12)` on a parametrised test: by default it takes 12 of its cases, whatever seeds and tables are.
  `chosen` picks them so that each value of each parameter occurs, then as many pairs of values as possible (pairwise
  testing: Mandl, Orthogonal Latin squares, CACM 28, 1985), spread over the whole table.
  `@pytest.mark.part(20, curve=attrgetter("name"))`: what counts as a value of `curve` is its name.
- `@pytest.mark.whole`: by default it takes none. For a sweep whose kinds another test has.
- `some(range(40), 8)`: the same for a loop inside a test.
- `examples(40)`: for `hypothesis.settings` of tests that take another number of examples than the profile.

A test that is named on the command line (`file.py::test`, `-k test`) takes all its cases. tests/conftest.py takes the
hooks at the end of this file.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from itertools import combinations
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Case = TypeVar("Case")

PART, WHOLE = "part", "whole"
"""Profiles of hypothesis: what a run takes by default, and with `--whole`."""
EXAMPLES = {PART: 20, WHOLE: 60, "slow": 2000}
"""Of each test that says nothing else."""
_PLAIN = (str, int, float, Enum, type(None))
_GOLDEN = (5**0.5 - 1) / 2


def take(profile: str) -> None:
    """Of everything that follows, what this profile says; the first examples are the same in the part and the whole."""
    for name, number in EXAMPLES.items():
        settings.register_profile(name, max_examples=number, deadline=None, derandomize=name != "slow")
    settings.load_profile(profile)


def profile() -> str:
    """What was taken last; the whole, for programs that are no tests."""
    default = settings.default
    assert default is not None
    return next((name for name, number in EXAMPLES.items() if number == default.max_examples), WHOLE)


def is_part() -> bool:
    """Whether this run takes a part of the cases."""
    return profile() == PART


def examples(whole: int) -> int:
    """As many examples as this profile takes of a test that takes so many in the whole; two at least."""
    return max(2, whole * EXAMPLES[profile()] // EXAMPLES[WHOLE])


def some(cases: Iterable[Case], number: int) -> list[Case]:
    """So many of the cases, spread over all and in their order; every one in the whole run."""
    every = list(cases)
    return [every[at] for at in sorted(_spread(len(every))[:number])] if is_part() else every


def chosen(cases: Sequence[Sequence[Hashable]], number: int) -> list[int]:
    """Places of so many cases, each given by the values of its parameters, in their order.

    Greedy: the next one brings most values that are new, then most pairs of values that are new.
    """
    values = [frozenset(enumerate(case)) for case in cases]
    pairs = [frozenset(combinations(enumerate(case), 2)) for case in cases]
    left = _spread(len(cases))
    taken: list[int] = []
    seen_values: set[object] = set()
    seen_pairs: set[object] = set()
    while left and len(taken) < number:
        best = max(left, key=lambda at: (len(values[at] - seen_values), len(pairs[at] - seen_pairs)))
        left.remove(best)
        taken.append(best)
        seen_values |= values[best]
        seen_pairs |= pairs[best]
    return sorted(taken)


def left_out(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Those that are for the whole alone, by their marks."""
    out = {item for item in items if item.get_closest_marker("whole") is not None}
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("part") is not None:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in functions.values():
        mark = cases[0].get_closest_marker("part")
        assert mark is not None
        keep = chosen([_parameters(item, mark) for item in cases], *mark.args)
        if len(keep) == len(cases):
            raise pytest.UsageError(f"{cases[0].nodeid}: its part is all {len(cases)} cases, so that it needs no mark")
        out |= set(cases) - {cases[at] for at in keep}
    return out


def _parameters(item: pytest.Item, mark: pytest.Mark) -> list[Hashable]:
    """Each of its values: what the mark makes of it, itself where it is plain, or else its place in `parametrize`."""
    assert isinstance(item, pytest.Function), item
    assert hasattr(item, "callspec"), f"{item.nodeid} has no cases of which it could take a part"
    values: dict[str, Any] = item.callspec.params
    assert mark.kwargs.keys() <= values.keys(), f"{item.nodeid} has no parameters {sorted(mark.kwargs)}"
    return [
        mark.kwargs[name](value)
        if name in mark.kwargs
        else value
        if isinstance(value, _PLAIN)
        else item.callspec.indices[name]
        for name, value in sorted(values.items())
    ]


def _spread(length: int) -> list[int]:
    """All places in an order of which every beginning is spread evenly (multiples of the golden ratio, modulo 1)."""
    return sorted(range(length), key=lambda at: at * _GOLDEN % 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--whole`."""
    parser.addoption("--whole", action="store_true", help="take all cases of every test, not a part (tests/breadth.py)")


def pytest_configure(config: pytest.Config) -> None:
    """How many examples, before any test is read."""
    take(os.environ.get("HYPOTHESIS_PROFILE") or (WHOLE if config.getoption("--whole") else PART))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for the whole alone, unless somebody asks for a test by its name."""
    if is_part() and not config.getoption("keyword") and not any("::" in argument for argument in config.args):
        out = left_out(items)
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]


def pytest_report_header() -> str:
    """So that nobody takes the part for the whole."""
    return "cases: a part of each kind; all of them with --whole" if is_part() else "cases: all"
