"""Products of 8 bit integers that onnxruntime may cut off at 16 bits, by the processor that it runs on.

Where a processor has AVX2 or AVX512 without VNNI, onnxruntime multiplies unsigned by signed bytes with an instruction
that adds two products and saturates their sum at -32768 and 32767 (vpmaddubsw). As 2 * 255 * 64 fits and
2 * 255 * 65 does not, weights of 7 bits are safe and larger ones may give another result than the file defines. Bytes
of one kind are multiplied without that. What is read is always what the file defines: exact sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from onnx import NodeProto, TensorProto, helper

from eqspec.networks.onnx_tensor import ExternalData, decode

_PLACES = {
    ("", "QLinearConv"): (2, 3),
    ("com.microsoft", "QLinearConv"): (2, 3),
    ("", "QLinearMatMul"): (2, 3),
    ("com.microsoft", "QGemm"): (2, 3),
    ("com.microsoft", "MatMulIntegerToFloat"): (4, 1),
    ("", "MatMulInteger"): (2, 1),
    ("", "ConvInteger"): (2, 1),
    ("com.microsoft", "DynamicQuantizeMatMul"): (5, 1),
}
"""Where each operator has the zero point of its first factor, whose type is that factor's, and the second one.

A place beyond the inputs stands for unsigned bytes."""
NOTE = (
    "onnxruntime may answer something else on processors without VNNI, which cut sums of two products of bytes off at "
    "16 bits; the exact sums are read (weights of 7 bits, reduce_range, are summed right everywhere)"
)
_MOST = 2**15 - 1
_LARGEST = {TensorProto.INT8: 128, TensorProto.UINT8: 255}


def concerned(
    nodes: Sequence[NodeProto], tensors: Mapping[str, TensorProto], external: ExternalData
) -> list[NodeProto]:
    """The nodes whose products of two bytes can leave 16 bits in pairs; of weights that are stored."""
    return [node for node in nodes if _leaves(node, tensors, external)]


def _leaves(node: NodeProto, tensors: Mapping[str, TensorProto], external: ExternalData) -> bool:
    found = _PLACES.get(("" if node.domain == "ai.onnx" else node.domain, node.op_type))
    if found is None:
        return False
    zero, weight = (tensors.get(node.input[at]) if at < len(node.input) else None for at in found)
    if weight is None or weight.data_type not in _LARGEST:
        return False
    other = TensorProto.UINT8 if weight.data_type == TensorProto.INT8 else TensorProto.INT8
    if zero is not None and zero.data_type != other:
        return False
    stored = decode(weight, external)
    assert isinstance(stored, np.ndarray)
    return bool(2 * _LARGEST[other] * np.abs(stored.astype(np.int64)).max(initial=0) > _MOST)


@cache
def here() -> bool:
    """Whether this processor, with this onnxruntime, cuts sums of two products off: tried on one."""
    from eqspec.networks.without_telemetry import onnxruntime  # few files multiply bytes

    count = 8
    inputs = [("a", TensorProto.UINT8, [1, count]), ("b", TensorProto.INT8, [count, 1])]
    given = [helper.make_tensor_value_info(*one) for one in inputs]
    made = helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["a", "b"], ["y"])], "pairs", given, [made])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    bytes_of = {"a": np.full((1, count), 255, np.uint8), "b": np.full((count, 1), 127, np.int8)}
    return bool(session.run(None, bytes_of)[0][0, 0] != 255 * 127 * count)
