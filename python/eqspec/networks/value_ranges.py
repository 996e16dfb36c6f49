"""Between which numbers the values of a program lie in a box: intervals, for what float32 holds.

Shapes: m rows; an interval is a pair of arrays. With x = x+ - x-, where x+ = max(x, 0) lies in [low+, high+] and x- in
[high-, low-], the least of w x for w in [a, b] is a+ low+ - a- high+ - b+ low- + b- high-, and the largest likewise. So
what is a sum of squares and a positive number stays above 0: the reciprocal of a norm or of a deviation has a bound.

Computed in floats and moved outward by more than these round: a share of all that is added up, and of what functions
give. A function without a value somewhere on an interval may give anything, so its bounds are infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from eqspec.networks.curve_definitions import DEFINITIONS
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.program import Function, Step, Tile

Interval = tuple[Array, Array]
_SUMMED = 1e-9
"""Of what is added up, a share that is more than sums of a million products round."""
_MISSED = 1e-3
"""Of what a function gives, a share that is far more than platforms miss it by."""
_NEAR_ZERO = 2.0**-40
"""What they miss functions by that are differences near 0, times max(1, |x|)."""
_RELATIVE = {"exp", "log", "pieces", "power", "reciprocal", "sigmoid", "softplus", "sqrt", "square"}


def before(step: Step, given: dict[int, Interval]) -> Interval:
    """What stands before the function of a step, of what each of its sources gives."""
    error = 0.0 if step.bias_error is None else step.bias_error
    least, most = step.bias - error, step.bias + error
    slack = _SUMMED * (np.abs(step.bias) + error)
    for term in step.terms:
        (low, high), tile = given[term.source], term.tile
        weights = [tile.weight] * 2 if tile.weight_error is None else _around(tile.weight, tile.weight_error)
        ends = np.stack([np.maximum(low, 0), np.maximum(high, 0), np.maximum(-low, 0), np.maximum(-high, 0)], axis=1)
        (up, down), (up_most, down_most) = (
            tuple(Tile(tile.index, part).apply(ends) for part in (np.maximum(w, 0), np.maximum(-w, 0))) for w in weights
        )
        grown, cut = up[:, 0] + down_most[:, 3], down[:, 1] + up_most[:, 2]
        least = least + (grown - cut)
        slack = slack + _SUMMED * (grown + cut)
        grown_most, cut_most = up_most[:, 1] + down[:, 2], down_most[:, 0] + up[:, 3]
        most = most + (grown_most - cut_most)
    size = np.maximum(np.abs(least), np.abs(most))
    return least - slack, most + slack + _SUMMED * size


def _around(weight: Array, error: Array) -> list[Array]:
    return [weight - error, weight + error]


def behind(function: Function, ends: Interval) -> Interval:
    """What a function gives on intervals of its argument."""
    low, high = ends
    if function == "relu":
        return np.maximum(low, 0.0), np.maximum(high, 0.0)
    if not isinstance(function, Curves):
        return ends
    least, most = np.array(low), np.array(high)
    for curve, rows in function.groups(len(low)):
        least[rows], most[rows] = _of_curve(curve, low[rows], high[rows])
    return least, most


def _of_curve(curve: Curve, low: Array, high: Array) -> Interval:
    """Its ends and turning points have the extremes, since it goes one way between them."""
    parameters, definition = curve.parameters, DEFINITIONS[curve.name]
    if curve.name in ("sin", "cos"):
        return np.full(low.shape, -1.0), np.full(low.shape, 1.0)
    if curve.name == "quantiser":
        _, _, lowest, highest, unit, base, *_ = parameters
        size = unit * max(abs(lowest - base), abs(highest - base)) * (1 + _MISSED)
        return np.full(low.shape, -size), np.full(low.shape, size)
    if curve.name == "sqrt" or (curve.name == "power" and parameters[0] > 0 and parameters[0] != int(parameters[0])):
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)  # elsewhere it has no value, and a search says so
    known = definition.defined(low, high, parameters) & np.isfinite(low) & np.isfinite(high)
    places = [low, high, *(np.clip(turn, low, high) for turn in definition.turns(parameters))]
    with np.errstate(all="ignore"):
        found = np.stack([definition.value(np.where(known, place, 1.0), parameters) for place in places])
    least, most = found.min(axis=0), found.max(axis=0)
    slack = 0.0 if curve.name in _RELATIVE else _NEAR_ZERO * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    known &= np.isfinite(least) & np.isfinite(most)
    return (
        np.where(known, least - _MISSED * np.abs(least) - slack, -inf),
        np.where(known, most + _MISSED * np.abs(most) + slack, inf),
    )


def sizes(ends: Interval) -> Array:
    """The largest absolute numbers of intervals."""
    return np.asarray(np.maximum(np.abs(ends[0]), np.abs(ends[1])))


def symmetric(size: Sequence[float] | Array) -> Interval:
    """All numbers up to a size."""
    return -np.asarray(size, np.float64), np.asarray(size, np.float64)
