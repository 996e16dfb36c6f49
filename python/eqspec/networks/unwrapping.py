"""Quantised programs as a search bounds them best: quantisers that saturate, what follows them on their grid inside.

A quantiser that wraps is not monotone, so bounds say little of it, and a ReLU behind one is a function of its own: a
sum that is too large comes out negative. In a box where no sum leaves its type both are said better. The quantiser
saturates, which it does nowhere either; and one that saturates is one function with a ReLU behind it, or with a
quantiser that rounds none of its levels. So a layer of fixed point, or of a file with quantisers in front of and behind
every ReLU, has one function, as the float layer that it is compared with.

Sound because the result equals the program at every point of the box. Intervals of all sums are exact
(`exact.each_sum`), a row stops wrapping only where its least and its largest level lie in the type, and functions are
joined where the outer one takes each level of the inner one to itself or to an end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.curves import Curve, Curves, leaky
from eqspec.networks.exact import IntegerStep, each_sum
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, copied_step, renumbered
from eqspec.networks.quantiser import Quantiser

_BITS = 64
_RELU = leaky(0.0)
_MOST = 1 << 53
Box: TypeAlias = tuple[Sequence[Fraction], Sequence[Fraction]]
Pattern: TypeAlias = tuple[bytes, ...]
"""For each step which rows stay in their types; the same for all boxes that change a program alike."""


def within_types(steps: Sequence[Step], box: Box) -> Pattern:
    """Which rows of quantisers that wrap leave their type nowhere in a box; () if nothing wraps, or none is known."""
    if not any(_wrapping(step) for step in steps):
        return ()
    found = []
    try:
        for step, sums in zip(
            steps, each_sum([IntegerStep(step) for step in steps], _interval(box), _BITS), strict=True
        ):
            found.append(np.packbits(_within(step, sums)).tobytes())
    except (UndefinedError, OverflowError):  # a function has no value somewhere in these intervals
        return ()
    return tuple(found)


def saturating(network: Network, pattern: Pattern) -> Network:
    """A network that equals this one wherever its rows stay in their types as the pattern says."""
    steps = list(network.steps)
    for number, bits in enumerate(pattern):
        inside = np.unpackbits(np.frombuffer(bits, np.uint8), count=steps[number].rows).astype(bool)
        if inside.any():
            steps[number] = replace(steps[number], function=_unwrapped(steps[number], inside))
    made = joined(steps)
    if all(a is b for a, b in zip(made, network.steps, strict=False)) and len(made) == len(network.steps):
        return network
    return replace(network, steps=made, largest_intermediates=(), casts=())


def joined(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The program with functions that read one step of quantisers, row by row, in it where they round nothing."""
    readers = Counter(source for step in steps for source in step.sources)
    made: list[Step] = []
    place = {INPUTS: INPUTS}
    moved = False
    for number, step in enumerate(steps):
        source = copied_step(step, steps)
        one = _one(made[place[source]], step) if source is not None and readers[source] == 1 else None
        if one is None or source is None:
            made.append(renumbered(step, place) if moved else step)
            place[number] = len(made) - 1
        else:
            made[place[source]], place[number], moved = one, place[source], True
    return tuple(made)


def _wrapping(step: Step) -> bool:
    function = step.function
    return isinstance(function, Curves) and any(c.name == "quantiser" and Quantiser.of(c).wraps for c in function.kinds)


def _interval(box: Box) -> Vector:
    """A box as a vector of intervals over one denominator."""
    count = len(box[0])
    both = Vector.of([*box[0], *box[1]])
    return Vector(both.lower[:count], both.lower[count:], both.exponent, both.denominator)


def _within(step: Step, sums: Vector) -> NDArray[np.bool_]:
    """The rows whose function is a quantiser that wraps, and whose levels all lie in the type."""
    inside = np.zeros(step.rows, bool)
    if not isinstance(step.function, Curves):
        return inside
    shift, divisor = max(0, sums.exponent), sums.denominator << max(0, -sums.exponent)
    for curve, rows in step.function.groups(step.rows):
        if curve.name == "quantiser" and (q := Quantiser.of(curve)).wraps:
            least, most = (q.levels(end[rows] << shift, divisor) for end in (sums.lower, sums.upper))
            inside[rows] = np.asarray((least >= q.low) & (most <= q.high), bool)
    return inside


def _unwrapped(step: Step, inside: NDArray[np.bool_]) -> Curves:
    assert isinstance(step.function, Curves)
    curves = []
    for row in range(step.rows):
        curve = step.function.at(row)
        curves.append(replace(Quantiser.of(curve), wraps=False).curve if inside[row] else curve)
    return Curves.of_rows(curves)


def _one(inner: Step, outer: Step) -> Step | None:
    """Both steps as one; None where a row of them is no single quantiser."""
    if not isinstance(inner.function, Curves) or outer.function == "identity":
        return None
    outside = outer.function if isinstance(outer.function, Curves) else Curves.all(_RELU)
    known: dict[tuple[Curve, Curve], Curve | None] = {}
    curves = []
    for row in range(inner.rows):
        pair = inner.function.at(row), outside.at(row)
        if pair not in known:
            known[pair] = _behind(*pair)
        if (curve := known[pair]) is None:
            return None
        curves.append(curve)
    return replace(inner, function=Curves.of_rows(curves), names=outer.names)


def _behind(inner: Curve, outer: Curve) -> Curve | None:
    """outer(inner(x)) as one quantiser that saturates, where inner is one and outer rounds none of its levels."""
    if inner.name != "quantiser" or (q := Quantiser.of(inner)).wraps:
        return None
    unit, base = (q.scale if q.unit is None else q.unit), (q.zero if q.base is None else q.base)
    if not base.is_integer() or abs(base) > _MOST:
        return None
    zero = int(base)
    if outer == _RELU:
        return replace(q, low=max(q.low, zero)).curve if zero <= q.high else None
    if outer.name != "quantiser" or (then := Quantiser.of(outer)).wraps or then.scale != unit:
        return None
    new_base = then.zero if then.base is None else then.base
    if not (then.zero.is_integer() and new_base.is_integer() and max(abs(then.zero), abs(new_base)) <= _MOST):
        return None
    # A level k of the inner one is unit (k - base), and k + turn in the outer one, which cuts it off at its ends.
    turn = int(then.zero) - zero
    low, high = max(q.low, then.low - turn), min(q.high, then.high - turn)
    if low > high or abs(int(new_base) - turn) > _MOST:
        return None
    return replace(q, low=low, high=high, unit=then.unit, base=float(int(new_base) - turn)).curve
