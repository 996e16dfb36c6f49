"""Arithmetic of integer constants (shapes, axes, indices, counts) in the type that the file gives them.

Arrays have the numpy type of their tensor. Unsigned numbers wrap, as they do in every runtime: 200 + 200 is 144 in
uint8. Signed ones that overflow are refused, because neither ONNX nor C++ says what comes out. A quotient is rounded
towards zero; by zero there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import UnreadableError, Whole

Operation = Callable[[Any, Any], Any]

_REPAIR = "repair the constant, or fold the constants before exporting"
_NEARLY = 2.0**63 * (1 - 2.0**-50)
"""A product that is larger than int64 holds comes out of float64 as no less, after three roundings."""


def add(a: Whole, b: Whole) -> Whole:
    """a + b, broadcast."""
    return _combined(np.add, a, b, lambda x, y, r: ((x ^ r) & (y ^ r)) < 0)


def subtract(a: Whole, b: Whole) -> Whole:
    """a - b, broadcast."""
    return _combined(np.subtract, a, b, lambda x, y, r: ((x ^ y) & (x ^ r)) < 0)


def multiply(a: Whole, b: Whole) -> Whole:
    """a b, broadcast."""
    return _combined(np.multiply, a, b, lambda x, y, _: np.abs(x.astype(float) * y.astype(float)) >= _NEARLY)


def negate(a: Whole) -> Whole:
    """-a."""
    return subtract(np.zeros((), a.dtype), a)


def divide(a: Whole, b: Whole) -> Whole:
    """a / b rounded towards zero, broadcast."""
    a, b = _alike(a, b)
    if not b.all():
        raise UnreadableError("a division by zero", "repair the constant")
    if a.dtype.kind == "u":
        return np.asarray(a // b)
    if ((a == np.iinfo(a.dtype).min) & (b == -1)).any():
        raise _overflow(a)
    down = np.floor_divide(a, b)
    inexact = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return np.asarray((down + inexact).astype(a.dtype))


def _combined(operation: Operation, a: Whole, b: Whole, overflows: Callable[[Any, Any, Any], NDArray[Any]]) -> Whole:
    a, b = _alike(a, b)
    with np.errstate(over="ignore"):
        if a.dtype.kind == "u":
            return np.asarray(operation(a, b), a.dtype)
        wide = np.asarray(operation(a.astype(np.int64), b.astype(np.int64)))
    made = wide.astype(a.dtype)
    wrong = overflows(a, b, wide) if a.dtype.itemsize == 8 else made != wide
    if np.asarray(wrong).any():
        raise _overflow(a)
    return made


def _alike(a: Whole, b: Whole) -> tuple[Whole, Whole]:
    check_value(np.broadcast_shapes(a.shape, b.shape))
    if a.dtype != b.dtype or a.dtype.kind not in "iu":
        raise UnreadableError(f"arithmetic on constants of type {a.dtype} and {b.dtype}", "cast them to one type")
    return a, b


def _overflow(a: Whole) -> UnreadableError:
    return UnreadableError(f"arithmetic on integer constants leaves the range of {a.dtype}", _REPAIR)
