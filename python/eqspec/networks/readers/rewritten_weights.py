"""Layers whose weights onnxruntime quantises when it loads a file, although the file has them as real numbers.

Between a DequantizeLinear and a QuantizeLinear, a ReLU or Clip in between, its optimiser WeightBiasQuantization puts
levels of 8 bits in the place of the float weights of a Conv, ConvTranspose or Gemm (microsoft/onnxruntime 22969 and
25673). A MatMul alone is left as it is; with an Add of a constant behind it, it has been made a Gemm before. Then a
default session answers another function than the file defines. Only a note follows from this: what is read is the file,
and onnxruntime is compared with it without that optimiser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from onnx import NodeProto, TensorProto

from eqspec.networks.onnx_tensor import FLOATS
from eqspec.networks.readers.onnx_names import STANDARD

NOTE = (
    "its weights are real numbers between quantisers; onnxruntime quantises them when it loads the file with its "
    "default settings, and may answer something else then. What is read is the file as it stands"
)
_LAYERS = ("Conv", "ConvTranspose", "Gemm")
_BETWEEN = ("Clip", "Identity", "Relu")


def concerned(nodes: Sequence[NodeProto], tensors: Mapping[str, TensorProto], output: str) -> list[NodeProto]:
    """The layers of a graph, whose result is `output`, that are rewritten so."""
    makers = {name: node for node in nodes for name in node.output if name}
    readers = Counter([output, *(name for node in nodes for name in node.input)])
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

    found = []
    for node in nodes:
        if (
            node.op_type not in (*_LAYERS, "MatMul")
            or node.domain not in STANDARD
            or len(node.input) < 2
            or not node.output
        ):
            continue
        before, weight = makers.get(node.input[0]), tensors.get(node.input[1])
        dequantised = before is not None and before.op_type == "DequantizeLinear"
        if dequantised and weight is not None and weight.data_type in FLOATS and quantised(result(node)):
            found.append(node)
    return found
