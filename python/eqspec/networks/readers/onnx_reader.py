"""ONNX to a program of steps: the graph is evaluated on affine values, and each function makes a step.

The network is the real function of the stored weights, read at one sample: an open size, or a leading one where there
are several axes, is the batch and becomes 1. A model that makes no sense so (an image without a batch axis, or samples
that meet on the way) is read with its whole input as the sample. Several inputs are one vector, one behind the other.
A Softmax at the end is left out and reported. Folding may round; then the steps say by how much (see `enclosure`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.errors import NetworkError, OpenSizesError, UnsupportedOperatorError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import common_factors, pair_saturation, unary
from eqspec.networks.affine import Affine
from eqspec.networks.dequantised import Dequantised
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.exact_floats import ExactFloats
from eqspec.networks.expansion import GELU_DOMAIN
from eqspec.networks.levels import Levels, Quantised
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.matrices import MAX_VALUE, TooLargeError
from eqspec.networks.network import Arithmetic, LargestIntermediate, Network, Port, Stripped
from eqspec.networks.onnx_tensor import UnreadableError, decode
from eqspec.networks.operators import (
    OF_INTEGERS,
    ON_HIDDEN,
    ON_LEVELS,
    ON_MASKED,
    OPERATORS,
    QUANTISING,
    comparisons,
    folding,
    held_values,
    legacy_broadcasting,
    masking,
    varying_masks,
)
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Scores, Value
from eqspec.networks.readers import (
    batches,
    float32_refused,
    inner_softmax,
    onnx_definition,
    onnx_graph,
    onnx_in_place,
    onnx_loops,
    onnx_model,
    onnx_notes,
    onnx_refused,
    open_sizes,
    several_opsets,
)
from eqspec.networks.readers.onnx_definition import definition
from eqspec.networks.readers.onnx_graph import Graph, Input
from eqspec.networks.readers.onnx_lists import Lists
from eqspec.networks.readers.onnx_names import STANDARD, name_of
from eqspec.networks.readers.onnx_types import Types
from eqspec.networks.readers.open_sizes import InputShape
from eqspec.networks.readers.steps import steps_of
from eqspec.networks.readers.value_store import ValueStore
from eqspec.networks.roundoff import FLOAT32, UNKNOWN_FIX, Precision, Roundoff
from eqspec.networks.runtime_functions import MISSED, unbounded
from eqspec.networks.units import Reading, Units

MALFORMED = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""Errors that a node with impossible attributes or shapes may raise; they are reported as faults of that node."""


MOST_BRANCHES = onnx_loops.MOST_ROUNDS
_MOST_WRITTEN_OUT = 100_000
"""The most nodes that may replace others in one graph: a loop in a loop multiplies them."""
_LATE = ("Gelu", "LayerNormalization", "RMSNormalization")
"""Operators that onnxruntime had in a domain of its own, or writes for older opsets than they are of."""
READ = ", ".join(sorted(OPERATORS))
SMALLER = "use a smaller network, or smaller inputs"


def read(
    path: str,
    content: bytes,
    arithmetic: Arithmetic = "real",
    output: str | None = None,
    dequantised: Dequantised | None = None,
    input_shape: InputShape | None = None,
) -> Network:
    """A model's network, with what float32 runtimes may round if that is the arithmetic. Raises NetworkError.

    `output` is the name of one of several outputs; `dequantised` makes one of real numbers of a file that takes or
    gives integers of a quantiser; `input_shape` gives sizes that the file leaves open.
    """
    graph = onnx_graph.load(path, content, output, dequantised, input_shape)
    network = _of_samples(graph, content, arithmetic, output)
    options = arithmetic, output, dequantised, input_shape
    several_opsets.check(network, content, lambda changed: read(path, changed, *options), graph.other_opsets)
    return network


def _of_samples(graph: Graph, content: bytes, arithmetic: Arithmetic, output: str | None) -> Network:
    """The network of the first way to tell samples apart that makes sense. Raises NetworkError."""
    failures: list[tuple[int, NetworkError]] = []
    for sample in batches.readings(graph.inputs):
        reading = _Reading(graph, *sample)
        try:
            return replace(_read(reading, content, arithmetic), chosen=output)
        except NetworkError as error:
            failures.append((len(reading.reached), error))
    # A model that makes no sense by samples fails early; what stands in the way of its whole input is the cause.
    _, cause = max(failures, key=lambda failure: failure[0])
    last = failures[-1][1]
    raise cause from (None if cause is last else last)


def _read(reading: _Reading, content: bytes, arithmetic: Arithmetic) -> Network:
    _check_open_axis(reading, content)
    if arithmetic == "real" or reading.batch is not None:
        network = reading.network(content)
        if reading.batch is not None:
            _check_samples_apart(reading, network, content)
        if arithmetic == "real":
            return network
    float32_refused.check(reading.graph)
    rounded, enough = _rounded(reading, content, exactly=True)
    return rounded if enough else _rounded(reading, content, exactly=False)[0]


def _rounded(reading: _Reading, content: bytes, *, exactly: bool) -> tuple[Network, bool]:
    """The network with radii for what float32 rounds, but for what it has `exactly`; and whether these are enough.

    They are not where more is rounded with these radii than was counted without, as a sum at the edge of 24 bits.
    """
    path = reading.graph.path
    # Which functions are seen in a graph depends on whether it rounds, so the roundings are counted where it does.
    counted = replace(reading, roundoff=_roundoff(float(FLOAT32.unit), exactly=exactly))
    seen = counted.network(content)
    endless = next((curve for step in seen.steps if (curve := unbounded(step.function)) is not None), None)
    if endless is not None:
        message = f"how far float32 runtimes are off in {endless} of a value near zero has no bound"
        raise NetworkError(path, message, fix=UNKNOWN_FIX)
    try:
        unit = counted.roundoff.gamma()
    except UnreadableError as error:
        raise NetworkError(path, error.message, fix=error.fix) from error
    again = replace(reading, roundoff=_roundoff(unit, exactly=exactly))
    made = again.network(content)
    return made, again.roundoff.gamma() <= unit


def _roundoff(unit: float, *, exactly: bool) -> Roundoff:
    return Roundoff(unit, missed=MISSED, exactly=ExactFloats() if exactly else None)


def read_rounded(
    path: str,
    content: bytes,
    precision: Precision,
    output: str | None = None,
    dequantised: Dequantised | None = None,
    input_shape: InputShape | None = None,
    share: float | None = None,
) -> Network:
    """The same network with radii for what a runtime of this precision may round. Raises NetworkError.

    With a `share`, radii are that of each monomial instead, whatever is counted.
    """
    graph = onnx_graph.load(path, content, output, dequantised, input_shape, as_computed=True)
    problem: NetworkError | None = None
    for sample in batches.readings(graph.inputs):
        reading = _Reading(graph, *sample, Roundoff(precision=precision))
        try:
            network = reading.network(content)
            if reading.batch is not None:
                _check_samples_apart(reading, network, content)
            gamma = reading.roundoff.gamma() if share is None else share
            return replace(reading, roundoff=Roundoff(gamma, precision)).network(content)
        except NetworkError as error:
            problem = problem or error
        except UnreadableError as error:
            problem = problem or NetworkError(path, error.message, fix=error.fix)
    assert problem is not None
    raise problem


def _check_samples_apart(reading: _Reading, network: Network, content: bytes) -> None:
    """Refuse to set a fixed batch aside where its samples meet."""
    for samples in batches.counts(network, reading.batch or 1):
        shapes = tuple((samples, *shape[1:]) for shape in reading.shapes)
        if batches.meet(network, replace(reading, shapes=shapes, samples=samples).network(content), samples):
            message = f"the {reading.batch} samples of the batch meet, so that one of them cannot be read by itself"
            fix = "export the model with a batch size of 1, or with a batch of open size"
            raise NetworkError(reading.graph.path, message, fix=fix)


def _check_open_axis(reading: _Reading, content: bytes) -> None:
    """Refuse to read one entry along an open axis where entries meet, as the steps of a sequence do."""
    graph = reading.graph
    if not batches.may_meet(graph, content):
        return
    try:
        pair = replace(reading, shapes=batches.of_two(graph.inputs), reached=[]).network(content)
    except NetworkError:  # it has one entry there and no more
        return
    found = batches.open_axis(graph.inputs)
    if found is not None and batches.joined(graph.inputs, pair):
        name, size = found
        message = f"entries along the open axis {size!r} of input {name!r} meet, so it is not that of the samples"
        fix = open_sizes.how({one.name: one.shape for one in graph.inputs}, batch=False)
        raise OpenSizesError(graph.path, message, fix=fix)


def _nearest_levels(value: Affine, ends: tuple[int, int]) -> Levels:
    """The integers between two ends that are nearest to a value, ties to the even one."""
    one, nothing = np.ones(value.size), np.zeros(value.size)
    low, high = (np.full(value.size, float(end)) for end in ends)
    return Levels.of(Quantised(value, one, nothing, low, high, nothing), value.shape, *ends)


def _as_declared(value: Affine, one: Input) -> Affine | Levels:
    """An input as what its type holds: real numbers, levels, or truth values, which are 0 and 1."""
    if one.levels is None:
        return value
    nearest = _nearest_levels(value, one.levels)
    return nearest.meaning(1.0, 0.0) if one.kind == TensorProto.BOOL else nearest


@dataclass(frozen=True, eq=False)
class _Reading:
    """One way to read a graph: the shapes of its inputs, and the fixed batch size of which they are some samples."""

    graph: Graph
    shapes: tuple[tuple[int, ...], ...]
    batch: int | None
    roundoff: Roundoff = field(default_factory=Roundoff)
    samples: int = 1
    reached: list[str] = field(default_factory=list)
    """The operators that were evaluated."""

    def network(self, content: bytes) -> Network:
        """The network that is read so; `content` are the bytes of the file."""
        graph = self.graph
        ports = tuple(Port(one.name, one.shape, prod(s)) for one, s in zip(graph.inputs, self.shapes, strict=True))
        notes = [*graph.notes, *onnx_notes.about_inputs(ports, self.batch)]
        inputs = self._inputs(sum(port.size for port in ports))
        evaluated = self._result(inputs, notes)
        self.roundoff.count(inputs.reading.roundings)
        stripped: Stripped | None = evaluated.kind if isinstance(evaluated, Scores) else None
        end = graph.nodes, graph.output_name
        inner = inner_softmax.described(*end) if stripped is None else None
        result = self._outputs(evaluated, inputs, inner, notes)
        try:
            made = steps_of(inputs, result)
        except TooLargeError as error:
            raise self._error(f"{error}", None, SMALLER) from error
        except MALFORMED as error:
            raise self._error(f"the steps cannot be formed ({error})", None, SMALLER) from error
        largest: tuple[LargestIntermediate, ...] = ()
        if self.roundoff.unit:
            largest = tuple(self.roundoff.largest_intermediate(units) for units in made.sources)
        notes += onnx_notes.about_rounding(made, self.roundoff.unit)
        pairs = pair_saturation.concerned([*graph.nodes, *graph.integer_products], graph.initializers, graph.external)
        notes += onnx_notes.about_onnxruntime(graph, pairs)
        digest = hashlib.sha256(content)
        graph.external.update(digest)
        name, declared = ports[0].name, ports[0].shape
        if len(ports) > 1:
            name, declared = ", ".join(port.name for port in ports), (inputs.size,)
        return Network(
            made.steps,
            inputs.size,
            graph.path,
            digest.hexdigest(),
            name,
            declared,
            graph.output_name,
            graph.output_shape,
            stripped,
            tuple(notes),
            arithmetic="float32" if self.roundoff.unit else "real",
            largest_intermediates=largest,
            ports=ports,
            alone=graph.alone,
            in_pairs=bool(pairs),
            inner_softmax=inner,
            in_logarithm=inner_softmax.of_logarithms(*end) if stripped is None and inner is None else None,
            dequantised=graph.dequantised,
            fixed=graph.fixed,
            unread=graph.unread,
            label=graph.label,
        )

    def _inputs(self, size: int) -> Units:
        """The units of all inputs, in the arithmetic of this reading."""
        unit, precision = self.roundoff.unit, self.roundoff.precision
        reading = Reading(
            unit, precision.tiny if unit else 0.0, self.roundoff.missed, float(precision.unit) if unit else 0.0
        )
        inputs = reading.new(size, "identity", [], plain=True)
        if inputs.size > MAX_VALUE:
            raise self._error(f"{size} features are beyond the limit of {MAX_VALUE}", None, "use a smaller input")
        return inputs

    def _outputs(self, result: Value, inputs: Units, inner: str | None, notes: list[str]) -> Affine:
        """The outputs of the network: the value of the graph, or the scores in front of a Softmax at its end."""
        if isinstance(result, Scores):
            name = "Softmax" if result.kind == "softmax" else "LogSoftmax"
            notes.append(f"the trailing {name} is left out: the outputs are its scores")
            result = result.scores
        if inner is not None:
            notes.append(f"{inner} is not left out: the outputs are no logits")
        if isinstance(result, Levels):
            notes.append("the outputs are levels of a quantiser, as integers")
            with inputs.reading.over_the_reals():  # integers, which are not rounded
                result = result.meaning(1.0, 0.0)
        if isinstance(result, np.ndarray):
            raise self._error("the output holds integers", None, "export the scores themselves")
        if isinstance(result, Masked | Hidden):
            raise self._error("the output holds minus infinity", None, "export the scores without their mask")
        if isinstance(result, Enclosure):
            result = af.constant(inputs, result)
        self._check_output(result)
        return self.roundoff.result(comparisons.with_all_asked(result, inputs.reading))

    def _result(self, inputs: Units, notes: list[str]) -> Value:
        graph = self.graph
        values = ValueStore(graph.nodes, graph.output_name)
        begin = 0
        for one, shape in zip(graph.inputs, self.shapes, strict=True):
            places = begin + np.arange(prod(shape)).reshape(shape)
            whole = one.levels is not None  # an integer, which is not rounded to float32
            sample = af.select(inputs, places, started=not whole)
            values.keep(one.name, _as_declared(sample if whole else self.roundoff.given(sample), one))
            begin += prod(shape)
        types, lists = Types(graph), Lists()
        waiting, branches = deque(graph.nodes), 0
        while waiting:
            node = types.named(waiting.popleft())
            given = [None if name in lists else self._input(name, values, node) for name in node.input]
            if onnx_in_place.concerns(node, lists):
                branches += 1
                made = self._in_place(node, given, types.kinds(node), branches, lists, values)
                waiting.extendleft(reversed(made))
                continue
            if any(name in lists for name in node.input):
                raise self._error("it reads a list of tensors", node, "export the tensors by themselves")
            operator = self._operator(node, given)
            try:
                given = list(legacy_broadcasting.aligned(node, self.graph.opset, given))
                rounded = types.enter(node, given)
            except UnreadableError as error:
                raise self._error(error.message, node, error.fix) from error
            call = OperatorCall(
                node, graph.opset, given, inputs, graph.external, self.batch, notes, rounded, self.samples,
                types.kinds(node), [values.read_once(name) for name in node.input],
                [i for i, name in enumerate(node.output) if not values.is_read(name)],
            )  # fmt: skip
            results = self._evaluate(operator, call)
            types.leave(node, results)
            self.reached.append(node.op_type)
            with self._limited(node):
                for name, value in zip(node.output, results, strict=False):
                    values.keep(name, value)
                values.used(node)
        if graph.output_name not in values and graph.output_name not in graph.initializers:
            raise self._error(f"no node computes the output {graph.output_name!r}", None, "export the model again")
        return self._input(graph.output_name, values, None)  # type: ignore[return-value]

    def _in_place(
        self,
        node: NodeProto,
        given: Sequence[Value | None],
        kinds: Sequence[int | None],
        number: int,
        lists: Lists,
        values: ValueStore,
    ) -> Sequence[NodeProto]:
        """The nodes that stand in place of an If, the next round of a Loop, a fused operator or one on lists."""
        try:
            rounding = bool(self.roundoff.missed)
            made, held = onnx_in_place.written_out(
                node, given, kinds, number, self.graph.opset, lists, rounding=rounding
            )
            for inner in made:
                if not onnx_loops.done(inner):
                    onnx_definition.check(inner, self.graph.opset)
        except UnreadableError as error:
            raise self._error(error.message, node, error.fix) from error
        except MALFORMED as error:
            raise self._error(f"the node cannot be written out ({error})", node, "export the model again") from error
        lists.written += len(made)
        if number > MOST_BRANCHES or len(made) > onnx_model.MAX_NODES or lists.written > _MOST_WRITTEN_OUT:
            raise self._error("too many branches or rounds of loops, or nodes in one", node, SMALLER)
        values.expect([*made, NodeProto(input=held)])
        values.used(node)
        return made

    def _input(self, name: str, values: ValueStore, node: NodeProto | None) -> Value | None:
        if not name:
            return None
        if name not in values and name in self.graph.initializers:
            try:
                found = decode(self.graph.initializers[name], self.graph.external)
                found = self.roundoff.constant(found) if isinstance(found, Enclosure) else found
            except UnreadableError as error:
                raise self._error(f"initialiser {name!r}: {error.message}", node, error.fix) from error
            except MALFORMED as error:
                raise self._error(f"initialiser {name!r}: {error}", node, "export the model again") from error
            with self._limited(node):
                values.keep(name, found)
        if name not in values:
            message = f"nothing computes {name!r}"
            fix = "only a node's offered outputs can be read, and none may depend on itself: export it again"
            raise self._error(message, node, fix)
        return values[name]

    @contextmanager
    def _limited(self, node: NodeProto | None) -> Iterator[None]:
        """Within this context an array that is too large is reported as a fault of this node."""
        try:
            yield
        except TooLargeError as error:
            raise self._error(f"{error}", node, SMALLER) from error

    def _operator(self, node: NodeProto, given: Sequence[Value | None]) -> Operator:
        standard = node.domain in STANDARD
        late = node.domain == GELU_DOMAIN and node.op_type in _LATE
        name = node.op_type if standard else f"{node.domain}.{node.op_type}"
        operator = OPERATORS.get(node.op_type) if standard or late else None
        operator = operator or QUANTISING.get(name)
        integers = node.op_type in OF_INTEGERS and isinstance(given[0] if given else None, np.ndarray)
        if standard and node.op_type in ON_LEVELS and (integers or any(isinstance(v, Levels) for v in given)):
            return ON_LEVELS[node.op_type]
        if varying_masks.concerns(node.op_type, given):
            return ON_HIDDEN.get(node.op_type, varying_masks.refused) if standard else varying_masks.refused
        if any(isinstance(v, Masked) for v in given):
            return ON_MASKED.get(node.op_type, masking.refused) if standard else masking.refused
        if operator is not None:
            return operator
        constant = not any(isinstance(value, Affine | Scores | Levels | Hidden) for value in given)
        if standard and constant and folding.can_fold(node) and definition(node.op_type, self.graph.opset):
            return folding.fold
        message, fix = f"operator {name} is not supported", f"rewrite or remove it; these are read: {READ}"
        known = onnx_refused.reason(node.op_type, node.domain)
        if known is not None:
            message, fix = f"{message}: {known[0]}", known[1]
        for source, value in zip(node.input, given, strict=True):
            if isinstance(value, Affine | Scores) and source not in {one.name for one in self.graph.inputs}:
                fix += f"; or compare what it is given: --network-output {source!r}"
                break
        raise self._error(message, node, fix, UnsupportedOperatorError)

    def _evaluate(self, operator: Operator, call: OperatorCall) -> Sequence[Value]:
        node = call.node
        try:
            call = self.roundoff.before(call)
            found = unary.recognised(call)
            together = common_factors.joined(call) if found is None else None
            if together is not None:
                return together  # nothing is seen through it, or its products would be made again
            results = operator(self.roundoff.plain(call)) if found is None else found
            results = self.roundoff.after(call, results, function=found is not None)
        except UnreadableError as error:
            raise self._error(error.message, node, error.fix) from error
        except OverflowError as error:
            raise self._error(f"{error}", node, "rescale the weights") from error
        except TooLargeError as error:
            raise self._error(f"{error}", node, SMALLER) from error
        except MALFORMED as error:
            fix = "export the model again; if onnxruntime runs it as it is, report this"
            raise self._error(f"the node cannot be read ({error})", node, fix) from error
        unary.remember(call, results)
        held_values.remember(call, results)
        return results

    def _check_output(self, result: Affine) -> None:
        declared = self.graph.output_shape
        fixed = [d for d in declared if isinstance(d, int)]
        if result.size == 0:
            raise self._error("the output is empty", None, "export the model again")
        if self.batch is None or not len(fixed) == len(declared) > 0:
            return
        if prod(fixed) * self.samples != result.size * self.batch:
            size = result.size // self.samples
            message = f"the output of shape {declared} is not {self.batch} samples of {size} outputs"
            raise self._error(message, None, "export the model with a batch size of 1")

    def _error(
        self, message: str, node: NodeProto | None, fix: str, cause: type[NetworkError] = NetworkError
    ) -> NetworkError:
        place = {} if node is None else {"node": name_of(node), "operator": node.op_type}
        return cause(self.graph.path, message, fix=fix, **place)
