"""An original file in onnxruntime, one point at a time.

Shapes: x (I,) is cut into the file's inputs, each rounded to its type and laid out in its own shape; where that fixes a
batch size the point is repeated, and the first answer counts; points (N, I) of a batch may be given as well. An input
that does not reach the output is fed zeros. A trailing softmax is passed over: its input is read.

onnxruntime rewrites a model when it loads it, and what it puts in place of the model's nodes may answer something else.
So a file is run node by node as it stands, and with the rewriting only where it is asked what that answers. A file
whose products of bytes this processor cuts off is not run (`pair_saturation`). Where a softmax is passed over that is
written out in the file, or the result of a file is no tensor, what is run is the model as it was made ready to be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from eqspec.errors import NetworkError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import pair_saturation
from eqspec.networks.expansion import blocks
from eqspec.networks.network import Network, Port
from eqspec.networks.readers import onnx_model
from eqspec.networks.readers.onnx_ends import all_nodes

_MOST_NUMBERS = 100_000_000
"""The most numbers of a repeated input; a file with a larger fixed batch is not run."""
_MOST_ANSWERED = 1 << 24
"""The most numbers of the answers to a repeated input."""
_TYPES: dict[str, type[np.generic]] = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
    "tensor(int8)": np.int8, "tensor(int16)": np.int16, "tensor(int32)": np.int32, "tensor(int64)": np.int64,
    "tensor(uint8)": np.uint8, "tensor(uint16)": np.uint16, "tensor(uint32)": np.uint32, "tensor(uint64)": np.uint64,
    "tensor(bool)": np.bool_,
}  # fmt: skip
_TABLES = (b"QLinearSigmoid", b"QLinearLeakyRelu")
_OF_ANY_NUMBER = (b"Einsum", b"Max", b"Mean", b"Min", b"Sum")
_SOFTMAX = ("Softmax", "LogSoftmax")
_UNKNOWN_OPERATOR = re.compile(r"(\S+)\(-?\d+\) is not a registered function/op")


class CannotRunError(Exception):
    """A file cannot be run at a single point; the message says why."""


@dataclass(frozen=True)
class _Fed:
    """An input of the file: the entries of the point that it takes, how they are stored and laid out."""

    name: str
    entries: slice
    kind: np.dtype[Any]
    shape: tuple[int, ...]
    open_axis: int | None = None
    """The one that was read at one entry, as the file leaves it open."""


class Session:
    """An original file in an inference session; CannotRunError where onnxruntime does not take it.

    With `rewritten` onnxruntime may optimise the model as it does by default, else it runs the nodes of the file.
    `like` is another session of it: where that runs the file as it stands, it is not made ready once more.
    """

    def __init__(self, network: Network, *, rewritten: bool = False, like: Session | None = None) -> None:
        self._name, self._size, self._outputs = network.source, network.input_size, network.output_size
        self._ready: list[str] | None
        """What the file is asked for where it is run as it stands."""
        given = _given(network)
        if network.in_pairs and pair_saturation.here():
            raise CannotRunError(f"{network.source} multiplies bytes, whose sums this processor cuts off at 16 bits")
        # Not needed where all comparisons were made before.
        from eqspec.networks.without_telemetry import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if not rewritten:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            model, wanted = _runnable(network, given) if like is None or like._ready is None else (given, like._ready)
            self._wanted, self._ready = wanted, wanted if model is given else None
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            filled = {i.name for i in self._session.get_overridable_initializers()}
            inputs = [i for i in self._session.get_inputs() if i.name not in filled]
        except Exception as error:
            said = _first_line(error)
            if (unknown := _UNKNOWN_OPERATOR.search(said)) is not None:
                raise CannotRunError(
                    f"{network.source} has the operator {unknown[1]}, which it does not know"
                ) from error
            raise CannotRunError(f"onnxruntime does not load {network.source}: {said}") from error
        wrong = next((i.type for i in inputs if i.type not in _TYPES), None)
        if wrong is not None:
            raise CannotRunError(f"{network.source} takes {wrong}")
        self._fed, self._others = self._inputs(network, inputs)
        counts = {math.prod(fed.shape) // (fed.entries.stop - fed.entries.start) for fed in self._fed}
        if len(counts) != 1:
            raise CannotRunError(f"{network.source} takes inputs of several batch sizes")
        self.samples = counts.pop()
        """How many points are run at once."""

    def _inputs(self, network: Network, inputs: Sequence[Any]) -> tuple[list[_Fed], dict[str, NDArray[Any]]]:
        """The inputs that take entries of the point, and zeros for all others."""
        ports = network.ports or (Port(inputs[0].name if len(inputs) == 1 else "", (), self._size),)
        found, fed, begin = {i.name: i for i in inputs}, list[_Fed](), 0
        for port in ports:
            if port.name not in found:
                raise CannotRunError(f"{self._name} has no input {port.name!r} in onnxruntime")
            here = found.pop(port.name)
            shape = self._single(_with_sizes(here.shape, port.shape), port.size)
            kind = np.dtype(_TYPES[here.type])
            axis = next((i for i, d in enumerate(port.shape) if isinstance(d, str)), None)
            fed.append(_Fed(port.name, slice(begin, begin + port.size), kind, shape, axis))
            begin += port.size
        others = dict[str, NDArray[Any]]()
        for name, other in found.items():
            shape = tuple(size if isinstance(size, int) and size > 0 else 1 for size in other.shape)
            if math.prod(shape) > _MOST_NUMBERS:
                raise CannotRunError(f"{self._name} takes shape {list(shape)} in {name!r}")
            others[name] = np.zeros(shape, _TYPES[other.type])
        return fed, others

    def _single(self, shape: Sequence[int | str | None], taken: int) -> tuple[int, ...]:
        """The shape to feed: unknown sizes are 1, or what is missing to hold the point if there is just one of them."""
        known = [size if isinstance(size, int) and size > 0 else None for size in shape]
        product = math.prod(size for size in known if size is not None)
        if known.count(None) == 1 and product and taken % product == 0:
            fed = tuple(taken // product if size is None else size for size in known)
        else:
            fed = tuple(size or 1 for size in known)
        numbers = math.prod(fed)
        if numbers % taken or (numbers > taken and math.prod(fed[1:]) != taken):
            raise CannotRunError(f"{self._name} takes shape {list(shape)}, which does not hold one point of {taken}")
        if numbers > _MOST_NUMBERS or numbers // taken * self._outputs > _MOST_ANSWERED:
            raise CannotRunError(f"{self._name} takes {fed[0]} points at once")
        return fed

    @property
    def takes_integers(self) -> bool:
        """Whether one of its inputs holds integers."""
        return any(fed.kind.kind in "iu" for fed in self._fed)

    def rounded(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (N, I) as the types of the inputs hold them."""
        made = points.copy()
        for fed in self._fed:
            part = points[:, fed.entries]
            if fed.kind.kind in "iu":
                limits = np.iinfo(fed.kind)
                part = np.clip(np.rint(part), max(limits.min, -(2.0**53)), min(limits.max, 2.0**53))
            elif fed.kind.kind == "b":
                part = np.clip(np.rint(part), 0.0, 1.0)
            made[:, fed.entries] = part.astype(fed.kind).astype(np.float64)
        return made

    def run(self, point: Sequence[Fraction] | NDArray[np.float64]) -> NDArray[np.float64]:
        """The outputs (O,) at a point (I,) in the units the file takes, as float64."""
        outputs = self.answers(point)
        if outputs.size < self._outputs or outputs.size % self._outputs:
            raise CannotRunError(f"{self._name} answers {outputs.size} numbers instead of {self._outputs}")
        outputs = outputs[: self._outputs]
        if not np.isfinite(outputs).all():
            raise CannotRunError(f"{self._name} answers {outputs.tolist()}, not all of them finite")
        return outputs

    def answers(self, point: Sequence[Fraction] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Everything that is answered, flat, where a point (I,) is fed `samples` times, or points (N, I) in turn."""
        given = point if isinstance(point, np.ndarray) else np.array([float(x) for x in point], np.float64)
        with np.errstate(over="ignore"):
            fed = {one.name: self._laid_out(one, given[..., one.entries]) for one in self._fed}
        return self._answered(fed)

    def side_by_side(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Everything that is answered, flat, to points (N, I) as entries along the open axes.

        An input without an open axis is that of the first point.
        """
        fed = dict[str, NDArray[Any]]()
        for one in self._fed:
            parts = [self._laid_out(one, point[one.entries]) for point in points]
            fed[one.name] = parts[0] if one.open_axis is None else np.concatenate(parts, axis=one.open_axis)
        return self._answered(fed)

    def sharing(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The points (N, I), each with what the first has in inputs without an open axis."""
        made = points.copy()
        for one in self._fed:
            if one.open_axis is None:
                made[:, one.entries] = points[0, one.entries]
        return made

    def _answered(self, fed: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        try:
            answer: Any = self._session.run(self._wanted, fed | self._others)[0]
        except Exception as error:
            raise CannotRunError(f"onnxruntime does not run {self._name}: {_first_line(error)}") from error
        return np.asarray(answer, np.float64).reshape(-1)

    def _laid_out(self, fed: _Fed, given: NDArray[np.float64]) -> NDArray[Any]:
        if fed.kind.kind in "iub" and (given != self._whole(fed, given)).any():
            raise CannotRunError(f"{self._name} takes whole numbers in {fed.name!r}, and these are none")
        single = given.astype(fed.kind)
        # np.resize repeats the points along a fixed batch
        return single.reshape(fed.shape) if single.size == math.prod(fed.shape) else np.resize(single, fed.shape)

    def _whole(self, fed: _Fed, given: NDArray[np.float64]) -> NDArray[np.float64]:
        if fed.kind.kind == "b":
            return np.asarray((given != 0).astype(np.float64))
        limits = np.iinfo(fed.kind)
        return np.clip(np.rint(given), max(limits.min, -(2.0**53)), min(limits.max, 2.0**53))


def _with_sizes(shape: Sequence[int | str | None], read: Sequence[int | str]) -> Sequence[int | str | None]:
    """The shape of an input in onnxruntime, with the sizes that it was read with in place of open ones."""
    if len(shape) != len(read):
        return shape if shape else list(read)
    return [a if isinstance(a, int) and a > 0 else b for a, b in zip(shape, read, strict=True)]


def _given(network: Network) -> str | bytes:
    """The path of its file, or the model itself if it came from memory."""
    if network.content is not None:
        return network.content
    path = Path(network.source)
    if path.suffix.lower() != ".onnx":
        raise CannotRunError(f"{network.source} is not an ONNX file")
    if not path.is_file():
        raise CannotRunError(f"there is no file {network.source}")
    return str(path)


def _runnable(network: Network, given: str | bytes) -> tuple[str | bytes, list[str] | None]:
    """What to run, and the name of what it answers (None: the only output)."""
    content = given if isinstance(given, bytes) else Path(given).read_bytes()
    if (node := may_end_the_process(content)) is not None:
        raise CannotRunError(f"{network.source} has {node}, which may end the process of onnxruntime")
    try:
        ready = onnx_model.ready(network.source, content, network.chosen, network.dequantised)
    except NetworkError as error:
        raise CannotRunError(f"{network.source} cannot be read: {error.message}") from error
    if not network.stripped and ready.original:
        return given, [ready.output]
    model = ready.model
    wanted = _scores(model, ready.output) if network.stripped else ready.output
    in_blocks = any(node.domain == blocks.DOMAIN for node in model.graph.node)
    # What is written out in `model` may be written with operators that no runtime has, and blocks of channels are only
    # half written out there: then values in blocks would be mixed with plain ones.
    if in_blocks or (network.stripped and ready.original):
        file = onnx.load_model_from_string(content)
        if any(wanted in node.output for node in file.graph.node):
            model = file
        elif in_blocks:
            raise CannotRunError(f"{network.source} has no value {wanted!r} in its blocks of channels")
    if in_blocks or network.stripped:
        model.graph.output.append(onnx.ValueInfoProto(name=wanted))
    if not isinstance(given, bytes):
        onnx.load_external_data_for_model(model, str(Path(given).parent))
    for node in model.graph.node:  # those that stand for one node of the file have its name, which runtimes refuse
        node.name = ""
    return model.SerializeToString(), [wanted]


def may_end_the_process(content: bytes) -> str | None:
    """A node of a model, needed or not and at any depth, at which some builds of onnxruntime end the process, in words.

    Of onnxruntime 1.32: Unique along an axis divides by zero where there are no numbers, which is not always known
    before; functions by tables and QLinearConcat look for a zero point that is left out where there is nothing, and
    operators of any number of inputs for such an input, and DFT for an axis that has an empty name; a Split takes
    `num_outputs` for how many outputs it has.
    """
    if not any(name in content for name in (b"Unique", *_TABLES, b"QLinearConcat", *_OF_ANY_NUMBER, b"Split", b"DFT")):
        return None
    model = onnx.load_model_from_string(content)
    for node in all_nodes(chain(model.graph.node, *(function.node for function in model.functions))):
        if node.op_type == "Unique" and any(a.name == "axis" for a in node.attribute):
            return "a Unique along an axis"
        table = node.op_type.encode() in _TABLES and len(node.input) < 5
        if table or (node.op_type == "QLinearConcat" and "" in node.input):
            return f"a {node.op_type} without a zero point"
        if (node.op_type.encode() in _OF_ANY_NUMBER and "" in node.input) or (
            node.op_type == "DFT" and "" in node.input[2:]
        ):
            return f"a {node.op_type} with an input that is left out"
        if any(a.name == "num_outputs" and a.i < len(node.output) for a in node.attribute):
            return f"a {node.op_type} with more outputs than it says"
    return None


def _scores(model: onnx.ModelProto, output: str) -> str:
    """What goes into the softmax that an output comes out of, whatever moves its numbers in between."""
    makers = {name: node for node in model.graph.node for name in node.output}
    node = makers[output]
    while node.op_type not in _SOFTMAX:
        node = makers[node.input[0]]
    return str(node.input[0])


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
