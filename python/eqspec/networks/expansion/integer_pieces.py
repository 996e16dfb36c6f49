"""What standard operators make of one integer, exactly: between finitely many places, slope times it and an offset.

Comparisons tell where pieces end: a node is worked out on the pieces known so far, and where the sign of a difference
changes within one of them, the pieces are made finer and the nodes worked out again. Slopes are -1, 0 and 1, so that a
value which leaves its type comes out as a number near its ends, far from what is asked about; a sum with the integer is
not compared, because there the sign of such a value would count. The same holds of casts to floats: those of the
integer itself are only compared, with integers that floats hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

OPERATORS = {"Add", "And", "Cast", "Equal", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Mul"}
OPERATORS |= {"Not", "Or", "Sub", "Where"}
_LARGEST = 2**20
"""Of numbers that are stored, and of offsets: far from the ends of a type of 32 bits, and held by every float."""
_MOST_PIECES = 32
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_REALS = (TensorProto.FLOAT, TensorProto.DOUBLE)


class UnknownPiecesError(Exception):
    """The nodes compute something else, or what does not fit."""


class _FinerError(Exception):
    def __init__(self, places: Sequence[int]) -> None:
        self.places = places
        super().__init__()


@dataclass(frozen=True)
class Line:
    """slope x + offset on one piece; `real` of what was cast to a float and still depends on x within the piece."""

    slope: int
    offset: int
    real: bool = False

    def at(self, x: int) -> int:
        """The value at an integer."""
        return self.slope * x + self.offset


@dataclass(frozen=True)
class Piece:
    """The integers from `first` to `last`, infinite ends among them, and what is made of them."""

    first: float
    last: float
    line: Line

    @property
    def inside(self) -> int:
        """One of them."""
        return int(self.first if self.first > -inf else self.last if self.last < inf else 0)


def pieces_of(
    nodes: Sequence[NodeProto], stored: Mapping[str, NDArray[Any]], given: str, wanted: str
) -> Sequence[Piece]:
    """What becomes of `given` in `wanted`, from the least integers to the largest. Raises UnknownPiecesError."""
    numbers = {name: _number(array) for name, array in stored.items()}
    starts: list[int] = []
    while len(starts) < _MOST_PIECES:
        ends = zip([-inf, *starts], [*(s - 1 for s in starts), inf], strict=True)
        try:
            return [Piece(a, b, _worked_out(nodes, numbers, given, wanted, (a, b))) for a, b in ends]
        except _FinerError as finer:
            starts = sorted({*starts, *finer.places})
    raise UnknownPiecesError


def _number(found: NDArray[Any]) -> int:
    if found.size != 1 or not np.isfinite(found := found.reshape(()).astype(float)) or found != round(float(found)):
        raise UnknownPiecesError
    if abs(found) > _LARGEST:
        raise UnknownPiecesError
    return int(found)


def _worked_out(
    nodes: Sequence[NodeProto], numbers: Mapping[str, int], given: str, wanted: str, ends: tuple[float, float]
) -> Line:
    """The value on one piece."""
    values = {given: Line(1, 0)} | {name: Line(0, number) for name, number in numbers.items()}
    for node in nodes:
        operands = [values[name] for name in node.input]
        made = _moved(node, operands) or _compared(node, operands, ends)
        if abs(made.slope) > 1 or abs(made.offset) > _LARGEST or len(node.output) != 1:
            raise UnknownPiecesError
        values[node.output[0]] = made
    return values[wanted]


def _moved(node: NodeProto, operands: list[Line]) -> Line | None:
    """Sums, products and choices, for which pieces stay what they are; none of what compares."""
    kind, a, b = node.op_type, operands[0], operands[-1]
    if kind in ("Add", "Sub", "Mul") and (a.real or b.real):
        raise UnknownPiecesError
    match kind:
        case "Identity":
            return a
        case "Add":
            return Line(a.slope + b.slope, a.offset + b.offset)
        case "Sub":
            return Line(a.slope - b.slope, a.offset - b.offset)
        case "Mul" if a.slope and b.slope:
            raise UnknownPiecesError
        case "Mul":
            return Line(a.slope * b.offset + b.slope * a.offset, a.offset * b.offset)
        case "Where" if len(operands) == 3 and not a.slope:
            return operands[1] if a.offset else b
        case "And" | "Or" | "Not" if not a.slope and not b.slope:
            truths = bool(a.offset), bool(b.offset)
            return Line(0, int(not truths[0] if kind == "Not" else all(truths) if kind == "And" else any(truths)))
        case "Cast":
            to = next((attribute.i for attribute in node.attribute if attribute.name == "to"), 0)
            if to in _INTEGERS and not a.real:
                return a
            if to in _REALS:
                return Line(a.slope, a.offset, a.slope != 0)
    return None


def _compared(node: NodeProto, operands: list[Line], ends: tuple[float, float]) -> Line:
    """A comparison, or whether a number is not 0: 0 or 1 on pieces that are fine enough."""
    kind, a, b = node.op_type, operands[0], operands[-1]
    if kind == "Cast":
        to = next((attribute.i for attribute in node.attribute if attribute.name == "to"), 0)
        if to != TensorProto.BOOL:
            raise UnknownPiecesError
        b = Line(0, 0)
    elif kind not in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        raise UnknownPiecesError
    if any(value.slope and value.offset for value in (a, b)) or (a.slope and b.slope):
        raise UnknownPiecesError
    slope, offset = a.slope - b.slope, a.offset - b.offset
    if slope:
        root = -offset * slope
        finer = [place for place in (root, root + 1) if ends[0] < place <= ends[1]]
        if finer:
            raise _FinerError(finer)
    difference = slope * Piece(*ends, a).inside + offset
    holds = {"Greater": difference > 0, "GreaterOrEqual": difference >= 0, "Less": difference < 0}
    holds |= {"LessOrEqual": difference <= 0, "Equal": difference == 0, "Cast": difference != 0}
    return Line(0, int(holds[kind]))
