"""Claims about expressions that jump or have no value, on boxes whose faces lie at such places.

    PYTHONPATH=python:tests python -m hunt.hostile --cases 10000 --seed 1

A case is an expression (`expressions`), a partner that is the same one or differs in one place, a box, perhaps with a
constraint, and a claim. The truth is what dense evaluation says: a proof must not be about a region with a point at
which a network has no value or the claim breaks, and a counterexample must break it. Half of the cases are searched,
although exact evaluation might decide them before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import LinearConstraint
from eqspec.tasks.verdict import Reason, Verdict
from hunt import by_seeds
from hunt.expressions import (
    DIGITS,
    Expression,
    NoValueError,
    Random,
    UnsureError,
    Value,
    changed,
    evaluate,
    random_expression,
    real,
    write,
)
from small_tasks import space, task

_HAIR = Fraction(1, 2**30)
_ENDS: tuple[tuple[Fraction | int, Fraction | int], ...] = (
    *((-1, 1), (0, 1), (-1, 0), (0, 0), (1, 1), (-2, 2), (1, 4), (2, 3), (3, 10**6), (-(10**300), 10**300)),
    *((Fraction(1, 2), Fraction(n, 2)) for n in (1, 3)),
    *((Fraction(1, 3), Fraction(2, 3)), (1 - _HAIR, 1 + _HAIR), (-_HAIR, _HAIR)),
    *((0, Fraction(1, 2**1074)), (Fraction(1, 2**40), 1)),
)
_POINTS, _RANDOM = 40, 15
_ROOM = mpf(10) ** -30
Point = tuple[Fraction, ...]
Scores = list[Value]


@dataclass(frozen=True)
class Case:
    """See the head of this file; `constraints` is met by equal inputs, or by those with a sum below a number."""

    reference: Expression
    candidate: Expression
    box: tuple[tuple[Fraction, Fraction], ...]
    constraints: tuple[LinearConstraint, ...]
    claim: Property

    def has(self, point: Point) -> bool:
        """Whether a point lies in the region."""
        inside = all(low <= x <= high for x, (low, high) in zip(point, self.box, strict=True))
        sums = (sum(a * x for a, x in zip(c.coefficients, point, strict=True)) - c.bound for c in self.constraints)
        return inside and all(over <= 0 for over in sums)


class Searching(Runner):
    """A runner that decides nothing before a search."""

    def _settled(self, *_: Any) -> None:
        return None


def case_of(rng: Random) -> Case:
    """A case drawn at random."""
    inputs, outputs = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    reference = random_expression(rng, inputs, outputs)
    candidate, _ = changed(reference, rng)
    box = tuple((Fraction(a), Fraction(b)) for a, b in (_ENDS[int(rng.integers(len(_ENDS)))] for _ in range(inputs)))
    constraints: tuple[LinearConstraint, ...] = ()
    if inputs == 2 and rng.random() < 0.25:
        row = Fraction(1), Fraction(-1)
        constraints = tuple(LinearConstraint(tuple(sign * a for a in row), Fraction(0)) for sign in (1, -1))
    elif rng.random() < 0.1:
        constraints = (LinearConstraint((Fraction(1),) * inputs, Fraction(int(rng.integers(-4, 5)), 2)),)
    return Case(reference, candidate, box, constraints, _claim(rng, outputs))


def _claim(rng: Random, outputs: int) -> Property:
    kind = int(rng.integers(7 if outputs > 1 else 4))
    match kind:
        case 0:
            return Epsilon(0)
        case 1 | 2:
            return Epsilon(Fraction(int(rng.integers(1, 9)), 2 ** int(rng.integers(0, 12))), ("linf", "l1")[kind - 1])
        case 3:
            row = tuple(int(c) for c in rng.integers(-1, 2, outputs))
            other = tuple(-c for c in row) if rng.random() < 0.6 else (0,) * outputs
            return Linear(row, other, Fraction(int(rng.integers(-4, 5)), 2), strict=bool(rng.random() < 0.3))
        case 4:
            return Top1()
        case 5:
            return Margin(Fraction(int(rng.integers(0, 5)), 2))
    least = Fraction(1, outputs)
    return Confidence((least, least + Fraction(1, 10**9), Fraction(3, 4), Fraction(99, 100))[int(rng.integers(4))])


def points(rng: Random, case: Case) -> Iterator[Point]:
    """Faces, middles, halves of whole numbers, and points drawn at random."""
    axes = []
    for low, high in case.box:
        halves = {Fraction(n, 2) for n in range(-8, 9) if low <= Fraction(n, 2) <= high}
        axes.append(sorted({low, high, (low + high) / 2, low + (high - low) / 3} | halves))
    found = list(product(*axes))
    found = [found[i] for i in rng.permutation(len(found))[:_POINTS]]
    for _ in range(_RANDOM):
        found.append(tuple(low + (high - low) * Fraction(int(rng.integers(257)), 256) for low, high in case.box))
    for point in found:
        for moved in (point, (point[0],) * len(point)):
            if case.has(moved):
                yield moved


def breaks(claim: Property, f: Scores, g: Scores) -> bool | None:
    """Whether outputs break a claim, None where they are too near to where it turns."""
    with mp.workdps(DIGITS):
        try:
            return _breaks(claim, f, g)
        except UnsureError:
            return None


def _breaks(claim: Property, f: Scores, g: Scores) -> bool:
    match claim:
        case Epsilon(eps, norm):
            gaps = [abs(_minus(a, b)) for a, b in zip(f, g, strict=True)]
            return _less(Fraction(eps), max(gaps, key=real) if norm == "linf" else _total(gaps))
        case Linear(candidate, reference, bound, strict):
            total = _total([_times(Fraction(c), x) for c, x in zip((*candidate, *reference), (*g, *f), strict=True)])
            return not _less(total, Fraction(bound)) if strict else _less(Fraction(bound), total)
    return any(
        _decides(claim, f, k) and any(_less(g[k], other) for j, other in enumerate(g) if j != k) for k in range(len(f))
    )


def _decides(claim: Property, f: Scores, k: int) -> bool:
    leads = [_minus(f[k], other) for j, other in enumerate(f) if j != k]
    least = Fraction(claim.margin) if isinstance(claim, Margin) else Fraction(0)
    if any(_less(lead, least) for lead in leads):
        return False
    if not isinstance(claim, Confidence):
        return True
    if all(isinstance(lead, Fraction) and lead == 0 for lead in leads):
        return Fraction(1, len(f)) >= Fraction(claim.delta)
    return not _less(1 / (1 + sum(mpmath.exp(-real(lead)) for lead in leads)), Fraction(claim.delta))


def _minus(a: Value, b: Value) -> Value:
    return a - b if isinstance(a, Fraction) and isinstance(b, Fraction) else real(a) - real(b)


def _times(a: Fraction, b: Value) -> Value:
    return a * b if isinstance(b, Fraction) else real(a) * b


def _total(values: Sequence[Value]) -> Value:
    if all(isinstance(value, Fraction) for value in values):
        return sum(values, Fraction(0))
    total = sum(map(real, values))
    # Large numbers that cancel leave nothing of the digits of small ones.
    if max(abs(real(value)) for value in values) > _ROOM * 10 ** (DIGITS - 5) * (1 + abs(total)):
        raise UnsureError
    return total


def _less(a: Value, b: Value) -> bool:
    apart = _minus(b, a)
    if not isinstance(apart, Fraction) and abs(apart) < _ROOM * (1 + abs(real(a))):
        raise UnsureError
    return bool(apart > 0)


def complaint(case: Case, result: Result, rng: Random) -> str | None:
    """What is wrong with a result."""
    match result.verdict:
        case Verdict.EQUIVALENT:
            for point in points(rng, case):
                try:
                    broken = breaks(case.claim, evaluate(case.reference, point), evaluate(case.candidate, point))
                except NoValueError:
                    return f"proved, but there is no value at {[str(x) for x in point]}"
                except UnsureError:
                    continue
                if broken:
                    return f"proved, but it breaks at {[str(x) for x in point]}"
        case Verdict.DIFFERENT:
            assert result.witness is not None
            point = tuple(map(Fraction, result.witness.normalised))
            try:
                broken = breaks(case.claim, evaluate(case.reference, point), evaluate(case.candidate, point))
            except NoValueError:
                broken = False
            except UnsureError:
                broken = None
            if broken is False or not case.has(point):
                return f"the witness {[str(x) for x in point]} is none"
    return f"an error: {result.message}" if result.reason is Reason.ERROR else None


def judge(seed: int, folder: Path, boxes: int = 100) -> tuple[str, str | None]:
    """What a case came to, and what is wrong with that."""
    rng = np.random.default_rng([seed, 31])
    case = case_of(rng)
    made = []
    for name, expression in (("f", case.reference), ("g", case.candidate)):
        write(folder / f"{name}.onnx", expression, rng)
        try:
            made.append(read_network(folder / f"{name}.onnx"))
        except NetworkError:
            return "refused", None
    lower, upper = zip(*case.box, strict=True)
    outputs = space(len(lower), len(case.reference.outputs))
    given = task(made[0], made[1], case.claim, lower, upper, constraints=case.constraints, space=outputs)
    runner = (Runner if seed % 2 else Searching)(
        Options(timeout=5.0, threads=1, boxes=boxes, weaken=False, simplify=False)
    )
    try:
        result = runner.run(given)
    except Exception as error:  # nothing here may end a search
        return "raised", f"{type(error).__name__}: {error}"
    wrong = complaint(case, result, rng)
    return result.verdict.value, None if wrong is None else f"{wrong}: {case}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.hostile", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="hunt-hostile-") as name:
        return by_seeds.run(lambda seed: judge(seed, Path(name)), given.cases, given.seed)


if __name__ == "__main__":
    sys.exit(main())
