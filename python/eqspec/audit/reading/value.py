"""Values of a network as sums over units, without a matrix of their own: rows that share kernels.

Units are the inputs, the rows of an earlier step, and the constant 1. A value of N entries (in C order) is a sum of
parts. A part adds to some of its rows n the sum over k of kernels[kind[n], k] times unit index[n, k] of its source,
where an index of -1 is no unit. So a convolution has as many kernels as channels; what only puts entries elsewhere
takes other rows, and leaves the kernels alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ..rounding import Array

CONSTANT, INPUTS = -2, -1
"""Sources that are no steps: the number 1, which is its unit 0, and the inputs."""
ODD = 0x1E3779B97F4A7C15
"""Its powers modulo 2^64 tell rows of integers apart, mostly."""


@dataclass(frozen=True)
class Part:
    """What a value has of one source."""

    source: int
    rows: Array  # (n,), ascending
    index: Array  # (n, k), units or -1
    kind: Array  # (n,)
    kernels: Array  # (c, k), floats that are exact, or Numbers

    @property
    def entries(self) -> int:
        """Units that are named."""
        return int(self.index.size)

    def at(self, places: Array, size: int) -> Array:
        """For places in a value of this size (-1 is none): which of these rows, -1 for none of them."""
        found = np.full(size + 1, -1, np.int32)
        found[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return np.asarray(found[places])


@dataclass(frozen=True, eq=False)
class Value:
    """Immutable."""

    shape: tuple[int, ...]
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Of how many entries it is."""
        return prod(self.shape)

    @property
    def places(self) -> Array:
        """Its entries by number, in its shape."""
        return np.arange(self.size).reshape(self.shape)

    @property
    def simple(self) -> bool:
        """Whether every entry is of single units, a few at most."""
        return len(self.parts) <= 6 and all(part.index.shape[1] == 1 for part in self.parts)

    def reshaped(self, shape: tuple[int, ...]) -> Value:
        """The same entries in another shape."""
        return Value(shape, self.parts)

    def taken(self, places: Array) -> Value:
        """The entries at these places, 0 where a place is -1."""
        if np.array_equal(places.ravel(), np.arange(self.size)):
            return self.reshaped(places.shape)
        made = []
        for part in self.parts:
            at = part.at(places.ravel(), self.size)
            rows = np.flatnonzero(at >= 0)
            if len(rows):
                some = at[rows]
                made.append(Part(part.source, rows, part.index[some], part.kind[some], part.kernels))
        return Value(places.shape, tuple(made))


def units(source: int, shape: tuple[int, ...], one: Array) -> Value:
    """Those of a source, in a shape; `one` (1, 1) is the kernel 1."""
    rows = np.arange(prod(shape))
    return Value(shape, (Part(source, rows, rows[:, None].astype(np.int32), 0 * rows, one),))


def distinct(keys: Array) -> tuple[Array, Array]:
    """Of rows of integers (n, t): where each different one is first found (c,), and which of these each is (n,)."""
    with np.errstate(over="ignore"):
        factors = np.full(keys.shape[1], ODD, np.int64).cumprod()
        mixed = keys.astype(np.int64) @ factors  # modulo 2^64, which may mix up two rows: so that is looked at
    _, first, which = np.unique(mixed, return_index=True, return_inverse=True)
    if (keys[first][which] != keys).any():
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()
