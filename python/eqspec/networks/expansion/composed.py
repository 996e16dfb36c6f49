"""Standard operators that are others put together: Mean, Size, sums of exponentials; a Clip without infinite ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.networks.expansion.graph_pieces import AGAIN, Pieces, attributes, counts
from eqspec.networks.onnx_tensor import FLOATS, UnreadableError


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


def layer_normalization(pieces: Pieces, node: NodeProto) -> None:
    """LayerNormalization: onnxruntime writes it into files of opsets before 17, which have none, with its meaning."""
    copy = NodeProto()
    copy.CopyFrom(node)
    if pieces.opset < 17:
        copy.domain, pieces.changed = "com.microsoft", True
    pieces.nodes.append(copy)


def clip(pieces: Pieces, node: NodeProto) -> None:
    """Clip to an infinite end, as the converter of TensorFlow and clamps of torch write it: there is no such end."""
    copy = NodeProto()
    copy.CopyFrom(node)
    for index, infinite in ((1, -np.inf), (2, np.inf)):
        if index < len(node.input) and _is(pieces, pieces.stored(node.input[index]), infinite):
            copy.input[index] = ""
    kept = [a for a in node.attribute if (a.name, a.f) not in (("min", -np.inf), ("max", np.inf))]
    if len(kept) < len(node.attribute):
        del copy.attribute[:]
        copy.attribute.extend(kept)
    pieces.changed = pieces.changed or copy != node
    pieces.nodes.append(copy)


def _is(pieces: Pieces, tensor: TensorProto | None, number: float) -> bool:
    """Whether a tensor is this one floating-point number."""
    if tensor is None or tensor.data_type not in FLOATS or any(size != 1 for size in tensor.dims):
        return False
    return bool((pieces.array(tensor) == number).all())


def _axes(given: dict[str, Any]) -> dict[str, Any]:
    return {"axes": given["axes"]} if "axes" in given else {}


EXPANSIONS: dict[str, Callable[[Pieces, NodeProto], None]] = {
    "Clip": clip,
    "LayerNormalization": layer_normalization,
    "Mean": mean,
    "ReduceL1": absolute_sum,
    "ReduceLogSum": logarithm_of_sum,
    "ReduceLogSumExp": logarithm_of_sum,
    "Size": size,
}
