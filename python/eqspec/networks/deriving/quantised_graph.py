"""A float graph with quantisers around every layer: what static quantisation makes of it.

    x -> Q -> Conv, Gemm or MatMul with weights Q and bias Q of 32 bits -> Relu or Clip -> Q -> ...

Q quantises and dequantises. It stands behind the input and behind every node that computes something of it, the one of
the scores included, with these exceptions. Between a layer, the Add of its bias and the Relu or Clip behind it nothing
is quantised, because they run as one. What only moves numbers, or takes the largest of some, gives numbers that are
quantised already. An average is quantised with the scale of what it averages. A Softmax at the end is left as it is.

`onnxruntime.quantization.quantize_static` makes the same decisions, and a test compares scales and outputs with it. It
is not called here, because it offers 4, 8 and 16 bits alone, works on files, and takes about a second for a network
that a search over widths derives a dozen times.
"""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

from eqspec.networks.deriving import scales
from eqspec.networks.deriving.float_graph import FloatGraph, Links, single
from eqspec.networks.deriving.layers import LAYERS, attribute, output_axis, weight_place
from eqspec.networks.deriving.precision import Integers, Ranges
from eqspec.networks.deriving.quantiser_nodes import QuantiserNodes
from eqspec.networks.deriving.scales import Activation
from eqspec.networks.readers.onnx_names import STANDARD

_FUSED = ("Relu", "Clip")
_MOVES = (
    "Dropout", "Flatten", "Gather", "Identity", "MaxPool", "Reshape", "Slice", "Split", "Squeeze", "Transpose",
    "Unsqueeze",
)  # fmt: skip
"""What gives numbers that it was given."""
_AVERAGES = ("AveragePool",)
_COMPUTES = (
    "Add", "Clip", "Concat", "Div", "Elu", "GlobalAveragePool", "HardSigmoid", "LeakyRelu", "Mul", "PRelu",
    "ReduceMean", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Sub", "Tanh",
)  # fmt: skip
_WITH_CONSTANTS = ("Add", "Mul", "Sub")
"""Whose real constants are quantised like values; a divisor is not, as it would become 0 if it is small."""
_SOFTMAX = ("LogSoftmax", "Softmax")
_QUANTISED = (*LAYERS, *_MOVES, *_AVERAGES, *_COMPUTES)
_IN_PLACES = ("BatchNormalization", "LogSoftmax at the end", "Softmax at the end")
"""What else a graph may have when it is read."""
_OLDEST, _WITH_FOUR_BITS = 4, 10
"""Versions of the file format: the first whose initialisers need not be inputs, the one with integers of 4 bits."""


class Quantising:
    """Which values of a graph are quantised, then the graph with quantisers."""

    def __init__(self, graph: FloatGraph, precision: Integers) -> None:
        self.graph, self.precision, self._links = graph, precision, graph.links()
        self._behind_scores = self._passed_over()
        for node in graph.nodes:
            self._check(node)

    @property
    def measured(self) -> list[str]:
        """The values whose ranges are needed."""
        names = [value.name for value in self.graph.inputs]
        return names + [node.output[0] for node in self.graph.nodes if self._has_range(node)]

    def _has_range(self, node: NodeProto) -> bool:
        if id(node) in self._behind_scores or node.op_type in (*_MOVES, *_AVERAGES):
            return False
        return not self._goes_on(node)

    def _goes_on(self, node: NodeProto) -> bool:
        """Whether what a node computes is taken further before it is quantised."""
        follower = self._links.only_follower(node)
        if follower is None:
            return False
        if self._links.layer_of_bias(follower) is node:
            return True
        of_values = node.op_type == "Add" and node.input[1] not in self.graph.constants
        layer = node.op_type in LAYERS or self._links.layer_of_bias(node) is not None
        return (layer or of_values) and follower.op_type in _FUSED

    def _passed_over(self) -> set[int]:
        """The Softmax at the end, and what moves its numbers behind it."""
        passed, name = list[NodeProto](), self.graph.output
        while (node := self._links.makers.get(name)) is not None and node.op_type in _MOVES:
            passed.append(node)
            name = node.input[0]
        if node is None or node.op_type not in _SOFTMAX:
            return set()
        return {id(one) for one in (*passed, node)}

    def _check(self, node: NodeProto) -> None:
        """Refuse what is not quantised, by name."""
        if id(node) in self._behind_scores:
            return
        constants = self.graph.constants
        if node.domain not in STANDARD or node.op_type not in _QUANTISED:
            fix = f"these are: {', '.join(sorted({*_QUANTISED, *_IN_PLACES}))}"
            raise self.graph.refuse("the operator is not quantised to integers", fix, node)
        if node.op_type not in LAYERS:
            return
        weight = constants.get(node.input[weight_place(node, constants)])
        if weight is None or weight.ndim < 2:
            raise self.graph.refuse("its weights depend on the input, or are a vector", "use a matrix", node)
        if node.op_type == "Gemm" and (attribute(node, "alpha", 1.0) != 1.0 or attribute(node, "transA", 0)):
            raise self.graph.refuse("a Gemm with alpha or transA", "take alpha into its weights", node)
        bias = node.input[2] if len(node.input) > 2 else ""
        if bias and (
            bias not in constants or constants[bias].size not in (1, weight.shape[output_axis(node, constants)])
        ):
            raise self.graph.refuse("its bias is not a constant for each output", "use an Add", node)

    def model(self, ranges: Ranges) -> ModelProto:
        """The quantised graph. `ranges` are those of what is `measured`."""
        return _Writing(self.graph, self._links, self.precision, ranges).model()


class _Writing:
    """The quantised graph under way."""

    def __init__(self, graph: FloatGraph, links: Links, precision: Integers, ranges: Ranges) -> None:
        self.graph, self.links, self.precision, self.ranges = graph, links, precision, ranges
        names = [*graph.constants, *(name for node in graph.nodes for name in (*node.input, *node.output))]
        taken = {*names, *(value.name for value in graph.inputs)}
        self.made = QuantiserNodes(precision.bits, graph.opset, taken)
        self.now: dict[str, str] = {}
        """Under which name a value is read now."""
        self.biases: dict[str, str] = {}
        """Under which name an Add reads its bias now, by what it gives."""
        self.grid: dict[str, Activation] = {}
        """How a value is quantised."""

    def model(self) -> ModelProto:
        """Every node, quantised."""
        for value in self.graph.inputs:
            self._quantise(value.name)
        for node in self.graph.nodes:
            self._write(node)
        return self._assembled()

    def _quantise(self, name: str, of: Activation | None = None) -> None:
        """A value, with the scale of its range or with another one."""
        self.grid[name] = of = of or scales.activation(*self.ranges[name], self.precision.bits)
        if name != self.graph.output:
            self.now[name] = self.made.activation(name, of)
            return
        # What the file gives keeps its name, so what is quantised gets another one.
        before = self.made.named(f"{name}_float")
        self.made.nodes[-1].output[0] = before
        self.made.activation(before, of, name)

    def _write(self, node: NodeProto) -> None:
        written = NodeProto()
        written.CopyFrom(node)
        scale = self.grid.get(node.input[0])
        for place, name in enumerate(node.input):
            written.input[place] = self.now.get(name, name)
        if node.op_type in LAYERS:
            self._quantise_layer(written, node)
        elif self.links.layer_of_bias(node) is not None:
            written.input[1] = self.biases[node.output[0]]
        elif node.op_type in _WITH_CONSTANTS:
            for place, name in enumerate(node.input):
                if (array := self.graph.constants.get(name)) is not None:
                    of = scales.activation(float(array.min()), float(array.max()), self.precision.bits)
                    written.input[place] = self.made.activation(name, of)
        self.made.nodes.append(written)
        if node.op_type in _MOVES and scale is not None:
            self.grid.update(dict.fromkeys(node.output, scale))
        elif node.op_type in _AVERAGES and scale is not None:
            self._quantise(node.output[0], scale)
        elif node.output[0] in self.ranges:
            self._quantise(node.output[0])

    def _quantise_layer(self, written: NodeProto, node: NodeProto) -> None:
        """The weights of a layer, and its bias or that of the Add behind it."""
        constants, bits = self.graph.constants, self.precision.bits
        place, outputs = weight_place(node, constants), output_axis(node, constants)
        weight, given = constants[node.input[place]], self.grid[node.input[1 - place]].scale
        axis = outputs % weight.ndim if self.precision.per_channel else None
        scale = scales.weight_scales(weight, bits, axis)
        follower = self.links.only_follower(node)
        adding = follower if follower is not None and self.links.layer_of_bias(follower) is node else None
        own = node.input[2] if len(node.input) > 2 else ""
        name = own or (adding.input[1] if adding is not None else "")
        if name:
            beta = float(attribute(node, "beta", 1.0)) if node.op_type == "Gemm" else 1.0
            bias = np.broadcast_to(beta * constants[name].reshape(-1), weight.shape[outputs])
            scale = scales.raised(scale, given, bias)
            shape = constants[name].shape if adding is not None else bias.shape
            quantised = self.made.bias(f"{node.output[0]}_bias", scales.quantised_bias(bias, given * scale, shape))
            if own:
                written.input[2] = quantised
                kept = [one for one in written.attribute if one.name != "beta"]
                del written.attribute[:]
                written.attribute.extend(kept)
            elif adding is not None:
                self.biases[adding.output[0]] = quantised
        levels = scales.quantised_weights(weight, scale, bits, axis)
        written.input[place] = self.made.weights(f"{node.output[0]}_weight", levels)

    def _assembled(self) -> ModelProto:
        graph, made = self.graph, self.made
        read = {name for node in made.nodes for name in node.input}
        tensors = [numpy_helper.from_array(single(a), name) for name, a in graph.constants.items() if name in read]
        whole = helper.make_graph(
            made.nodes, "quantised", graph.inputs, [graph.declared_output], [*tensors, *made.constants]
        )
        imports = [helper.make_opsetid("", graph.opset)]
        if made.domain:
            imports.append(helper.make_opsetid(made.domain, 1))
        version = max(graph.ir_version, _WITH_FOUR_BITS if self.precision.bits == 4 else _OLDEST)
        return helper.make_model(whole, opset_imports=imports, ir_version=version, producer_name="eqspec")
