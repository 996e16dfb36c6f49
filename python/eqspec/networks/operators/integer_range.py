"""Whether what an operator computes of constant integers fits their type, whatever order it computes them in.

Numpy computes sums and products of small integers in a wider type, runtimes wrap, saturate or say nothing of what
they do. So nothing that may leave the type, even on the way, is folded. The bounds are over all entries of a tensor:
shapes, axes and counts are far from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.onnx_tensor import UnreadableError

Sizes = NDArray[np.float64]

_ROUNDED = 1 - 2.0**-20
"""A bound that is larger than the type comes out of float64 as no less than this share of the type's end."""


def _sum(a: Sizes, *_: Sizes) -> Any:
    return a.sum()


def _square_sum(a: Sizes, *_: Sizes) -> Any:
    return (a * a).sum()


def _product(a: Sizes, *_: Sizes) -> Any:
    return np.maximum(a, 1.0).prod()


_BOUNDS: dict[str, Callable[..., Any]] = {
    "Abs": lambda a: a,
    "CumSum": _sum,
    "Pow": np.power,
    "ReduceL1": _sum,
    "ReduceL2": _square_sum,
    "ReduceMean": _sum,
    "ReduceProd": _product,
    "ReduceSum": _sum,
    "ReduceSumSquare": _square_sum,
}
"""A bound of everything that an operator may compute, from the sizes of its inputs."""

COMPUTED = frozenset(_BOUNDS)
"""Operators that give numbers of the type of their first input."""


def check(operator: str, given: Sequence[Any]) -> None:
    """UnreadableError where integers may leave the type of the first of them, or are divided by zero."""
    whole = [np.asarray(a) for a in given if a is not None]
    if not whole or whole[0].dtype.kind not in "iu":
        return
    if operator == "Mod" and not whole[1].all():
        raise UnreadableError("a division by zero", "repair the constant")
    if operator not in _BOUNDS:
        return
    with np.errstate(over="ignore"):
        bound = np.asarray(_BOUNDS[operator](*(np.abs(a.astype(np.float64)) for a in whole)))
    if (bound > float(np.iinfo(whole[0].dtype).max) * (_ROUNDED if whole[0].dtype.itemsize == 8 else 1.0)).any():
        message = f"{operator} of integer constants leaves the range of {whole[0].dtype}"
        raise UnreadableError(message, "repair the constants, or fold them before exporting")
