"""Words that the core sends have one place in Python each, and no other words are expected."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from core_pairs import pair
from eqspec.report.explain_search import PARTS, STAGES
from eqspec.run import core
from eqspec.tasks.result_schema import result_schema
from eqspec.tasks.stages import Part, Stage
from eqspec.tasks.verdict import Reason

BY_PYTHON = {Reason.ERROR, Reason.MEMORY, Reason.ROUNDING, Reason.OFF_GRID, Reason.SIZE, Reason.UNDECIDED}
"""What no search says of itself: it failed, or went beyond the memory that it may take; and what Python alone knows of
grids and of what quantised networks round.
"""


@pytest.fixture(scope="module")
def solution() -> core.Solution:
    """A search that decides nothing but one box; it counts for every stage and part."""
    layer = (np.eye(2), np.zeros(2))
    claim = core.Property.epsilon(1.0, "linf", [0, 1])
    return core.solve(pair([layer], [layer]), np.zeros(2), np.ones(2), claim, core.Settings(threads=1))


def test_stages_are_those_of_the_core(solution: core.Solution) -> None:
    assert list(solution.stages) == list(Stage)
    assert set(STAGES) == set(Stage)


def test_parts_of_the_work_are_those_of_the_core(solution: core.Solution) -> None:
    assert list(solution.effort["seconds"]) == list(Part)
    assert set(PARTS) == set(Part)


def test_reasons_are_those_of_the_core(root: Path) -> None:
    """They are read from its source, because no single search gives all of them."""
    sources = [path.read_text(encoding="utf-8") for path in sorted((root / "rust" / "src").rglob("*.rs"))]
    words = {word for text in sources for word in re.findall(r'\bReason::\w+ => "(\w+)"', text)}
    for text in sources:
        for table in re.findall(r"^reasons! \{(.*?)^\}", text, re.DOTALL | re.MULTILINE):
            words |= set(re.findall(r'^    \w+ = "(\w+)",', table, re.MULTILINE))
    assert words == set(Reason) - BY_PYTHON


def test_the_schema_has_every_reason() -> None:
    assert set(result_schema()["properties"]["reason"]["enum"]) == {*Reason, None}
