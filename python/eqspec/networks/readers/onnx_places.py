"""Inputs that are integers of 32 or 64 bits: places in stored tables, categories, flags, or only cast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import NodeProto, TensorProto

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.expansion.graph_pieces import casts_to_reals
from eqspec.networks.readers.onnx_ends import names_read
from eqspec.networks.readers.onnx_names import STANDARD

PLACES = {TensorProto.INT32, TensorProto.INT64}
_MOVED = {"Expand", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
_CUTTING = {"Gather", "Slice", "Split"}
"""Of these, what leaves entries out: an entry is limited by the tables it is looked up in, not by those of others."""
_COMPUTING = {"Add", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mul", "ReduceSum", "Sub"}
"""What integers that depend on the input may be used in (`operators/integer_arithmetic`)."""

TAKING = {
    *_MOVED, *_COMPUTING, "ArgMax", "ArgMin", "Cast", "Clip", "Concat", "CumSum", "Div", "Gather", "GatherElements",
    "GatherND", "If", "Loop", "Max", "Min", "Mod", "Neg", "OneHot", "ReduceMax", "ReduceMin", "Scan", "Where",
}  # fmt: skip
"""Operators of which some form takes integers that depend on the input, or has graphs inside that may."""


@dataclass(frozen=True)
class Use:
    """What becomes of an input: `rows` of the smallest table that all of it is looked up in; whether it is only cast.

    `short` says that it is cast to 32 bits, beyond which it would be another integer.
    """

    rows: int | None
    only_cast: bool
    short: bool = False


def use_of(name: str, nodes: Sequence[NodeProto], tables: Mapping[str, TensorProto]) -> Use | None:
    """How an input is used, which may be moved and cut to pieces before; None where it is used in another way."""
    waiting, cut, reals, sizes, casts, others, short = {name}, set[str](), set[str](), list[int](), 0, 0, False
    for node in nodes:
        if reals & set(node.input):  # numbers that are integers, and may be cast to such again
            reals |= set(node.output) if node.op_type in _MOVED else set()
            others += node.op_type == "Cast" and not casts_to_reals(node)
        if not waiting & set(names_read(node)):
            continue
        if not waiting & set(node.input):
            return None  # a branch or the body of a loop reads it
        kind, alone = node.op_type, node.input[0] in waiting and not waiting & set(node.input[1:])
        if node.domain not in STANDARD:
            return None
        if kind in _CUTTING or cut & set(node.input):
            cut |= set(node.output)
        if kind == "Shape" and alone:
            continue  # how many there are, whatever they are
        if kind in _MOVED and alone:
            waiting |= set(node.output)
        elif kind == "Cast" and alone:
            to = next((a.i for a in node.attribute if a.name == "to"), 0)
            real = casts_to_reals(node)
            casts += real
            others += not real
            short |= to == TensorProto.INT32
            reals |= set(node.output) if real else set()
            waiting |= set(node.output) if to in PLACES else set()
        elif kind == "Gather" and alone:
            waiting |= set(node.output)
        elif kind == "Gather" and node.input[0] in tables and len(node.input) == 2:
            size = _size(node, tables[node.input[0]])
            if size is None:
                return None
            if node.input[1] in cut:
                others += 1  # the lookup limits its own places
            else:
                sizes.append(size)
        elif (kind == "OneHot" and alone) or kind in _COMPUTING:
            others += 1
        else:
            return None
    if sizes and min(sizes) < 1:
        return None
    if not (sizes or casts or others):
        return None
    return Use(min(sizes, default=None), casts > 0 and not others and not sizes, short)


def _size(node: NodeProto, table: TensorProto) -> int | None:
    """The size of a table along the axis that places are of."""
    axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
    return int(table.dims[axis]) if -len(table.dims) <= axis < len(table.dims) else None
