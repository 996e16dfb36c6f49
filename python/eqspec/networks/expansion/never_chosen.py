"""What stands for numbers that are not there: Where(IsNaN(a), c, a) is a, whatever number or infinity c is.

No real number is NaN or infinite, so what is put in the place of one is never chosen. JAX writes sorting so, with an
infinity that no network holds as a number.
"""

from __future__ import annotations

from pathlib import Path

from eqspec.networks.expansion.graph_pieces import Pieces
from eqspec.networks.onnx_tensor import ExternalData, stored

_STANDARD = ("", "ai.onnx")


def expand(pieces: Pieces) -> None:
    """Leave out every such Where whose other choice is one stored number."""
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
