"""A graph with integers at its ends as one of real numbers: QuantizeLinear in front, DequantizeLinear behind.

What the integers stand for (`dequantised`) is said by the caller, or by the file: of an input the scale and zero point
with which every node that reads it dequantises it, of the output those with which it was quantised. A tensor that is
only moved (reshaped, transposed) before it is read, or after it was made, stands for the same numbers.

Operators that read or give quantised tensors hold scale and zero point right behind a tensor that they are given; where
they hold those of their result is listed in `_RESULTS`. Only parameters that are one number, stored in the file or in a
Constant, count; others have to be given.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from eqspec.errors import IntegerEndsError, NoIntegerEndsError
from eqspec.networks.dequantised import Dequantised, ScaleAndZero
from eqspec.networks.operators.quantising import TYPES
from eqspec.networks.readers.onnx_ends import inner_graphs, names_read
from eqspec.networks.readers.onnx_names import name_of

_MALFORMED = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What impossible nodes and tensors may raise inside."""
_STANDARD_SINCE: dict[int, int] = {TensorProto.INT8: 10, TensorProto.UINT8: 10, TensorProto.INT32: 10}
"""The opset in which QuantizeLinear and DequantizeLinear know a type; others since 21, before that as onnxruntime's."""
_OTHERS_SINCE = 21
_INPUT_TYPES = {kind for kind, (_, high) in TYPES.items() if high < 2**16}
_OUTPUT_TYPES = {*_INPUT_TYPES, int(TensorProto.INT32)}
_MOVING = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
_OF_TWO = {"QLinearConv": 6, "QLinearMatMul": 6, "QGemm": 7, "QLinearAdd": 6, "QLinearMul": 6}
_OF_ONE = dict.fromkeys(
    ("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax"), 3
)
_RESULTS = {"QuantizeLinear": 1, "QLinearConcat": 0, **_OF_TWO, **_OF_ONE}
"""Where operators hold the scale of what they give; the zero point stands behind it."""
_GIVE = "say it: 'dequantised {{ {end} scale 0.1 zero 0 }}' in a spec, eqspec.Dequantised in Python"


def with_real_ends(path: str, model: ModelProto, opset: int, asked: Dequantised) -> tuple[Dequantised, list[str]]:
    """What every integer end of the graph stands for, once it is put in front of it and behind it, and what to say.

    The graph has one output. IntegerEndsError where nothing says what an end stands for, or no end holds integers.
    """
    try:
        return _Ends(path, model, opset, asked).changed()
    except _MALFORMED as error:
        message = f"it cannot be dequantised: its ends cannot be read ({error})"
        raise IntegerEndsError(path, message, fix="export the model again") from error


class _Ends:
    def __init__(self, path: str, model: ModelProto, opset: int, asked: Dequantised) -> None:
        self.path, self.model, self.opset, self.asked = path, model, opset, asked
        self.graph: GraphProto = model.graph
        self.stored = {tensor.name: tensor for tensor in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == "Constant" and len(node.attribute) == 1 and node.attribute[0].HasField("t"):
                self.stored[node.output[0]] = node.attribute[0].t
        self.makers = {name: node for node in self.graph.node for name in node.output if name}
        inputs = [value.name for value in self.graph.input]
        self.taken = {*inputs, *(t.name for t in self.graph.initializer), *self.makers, self.graph.output[0].name}
        self.notes: list[str] = []

    def changed(self) -> tuple[Dequantised, list[str]]:
        """Put the quantisers at both ends of the graph, in place."""
        of_inputs = tuple((value.name, self._input(value)) for value in self._integer_inputs())
        unknown = {name for name, _ in self.asked.inputs if name} - {name for name, _ in of_inputs}
        if unknown:
            message = f"it has no input {min(unknown)!r} that holds integers of a quantiser"
            raise self._error(message, "name one that does, or leave the name out")
        if self.asked.inputs and not of_inputs:
            raise self._error("none of its inputs holds integers of a quantiser", "say nothing of its inputs")
        output = self._output()
        if not of_inputs and output is None:
            message = "neither its inputs nor its output are integers of a quantiser: they are real numbers already"
            raise NoIntegerEndsError(self.path, message, fix="leave 'dequantised' out")
        return Dequantised(of_inputs, output), self.notes

    def _integer_inputs(self) -> Iterator[ValueInfoProto]:
        tensors = {tensor.name for tensor in self.graph.initializer}
        read = {name for node in self.graph.node for name in names_read(node)}
        for value in self.graph.input:
            if value.name not in tensors and value.type.tensor_type.elem_type in _INPUT_TYPES and value.name in read:
                yield value

    def _input(self, value: ValueInfoProto) -> ScaleAndZero:
        """QuantizeLinear behind an input, which becomes one of real numbers."""
        name, kind = value.name, value.type.tensor_type.elem_type
        asked, (said, silent) = self.asked.of_input(name), self._read_with(name)
        if asked is None and (silent is not None or len(said) != 1):
            numbers = " and ".join(sorted(map(str, said))) or "nothing"
            message = f"the integers of input {name!r} stand for {numbers}, by what reads it"
            if silent is not None:
                message = f"what the integers of input {name!r} stand for is not said by {silent}, which reads it"
            raise self._error(message, _fix("input"))
        found = asked or next(iter(said))
        self._check_zero(f"input {name!r}", found, kind)
        value.type.tensor_type.elem_type = TensorProto.FLOAT
        made = self._named(f"{name}_quantized")
        for node in self.graph.node:
            _rename(node, name, made)
        self.graph.node.insert(0, self._node("QuantizeLinear", name, made, found, kind))
        self.notes.append(f"input {name!r} is dequantised: its integers k stand for {found}")
        if other := min(said - {found}, key=str, default=None):
            self.notes.append(f"the file itself takes the integers of input {name!r} for {other}")
        return found

    def _read_with(self, name: str) -> tuple[set[ScaleAndZero], str | None]:
        """What those that read an input take its integers for, and one that does not say it."""
        found, waiting, seen = set[ScaleAndZero](), [name], {name}
        silent: str | None = None
        while waiting:
            tensor = waiting.pop()
            for node in self.graph.node:
                if tensor not in names_read(node):
                    continue
                if node.op_type in _MOVING and node.input[0] == tensor:
                    waiting += [made for made in node.output if made not in seen]
                    seen |= {*node.output}
                    continue
                places = [at for at, read in enumerate(node.input) if read == tensor]
                means = [self._parameters(node, at + 1) if _is_tensor(node, at) else None for at in places] or [None]
                if any(one is None for one in means):
                    silent = f"{node.op_type} {name_of(node)!r}"
                found |= {one for one in means if one is not None}
        return found, silent

    def _output(self) -> ScaleAndZero | None:
        """DequantizeLinear behind the output, if that holds integers."""
        declared = self.graph.output[0]
        name, kind = declared.name, declared.type.tensor_type.elem_type
        maker = self.makers.get(name)
        moved = {name}
        while maker is not None and maker.op_type in _MOVING and maker.input[0] not in moved:
            moved.add(maker.input[0])
            maker = self.makers.get(maker.input[0])
        place = None if maker is None else _RESULTS.get(maker.op_type)
        if kind == TensorProto.UNDEFINED and maker is not None and place is not None:
            kind = self._type_of(maker, place + 1)
        if kind not in _OUTPUT_TYPES:
            if self.asked.output is not None:
                message = f"its output {name!r} holds no integers of a quantiser"
                raise self._error(message, "say nothing of the output")
            return None
        found = self.asked.output
        if found is None and maker is not None and place is not None:
            found = self._parameters(maker, place)
        if found is None:
            message = f"what the integers of output {name!r} stand for is not said by the file"
            raise self._error(message, _fix("output"))
        self._check_zero(f"output {name!r}", found, kind)
        made = self._named(f"{name}_dequantized")
        self.graph.node.append(self._node("DequantizeLinear", name, made, found, kind))
        real = ValueInfoProto()
        real.CopyFrom(declared)
        real.name, real.type.tensor_type.elem_type = made, TensorProto.FLOAT
        del self.graph.output[:]
        self.graph.output.append(real)
        self.notes.append(f"output {name!r} is dequantised: its integers k stand for {found}")
        return found

    def _type_of(self, node: NodeProto, at: int) -> int:
        """The type of a zero point, which is that of the levels."""
        if at >= len(node.input) or not node.input[at]:
            return int(TensorProto.UINT8)
        held = self.stored.get(node.input[at])
        return int(TensorProto.UNDEFINED if held is None else held.data_type)

    def _parameters(self, node: NodeProto, at: int) -> ScaleAndZero | None:
        """Scale and zero point from an input of a node on; None where they are not one stored number each."""
        scale = self._number(node, at)
        zero = self._number(node, at + 1) if at + 1 < len(node.input) and node.input[at + 1] else 0.0
        if scale is None or zero is None or not 0.0 < scale < np.inf or zero % 1.0:
            return None
        return ScaleAndZero(scale, int(zero))

    def _number(self, node: NodeProto, at: int) -> float | None:
        held = self.stored.get(node.input[at]) if at < len(node.input) else None
        if held is None or held.data_location == TensorProto.EXTERNAL:
            return None
        try:
            found = numpy_helper.to_array(held)
            return float(found.reshape(())) if found.size == 1 else None
        except _MALFORMED:  # a tensor that does not hold what it declares
            return None

    def _check_zero(self, what: str, end: ScaleAndZero, kind: int) -> None:
        low, high = (0, 0) if kind == TensorProto.INT32 else TYPES[kind]
        if not low <= end.zero <= high:
            name = TensorProto.DataType.Name(kind).lower()
            raise self._error(
                f"the zero point {end.zero} of {what} is none of {name}", f"give one from {low} to {high}"
            )

    def _node(self, operator: str, given: str, made: str, end: ScaleAndZero, kind: int) -> NodeProto:
        since = _STANDARD_SINCE.get(kind, _OTHERS_SINCE)
        domain = ""
        if self.opset < since:
            if since < _OTHERS_SINCE:
                message = f"opset {self.opset} has no {operator}, which dequantising needs"
                raise self._error(message, f"convert it to opset {since} or newer with onnx.version_converter")
            domain = "com.microsoft"
            if all(one.domain != domain for one in self.model.opset_import):
                self.model.opset_import.append(helper.make_opsetid(domain, 1))
        names = [self._named(f"{made}_{part}") for part in ("scale", "zero_point")]
        self.graph.initializer.append(helper.make_tensor(names[0], TensorProto.FLOAT, (), [end.scale]))
        self.graph.initializer.append(helper.make_tensor(names[1], kind, (), [end.zero]))
        return helper.make_node(operator, [given, *names], [made], name=made, domain=domain)

    def _named(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _error(self, message: str, fix: str) -> IntegerEndsError:
        return IntegerEndsError(self.path, f"it cannot be dequantised: {message}", fix=fix)


def _is_tensor(node: NodeProto, at: int) -> bool:
    """Whether an operand is quantised, and its scale and zero point stand behind it."""
    if node.op_type == "QLinearConcat":
        return at % 3 == 2
    read = node.op_type == "DequantizeLinear" or node.op_type in _OF_ONE or node.op_type in _OF_TWO
    return read and (at == 0 or (at == 3 and node.op_type in _OF_TWO))


def _fix(end: str) -> str:
    return _GIVE.format(end=end)


def _rename(node: NodeProto, old: str, new: str) -> None:
    """Let a node, and what is inside of it, read another value."""
    for at, name in enumerate(node.input):
        if name == old:
            node.input[at] = new
    for graph in inner_graphs(node):
        for value in graph.output:
            if value.name == old:
                value.name = new
        for inner in graph.node:
            _rename(inner, old, new)
