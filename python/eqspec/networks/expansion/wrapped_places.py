"""Places in a table that are first turned round where they are negative, as TensorFlow's embeddings are.

They look up where(i < 0, i + n, i) in n rows, written with comparisons, casts and products. What stands between the
input and the Gather acts on each integer by itself and is worked out for all of them (`integer_pieces`). It means a row
for the integers of some range, from -2 n to n - 1 here; at others runtimes fail. The rows that it means for these,
those of negative integers behind the others, are the table of a Gather at the integer itself. Where the range is that
of Gather, and the rows are those that it means itself, the table stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from eqspec.networks.expansion.graph_pieces import Pieces
from eqspec.networks.expansion.integer_pieces import OPERATORS, Piece, UnknownPiecesError, pieces_of

_OF_ONE_TYPE = {"Add", "Mul", "Sub"}
"""Whose operands have the same type."""
_MOST_NODES, _MOST_ROWS = 16, 10_000
_WHOLE: dict[int, Any] = {TensorProto.INT32: np.int32, TensorProto.INT64: np.int64}


def expand(pieces: Pieces) -> None:
    """Look up at the inputs themselves."""
    makers = {name: node for node in pieces.nodes for name in node.output if name}
    nodes = list[NodeProto]()
    for node in pieces.nodes:
        nodes += _looked_up(pieces, makers, node) or [node]
    pieces.nodes = nodes


def _looked_up(pieces: Pieces, makers: dict[str, NodeProto], node: NodeProto) -> list[NodeProto]:
    """A Gather at the input itself, with what stands in front of it; nothing where it is no such lookup."""
    if node.op_type != "Gather" or node.domain or len(node.input) != 2 or node.input[1] not in makers:
        return []
    table = pieces.tensors.get(node.input[0])
    axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
    if table is None or not -len(table.dims) <= axis < len(table.dims):
        return []
    between = list[NodeProto]()
    given, size = _behind(pieces, makers, node.input[1], between), table.dims[axis]
    kind = None if given is None else _type_of(pieces, between, given)
    if given is None or kind is None or not 0 < size <= _MOST_ROWS:
        return []
    stored = {n: pieces.array(pieces.tensors[n]) for one in between for n in one.input if n in pieces.tensors}
    try:
        first, rows = _meant(pieces_of(between, stored, given, node.input[1]), size)
    except UnknownPiecesError:
        return []
    pieces.changed = True
    copy = NodeProto()
    copy.CopyFrom(node)
    said = f"Gather {node.name!r} looks up at {given!r} itself"
    if first == -size and rows == [*range(size)] * 2:
        copy.input[1] = given
        pieces.notes.append(f"{said}: negative places count from the end")
        return [copy]
    last = first + len(rows) - 1
    if not first <= 0 <= last:
        return []
    pieces.notes.append(f"{said}, from {first} to {last}; others, at which runtimes fail, stand for the nearest one")
    ends = [pieces.constant(np.array(end, _WHOLE[kind]), node.output[0]) for end in (first, last)]
    names = [pieces.name(node.output[0]) for _ in ends]
    limits = [
        helper.make_node("Max", [given, ends[0]], [names[0]], name=node.name),
        helper.make_node("Min", [names[0], ends[1]], [names[1]], name=node.name),
    ]
    from_zero = rows[-first:] + rows[:-first]
    copy.input[0] = pieces.constant(np.take(pieces.array(table), from_zero, axis), node.output[0])
    copy.input[1] = names[1]
    return [*limits, copy]


def _meant(found: Sequence[Piece], size: int) -> tuple[int, list[int]]:
    """The first integer that means a row of so many, and the rows of it and of those that follow, without a gap."""
    rows: dict[int, int] = {}
    for piece in found:
        line, first, last = piece.line, piece.first, piece.last
        if line.slope:
            ends = sorted(((-size - line.offset) * line.slope, (size - 1 - line.offset) * line.slope))
            first, last = max(first, ends[0]), min(last, ends[1])
        elif not -size <= line.offset < size:
            continue
        if not (isfinite(first) and isfinite(last)) or last - first > 4 * _MOST_ROWS:
            raise UnknownPiecesError
        rows |= {x: line.at(x) % size for x in range(int(first), int(last) + 1)}
    if not rows or max(rows) - min(rows) >= len(rows):
        raise UnknownPiecesError
    return min(rows), [rows[x] for x in sorted(rows)]


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
        if node is None or node.domain or node.op_type not in OPERATORS or len(seen) > 2 * _MOST_NODES:
            return None
        waiting += node.input
    found += [node for node in pieces.nodes if set(node.output) & seen]
    return inputs.pop() if len(inputs) == 1 and 0 < len(found) <= _MOST_NODES else None


def _type_of(pieces: Pieces, between: list[NodeProto], given: str) -> int | None:
    """The type of an input of integers; none of one of real numbers, which a cast cuts off."""
    stored = [pieces.tensors[n] for n in {n for node in between for n in node.input} if n in pieces.tensors]
    beside = {n for node in between if given in node.input and node.op_type in _OF_ONE_TYPE for n in node.input}
    kind = next((t.data_type for t in stored if t.name in beside), None)
    return kind if kind in _WHOLE else None
