"""A classifier of two classes with one output, p = s(z), read as the softmax that it is: of 0 and of the score z.

    softmax(0, z) = (1 - s(z), s(z)),     s(z) = 1 / (1 + e^-z)

The first output stands for the class below one half, the second for the one above. The file is completed by the nodes
that give 1 - p and join both, as exporters of scikit-learn write it, and is read like one of those: its softmax is set
aside where claims are about decisions, and onnxruntime runs what was completed.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from eqspec.errors import NetworkError
from eqspec.networks import agreement
from eqspec.networks.expansion.graph_pieces import hands_on
from eqspec.networks.network import Network
from eqspec.networks.readers import onnx_reader
from eqspec.networks.readers.onnx_names import STANDARD

_TYPES = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.FLOAT16: np.float16}


def of_two_classes(network: Network, stored: bytes) -> Network | None:
    """A network of one output, a Sigmoid of the ONNX model `stored`, with two outputs; None where it is another one.

    Raises NetworkError where `stored` is not what the network was read of.
    """
    if network.output_size != 1 or network.dequantised is not None or network.arithmetic != "real":
        return None
    completed = _completed(stored, network.output_name)
    if completed is None:
        return None
    if hashlib.sha256(stored).hexdigest() != network.sha256:
        raise NetworkError(network.source, "the file has changed since it was read", fix="run it again")
    read = onnx_reader.read(network.source, completed, input_shape=network.fixed or None)
    if read.output_size != 2 or read.stripped is None:
        return None
    note = f"its one output is read as two classes: 1 - p and p, of which p is what it gives (sha256 {network.sha256})"
    file = (network.sha256, network.chosen) if network.content is None else None
    found = replace(read, content=completed, notes=(*read.notes, note), sigmoid_of=file)
    agreement.check(found, lambda: completed)
    return found


def _completed(stored: bytes, output: str) -> bytes | None:
    """The model with 1 - p and p in place of its output p; None where p is no Sigmoid, or not one number for a row."""
    model = ModelProto()
    model.ParseFromString(stored)
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    declared = next((value for value in graph.output if value.name == output), None)
    last: NodeProto | None = made.get(output)
    seen = set[str]()
    while last is not None and hands_on(last) and last.input[0] not in seen:
        seen.add(last.input[0])
        last = made.get(last.input[0])
    if declared is None or last is None or last.op_type != "Sigmoid" or last.domain not in STANDARD:
        return None
    kind = declared.type.tensor_type
    outside = any(tensor.data_location == TensorProto.EXTERNAL for tensor in graph.initializer)
    if kind.elem_type not in _TYPES or len(kind.shape.dim) != 2 or outside or len(last.output) != 1:
        return None
    names = {*made, *(tensor.name for tensor in graph.initializer), *(value.name for value in graph.input)}
    one, rest, both = (_free(f"{output} {word}", names) for word in ("one", "of the other class", "of both classes"))
    inferred = onnx.shape_inference.infer_shapes(model).graph.value_info
    held = {value.name: value.type.tensor_type.elem_type for value in inferred}.get(last.output[0], kind.elem_type)
    if held not in _TYPES:
        return None
    graph.initializer.append(numpy_helper.from_array(np.ones((), _TYPES[held]), one))
    graph.node.append(helper.make_node("Sub", [one, last.output[0]], [rest], name=rest))
    graph.node.append(helper.make_node("Concat", [rest, last.output[0]], [both], axis=1, name=both))
    result = onnx.ValueInfoProto()
    result.CopyFrom(declared)
    result.name = both
    result.type.tensor_type.elem_type = held  # in front of casts to another type of real numbers
    result.type.tensor_type.shape.dim[1].Clear()
    result.type.tensor_type.shape.dim[1].dim_value = 2
    del graph.output[:]
    graph.output.append(result)
    return bytes(model.SerializeToString())


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    return name
