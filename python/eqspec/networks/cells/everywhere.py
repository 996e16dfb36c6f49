"""What holds of a program in all cells of a region at once, which is what the core is told to run it in plain floats.

The core runs programs at very many cells (`network::cells` there): sums, ReLUs and quantisers as they are, every other
function by a rule, which is made here. What makes its levels certain is how far the argument of a quantiser may lie
from the exact one in any of the cells, in levels. Where inputs and all sums are multiples of powers of two of which
floats hold enough, as in fixed point, that is 0, and ties are what they are.

Shapes: I inputs, one number for each row of a step. Sound because every row is followed as it is in `certain_values`,
with the largest of its absolute values and of its radii over all cells in the place of those in one cell: sums,
products and the rounding of both grow with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.cells.certain_values import MORE, CertainProgram, Values, exact_values, unit_roundings
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.grain import LEAST, OF_ZERO, grain, powers_of_two, sums_are_exact
from eqspec.networks.program import INPUTS, Step
from eqspec.networks.quantiser import Quantiser

_MOST_LEVELS = 2.0**50
"""Levels below are integers that the core computes with exactly."""
_MOST_ENTRIES = 1 << 14
"""The longest table; to make it takes about a second."""

Rule = tuple[str, list[float]]
"""A `table` (first, per unit, values...) or `lines` (knots..., slope and offset...), as the core takes them."""


@dataclass(frozen=True)
class Everywhere:
    """For each step the rules of its kinds of functions and the slack (rows,) of its quantisers, None where it has
    neither; radius (O,) and grain of the outputs. Without a radius all outputs are exact.
    """

    rules: tuple[list[Rule | None], ...]
    slack: tuple[Array | None, ...]
    radius: Array | None
    grain: int


def everywhere(
    program: CertainProgram, inputs: Values, known: Mapping[int, Values], cells: int = _MOST_ENTRIES
) -> Everywhere | None:
    """The analysis of a program; None where it has a function without a rule, or numbers that are too large.

    `inputs` are the largest absolute values (I, 1) over all cells with their radii; `known` are those of the steps that
    are not computed. No table is made that is longer than there are cells.
    """
    rules: list[list[Rule | None]] = []
    slack: list[Array | None] = []
    after: list[Values] = []
    for number, step in enumerate(program.steps):
        off, of_kinds = None, list[Rule | None]()
        if (now := known.get(number)) is None:
            sums = program.rounding(number, [inputs if s == INPUTS else after[s] for s in step.sources])
            now = Values(sums.largest[:, None], sums.radius, sums.grain)
            if isinstance(step.function, Curves):
                found = _Behind(step, now, min(cells, _MOST_ENTRIES))
                if not found.all_of(step.function):
                    return None
                now, off, of_kinds = found.values(), found.slack, found.rules
        if not np.isfinite(now.value).all():
            return None
        rules.append(of_kinds)
        slack.append(off)
        after.append(now)
    last = after[-1]
    return Everywhere(tuple(rules), tuple(slack), None if last.radius is None else last.radius[:, 0], last.grain)


_Rows = NDArray[np.intp]


class _Behind:
    """The rows of a step behind its functions."""

    def __init__(self, step: Step, sums: Values, entries: int) -> None:
        self.slack, self._value, self._radius = (np.zeros(step.rows) for _ in range(3))
        self.rules: list[Rule | None] = []
        self._sizes, self._fine, self._entries = sums.value[:, 0], sums.grain, entries
        self._off = np.zeros(step.rows) if sums.radius is None else sums.radius[:, 0]
        self._finest = OF_ZERO

    def values(self) -> Values:
        """The largest absolute values, radii and grain."""
        return Values(self._value[:, None], self._radius[:, None] if self._radius.any() else None, self._finest)

    def all_of(self, function: Curves) -> bool:
        """Take up all functions of the step; False where one has no rule."""
        self.rules = [None] * len(function.kinds)
        of_row = np.zeros(len(self._sizes)) if function.of_row is None else function.of_row
        for kind, curve in enumerate(function.kinds):
            rows = np.flatnonzero(of_row == kind)
            if not len(rows):
                continue
            if curve.name == "quantiser":
                if not self._quantised(Quantiser.of(curve), rows):
                    return False
                continue
            self.rules[kind] = rule = self._rule(curve, rows)
            if rule is None:
                return False
        return True

    def _rule(self, curve: Curve, rows: _Rows) -> Rule | None:
        """Lines where nothing is rounded on them, else a table, else lines all the same."""
        lines = _Lines.of(curve) if curve.name == "pieces" else None
        exact = lines is not None and self._exact_on(lines, rows)
        rule = None if exact else self._looked_up(curve, rows)
        return self._on_lines(lines, rows, exact=exact) if rule is None and lines is not None else rule

    def _quantised(self, q: Quantiser, rows: _Rows) -> bool:
        assert q.unit is not None
        assert q.base is not None
        off = self._off[rows]
        levels = (self._sizes[rows] + off) / q.scale * (1.0 + 2.0**-50) + abs(q.zero) + 1.0
        self.slack[rows] = slack = _slack(q, levels, off, self._fine)
        reach = np.ceil(levels + slack) + 1.0
        if not (reach < _MOST_LEVELS).all():
            return False
        low, high = np.clip(-reach, q.low, q.high), np.clip(reach, q.low, q.high)
        if q.wraps:
            turns = (-reach < q.low) | (reach > q.high)
            low, high = np.where(turns, float(q.low), low), np.where(turns, float(q.high), high)
        from_base = np.maximum(np.abs(low - q.base), np.abs(high - q.base))
        value = q.unit * from_base * (1.0 + 2.0**-50)
        fine = min(0, grain(np.array([q.base])))
        of_result = grain(np.array([q.unit])) + fine
        exact = sums_are_exact(from_base, fine) & sums_are_exact(value, of_result)
        self._set(rows, value, np.where(exact, 0.0, unit_roundings(value)), of_result)
        return True

    def _set(self, rows: _Rows, value: Array, radius: Array, fine: int) -> None:
        self._value[rows], self._radius[rows] = value, radius
        if (radius == 0.0).any():
            self._finest = min(self._finest, fine)

    def _looked_up(self, curve: Curve, rows: _Rows) -> Rule | None:
        """A table of all arguments that there are: exact ones, multiples of a power of two; None where it is long."""
        largest = float(self._sizes[rows].max(initial=0.0))
        if self._off[rows].any() or not (largest == 0.0 or -1000 < self._fine < 1000):
            return None
        fine = self._fine if largest else 0
        most = np.floor(np.ldexp(largest, -fine))
        if not 2.0 * most + 1.0 <= self._entries:
            return None
        numbers = np.array(range(-int(most), int(most) + 1), object)
        try:
            value, radius = exact_values(curve, numbers, numbers, fine)
        except ArithmeticError:  # it has no value at some of them, which may never be met
            return None
        if not np.isfinite(value).all():
            return None
        self._set(rows, np.full(len(rows), np.abs(value).max()), np.full(len(rows), radius.max()), grain(value))
        return "table", [-most * 2.0**fine, 2.0**-fine, *value.tolist()]

    def _exact_on(self, lines: _Lines, rows: _Rows) -> bool:
        """Whether nothing is rounded on these lines."""
        finest = min(grain(lines.slopes) + self._fine, grain(lines.offsets))
        exact = (self._off[rows] == 0.0) & sums_are_exact(lines.sizes(self._sizes[rows]), finest)
        return not lines.off and bool(exact.all())

    def _on_lines(self, lines: _Lines, rows: _Rows, *, exact: bool) -> Rule:
        """Lines that meet: where an argument is off, even on the next line, its value is by the steepest at most."""
        sizes, off = lines.sizes(self._sizes[rows]), self._off[rows]
        radius = (lines.steepest * off + unit_roundings(sizes) + lines.off) * MORE
        fine = min(grain(lines.slopes) + self._fine, grain(lines.offsets))
        if exact:
            radius = np.zeros_like(radius)
        self._set(rows, (lines.most(self._sizes[rows] + off) + radius) * MORE, radius, fine)
        pairs = np.stack([lines.slopes, lines.offsets], axis=1).reshape(-1)
        return "lines", [*lines.knots.tolist(), *pairs.tolist()]


@dataclass(frozen=True)
class _Lines:
    """The lines of a continuous piecewise linear function: `off` is how far offsets are from the exact ones at most."""

    knots: Array
    slopes: Array
    offsets: Array
    heights: Array
    off: float

    @classmethod
    def of(cls, curve: Curve) -> _Lines:
        """Those of the function `pieces`."""
        count = int(curve.parameters[0])
        knots = list(map(Fraction, curve.parameters[1 : count + 1]))
        slopes = list(map(Fraction, curve.parameters[count + 1 : -1]))
        rises = (s * (after - before) for s, (before, after) in zip(slopes[1:], pairwise(knots), strict=False))
        heights = list(accumulate(rises, initial=Fraction(curve.parameters[-1])))
        at = zip(slopes, [knots[0], *knots], [heights[0], *heights], strict=True)
        exact = [height - s * knot for s, knot, height in at]
        offsets = [float(x) for x in exact]
        off = max(abs(x - Fraction(y)) for x, y in zip(exact, offsets, strict=True))
        of_floats = np.array(curve.parameters, np.float64)
        return cls(
            of_floats[1 : count + 1],
            of_floats[count + 1 : -1],
            np.array(offsets),
            np.array(list(map(float, heights))),
            float(np.nextafter(float(off), np.inf)) if off else 0.0,
        )

    @property
    def steepest(self) -> float:
        """The largest slope, whatever its sign."""
        return float(np.abs(self.slopes).max())

    def sizes(self, largest: Array) -> Array:
        """What the absolute values of product and offset come to at most, on any line."""
        return np.asarray(self.steepest * largest + np.abs(self.offsets).max())

    def most(self, largest: Array) -> Array:
        """The largest absolute value where arguments have at most these: at an end, or at a knot between both."""
        line = (np.searchsorted(self.knots, x) for x in (largest, -largest))
        ends = (self.slopes[k] * x + self.offsets[k] for k, x in zip(line, (largest, -largest), strict=True))
        found = np.max([np.abs(end) for end in ends], axis=0)
        for knot, height in zip(self.knots.tolist(), self.heights.tolist(), strict=True):
            found = np.where(np.abs(knot) <= largest, np.maximum(found, abs(height)), found)
        return np.asarray(found)


def _slack(q: Quantiser, levels: Array, off: Array, fine: int) -> Array:
    """How far x / scale + zero may be off, in levels, and how it is rounded to an integer.

    Nothing is rounded where x, a multiple of 2^fine, is exact and the scale is a power of two: x / scale + zero, and
    that with a half more or less, are multiples of some power of two of which a float holds so many.

    With another scale, x / scale + zero less a half of an integer k is (2 x + 2 zero scale - k scale) / (2 scale). The
    numerator is a multiple of the finest power of two that its terms are multiples of: it is 0 or no less than that. If
    it is 0, x / scale is a quotient of floats that a float holds, and nothing is rounded; else all that is rounded does
    not lead to a multiple of a half, where levels change.
    """
    rounded = unit_roundings(4.0 * levels) + off / q.scale * MORE
    zero, scale = grain(np.array([q.zero])), grain(np.array([q.scale]))
    if powers_of_two(np.array([q.scale])):
        finest = min(fine - int(np.log2(q.scale)), zero, -1)
        certain = (fine >= LEAST) & sums_are_exact(levels, finest)
    else:
        certain = 4.0 * rounded < np.ldexp(0.5 / q.scale, min(fine + 1, scale, zero + scale + 1))
    return np.where((off == 0.0) & certain, 0.0, rounded)
