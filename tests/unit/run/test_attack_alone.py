"""Networks that are too large for bounds: attacked alone, and nothing of them is proved."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from eqspec.cache.store import Store
from eqspec.property import Confidence, Epsilon, Margin, Property, Top1
from eqspec.run import attack_alone
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import network, task

FIRST = network(([[1.0, -1.0], [0.5, 1.0]], [0, 0]), ([[1.0, 0.0], [0.0, 1.0]], [0, 0]))
SECOND = network(([[1.0, -1.0], [0.5, 1.25]], [0, 0]), ([[1.0, 0.0], [0.0, 1.0]], [0, 0]))


def asked(claim: Property) -> Task:
    return task(FIRST, SECOND, claim, [0, 0], [1, 1])


@pytest.mark.parametrize(
    ("claim", "breaks"),
    [(Epsilon(Fraction(1, 5)), True), (Epsilon(Fraction(1, 4)), False), (Top1(), True)],
)
def test_a_claim_is_broken_by_a_replayed_point_or_stays_unknown(
    claim: Property, breaks: bool, monkeypatch: Any
) -> None:
    """Outputs differ by a quarter of the second input; class 0 is first where x > 4 y, in the other where x > 4.5 y."""
    monkeypatch.setattr(attack_alone, "MOST_BOUNDED", 1)
    result = Runner(Options()).run(asked(claim))
    if breaks:
        assert result.verdict is Verdict.DIFFERENT
        assert result.witness is not None
        return
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.SIZE)
    assert "products" in str(result.message)


@pytest.mark.parametrize("claim", [Top1(), Margin(Fraction(1, 10)), Confidence(Fraction(3, 5))])
def test_of_very_many_classes_no_pairs_are_listed(claim: Property, monkeypatch: Any, tmp_path: Path) -> None:
    """A decision is attacked, and where nothing is found it is said what can be proved; a distance is searched."""
    monkeypatch.setattr(attack_alone, "MOST_CLASSES", 1)
    runner = Runner(Options(), ResultCache(Store(tmp_path)))
    result = runner.run(asked(Top1()))
    assert result.verdict is Verdict.DIFFERENT
    same = task(FIRST, FIRST, claim, [0, 0], [1, 1])
    monkeypatch.setattr(runner, "key", None)
    assert runner.kept(same) is None
    left = runner.run(same)
    assert (left.verdict, left.reason) == (Verdict.UNKNOWN, Reason.SIZE)
    assert "2 outputs" in str(left.message)
    assert Runner().run(asked(Epsilon(Fraction(1, 2)))).verdict is Verdict.EQUIVALENT


def test_small_networks_are_searched(monkeypatch: Any) -> None:
    monkeypatch.setattr(attack_alone, "attacked", None)
    assert Runner(Options()).run(asked(Epsilon(Fraction(1, 2)))).verdict is Verdict.EQUIVALENT


def test_whoever_stops_is_heard(monkeypatch: Any) -> None:
    monkeypatch.setattr(attack_alone, "MOST_BOUNDED", 1)
    assert Runner(Options()).run(asked(Epsilon(Fraction(1, 2))), stop=lambda: True).reason is Reason.INTERRUPTED
