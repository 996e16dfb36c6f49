"""What no arithmetic of float32 says, in a graph that is to be read with `arithmetic float32`: it is refused.

Integer products whose runtimes differ, a Softmax written out whose exponentials may be infinite, numbers of 16 bits,
and scales that follow from the data: one that float32 rounds moves all levels of a tensor, of which no radius says so.
"""

from __future__ import annotations

from eqspec.errors import NetworkError
from eqspec.networks.expansion.dynamic_quantisation import DYNAMIC
from eqspec.networks.expansion.softmax_by_hand import UNSHIFTED
from eqspec.networks.readers.onnx_graph import Graph
from eqspec.networks.readers.onnx_names import name_of
from eqspec.networks.roundoff import OF_LEVELS, SHORT_FIX, SHORT_TYPES


def check(graph: Graph) -> None:
    """Raises NetworkError for the first node or number that is refused."""
    for node in graph.nodes:
        if node.op_type in OF_LEVELS:
            message = "runtimes compute it in several ways, of which not all are float32 arithmetic"
            fix = "compare the file with QuantizeLinear and DequantizeLinear (QDQ), or compare it in 'real'"
            raise NetworkError(graph.path, message, node=name_of(node), operator=node.op_type, fix=fix)
        if node.doc_string == DYNAMIC:
            message = "its scale follows from the data, and float32 rounds it, which may move every level of a tensor"
            fix = "compare the file in 'real', or quantise statically (quantize_static of onnxruntime)"
            name = "DynamicQuantizeLinear"
            raise NetworkError(graph.path, message, node=name_of(node), operator=name, fix=fix)
        if node.doc_string == UNSHIFTED:
            message = "a Softmax is written out without taking off the largest score, whose exponential may be infinite"
            fix = "export it as Softmax, or compare it in 'real'"
            raise NetworkError(graph.path, message, node=node.output[0], operator=node.op_type, fix=fix)
    short = [t.name for t in graph.initializers.values() if t.data_type in SHORT_TYPES]
    given = [f"input {one.name!r}" for one in graph.inputs if one.kind in SHORT_TYPES]
    if short or given:
        name = repr(short[0]) if short else given[0]
        raise NetworkError(graph.path, f"{name} has 16 bits, which is not float32 arithmetic", fix=SHORT_FIX)
