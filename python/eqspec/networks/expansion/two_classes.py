"""Probabilities of two classes that are made of one sigmoid: (1 - s(z), s(z)) is the softmax of (0, z).

    softmax(0, z) = (1, e^z) / (1 + e^z) = (1 - s(z), s(z)),     s(z) = 1 / (1 + e^-z)

Exporters of scikit-learn write a binary classifier so. It is read as the Softmax that it is, whose two scores the
claims are about; only where the two probabilities are the result of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.networks.expansion.graph_pieces import Pieces, hands_on, tensor_of


def expand(pieces: Pieces) -> None:
    """Put a Softmax in place of the last Concat, where it joins the probabilities of two classes."""
    makers = {name: node for node in pieces.nodes for name in node.output if name}
    last = makers.get(pieces.output)
    while last is not None and hands_on(last) and last.input:  # between the probabilities and the result
        last = makers.get(last.input[0])
    if last is None or last.op_type != "Concat" or last.domain or len(last.input) != 2:
        return
    axis = next((a.i for a in last.attribute if a.name == "axis"), 1)
    pair = [makers.get(name) for name in last.input]
    for place, (one, other) in enumerate(((pair[0], pair[1]), (pair[1], pair[0]))):
        if axis not in (1, -1) or one is None or other is None or other.op_type != "Sigmoid" or other.domain:
            continue
        unit = _complement(pieces, makers, one, other.output[0])
        if unit is None or _several(pieces, makers, other.input[0]):
            continue
        score = other.input[0]
        at = next(index for index, node in enumerate(pieces.nodes) if node is last)
        behind, pieces.nodes[at:] = pieces.nodes[at + 1 :], []
        nothing = pieces.add(last, "Mul", [score, pieces.constant(np.zeros((), unit), last.output[0])])
        scores = pieces.add(last, "Concat", [nothing, score] if place == 0 else [score, nothing], axis=axis)
        pairs = pieces.constant(np.array([1, 2], np.int64), last.output[0])  # more than one pair has no such shape
        pieces.softmax(last, pieces.add(last, "Reshape", [scores, pairs]), last.output[0])
        pieces.nodes += behind
        pieces.notes.append(f"(1 - p, p) in {last.output[0]!r} is read as a Softmax of two scores, one of them 0")
        return


def _several(pieces: Pieces, makers: dict[str, NodeProto], name: str) -> bool:
    """Whether a score is known to be several, one for each label of a classifier of several labels."""
    for _ in range(8):
        made = makers.get(name)
        if made is None or made.domain or not made.input:
            return False
        if made.op_type in ("MatMul", "Gemm") and len(made.input) > 1:
            stored = _stored(pieces, makers, made.input[1])
            turned = any(a.name == "transB" and a.i for a in made.attribute)
            return stored is not None and len(stored.dims) == 2 and int(stored.dims[0 if turned else 1]) > 1
        if made.op_type == "Add":  # with a bias, on either side
            names = [n for n in made.input if _stored(pieces, makers, n) is None]
            if len(names) != 1:
                return False
            name = names[0]
        elif made.op_type == "Reshape" or hands_on(made):
            name = made.input[0]
        else:
            return False
    return False


def _complement(
    pieces: Pieces, makers: dict[str, NodeProto], node: NodeProto, probability: str
) -> np.dtype[Any] | None:
    """The type of the 1 in 1 - p, if that is what a node computes."""
    if node.op_type != "Sub" or node.domain or len(node.input) != 2 or node.input[1] != probability:
        return None
    tensor = _stored(pieces, makers, node.input[0])
    if tensor is None or tensor.data_type not in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16):
        return None
    numbers = pieces.array(tensor)
    return numbers.dtype if numbers.size == 1 and numbers.reshape(-1)[0] == 1 else None


def _stored(pieces: Pieces, makers: dict[str, NodeProto], name: str) -> TensorProto | None:
    if name in pieces.tensors:
        return pieces.tensors[name]
    made = makers.get(name)
    return None if made is None or made.op_type != "Constant" or made.domain else tensor_of(made)
