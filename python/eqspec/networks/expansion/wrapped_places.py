"""Places in a table that are first turned round where they are negative: Gather does that by itself.

TensorFlow's embeddings look up where(i < 0, i + n, i) in n rows, written with comparisons, casts and products. What
stands between the input and the Gather acts on each integer by itself; it is run at all integers from -n to n - 1, and
if Gather means the same rows by these as by what comes out, it is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from eqspec.networks.expansion.graph_pieces import Pieces

_BY_EACH = {"Add", "And", "Cast", "Equal", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Mul"}
_BY_EACH |= {"Not", "Or", "Sub", "Where"}
_OF_ONE_TYPE = {"Add", "Mul", "Sub"}
"""Whose operands have the same type."""
_MOST_NODES, _MOST_ROWS = 16, 10_000
_WHOLE: dict[int, Any] = {TensorProto.INT32: np.int32, TensorProto.INT64: np.int64}


def expand(pieces: Pieces) -> None:
    """Look up at the inputs themselves."""
    makers = {name: node for node in pieces.nodes for name in node.output if name}
    for at, node in enumerate(pieces.nodes):
        if node.op_type != "Gather" or node.domain or len(node.input) != 2 or node.input[1] not in makers:
            continue
        table = pieces.tensors.get(node.input[0])
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        if table is None or not -len(table.dims) <= axis < len(table.dims):
            continue
        between = list[NodeProto]()
        given = _behind(pieces, makers, node.input[1], between)
        if given is None or not _same(pieces, between, given, node.input[1], table.dims[axis]):
            continue
        copy = NodeProto()
        copy.CopyFrom(node)
        copy.input[1] = given
        pieces.nodes[at] = copy
        pieces.changed = True
        pieces.notes.append(f"Gather {node.name!r} looks up at {given!r} itself: negative places count from the end")


def _behind(pieces: Pieces, makers: dict[str, NodeProto], name: str, found: list[NodeProto]) -> str | None:
    """The one input of the graph that a value is made of, integer by integer, with all nodes between, in order."""
    inputs, seen, waiting = set[str](), set[str](), [name]
    while waiting:
        one = waiting.pop()
        if one in seen or one in pieces.tensors:
            if one in pieces.tensors and list(pieces.tensors[one].dims) not in ([], [1]):
                return None
            continue
        seen.add(one)
        if one in pieces.inputs:
            inputs.add(one)
            continue
        node = makers.get(one)
        if node is None or node.domain or node.op_type not in _BY_EACH or len(seen) > 2 * _MOST_NODES:
            return None
        waiting += node.input
    found += [node for node in pieces.nodes if set(node.output) & seen]
    return inputs.pop() if len(inputs) == 1 and 0 < len(found) <= _MOST_NODES else None


def _same(pieces: Pieces, between: list[NodeProto], given: str, places: str, rows: int) -> bool:
    """Whether both places mean the same row, for every integer of an input that means one."""
    if not 0 < rows <= _MOST_ROWS:
        return False
    stored = [pieces.tensors[n] for n in {n for node in between for n in node.input} if n in pieces.tensors]
    beside = {n for node in between if given in node.input and node.op_type in _OF_ONE_TYPE for n in node.input}
    kind = next((t.data_type for t in stored if t.name in beside), None)
    if kind is None or kind not in _WHOLE:  # an input of real numbers, which a cast cuts off
        return False
    from onnx.reference import ReferenceEvaluator  # few files need it, and it takes as long as to read one

    numbers = np.arange(-rows, rows)
    ends = helper.make_tensor_value_info(given, kind, [2 * rows]), helper.make_tensor_value_info(places, kind, None)
    graph = helper.make_graph(between, "places", [ends[0]], [ends[1]], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", pieces.opset)])
    try:
        (made,) = ReferenceEvaluator(model).run(None, {given: numbers.astype(_WHOLE[kind])})
    except Exception:  # whatever it is, it is no lookup that is known
        return False
    made = np.asarray(made)
    if made.shape != numbers.shape or made.dtype.kind != "i":
        return False
    return bool(((made >= -rows) & (made < rows) & (made % rows == numbers % rows)).all())
