"""Functions of one variable that are others put together.

    sinh(x) = (e^x - e^-x) / 2        cosh(x) = (e^x + e^-x) / 2        tan(x) = sin(x) / cos(x)
    asin(x) = 2 atan(x / (1 + r))     acos(x) = 2 atan(r / (1 + x))     r = sqrt(1 - x^2)
    asinh(x) = A(max(x, 0)) - A(max(-x, 0)), A(u) = ln(u + sqrt(u^2 + 1)), whose argument is at least 1
    acosh(x) = ln(x + sqrt(x^2 - 1))  atanh(x) = (ln(1 + x) - ln(1 - x)) / 2        erfc(x) = 1 - erf(x)
    shrink(x), of lambd l and bias b: x - b where x > l, x + b where x < -l, else 0

Exact over the real numbers, and as loosely bounded as their parts are. (ONNX has no Erfc; tf2onnx writes it.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.networks.expansion.graph_pieces import Pieces, attributes, counts
from eqspec.networks.onnx_tensor import UnreadableError


class _Terms:
    """Nodes that stand in place of one, of its only input."""

    def __init__(self, pieces: Pieces, node: NodeProto) -> None:
        counts(node, (1, 1), (1, 1))
        self.pieces, self.node, self.x, self.result = pieces, node, str(node.input[0]), str(node.output[0])

    def number(self, value: float) -> str:
        """A constant."""
        return self.pieces.constant(np.array(value, np.float32), self.result)

    def of(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A value."""
        return self.pieces.add(self.node, operator, list(inputs), **attributes)

    def last(self, operator: str, *inputs: str) -> None:
        """The result."""
        self.pieces.add(self.node, operator, list(inputs), self.result)

    def root(self) -> str:
        """sqrt(1 - x^2)."""
        return self.of("Sqrt", self.of("Sub", self.number(1.0), self.of("Mul", self.x, self.x)))


def _hyperbolic(join: str) -> Callable[[Pieces, NodeProto], None]:
    def expand(pieces: Pieces, node: NodeProto) -> None:
        attributes(node, ())
        terms = _Terms(pieces, node)
        ends = terms.of("Exp", terms.x), terms.of("Exp", terms.of("Neg", terms.x))
        terms.last("Mul", terms.of(join, *ends), terms.number(0.5))

    return expand


def tangent(pieces: Pieces, node: NodeProto) -> None:
    """Tan."""
    attributes(node, ())
    terms = _Terms(pieces, node)
    terms.last("Div", terms.of("Sin", terms.x), terms.of("Cos", terms.x))


def _arc(cosine: bool) -> Callable[[Pieces, NodeProto], None]:
    def expand(pieces: Pieces, node: NodeProto) -> None:
        attributes(node, ())
        terms = _Terms(pieces, node)
        top, other = (terms.root(), terms.x) if cosine else (terms.x, terms.root())
        ratio = terms.of("Div", top, terms.of("Add", other, terms.number(1.0)))
        terms.last("Mul", terms.of("Atan", ratio), terms.number(2.0))

    return expand


def area_sine(pieces: Pieces, node: NodeProto) -> None:
    """Asinh."""
    attributes(node, ())
    terms = _Terms(pieces, node)
    one = terms.number(1.0)

    def of_positive(x: str) -> str:
        u = terms.of("Relu", x)
        root = terms.of("Sqrt", terms.of("Add", terms.of("Mul", u, u), one))
        return terms.of("Log", terms.of("Add", u, root))

    above = of_positive(terms.x)
    terms.last("Sub", above, of_positive(terms.of("Neg", terms.x)))


def area_cosine(pieces: Pieces, node: NodeProto) -> None:
    """Acosh."""
    attributes(node, ())
    terms = _Terms(pieces, node)
    root = terms.of("Sqrt", terms.of("Sub", terms.of("Mul", terms.x, terms.x), terms.number(1.0)))
    terms.last("Log", terms.of("Add", terms.x, root))


def area_tangent(pieces: Pieces, node: NodeProto) -> None:
    """Atanh."""
    attributes(node, ())
    terms = _Terms(pieces, node)
    one = terms.number(1.0)
    ends = terms.of("Log", terms.of("Add", one, terms.x)), terms.of("Log", terms.of("Sub", one, terms.x))
    terms.last("Mul", terms.of("Sub", *ends), terms.number(0.5))


def complementary_error(pieces: Pieces, node: NodeProto) -> None:
    """Erfc."""
    attributes(node, ())
    terms = _Terms(pieces, node)
    terms.last("Sub", terms.number(1.0), terms.of("Erf", terms.x))


def shrink(pieces: Pieces, node: NodeProto) -> None:
    """Shrink: without a jump two ReLUs, without a bias two thresholds, else both with steps between them."""
    given = attributes(node, ("lambd", "bias"))
    threshold, bias = float(given.get("lambd", 0.5)), float(given.get("bias", 0.0))
    if not (np.isfinite([threshold, bias]).all() and threshold >= 0):
        raise UnreadableError(f"a threshold of {threshold} and a bias of {bias}", "export the model again")
    terms = _Terms(pieces, node)

    def side(x: str) -> str:
        if bias == threshold:
            return terms.of("Relu", terms.of("Sub", x, terms.number(threshold)))
        if pieces.opset >= 10:
            kept = terms.of("ThresholdedRelu", x, alpha=threshold)
        else:
            kept = terms.of("Where", terms.of("Greater", x, terms.number(threshold)), x, terms.number(0.0))
        if not bias:
            return kept
        beyond = terms.of("Cast", terms.of("Greater", x, terms.number(threshold)), to=TensorProto.FLOAT)
        return terms.of("Sub", kept, terms.of("Mul", beyond, terms.number(bias)))

    above = side(terms.x)
    terms.last("Sub", above, side(terms.of("Neg", terms.x)))


EXPANSIONS: dict[str, Callable[[Pieces, NodeProto], None]] = {
    "Acos": _arc(cosine=True),
    "Acosh": area_cosine,
    "Asin": _arc(cosine=False),
    "Asinh": area_sine,
    "Atanh": area_tangent,
    "Cosh": _hyperbolic("Add"),
    "Erfc": complementary_error,
    "Shrink": shrink,
    "Sinh": _hyperbolic("Sub"),
    "Tan": tangent,
}
