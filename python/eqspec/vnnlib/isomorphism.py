"""How two network files are alike, in the words of VNN-LIB 2.0.

`equal-to`: the same content. `isomorphic-to`: the same operators in the same order and tensors of the same shapes, so
only weights differ. Networks with other widths (pruned neuron by neuron) are neither: they are declared plainly.
"""

from __future__ import annotations

import onnx

from eqspec.networks import Network
from eqspec.vnnlib.query import FileRelation


def isomorphism(reference: Network, candidate: Network, *, raw_alike: bool) -> FileRelation | None:
    """How the file of the candidate is like that of the reference; None if it is not, or if one is no ONNX file."""
    if reference.identity == candidate.identity:
        return "equal-to" if raw_alike else None
    first, second = _skeleton(reference.source), _skeleton(candidate.source)
    return "isomorphic-to" if first is not None and first == second else None


def _skeleton(path: str) -> object:
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception:  # protobuf raises errors of many types; a file that cannot be read is not isomorphic to any
        return None
    graph = model.graph
    places = {name: number for number, name in enumerate(n for node in graph.node for n in (*node.input, *node.output))}
    shapes = {tensor.name: (tensor.data_type, tuple(tensor.dims)) for tensor in graph.initializer}

    def told(node: onnx.NodeProto) -> object:
        attributes = tuple(a.SerializeToString() for a in node.attribute if a.type != onnx.AttributeProto.TENSOR)
        inputs = tuple(shapes.get(name, places[name]) for name in node.input)
        return node.domain, node.op_type, inputs, tuple(places[name] for name in node.output), attributes

    ends = tuple(
        (v.type.tensor_type.elem_type, len(v.type.tensor_type.shape.dim)) for v in (*graph.input, *graph.output)
    )
    return tuple(told(node) for node in graph.node), ends
