"""How far rounding alone may move the outputs of a network: below that no bound gets that forgets where levels begin.

At a point, with all clips on their side of every kink, the outputs depend linearly on what each quantiser rounds away.
A bound for which every rounding error is any number of [-u/2, u/2], u the distance of two levels (of (-u, 0] for those
that cut off, which is as wide), cannot be smaller than

    sum over quantisers of |derivative of the output with respect to the value behind it| u / 2,

since these errors are among what it admits. The largest such sum over sampled points is the *noise floor*. Quantisers
that have one level at all points are left out, so it may be too small, never too large, for what it says: that a claim
of a smaller distance needs levels to be told apart. It is an estimate in floats, and nothing is proved with it.

Beside a network that rounds, too, a quantiser counts with (u - v)/2, v the largest distance of levels there that is no
larger than u: a bound knows both roundings of one number by their difference, which is that large at least, and takes
equal quantisers for what they are. So networks with the same quantisers have no floor.

Shapes: points (N, I), floors (N, O).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from eqspec.networks import curve_values, evaluation
from eqspec.networks.curves import Curves
from eqspec.networks.program import Array, Step

_TOGETHER = 64
"""Outputs whose derivatives are computed at once."""


def distances(steps: Sequence[Step]) -> list[float]:
    """The distances of levels next to each other, of every quantiser."""
    curves = {curve for step in steps if isinstance(step.function, Curves) for curve in step.function.kinds}
    return sorted({curve.parameters[4] for curve in curves if curve.name == "quantiser"})


def floors(
    steps: Sequence[Step], points: Array, beside: Sequence[float] = (), outputs: Iterable[int] | None = None
) -> Array:
    """The floor of every output at every point; `beside` are the distances of levels of the other network.

    Where `outputs` are given, only of these; 0 stands for the others.
    """
    found = np.zeros((len(points), steps[-1].rows))
    if not len(points):
        return found
    inputs = np.ascontiguousarray(points.T)
    before = evaluation.values(steps, inputs)
    sizes = [_rounded_away(step, sums, beside) for step, sums in zip(steps, before, strict=True)]
    if all(size is None for size in sizes):
        return found
    wanted = np.arange(steps[-1].rows) if outputs is None else np.array(list(outputs), int)
    for point, start in product(range(len(points)), range(0, len(wanted), _TOGETHER)):
        some = wanted[start : start + _TOGETHER]
        at_point = [sums[:, point : point + 1] for sums in before]
        change = np.zeros((steps[-1].rows, len(some)))
        change[some, np.arange(len(some))] = 1.0
        for number, derivative in evaluation.derivatives(steps, at_point, change, len(inputs)):
            size = sizes[number] if number >= 0 else None
            if size is not None:
                found[point, some] += size @ np.abs(derivative)
    return found


def _rounded_away(step: Step, sums: Array, beside: Sequence[float]) -> Array | None:
    """Half the distance of two levels for every row that has several of them at these points; None for no row."""
    if not isinstance(step.function, Curves):
        return None
    sizes = np.zeros(step.rows)
    for curve, rows in step.function.groups(step.rows):
        if curve.name == "quantiser":
            unit = curve.parameters[4]
            sizes[rows] = 0.5 * (unit - max((other for other in beside if other <= unit), default=0.0))
    if not sizes.any():
        return None
    values = curve_values.value(step.function, sums)
    return np.where((values == values[:, :1]).all(axis=1), 0.0, sizes)
