"""Names of real numbers, so that two files can be seen to define the same number although no float holds it.

A name is a string of bytes. A number that a float64 holds is named by that float; any other one by a digest (BLAKE2b,
32 bytes) of the operation that defines it and of the names of what the operation is applied to, or of a whole row where
an entry is a function of units. None: nothing is known. What makes sharing sound is one direction alone: *equal names
mean equal numbers*, because an exact operation on equal numbers gives equal numbers and no two definitions share a
digest. Nothing follows from different names: a + b and b + a are named alike, but (x + a) b and x b + a b are not.

Names live as long as the process and are written nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Name: TypeAlias = bytes | None
Names: TypeAlias = NDArray[Any]
"""An object array of `Name`."""

MOST = 1 << 18
"""Larger arrays of numbers that no float holds get no names: then their errors count as independent."""

COMMUTATIVE = ("add", "multiply")


def define(operation: str, *operands: Name) -> Name:
    """The name of what an exact operation gives, None where an operand has none."""
    digest = blake2b(operation.encode() + b"\0", digest_size=32)
    for operand in sorted(operands, key=_order) if operation in COMMUTATIVE else operands:
        if operand is None:
            return None
        digest.update(len(operand).to_bytes(8, "little"))
        digest.update(operand)
    return digest.digest()


def _order(name: Name) -> bytes:
    return name or b""


def listed(names: Sequence[Name]) -> Names:
    """Names as an array of one axis."""
    made = np.empty(len(names), object)
    made[:] = names
    return made


def of_floats(values: NDArray[np.float64]) -> Names:
    """The names of numbers that floats hold; -0 is 0."""
    return listed(np.frombuffer(np.ascontiguousarray(values + 0.0).tobytes(), "V8").tolist()).reshape(values.shape)


def of_rows(values: NDArray[np.float64]) -> Names:
    """One name for each row along the last axis, as if zeros went on behind it for ever: units may still be added."""
    flat = values.reshape(prod(values.shape[:-1]), values.shape[-1]) + 0.0
    return listed([row.tobytes().rstrip(b"\0") for row in flat]).reshape(values.shape[:-1])


def elementwise(operation: str, shape: tuple[int, ...], *operands: Names) -> Names | None:
    """The names of an operation's results, operands broadcast; None where there are too many."""
    if np.prod(shape) > MOST:
        return None
    flat = [np.broadcast_to(operand, shape).ravel().tolist() for operand in operands]
    return listed([define(operation, *some) for some in zip(*flat, strict=True)]).reshape(shape)


def joined(names: Names, axis: int) -> Names:
    """One name for all entries along an axis, in order."""
    moved = np.moveaxis(names, axis, -1)
    rows = moved.reshape(prod(moved.shape[:-1]), moved.shape[-1]).tolist()
    return listed([define("list", *row) for row in rows]).reshape(moved.shape[:-1])
