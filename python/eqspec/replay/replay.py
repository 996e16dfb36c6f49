"""Replay of a candidate input: it counts only if it lies in the exact region and breaks the claim in exact arithmetic.

Shapes: x (I,) in network units. The search works on floats with boxes rounded outward, so it may suggest a point
just outside the region, or one where the claim breaks in floats only. Sound because what is accepted is proved:
membership is decided on rationals, strict bounds as strict, and the outputs are exact, or enclosures that hold the
exact ones (`Network.evaluate_exact`), every point of which breaks the claim (`violation`).

A point that float32 can hold is preferred, because that is what the deployed files take; then the point as it was
found. Where inputs lie on a grid they are moved to the nearest point of it first: the search knows nothing of grids,
and what breaks the claim beside them alone is no witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.containment import first_outside
from eqspec.networks.exact import BITS
from eqspec.networks.fixed_point import UndefinedError
from eqspec.property import Containment, NeverWraps
from eqspec.replay.bases import base_at
from eqspec.replay.equations import Equation, Point, equations_of, onto
from eqspec.replay.onnx_runtime import RuntimeReplay
from eqspec.replay.violation import Enclosure, LeavesType, OtherClass, Violation, softmax, violation
from eqspec.replay.violation_in_words import violation_in_words
from eqspec.tasks.lattice import on
from eqspec.tasks.observed import NearestRow
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.task import Task
from eqspec.tasks.witness import OutOfType, Witness

_NOT_ASKED = "not asked for"
_MOST_BITS = 4096
"""Bits behind the binary point of the finest enclosures. Points that these do not decide are not confirmed."""


class Replay:
    """Replays the candidates of one task, and counts those `tried` and those `confirmed`.

    `beside` says whether one broke the claim in the box, but beside the grid of the region, where that does not count.
    """

    def __init__(self, task: Task, runtime: RuntimeReplay | None = None) -> None:
        self._task, self._runtime, self._equations = task, runtime, equations_of(task)
        self.tried = self.confirmed = 0
        self.beside = False

    def confirm(self, candidate: NDArray[np.float64], *, ask: bool = True) -> Witness | None:
        """The witness at the candidate (I,) or at a point it rounds to; None if the claim breaks at neither.

        Without `ask` onnxruntime is left out until `asked`: it changes nothing of what is a witness.
        """
        self.tried += 1
        if not np.isfinite(candidate).all():
            return None
        for point in _points(self._task, self._equations, [Fraction(x) for x in candidate.tolist()]):
            if (witness := self.replay(point, ask=ask)) is not None:
                self.confirmed += 1
                return witness
        if self._task.lattices and not self.beside:
            moved = _clamped(self._task, [Fraction(x) for x in candidate.tolist()])
            self.beside = _meets(self._task, moved) and _violation(self._task, moved) is not None
        return None

    def asked(self, witness: Witness) -> Witness:
        """The same witness with the answers of onnxruntime, if they are wanted and it does not have them yet."""
        if self._runtime is None or witness.onnxruntime_reason != _NOT_ASKED:
            return witness
        return replace(witness, **self._answers(witness.normalised))

    def _answers(self, point: Point) -> dict[str, Any]:
        """What onnxruntime says of a point, as fields of a witness."""
        if self._runtime is None:
            return {"onnxruntime_confirms": None, "onnxruntime_reason": _NOT_ASKED}
        confirms, reason = self._runtime.confirms(self._task, point)
        by_default = self._runtime.confirms_by_default(self._task, point)
        return {
            "onnxruntime_confirms": confirms,
            "onnxruntime_reason": reason,
            "onnxruntime_default_confirms": by_default,
        }

    def replay(self, point: Point, *, ask: bool = True) -> Witness | None:
        """The witness at exactly this point, or None if it is outside the region or does not break the claim."""
        task = self._task
        if not contains(task, point):
            return None
        decided = _violation(task, point)
        if decided is None:
            return None
        found, reference, candidate = decided
        answers = self._answers(point) if ask else {"onnxruntime_confirms": None, "onnxruntime_reason": _NOT_ASKED}
        scores = _middles(reference)
        base = base_at(tuple(point), base_of(task), () if task.around is not None else task.observed)
        return Witness(
            normalised=tuple(point),
            raw=raw_point(task, point),
            features=task.space.features,
            units=task.space.units,
            outputs=task.space.outputs,
            reference=scores,
            candidate=_middles(candidate),
            confidence=(confidence := _confidence(task, scores, found)),
            statement=violation_in_words(task, found, confidence),
            **answers,
            moved=tuple(i for i, (x, b) in enumerate(zip(point, base.point, strict=True)) if x != b),
            base="centre" if task.around is None and base.row is None else "row",
            base_row=base.row,
            out_of_type=_out_of_type(task, found),
            nearest=_nearest(task, point),
        )


def _nearest(task: Task, point: Point) -> NearestRow | None:
    """The nearest of all rows that the region was made from, or that the spec names for its space."""
    found = [near for rows in task.observed if (near := rows.nearest(point)) is not None]
    return min(found, key=lambda near: near.distance, default=None)


def _violation(task: Task, point: Point) -> tuple[Violation, list[Enclosure], list[Enclosure]] | None:
    """How the claim breaks at a point, with the outputs of both; None if it does not, or it cannot be decided.

    Smooth functions are enclosed in more and more bits as long as the middles of the enclosures break the claim.
    """
    networks, turned = (task.reference, task.candidate), task.space.decide == "min"
    bits = BITS
    while bits <= _MOST_BITS:
        try:
            reference, candidate = (network.evaluate_exact(point, bits) for network in networks)
        except UndefinedError:  # with so few bits an argument is not known to lie in the domain of a function
            bits *= 4
            continue
        except OverflowError:
            return None
        found: Violation | None
        if isinstance(task.property, Containment):
            outside = first_outside(task.candidate, point, wraps=isinstance(task.property, NeverWraps), bits=bits)
            found = None if outside is None else LeavesType(outside)
        else:
            found = violation(task.property, reference, candidate, lowest_wins=turned)
        if found is not None:
            return found, reference, candidate
        if all(network.rational for network in networks):
            return None
        if violation(task.property, *map(_exact_middles, (reference, candidate)), lowest_wins=turned) is None:
            return None
        bits *= 4
    return None


def _out_of_type(task: Task, found: Violation) -> OutOfType | None:
    """The number that leaves its type, where the claim is about types."""
    if not isinstance(found, LeavesType):
        return None
    outside, network = found.found, task.candidate
    cast = outside.cast(network)
    return OutOfType(outside.name(network), None if cast is None else cast.type, outside.meant, outside.stored)


def _exact_middles(enclosures: Sequence[Enclosure]) -> list[Enclosure]:
    return [((low + high) / 2, (low + high) / 2) for low, high in enclosures]


def contains(task: Task, point: Sequence[Fraction]) -> bool:
    """Whether the point lies in the region itself: the exact box, every grid and every constraint."""
    if not all(low <= x <= high for low, x, high in zip(task.lower_exact, point, task.upper_exact, strict=True)):
        return False
    return on(task.lattices, point) and _meets(task, point)


def _meets(task: Task, point: Sequence[Fraction]) -> bool:
    """Whether the point satisfies every constraint, in whole numbers: the point times its common denominator."""
    if not task.constraints:
        return True
    unit = lcm(*(x.denominator for x in point))
    whole = [x.numerator * (unit // x.denominator) for x in point]
    for constraint in task.constraints:
        coefficients, bound = constraint.whole
        value = sum(a * x for a, x in zip(coefficients, whole, strict=True) if a)
        if value > bound * unit or (constraint.strict and value == bound * unit):
            return False
    return True


def base_of(task: Task) -> Point:
    """The base of the region: the row of its table that it lies around, moved into the box, or the box's centre; of
    inputs on a grid the nearest point of it.
    """
    if task.around is not None:
        return _inside(task, task.around)
    return _inside(task, [(low + high) / 2 for low, high in zip(task.lower_exact, task.upper_exact, strict=True)])


def raw_point(task: Task, point: Sequence[Fraction]) -> Point:
    """The point in raw units: centre + scale x. Where that is x itself, as for pixels, nothing is computed."""
    axes = zip(task.space.centre, task.space.scale, point, strict=True)
    return tuple(x if s == 1 and not c else c + s * x for c, s, x in axes)


def _points(task: Task, equations: Sequence[Equation], candidate: Sequence[Fraction]) -> Iterator[Point]:
    """Points of the box to try: the nearest float32 ones (raw if that is what both files take), then the nearest.

    Where the region has equations, each is first moved to where they hold. On a grid, where the nearest point need not
    meet the constraints, one that is moved until it does comes last.
    """
    nearest = _inside(task, candidate)
    short = nearest_floats(task, nearest)
    if equations and not task.lattices:
        for point in (short, nearest):
            if not _meets(task, point):
                yield onto(task, equations, point)
    yield short
    if short != nearest:
        yield nearest
    if task.lattices and (moved := _moved(task, nearest)) not in (None, nearest):
        yield moved


def _clamped(task: Task, point: Sequence[Fraction]) -> Point:
    box = zip(task.lower_exact, task.upper_exact, strict=True)
    return tuple(min(max(x, low), high) for x, (low, high) in zip(point, box, strict=True))


def _inside(task: Task, point: Sequence[Fraction]) -> Point:
    """The nearest point of the box and its grids; the ends of the box lie on them."""
    near = _clamped(task, point)
    if not task.lattices:
        return near
    on_grid = (x if a is None else a.nearest(x) for x, a in zip(near, task.lattices, strict=True))
    return _clamped(task, tuple(on_grid))


def _moved(task: Task, point: Point) -> Point | None:
    """The point moved by a step of its grid in as many inputs as it takes to meet each constraint; None if it does not
    come that far.
    """
    found = list(point)
    for constraint in task.constraints:
        beyond = sum((a * x for a, x in zip(constraint.coefficients, found, strict=True) if a), -constraint.bound)
        for i, (a, lattice) in enumerate(zip(constraint.coefficients, task.lattices, strict=True)):
            if beyond < 0 or (beyond == 0 and not constraint.strict):
                break
            if a == 0 or lattice is None:
                continue
            to = found[i] - lattice.step if a > 0 else found[i] + lattice.step
            if task.lower_exact[i] <= to <= task.upper_exact[i]:
                beyond += a * (to - found[i])
                found[i] = to
    return tuple(found) if _meets(task, found) else None


def nearest_floats(task: Task, point: Sequence[Fraction]) -> Point:
    """The point of the box next to a point that float32 can hold, in the units that the files take.

    Inputs on a grid go to its nearest point, whether float32 can hold that or not.
    """
    box, nearest = list(zip(task.lower_exact, task.upper_exact, strict=True)), _inside(task, point)
    held = task.lattices or (None,) * len(box)
    if task.reference_takes_raw and task.candidate_takes_raw:
        return tuple(
            (_nearest_float32(c + s * x, *sorted((c + s * low, c + s * high))) - c) / s if s and not a else x
            for x, (low, high), c, s, a in zip(nearest, box, task.space.centre, task.space.scale, held, strict=True)
        )
    return tuple(
        x if a else _nearest_float32(x, low, high) for x, (low, high), a in zip(nearest, box, held, strict=True)
    )


def _nearest_float32(number: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """The float32 next to the number that lies within the bounds; the number itself if there is none."""
    with np.errstate(over="ignore"):
        near = np.float32(float(number))
    for direction in (None, np.float32(np.inf), np.float32(-np.inf)):
        short = near if direction is None else np.nextafter(near, direction)
        if np.isfinite(short) and low <= Fraction(float(short)) <= high:
            return Fraction(float(short))
    return number


def _middles(enclosures: Sequence[Enclosure]) -> tuple[float, ...]:
    return tuple(approximately(low if low is high else (low + high) / 2) for low, high in enclosures)


def _confidence(task: Task, scores: Sequence[float], found: Violation) -> float | None:
    """The softmax of the reference at the class it decides for; None where the claim is not about decisions."""
    if not isinstance(found, OtherClass) or not np.isfinite(scores).all():
        return None
    sign = -1.0 if task.space.decide == "min" else 1.0
    return softmax([sign * score for score in scores], found.kept)
