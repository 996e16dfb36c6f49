"""Inputs that are places in stored tables, as those of embeddings are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import NodeProto, TensorProto

from eqspec.networks.readers.onnx_names import STANDARD

PLACES = {TensorProto.INT32, TensorProto.INT64}
_MOVED = {"Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}


def looked_up_in(name: str, nodes: Sequence[NodeProto], tables: Mapping[str, TensorProto]) -> int | None:
    """The rows of the smallest table in which a value is looked up; None if something else happens to it.

    It may be moved and cut to pieces before.
    """
    waiting, sizes = {name}, list[int]()
    for node in nodes:
        if not waiting & set(node.input):
            continue
        if node.domain not in STANDARD:
            return None
        if node.op_type in _MOVED and node.input[0] in waiting and not waiting & set(node.input[1:]):
            waiting |= set(node.output)
            continue
        table = tables.get(node.input[0]) if len(node.input) == 2 and node.op_type == "Gather" else None
        if table is None or node.input[1] not in waiting:
            return None
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        if not -len(table.dims) <= axis < len(table.dims):
            return None
        sizes.append(table.dims[axis])
    return min(sizes) if sizes and min(sizes) > 0 else None
