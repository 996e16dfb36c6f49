"""A random ONNX graph while it is built: its values with samples of them, its nodes, its constants.

A sample is what numpy makes of a value, roughly: it tells sizes for the next operator, never what is right. A value
without one is the last of its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

AnyArray = NDArray[Any]
T = TypeVar("T")

FLOATS: dict[int, Any] = {
    TensorProto.FLOAT: np.float32,
    TensorProto.DOUBLE: np.float64,
    TensorProto.FLOAT16: np.float16,
}
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
LEAST, MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Value:
    """A value by name; `constant` does not depend on the input."""

    name: str
    sample: AnyArray | None
    constant: bool


@dataclass
class Builder:
    """A graph with input x that grows."""

    rng: np.random.Generator
    opset: int
    kind: int
    shape: tuple[int, ...]
    nodes: list[NodeProto] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    finished: bool = False
    traits: list[str] = field(default_factory=list)
    training: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.input = Value("x", self.floats(self.shape), False)
        self.values.append(self.input)

    def one(self, several: Sequence[T]) -> T:
        """One of several."""
        return several[int(self.rng.integers(len(several)))]

    def chance(self, share: float) -> bool:
        """True so often."""
        return bool(self.rng.random() < share)

    def whole(self, low: int, high: int) -> int:
        """An integer, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def floats(self, shape: Sequence[int], *, positive: bool = False) -> AnyArray:
        """Multiples of a quarter, which float32 adds and multiplies exactly; none of them zero."""
        numbers = self.rng.integers(1, 9, tuple(shape)) / 4
        signs = 1 if positive else self.rng.choice([-1, 1], tuple(shape))
        return np.asarray(numbers * signs, FLOATS[self.kind])

    def integers(self, shape: Sequence[int], dtype: Any = None) -> AnyArray:
        """Integers of a type, small ones and those at its ends."""
        dtype = np.dtype(self.one(INTEGERS) if dtype is None else dtype)
        limits = np.iinfo(dtype)
        edges = [0, 1, 2, 3, 5, 100, limits.max, limits.max - 1, limits.min, max(limits.min, -1), max(limits.min, -7)]
        picked = [self.one(edges[:6] if self.chance(0.7) else edges) for _ in range(int(np.prod(tuple(shape))))]
        return np.array(picked, dtype).reshape(tuple(shape))

    def name(self) -> str:
        """A name that is new."""
        return f"v{len(self.nodes)}_{len(self.initializers)}_{len(self.values)}"

    def constant(self, array: AnyArray | Sequence[int], dtype: Any = None) -> Value:
        """A constant: an initialiser, or the result of a Constant node."""
        made = np.asarray(array, dtype)
        value = Value(self.name(), made, True)
        if self.chance(0.8):
            self.initializers.append(numpy_helper.from_array(made, value.name))
        else:
            tensor = numpy_helper.from_array(made, "")
            self.nodes.append(helper.make_node("Constant", [], [value.name], name=f"n_{value.name}", value=tensor))
        self.values.append(value)
        return value

    def indices(self, numbers: Sequence[int]) -> Value:
        """Starts, axes or places, in either type that ONNX allows."""
        small = all(-(2**31) <= n < 2**31 for n in numbers)
        return self.constant(np.array(numbers, np.int32 if small and self.chance(0.2) else np.int64))

    def operand(self, *, floats: bool = False, dependent: bool = False) -> Value:
        """A value to work on: mostly the last one, sometimes another, or a new constant."""
        usable = [
            v
            for v in self.values
            if v.sample is not None and not (floats and v.sample.dtype.kind != "f") and not (dependent and v.constant)
        ]
        if not dependent and self.chance(0.15):
            shape = self.some_shape()
            return self.constant(self.floats(shape) if floats or self.chance(0.5) else self.integers(shape))
        return usable[-1] if self.chance(0.7) else self.one(usable)

    def some_shape(self, most: int = 3) -> tuple[int, ...]:
        """Of rank 0 to 4, with ones and sometimes an empty axis."""
        sizes = [1, 1, 2, 2, 3, 3, 0] if self.chance(0.1) else [1, 1, 2, 3]
        return tuple(self.one(sizes) for _ in range(self.whole(0, most + self.chance(0.1))))

    def trains(self) -> None:
        """The node that was just added is training."""
        self.training.add(self.nodes[-1].name)

    def add(
        self,
        operator: str,
        inputs: Sequence[Value | None],
        sample: Callable[[], Any],
        outputs: int = 1,
        **attributes: Any,
    ) -> list[Value]:
        """Append a node; a sample that fails makes it the last."""
        try:
            with np.errstate(all="ignore"):
                made = sample()
            samples = [np.asarray(m) for m in made] if outputs > 1 else [np.asarray(made)]
        except (ArithmeticError, LookupError, TypeError, ValueError, MemoryError):
            samples = []
        constant = all(v is None or v.constant for v in inputs)
        label = self.name()
        names = [f"{label}_{i}" for i in range(outputs)]
        given = ["" if v is None else v.name for v in inputs]
        while given and not given[-1] and self.chance(0.8):
            given.pop()
        self.nodes.append(helper.make_node(operator, given, names, name=f"n_{label}"))
        for key, content in attributes.items():
            empty = onnx.AttributeProto.INTS if content == [] else None
            self.nodes[-1].attribute.append(helper.make_attribute(key, content, attr_type=empty))
        found = [
            Value(name, samples[i] if i < len(samples) and samples[i].size <= 4096 else None, constant)
            for i, name in enumerate(names)
        ]
        self.values += found
        if found[0].sample is None:
            self.finished = True
        return found

    def model(self) -> onnx.ModelProto:
        """The whole, with the last value as its output."""
        last = self.values[-1]
        if (sample := last.sample) is not None:
            last = self._as_output(last, sample)
        declared: Any = None
        if last.sample is not None and self.chance(0.6):
            declared = list(last.sample.shape)
        output = helper.make_tensor_value_info(last.name, self.kind, declared)
        given = helper.make_tensor_value_info("x", self.kind, self.declared())
        graph = helper.make_graph(self.nodes, "g", [given], [output], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        if self.chance(0.1):  # as files were up to version 3
            model.ir_version = 3 if self.opset <= 8 else 8
            for tensor in self.initializers:
                graph_input = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
                model.graph.input.append(graph_input)
            self.traits.append("initialisers listed")
        return model

    def _as_output(self, last: Value, sample: AnyArray) -> Value:
        """The last value as floats that depend on the input, mostly."""
        if sample.dtype.kind != "f":
            (last,) = self.add("Cast", [last], lambda: sample.astype(FLOATS[self.kind]), to=self.kind)
        if not last.constant or self.chance(0.2):
            return last
        (row,) = self.add("Reshape", [last, self.constant(np.array([1, -1], np.int64))], lambda: sample.reshape(1, -1))
        total = self.sum_of_input(tuple(range(len(self.shape))))
        legacy = {"broadcast": 1} if self.opset < 7 else {}
        return self.add("Add", [row, total], lambda: sample.reshape(1, -1), **legacy)[0]

    def sum_of_input(self, axes: tuple[int, ...]) -> Value:
        """The sum of the input's entries as a matrix of one number."""
        size = int(np.prod([self.shape[axis] for axis in axes]))
        row = self.constant(np.array([1, size], np.int64))
        ones = self.constant(np.ones((size, 1), FLOATS[self.kind]))
        (flat,) = self.add("Reshape", [self.input, row], lambda: self.input.sample.reshape(1, size))  # type: ignore[union-attr]
        (total,) = self.add("MatMul", [flat, ones], lambda: np.ones((1, 1), FLOATS[self.kind]))
        return total

    def declared(self) -> list[int | str]:
        """The input's shape, sometimes with an open batch."""
        if len(self.shape) > 1 and self.shape[0] == 1 and self.chance(0.2):
            return ["n", *self.shape[1:]]
        return list(self.shape)
