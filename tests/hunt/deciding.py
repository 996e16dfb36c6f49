"""Decides a case with eqspec, by the channel of its mode: what is asked, and what comes back.

The pair that eqspec sees is the case's own, or the same function over more inputs; its weights may be moved and
declared uncertain, or read as float32 runtimes round them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from eqspec import _core
from eqspec.lp import HighsSolver
from eqspec.networks import in_float32
from eqspec.networks.network import AffineLayer, Network
from eqspec.run.lowering import lower_constraints, lower_property
from eqspec.run.number_ranges import refuse_out_of_range
from eqspec.run.options import Options
from eqspec.run.pairs import Pairs
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from hunt.as_specs import expressible, run_spec
from hunt.cases import Case, Mode
from hunt.certifying import certify
from hunt.spreading import spread
from oracle.pairs import Pair, Random
from oracle.pieces import Layers
from oracle.queries import Query
from oracle.search import is_witness
from small_tasks import space, task

Array = NDArray[np.float64]
LpAnswer = tuple[Array, Array, Array | None]


@dataclass(frozen=True)
class Answer:
    """What eqspec says; `witness` as it stands in the task's own inputs.

    `trouble` is what was wrong besides (a certificate that is refused); `also` is of what else this was an example.
    """

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
    trouble: str | None = None
    also: tuple[str, ...] = ()


EMPTY = Answer("equivalent", None, True, None, None, 1.0, 0, 0, 0, {})
"""Of a spec that is refused because nothing lies in its region: that is what it must mean."""


@dataclass(frozen=True)
class Fixed(Options):
    """Options that are a mode."""

    mode: Mode = field(default_factory=Mode)

    def settings(self, task: Task) -> _core.Settings:
        return self.mode.settings(None if self.certifier is None else self.certifier.record(task))


def options(mode: Mode) -> Fixed:
    """What a mode may cost, and the rest of it."""
    return Fixed(timeout=30.0, threads=mode.threads, domain=mode.domain, lp=mode.lp, boxes=mode.boxes, mode=mode)


def seen_by(case: Case) -> Pair:
    """The pair as eqspec sees it."""
    mode = case.mode
    return spread(case.pair, mode.inputs, np.random.default_rng([mode.seed, 1])) if mode.inputs else case.pair


def decide(case: Case, seen: Pair) -> Answer:
    """Ask the core, or a runner, or a spec; and have the certificate audited if there is one."""
    mode, rng = case.mode, np.random.default_rng([case.mode.seed, 2])
    if mode.channel == "spec" and expressible(seen, case.claim):
        result = run_spec(seen, case.claim, options(mode), rng, mode.arithmetic, styled=mode.styled)
        return EMPTY if result is None else answer_of(result)
    made = task_of(case, seen)
    refuse_out_of_range(made)
    if mode.channel == "certified":
        audited = certify(case, made, options(mode))
        answer = answer_of(audited.result)
        return replace(answer, trouble=answer.trouble or audited.trouble, also=audited.also)
    if mode.channel in ("runner", "spec"):
        return answer_of(Runner(options(mode)).run(made))
    return _ask_the_core(case, seen, made, rng)


def _ask_the_core(case: Case, seen: Pair, made: Task, rng: Random) -> Answer:
    mode = case.mode
    asked = Query(seen, case.oracle, case.claim, case.breaks, None, "shared", 1, True)

    def confirm(point: Array) -> tuple[Fraction, ...] | None:
        exact = tuple(Fraction(x) for x in point.tolist())
        return exact if mode.channel == "confirming" and is_witness(asked, exact) else None

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
    return Answer(
        solution.verdict,
        solution.reason,
        solution.vacuous,
        solution.witness,
        solution.initial_bound,
        solution.certified_fraction,
        solution.open_boxes,
        solution.boxes,
        solution.splits,
        solution.stages,
    )


def answer_of(result: Result) -> Answer:
    """What a result says; that something failed is an error here as well."""
    reason = result.reason.value if result.reason else None
    if reason == "error":
        raise RuntimeError(result.message)
    return Answer(
        result.verdict.value,
        reason,
        result.vacuous,
        result.witness.normalised if result.witness else None,
        result.initial_bound,
        result.certified_fraction,
        result.open_boxes,
        result.boxes,
        result.splits,
        result.stages,
    )


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


def task_of(case: Case, seen: Pair) -> Task:
    """The task of a case, the same whenever it is asked for; NetworkError where float32 cannot hold the networks."""
    mode, rng = case.mode, np.random.default_rng([case.mode.seed, 3])
    reference, candidate = (_network(layers, mode.smudge, rng) for layers in (seen.reference, seen.candidate))
    if mode.arithmetic == "float32":
        reference, candidate = in_float32(reference), in_float32(candidate)
    return task(
        reference,
        candidate,
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
    return Network.of_layers(tuple(made), "<hunt>", "")


def _moved(exact: Array, share: float, rng: Random) -> tuple[Array, Array]:
    moved = exact * (1 + share * rng.uniform(-1, 1, exact.shape))
    gap = np.abs(moved - exact)
    return moved, np.nextafter(gap, np.inf) * (gap > 0)
