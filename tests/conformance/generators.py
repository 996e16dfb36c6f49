"""For every operator that is read, what makes nodes of it, and in which opsets ONNX has it."""

from __future__ import annotations

from conformance.functions import FUNCTIONS
from conformance.moving import MOVING
from conformance.operators import ARITHMETIC, Generator
from conformance.spatial import SPATIAL

GENERATORS: dict[str, Generator] = {**ARITHMETIC, **FUNCTIONS, **MOVING, **SPATIAL}
SINCE = {
    "Compress": 9, "ConstantOfShape": 9, "Expand": 8, "GatherElements": 11, "GatherND": 11, "Resize": 10,
    "ReverseSequence": 10, "ScatterElements": 11, "ScatterND": 11, "Trilu": 14, "Upsample": 7, "Where": 9,
}  # fmt: skip
UNTIL = {"Upsample": 9}


def of_opset(opset: int) -> list[str]:
    """The operators that an opset has."""
    return [name for name in GENERATORS if SINCE.get(name, 1) <= opset <= UNTIL.get(name, opset)]
