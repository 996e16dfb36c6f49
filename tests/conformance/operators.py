"""Arithmetic and constants: nodes with all attributes and inputs, at the edges of what they may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from conformance.building import FLOATS, INTEGERS, AnyArray, Builder, Value

TYPES = {
    np.int8: TensorProto.INT8, np.int16: TensorProto.INT16, np.int32: TensorProto.INT32, np.int64: TensorProto.INT64,
    np.uint8: TensorProto.UINT8, np.uint16: TensorProto.UINT16, np.uint32: TensorProto.UINT32,
    np.uint64: TensorProto.UINT64, np.bool_: TensorProto.BOOL, np.float16: TensorProto.FLOAT16,
    np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE,
}  # fmt: skip
Generator = Callable[[Builder], object]


def sample_of(value: Value) -> AnyArray:
    assert value.sample is not None
    return value.sample


def partner(g: Builder, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with another, mostly."""
    kept = list(shape[g.whole(0, len(shape)) :])
    kept = [1 if g.chance(0.25) else d for d in kept]
    if g.chance(0.2):
        kept = [g.one([1, 2]), *([1] * (len(shape) - len(kept))), *kept]
    if g.chance(0.05):
        kept = [d + 1 for d in kept]
    return tuple(kept)


def binary(kind: str) -> Generator:
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.true_divide}[kind]

    def make(g: Builder) -> None:
        if g.chance(0.35):
            a = g.integers(g.some_shape(2))
            b = g.integers(partner(g, a.shape), a.dtype if g.chance(0.97) else None)
            if kind == "Div":  # a division by zero ends the process of some runtimes
                b = np.where((b == 0) | (b == b.dtype.type(-1 if b.dtype.kind == "i" else 0)), b.dtype.type(2), b)
            first, second = g.constant(a), g.constant(b)
            legacy = {"broadcast": 1} if g.opset < 7 else {}
            g.add(kind, [first, second], lambda: function(a, b).astype(a.dtype), **legacy)
            return
        v = g.operand(floats=True)
        other = (
            g.operand(floats=True)
            if g.chance(0.2) and kind != "Div"
            else g.constant(g.floats(partner(g, sample_of(v).shape)))
        )
        attributes: dict[str, Any] = {}
        if g.opset < 7 and (sample_of(v).shape != sample_of(other).shape or g.chance(0.3)):
            attributes = {"broadcast": 1} if g.chance(0.9) else {}
            if g.chance(0.3):
                attributes["axis"] = g.whole(0, max(0, sample_of(v).ndim - 1))
        pair = [other, v] if g.chance(0.3) and not (kind == "Div" and not v.constant) else [v, other]
        g.add(kind, pair, lambda: function(*map(sample_of, pair)).astype(FLOATS[g.kind]), **attributes)

    return make


def negative(g: Builder) -> None:
    v = (
        g.constant(g.integers(g.some_shape(2), g.one([np.int8, np.int32, np.int64, np.int16])))
        if g.chance(0.3)
        else (g.operand())
    )
    g.add("Neg", [v], lambda: -sample_of(v))


def relu(g: Builder) -> None:
    v = g.operand(floats=True)
    g.add("Relu", [v], lambda: np.maximum(sample_of(v), 0))


def identity(g: Builder) -> None:
    v = g.operand()
    g.add("Identity", [v], lambda: sample_of(v))


def square_root(g: Builder) -> None:
    v = g.constant(g.floats(g.some_shape(), positive=True) ** 2 if g.chance(0.9) else g.floats(g.some_shape()))
    g.add("Sqrt", [v], lambda: np.sqrt(sample_of(v)))


def sum_all(g: Builder) -> None:
    v = g.operand(floats=True)
    shape = sample_of(v).shape
    others = [g.constant(g.floats(partner(g, shape) if g.opset >= 8 else shape)) for _ in range(g.whole(0, 2))]
    g.add("Sum", [v, *others], lambda: sum(map(sample_of, others), sample_of(v)))


def cast(g: Builder) -> None:
    target = g.one([*TYPES] if g.chance(0.7) else [np.float16, np.float32, np.float64])
    if g.chance(0.6):
        if g.chance(0.5):
            array = g.integers(g.some_shape(2), g.one([*INTEGERS, np.int64]))
        else:
            numbers = g.rng.integers(-5000, 5000, g.some_shape(2)) / g.one([1, 3, 8, 1000, 0.1])
            array = np.asarray(numbers, g.one([np.float16, np.float32, np.float64]))
        v = g.constant(array)
    else:
        v = g.operand()
    (made,) = g.add("Cast", [v], lambda: sample_of(v).astype(target), to=TYPES[target])
    if made.sample is not None and made.sample.dtype != FLOATS[g.kind] and g.chance(0.9):
        g.add("Cast", [made], lambda: sample_of(made).astype(FLOATS[g.kind]), to=g.kind)


def matmul(g: Builder) -> None:
    v = g.operand(floats=True)
    shape = sample_of(v).shape
    if g.chance(0.6) or len(shape) < 1:
        inner = shape[-1] if shape else 1
        lead = g.one([(), (), (2,), (1,)]) if len(shape) < 3 else g.one([(), shape[:-2], (1,)])
        other = g.floats((inner,) if g.chance(0.15) else (*lead, inner, g.one([1, 2, 3, 0 if g.chance(0.1) else 2])))
        pair = [v, g.constant(other)]
    else:
        inner = shape[-2] if len(shape) > 1 else shape[0]
        other = g.floats((inner,) if g.chance(0.15) else (g.one([1, 2, 3]), inner))
        pair = [g.constant(other), v]
    g.add("MatMul", pair, lambda: np.matmul(*map(sample_of, pair)))


def as_matrix(g: Builder) -> Value:
    v = g.operand(floats=True)
    if sample_of(v).ndim == 2:
        return v
    size = sample_of(v).size
    shape = g.constant(np.array([1, size] if g.chance(0.7) else [size, 1], np.int64))
    return g.add("Reshape", [v, shape], lambda: sample_of(v).reshape(sample_of(shape)))[0]


def gemm(g: Builder) -> None:
    v = as_matrix(g)
    attributes: dict[str, Any] = {}
    for name in ("transA", "transB"):
        if g.chance(0.4):
            attributes[name] = g.one([0, 1, 1, 2]) if g.chance(0.2) else 1
    for name in ("alpha", "beta"):
        if g.chance(0.4):
            attributes[name] = g.one([0.5, -2.0, 0.0, 1.0, 0.25])
    first = g.chance(0.75)
    flip = bool(attributes.get("transA" if first else "transB", 0))
    given = sample_of(v).T if flip else sample_of(v)
    inner, width = (given.shape[1], g.whole(1, 3)) if first else (given.shape[0], g.whole(1, 3))
    shape = (inner, width) if first else (width, inner)
    if attributes.get("transB" if first else "transA", 0):
        shape = shape[::-1]
    weight = g.constant(g.floats(shape))
    pair = [v, weight] if first else [weight, v]
    rows, columns = (given.shape[0], width) if first else (width, given.shape[1])
    bias: Value | None = None
    if g.chance(0.7) or g.opset < 11:
        bias = g.constant(g.floats(g.one([(columns,), (rows, columns), (1,), (), (rows, 1), (1, columns), (1, 1)])))
    if g.opset < 7 and g.chance(0.95):
        attributes["broadcast"] = 1
    g.add("Gemm", [*pair, bias], lambda: np.zeros((rows, columns), FLOATS[g.kind]), **attributes)


def batch_normalization(g: Builder) -> None:
    v = g.operand(floats=True)
    if sample_of(v).ndim < 2 and g.chance(0.9):
        v = as_matrix(g)
    shape = sample_of(v).shape
    channels: tuple[int, ...] = shape[1:2] or (1,)
    attributes: dict[str, Any] = {}
    if g.opset < 9 and g.chance(0.3):
        attributes["spatial"] = g.one([0, 1])
        channels = channels if attributes["spatial"] else shape[1:]
    if g.chance(0.05):
        channels = (channels[0] + 1,) if channels else (2,)
    parts = [g.constant(g.floats(channels, positive=i == 3)) for i in range(4)]
    if g.chance(0.5):
        attributes["epsilon"] = g.one([0.0, 0.25, 1e-3])
    if g.chance(0.3):
        attributes["momentum"] = 0.5
    if g.opset < 7 and g.chance(0.8):
        attributes["is_test"] = g.one([1, 1, 1, 0])
    if g.opset >= 14 and g.chance(0.3):
        attributes["training_mode"] = g.one([0, 0, 1])
    outputs = g.one([1, 1, 1, 1, 1, 3 if g.opset >= 14 else 5])
    training = outputs > 1 or attributes.get("training_mode") or (g.opset < 7 and not attributes.get("is_test"))
    found = g.add("BatchNormalization", [v, *parts], lambda: [sample_of(v)] * outputs if outputs > 1 else sample_of(v),
                  outputs, **attributes)  # fmt: skip
    if training:
        g.trains()
    g.values.append(found[0])
    if outputs > 1 and not attributes.get("training_mode") and g.chance(0.2):  # onnxruntime would die of it
        g.nodes[-1].output[outputs - 1] = ""


def dropout(g: Builder) -> None:
    v = g.operand(floats=True)
    outputs = g.one([1, 1, 2])
    sample = lambda: [sample_of(v)] * outputs if outputs > 1 else sample_of(v)  # noqa: E731
    if g.opset < 12:
        attributes: dict[str, Any] = {"ratio": g.one([0.0, 0.5])} if g.chance(0.7) else {}
        if g.opset < 7 and g.chance(0.8):
            attributes["is_test"] = g.one([1, 1, 0])
        found = g.add("Dropout", [v], sample, outputs, **attributes)
        if g.opset < 7 and not attributes.get("is_test"):
            g.trains()
    else:
        ratio = g.constant(np.array(g.one([0.0, 0.5]), FLOATS[g.kind])) if g.chance(0.6) else None
        training = g.constant(np.array(g.chance(0.4))) if g.chance(0.5) else None
        attributes = {"seed": 7} if g.chance(0.2) else {}
        found = g.add("Dropout", [v, ratio, training], sample, outputs, **attributes)
        drops = ratio is None or bool(ratio.sample)  # the standard's own ratio is a half
        if training is not None and bool(training.sample) and drops:
            g.trains()
    g.values.append(found[0])


def softmax(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v = g.operand(floats=True)
        rank = sample_of(v).ndim
        attributes = {} if g.chance(0.4) else {"axis": g.whole(-rank if g.opset >= 11 else 0, max(0, rank - 1))}
        g.add(kind, [v], lambda: sample_of(v), **attributes)
        if g.chance(0.8):
            g.finished = True

    return make


def constant(g: Builder) -> None:
    tensor = numpy_helper.from_array(g.floats(g.some_shape(2)) if g.chance(0.5) else g.integers(g.some_shape(2)), "")
    forms: list[dict[str, Any]] = [{"value": tensor}]
    if g.opset >= 12:
        forms += [{"value_float": 1.5}, {"value_floats": [0.5, -2.0]}, {"value_int": -3}, {"value_ints": [4, 5]}]
    chosen = dict(g.one(forms))
    if g.opset >= 11 and g.chance(0.05):
        values, places = (
            numpy_helper.from_array(np.ones(1, np.float32), "s"),
            numpy_helper.from_array(np.ones(1, np.int64), "i"),
        )
        chosen = {"sparse_value": helper.make_sparse_tensor(values, places, [3])}
    if g.opset >= 12 and g.chance(0.05):
        chosen |= g.one(forms)
    (made,) = chosen.values() if len(chosen) == 1 else [0.0]

    def sample() -> AnyArray:
        if "value" in chosen:
            return numpy_helper.to_array(chosen["value"])
        return np.asarray(made, np.int64 if "value_int" in str(chosen) else np.float32)

    (found,) = g.add("Constant", [], sample, **chosen)
    if found.sample is not None and found.sample.dtype != FLOATS[g.kind]:
        g.add("Cast", [found], lambda: sample_of(found).astype(FLOATS[g.kind]), to=g.kind)


def constant_of_shape(g: Builder) -> None:
    shape = g.some_shape()
    attributes: dict[str, Any] = {}
    dtype: Any = np.float32
    if g.chance(0.7):
        dtype = g.one([FLOATS[g.kind], *INTEGERS, np.bool_])
        value = np.array([g.one([0, 1, 3])], dtype)
        attributes["value"] = numpy_helper.from_array(value if g.chance(0.9) else value.reshape(()), "")
    (made,) = g.add("ConstantOfShape", [g.constant(np.array(shape, np.int64))], lambda: np.ones(shape, dtype),
                    **attributes)  # fmt: skip
    if made.sample is not None and made.sample.dtype != FLOATS[g.kind]:
        g.add("Cast", [made], lambda: sample_of(made).astype(FLOATS[g.kind]), to=g.kind)


ARITHMETIC: dict[str, Generator] = {
    "Add": binary("Add"),
    "BatchNormalization": batch_normalization,
    "Cast": cast,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Div": binary("Div"),
    "Dropout": dropout,
    "Gemm": gemm,
    "Identity": identity,
    "LogSoftmax": softmax("LogSoftmax"),
    "MatMul": matmul,
    "Mul": binary("Mul"),
    "Neg": negative,
    "Relu": relu,
    "Softmax": softmax("Softmax"),
    "Sqrt": square_root,
    "Sub": binary("Sub"),
    "Sum": sum_all,
}
