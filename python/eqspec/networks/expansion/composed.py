"""Standard operators that are others put together: Einsum with a constant, Mean, Size, sums of exponentials, Asinh.

An Einsum of a value and a constant is a product of matrices once the axes of both are in order: those of the value
alone, those that are summed up, those of the constant alone. Its equation tells the ranks, the constant its sizes, and
0 in the shape of a Reshape copies a size, so that none of the value's has to be known.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from onnx import NodeProto

from eqspec.networks.expansion.graph_pieces import AGAIN, Pieces, attributes, counts
from eqspec.networks.onnx_tensor import UnreadableError


def einsum(pieces: Pieces, node: NodeProto) -> None:
    """Einsum of one value (a transpose), or of a value and a stored constant. Others stay, and are refused."""
    equation = str(attributes(node, ("equation",)).get("equation", "")).replace(" ", "")
    left, arrow, result = equation.partition("->")
    operands = left.split(",")
    if not arrow or not all(part.isalpha() and len(set(part)) == len(part) for part in [*operands, result or "a"]):
        raise UnreadableError(f"the equation {equation!r}", "write it with MatMul and Transpose")
    if len(operands) != len(node.input) or set(result) - set(left):
        raise UnreadableError(f"the equation {equation!r} for {len(node.input)} operands", AGAIN)
    if len(operands) == 1 and sorted(operands[0]) == sorted(result):
        pieces.add(node, "Transpose", node.input, node.output[0], perm=[operands[0].index(a) for a in result])
        return
    constants = [name in pieces.tensors for name in node.input]
    if len(operands) != 2 or constants.count(True) != 1:
        raise UnreadableError("a sum of products of values that are no stored constant", "write it with MatMul")
    at = constants.index(False)
    _product(pieces, node, operands[at], operands[1 - at], result, at)


def _product(pieces: Pieces, node: NodeProto, of_value: str, of_constant: str, result: str, at: int) -> None:
    both = [a for a in of_value if a in of_constant and a in result]
    summed = [a for a in of_value if a in of_constant and a not in result]
    value_alone = [a for a in of_value if a not in of_constant]
    constant_alone = [a for a in of_constant if a not in of_value]
    once = [a for a in (*value_alone, *constant_alone) if a not in result]
    if once or not summed or (both and len(value_alone) > 1):
        raise UnreadableError("an equation that is no product of matrices", "write it with MatMul")
    stored = [int(d) for d in pieces.tensors[node.input[1 - at]].dims]
    if len(stored) != len(of_constant):
        raise UnreadableError(f"a constant of {len(stored)} axes for {of_constant!r}", AGAIN)
    size = dict(zip(of_constant, stored, strict=True))
    sizes = [size[a] for a in constant_alone]
    ordered = [of_constant.index(a) for a in (*both, *summed, *constant_alone)]
    matrix = pieces.add(node, "Transpose", [node.input[1 - at]], perm=ordered)
    matrix = _reshaped(pieces, node, matrix, [*(size[a] for a in both), prod(size[a] for a in summed), prod(sizes)])
    kept = [*both, *value_alone]
    value = pieces.add(
        node, "Transpose", [node.input[at]], perm=[of_value.index(a) for a in (*both, *value_alone, *summed)]
    )
    rows = [0] * len(kept) + ([] if value_alone or not both else [1]) + [-1]
    value = _reshaped(pieces, node, value, rows)
    value = pieces.add(node, "MatMul", [value, matrix])
    value = _reshaped(pieces, node, value, [0] * len(kept) + sizes)
    order = [*kept, *constant_alone]
    pieces.add(node, "Transpose", [value], node.output[0], perm=[order.index(a) for a in result])


def _reshaped(pieces: Pieces, node: NodeProto, value: str, shape: list[int]) -> str:
    return pieces.add(node, "Reshape", [value, pieces.constant(np.array(shape, np.int64), value)])


def mean(pieces: Pieces, node: NodeProto) -> None:
    """Mean of several values: their sum divided by how many they are."""
    attributes(node, ())
    counts(node, (1, 10_000), (1, 1))
    total = pieces.add(node, "Sum", node.input)
    number = pieces.constant(np.array(len(node.input), np.float32), total)
    pieces.add(node, "Div", [total, number], node.output[0])


def size(pieces: Pieces, node: NodeProto) -> None:
    """Size: the product of the sizes of all axes."""
    attributes(node, ())
    counts(node, (1, 1), (1, 1))
    shape = pieces.add(node, "Shape", node.input)
    pieces.add(node, "ReduceProd", [shape], node.output[0], keepdims=0)


def _sum_of(pieces: Pieces, node: NodeProto, inner: str | None, outer: str | None) -> None:
    """A function of the sum of functions. From opset 13 to 17 a ReduceSum has its axes as an input."""
    given = attributes(node, ("axes", "keepdims", "noop_with_empty_axes"))
    counts(node, (1, 2), (1, 1))
    first = node.input[0] if inner is None else pieces.add(node, inner, [node.input[0]])
    inputs = [first, *node.input[1:]]
    if "axes" in given and pieces.opset >= 13:
        inputs.append(pieces.constant(np.array(given.pop("axes"), np.int64), node.output[0]))
    if given.get("noop_with_empty_axes", 0):
        raise UnreadableError("it sums nothing up where it has no axes", AGAIN)
    keep = int(given.get("keepdims", 1))
    total = pieces.add(node, "ReduceSum", inputs, "" if outer else node.output[0], keepdims=keep, **_axes(given))
    if outer:
        pieces.add(node, outer, [total], node.output[0])


def absolute_sum(pieces: Pieces, node: NodeProto) -> None:
    """ReduceL1: the sum of absolute values."""
    _sum_of(pieces, node, "Abs", None)


def logarithm_of_sum(pieces: Pieces, node: NodeProto) -> None:
    """ReduceLogSum, and ReduceLogSumExp: the logarithm of a sum, of exponentials."""
    _sum_of(pieces, node, "Exp" if node.op_type == "ReduceLogSumExp" else None, "Log")


def area_sine(pieces: Pieces, node: NodeProto) -> None:
    """Asinh: A(max(x, 0)) - A(max(-x, 0)), A(u) = ln(u + sqrt(u^2 + 1)), whose argument is at least 1."""
    attributes(node, ())
    counts(node, (1, 1), (1, 1))
    one = pieces.constant(np.ones((), np.float32), node.output[0])

    def of_positive(x: str) -> str:
        u = pieces.add(node, "Relu", [x])
        root = pieces.add(node, "Sqrt", [pieces.add(node, "Add", [pieces.add(node, "Mul", [u, u]), one])])
        return pieces.add(node, "Log", [pieces.add(node, "Add", [u, root])])

    above, below = of_positive(node.input[0]), of_positive(pieces.add(node, "Neg", [node.input[0]]))
    pieces.add(node, "Sub", [above, below], node.output[0])


def _axes(given: dict[str, Any]) -> dict[str, Any]:
    return {"axes": given["axes"]} if "axes" in given else {}


EXPANSIONS: dict[str, Callable[[Pieces, NodeProto], None]] = {
    "Asinh": area_sine,
    "Einsum": einsum,
    "Mean": mean,
    "ReduceL1": absolute_sum,
    "ReduceLogSum": logarithm_of_sum,
    "ReduceLogSumExp": logarithm_of_sum,
    "Size": size,
}
