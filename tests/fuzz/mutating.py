"""Damage: bytes, texts and ONNX graphs changed at random, with a taste for what breaks readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto

Random = np.random.Generator
T = TypeVar("T")

INTEGERS = (0, 1, -1, 2, 3, 7, 100, 2**31 - 1, -(2**31), 2**40, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1e38, -1.0, float("nan"), float("inf"), 1e-45)
NUMBERS = ("nan", "inf", "-inf", "1e999", "1e-999", "-0", "0x10", "1_000", "1" * 400, "1/0", "1e1000000000", "٣", "")
MARKS = (*"()[]{}\"',;#\n\r\t\\\x00", "\ufeff", "true", "null")
TOKENS = (*NUMBERS, *MARKS)


def one(rng: Random, several: Sequence[T]) -> T:
    """One of several."""
    return several[int(rng.integers(len(several)))]


def damaged_text(rng: Random, text: str) -> str:
    """A few pieces left out, doubled, moved, cut off or replaced by something nasty."""
    for _ in range(int(rng.integers(1, 5))):
        a, b = sorted(int(i) for i in rng.integers(0, len(text) + 1, 2))
        b = min(b, a + int(rng.integers(1, 30)))
        match int(rng.integers(6)):
            case 0:
                text = text[:a] + text[b:]
            case 1:
                text = text[:b] + text[a:]
            case 2:
                text = text[:a] + one(rng, TOKENS) + text[b:]
            case 3:
                text = text[:a] + one(rng, TOKENS) * int(rng.integers(1, 200)) + text[a:]
            case 4:
                text = text[:a] if rng.random() < 0.2 else text
            case _:
                words = text.split(" ")
                words[int(rng.integers(len(words)))] = one(rng, NUMBERS)
                text = " ".join(words)
    return text


def damaged_bytes(rng: Random, content: bytes) -> bytes:
    """A few bytes flipped, left out, doubled or cut off."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        if not changed:
            break
        at = int(rng.integers(len(changed)))
        match int(rng.integers(5)):
            case 0:
                changed[at] ^= 1 << int(rng.integers(8))
            case 1:
                changed[at] = int(rng.choice([0, 1, 0x7F, 0x80, 0xFF]))
            case 2:
                del changed[at : at + int(rng.integers(1, 20))]
            case 3:
                changed[at:at] = changed[at : at + int(rng.integers(1, 20))]
            case _:
                if rng.random() < 0.2:
                    del changed[at:]
    return bytes(changed)


def damaged_model(rng: Random, whole: onnx.ModelProto, operators: Sequence[str]) -> onnx.ModelProto:
    """A model that is still well-formed as a message, with attributes, tensors, shapes and edges changed."""
    model = onnx.ModelProto()
    model.CopyFrom(whole)
    graph = model.graph
    for _ in range(int(rng.integers(1, 4))):
        node = one(rng, graph.node)
        match int(rng.integers(9)):
            case 0 if node.attribute:
                _damage_attribute(rng, one(rng, node.attribute))
            case 1 | 2 if graph.initializer:
                _damage_tensor(rng, one(rng, graph.initializer))
            case 3:
                node.op_type = one(rng, operators)
            case 4:
                shape = graph.input[0].type.tensor_type.shape
                del shape.dim[:]
                for size in rng.integers(-1, 6, int(rng.integers(0, 5))):
                    shape.dim.add().dim_value = one(rng, INTEGERS) if size == 5 else int(size)
            case 5:
                model.opset_import[0].version = int(rng.integers(4, 30))
            case 6 if node.input:
                names = [
                    *(name for n in graph.node for name in n.output),
                    *(t.name for t in graph.initializer),
                    "x",
                    "",
                ]
                node.input[int(rng.integers(len(node.input)))] = one(rng, names)
            case 7 if node.attribute:
                del node.attribute[int(rng.integers(len(node.attribute)))]
            case 8:
                graph.node.add().CopyFrom(node)
    return model


def _damage_attribute(rng: Random, attribute: AttributeProto) -> None:
    match attribute.type:
        case AttributeProto.INT:
            attribute.i = one(rng, INTEGERS)
        case AttributeProto.INTS:
            del attribute.ints[:]
            attribute.ints.extend(one(rng, INTEGERS) for _ in range(int(rng.integers(0, 5))))
        case AttributeProto.FLOAT:
            attribute.f = one(rng, FLOATS)
        case _:
            attribute.type = AttributeProto.INT


def _damage_tensor(rng: Random, tensor: TensorProto) -> None:
    kinds: dict[int, Any] = {TensorProto.FLOAT: "<f4", TensorProto.INT64: "<i8"}
    match int(rng.integers(4)):
        case 0 if tensor.data_type in kinds and tensor.raw_data:
            numbers = np.frombuffer(tensor.raw_data, kinds[tensor.data_type]).copy()
            if numbers.size:
                nasty: Sequence[float] = FLOATS if tensor.data_type == TensorProto.FLOAT else INTEGERS
                numbers[int(rng.integers(numbers.size))] = one(rng, nasty)
            tensor.raw_data = numbers.tobytes()
        case 1:
            tensor.data_type = int(rng.integers(0, 25))
        case 2:
            if len(tensor.dims):
                tensor.dims[int(rng.integers(len(tensor.dims)))] = one(rng, INTEGERS)
        case _:
            sizes = [int(n) for n in rng.integers(0, 5, int(rng.integers(0, 4)))]
            del tensor.dims[:]
            tensor.dims.extend(sizes)
            if tensor.data_type in kinds:
                tensor.raw_data = np.ones(int(np.prod(sizes)), kinds[tensor.data_type]).tobytes()
