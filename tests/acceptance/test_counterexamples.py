"""Violations in narrow places of real networks are found while the search has hardly begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance import published
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.verdict import Verdict

pytestmark = pytest.mark.shared

NARROW = [f"{pair} prop_7[eps=0.5]" for pair in ("1_1", "2_1", "3_9", "4_1")] + ["1_9 prop_7[eps=0.05]"]
"""Of 100 000 random points 30 or fewer violate these, for two of them 1 or 2; ascents end beside them. A search of
10 000 boxes takes two seconds and attacks the whole region a few times."""


@pytest.mark.part(3)
@pytest.mark.parametrize("name", NARROW)
def test_a_violation_in_a_narrow_place_is_found_early(name: str, shared: Path) -> None:
    (query,) = [q for q in published.acas(shared) if q.name == name]
    result = Runner(Options(boxes=10_000, threads=1)).run(query.task)
    assert result.verdict is Verdict.DIFFERENT
    assert query.published is not None
    assert query.published.verdict == "different"
