"""Operators that were experimental before opset 10, and are no part of ONNX since.

    Affine               alpha x + beta                      ImageScaler    scale x + bias of the channel
    ScaledTanh           alpha tanh(beta x)                  Crop           rows and columns of an image within a border
    ParametricSoftplus   alpha ln(1 + e^(beta x))

Converters of Core ML and Caffe2 wrote them, and onnxruntime still runs them in files of these opsets. In those of later
ones they are left as they are, and refused by name.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import NodeProto

from eqspec.networks.expansion.graph_pieces import AGAIN, Pieces, attributes, counts
from eqspec.networks.onnx_tensor import UnreadableError

_LAST = np.iinfo(np.int64).max


def _by_number(pieces: Pieces, node: NodeProto, operator: str, x: str, value: float, output: str = "") -> str:
    """A sum or a product of a value and a number, which broadcasts by itself since opset 7."""
    number = pieces.constant(np.array(value, np.float32), node.output[0])
    return pieces.add(node, operator, [x, number], output, **({"broadcast": 1} if pieces.opset < 7 else {}))


def affine(pieces: Pieces, node: NodeProto) -> None:
    """Affine."""
    given = attributes(node, ("alpha", "beta"))
    counts(node, (1, 1), (1, 1))
    scaled = _by_number(pieces, node, "Mul", node.input[0], given.get("alpha", 1.0))
    _by_number(pieces, node, "Add", scaled, given.get("beta", 0.0), node.output[0])


def image_scaler(pieces: Pieces, node: NodeProto) -> None:
    """ImageScaler of images (N, C, H, W)."""
    given = attributes(node, ("scale", "bias"))
    counts(node, (1, 1), (1, 1))
    bias = np.array(given.get("bias", ()), np.float32)
    if not bias.size:
        raise UnreadableError("no bias for its channels", AGAIN)
    scale = np.full_like(bias, given.get("scale", 1.0))
    parts = [scale, bias, np.zeros_like(bias), np.ones_like(bias)]  # as many channels as it has biases
    inputs = [node.input[0], *(pieces.constant(part, node.output[0]) for part in parts)]
    testing = {"is_test": 1} if pieces.opset < 7 else {}
    pieces.add(node, "BatchNormalization", inputs, node.output[0], epsilon=0.0, **testing)


def _scaled(function: str) -> Callable[[Pieces, NodeProto], None]:
    def expand(pieces: Pieces, node: NodeProto) -> None:
        given = attributes(node, ("alpha", "beta"))
        counts(node, (1, 1), (1, 1))
        if set(given) != {"alpha", "beta"}:
            raise UnreadableError("neither alpha nor beta has a value that all runtimes take", AGAIN)
        inner = _by_number(pieces, node, "Mul", node.input[0], given["beta"])
        _by_number(pieces, node, "Mul", pieces.add(node, function, [inner]), given["alpha"], node.output[0])

    return expand


def crop(pieces: Pieces, node: NodeProto) -> None:
    """Crop of images (N, C, H, W) by left, top, right and bottom; with `scale`, so many rows and columns from there."""
    given = attributes(node, ("border", "scale"))
    counts(node, (1, 1), (1, 1))
    border, size = list(given.get("border", ())), list(given.get("scale", ()))
    if len(border) != 4 or min(border) < 0 or len(size) not in (0, 2) or any(s < 1 for s in size):
        raise UnreadableError(f"a border {border} and sizes {size}", AGAIN)
    left, top, right, bottom = border
    ends = [top + size[0], left + size[1]] if size else [-bottom or _LAST, -right or _LAST]
    pieces.add(node, "Slice", [node.input[0]], node.output[0], starts=[top, left], ends=ends, axes=[2, 3])


def _before_opset_10(expand: Callable[[Pieces, NodeProto], None]) -> Callable[[Pieces, NodeProto], None]:
    def only_there(pieces: Pieces, node: NodeProto) -> None:
        if pieces.opset < 10:
            expand(pieces, node)
        else:
            pieces.nodes.append(node)

    return only_there


EXPANSIONS: dict[str, Callable[[Pieces, NodeProto], None]] = {
    "Affine": _before_opset_10(affine),
    "Crop": _before_opset_10(crop),
    "ImageScaler": _before_opset_10(image_scaler),
    "ParametricSoftplus": _before_opset_10(_scaled("Softplus")),
    "ScaledTanh": _before_opset_10(_scaled("Tanh")),
}
