"""The float network as an ONNX graph that can be rewritten: nodes in order, constants as arrays.

Of a network from a file or a model it is the graph of that file, reduced to what the output needs; of a chain of dense
layers without one (.nnet files, networks built in memory) it is written anew, with its weights in float32. Nodes that
depend on no input are evaluated. A network that is not as its file says, because something was put in front of it or
taken out, is refused: what is derived from the file would be another function.

The last graphs are kept, because a search over precisions asks for the same one again and again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper, shape_inference

from eqspec.errors import DerivationError, InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.deriving.layers import Constants, attribute, output_axis, weight_place
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.frameworks.chain import Chain
from eqspec.networks.masked import Masked
from eqspec.networks.network import Network, exact_layers
from eqspec.networks.onnx_tensor import UnreadableError, decode
from eqspec.networks.operators import folding
from eqspec.networks.program import content
from eqspec.networks.readers import network_file, onnx_model, onnx_reader
from eqspec.networks.readers.onnx_names import name_of

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
_FIXING = "python -m onnxruntime.tools.make_dynamic_shape_fixed does it"


@dataclass(frozen=True)
class Links:
    """For each value the node that makes it, one that reads it, and how often it is read, the output included."""

    makers: Mapping[str, NodeProto]
    followers: Mapping[str, NodeProto]
    readers: Mapping[str, int]
    constants: Constants

    def only_follower(self, node: NodeProto) -> NodeProto | None:
        """The node that alone reads what a node gives."""
        name = node.output[0]
        return self.followers.get(name) if self.readers.get(name) == 1 else None

    def layer_of_bias(self, node: NodeProto) -> NodeProto | None:
        """The MatMul to which an Add adds a constant for each output, where nothing else reads its products."""
        layer = self.makers.get(node.input[0]) if node.op_type == "Add" else None
        if layer is None or layer.op_type != "MatMul" or self.readers.get(node.input[0]) != 1:
            return None
        place = weight_place(layer, self.constants)
        bias, weight = self.constants.get(node.input[1]), self.constants.get(layer.input[place])
        if bias is None or weight is None or weight.ndim < 2:
            return None
        outputs = weight.shape[output_axis(layer, self.constants)]
        # Weights that stand in front give a vector or a column, and a bias of either is one for each output.
        axes = (-1,) if place else (-1, -2)
        fits = bias.size == outputs and any(bias.ndim >= -axis and bias.shape[axis] == outputs for axis in axes)
        return layer if fits else None


@dataclass
class FloatGraph:
    """Nodes that depend on the input, in order, and the constants that they read; real numbers are float64.

    `path` is what messages name. `output` is the value that the network gives, a trailing Softmax included.
    """

    path: str
    opset: int
    ir_version: int
    inputs: list[ValueInfoProto]
    declared_output: ValueInfoProto
    nodes: list[NodeProto]
    constants: Constants

    @property
    def output(self) -> str:
        """The name of what the graph gives."""
        return str(self.declared_output.name)

    def unused(self, name: str) -> str:
        """A name that no value and no constant has: this one, or one like it."""
        used = {name for node in self.nodes for name in (*node.input, *node.output)}
        used |= {*self.constants, *(value.name for value in self.inputs)}
        found, number = name, 1
        while found in used:
            found, number = f"{name}_{number}", number + 1
        return found

    def links(self) -> Links:
        """Which nodes make and read each value, as the graph is now."""
        makers = {name: node for node in self.nodes for name in node.output if name}
        followers = {name: node for node in self.nodes for name in node.input if name}
        readers = Counter([name for node in self.nodes for name in node.input if name] + [self.output])
        return Links(makers, followers, readers, self.constants)

    def shapes(self) -> dict[str, list[int]]:
        """The shapes that are known of values, 0 for sizes that are not."""
        model = shape_inference.infer_shapes(self.model([ValueInfoProto(name=self.output)]))
        graph = model.graph
        found = [*graph.input, *graph.value_info, *graph.output]
        return {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in found}

    def refuse(self, message: str, fix: str, node: NodeProto | None = None) -> DerivationError:
        """The error about a node, or about all of it."""
        at = {} if node is None else {"node": name_of(node), "operator": node.op_type}
        return DerivationError(self.path, message, fix=fix, **at)

    def model(self, outputs: Sequence[ValueInfoProto]) -> ModelProto:
        """The graph as a model in float32 with these outputs."""
        tensors = [numpy_helper.from_array(single(array), name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, "network", self.inputs, list(outputs), tensors)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=max(self.ir_version, 4)
        )


def digest(network: Network) -> str:
    """The digest of everything that a derived network follows from, but the precision and rows."""
    found = hashlib.sha256(f"{network.source}\n{network.identity} {network.chosen}\n".encode())
    for part in content(network.steps):
        found.update(part)
    return found.hexdigest()


def float_graph(network: Network) -> FloatGraph:
    """The graph of a float network. DerivationError where there is none, or it is not the network's any more."""
    found = _graph_of(_Known(digest(network), network))
    nodes = list[NodeProto]()
    for node in found.nodes:
        nodes.append(NodeProto())
        nodes[-1].CopyFrom(node)
    return replace(found, nodes=nodes, constants=dict(found.constants))


@dataclass(frozen=True)
class _Known:
    """A network that is known by its digest."""

    digest: str
    network: Network = field(compare=False)


@lru_cache(maxsize=4)
def _graph_of(asked: _Known) -> FloatGraph:
    graph = _graph(asked.network)
    for value in graph.inputs:
        kind = value.type.tensor_type
        if kind.elem_type not in _FLOATS:
            name = TensorProto.DataType.Name(kind.elem_type).lower()
            message = f"input {value.name!r} holds {name}"
            raise graph.refuse(message, "derive from a model whose inputs are float32")
        kind.elem_type = TensorProto.FLOAT
    graph.declared_output.type.tensor_type.elem_type = TensorProto.FLOAT
    if any(node.op_type == "Shape" for node in graph.nodes):
        _fix_sizes(graph)
    graph.nodes = _variable(graph)
    used = {name for node in graph.nodes for name in node.input}
    graph.constants = {name: array for name, array in graph.constants.items() if name in used}
    return graph


def _graph(network: Network) -> FloatGraph:
    if network.dequantised is not None:
        message = "it is quantised already: the integers at its ends are dequantised"
        raise DerivationError(network.source, message, fix="derive from the float network that it was made of")
    if network.fixed:
        message = "sizes that its file leaves open were given, and what is derived would leave them open again"
        raise DerivationError(network.source, message, fix=f"write a file in which they are fixed: {_FIXING}")
    stored = network.content
    if stored is None and Path(network.source).suffix.lower() == ".onnx":
        stored = network_file.content(network.source)
    if stored is None:
        stored = _written(network)
    else:
        _check_unchanged(network, stored)
    ready = onnx_model.ready(network.source, stored, network.chosen)
    graph = ready.model.graph
    constants = Constants()
    for tensor in graph.initializer:
        try:
            found = decode(tensor, ready.external)
        except UnreadableError as error:
            message = f"initialiser {tensor.name!r}: {error.message}"
            raise DerivationError(network.source, message, fix=error.fix) from error
        if isinstance(found, Masked):
            message = f"initialiser {tensor.name!r} holds minus infinity, which no quantiser has a level for"
            raise DerivationError(network.source, message, fix="mask with a large negative number")
        constants[tensor.name] = found.value if isinstance(found, Enclosure) else found
    ports = [port.name for port in network.ports]
    inputs = [value for value in graph.input if value.name not in constants and (not ports or value.name in ports)]
    return FloatGraph(
        network.source, ready.opset, int(ready.model.ir_version), inputs, graph.output[0], list(graph.node), constants
    )


def _check_unchanged(network: Network, stored: bytes) -> None:
    """Refuse a network that its file does not stand for any more."""
    with np.errstate(all="ignore"):
        found = onnx_reader.read(network.source, stored, output=network.chosen)
    if found.sha256 != network.sha256:
        raise DerivationError(network.source, "the file has changed since it was read", fix="read it again")
    if digest(replace(network, steps=found.steps)) != digest(network):
        fix = "derive from the network as it was read, and put what belongs in front of both in front of both"
        raise DerivationError(network.source, "the network is not the one of its file any more", fix=fix)


def _written(network: Network) -> bytes:
    """A model of a chain of dense layers."""
    try:
        layers = exact_layers(network.layers, network.source, "quantise the model that it was made of")
    except InputError as error:
        message = f"there is no ONNX model of it, and none can be written: {error}"
        raise DerivationError(network.source, message, fix="derive from an ONNX file") from error
    chain, value = Chain([network.input_size], np.dtype(np.float32)), "input"
    for number, layer in enumerate(layers):
        weight, bias = layer.weight.T.astype(np.float32), layer.bias.astype(np.float32)
        value = chain.add("Gemm", value, weight, bias)
        if number < len(layers) - 1:
            value = chain.add("Relu", value)
    return bytes(chain.model(value, [network.output_size]).SerializeToString())


def _fix_sizes(graph: FloatGraph) -> None:
    """Put numbers in place of every Shape: those of one sample, as the network is read."""
    for value in graph.inputs:
        for axis, size in enumerate(value.type.tensor_type.shape.dim):
            if not size.dim_value and (axis == 0 or len(value.type.tensor_type.shape.dim) == 1):
                size.dim_value = 1
    known = graph.shapes()
    for node in graph.nodes:
        if node.op_type != "Shape":
            continue
        shape = known.get(node.input[0])
        if not shape or not all(shape):
            raise graph.refuse(f"the shape of {node.input[0]!r} is not known", "export it with fixed sizes", node)
        start, end = attribute(node, "start", 0), attribute(node, "end", len(shape))
        graph.constants[node.output[0]] = np.array(shape[start:end], np.int64)
    graph.nodes = [node for node in graph.nodes if node.op_type != "Shape"]


def _variable(graph: FloatGraph) -> list[NodeProto]:
    """The nodes that depend on the input; what the others give becomes constants."""
    given = {value.name for value in graph.inputs}
    kept = list[NodeProto]()
    for node in graph.nodes:
        if any(name and name in given for name in node.input):
            if node.op_type in ("Add", "Mul") and node.input[0] in graph.constants:
                node.input[0], node.input[1] = node.input[1], node.input[0]  # a constant stands behind
            given.update(node.output)
            kept.append(node)
            continue
        try:
            found = folding.run(node, graph.opset, [graph.constants[name] if name else None for name in node.input])
        except Exception as error:  # whatever an operator makes of constants that it was not meant for
            message = f"it depends on no input, and cannot be evaluated ({error})"
            raise graph.refuse(message, "export the model with its constants folded", node) from error
        for name, value in zip(filter(None, node.output), found, strict=False):
            array = np.asarray(value)
            graph.constants[name] = array.astype(np.float64) if array.dtype.kind == "f" else array
    return kept


def single(array: NDArray[Any]) -> NDArray[Any]:
    """Real numbers in float32, integers as they are."""
    return array.astype(np.float32) if array.dtype == np.float64 else array
