"""Sliding windows over spatial axes: what convolutions and pools read at each place of their results.

Axes are (N, C, *spatial). Pads may be given, or follow from `auto_pad`: SAME_UPPER puts the odd one behind, SAME_LOWER
in front. With `ceil_mode` a last window may hang over the end, if it begins inside of the value or of the padding
before it. What lies in the padding is -1: a convolution reads 0 there, a maximum nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.matrices import NONE, Indices
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import OperatorCall

_AGAIN = "export the model again"


@dataclass(frozen=True)
class Windows:
    """One entry per spatial axis; pads are those before and behind it."""

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    behind: tuple[int, ...]
    ceil: bool = False

    @property
    def extents(self) -> tuple[int, ...]:
        """How far a window reaches, from its first tap to its last."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    @property
    def results(self) -> tuple[int, ...]:
        """How many windows there are."""
        return tuple(self._results(axis) for axis in range(len(self.sizes)))

    def _results(self, axis: int) -> int:
        size, stride, before = self.sizes[axis], self.strides[axis], self.before[axis]
        room = size + before + self.behind[axis] - self.extents[axis]
        count = -(-room // stride) + 1 if self.ceil else room // stride + 1
        if count < 1:
            raise UnreadableError(f"windows of {self.extents} do not fit into {self.sizes} with its padding", _AGAIN)
        if not self.ceil:
            return count
        return count - 1 if (count - 1) * stride >= size + before else count

    def axis(self, axis: int) -> Indices:
        """Places along one axis (results, kernel), -1 in the padding."""
        starts = np.arange(self.results[axis]) * self.strides[axis] - self.before[axis]
        places = starts[:, None] + np.arange(self.kernel[axis]) * self.dilations[axis]
        return np.where((places >= 0) & (places < self.sizes[axis]), places, NONE)

    def places(self) -> Indices:
        """Flat places (results, kernel) over all spatial axes, -1 in the padding."""
        return combined([self.axis(axis) for axis in range(len(self.sizes))], self.sizes)

    def counted(self) -> Indices:
        """How many taps of each window (results,) lie on the value or its padding, not beyond."""
        made = np.ones(1, np.intp)
        for axis, size in enumerate(self.sizes):
            starts = np.arange(self.results[axis]) * self.strides[axis]
            places = starts[:, None] + np.arange(self.kernel[axis]) * self.dilations[axis]
            inside = (places < size + self.before[axis] + self.behind[axis]).sum(axis=1)
            made = (made[:, None] * inside).reshape(-1)
        return made


def combined(axes: Sequence[Indices], sizes: Sequence[int]) -> Indices:
    """Places along each axis (results, taps) as flat places over all of them."""
    made: Indices = np.zeros((1, 1), np.intp)
    for places, size in zip(axes, sizes, strict=True):
        grown = made[:, None, :, None] * size + places[None, :, None, :]
        nothing = (made[:, None, :, None] == NONE) | (places[None, :, None, :] == NONE)
        made = np.where(nothing, NONE, grown).reshape(made.shape[0] * places.shape[0], -1)
    return made


def read(call: OperatorCall, sizes: tuple[int, ...], kernel: tuple[int, ...], *, pooling: bool = False) -> Windows:
    """The windows that a node asks for.

    Windows of one size that are further apart than they are wide may leave a rest that SAME would have to cut off:
    runtimes begin those of a convolution at the first entry, and those of `pooling` at different ones. Some pad
    dilated windows of `pooling` as if they were not dilated.
    """
    rank = len(sizes)
    strides, dilations = spread(call, "strides", rank), spread(call, "dilations", rank)
    if len(kernel) != rank or rank == 0 or min(kernel) < 1:
        raise UnreadableError(f"a kernel of shape {kernel} over the axes {sizes}", _AGAIN)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    kind = auto_pad(call)
    if pooling and kind.startswith("SAME") and max(dilations) > 1:
        raise UnreadableError("auto_pad of dilated windows, for which runtimes pad in different ways", "give the pads")
    if kind == "NOTSET":
        pads = pads_of(call, rank)
    elif kind == "VALID":
        rests = [(size - extent) % stride for size, stride, extent in zip(sizes, strides, extents, strict=True)]
        if pooling and call.integer("ceil_mode", 0) and any(rests):
            raise UnreadableError("ceil_mode beside auto_pad VALID, where runtimes count differently", "give the pads")
        pads = [0] * (2 * rank)
    else:
        needed = [
            (-(-size // stride) - 1) * stride + extent - size
            for size, stride, extent in zip(sizes, strides, extents, strict=True)
        ]
        if pooling and min(needed) < 0:
            message = f"auto_pad {kind} of windows that are further apart than wide, which runtimes place differently"
            raise UnreadableError(message, "give the pads")
        needed = [max(0, n) for n in needed]
        first, second = [n // 2 for n in needed], [n - n // 2 for n in needed]
        pads = [*first, *second] if kind == "SAME_UPPER" else [*second, *first]
    ceil = bool(call.integer("ceil_mode", 0)) and kind == "NOTSET"
    return Windows(sizes, kernel, strides, dilations, tuple(pads[:rank]), tuple(pads[rank:]), ceil)


def spread(call: OperatorCall, name: str, rank: int) -> tuple[int, ...]:
    """Strides or dilations, 1 by default."""
    given = call.integers(name) or [1] * rank
    if len(given) != rank or min(given, default=1) < 1:
        raise UnreadableError(f"{name} {given} for {rank} spatial axes", _AGAIN)
    return tuple(given)


def pads_of(call: OperatorCall, rank: int) -> list[int]:
    """Pads before every axis, then behind every one; 0 by default."""
    pads = call.integers("pads") or [0] * (2 * rank)
    if len(pads) != 2 * rank or min(pads, default=0) < 0:
        raise UnreadableError(f"pads {pads} for {rank} spatial axes", _AGAIN)
    return pads


def auto_pad(call: OperatorCall) -> str:
    """How pads are chosen."""
    found = call.attribute("auto_pad")
    kind = "NOTSET" if found is None else found.s.decode("utf-8", "replace") or "NOTSET"
    if kind not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise UnreadableError(f"auto_pad {kind!r}", _AGAIN)
    if kind != "NOTSET" and any(call.integers("pads") or []):
        raise UnreadableError(f"both pads and auto_pad {kind}", "export it again: one of the two must be given")
    return kind


def over_channels(places: Indices, batch: int, groups: int, channels: int, size: int) -> Indices:
    """Places (p, k) over the spatial axes as flat places of a value for each group's channels: (n g, p, c k)."""
    check = np.arange(batch * groups * channels).reshape(batch * groups, 1, channels, 1) * size
    index = np.where(places[None, :, None, :] == NONE, NONE, check + places[None, :, None, :])
    return index.reshape(batch * groups, places.shape[0], channels * places.shape[1])


def spatial(shape: tuple[int, ...], least: int = 1) -> tuple[int, ...]:
    """The spatial axes of a value (N, C, *spatial)."""
    if len(shape) < 2 + least or 0 in shape:
        raise UnreadableError(f"a value of shape {shape} has no spatial axes", "give it as (batch, channels, ...)")
    return shape[2:]


def number(places: tuple[int, ...]) -> int:
    """How many places there are."""
    return prod(places)
