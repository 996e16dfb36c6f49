"""Layers whose weights or bias onnxruntime quantises when it loads a file, although they are real numbers there.

Between a DequantizeLinear and a QuantizeLinear, a ReLU or Clip in between, its optimiser WeightBiasQuantization puts
levels of 8 bits in the place of the float weights of a Conv, ConvTranspose or Gemm (microsoft/onnxruntime 22969 and
25673), and rounds a float bias to multiples of the scale of the inputs times that of the weights. A MatMul alone is
left as it is; with an Add of a constant behind it, it has been made a Gemm before. Then a default session answers
another function than the file defines. Only a note follows from this: what is read is the file, and onnxruntime is
compared with it without that optimiser.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.networks.onnx_tensor import FLOATS, stored
from eqspec.networks.readers.onnx_graph import Graph
from eqspec.networks.readers.onnx_names import STANDARD

OF_BIAS = (
    "its bias is real numbers between quantisers; onnxruntime rounds it to multiples of the scales in front when it "
    "loads the file with its default settings, and may answer another level then. What is read is the file as it stands"
)
NOTE = (
    "its weights are real numbers between quantisers; onnxruntime quantises them when it loads the file with its "
    "default settings, and may answer something else then. What is read is the file as it stands"
)
_LAYERS = ("Conv", "ConvTranspose", "Gemm")
_BETWEEN = ("Clip", "Identity", "Relu")


def concerned(graph: Graph) -> tuple[list[NodeProto], list[NodeProto]]:
    """The layers of a graph that are rewritten so: those with float weights, and others with a float bias."""
    nodes, tensors = graph.nodes, graph.initializers
    makers = {name: node for node in nodes for name in node.output if name}
    readers = Counter([graph.output_name, *(name for node in nodes for name in node.input)])
    following = {name: node for node in nodes for name in node.input}

    def quantised(name: str) -> bool:
        for _ in nodes:
            after = following.get(name)
            if readers[name] != 1 or after is None or after.domain not in STANDARD or not after.output:
                return False
            if after.op_type not in _BETWEEN:
                return after.op_type == "QuantizeLinear"
            name = after.output[0]
        return False

    def result(node: NodeProto) -> str:
        """What a layer gives: of a MatMul that a constant is added to, the sum."""
        after = following.get(node.output[0])
        if node.op_type != "MatMul" or readers[node.output[0]] != 1 or after is None or after.op_type != "Add":
            return node.output[0] if node.op_type in _LAYERS else ""
        return after.output[0] if any(name in tensors for name in after.input) else ""

    of_weights, of_bias = list[NodeProto](), list[NodeProto]()
    for node in nodes:
        if (
            node.op_type not in (*_LAYERS, "MatMul")
            or node.domain not in STANDARD
            or len(node.input) < 2
            or not node.output
        ):
            continue
        before, weight, levels = makers.get(node.input[0]), tensors.get(node.input[1]), makers.get(node.input[1])
        if before is None or before.op_type != "DequantizeLinear" or not quantised(result(node)):
            continue
        if weight is not None and weight.data_type in FLOATS:
            of_weights.append(node)
        elif levels is not None and levels.op_type == "DequantizeLinear" and _rounds(graph, node, before, levels):
            of_bias.append(node)
    return of_weights, of_bias


def _rounds(graph: Graph, layer: NodeProto, inputs: NodeProto, weights: NodeProto) -> bool:
    """Whether the bias of a layer is stored in floats and changes where it is rounded to products of scales."""
    if layer.op_type not in _LAYERS or len(layer.input) < 3:
        return False
    found = [graph.initializers.get(name) for name in (layer.input[2], inputs.input[1], weights.input[1])]
    if any(tensor is None or tensor.data_type != TensorProto.FLOAT for tensor in found):
        return False
    bias, of_inputs, of_weights = (stored(tensor, graph.external).astype(np.float32) for tensor in found if tensor)
    if bias.ndim != 1 or of_inputs.size != 1 or of_weights.size not in (1, bias.size):
        return False
    with np.errstate(all="ignore"):
        step = (of_inputs.reshape(()) * of_weights.reshape(-1)).astype(np.float32)
        return bool((np.rint(bias / step) * step != bias).any())
