"""The mixed-integer solver as a last resort: it may settle what splitting does not, and nothing it says is a proof.

The queries are a hair's breadth from where their answer turns, so that boxes are split many times before the solver is
asked; the oracle knows the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from eqspec.lp import MixedAnswer, MixedProgram, MixedSolver
from eqspec.property import Epsilon
from eqspec.replay.replay import Replay
from eqspec.report.table import remark
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from oracle.queries import Query, known
from oracle.search import Bounded, is_witness

HAIR = Fraction(1, 10**6)
SETTLED = 108
"""The seed of a pair on three inputs where a few boxes are left that only the solver settles."""
SEEDS = (69, SETTLED)


def asked(seed: int, share: Fraction) -> Query:
    """Whether the first output stays within its greatest distance, and this share of it more."""
    pair, oracle = known(seed)
    greatest = oracle.greatest_distance("linf", (0,))
    assert greatest is not None
    return Query(pair, oracle, Epsilon(greatest.value * (1 + share), "linf", (0,)), share < 0, None, "shared", 1, True)


def run(query: Query, *, milp: bool, boxes: int = 300) -> Result:
    """With weaker bounds than there are, so that something is left for the solver."""
    bounded = Bounded(threads=1, boxes=boxes, contract_above=0, back_substitution=False, singles=False, milp=milp)
    return Runner(bounded).run(query.task())


def answering(monkeypatch: pytest.MonkeyPatch, answer: Callable[[MixedProgram], MixedAnswer]) -> None:
    """Instead of HiGHS."""
    monkeypatch.setattr(MixedSolver, "answer", lambda _, program: answer(program))


@pytest.mark.part(3)
@pytest.mark.parametrize("share", [HAIR, -HAIR, -Fraction(1, 10)], ids=["holds", "breaks", "clearly breaks"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_solver_that_lies_proves_nothing(monkeypatch: pytest.MonkeyPatch, seed: int, share: Fraction) -> None:
    # Without any counterexample believed, boxes around the violation are split until the solver is asked.
    answering(monkeypatch, lambda _: (True, None))
    monkeypatch.setattr(Replay, "confirm", lambda *_, **__: False)
    result = run(asked(seed, share), milp=True, boxes=1500)
    assert result.verdict is Verdict.UNKNOWN
    assert result.rests_on_solver > 0
    assert result.certified_fraction < 1.0
    assert result.as_expected is None


def test_what_only_the_solver_settles_is_said_to_rest_on_it() -> None:
    query = asked(SETTLED, HAIR)
    without, result = run(query, milp=False), run(query, milp=True)
    assert (without.verdict, without.reason, without.milps) == (Verdict.UNKNOWN, Reason.BOXES, 0)
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.SOLVER)
    assert 0 < result.rests_on_solver <= result.milps
    assert result.boxes < without.boxes
    assert "equivalent if HiGHS is right" in remark(result).plain
    assert Result.from_json(result.to_json()) == result


def test_an_input_that_the_solver_finds_is_replayed_exactly() -> None:
    query = asked(SETTLED, -HAIR)
    without, result = run(query, milp=False), run(query, milp=True)
    assert result.verdict is Verdict.DIFFERENT
    assert result.witness is not None
    assert is_witness(query, result.witness.normalised)
    assert result.milps > 0
    assert result.boxes < without.boxes


@pytest.mark.parametrize(
    "point",
    [
        lambda p: (p.lower + p.upper) / 2,
        lambda p: p.upper + 1.0,
        lambda p: np.full(len(p.cost), np.nan),
        lambda _: np.zeros(0),
    ],
    ids=["middle", "outside", "nan", "empty"],
)
def test_points_that_are_none_refute_nothing(
    monkeypatch: pytest.MonkeyPatch, point: Callable[[MixedProgram], np.ndarray]
) -> None:
    answering(monkeypatch, lambda program: (False, point(program)))
    result = run(asked(SETTLED, HAIR), milp=True)
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, Reason.BOXES)
    assert result.milps > 0
    assert result.rests_on_solver == 0


def test_without_the_option_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: MixedProgram) -> MixedAnswer:
        raise AssertionError("asked")

    answering(monkeypatch, fail)
    assert run(asked(SETTLED, HAIR), milp=False).milps == 0
    with pytest.raises(AssertionError, match="asked"):
        run(asked(SETTLED, HAIR), milp=True)


def test_results_are_kept_apart() -> None:
    task = asked(SETTLED, HAIR).task()
    assert Runner(Options(milp=True)).key(task) != Runner(Options()).key(task)


@dataclass
class Program:
    """maximise v0 + v1 for v in [0, 1]^2, v0 whole, with v0 + v1 between two numbers."""

    least: float
    most: float
    seconds: float = 5.0

    def __post_init__(self) -> None:
        self.cost, self.lower, self.upper = np.ones(2), np.zeros(2), np.ones(2)
        self.integer = np.array([True, False])
        self.starts, self.indices, self.values = np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.ones(2)
        self.row_lower, self.row_upper = np.array([self.least]), np.array([self.most])


def test_the_solver_answers() -> None:
    solver = MixedSolver()
    infeasible, point = solver.answer(Program(0.5, 1.5))
    assert not infeasible
    assert point is not None
    assert point.sum() > 1.3  # within the gap
    assert solver.answer(Program(3.0, np.inf)) == (True, None)
    assert solver.answer(Program(np.nan, 1.0)) == (False, None)
    broken = Program(0.5, 1.5)
    broken.values = np.array([1.0, np.nan])
    assert solver.answer(broken) == (False, None)
