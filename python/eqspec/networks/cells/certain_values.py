"""Programs at many points at once, in floats with proven errors, and exact wherever sums of floats are (`grain`).

A vector of values is `value` (n, N) and `radius` (n, N), points in columns: the exact number lies within the radius of
the value; without a radius all values are exact. `grain` is an integer e such that every value in a row whose radius is
0 is a multiple of 2^e.

Why it is sound. If all products of a row and its bias are multiples of 2^e and their absolute values add up to less
than 2^(53 + e), every partial sum is a float, in any order: nothing is rounded. Otherwise a sum of n products differs
from the exact one by at most n u / (1 - n u) times the sum of their absolute values (Higham); the radius says so and
adds what the errors of weights and the radii of values make of it, and all that is computed of it is blown up by more
than its own rounding. Where the level of a quantiser is not certain, exact values are looked at as rationals; where
values are not exact, the point is marked as open, and what is said of it has no meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_curves import applied
from eqspec.networks.exact_vectors import Integers, Vector, to_integers
from eqspec.networks.grain import LEAST, OF_ZERO, grain, grains, sums_are_exact
from eqspec.networks.program import INPUTS, Step, Tile, last_readers
from eqspec.networks.quantiser import Quantiser, in_floats

_UNIT = 2.0**-53
MORE = 1.0 + 2.0**-20
"""What is computed of a radius is blown up by this, more than the rounding of at most 2^24 operations that made it."""
_LEAST = 1e-290
"""More than underflow may take away."""
_BITS = 96
_MOST_NUMBERS = 1 << 14
"""Different numbers that a function is evaluated at exactly, about a second."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Values:
    """See the head of this file."""

    value: Array
    radius: Array | None = None
    grain: int = 0

    def ends(self) -> tuple[Array, Array]:
        """The intervals, rounded outward."""
        if self.radius is None:
            return self.value, self.value
        low, high = (np.nextafter(self.value + side * self.radius, side * np.inf) for side in (-1.0, 1.0))
        exact = self.radius == 0.0
        return np.where(exact, self.value, low), np.where(exact, self.value, high)


@dataclass(frozen=True)
class Sums:
    """How large computed sums (n,) are at most, their radius (n, N), and the grain of those that are exact."""

    largest: Array
    radius: Array | None
    grain: int


@dataclass(frozen=True)
class Watch:
    """Quantisers that wrap, or those that saturate: `outside` (N,) is set where a level of one may leave its type."""

    wraps: bool
    outside: Mask


@dataclass(frozen=True)
class Given:
    """Values of some rows of a step that are known beforehand."""

    rows: NDArray[np.intp]
    values: Values


class _Tile:
    """A tile with what bounds need of it."""

    def __init__(self, tile: Tile) -> None:
        self.tile = tile

    @cached_property
    def size(self) -> Tile:
        """The tile with the absolute values of its weights."""
        return Tile(self.tile.index, np.abs(self.tile.weight))

    @cached_property
    def error(self) -> Tile | None:
        """The tile with the errors of its weights."""
        error = self.tile.weight_error
        return None if error is None or not error.any() else Tile(self.tile.index, error)

    @cached_property
    def shifts(self) -> Mask:
        """Which rows are one entry times a power of two."""
        if self.tile.taps > 1:
            return np.zeros(self.tile.rows, bool)
        powers = np.abs(np.frexp(self.tile.weight[:, :, 0])[0]) == 0.5
        return np.repeat(powers.reshape(-1), self.tile.positions)

    @cached_property
    def grains(self) -> NDArray[np.int64]:
        """The weights of each row are multiples of 2^this."""
        of_channel = grains(self.tile.weight.reshape(-1, self.tile.taps))
        return np.repeat(of_channel, self.tile.positions)


class CertainProgram:
    """A program prepared for evaluation at many points."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)
        self._tiles = [[_Tile(term.tile) for term in step.terms] for step in steps]
        self._last = last_readers(steps)

    def __call__(self, inputs: Values, given: Mapping[int, Given], watch: Watch | None = None) -> tuple[Values, Mask]:
        """Outputs (O, N), and which points are open, at inputs (I, N), where some rows of steps are known already.

        `watch` is told of all rows but these.
        """
        count = inputs.value.shape[1]
        unsure = np.zeros(count, bool)
        after: list[Values | None] = []
        for number, step in enumerate(self.steps):
            known = given.get(number)
            if known is not None and len(known.rows) == step.rows:
                now = _in_place(known)
            else:
                read = [inputs if source == INPUTS else after[source] for source in step.sources]
                sums = self._sums(number, [values for values in read if values is not None], count)
                now = _behind(step, sums, unsure, None if known is None else known.rows, watch)
                if known is not None:
                    now = _replaced(now, known)
            after.append(now)
            for source in step.sources:
                if source >= 0 and self._last[source] == number:
                    after[source] = None
        last = after[-1]
        assert last is not None
        unsure |= ~np.isfinite(last.value).all(axis=0)
        if last.radius is not None:
            unsure |= ~np.isfinite(last.radius).all(axis=0)
        return last, unsure

    def _sums(self, number: int, read: Sequence[Values], count: int) -> Values:
        step, tiles = self.steps[number], self._tiles[number]
        value = np.repeat(step.bias[:, None], count, axis=1)
        for tile, given in zip(tiles, read, strict=True):
            value += tile.tile.apply(given.value)
        sums = self.rounding(number, read)
        return Values(value, sums.radius, sums.grain)

    def rounding(self, number: int, read: Sequence[Values]) -> Sums:
        """What is known of the sums of a step, in whatever order they are added, where it reads such values."""
        step, tiles = self.steps[number], self._tiles[number]
        largest = np.abs(step.bias)[:, None]
        for tile, given in zip(tiles, read, strict=True):
            largest = largest + tile.size.apply(np.abs(given.value).max(axis=1, initial=0.0)[:, None])
        finest, exact = self._exact_rows(step, tiles, read, largest[:, 0])
        most = largest[:, 0] * MORE
        if exact.all():
            return Sums(most, None, int(finest.min(initial=OF_ZERO)))
        products = sum(tile.tile.taps for tile in tiles) + len(tiles) + 1
        gamma = products * _UNIT / (1.0 - products * _UNIT)
        count = max((given.value.shape[1] for given in read), default=1)
        radius = np.broadcast_to(gamma * largest + _LEAST, (step.rows, count)).copy()
        for tile, given in zip(tiles, read, strict=True):
            if given.radius is not None:
                radius += (1.0 + gamma) * tile.size.apply(given.radius)
            if tile.error is not None:
                width = np.abs(given.value) if given.radius is None else np.abs(given.value) + given.radius
                radius += tile.error.apply(width)
        if step.bias_error is not None:
            radius += step.bias_error[:, None]
        radius *= MORE
        radius[exact] = 0.0
        return Sums(most, radius, int(finest[exact].min(initial=OF_ZERO)))

    def _exact_rows(
        self, step: Step, tiles: Sequence[_Tile], read: Sequence[Values], largest: Array
    ) -> tuple[NDArray[np.int64], Mask]:
        """Of which power of two each row is a multiple, and in which rows nothing is rounded."""
        finest = grains(step.bias[:, None])
        exact = np.ones(step.rows, bool) if step.bias_error is None else step.bias_error == 0.0
        for tile, given in zip(tiles, read, strict=True):
            finest = np.minimum(finest, tile.grains + given.grain)
            if given.radius is not None:
                exact &= tile.size.apply(given.radius.max(axis=1, initial=0.0)[:, None])[:, 0] == 0.0
            if tile.error is not None:
                exact &= tile.error.apply(np.ones((len(given.value), 1)))[:, 0] == 0.0
        unrounded = sums_are_exact(largest, finest)
        if len(tiles) == 1:  # one product with a power of two, and nothing to add, however large and small it may be
            unrounded |= tiles[0].shifts & (step.bias == 0.0) & (finest >= LEAST)
        return finest, exact & unrounded


def _in_place(known: Given) -> Values:
    """All rows of a step, given in any order."""
    order = np.argsort(known.rows)
    radius = known.values.radius
    return Values(known.values.value[order], None if radius is None else radius[order], known.values.grain)


def _replaced(now: Values, known: Given) -> Values:
    """The values with some rows that are known."""
    return _stacked(
        now.value.shape,
        [(np.setdiff1d(np.arange(len(now.value)), known.rows), now), (known.rows, known.values)],
        all_of=True,
    )


def _stacked(
    shape: tuple[int, ...], parts: Sequence[tuple[NDArray[np.intp], Values]], *, all_of: bool = False
) -> Values:
    """Rows from several parts; with `all_of` the first part has all rows, of which some are taken."""
    value = np.zeros(shape)
    radius = None if all(part.radius is None for _, part in parts) else np.zeros(shape)
    for place, (rows, part) in enumerate(parts):
        taken = rows if all_of and place == 0 else slice(None)
        value[rows] = part.value[taken]
        if radius is not None and part.radius is not None:
            radius[rows] = part.radius[taken]
    return Values(value, radius, min(part.grain for _, part in parts))


def _behind(step: Step, sums: Values, unsure: Mask, known: NDArray[np.intp] | None, watch: Watch | None) -> Values:
    """Values behind the function of a step; what becomes of rows that are known does not matter."""
    if step.function == "identity":
        return sums
    if not isinstance(step.function, Curves):
        return Values(np.maximum(sums.value, 0.0), sums.radius, sums.grain)
    parts = []
    for curve, chosen in step.function.groups(step.rows):
        rows = np.arange(step.rows)[chosen]
        if known is not None:
            rows = np.setdiff1d(rows, known)
        if len(rows):
            given = Values(sums.value[rows], None if sums.radius is None else sums.radius[rows], sums.grain)
            if curve.name == "quantiser":
                parts.append((rows, _quantised(Quantiser.of(curve), given, unsure, watch)))
            else:
                parts.append((rows, _any_curve(curve, given, unsure)))
    return _stacked(sums.value.shape, parts)


def _quantised(q: Quantiser, given: Values, unsure: Mask, watch: Watch | None) -> Values:
    assert q.unit is not None
    assert q.base is not None
    with np.errstate(all="ignore"):
        quotient = given.value / q.scale
        slack = unit_roundings(4.0 * (np.abs(quotient) + abs(q.zero) + 1.0))
        if given.radius is not None:
            slack += given.radius / q.scale * MORE
        ends = [in_floats(quotient + q.zero + side, q.rounding) for side in (-slack, slack)]
        if watch is not None and watch.wraps == q.wraps:
            watch.outside[~((ends[0] >= q.low) & (ends[1] <= q.high)).all(axis=0)] = True
        if not q.wraps:
            ends = [np.clip(end, q.low, q.high) for end in ends]
        levels = ends[0]
        open_ones = ~(ends[0] == ends[1]) | ~np.isfinite(quotient)
        if q.wraps:
            levels = q.low + np.mod(levels - q.low, q.high - q.low + 1.0)
        if open_ones.any():
            exact = open_ones if given.radius is None else open_ones & (given.radius == 0.0)
            levels = np.where(open_ones, float(q.low), levels)
            levels[exact] = _levels(q, given.value[exact])
            unsure |= (open_ones & ~exact).any(axis=0)
        value = q.unit * (levels - q.base)
    fine = min(0, grain(np.array([q.base])))
    of_result = grain(np.array([q.unit])) + fine
    if sums_are_exact(np.abs(levels - q.base), fine).all() and sums_are_exact(np.abs(value), of_result).all():
        return Values(value, None, of_result)
    return Values(value, unit_roundings(np.abs(value)))


def unit_roundings(sizes: Array) -> Array:
    """What four operations round at most, whose results have at most these absolute values."""
    return np.asarray(4.0 * _UNIT * sizes + _LEAST)


def _levels(q: Quantiser, numbers: Array) -> Array:
    """The stored levels of floats, as they are."""
    different, place = np.unique(numbers, return_inverse=True)
    (whole,), exponent = to_integers(different)
    levels = q.brought(q.levels(whole << max(exponent, 0), 1 << max(-exponent, 0)))
    return np.asarray(levels.astype(np.float64)[place].reshape(numbers.shape))


def _any_curve(curve: Curve, given: Values, unsure: Mask) -> Values:
    """The values of a function in rationals, each number evaluated once."""
    ends = np.stack([end.reshape(-1) for end in given.ends()])
    different, place = np.unique(ends, axis=1, return_inverse=True)
    if different.shape[1] > _MOST_NUMBERS or not np.isfinite(different).all():
        unsure[:] = True
        return Values(np.zeros_like(given.value), None, OF_ZERO)
    (low, high), exponent = to_integers(different[0], different[1])
    try:
        value, radius = exact_values(curve, low, low if given.radius is None else high, exponent)
    except ArithmeticError:  # an argument is not known to lie in its domain, or it or the value is far too large
        unsure[:] = True
        return Values(np.zeros_like(given.value), None, OF_ZERO)
    shape, at = given.value.shape, place.reshape(-1)
    value = value[at].reshape(shape)
    if not radius.any():
        return Values(value, None, grain(value))
    return Values(value, radius[at].reshape(shape), grain(value[radius[at].reshape(shape) == 0.0]))


def exact_values(curve: Curve, low: Integers, high: Integers, exponent: int) -> tuple[Array, Array]:
    """The values of a function at numbers that lie between low and high, times 2^exponent, and how far these are off.

    ArithmeticError where it has none, or they are far too large.
    """
    exact = applied(Curves.all(curve), Vector(low, high, exponent, 1), _BITS).fractions()
    value = np.array([float((least + most) / 2) for least, most in exact])
    off = [max(most - Fraction(v), Fraction(v) - least) for v, (least, most) in zip(value.tolist(), exact, strict=True)]
    return value, np.nextafter(np.array([float(r) for r in off]), np.inf) * (np.array(off) > 0)
