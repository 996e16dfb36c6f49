"""Which region a first spec is about, after sizes were tried from small to large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from eqspec.draft import probe as module
from eqspec.draft.probe import Probed, probe
from eqspec.tasks.verdict import Verdict


@dataclass
class _Found:
    verdict: Verdict = Verdict.EQUIVALENT
    vacuous: bool = True


def test_a_region_on_which_the_claim_holds_for_nothing_is_not_drafted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time ends behind such a region the next larger one is drafted, and was not tried."""
    clock = iter(range(100))
    monkeypatch.setattr(module, "perf_counter", lambda: float(next(clock)))
    found: Any = _Found()
    monkeypatch.setattr(module, "_run", lambda *_: found)
    assert probe(lambda size: [found], ["1", "2", "3"], 2.5) == Probed(failed="3", empty=True)
    assert probe(lambda size: [found], ["1", "2"], 50) == Probed(empty=True)
    found.vacuous = False
    assert probe(lambda size: [found], ["1", "2", "3"], 4.5).proved == "2"
