"""GridSample at stored places: every entry of the result is a sum of neighbours of one place with fixed shares.

X is (N, C, d1, ..., dr), the grid (N, o1, ..., or, r) with the coordinates of the last axis first, from -1 to 1. Where
a place lies on an axis of size d is the exact rational ((g + 1) d - 1) / 2, or (g + 1) (d - 1) / 2 where corners are
aligned. Beyond the ends there are zeros (`zeros`), the last entry (`border`), or the value once more, turned round
(`reflection`): about the outer edges of the first and last entry, or about their centres where corners are aligned.

Shares are those of `interpolation`, multiplied over the axes. They are continuous in the place, so what a runtime
rounds in a coordinate counts as their radius. To the nearest they jump: a place that float32 may take to either side of
a tie is refused. So is cubic interpolation beyond a border, where torch repeats entries and onnxruntime the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import floor, prod

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import products
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Indices, check_size, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.interpolation import STEEPEST, share
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value

_AGAIN = "export the model again"
_CUBIC = Fraction(-3, 4)
_MODES = {"bilinear": "linear", "linear": "linear", "nearest": "nearest", "bicubic": "cubic", "cubic": "cubic"}
_ROUNDINGS = 16
"""Of a coordinate on its way from the grid to its place, each at most a unit of (1 + |g|) (d + 2)."""


@dataclass(frozen=True)
class _Axis:
    """One axis of the value: its size, what is beyond its ends, and whether -1 and 1 are its outermost centres."""

    size: int
    padding: str
    aligned: bool

    def place(self, coordinate: float) -> Fraction:
        """Where a coordinate lies, before anything is said of places beyond the ends."""
        if self.aligned:
            return (Fraction(coordinate) + 1) * (self.size - 1) / 2
        return ((Fraction(coordinate) + 1) * self.size - 1) / 2

    def within(self, at: Fraction) -> Fraction:
        """The place that is read in place of one beyond the ends."""
        low, high = (0, self.size - 1) if self.aligned else (Fraction(-1, 2), self.size - Fraction(1, 2))
        if low <= at <= high or self.padding == "zeros":
            return at
        if self.padding == "border":
            return min(max(at, Fraction(0)), Fraction(self.size - 1))
        if low == high:
            return Fraction(low)
        turns, rest = divmod(at - low, high - low)
        return high - rest if turns % 2 else low + rest

    def entry(self, place: int) -> int:
        """The entry at a whole place, NONE for a zero."""
        if 0 <= place < self.size:
            return place
        return NONE if self.padding == "zeros" else floor(self.within(Fraction(place)))


def grid_sample(call: OperatorCall) -> Sequence[Value]:
    """GridSample of a value at a stored grid."""
    x = call.real_value(0)
    if isinstance(call.value(1), Affine):
        raise UnreadableError("where it reads depends on the input", "resample before the model, or store the grid")
    grid, mode = call.number(1), _text(call, "mode", "bilinear")
    padding, aligned = _text(call, "padding_mode", "zeros"), bool(call.integer("align_corners", 0))
    if mode not in _MODES or padding not in ("zeros", "border", "reflection"):
        raise UnreadableError(f"mode {mode!r} with padding {padding!r}", _AGAIN)
    rank = len(x.shape) - 2
    if rank < 1 or len(grid.shape) != rank + 2 or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise UnreadableError(f"a grid of shape {grid.shape} for a value of shape {x.shape}", _AGAIN)
    if min(x.shape[2:]) < 1:
        raise UnreadableError(f"a value of shape {x.shape}", _AGAIN)
    check_value((*x.shape[:2], *grid.shape[1:-1]))
    axes = [_Axis(size, padding, aligned) for size in x.shape[2:]]
    coordinates = grid.rearranged(lambda a: a.reshape(-1, rank)[:, ::-1])
    places = [[axis.place(float(g)) for axis, g in zip(axes, row, strict=True)] for row in coordinates.value]
    largest = 1.0 + float(np.max(np.abs(grid.value), initial=0.0))
    sizes = np.array(x.shape[2:], np.float64)
    misread = coordinates.radius * sizes  # of the place, by what is not known of the grid
    rounded = _ROUNDINGS * largest * (sizes + 2.0)
    if _MODES[mode] == "nearest":
        return [_nearest(x, axes, places, misread + _unit(call) * rounded, grid.shape)]
    if _MODES[mode] == "cubic" and padding == "border":
        outside = [not 0 <= at <= axis.size - 1 for row in places for at, axis in zip(row, axes, strict=True)]
        if any(outside):
            message = "cubic interpolation beyond the border, where runtimes differ"
            raise UnreadableError(message, "use padding_mode 'zeros', or mode 'linear'")
    steep = None if _MODES[mode] == "linear" else _CUBIC
    missed = misread + call.given.unit * rounded
    return [_summed(x, axes, places, missed, steep, grid.shape)]


def _summed(
    x: Affine | Enclosure,
    axes: Sequence[_Axis],
    places: Sequence[Sequence[Fraction]],
    missed: en.Array,
    steep: Fraction | None,
    grid: tuple[int, ...],
) -> Affine | Enclosure:
    """The sum of the neighbours of every place, by their shares; a place may be off by `missed` (places, r)."""
    reach = 1 if steep is None else 2
    unsure = np.broadcast_to(missed, (len(places), len(axes)))
    more = int((unsure > 0.0).any())  # an entry further away may be a neighbour then
    offsets = range(-reach - more + 1, reach + more + 1)
    taps = len(offsets)
    check_size((len(places), x.shape[1], taps ** len(axes)))
    entries = np.empty((len(axes), len(places), taps), np.int64)
    shares = list[Enclosure]()
    for number, axis in enumerate(axes):
        found = list[tuple[Fraction, Fraction]]()
        for row, one in enumerate(places):
            at = axis.within(one[number])
            around = [floor(at) + offset for offset in offsets]
            entries[number, row] = [axis.entry(place) for place in around]
            found += [(s, s) for s in (share(abs(at - place), steep) for place in around)]
        exactly = en.from_intervals(found).rearranged(lambda a: a.reshape(len(places), taps))
        off = np.broadcast_to(unsure[:, number, None] * STEEPEST, exactly.shape)
        shares.append(en.enclose(exactly.value, en.add_up(exactly.radius, off)) if more else exactly)
    weights = reduce(_outer, shares).rearranged(lambda a: np.ascontiguousarray(a.reshape(len(places), 1, -1)))
    flat, seen = _flat(entries, [axis.size for axis in axes])
    channels, inner = x.shape[1], prod(x.shape[2:])
    samples = np.repeat(np.arange(x.shape[0]), len(places) // x.shape[0]) * channels
    begin = (samples[:, None] + np.arange(channels)) * inner
    read = np.where(seen[:, None, :], begin[:, :, None] + flat[:, None, :], NONE)
    shape = (*x.shape[:2], *grid[1:-1])
    order = np.arange(prod(shape)).reshape(x.shape[0], -1, channels).swapaxes(1, 2).reshape(-1)
    if isinstance(x, Affine):
        return products.tile(x, read, weights, shape, order)
    rows = products.tile_of_constant(x, read, weights, (prod(shape),))
    return rows.rearranged(lambda a: a.reshape(-1)[order].reshape(shape))


def _outer(a: Enclosure, b: Enclosure) -> Enclosure:
    """The products of shares along two axes, (places, m) and (places, n) to (places, m n)."""
    first, second = a.rearranged(lambda v: v[:, :, None]), b.rearranged(lambda v: v[:, None, :])
    return en.multiply(first, second).rearranged(lambda v: v.reshape(v.shape[0], -1))


def _flat(entries: Indices, sizes: Sequence[int]) -> tuple[Indices, NDArray[np.bool_]]:
    """Of entries along each axis (r, places, taps), their places among all of one channel, and which of them exist."""
    axes, places, _ = entries.shape
    flat, seen = np.zeros((places, 1), np.int64), np.ones((places, 1), bool)
    for axis in range(axes):
        flat = (flat[:, :, None] * sizes[axis] + entries[axis][:, None, :]).reshape(places, -1)
        seen = (seen[:, :, None] & (entries[axis] != NONE)[:, None, :]).reshape(places, -1)
    return flat, seen


def _nearest(
    x: Affine | Enclosure,
    axes: Sequence[_Axis],
    places: Sequence[Sequence[Fraction]],
    missed: en.Array,
    grid: tuple[int, ...],
) -> Affine | Enclosure:
    """The entry nearest to every place, which must lie further from a tie than it may be `missed`."""
    unsure = np.broadcast_to(missed, (len(places), len(axes)))
    entries = np.empty((len(axes), len(places), 1), np.int64)
    for number, axis in enumerate(axes):
        for row, one in enumerate(places):
            at = one[number]
            if abs(at - floor(at) - Fraction(1, 2)) <= Fraction(float(unsure[row, number])):
                message = "a place so near the middle of two entries that runtimes may take either"
                raise UnreadableError(message, "move the grid a little, or interpolate (mode 'linear')")
            entries[number, row] = axis.entry(round(at))
    flat, seen = _flat(entries, [axis.size for axis in axes])
    channels, inner = x.shape[1], prod(x.shape[2:])
    begin = (np.arange(x.shape[0])[:, None] * channels + np.arange(channels)) * inner
    parts = (x.shape[0], 1, -1)
    taken = np.where(seen.reshape(parts), begin[:, :, None] + flat.reshape(parts), NONE)
    taken = taken.reshape(*x.shape[:2], *grid[1:-1])
    if isinstance(x, Affine):
        return af.rearrange(x, lambda _: taken)
    return x.rearranged(lambda a: np.where(taken == NONE, 0.0, a.reshape(-1)[taken]))


def _unit(call: OperatorCall) -> float:
    """What a runtime may round a coordinate by, in the type of the value."""
    return 2.0**-11 if TensorProto.FLOAT16 in (call.kind(0), call.kind(1)) else 2.0**-24


def _text(call: OperatorCall, name: str, default: str) -> str:
    found = call.attribute(name)
    return default if found is None else found.s.decode("utf-8", "replace")


OPERATORS: dict[str, Operator] = {"GridSample": grid_sample}
