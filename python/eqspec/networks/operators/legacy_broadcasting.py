"""How two operands met before opset 7: shapes are equal, or with `broadcast` the second one's are some of the first's.

Those begin at `axis`, where later versions always take the last ones. The second operand is given the shape with which
later versions do the same, before any operator sees it, so that none of them has to know. No runtime in use computes
these versions, so the comparison with onnxruntime sees nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from onnx import NodeProto

from eqspec.networks.levels import Levels
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.broadcasting import reshaped
from eqspec.networks.operators.operator_call import Scores, Value

_OPERATORS = frozenset(("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"))
_STANDARD = ("", "ai.onnx")


def aligned(node: NodeProto, opset: int, given: Sequence[Value | None]) -> Sequence[Value | None]:
    """The operands as opset 7 takes them. UnreadableError where they do not go together."""
    if opset >= 7 or node.op_type not in _OPERATORS or node.domain not in _STANDARD or len(given) != 2:
        return given
    first, second = (value.value if isinstance(value, Scores) else value for value in given)
    if first is None or second is None or first.shape == second.shape:
        return given
    shape = _shape(node, first.shape, second.shape)
    if shape is None:
        shapes = f"shapes {first.shape} and {second.shape}"
        raise UnreadableError(f"{shapes} do not broadcast as opset {opset} asks", "export it again")
    if shape == second.shape:
        return given
    if isinstance(second, np.ndarray):
        return [first, second.reshape(shape)]
    if isinstance(second, Levels | Masked | Hidden):
        return [first, second.rearranged(lambda entries: entries.reshape(shape))]
    return [first, reshaped(second, shape)]


def _shape(node: NodeProto, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of the second operand that broadcasts to the first one's alike; None where it does not."""
    if prod(b) == 1:  # which can be meant in one way, also where it is not said, as of operators that are written out
        return (1,) * min(len(a), len(b))
    said = {attribute.name: attribute.i for attribute in node.attribute}
    if not said.get("broadcast", 0):
        return None
    axis = said.get("axis", len(a) - len(b))
    fits = 0 <= axis <= len(a) - len(b) and all(d in (1, e) for d, e in zip(b, a[axis:], strict=False))
    return (*b, *(1,) * (len(a) - axis - len(b))) if fits else None
