"""An original file in onnxruntime, one point at a time.

Shapes: x (I,) is rounded to the type of the file's input and laid out in the file's own input shape; where that
fixes a batch size the point is repeated, and the first answer counts. A trailing softmax is passed over: its input
is read.

onnxruntime rewrites a model when it loads it, and what it puts in place of the model's nodes may answer something else.
So a file is run node by node as it stands, and with the rewriting only where it is asked what that answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from eqspec.networks.network import Network

_MOST_NUMBERS = 100_000_000
"""Of a repeated input; a file with a larger fixed batch is not run."""
_MOST_ANSWERED = 1 << 24
"""Of the answers to a repeated input."""
_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}


class CannotRunError(Exception):
    """A file cannot be run at a single point; the message says why."""


class Session:
    """An original file in an inference session; CannotRunError where onnxruntime does not take it.

    With `rewritten` onnxruntime may optimise the model as it does by default, else it runs the nodes of the file.
    """

    def __init__(self, network: Network, *, rewritten: bool = False) -> None:
        self._name, self._size, self._outputs = network.source, network.input_size, network.output_size
        given = _given(network)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if not rewritten:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self._wanted: list[str] | None
        try:
            model, self._wanted = _without_softmax(given, network.output_name) if network.stripped else (given, None)
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            filled = {i.name for i in self._session.get_overridable_initializers()}
            (self._input,) = [i for i in self._session.get_inputs() if i.name not in filled]
        except Exception as error:
            raise CannotRunError(f"onnxruntime does not load {network.source}: {_first_line(error)}") from error
        if self._input.type not in _TYPES:
            raise CannotRunError(f"{network.source} takes {self._input.type}")
        self.kind = np.dtype(_TYPES[self._input.type])
        self._shape = self._single(self._input.shape)
        self.samples = math.prod(self._shape) // self._size
        """How many points are run at once."""

    def _single(self, shape: Sequence[int | str | None]) -> tuple[int, ...]:
        """The shape to feed: unknown sizes are 1, or what is missing to hold the point if there is just one of them."""
        known = [size if isinstance(size, int) and size > 0 else None for size in shape]
        product = math.prod(size for size in known if size is not None)
        if known.count(None) == 1 and product and self._size % product == 0:
            fed = tuple(self._size // product if size is None else size for size in known)
        else:
            fed = tuple(size or 1 for size in known)
        numbers = math.prod(fed)
        if numbers % self._size or (numbers > self._size and math.prod(fed[1:]) != self._size):
            raise CannotRunError(
                f"{self._name} takes shape {list(shape)}, which does not hold one point of {self._size}"
            )
        if numbers > _MOST_NUMBERS or numbers // self._size * self._outputs > _MOST_ANSWERED:
            raise CannotRunError(f"{self._name} takes {fed[0]} points at once")
        return fed

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
        """Everything that is answered where a point (I,) is fed `samples` times, flat."""
        given = point if isinstance(point, np.ndarray) else np.array([float(x) for x in point], np.float64)
        with np.errstate(over="ignore"):
            single = given.astype(self.kind)
        # np.resize repeats the point along a fixed batch
        fed = single.reshape(self._shape) if self.samples == 1 else np.resize(single, self._shape)
        try:
            answer: Any = self._session.run(self._wanted, {self._input.name: fed})[0]
        except Exception as error:
            raise CannotRunError(f"onnxruntime does not run {self._name}: {_first_line(error)}") from error
        return np.asarray(answer, np.float64).reshape(-1)


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


def _without_softmax(given: str | bytes, output: str) -> tuple[bytes, list[str]]:
    """The model with the input of its last softmax as an output, and the name of that output."""
    model = onnx.load_from_string(given) if isinstance(given, bytes) else onnx.load(given)
    outputs = {o.name for o in model.graph.output}
    makers = {name: node for node in model.graph.node for name in node.output}
    node = makers[output if output in outputs else model.graph.output[0].name]
    while node.op_type not in ("Softmax", "LogSoftmax"):  # what stands behind it keeps the order of its numbers
        node = makers[node.input[0]]
    model.graph.output.append(onnx.ValueInfoProto(name=node.input[0]))
    return model.SerializeToString(), [node.input[0]]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
