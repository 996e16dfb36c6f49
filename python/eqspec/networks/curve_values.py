"""Functions of the rows of a step in floats at many points, for attacks and samples; see `curve_definitions`.

Shapes: sums and values (rows, N). Outside of a function's domain a value is NaN or infinite.
"""

from __future__ import annotations

import numpy as np

from eqspec.networks import quantiser
from eqspec.networks.curve_definitions import DEFINITIONS
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array


def value(curves: Curves, sums: Array) -> Array:
    """The functions of all rows."""
    made = np.empty_like(sums)
    with np.errstate(all="ignore"):
        for curve, rows in curves.groups(len(sums)):
            made[rows] = DEFINITIONS[curve.name].value(sums[rows], curve.parameters)
    return made


def slope(curves: Curves, sums: Array) -> Array:
    """Their derivatives; one-sided at a kink, 0 at a jump."""
    made = np.empty_like(sums)
    with np.errstate(all="ignore"):
        for curve, rows in curves.groups(len(sums)):
            made[rows] = DEFINITIONS[curve.name].slope(sums[rows], curve.parameters)
    return made


def spread(curves: Curves, centre: Array, radius: Array, share: float) -> Array:
    """How far from its value at the centre a function may get within a radius, in floats; infinite off its domain.

    The level that a quantiser rounds may be missed by a `share` of its size more.
    """
    made = np.empty_like(centre)
    with np.errstate(all="ignore"):
        for curve, rows in curves.groups(len(centre)):
            definition, p = DEFINITIONS[curve.name], curve.parameters
            within = radius[rows]
            if curve.name == "quantiser":
                scale, zero, _, _, _, _, _, wraps = p
                within = within + share * (np.abs(centre[rows]) + scale * abs(zero))
            low, high = centre[rows] - within, centre[rows] + within
            there = definition.value(centre[rows], p)
            ends = [np.abs(definition.value(end, p) - there) for end in (low, high)]
            most = np.maximum(*ends)
            for turn in definition.turns(p):
                for near in (turn, np.nextafter(turn, np.inf)):  # a jump has two values there
                    apart = np.abs(definition.value(np.full(1, near), p) - there)
                    most = np.where((low <= turn) & (turn <= high), np.maximum(most, apart), most)
            if curve.name in ("sin", "cos"):
                most = np.minimum(2.0, radius[rows])
            if curve.name == "quantiser":
                # It keeps the order of numbers, unless it wraps: levels at both ends are those in between.
                most = np.where((most > 0) | (wraps * (high - low) >= scale), np.maximum(most, quantiser.jump(p)), 0.0)
            made[rows] = np.where(definition.defined(low, high, p), most, np.inf)
    return made
