"""The call of an operator of a graph: its evaluated inputs, its attributes, and the notes that it may leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from onnx import AttributeProto, NodeProto

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.onnx_tensor import ExternalData, UnreadableError, Whole
from eqspec.networks.units import Units

NOT_AFFINE = "a network of affine and piecewise linear steps cannot express it: replace it, or split the model there"
IN_REAL = "compare it in 'real'"
NEEDS_CONSTANT = "only constants may stand here; fold them into initialisers with a constant-folding exporter"


@dataclass(frozen=True, eq=False)
class Scores:
    """The argument of a Softmax over all outputs of a sample, which is left out if nothing computes with it.

    `computed` gives the Softmax of such scores in any shape.
    """

    scores: Affine
    kind: Literal["softmax", "log_softmax"]
    computed: Callable[[Affine], Affine]

    @cached_property
    def value(self) -> Affine:
        """What the operator gives."""
        return self.computed(self.scores)


Value: TypeAlias = Affine | Enclosure | Whole | Scores | Levels | Masked | Hidden


Front: TypeAlias = Literal["exact", "once"]
"""Nothing, or no more than the value and its quotient by a scale."""


@dataclass(frozen=True)
class OperatorCall:
    """A node with its inputs evaluated (None: left out).

    Where a fixed batch was set aside, `batch` is its size and `samples` how many are read of it. `rounded` says that a
    constant among the inputs is, as a runtime has it, not the real number that it is here. `kinds` are the types of
    the inputs' entries, where they are known, and `alone` says which of them no other node reads; `unread` are the
    outputs that no node reads. Where the first input of a quantiser is known exactly, or is one of the graph, `front`
    says what a runtime rounds of the number that it makes a level of, and `plain` gives values without radii
    where that leaves them out.
    """

    node: NodeProto
    opset: int
    inputs: Sequence[Value | None]
    given: Units
    external: ExternalData
    batch: int | None = None
    notes: list[str] = field(default_factory=list)
    rounded: bool = False
    samples: int = 1
    kinds: Sequence[int | None] = ()
    alone: Sequence[bool] = ()
    unread: Sequence[int] = ()
    front: Front | None = None
    plain: Callable[[Affine], Affine] | None = None

    def attribute(self, name: str) -> AttributeProto | None:
        """An attribute, None where it is absent."""
        return next((a for a in self.node.attribute if a.name == name), None)

    def _typed(self, name: str, kind: int) -> AttributeProto | None:
        found = self.attribute(name)
        if found is not None and found.type != kind:
            expected = AttributeProto.AttributeType.Name(kind).lower()
            raise UnreadableError(f"attribute {name!r} is not of type {expected}", "export the model again")
        return found

    def integer(self, name: str, default: int) -> int:
        """An integer attribute."""
        found = self._typed(name, AttributeProto.INT)
        return default if found is None else int(found.i)

    def integers(self, name: str) -> list[int] | None:
        """A list of integers, None where it is absent."""
        found = self._typed(name, AttributeProto.INTS)
        return None if found is None else [int(i) for i in found.ints]

    def real(self, name: str, default: float) -> float:
        """A float32 attribute, exact in float64."""
        found = self._typed(name, AttributeProto.FLOAT)
        number = default if found is None else float(found.f)
        if not np.isfinite(number):
            raise UnreadableError(f"attribute {name!r} is {number}", "repair the training or the export that made it")
        return number

    def wants(self, index: int) -> bool:
        """Whether something reads an output."""
        return index < len(self.node.output) and bool(self.node.output[index]) and index not in self.unread

    def has(self, index: int) -> bool:
        """Whether an optional input is given."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def kind(self, index: int) -> int | None:
        """The element type of an input, None where it is not known."""
        return self.kinds[index] if index < len(self.kinds) else None

    def value(self, index: int) -> Value:
        """An input that must be there."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None:
            raise UnreadableError(f"input {index} is missing", "export the model again")
        return found

    def real_value(self, index: int) -> Affine | Enclosure:
        """An input of real numbers."""
        found = self.value(index)
        if isinstance(found, Scores):
            return found.value
        if isinstance(found, Levels):
            message = f"input {index} holds integers that depend on the network's input, as levels of a quantiser do"
            raise UnreadableError(message, "dequantise it, or cast it to a float type")
        if isinstance(found, Masked | Hidden):
            raise UnreadableError(f"input {index} holds minus infinity", "only a mask in front of a Softmax may")
        if isinstance(found, np.ndarray):
            raise UnreadableError(f"input {index} holds integers", "cast it to a float type")
        return found

    def affine(self, index: int) -> Affine | None:
        """An input where it depends on the network's input, else None."""
        found = self.real_value(index)
        return found if isinstance(found, Affine) else None

    def number(self, index: int) -> Enclosure:
        """An input of constant real numbers."""
        found = self.real_value(index)
        if isinstance(found, Affine):
            raise UnreadableError(
                f"input {index} ({self.node.input[index]!r}) depends on the network's input", NEEDS_CONSTANT
            )
        return found

    def whole(self, index: int) -> Whole:
        """An input of constant integers (a shape, axes, indices)."""
        found = self.value(index)
        if not isinstance(found, np.ndarray):
            raise UnreadableError(
                f"input {index} ({self.node.input[index]!r}) is not a constant of integers", NEEDS_CONSTANT
            )
        return found

    def refuse_rounded_jump(self, jump: str, fix: str = IN_REAL) -> None:
        """UnreadableError where numbers are rounded, as in float32; `jump` says what jumps and where.

        Rounding may carry an argument to the other side of a jump, so no radius around the exact value bounds what a
        runtime gives.
        """
        if self.given.unit:
            raise UnreadableError(f"{jump}, and rounding in float32 may lead to the other side", fix)


Operator: TypeAlias = Callable[[OperatorCall], Sequence[Value]]
"""What evaluates a node: a call to its outputs, in order (trailing ones may be left out)."""
