"""Sizes: what a network file may make the auditor build, told before anything of it is built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import onnx

from ..opening import limits
from ..rounding import Array, Refused
from .number import Number

ELEMENTWISE = {"Add", "Sub", "Mul", "Div"}


def bounded(graph: onnx.GraphProto) -> None:
    """Refused if the graph declares more than the auditor reads, in operators, constants or sizes of its input."""
    if len(graph.node) > limits.NODES:
        raise Refused(f"it has {len(graph.node)} operators; the auditor reads at most {limits.NODES}")
    stored = [*graph.initializer, *(a.t for node in graph.node for a in node.attribute if a.HasField("t"))]
    declared = [math.prod(tensor.dims) for tensor in stored]
    if any(size < 0 for tensor in stored for size in tensor.dims) or sum(declared) > limits.TERMS:
        raise Refused(f"it declares more than the {limits.TERMS} constants that the auditor reads")
    for given in graph.input:
        shape = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
        if min(shape, default=1) < 1 or math.prod(shape) > limits.TERMS:
            raise Refused("it declares an input of a size that the auditor does not read")


def result(operator: str, attributes: Mapping[str, Any], operands: Sequence[Array]) -> None:
    """Refused if an operator would give more numbers than the auditor keeps. Most give no more than they are given."""
    shapes, size = [operand.shape for operand in operands], 0
    if operator == "BatchNormalization" and shapes[0]:
        channels = max((operand.size for operand in operands[1:]), default=1)
        size = math.prod(_together([shapes[0], (channels, *[1] * (len(shapes[0]) - 2))]))
    elif operator in ELEMENTWISE:
        size = math.prod(_together(shapes))
    elif operator == "Gemm" and [len(shape) for shape in shapes[:2]] == [2, 2]:
        size = shapes[0][bool(attributes.get("transA"))] * shapes[1][not attributes.get("transB")]
    elif operator == "MatMul" and len(shapes) == 2:
        (one, other), batch = shapes, _together([shape[:-2] for shape in shapes])
        size = math.prod(batch) * (one[-2] if len(one) > 1 else 1) * (other[-1] if len(other) > 1 else 1)
    elif operator == "Gather" and len(shapes) == 2 and shapes[0]:
        size = operands[0].size * operands[1].size // max(1, shapes[0][attributes.get("axis", 0)])
    if operator in ("Gemm", "MatMul") and size * _inner(operator, attributes, shapes) * _terms(operands) > limits.TERMS:
        raise Refused(f"{operator} would make more than the {limits.TERMS} coefficients that the auditor allows")
    if size > limits.VALUES:
        raise Refused(f"{operator} would give {size} numbers, more than the {limits.VALUES} that the auditor keeps")


def _together(shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """The shape to which shapes are broadcast, or a larger one."""
    return [max(sides) for sides in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)]


def _inner(operator: str, attributes: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> int:
    """How many products every entry of a product of matrices is a sum of."""
    return shapes[0][0 if operator == "Gemm" and attributes.get("transA") else -1] if shapes[0] else 1


def _terms(operands: Sequence[Array]) -> int:
    """How many coefficients the longest of the numbers that are multiplied has."""
    return max((len(v.terms) for one in operands[:2] for v in one.flat if isinstance(v, Number)), default=1)
