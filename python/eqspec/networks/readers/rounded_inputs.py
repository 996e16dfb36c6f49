"""Layers whose inputs onnxruntime rounds to 8 bits when it runs a file, although the file has them as real numbers.

Where the weights of a MatMul, or of a plain Gemm, are levels of 2, 4 or 8 bits behind a DequantizeLinear, its optimiser
puts a MatMulNBits in their place, which quantises the other factor in blocks of each row while it runs (accuracy level
4). It leaves layers alone whose inputs are levels of 8 bits themselves; those it multiplies in integers, which goes
wrong where the weights of a MatMul have scales in blocks. Only a note follows from this: what is read is the file, and
onnxruntime is compared with it node by node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from onnx import NodeProto, TensorProto, helper

from eqspec.networks.readers.onnx_names import STANDARD

NOTE = (
    "its weights are levels and its inputs are not; onnxruntime rounds the inputs to 8 bits when it runs the file with "
    "its default settings, and answers something else then. What is read is the file as it stands"
)
_SHORT = tuple(
    TensorProto.DataType.Value(name)
    for name in ("INT8", "UINT8", "INT4", "UINT4", "INT2", "UINT2")
    if name in TensorProto.DataType.keys()  # noqa: SIM118  (no mapping; older packages know fewer)
)
_LONG = (TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32)
_MOVED = {"MatMul": ("Identity", "Transpose"), "Gemm": ("Identity",)}
"""What it looks through between levels and layer; a transposed factor of a Gemm becomes transB, which is left alone."""


def concerned(nodes: Sequence[NodeProto], tensors: Mapping[str, TensorProto]) -> list[NodeProto]:
    """The layers of a graph that are run so."""
    makers = {name: node for node in nodes for name in node.output if name and node.domain in STANDARD}
    readers = Counter(name for node in nodes for name in node.input)

    def dequantised(name: str) -> NodeProto | None:
        """The DequantizeLinear that makes a value; of several readers, none of them is rewritten."""
        node = makers.get(name)
        return node if node and node.op_type == "DequantizeLinear" and readers[name] == 1 else None

    def weights(layer: NodeProto) -> NodeProto | None:
        """The DequantizeLinear of stored levels that the second factor is, unless it has another reader."""
        name = layer.input[1]
        for _ in nodes:
            node = makers.get(name)
            if node is None or node.op_type not in _MOVED[layer.op_type] or readers[name] != 1:
                break
            name = node.input[0]
        found = dequantised(name)
        return found if found is not None and _stored(found.input[0], makers, tensors) else None

    def concerns(node: NodeProto) -> bool:
        of_weights, of_inputs = weights(node), dequantised(node.input[0])
        if of_weights is None or type_of_levels(of_weights.input[0], makers, tensors) not in _SHORT:
            return False
        of_bytes = of_inputs is not None and type_of_levels(of_inputs.input[0], makers, tensors) not in _LONG
        in_blocks = node.op_type == "MatMul" and _attribute(of_weights, "block_size", 0) > 0
        return not of_bytes or in_blocks

    return [node for node in nodes if node.domain in STANDARD and _plain(node) and concerns(node)]


def type_of_levels(name: str, makers: Mapping[str, NodeProto], tensors: Mapping[str, TensorProto]) -> int:
    """The type of stored levels, or of those that a QuantizeLinear makes."""
    if name in tensors:
        return tensors[name].data_type
    node = makers.get(name)
    if node is None or node.op_type != "QuantizeLinear":
        return TensorProto.UNDEFINED
    if len(node.input) > 2 and node.input[2] in tensors:
        return tensors[node.input[2]].data_type
    return int(_attribute(node, "output_dtype", 0)) or TensorProto.UINT8


def _plain(node: NodeProto) -> bool:
    """A MatMul, or a Gemm that only multiplies and adds."""
    if node.op_type == "MatMul":
        return len(node.input) == 2
    ones, zeros = ("alpha", "beta"), ("transA", "transB")
    plain = all(_attribute(node, name, 1) == 1 for name in ones) and not any(_attribute(node, n, 0) for n in zeros)
    return node.op_type == "Gemm" and len(node.input) >= 2 and plain


def _attribute(node: NodeProto, name: str, default: float) -> float:
    found = (helper.get_attribute_value(a) for a in node.attribute if a.name == name)
    value = next(found, default)
    return value if isinstance(value, int | float) else default


def _stored(name: str, makers: Mapping[str, NodeProto], tensors: Mapping[str, TensorProto]) -> bool:
    """Whether a value is a matrix of the file, or what a QuantizeLinear makes of one."""
    if name not in tensors and name in makers and makers[name].op_type == "QuantizeLinear":
        name = makers[name].input[0]
    return name in tensors and len(tensors[name].dims) == 2
