"""Branches of a Where that stand for missing numbers, such as NaN, and are never chosen.

Where(IsNaN(a), c, a) is a, whatever number or infinity c is: no real number is NaN or infinite. JAX writes sorting so,
with an infinity that no network holds as a number.

Where(n > 0, a, NaN) is a, where n is a number of the file and not of its input. JAX writes variances so, with n entries
less the degrees of freedom. The Where becomes an If with the same condition, which is decided when the graph is read.
Its other branch is the NaN: a file that takes it is refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import NodeProto, TensorProto, helper

from eqspec.networks.expansion.graph_pieces import Pieces
from eqspec.networks.onnx_tensor import ExternalData, stored

_STANDARD = ("", "ai.onnx")
_SPREAD = ("Expand", "Identity", "Reshape", "Tile", "Unsqueeze")
_SIZES = ("Shape", "Size")
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)


def expand(pieces: Pieces) -> None:
    """Leave out the branches that are never chosen."""
    _leave_out_replacements(pieces)
    _leave_out_nowhere(pieces)


def _leave_out_replacements(pieces: Pieces) -> None:
    """Leave out every Where of what is not a number whose other choice is one stored number."""
    tested = {
        node.output[0]: node.input[0]
        for node in pieces.nodes
        if node.op_type in ("IsInf", "IsNaN") and node.domain in _STANDARD and len(node.input) == len(node.output) == 1
    }
    before, pieces.nodes = pieces.nodes, []
    for node in before:
        standard = node.op_type == "Where" and node.domain in _STANDARD and len(node.input) == 3
        other = pieces.stored(node.input[1]) if standard and len(node.output) == 1 else None
        alone = other is not None and not other.dims  # of rank 0, so the result has the shape of a
        if other is not None and alone and tested.get(node.input[0]) == node.input[2] and not other.external_data:
            stored(other, ExternalData(Path()))  # a tensor that is not whole is refused, though no number of it counts
            pieces.add(node, "Identity", [node.input[2]], node.output[0])
            said = f"Where {node.name!r} replaces what is not a number, and no real number is: it is left out"
            pieces.notes.append(said)
        else:
            pieces.nodes.append(node)


def _leave_out_nowhere(pieces: Pieces) -> None:
    """Make an If of every Where between numbers and NaN whose condition is one of the file alone."""
    makers = {name: node for node in pieces.nodes for name in node.output if name}
    fixed = set[str]()  # values that do not depend on the input
    before, pieces.nodes = pieces.nodes, []
    for node in before:
        if node.domain in _STANDARD and (
            node.op_type in _SIZES or all(not n or n in fixed or pieces.stored(n) is not None for n in node.input)
        ):
            fixed.update(node.output)
        choice = _nowhere_choice(pieces, node, makers)
        if choice is None or not (node.input[0] in fixed or pieces.stored(node.input[0]) is not None):
            pieces.nodes.append(node)
        else:
            _only_the_other(pieces, node, choice, makers)


def _nowhere_choice(pieces: Pieces, node: NodeProto, makers: dict[str, NodeProto]) -> tuple[int, TensorProto] | None:
    """Which input of a Where is NaN everywhere, and the stored NaN."""
    if node.op_type != "Where" or node.domain not in _STANDARD or len(node.input) != 3 or len(node.output) != 1:
        return None
    found = [(i, nowhere) for i in (1, 2) if (nowhere := _source(pieces, node.input[i], makers)) is not None]
    return found[0] if len(found) == 1 else None


def _source(pieces: Pieces, name: str, makers: dict[str, NodeProto]) -> TensorProto | None:
    """The stored NaN that a value consists of."""
    while (maker := makers.get(name)) is not None and maker.op_type in _SPREAD and maker.domain in _STANDARD:
        name = maker.input[0]
    tensor = pieces.stored(name)
    if tensor is None or tensor.data_type not in _FLOATS or tensor.dims:
        return None
    return tensor if np.isnan(pieces.array(tensor)).all() else None


def _only_the_other(
    pieces: Pieces, node: NodeProto, choice: tuple[int, TensorProto], makers: dict[str, NodeProto]
) -> None:
    """If(the other one is chosen everywhere) then Where with 0 in the place of NaN, else NaN."""
    index, nowhere = choice
    condition = node.input[0] if index == 2 else pieces.add(node, "Not", [node.input[0]])
    whole = pieces.add(node, "Cast", [condition], to=TensorProto.INT32)
    every = pieces.add(node, "Cast", [pieces.add(node, "ReduceMin", [whole], keepdims=0)], to=TensorProto.BOOL)
    inputs = list(node.input)
    inputs[index] = _zeros(pieces, node, node.input[index], makers)
    branches = {}
    chosen, none = helper.make_node("Where", inputs, [""]), helper.make_node("Constant", [], [""], value=nowhere)
    for branch, made in (("then_branch", chosen), ("else_branch", none)):
        made.name, made.output[0] = node.name or node.output[0], pieces.name(node.output[0])
        end = helper.make_tensor_value_info(made.output[0], nowhere.data_type, None)
        branches[branch] = helper.make_graph([made], branch, [], [end])
    pieces.add(node, "If", [every], node.output[0], **branches)


def _zeros(pieces: Pieces, node: NodeProto, name: str, makers: dict[str, NodeProto]) -> str:
    """Zeros in the shape of a value that is NaN everywhere."""
    maker = makers.get(name)
    if maker is None or maker.op_type == "Constant":
        tensor = pieces.stored(name)
        assert tensor is not None
        return pieces.constant(np.zeros_like(pieces.array(tensor)), name)
    copy = NodeProto()
    copy.CopyFrom(maker)
    copy.input[0], copy.output[0] = _zeros(pieces, node, maker.input[0], makers), pieces.name(name)
    pieces.nodes.append(copy)
    return str(copy.output[0])
