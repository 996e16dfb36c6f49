"""Functions of one variable as nodes of an ONNX file: those that are an operator with these parameters, exactly.

Attributes of operators are float32 numbers, so a parameter that is none cannot be written. Rows of one step must have
one function. What is no operator is refused by whoever asks `can_be_written`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper

from eqspec.networks.curve_definitions import DEFINITIONS
from eqspec.networks.curves import ABSOLUTE, Curve, Curves, Pieces
from eqspec.networks.program import Function

Keep = Callable[[str, NDArray[np.float64]], str]
_ATTRIBUTES = {
    "elu": ("Elu", ("alpha",)), "selu": ("Selu", ("alpha", "gamma")),
    "thresholded": ("ThresholdedRelu", ("alpha",)),
}  # fmt: skip
_SINCE = {"gelu": 20, "gelu_tanh": 20, "mish": 18, "hardswish": 14}
_SIXTH = float(np.float32(1 / 6))


def can_be_written(function: Function) -> bool:
    """Whether `write` knows a node for it."""
    return not isinstance(function, Curves) or (function.uniform is not None and _writer(function.uniform) is not None)


def since(curves: Curves) -> int:
    """The first opset that has its operator."""
    curve = curves.uniform
    return 13 if curve is None else _SINCE.get(curve.name, 13)


def write(curves: Curves, given: str, number: int, nodes: list[NodeProto], keep: Keep) -> str:
    """Nodes of a function of the value `given`; the name of the result."""
    curve = curves.uniform
    writer = None if curve is None else _writer(curve)
    assert writer is not None
    return writer(given, f"f_{number}", nodes, keep)


_Writer = Callable[[str, str, list[NodeProto], Keep], str]


def _writer(curve: Curve) -> _Writer | None:
    name, p = curve.name, curve.parameters
    if not all(float(np.float32(a)) == a for a in p):
        return None
    operator = DEFINITIONS[name].onnx
    if operator is not None:
        return _one(operator)
    if name in _ATTRIBUTES:
        operator, keys = _ATTRIBUTES[name]
        return _one(operator, **dict(zip(keys, p, strict=True)))
    if name == "celu":
        return partial(_celu, alpha=p[0])
    if name in ("gelu", "gelu_tanh"):
        return _one("Gelu", approximate="none" if name == "gelu" else "tanh")
    if name == "mish":
        return _one("Mish")
    if name == "hardswish" and p == (_SIXTH, 0.5):
        return _one("HardSwish")
    if name == "square":
        return _square
    if name == "silu":
        return _silu
    if name == "power":
        return lambda given, made, nodes, keep: _with(
            nodes, "Pow", [given, keep(f"{made}_exponent", np.array(p[0]))], made
        )
    return _pieces(curve) if name == "pieces" else None


def _pieces(curve: Curve) -> _Writer | None:
    parts = Pieces.of(curve.parameters)
    if curve == ABSOLUTE:
        return _one("Abs")
    if parts.knots == (0.0,) and parts.slopes[1] == 1.0 and not any(parts.values):
        return _one("LeakyRelu", alpha=parts.slopes[0])
    if parts.slopes == (0.0, 1.0, 0.0) and tuple(map(float, parts.values)) == parts.knots:
        low, high = parts.knots
        return lambda given, made, nodes, keep: _with(
            nodes, "Clip", [given, keep(f"{made}_low", np.array(low)), keep(f"{made}_high", np.array(high))], made
        )
    return None


def _one(operator: str, **attributes: float | str) -> _Writer:
    return lambda given, made, nodes, _: _with(nodes, operator, [given], made, **attributes)


def _with(nodes: list[NodeProto], operator: str, given: list[str], made: str, **attributes: float | str) -> str:
    nodes.append(helper.make_node(operator, given, [made], made, **attributes))  # type: ignore[arg-type]
    return made


def _celu(given: str, made: str, nodes: list[NodeProto], keep: Keep, *, alpha: float) -> str:
    """alpha elu(x / alpha), because Celu itself takes float32 alone."""
    factor = keep(f"{made}_alpha", np.array(alpha))
    inner = _with(nodes, "Div", [given, factor], f"{made}_inner")
    return _with(nodes, "Mul", [_with(nodes, "Elu", [inner], f"{made}_elu", alpha=1.0), factor], made)


def _square(given: str, made: str, nodes: list[NodeProto], _: Keep) -> str:
    return _with(nodes, "Mul", [given, given], made)


def _silu(given: str, made: str, nodes: list[NodeProto], _: Keep) -> str:
    return _with(nodes, "Mul", [given, _with(nodes, "Sigmoid", [given], f"{made}_gate")], made)
