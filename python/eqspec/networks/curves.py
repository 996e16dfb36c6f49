"""The functions of one variable that may follow the rows of a step, beside the identity and ReLU.

A `Curve` is a function of the real numbers, by its name and its parameters, which are exact float64 numbers. `Curves`
are the functions of the rows of a step: one for all of them, or one of several for each row. What a name means is in
`curve_definitions`; here is data alone.

    pieces(n, k_1 ... k_n, s_0 ... s_n, v_1)

is continuous and linear between its knots k_1 < ... < k_n, with slope s_0 in front of the first, s_i behind knot i, and
the value v_1 at the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Curve:
    """A function from the reals to the reals; outside of its domain it has no value."""

    name: str
    parameters: tuple[float, ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        if self.name == "pieces":
            return _familiar(self.parameters)
        if self.name == "quantiser":
            return _quantisers([self.parameters])
        return f"{self.name}({', '.join(f'{p:.6g}' for p in self.parameters)})"


@dataclass(frozen=True, eq=False)
class Curves:
    """Row r has the function kinds[of_row[r]]; without `of_row` all rows have the first.

    Two are equal if every row has the same function in both; they never equal a string.
    """

    kinds: tuple[Curve, ...]
    of_row: NDArray[np.int32] | None = None

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def all(cls, curve: Curve) -> Curves:
        """One function for every row."""
        return cls((curve,))

    @classmethod
    def of_rows(cls, rows: Sequence[Curve]) -> Curves:
        """The function of each row, those that are equal said once."""
        known: dict[Curve, int] = {}
        numbers = [known.setdefault(curve, len(known)) for curve in rows]
        return cls(tuple(known), None if len(known) == 1 else np.array(numbers, np.int32))

    @classmethod
    def of_numbers(cls, numbers: NDArray[np.float64], curve: Callable[[float], Curve]) -> Curves:
        """The function that its number gives each row, in the order in which they occur.

        It is made once for each number, since an image has millions of rows and few slopes.
        """
        found, first, rows = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)
        kinds = tuple(curve(number) for number in found[order].tolist())
        return cls(kinds, None if len(kinds) == 1 else np.argsort(order)[rows.reshape(-1)].astype(np.int32))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Curves):
            return False
        mine, theirs = self.uniform, other.uniform
        if mine is not None or theirs is not None:
            return mine == theirs
        assert self.of_row is not None
        assert other.of_row is not None
        if len(self.of_row) != len(other.of_row):
            return False
        pairs = np.unique(np.stack([self.of_row, other.of_row]), axis=1).T.tolist()
        return all(self.kinds[i] == other.kinds[k] for i, k in pairs)

    @property
    def uniform(self) -> Curve | None:
        """The function of all rows, where it is one."""
        if self.of_row is None:
            return self.kinds[0]
        used = {self.kinds[i] for i in np.unique(self.of_row).tolist()}
        return used.pop() if len(used) == 1 else None

    def at(self, row: int) -> Curve:
        """The function of a row."""
        return self.kinds[0 if self.of_row is None else int(self.of_row[row])]

    def taken(self, rows: NDArray[np.integer]) -> Curves:
        """The functions of some rows, in this order; where it is -1, that of the first row."""
        if self.of_row is None:
            return self
        return Curves(self.kinds, np.where(rows < 0, self.of_row[0], self.of_row[rows]).astype(np.int32))

    def groups(self, rows: int) -> list[tuple[Curve, NDArray[np.intp] | slice]]:
        """Each function that occurs, with the rows that have it."""
        if self.of_row is None:
            return [(self.kinds[0], slice(0, rows))]
        return [(self.kinds[i], np.flatnonzero(self.of_row == i)) for i in np.unique(self.of_row).tolist()]

    def __str__(self) -> str:
        used = [self.kinds[0]] if self.of_row is None else [self.kinds[i] for i in np.unique(self.of_row).tolist()]
        if len(used) > 1 and all(curve.name == "quantiser" for curve in used):
            return _quantisers([curve.parameters for curve in used])
        shown = ", ".join(map(str, used[:3]))
        return shown if len(used) <= 3 else f"{shown} and {len(used) - 3} others"


def pieces(knots: Sequence[float], slopes: Sequence[float], value: float) -> Curve:
    """The continuous piecewise linear function with these knots and slopes, and this value at the first knot."""
    return Curve("pieces", (float(len(knots)), *map(float, knots), *map(float, slopes), float(value)))


def leaky(slope: float) -> Curve:
    """x where it is positive, slope x elsewhere."""
    return pieces((0.0,), (slope, 1.0), 0.0)


def clip(low: float, high: float) -> Curve:
    """x between two ends, low < high."""
    return pieces((low, high), (0.0, 1.0, 0.0), low)


def through(spacing: float, first: int, values: NDArray[np.float64]) -> Curve:
    """The function that is linear between the points ((first + i) spacing, values[i]), and constant beside them.

    Points on the line of their neighbours are left out.
    """
    slopes = np.diff(values) / spacing
    around = np.concatenate([[0.0], slopes, [0.0]])
    bends = np.flatnonzero(around[1:] != around[:-1])
    if not len(bends):
        bends = np.zeros(1, np.intp)
    knots = (first + bends) * spacing
    return pieces(knots.tolist(), [0.0, *around[bends + 1].tolist()], float(values[bends[0]]))


ABSOLUTE = pieces((0.0,), (-1.0, 1.0), 0.0)


def _familiar(parameters: Sequence[float]) -> str:
    """What people call a piecewise linear function."""
    match tuple(parameters):
        case (1.0, 0.0, -1.0, 1.0, 0.0):
            return "abs"
        case (1.0, 0.0, 0.0, 1.0, 0.0):
            return "relu"
        case (1.0, 0.0, slope, 1.0, 0.0):
            return f"leaky({slope:.6g})"
        case (2.0, low, high, 0.0, 1.0, 0.0, value) if value == low:
            return f"clip({low:.6g}, {high:.6g})"
    knots = ", ".join(f"{k:.6g}" for k in parameters[1 : 1 + int(parameters[0])])
    return f"piecewise linear, bent at {knots}"


_ROUNDED = (
    "", ", ties away from 0", ", ties up", ", ties down", ", ties towards 0", ", rounded down", ", rounded up",
    ", rounded towards 0", ", rounded away from 0",
)  # fmt: skip
"""What is said of a rounding, by its number (`quantiser.Rounding`)."""


def _quantisers(rows: Sequence[Sequence[float]]) -> str:
    """Bits, steps and range of quantisers, from the least to the most of them; wider steps of what they give apart."""
    scales, _, lows, highs, units, bases, roundings, wraps = zip(*rows, strict=True)
    ends = [[unit * (k - base) for unit, base, k in zip(units, bases, side, strict=True)] for side in (lows, highs)]
    counts = [int(high - low) + 1 for low, high in zip(lows, highs, strict=True)]
    least, most = min(ends[0]), max(ends[1])
    said = _ROUNDED[int(roundings[0])] if len({*roundings}) == 1 and max(counts) > 2 else ""
    said += ", wrapping around" if any(wraps) else ""
    if max(counts) == 1:
        return f"constant, {_between([*ends[0]])}"
    if max(counts) == 2 and len(rows) == 1:
        return f"1 bit, {least:.3g} or {most:.3g}{said}"
    bits = _between([(count - 1).bit_length() for count in counts])
    same = scales == units
    steps = _between([*scales])
    return f"{bits} bits, steps of {steps} {'in' if same else 'given as'} {least:.3g} .. {most:.3g}{said}"


def _between(numbers: Sequence[float]) -> str:
    """The least and the most of some numbers."""
    least, most = (f"{end:.3g}" for end in (min(numbers), max(numbers)))
    return least if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class Pieces:
    """The parameters of `pieces` by what they are; `values` are those at the knots, as exact rationals."""

    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    values: tuple[Fraction, ...]

    @classmethod
    def of(cls, parameters: Sequence[float]) -> Pieces:
        """Parameters as `curve_definitions.problem` accepts them."""
        count = int(parameters[0])
        knots, slopes = tuple(parameters[1 : count + 1]), tuple(parameters[count + 1 : 2 * count + 2])
        values = [Fraction(parameters[-1])]
        for slope, left, right in zip(slopes[1:-1], knots, knots[1:], strict=False):
            values.append(values[-1] + Fraction(slope) * (Fraction(right) - Fraction(left)))
        return cls(knots, slopes, tuple(values))
