"""Every example spec comes out as it says, and no way of searching ever contradicts it.

The expectations are not our output: each `different` is confirmed by onnxruntime on the original files here, and each
`equivalent` is reached in several ways that have little in common, next to random inputs that look for the contrary.
Searches other than the default are limited by boxes, so that they may give up but do not take long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eqspec
from breadth import some
from eqspec.run import core
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict

ROOT = Path(__file__).parents[2]
SPECS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "specs").rglob("*.eqspec"))
FEW_BOXES = 40
SOME = 8
"""Tasks of each spec that are searched twice in the same way."""


@dataclass(frozen=True)
class Uncontracted(Options):
    """Options of a search that never assumes a violation to narrow bounds."""

    def settings(self, task: Task) -> core.Settings:
        """The same, without contraction; not an option of the package, since it only ever costs."""
        chosen: dict[str, Any] = {"threads": self.threads, "boxes": self.boxes, "lp": self.lp, "domain": self.domain}
        return core.Settings(**chosen, contract=False)


MODES = {
    "default": Options(threads=2),
    "one thread": Options(threads=1, boxes=FEW_BOXES),
    "without programs": Options(threads=2, boxes=FEW_BOXES, lp=False),
    "without contraction": Uncontracted(threads=1, boxes=FEW_BOXES),
    "paper": Options(threads=2, boxes=FEW_BOXES, domain="paper"),
    "naive": Options(threads=1, boxes=FEW_BOXES, domain="naive"),
    "naive without programs": Options(threads=2, boxes=FEW_BOXES, domain="naive", lp=False),
}
LIMITED = [name for name in MODES if name != "default"]


@cache
def tasks(spec: str) -> tuple[Task, ...]:
    """The tasks of a spec, compiled once."""
    return eqspec.load(ROOT / spec).tasks


@cache
def results(spec: str, mode: str) -> tuple[Result, ...]:
    """What becomes of a spec in a mode, found once."""
    runner = Runner(MODES[mode])
    return tuple(runner.run(task) for task in tasks(spec))


def test_there_are_examples_of_every_kind() -> None:
    assert {"specs/lhc.eqspec", "specs/digits.eqspec", "specs/cells.eqspec", "specs/tiny/tiny.eqspec"} <= set(SPECS)
    expected = [task.expected for spec in SPECS for task in tasks(spec)]
    assert None not in expected
    assert set(expected) == {"equivalent", "different"}
    assert len({type(task.property) for spec in SPECS for task in tasks(spec)}) >= 3


@pytest.mark.parametrize("spec", SPECS)
def test_every_check_comes_out_as_it_says(spec: str) -> None:
    for result in results(spec, "default"):
        assert result.as_expected is True, f"{result.id}: {result.verdict}, expected {result.expected}"
        assert not result.vacuous, f"{result.id} says nothing: no input meets its condition"


@pytest.mark.parametrize("mode", LIMITED)
@pytest.mark.parametrize("spec", SPECS)
def test_no_way_of_searching_contradicts(spec: str, mode: str) -> None:
    for result in results(spec, mode):
        if result.verdict is Verdict.UNKNOWN:
            assert result.reason in (Reason.BOXES, Reason.SPURIOUS, Reason.INCOMPLETE), f"{result.id}: {result.reason}"
        else:
            assert result.verdict.value == result.expected, f"{result.id}: {result.verdict} by {mode}"


@pytest.mark.parametrize("mode", MODES)
def test_every_way_decides_something(mode: str) -> None:
    """Or else the agreement above says nothing."""
    verdicts = [result.verdict for spec in SPECS for result in results(spec, mode)]
    assert verdicts.count(Verdict.EQUIVALENT) >= 3
    assert verdicts.count(Verdict.DIFFERENT) >= 2


@pytest.mark.parametrize("mode", MODES)
def test_witnesses_are_confirmed_by_onnxruntime(mode: str) -> None:
    different = [result for spec in SPECS for result in results(spec, mode) if result.verdict is Verdict.DIFFERENT]
    assert different
    for result in different:
        assert result.witness is not None
        assert result.witness.onnxruntime_confirms is True, f"{result.id}: {result.witness.onnxruntime_reason}"


@pytest.mark.parametrize("spec", SPECS)
def test_random_inputs_do_not_contradict(spec: str) -> None:
    rng = np.random.default_rng(7)
    for task in tasks(spec):
        if task.expected == "equivalent":
            replay = Runner().replay(task)
            for _ in some(range(30), 10):
                share = rng.random(len(task.lower)) if rng.random() < 0.5 else rng.integers(0, 2, len(task.lower))
                point = np.clip(task.lower + share * (task.upper - task.lower), task.lower, task.upper)
                assert not replay.confirm(point), f"{task.id} breaks at {point.tolist()}"


def test_the_ways_really_differ() -> None:
    """Each option changes the work as it must: enclosures widen, programs and contractions vanish."""

    def all_of(mode: str) -> list[Result]:
        return [result for spec in SPECS for result in results(spec, mode)]

    def bounds(mode: str) -> list[float]:
        return [result.initial_bound or 0.0 for result in all_of(mode)]

    def stage(mode: str, name: str) -> int:
        return sum(result.stages[name] for result in all_of(mode))

    def lps(mode: str) -> int:
        return sum(result.lps for result in all_of(mode))

    assert sum(2 * narrow < wide for narrow, wide in zip(bounds("paper"), bounds("naive"), strict=True)) > 30
    assert any(narrow < wide for narrow, wide in zip(bounds("default"), bounds("paper"), strict=True))
    assert lps("without programs") == lps("naive without programs") == 0
    assert stage("without programs", "dual") == stage("naive without programs", "dual") == 0
    assert min(stage(mode, "dual") for mode in ("default", "paper", "naive")) > 0
    assert stage("without contraction", "contraction") == 0 < stage("one thread", "contraction")
    work = {mode: tuple((result.boxes, result.verdict) for result in all_of(mode)) for mode in LIMITED}
    assert len(set(work.values())) >= 4


def test_one_thread_searches_the_same_way_twice() -> None:
    for spec in SPECS:
        again = Runner(MODES["one thread"])
        for task, first in list(zip(tasks(spec), results(spec, "one thread"), strict=True))[:SOME]:
            second = again.run(task)
            assert (first.verdict, first.boxes, first.splits, first.lps) == (
                second.verdict,
                second.boxes,
                second.splits,
                second.lps,
            )
