"""Networks, read once more, from ONNX and .nnet files: what each operator does to values that are affine in units.

A value is a Ball with the shape of the tensor and one axis more: its coefficients over the n units (the inputs, later
what the last ReLU gave), then its constant. What moves entries moves the coefficients along; adding a constant changes
the last coefficient alone, multiplying changes all. With n = 0 the same code evaluates a network at a point. At a ReLU
everything before is forgotten, so that nothing over other units can be used. What is not read here, an attribute
included, is refused: then there is no certificate, but never a wrong one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.helper import make_value_info
from onnx.reference import ReferenceEvaluator

from .ball import Ball
from .rounding import Array, Refused

READ = {"Add": "", "BatchNormalization": "epsilon momentum", "Constant": "value", "Div": "", "Dropout": "ratio seed"}
READ |= {"Gemm": "alpha beta transB", "Identity": "", "LogSoftmax": "axis", "MatMul": "", "Mul": "", "Relu": ""}
READ |= {"Softmax": "axis", "Sub": ""}
"""Operators that compute, and their attributes that are read."""
MOVES = ("Flatten", "Gather", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze")
"""Operators that pick entries: onnx's reference implementation tells where each one comes from."""


@dataclass(frozen=True)
class File:
    """The content of a network file with the sha256 that the task names, and what is put around it."""

    path: str
    content: bytes
    scale: list[str] | None
    shift: list[str] | None
    negated: bool
    inputs: int
    outputs: int

    def layers(self) -> list[Ball]:
        """The affine maps between the ReLUs, each (m, n + 1), its last column the constants."""
        found: list[Ball] = []

        def relu(value: Ball) -> Ball:
            found.append(value.move(lambda a: a.reshape(-1, a.shape[-1])))
            shape, size = value.c.shape[:-1], len(found[-1].c)
            return Ball(np.eye(size, size + 1).reshape(*shape, size + 1))

        relu(self._evaluate(Ball(np.eye(self.inputs, self.inputs + 1)), relu, exact=False))
        if not all(np.isfinite(layer.c).all() and np.isfinite(layer.r).all() for layer in found):
            raise Refused(f"{self.path}: its weights leave the range of floats")
        return found

    def at(self, point: list[Any]) -> Ball:
        """The outputs at an exact point, exactly (but for square roots): (O,)."""
        value = self._evaluate(Ball.of(point, True)[:, None], lambda v: Ball(np.maximum(v.c, 0 * v.c), v.r), exact=True)
        return value[:, 0]

    def _evaluate(self, value: Ball, relu: Callable[[Ball], Ball], *, exact: bool) -> Ball:
        if self.scale is not None and self.shift is not None:  # raw = scale x + shift
            scaled = value * Ball.of(self.scale, exact)[:, None]
            value = scaled + _constant(Ball.of(self.shift, exact), value)
        run = _nnet if self.path.lower().endswith(".nnet") else _onnx
        value = run(self, value, relu, lambda a: Ball.of(a, True) if exact else Ball(a))
        value = value.move(lambda a: a.reshape(-1, a.shape[-1]))
        if len(value.c) != self.outputs:
            raise Refused(f"{self.path} has {len(value.c)} outputs, the task {self.outputs}")
        return -value if self.negated else value


def network(task: dict[str, Any], role: str, folder: Path) -> File:
    """The network of a task over normalised inputs, with scores turned round where the smallest one decides."""
    data, space = task[role], task["space"]
    places = (Path(data["path"]), folder / data["path"], folder / Path(data["path"]).name)
    path = next((place for place in places if place.exists()), places[0])
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() != data["sha256"]:
        raise Refused(f"{path} is not the file that the proof is about: its sha256 differs")
    raw = data["takes"] == "raw"
    scale, shift = (space[name] if raw else None for name in ("std_exact", "mean_exact"))
    negated = task["property"]["kind"] == "top1" and task["property"]["decide"] == "min"
    return File(str(path), content, scale, shift, negated, len(space["features"]), len(space["outputs"]))


def _constant(c: Ball, value: Ball) -> Ball:
    """A constant as a value over the same units."""
    last = np.eye(1, value.c.shape[-1], value.c.shape[-1] - 1)[0]
    return c[..., None] * Ball(last.astype(int).astype(object) if c.c.dtype == object else last)


def _nnet(file: File, value: Ball, relu: Callable[[Ball], Ball], number: Callable[[Array], Ball]) -> Ball:
    """Sizes, widths, five lines that are not applied, then per layer its rows and its biases."""
    lines = [line for line in file.content.decode("ascii").splitlines() if line.strip() and line.strip()[:2] != "//"]
    fields = [[f.strip() for f in line.strip().removesuffix(",").split(",")] for line in lines]
    widths, numbers, at = [int(f) for f in fields[1]], np.array([float(f) for line in fields[7:] for f in line]), 0
    if widths[0] != file.inputs or len(widths) != int(fields[0][0]) + 1 or not np.isfinite(numbers).all():
        raise Refused(f"{file.path}: its sizes or numbers do not fit")
    for layer, (n, m) in enumerate(pairwise(widths)):
        weight, bias = numbers[at : at + n * m].reshape(m, n), numbers[at + n * m : at + n * m + m].reshape(m)
        value = number(weight) @ (relu(value) if layer else value)
        value, at = value + _constant(number(bias), value), at + n * m + m
    if at != len(numbers):
        raise Refused(f"{file.path}: text after the last layer")
    return value


def _onnx(file: File, value: Ball, relu: Callable[[Ball], Ball], number: Callable[[Array], Ball]) -> Ball:
    def stored(tensor: onnx.TensorProto) -> Any:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise Refused(f"{file.path}: its weights are in other files, which no sha256 covers")
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise Refused(f"{file.path}: a constant is not made of finite numbers")
        return number(array.astype(np.float64)) if array.dtype.kind == "f" else array

    model = onnx.load_model_from_string(file.content)
    if model.functions or min(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < 7:
        raise Refused(f"{file.path}: the auditor reads plain graphs of opset 7 or newer")
    graph = model.graph
    known = {t.name: stored(t) for t in graph.initializer}
    (given,), (result,) = [i for i in graph.input if i.name not in known], graph.output
    shape = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
    shape = [1, *shape[1:]] if int(np.prod(shape[1:])) == file.inputs else shape
    live = {given.name: value.move(lambda a: a.reshape(*shape, a.shape[-1]))}
    for node in graph.node:
        kind, given = node.op_type, [name for name in node.input if name]
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        plain = kind in MOVES or (kind in READ and set(attributes) <= set(READ[kind].split()))
        if node.domain not in ("", "ai.onnx") or len(node.output) != 1 or not plain:
            raise Refused(f"{file.path}: the auditor does not read {kind} {node.name!r}")
        if any(name not in live and name not in known for name in given):
            raise Refused(f"{file.path}: {kind} {node.name!r} reads what was before a ReLU, or nothing")
        operands, affine, into = [live.get(n) or known[n] for n in given], [n in live for n in given], node.output[0]
        if kind == "Constant":
            known[into] = stored(attributes["value"])
        elif kind in MOVES and not any(affine[1:]) and isinstance(operands[0], Ball):
            (live if affine[0] else known)[into] = _moved(node, model.opset_import, operands, int(affine[0]))
        elif kind in ("Identity", "Dropout") and len(operands) <= 2:
            (live if affine[0] else known)[into] = operands[0]
        elif kind == "Relu":
            live = {into: relu(live[given[0]])}
        elif kind.endswith("Softmax") and into == result.name:
            live[into] = _scores(live[given[0]], attributes.get("axis", -1))
        elif any(affine):
            live[into] = _apply(kind, attributes, operands, affine)
        else:
            raise Refused(f"{file.path}: the auditor does not compute {kind} of constants")
    return live[result.name]


def _scores(value: Ball, axis: int) -> Ball:
    """What a Softmax over all outputs is applied to; the claim is about these."""
    shape = value.c.shape[:-1]
    if axis not in (-1, len(shape) - 1) or int(np.prod(shape)) != shape[-1]:
        raise Refused("a Softmax that is not over all outputs")
    return value


def _apply(kind: str, a: dict[str, Any], given: list[Ball], live: list[bool]) -> Ball:
    """One operator on values and constants, at least one of which is a value."""
    first: Ball = given[0]
    if kind in ("Add", "Sub"):
        value = given[live.index(True)]
        x, y = (v if affine else _constant(v, value) for v, affine in zip(given, live, strict=True))
        return x + y if kind == "Add" else x + -y
    if kind in ("Mul", "Div") and live != [True, True] and (kind == "Mul" or live[0]):
        x, y = (v if affine else v[..., None] for v, affine in zip(given, live, strict=True))
        return x * y if kind == "Mul" else x * y.inverse()
    if kind == "MatMul" and live == [True, False] and given[1].c.ndim == 2:
        return given[1].move(np.transpose) @ first
    if kind == "MatMul" and live == [False, True] and first.c.ndim == 2 and given[1].c.ndim <= 3:
        value, shape = given[1], given[1].c.shape
        return (first @ value.move(lambda c: c.reshape(shape[0], -1))).move(lambda c: c.reshape(-1, *shape[1:]))
    if kind == "Gemm" and live[0] and not any(live[1:]) and first.c.ndim == 3:
        exact = first.c.dtype == object
        alpha, beta = (Ball.of(a.get(name, 1.0), exact) for name in ("alpha", "beta"))
        weight = given[1] if a.get("transB", 0) else given[1].move(np.transpose)
        product = (weight * alpha) @ first
        return product + _constant(given[2] * beta, product) if len(given) > 2 else product
    if kind == "BatchNormalization" and live == [True, False, False, False, False] and first.c.ndim > 2:
        shape = (-1, *[1] * (first.c.ndim - 3))
        scale, shift, mean, variance = (v.move(lambda c: c.reshape(shape)) for v in given[1:])
        epsilon = Ball.of(a.get("epsilon", float(np.float32(1e-5))), first.c.dtype == object)
        scaled = (first + _constant(-mean, first)) * (scale * (variance + epsilon).sqrt().inverse())[..., None]
        return scaled + _constant(shift, first)
    raise Refused(f"the auditor does not read {kind} of these operands")


def _moved(node: onnx.NodeProto, opsets: Any, given: list[Any], tail: int) -> Ball:
    """Entries in other places; the last axis, if `tail`, is that of coefficients."""
    first: Ball = given[0]
    shape = first.c.shape[: first.c.ndim - tail]
    sides = [[n for n in names if n] for names in (node.input, node.output)]
    inputs, outputs = ([make_value_info(n, onnx.TypeProto()) for n in names] for names in sides)
    graph = onnx.helper.make_graph([node], "one", inputs, outputs)
    run = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8))
    places = np.arange(int(np.prod(shape))).reshape(shape)
    (moved,) = run.run(None, dict(zip(sides[0], [places, *given[1:]], strict=True)))
    return first.move(lambda a: a.reshape(len(places.reshape(-1)), *a.shape[len(shape) :])[moved])
