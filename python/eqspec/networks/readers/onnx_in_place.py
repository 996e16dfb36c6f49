"""Nodes that are replaced by others while a graph is evaluated; by which depends on values and shapes.

If, Loop, Scan          branches and bodies (`onnx_branches`, `onnx_loops`, `onnx_scans`)
lists of tensors        the tensors (`onnx_lists`)
fused operators         the operators that they are made of (`expansion`)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import NodeProto

from eqspec.networks.expansion import IN_PLACE
from eqspec.networks.expansion.in_place import InPlace
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.operators.shapes import shape_of_value
from eqspec.networks.readers import onnx_branches, onnx_loops, onnx_scans
from eqspec.networks.readers.onnx_lists import Lists
from eqspec.networks.readers.onnx_names import STANDARD
from eqspec.networks.roundoff import UNKNOWN_FIX

CONTROL = ("If", "Loop", "Scan")
_COUNTED = (
    "Add", "ArrayFeatureExtractor", "CenterCropPad", "FusedMatMul", "Mul", "ReorderInput", "ReorderOutput", "Sum",
)  # fmt: skip
"""Those that round as the operators that they are written with."""


def concerns(node: NodeProto, lists: Lists) -> bool:
    """Whether a node is replaced by others."""
    control = node.op_type in CONTROL and node.domain in STANDARD
    return control or (node.domain, node.op_type) in IN_PLACE or lists.concern(node)


def written_out(
    node: NodeProto,
    given: Sequence[Value | None],
    kinds: Sequence[int | None],
    number: int,
    opset: int,
    lists: Lists,
    *,
    rounding: bool,
) -> tuple[list[NodeProto], list[str]]:
    """The nodes in place of one, and names that lists hold from now on. Raises UnreadableError.

    `number` tells this node from all others. Where float32 counts (`rounding`), fused operators are refused: in which
    order they compute is left to the runtime.
    """
    if node.domain in STANDARD and node.op_type in CONTROL:
        if node.op_type == "If":
            return onnx_branches.taken(node, given, number), []
        if node.op_type == "Loop":
            return onnx_loops.unrolled(node, given, number, opset), []
        return onnx_scans.unrolled(node, given, number, opset), []
    if lists.concern(node):
        return lists.written_out(node, given, number, opset)
    if rounding and node.op_type not in _COUNTED:
        raise UnreadableError(f"what float32 rounds in {node.op_type} differs from runtime to runtime", UNKNOWN_FIX)
    wholes = {
        i: [int(n) for n in v.reshape(-1)]
        for i, v in enumerate(given)
        if isinstance(v, np.ndarray) and v.dtype.kind in "iu"
    }
    made = InPlace(node, [None if v is None else shape_of_value(v) for v in given], kinds, wholes, number, opset)
    IN_PLACE[node.domain, node.op_type](made)
    return made.nodes, []
