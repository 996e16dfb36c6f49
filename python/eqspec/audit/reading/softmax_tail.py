"""The Softmax at the end of a file, which is set aside: claims are about the scores that go into it.

A file ends in one where its result is that of

- Softmax or LogSoftmax,
- e^z / sum e^z or z - ln(sum e^z), where z may be x - max x over the same axis, and the scores are x then,
- (1 - s(z), s(z)) or (s(z), 1 - s(z)) with s = Sigmoid, which is the softmax of (0, z) or (z, 0),
- p = s(z), where the task says that it is about two classes, 1 - p and p,

in which Identity may stand anywhere, and behind which the numbers may get another shape in the same order, go through a
Dropout that is told nothing of training, and get names (ZipMap). It is one over all of them; what else gives
probabilities is read as it stands. Whether a file has such an end decides what a claim means, so the task has to say
the same (`File.softmax`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
import onnx

from ..rounding import Refused
from .plain import CLASSIC, STANDARD, numbers_of
from .value import Value

_WRITTEN_OUT_SINCE = 13
"""The opset since which an axis of Softmax is an axis, and ends that are written out are seen."""
_MOVING = ("Identity", "Squeeze", "Transpose", "Unsqueeze")
"""Behind a softmax over one axis that holds every number, these keep their order."""
_SHAPING = ("Dropout", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze")


@dataclass(frozen=True)
class Tail:
    """`scores` is the value that goes in; of two classes it is the score `of` one of them, and that of the other is 0.

    `axis` is that of a Softmax, as given, which goes over all axes from there on where it is `flattened`.
    """

    scores: str
    axis: int
    of: Literal["all", "first", "second"] = "all"
    flattened: bool = False

    def is_over_all(self, value: Value) -> bool:
        """Whether the scores are all in one softmax."""
        if self.of != "all":
            return value.size == 1
        rank = len(value.shape)
        axis = self.axis + rank if self.axis < 0 else self.axis
        if not min(1, rank - 1) <= axis < rank:  # the first axis is that of the samples
            return False
        return value.size == (prod(value.shape[axis:]) if self.flattened else value.shape[axis])


def tail(graph: onnx.GraphProto, opset: int, result: str, two_classes: bool = False) -> Tail | None:
    """The Softmax that a graph ends in at this output p, if it ends in one; with `two_classes` that of 1 - p and p."""
    ends = _Ends(graph, opset, result)
    return ends.one_sigmoid(result) if two_classes else ends.tail()


class _Ends:
    def __init__(self, graph: onnx.GraphProto, opset: int, result: str) -> None:
        self._opset = opset
        self._makers: Mapping[str, onnx.NodeProto] = {name: n for n in graph.node for name in n.output if name}
        self._stored = {tensor.name: tensor for tensor in graph.initializer}
        named = self._makers.get(result)
        if named is not None and named.op_type == "ZipMap" and named.domain == CLASSIC:
            result = named.input[0]
        self._result = self._root(result, _SHAPING)

    def tail(self) -> Tail | None:
        for operator in ("Softmax", "LogSoftmax"):
            turned = self._result if self._opset < _WRITTEN_OUT_SINCE else self._root(self._result, _MOVING)
            if (node := self._made(turned, operator)) is not None:
                flattened = self._opset < _WRITTEN_OUT_SINCE
                axis = _attributes(node).get("axis", 1 if flattened else -1)
                return Tail(node.input[0], axis, flattened=flattened)
        if (pair := self._made(self._result, "Concat")) is not None and len(pair.input) == 2:
            return self._two_classes(pair)
        return self._written_out() if self._opset >= _WRITTEN_OUT_SINCE else None

    def one_sigmoid(self, result: str) -> Tail:
        if (share := self._made(result, "Sigmoid")) is None:
            raise Refused("its output is no Sigmoid, which the task reads as two classes")
        return Tail(share.input[0], -1, "second")

    def _two_classes(self, pair: onnx.NodeProto) -> Tail | None:
        if _attributes(pair).get("axis") not in (1, -1):
            return None
        of: Literal["first", "second"]
        for one, other, of in ((0, 1, "second"), (1, 0, "first")):
            rest, share = self._made(pair.input[one], "Sub"), self._made(pair.input[other], "Sigmoid")
            if rest is None or share is None or self._root(rest.input[1]) != share.output[0]:
                continue
            unit = self._constant(rest.input[0])
            if unit is not None and unit.size == 1 and unit.dtype.kind == "f" and unit.ravel()[0] == 1.0:
                return Tail(share.input[0], -1, of)
        return None

    def _written_out(self) -> Tail | None:
        if (share := self._made(self._result, "Div")) is not None:
            powers, summed = share.input
        elif (apart := self._made(self._result, "Sub")) is not None:
            logarithm = self._made(apart.input[1], "Log")
            powers = None if logarithm is None else self._reduced(logarithm.input[0], "ReduceSum")[0]
            summed = "" if logarithm is None else logarithm.input[0]
            made = None if powers is None else self._made(powers, "Exp")
            if made is None or self._root(made.input[0]) != self._root(apart.input[0]):
                return None
        else:
            return None
        over, axis = self._reduced(summed, "ReduceSum")
        exponential = None if powers is None else self._made(powers, "Exp")
        if exponential is None or axis is None or over != exponential.output[0]:
            return None
        z = exponential.input[0]
        if (shifted := self._made(z, "Sub")) is not None:
            x, largest = shifted.input
            if self._reduced(largest, "ReduceMax") == (self._root(x), axis):
                return Tail(x, axis)
        return Tail(z, axis)

    def _reduced(self, name: str, operator: str) -> tuple[str | None, int | None]:
        """What is reduced over which one axis, which is kept and not that of the samples."""
        node = self._made(name, operator)
        if node is None or _attributes(node).get("keepdims", 1) != 1:
            return None, None
        given = _attributes(node).get("axes")
        if given is None and len(node.input) == 2:
            stored = self._constant(node.input[1])
            given = None if stored is None or stored.dtype.kind != "i" else stored.ravel().tolist()
        axis = given[0] if given is not None and len(given) == 1 else 0
        return (self._root(node.input[0]), int(axis)) if axis else (None, None)

    def _made(self, name: str, operator: str) -> onnx.NodeProto | None:
        node = self._makers.get(self._root(name))
        right = node is not None and node.op_type == operator and node.domain in STANDARD and len(node.output) == 1
        return node if right else None

    def _root(self, name: str, passed: Collection[str] = ("Identity",)) -> str:
        """The value behind nodes that pass it on; a cycle of them, which nothing makes, has any of its values."""
        seen = set[str]()
        node = self._makers.get(name)
        while node is not None and node.op_type in passed and not node.input[2:] and name not in seen:
            if node.domain not in STANDARD:
                break
            seen.add(name)
            name = node.input[0]
            node = self._makers.get(name)
        return name

    def _constant(self, name: str) -> np.ndarray[Any, Any] | None:
        if name in self._stored:
            return numbers_of(self._stored[name])
        node = self._made(name, "Constant")
        given = {} if node is None else _attributes(node)
        return numbers_of(given["value"]) if set(given) == {"value"} else None


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
