"""Nodes that stand in place of one whose form depends on the shapes of what it is given, once these are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.onnx_tensor import UnreadableError

Shape = tuple[int, ...]
AGAIN = "export the model again"


@dataclass
class InPlace:
    """A node while it is written out: shapes and types of its inputs (None: left out), and what is made so far.

    `wholes` are those inputs that are constant integers; `number` tells its names from those of all others.
    """

    node: NodeProto
    shapes: Sequence[Shape | None]
    kinds: Sequence[int | None]
    wholes: Mapping[int, list[int]]
    number: int
    opset: int
    nodes: list[NodeProto] = field(default_factory=list)

    def given(self, index: int) -> str:
        """The name of an input, empty where it is left out."""
        return self.node.input[index] if index < len(self.node.input) else ""

    def wanted(self, index: int) -> str:
        """The name of an output, empty where nothing asks for it."""
        return self.node.output[index] if index < len(self.node.output) else ""

    def shape(self, index: int, *ranks: int) -> Shape:
        """The shape of an input that must be there, of one of these ranks."""
        found = self.shapes[index] if index < len(self.shapes) else None
        if found is None or (ranks and len(found) not in ranks):
            raise UnreadableError(f"input {index} has shape {found}", AGAIN)
        return found

    def numbers(self, index: int) -> list[int]:
        """An input of constant integers."""
        if index not in self.wholes:
            raise UnreadableError(f"input {index} is not a constant of integers", "store it in the file")
        return self.wholes[index]

    def constant(self, array: NDArray[Any]) -> str:
        """A constant."""
        return self.of("Constant", value=numpy_helper.from_array(np.asarray(array, order="C")))

    def whole(self, *numbers: int) -> str:
        """Constant integers, as shapes and places are."""
        return self.constant(np.array(numbers, np.int64))

    def real(self, number: float) -> str:
        """A constant number."""
        return self.constant(np.array(number, np.float32))

    def of(self, operator: str, *inputs: str, to: str = "", domain: str = "", **attributes: Any) -> str:
        """A node of one output; its name."""
        made: str = to or f"{self.node.output[0]}/eqspec in place {self.number} {len(self.nodes)}"
        called = self.node.name or made
        self.nodes.append(helper.make_node(operator, inputs, [made], name=called, domain=domain, **attributes))
        return made

    def reshaped(self, value: str, *sizes: int) -> str:
        """A value in another shape; 0 keeps a size, -1 is what is left."""
        return self.of("Reshape", value, self.whole(*sizes))

    def turned(self, value: str, *order: int) -> str:
        """A value with its axes in another order."""
        return self.of("Transpose", value, perm=list(order))

    def part(self, value: str, begin: int, end: int, axis: int) -> str:
        """Some entries along an axis."""
        return self.of("Gather", value, self.whole(*range(begin, end)), axis=axis)
