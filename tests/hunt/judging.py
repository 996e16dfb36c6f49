"""Decides a case with eqspec and says what is wrong about the answer, if anything, and what the case was an example of.

What must never be: a proof of what breaks; a witness that is none; a counterexample to what holds; a guard called
unmet that is met; a share of the region that is none; an exception. `unknown` is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from eqspec import _core
from eqspec.lp import HighsSolver
from eqspec.networks.network import AffineLayer, Network
from eqspec.tasks.lowering import Pairs, lower_constraints, lower_property
from eqspec.tasks.property import Epsilon
from eqspec.tasks.result import Result
from eqspec.tasks.run import Options, Runner
from eqspec.tasks.task import Task
from hunt.as_specs import expressible, run_spec
from hunt.cases import Case, Mode
from hunt.spreading import spread
from oracle.pairs import Pair, Random
from oracle.pieces import Layers
from oracle.queries import Query
from oracle.search import is_witness
from small_tasks import space, task

Array = NDArray[np.float64]
LpAnswer = tuple[Array, Array, Array | None]

STAGES = ("outside", "guard", "zonotope", "inherited", "program", "contraction", "overflow")


@dataclass(frozen=True)
class Answer:
    """What eqspec says; `witness` as it stands in the task's own inputs."""

    verdict: str
    reason: str | None
    vacuous: bool
    witness: tuple[Fraction, ...] | None
    initial_bound: float | None
    certified: float
    open_boxes: int
    boxes: int
    splits: int
    stages: Mapping[str, int]


@dataclass(frozen=True)
class Judgement:
    """What is wrong (None: nothing), and of what the case was an example."""

    complaint: str | None
    traits: list[str]


def judge(case: Case) -> Judgement:
    """Decide a case and hold the answer against the truth."""
    rng = np.random.default_rng(case.mode.seed)
    seen = spread(case.pair, case.mode.inputs, rng) if case.mode.inputs else case.pair
    try:
        answer = _decide(case, seen, rng)
    except Exception as error:  # a crash is a finding like any other
        return Judgement(f"{type(error).__name__}: {error}", ["raised"])
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what pyo3 makes of a panic is no Exception
            raise
        return Judgement(f"panic: {error}", ["raised"])
    return Judgement(_complaint(case, seen, answer), _traits(case, seen, answer))


def _decide(case: Case, seen: Pair, rng: Random) -> Answer:
    mode, made = case.mode, _task(case, seen, rng)
    if mode.channel == "runner" or (mode.channel == "spec" and not expressible(seen, case.claim)):
        return _answer_of(Runner(_Fixed(mode=mode)).run(made))
    if mode.channel == "spec":
        found = run_spec(seen, case.claim, _Fixed(mode=mode), rng)
        return _answer_of(found) if found else EMPTY
    asked = Query(seen, case.oracle, case.claim, case.breaks, None, "shared", 1, True)

    def confirm(point: Array) -> bool:
        return mode.channel == "confirming" and is_witness(asked, [Fraction(x) for x in point.tolist()])

    solution = _core.solve(
        Pairs().of(made),
        made.lower,
        made.upper,
        lower_property(case.claim, seen.outputs),
        mode.settings(),
        constraints=lower_constraints(made),
        answer_lps=_Noise(rng).answer
        if mode.solver == "noise"
        else _solver().answer
        if mode.solver == "highs"
        else None,
        confirm=confirm,
    )
    witness = solution.witness
    return Answer(
        solution.verdict,
        solution.reason,
        solution.vacuous,
        None if witness is None else tuple(Fraction(x) for x in witness.tolist()),
        solution.initial_bound,
        solution.certified_fraction,
        solution.open_boxes,
        solution.boxes,
        solution.splits,
        solution.stages,
    )


def _answer_of(result: Result) -> Answer:
    return Answer(
        result.verdict.value,
        result.reason.value if result.reason else None,
        result.vacuous,
        result.witness.normalised if result.witness else None,
        result.initial_bound,
        result.certified_fraction,
        result.open_boxes,
        result.boxes,
        result.splits,
        result.stages,
    )


EMPTY = Answer("equivalent", None, True, None, None, 1.0, 0, 0, 0, {})
"""Of a spec that is refused because nothing lies in its region: that is what it must mean."""


@dataclass(frozen=True)
class _Fixed(Options):
    """Options that are a mode."""

    mode: Mode = field(default_factory=Mode)

    def settings(self, task: Task) -> _core.Settings:
        return self.mode.settings()


def _answers(mode: Mode, rng: Random) -> Callable[[list[_core.LinearProgram]], list[LpAnswer]] | None:
    if mode.solver == "none":
        return None
    return _Noise(rng).answer if mode.solver == "noise" else _solver().answer


@cache
def _solver() -> HighsSolver:
    return HighsSolver()


class _Noise:
    """Multipliers, points and rays that mean nothing, of every size."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def answer(self, programs: Sequence[_core.LinearProgram]) -> list[LpAnswer]:
        return [self._answer(p.matrix.shape[0], p.matrix.shape[1], len(p.objectives)) for p in programs]

    def _answer(self, rows: int, columns: int, objectives: int) -> LpAnswer:
        rng = self._rng
        size = 10.0 ** float(rng.choice([-320, -10, -1, 0, 1, 10, 300]))
        with np.errstate(over="ignore", under="ignore"):
            duals = rng.normal(size=(objectives, rows)) * size
            ray = rng.normal(size=rows) * size
        points = rng.normal(size=(objectives, columns))
        return duals, points, ray if rng.random() < 0.5 else None


def _task(case: Case, seen: Pair, rng: Random) -> Task:
    smudge = case.mode.smudge
    return task(
        _network(seen.reference, smudge, rng),
        _network(seen.candidate, smudge, rng),
        case.claim,
        seen.lower,
        seen.upper,
        constraints=seen.constraints,
        space=space(len(seen.lower), seen.outputs, decide=seen.decide),
    )


def _network(layers: Layers, smudge: float, rng: Random) -> Network:
    """The network; smudged, it is another one whose declared errors contain these layers."""
    made = []
    for weight, bias in layers:
        if not smudge:
            made.append(AffineLayer(weight, bias))
            continue
        (w, we), (b, be) = (_moved(exact, smudge, rng) for exact in (weight, bias))
        made.append(AffineLayer(w, b, we, be))
    return Network(tuple(made), "<hunt>", "")


def _moved(exact: Array, share: float, rng: Random) -> tuple[Array, Array]:
    moved = exact * (1 + share * rng.uniform(-1, 1, exact.shape))
    gap = np.abs(moved - exact)
    return moved, np.nextafter(gap, np.inf) * (gap > 0)


def _complaint(case: Case, seen: Pair, answer: Answer) -> str | None:
    if answer.verdict == "equivalent" and case.breaks is True:
        return "proved, but it breaks"
    if answer.verdict == "different":
        if case.breaks is False:
            return "refuted, but it holds"
        asked = Query(seen, case.oracle, case.claim, case.breaks, None, "shared", 1, True)
        if answer.witness is None or not is_witness(asked, answer.witness):
            return "the witness is none"
        if case.mode.channel == "refusing":
            return "different, though no witness was believed"
    if answer.vacuous and answer.verdict != "equivalent":
        return "called vacuous, but not proved"
    if answer.vacuous and _is_vacuous(case) is False:
        return "called vacuous, but its guard is met"
    if not 0.0 <= answer.certified <= 1.0:
        return f"{answer.certified} of the region is proved"
    if answer is EMPTY:
        return "called empty, but it is not" if case.oracle.pieces else None
    if answer.verdict == "equivalent" and (answer.certified < 1.0 or answer.open_boxes):
        return f"proved with {answer.certified} certified and {answer.open_boxes} boxes open"
    if answer.verdict == "unknown" and answer.reason is None:
        return "unknown without a reason"
    if isinstance(case.claim, Epsilon) and answer.initial_bound is not None and case.claim.norm == "linf":
        greatest = case.oracle.greatest_distance("linf", case.claim.outputs)
        bound = answer.initial_bound
        if greatest is not None and np.isfinite(bound) and Fraction(bound) < greatest.value and _first_is_whole(answer):
            return f"the first bound is {bound}, but a difference of {float(greatest.value)} occurs"
    return None


def _is_vacuous(case: Case) -> bool | None:
    try:
        return case.oracle.is_vacuous(case.claim)
    except ArithmeticError:
        return None


def _first_is_whole(answer: Answer) -> bool:
    """Whether the first box was bounded at all; else there is no first bound."""
    return answer.boxes > 0 and not answer.stages["overflow"] and not answer.stages["outside"]


def _traits(case: Case, seen: Pair, answer: Answer) -> list[str]:
    mode, kind = case.mode, type(case.claim).__name__
    traits = [
        *mode.words(),
        kind,
        answer.verdict,
        f"{kind} {answer.verdict}",
        f"{mode.domain} {answer.verdict}",
        f"breaks {case.breaks}",
        *([f"because {answer.reason}"] if answer.reason else []),
        *(f"stage {name}" for name, count in answer.stages.items() if count),
        *(["splits"] if answer.splits else []),
        *(["vacuous"] if answer.vacuous else []),
        *(["constraints"] if seen.constraints else []),
        *(["lowest wins"] if seen.decide == "min" else []),
        *([f"norm {case.claim.norm}"] if isinstance(case.claim, Epsilon) else []),
    ]
    widths = [high - low for low, high in zip(seen.lower, seen.upper, strict=True)]
    if not all(widths):
        traits.append("fixed input" if any(widths) else "a point")
    if case.relaxed and answer.verdict == "equivalent":
        traits.append("exact softmax")
    contracts = mode.contract and mode.domain == "shared"
    if contracts and answer.splits and mode.phases and sum(map(bool, widths)) > 64:
        traits.append("split by phase")
    if contracts and answer.splits and answer.stages["contraction"]:
        traits.append("contracted after a split")
    return traits
