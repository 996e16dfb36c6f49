"""Networks, read once more: chains of affine maps and ReLU from ONNX files, every number exact.

An affine map is a matrix (m, n) and a vector (m,) of rationals; until the first product the matrix is a diagonal (n,).
An operator that is not read here is refused: then there is no certificate, but never a wrong one.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from .rounding import TINY, Array, U, up

Rationals: TypeAlias = NDArray[Any]
Exact: TypeAlias = "list[tuple[Rationals, Rationals]]"


class Refused(Exception):  # noqa: N818 - the word for what happens to a certificate
    """Why a certificate is not accepted."""


def rational(numbers: Any) -> Rationals:
    """Each number as a Fraction."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers), object)


@lru_cache(maxsize=8)
def read(path: str, sha256: str) -> Exact:
    """The layers of a file, which must be the one with this hash."""
    content = Path(path).read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Refused(f"{path} is not the file that the proof is about: its sha256 differs")
    if not path.lower().endswith(".onnx"):
        raise Refused(f"{path}: the auditor reads ONNX files only")
    graph = onnx.shape_inference.infer_shapes(onnx.load_model_from_string(content), strict_mode=True).graph
    sizes = {v.name: _size(v) for v in [*graph.value_info, *graph.output]}
    known = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    (given,) = [i for i in graph.input if i.name not in known]
    if len(graph.output) != 1:
        raise Refused(f"{path} has several outputs")
    size = _size(given)
    layers: Exact = []
    now = given.name
    weight, bias = rational(np.ones(size)), rational(np.zeros(size))
    for node in graph.node:
        kind = node.op_type
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        if kind == "Constant":
            known[node.output[0]] = numpy_helper.to_array(attributes["value"])
            continue
        if kind == "Cast" and node.input[0] in known:
            to = onnx.helper.tensor_dtype_to_np_dtype(attributes["to"])
            known[node.output[0]] = known[node.input[0]].astype(to)
            continue
        operands = [_numbers(known[name]) if name in known else None for name in node.input if name]
        if now not in node.input or sum(o is None for o in operands) != 1 or now == graph.output[0].name:
            raise Refused(f"{path}: {kind} {node.name!r} is not part of a chain")
        first = node.input[0] == now
        other = next((o for o in operands if o is not None), None)
        if kind in ("Flatten", "Reshape", "Identity", "Dropout", "Softmax", "LogSoftmax"):
            at_end = node.output[0] == graph.output[0].name
            if (kind.endswith("Softmax") and not at_end) or (kind == "Dropout" and len(operands) > 2):
                raise Refused(f"{path}: the auditor does not read {kind} {node.name!r} here")
        elif kind == "Relu":
            layers.append((weight if weight.ndim == 2 else np.diag(weight), bias))
            weight, bias = rational(np.ones(bias.size)), rational(np.zeros(bias.size))
        elif kind == "Gemm" and first and other is not None:
            if attributes.get("alpha", 1.0) != 1.0 or attributes.get("beta", 1.0) != 1.0 or attributes.get("transA", 0):
                raise Refused(f"{path}: Gemm {node.name!r} scales or transposes its input")
            matrix = other if attributes.get("transB", 0) else other.T
            weight, bias = _product(matrix, weight), matrix.dot(bias)
            if len(operands) > 2:
                bias = bias + _vector(operands[2], bias.size, path)
        elif kind == "MatMul" and other is not None and other.ndim == 2:
            matrix = other.T if first else other
            weight, bias = _product(matrix, weight), matrix.dot(bias)
        elif kind in ("Add", "Sub", "Mul", "Div") and other is not None and (first or kind in ("Add", "Mul")):
            vector = _vector(other, bias.size, path)
            if kind in ("Add", "Sub"):
                bias = bias + vector if kind == "Add" else bias - vector
            else:
                factor = vector if kind == "Mul" else Fraction(1) / vector
                weight, bias = (weight * factor if weight.ndim == 1 else weight * factor[:, None]), bias * factor
        else:
            raise Refused(f"{path}: the auditor does not read {kind} {node.name!r}")
        now = node.output[0]
        if sizes.get(now) != bias.size:
            raise Refused(f"{path}: {kind} {node.name!r} gives {sizes.get(now)} numbers, not {bias.size}")
    if now != graph.output[0].name:
        raise Refused(f"{path}: the output is not the end of the chain")
    return [*layers, (weight if weight.ndim == 2 else np.diag(weight), bias)]


def _size(value: onnx.ValueInfoProto) -> int:
    """How many numbers a value has for one sample; open sizes are batches."""
    return int(np.prod([d.dim_value or 1 for d in value.type.tensor_type.shape.dim]))


def _numbers(array: Rationals) -> Rationals:
    if array.dtype.kind != "f":
        return array
    if not np.isfinite(array).all():
        raise Refused("a weight is not finite")
    return rational(array.astype(np.float64)).reshape(array.shape)


def _product(matrix: Rationals, weight: Rationals) -> Rationals:
    return matrix * weight[None, :] if weight.ndim == 1 else matrix.dot(weight)


def _vector(array: Rationals | None, size: int, path: str) -> Rationals:
    if array is None or array.size not in (1, size) or array.dtype != object:
        raise Refused(f"{path}: a constant does not fit {size} values")
    return array.reshape(-1) if array.size == size else np.repeat(array.reshape(-1), size)


def network(task: dict[str, Any], role: str, folder: Path) -> Exact:
    """The network of a task over normalised inputs, with scores turned round where the smallest one decides."""
    data, space = task[role], task["space"]
    places = (Path(data["path"]), folder / data["path"], folder / Path(data["path"]).name)
    path = str(next((place for place in places if place.exists()), places[0]))
    try:
        layers = list(read(path, data["sha256"]))
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    if data["takes"] == "raw":  # raw = mean + std x
        weight, bias = layers[0]
        layers[0] = (weight * rational(space["std_exact"]), bias + weight.dot(rational(space["mean_exact"])))
    if task["property"]["kind"] == "top1" and task["property"]["decide"] == "min":
        layers[-1] = (-layers[-1][0], -layers[-1][1])
    if layers[0][0].shape[1] != len(space["features"]) or layers[-1][1].size != len(space["outputs"]):
        raise Refused(f"{path} has other inputs or outputs than the task says")
    return layers


class Layer:
    """One affine map as floats: weight (m, n), bias (m,), and how far the exact numbers may lie from them."""

    def __init__(self, weight: Rationals, bias: Rationals) -> None:
        self.weight, self.weight_error = _floats(weight)
        self.bias, self.bias_error = _floats(bias)
        self.absolute = np.abs(self.weight)
        self.zero: Array = np.asarray((self.weight == 0.0).all(axis=1) & (self.weight_error == 0.0).all(axis=1))

    def __eq__(self, other: object) -> bool:
        """Whether both are exact and the same."""
        if not isinstance(other, Layer):
            return NotImplemented
        off = (self.weight_error, self.bias_error, other.weight_error, other.bias_error)
        same = np.array_equal(self.weight, other.weight) and np.array_equal(self.bias, other.bias)
        return same and not any(error.any() for error in off)

    __hash__ = None  # type: ignore[assignment]


def _floats(numbers: Rationals) -> tuple[Array, Array]:
    """The nearest floats, and zeros where they are exact, else a bound of what is missing."""
    floats = numbers.astype(np.float64)
    error: Array = np.where(rational(floats) == numbers, 0.0, up(2.0 * U * np.abs(floats)) + TINY)
    return floats, error


class Pair:
    """Two networks in step: `first`, `second` layer by layer, and the differences of weights and biases."""

    def __init__(self, first: Exact, second: Exact) -> None:
        depth = max(len(first), len(second))
        chains = [_deepen(first, depth), _deepen(second, depth)]
        widths = [first[0][0].shape[1], *(max(a[1].size, b[1].size) for a, b in zip(*chains, strict=True))]
        wide = [[_padded(w, b, r, c) for (w, b), r, c in zip(x, widths[1:], widths, strict=False)] for x in chains]
        self.first, self.second = ([Layer(*layer) for layer in chain] for chain in wide)
        self.inputs, self.outputs, self.depth = widths[0], widths[-1], depth
        self.weight = [a.weight - b.weight for a, b in zip(self.first, self.second, strict=True)]
        self.bias = [a.bias - b.bias for a, b in zip(self.first, self.second, strict=True)]
        self.identical = self.first == self.second


def _deepen(layers: Exact, depth: int) -> Exact:
    """Identity layers after the last ReLU, where no value is negative; before them relu(y) - relu(-y) = y."""
    if len(layers) == 1 and depth > 1:
        (weight, bias), one = layers[0], rational(np.eye(layers[0][1].size))
        split = (np.concatenate([weight, -weight]), np.concatenate([bias, -bias]))
        layers = [split, (np.concatenate([one, -one], axis=1), 0 * bias)]
    width = layers[-1][0].shape[1]
    between = [(rational(np.eye(width)), rational(np.zeros(width)))] * (depth - len(layers))
    return [*layers[:-1], *between, layers[-1]]


def _padded(weight: Rationals, bias: Rationals, rows: int, columns: int) -> tuple[Rationals, Rationals]:
    """Zero rows, whose outputs nothing reads, and the zero columns that read them."""
    wide, long = rational(np.zeros((rows, columns))), rational(np.zeros(rows))
    wide[: bias.size, : weight.shape[1]], long[: bias.size] = weight, bias
    return wide, long
