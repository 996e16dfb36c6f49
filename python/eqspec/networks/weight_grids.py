"""How many bits the weights of a step take, as multiples of one step for each output: what a quantiser left of them.

Weights of quantised networks are q s, with integers q of a few bits and a scale s of the tensor or of an output. From
the float64 numbers alone s is found as their largest common divisor, exactly, in integers. Weights that were never
quantised have none but the last place of their type, and count as such.
"""

from __future__ import annotations

import numpy as np

from eqspec.networks.program import Tile

MOST_BITS = 16
"""Beyond which weights are said to be real numbers."""
_WORD = 62


def bits_of(tile: Tile) -> int | None:
    """Bits of the widest output, in two's complement; None where they are too many, or weights are not exact."""
    if tile.weight_error is not None and tile.weight_error.any():
        return None
    rows = tile.weight.reshape(-1, tile.taps)
    used = (rows != 0.0).sum(axis=1)
    if (used < 2).all():  # it moves and scales rows
        return None
    rows = rows[used > 0]
    mantissas, exponents = np.frexp(rows)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    there = whole != 0
    odd = np.where(there, whole >> np.where(there, zeros, 0), 0)
    exponents = np.where(there, exponents + zeros, np.iinfo(np.int32).max)
    shift = np.where(there, exponents - exponents.min(axis=1, keepdims=True), 0)
    if (shift + np.frexp(np.abs(odd).astype(np.float64))[1]).max() > _WORD:
        return None
    integers = odd << shift
    integers //= np.gcd.reduce(integers, axis=1)[:, None]
    bits = max(int(integers.max()), -int(integers.min()) - 1).bit_length() + 1
    return bits if bits <= MOST_BITS else None
