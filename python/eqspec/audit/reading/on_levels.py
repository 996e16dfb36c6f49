"""Operators on levels, in exact integers: quantised networks that are not written with dequantisers in between.

With a' = a - z_a and b' = b - z_b, which are integers, and all else in rationals,

    MatMulInteger, ConvInteger                    k = sum a' b'
    QLinearConv, QLinearMatMul, QGemm             k = R(s_a s_b (sum a' b' + bias) / s) + z, cut off
    QLinearAdd, QLinearMul, QLinearAveragePool    k = R(y / s + z), cut off
    QLinearConcat, QLinearGlobalAveragePool, QLinearLeakyRelu, QLinearSigmoid    k = R(y / s) + z, cut off

where y is what Add, Mul and so on make of the real numbers that the operands stand for,
with R to the nearest integer, ties to even. Where an odd zero point stands in front of R, ties go the other way: onnx
does not define the operators of the third line, and this is what onnxruntime's sources do. A sum has 32 bits: it is
refused unless it fits whatever the levels of its operands are, so nothing wraps. Zero points and scales are stored,
one for a tensor; those of the second factor may lie along its rows or columns.

What only moves entries, MaxPool and a Cast to real numbers act on the integers as on any other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import onnx

from ..rounding import Array, Refused
from . import affine, unary, windowed
from .plain import MICROSOFT, OF_MICROSOFT
from .program import Operand, Program
from .quantisers import TYPES, Levels, along, dequantised, meant, product, quantised
from .shape_operators import MOVING, joined, moved
from .value import Value

_SUMS = {"MatMulInteger", "ConvInteger", "QLinearConv", "QLinearMatMul", "QGemm"}
_OTHERS = OF_MICROSOFT.keys() - _SUMS - {"DequantizeLinear", "QuantizeLinear"}
_AS_THEY_ARE = MOVING | {"MaxPool"}
Given = Sequence[Levels | Operand | None]


def is_read(node: onnx.NodeProto, operands: Given) -> bool:
    """Whether an operator is one on levels."""
    known = node.domain == MICROSOFT or node.op_type in _SUMS
    return known or any(isinstance(one, Levels) for one in operands)


def computed(program: Program, node: onnx.NodeProto, opset: int, operands: Given, given: dict[str, Any]) -> list[Any]:
    """The results of such an operator."""
    operator, wrong = node.op_type, f"the auditor does not read {node.op_type} {node.name!r} of these integers"
    if len(node.output) != 1 and operator != "Split":
        raise Refused(wrong)
    if operator in _SUMS:
        return [_summed(program, operator, [*operands, *[None] * 9], given)]
    if operator in _OTHERS:
        return [_requantised(program, operator, opset, operands, given)]
    x, *rest = operands
    if operator == "Concat":
        types = {one.kind if isinstance(one, Levels) else getattr(one, "dtype", None) for one in operands}
        if len(types) != 1 or (kind := types.pop()) not in TYPES:
            raise Refused("a Concat of integers of several types")
        return [_plain(joined([_real(program, one) for one in operands], given["axis"], program), kind)]
    if any(isinstance(one, Levels) for one in rest):
        raise Refused(wrong)
    if operator == "QuantizeLinear" and not isinstance(x, Levels):
        return [quantised(program, operands, given)]  # type: ignore[arg-type]
    if operator == "DequantizeLinear":
        return [dequantised(program, x, rest, given)]  # type: ignore[arg-type]
    if isinstance(x, Levels) and operator == "Cast" and given["to"] in (1, 11):
        return [x.integers(program)]
    if not isinstance(x, Levels) or operator not in _AS_THEY_ARE:
        raise Refused(wrong)
    whole = x.integers(program)
    if operator == "MaxPool":
        return [_plain(windowed.computed(program, operator, opset, [whole], given), x.kind)]
    if operator == "Pad" and rest[1:] and isinstance(rest[1], np.ndarray) and rest[1].dtype == x.kind:
        rest[1] = rest[1].astype(np.float64)
    made = moved(node, opset, [whole, *rest], given, program)  # type: ignore[list-item]
    return [*made] if operator == "Shape" else [_plain(one, x.kind) for one in made]


def _plain(made: Operand, kind: np.dtype[Any]) -> Levels:
    return Levels(made, np.zeros(made.shape), kind)


def _real(program: Program, x: Levels | Operand | None) -> Operand:
    """Integers as real numbers."""
    return x.integers(program) if isinstance(x, Levels) else np.asarray(x, np.float64)


def _less(program: Program, x: Levels | Operand | None, zero: Any, axis: int | None = None) -> tuple[Operand, Array]:
    """Integers less their zero points, and how large each may be; zero points are one number unless along an axis."""
    kind = x.kind if isinstance(x, Levels) else x.dtype if isinstance(x, np.ndarray) else None
    if x is None or kind not in TYPES:
        raise Refused("an operator on levels of what are no levels, or of a type that the auditor does not read")
    base = np.zeros((), kind) if zero is None else zero
    if not isinstance(base, np.ndarray) or base.dtype != kind or (axis is None and base.size != 1):
        raise Refused("an operator on levels whose zero points are computed, several, or of another type")
    shift = along(base, x.shape, {"axis": axis or 0})
    if isinstance(x, Levels):
        low, high = TYPES[kind]
        return x.integers(program, shift), np.maximum(np.abs(low - shift), np.abs(high - shift))
    made = x.astype(np.float64) - shift  # type: ignore[union-attr]
    return made, np.abs(made)


def _scale(scale: Any, single: bool = True) -> Array:
    if not isinstance(scale, np.ndarray) or scale.dtype != np.float64 or (single and scale.size != 1):
        raise Refused("an operator on levels whose scales are computed, or more than one for its tensor")
    if not (np.isfinite(scale).all() and (scale > 0.0).all()):
        raise Refused("a scale that is not positive")
    return scale.reshape(()) if single else scale


def _summed(program: Program, operator: str, at: Given, given: dict[str, Any]) -> Levels | Operand:
    """Sums of products of integers, and what becomes of them; operands that are left out are None."""
    bare, gemm, conv = operator.endswith("Integer"), operator == "QGemm", "Conv" in operator
    first, second, zeros = (at[0], at[1], (at[2], at[3])) if bare else (at[0], at[3], (at[2], at[5]))
    bias = None if bare else at[6] if gemm else at[8]
    axis = 0 if conv or given.get("transB", 0) else -1
    a, reach = _less(program, first, zeros[0])
    b, sizes = _less(program, second, zeros[1], axis)
    if len(b.shape) < 2 or not prod(a.shape) or not prod(b.shape):
        raise Refused(f"a {operator} of a vector, or of nothing")
    if bias is not None and not (isinstance(bias, np.ndarray) and bias.dtype == np.int32):
        raise Refused(f"a {operator} with a bias of other numbers than stored integers of 32 bits")
    more = None if bias is None else bias.astype(np.float64)
    sums = sizes.sum(axis=tuple(i for i in range(sizes.ndim) if i != axis % sizes.ndim))
    if reach.max() * sums.max() + (0.0 if more is None else np.abs(more).max(initial=0.0)) >= 2.0**31:
        raise Refused(f"a {operator} whose sums 32 bits may not hold")
    if conv:
        if isinstance(b, Value):
            raise Refused(f"a {operator} whose kernel is computed")
        made: Operand = affine.convolved(program, program.value(a), b, more, given)
    elif gemm:
        turned = {name: given.get(name, 0) for name in ("transA", "transB")}
        made = affine.gemm(program, a, b, more, turned)
    else:
        made = affine.product(program, a, b)
    if bare:
        return _plain(made, np.dtype(np.int32))
    unit = product(program, _scale(at[1]), _scale(at[4], single=False))
    if gemm and (alpha := given.get("alpha", 1.0)) != 1.0:
        unit = product(program, _scale(np.array(alpha, np.float64)), unit)
    if unit.size > 1:
        place, rank = (1 if conv else -1) % len(made.shape), len(made.shape)
        if unit.ndim != 1 or unit.size != made.shape[place]:
            raise Refused(f"a {operator} with another number of scales than rows")
        unit = unit.reshape([-1 if i == place else 1 for i in range(rank)])
    else:
        unit = unit.reshape(())
    made = affine.elementwise(program, "Mul", [made, unit])
    if gemm and at[7] is None and at[8] is None:
        return made
    return _levels(program, made, at[7 if gemm else 6], at[8 if gemm else 7])


def _levels(program: Program, made: Operand, scale: Any, zero: Any, inside: bool = False) -> Levels:
    """A result as levels of its own scale and zero point."""
    if not isinstance(zero, np.ndarray) or zero.size != 1 or zero.dtype not in TYPES:
        raise Refused("levels without a stored zero point, of which nothing says what type they have")
    return quantised(program, [made, _scale(scale), zero.reshape(())], {}, inside)


def _requantised(program: Program, operator: str, opset: int, operands: Given, given: dict[str, Any]) -> Levels:
    """What an operator on real numbers gives of what levels stand for, as levels again."""
    name, count = operator.removeprefix("QLinear"), len(operands)
    triples = (count - 2) // 3 if name == "Concat" else 2 if name in ("Add", "Mul") else 1
    begin = 2 if name == "Concat" else 0
    if count != 3 * triples + 2 or not triples or given.pop("channels_last", 0):
        raise Refused(f"a {operator} in a way that the auditor does not read")
    parts = [operands[at : at + 3] for at in range(begin, begin + 3 * triples, 3)]
    reals = [meant(program, _less(program, x, zero)[0], _scale(scale), np.zeros(())) for x, scale, zero in parts]
    if name == "Concat":
        made = joined(reals, given["axis"], program)
    elif triples == 2:
        made = affine.elementwise(program, name, reals)
    elif name == "Sigmoid":
        made = unary.computed(program, name, program.value(reals[0]), {}, None)
    else:
        made = windowed.computed(program, name, opset, reals, given)
    scale, zero = operands[:2] if name == "Concat" else operands[-2:]
    return _levels(program, made, scale, zero, name in ("Add", "Mul", "AveragePool"))
