"""Softmaxes that onnxruntime computes on levels when it runs a file, although the file has them on real numbers.

Between a DequantizeLinear and a QuantizeLinear of 8 bits its optimiser puts a QLinearSoftmax in the place of
all three. That makes levels of shares with one over the scale of the result, rounded down to a whole number, so that a
scale of 1/255 becomes one of 1/254 or so and other levels come out at many inputs. Only a note follows from this: what
is read is the file, and onnxruntime is compared with it node by node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.networks.onnx_tensor import stored
from eqspec.networks.readers.onnx_graph import Graph
from eqspec.networks.readers.onnx_names import STANDARD
from eqspec.networks.readers.rounded_inputs import type_of_levels

NOTE = (
    "it stands between quantisers of 8 bits, and one over the step of its result is no whole number in float32; "
    "onnxruntime rounds that down when it runs the file with its default settings, and often answers another level "
    "then. What is read is the file as it stands; with steps of 1/256 both are the same"
)
_BYTES = (TensorProto.INT8, TensorProto.UINT8)


def concerned(graph: Graph) -> list[NodeProto]:
    """The Softmax nodes of a graph that are run so."""
    makers = {name: node for node in graph.nodes for name in node.output if name and node.domain in STANDARD}
    readers = Counter([graph.output_name, *(name for node in graph.nodes for name in node.input)])
    following = {name: node for node in graph.nodes for name in node.input}

    def concerns(node: NodeProto) -> bool:
        before, after = makers.get(node.input[0]), following.get(node.output[0])
        if before is None or after is None or readers[node.output[0]] != 1:
            return False
        if before.op_type != "DequantizeLinear" or after.op_type != "QuantizeLinear" or after.domain not in STANDARD:
            return False
        kinds = [type_of_levels(name, makers, graph.initializers) for name in (before.input[0], after.output[0])]
        return all(kind in _BYTES for kind in kinds) and _of_other_steps(graph, after.input)

    return [node for node in graph.nodes if node.op_type == "Softmax" and node.domain in STANDARD and concerns(node)]


def _of_other_steps(graph: Graph, inputs: Sequence[str]) -> bool:
    """Whether the scale of a QuantizeLinear is one for the whole tensor, and its reciprocal no whole float32."""
    tensor = graph.initializers.get(inputs[1])
    if tensor is None or tensor.data_type != TensorProto.FLOAT:
        return False
    scale = stored(tensor, graph.external).astype(np.float32).reshape(-1)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / scale
    return len(inverse) == 1 and bool(inverse[0] != np.floor(inverse[0]))
