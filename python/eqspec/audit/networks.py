"""Networks, read once more, from ONNX and .nnet files: their operators are done to Numbers.

What an operator does is told by onnx's own reference implementation, which is handed arrays of Numbers: it can add and
multiply them and put them in other places, and everything else it may try is refused. Only ReLU, normalisation and
Dropout (as they are in inference) and a final Softmax, before which the claim is, are done here. At a ReLU new units
begin. What is over other units than the last ones is refused, like what is not read: then there is no certificate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from .number import Float32, Number, numbers
from .rounding import Array, Refused

REFERENCE = {"Add", "Div", "Gemm", "MatMul", "Mul", "Sub"}
REFERENCE |= {"Flatten", "Gather", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
"""Operators that onnx's reference implementation does to Numbers."""


@dataclass(frozen=True)
class File:
    """A network file with the sha256 that the task names, over the normalised inputs of the task."""

    path: str
    content: bytes
    kind: type[Number]
    scale: tuple[Fraction, ...]  # it is given scale x + shift
    shift: tuple[Fraction, ...]
    sizes: tuple[float, ...]  # of what it is given, at most; where nothing can overflow, 0
    negated: bool  # where the smallest score decides
    outputs: int

    @lru_cache(maxsize=2)  # noqa: B019 - for many certificates about one pair
    def layers(self) -> list[Array]:
        """The affine maps between the ReLUs (2, m, n + 1): exact rationals, and how far a runtime is off them.

        Constants are in the last column.
        """
        found: list[Array] = []

        def add(values: Array) -> None:
            exact, missing = layer = np.full((2, values.size, units[-1] + 1), 0, object)
            for i, value in enumerate(values.ravel()):
                gamma = value.gamma
                for unit, (c, a) in value.terms.items():
                    level, j = unit or (len(found), units[-1])
                    if level != len(found):
                        raise Refused(f"{self.path}: an operator reads what was before a ReLU")
                    exact[i, j] = c
                    if gamma:
                        missing[i, j] = gamma * a
            found.append(layer)

        def relu(values: Array) -> Array:
            add(values)
            sizes = [1.001 * value.size for value in values.ravel()]  # gamma, and the rounding of size itself
            units.append(len(sizes))
            return _array([self.kind.computed((len(found), i), s) for i, s in enumerate(sizes)]).reshape(values.shape)

        units, given = [len(self.scale)], []
        for i, (scale, shift, size) in enumerate(zip(self.scale, self.shift, self.sizes, strict=True)):
            constant = {None: (shift, self.kind.lost(abs(shift)))} if self.kind.lost(abs(shift)) else {}
            given.append(self.kind({(0, i): (scale, abs(scale))} | constant, self.kind.rounds, size))
        run = _nnet if self.path.lower().endswith(".nnet") else _onnx
        result = np.ravel(run(self, _array(given), relu))
        if len(result) != self.outputs or not all(isinstance(value, Number) for value in result):
            raise Refused(f"{self.path} has {len(result)} outputs, the task {self.outputs}")
        add(-result if self.negated else result)
        return found

    def at(self, point: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """Between which numbers the outputs are at an exact point; over the reals exactly, but for square roots."""
        centre, radius = np.array(point, object), np.full(len(point), Fraction(0))
        for number, (exact, missing) in enumerate(self.layers()):
            if number:  # the last ReLU
                low, high = (np.maximum(end, 0 * end) for end in (centre - radius, centre + radius))
                centre, radius = (low + high) / 2, (high - low) / 2
            off = _times(np.abs(exact[:, :-1]), radius) + _times(missing, np.append(np.abs(centre) + radius, 1))
            centre, radius = _times(exact, np.append(centre, 1)), off
        return [(c - r, c + r) for c, r in zip(centre, radius, strict=True)]


def _times(matrix: Array, vector: Array) -> Array:
    """Their exact product, in integers: sums of Fractions would be reduced at every step."""
    (rows, p), (column, q) = _whole(matrix), _whole(vector)
    return _array([Fraction(x, p * q) for x in rows @ column])


def _whole(values: Array) -> tuple[Array, int]:
    """Integers, and what they are to be divided by."""
    common = lcm(*(x.denominator for x in values.flat))
    return np.asarray(np.frompyfunc(lambda x: x.numerator * (common // x.denominator), 1, 1)(values)), common


def network(task: dict[str, Any], role: str, folder: Path) -> File:
    """The network of a task, at its path or by its name in `folder`."""
    data, space, region = task[role], task["space"], task["region"]
    places = (Path(data["path"]), folder / data["path"], folder / Path(data["path"]).name)
    path = next((place for place in places if place.exists()), places[0])
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() != data["sha256"]:
        raise Refused(f"{path} is not the file that the proof is about: its sha256 differs")
    kinds, raw, count = {"real": Number, "float32": Float32}, data["takes"] == "raw", len(space["features"])
    kind = kinds[task.get("arithmetic", "real")]
    given = (space["std_exact"], space["mean_exact"]) if raw else ((1,) * count, (0,) * count)
    scale, shift = (tuple(map(Fraction, part)) for part in given)
    ends = [
        tuple(a * Fraction(x) + b for a, x, b in zip(scale, region[name], shift, strict=True))
        for name in ("lo_exact", "hi_exact")
    ]
    sizes = tuple(1.001 * float(max(map(abs, pair))) if kind is Float32 else 0.0 for pair in zip(*ends, strict=True))
    negated = task["property"]["kind"] == "top1" and task["property"]["decide"] == "min"
    return File(str(path), content, kind, scale, shift, sizes, negated, len(space["outputs"]))


def _array(values: list[Any]) -> Array:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _nnet(file: File, value: Array, relu: Callable[[Array], Array]) -> Array:
    """Sizes, widths, five lines that are not applied, then per layer its rows and its biases."""
    lines = [line for line in file.content.decode("ascii").splitlines() if line.strip() and line.strip()[:2] != "//"]
    fields = [[f.strip() for f in line.strip().removesuffix(",").split(",")] for line in lines]
    widths, stored, at = [int(f) for f in fields[1]], np.array([float(f) for line in fields[7:] for f in line]), 0
    if widths[0] != len(value) or len(widths) != int(fields[0][0]) + 1:
        raise Refused(f"{file.path}: its sizes do not fit")
    for layer, (n, m) in enumerate(pairwise(widths)):
        weight, bias = (numbers(file.kind, part) for part in np.split(stored[at : at + n * m + m], [n * m]))
        value, at = weight.reshape(m, n) @ (relu(value) if layer else value) + bias.reshape(m), at + n * m + m
    if at != len(stored):
        raise Refused(f"{file.path}: text after the last layer")
    return value


def _onnx(file: File, value: Array, relu: Callable[[Array], Array]) -> Array:
    def stored(tensor: onnx.TensorProto) -> Array:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise Refused(f"{file.path}: its weights are in other files, which no sha256 covers")
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind not in "fiu" or (array.dtype.itemsize < 4 and file.kind is Float32):
            raise Refused(f"{file.path}: a constant is of a type that the auditor does not read")
        return numbers(file.kind, array.astype(np.float64)) if array.dtype.kind == "f" else array

    model = onnx.load_model_from_string(file.content)
    if model.functions or min(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < 7:
        raise Refused(f"{file.path}: the auditor reads plain graphs of opset 7 or newer")
    values = {tensor.name: stored(tensor) for tensor in model.graph.initializer}
    (given,), (result,) = [i for i in model.graph.input if i.name not in values], model.graph.output
    shape = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
    values[given.name] = value.reshape([1, *shape[1:]] if int(np.prod(shape[1:])) == value.size else shape)
    for node in model.graph.node:
        kind, attributes = node.op_type, {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        operands = [values[name] for name in node.input if name]
        if node.domain not in ("", "ai.onnx") or len(node.output) != 1:
            raise Refused(f"{file.path}: the auditor does not read {kind} {node.name!r} of {node.domain!r}")
        if kind == "Relu":
            done = relu(operands[0])
        elif kind == "Constant" and set(attributes) == {"value"}:
            done = stored(attributes["value"])
        elif kind == "Identity" or (kind == "Dropout" and len(operands) <= 2):
            done = operands[0]
        elif kind == "BatchNormalization" and set(attributes) <= {"epsilon", "momentum"} and operands[0].ndim > 1:
            done = _normalised(operands, attributes.get("epsilon", float(np.float32(1e-5))))
        elif kind.endswith("Softmax") and node.output[0] == result.name:
            done = operands[0]
            if attributes.get("axis", -1) not in (-1, done.ndim - 1) or done.size != done.shape[-1]:
                raise Refused(f"{file.path}: a Softmax that is not over all outputs")
        elif kind in REFERENCE:
            done = _by_reference(node, model.opset_import, operands)
        else:
            raise Refused(f"{file.path}: the auditor does not read {kind} {node.name!r}")
        values[node.output[0]] = np.asarray(done)
    return values[result.name]


def _normalised(operands: list[Array], epsilon: float) -> Array:
    """BatchNormalization in inference, channels on axis 1."""
    shape = (-1, *[1] * (operands[0].ndim - 2))
    scale, shift, mean, variance = (v.reshape(shape) for v in operands[1:])
    return np.asarray((operands[0] - mean) * (scale / np.sqrt(variance + epsilon)) + shift)


def _by_reference(node: onnx.NodeProto, opsets: Any, operands: list[Array]) -> Array:
    inputs = dict(zip([name for name in node.input if name], operands, strict=True))
    given, got = ([onnx.helper.make_value_info(n, onnx.TypeProto()) for n in names] for names in (inputs, node.output))
    graph = onnx.helper.make_graph([node], "one", given, got)
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (result,) = ReferenceEvaluator(model).run(None, inputs)
    return np.asarray(result)
