"""Quantisers, as exact functions: levels (`functions.levels`) behind a step, and what they stand for.

    Quant, IntQuant     s (k - z),  k = R(x / s + z) cut off, with z in front of the rounding      (QONNX)
    BipolarQuant        s where x >= 0, -s elsewhere: 2 s (k - 1/2), k = floor(x / s + 1) in 0 .. 1
    QuantizeLinear      the integers k = R(x / s) + z, cut off; R to the nearest, ties to even     (ONNX)
    DequantizeLinear    s (k - z)

Low and high of Quant follow from bits, sign and `narrow` as qonnx computes them. Scales and zero points are the numbers
of the file; constants are quantised in rationals, but for the quotient of two float32 numbers in QuantizeLinear, which
is one of float32. Integers between the last two are read by DequantizeLinear alone, so no arithmetic on them, which
might wrap, is read as one of reals. Refused are parameters that are computed, blocks, a signed Quant of one bit, all of
it in float32, and files in which a value may be one number on a whole region, as the end of a Clip, whose level is
another one as a float32 quotient.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import onnx

from ..functions import BENT, Curve, joined
from ..functions.levels import AWAY, CEIL, FLOOR, HALF_AWAY, HALF_EVEN, HALF_ZERO, ZERO, level
from ..rounding import Array, Refused
from .number import Number
from .program import Operand, Operands, Program
from .value import CONSTANT, Value

MODES = {"ROUND": HALF_EVEN, "HALF_EVEN": HALF_EVEN, "HALF_UP": HALF_AWAY, "HALF_DOWN": HALF_ZERO, "CEIL": CEIL,
         "FLOOR": FLOOR, "UP": AWAY, "DOWN": ZERO}  # fmt: skip
KNOWN = dict.fromkeys(("Quant", "IntQuant"), ({"signed", "narrow", "rounding_mode"}, 4))
KNOWN["BipolarQuant"] = (set[str](), 2)
TYPES = {np.dtype(name): (np.iinfo(name).min, np.iinfo(name).max) for name in ("i1", "u1", "i2", "u2")}
AT_ENDS = {"And", "Equal", "Erf", "Greater", "GreaterOrEqual", "HardSigmoid", "Less", "LessOrEqual", "Not", "Or",
           "Sigmoid", "Sign", "Tanh", "Xor"}  # fmt: skip  # at 1, -1 or 0 on whole regions
HOLDING = {"Concat", "Max", "Min", "Pad", "Where"}  # which give constants as they are, beside what is computed
COMPUTING = {"Add": np.add, "Div": np.divide, "Mul": np.multiply, "Sub": np.subtract}
STORED = {*TYPES, np.dtype("i4")}
MOST_BITS = 50
ISOLATED = {"floor", "levels", "sign"}  # functions that give numbers far from each other
NEAR, MOST_TURNS = 2.0**-21, 32


@dataclass(frozen=True)
class Levels:
    """Integers `value` + `shift`, an array in the shape of the value, of a type that holds all of them."""

    value: Operand
    shift: Array
    kind: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tensor."""
        return self.value.shape

    def integers(self, program: Program, less: Array | float = 0.0) -> Operand:
        """Themselves as real numbers, less something else."""
        more = self.shift - less
        if isinstance(self.value, Value):
            return program.added(self.value, more) if more.any() else self.value
        return program.effort.done(np.add, self.value, more) if self.value.dtype == object else self.value + more


@dataclass(frozen=True)
class Ends:
    """What integers stand for: of inputs by their names, and of the output; each a scale and a zero point."""

    inputs: tuple[tuple[str, float, int], ...]
    output: tuple[float, int] | None


def integer_ends(said: Mapping[str, Any]) -> Ends:
    """As a question says them."""
    inputs = tuple((name, float(Fraction(one["scale"])), one["zero"]) for name, one in said["inputs"].items())
    return Ends(inputs, (one := said.get("output")) and (float(Fraction(one["scale"])), one["zero"]))


@np.errstate(all="ignore")
def held(operator: str, operands: Operands, known: Array) -> Array:
    """What entries may be on whole regions behind an operator, beside numbers that are `known` in front of it.

    Of a few known ones and constants, what comes of both, which float32 may round; of more, none is kept.
    """
    constants = [np.unique(x) for x in operands if isinstance(x, np.ndarray) and x.dtype == "f8"]
    if operator in COMPUTING and len(constants) == 1 and known.size * constants[0].size <= 512:
        pairs = np.meshgrid(known, constants[0])
        return np.stack([COMPUTING[operator](*pairs), COMPUTING[operator](*pairs[::-1])])
    return np.concatenate([[0.0, 1.0] if operator in AT_ENDS else [], *(constants if operator in HOLDING else ())])


def computed(program: Program, node: onnx.NodeProto, operands: Operands, given: Any) -> Operand:
    """What an operator of QONNX makes of its first operand."""
    known, count = KNOWN[node.op_type]
    if len(operands) != count or len(node.attribute) != len(given) or not given.keys() <= known:
        raise Refused(f"{node.op_type} {node.name!r} has other inputs or attributes than the auditor knows")
    x = _first(operands)
    scale, *rest = (_constants(operand, x.shape) for operand in operands[1:])
    if node.op_type == "BipolarQuant":
        ends, rounding, half = (np.zeros(x.shape), np.ones(x.shape)), FLOOR, np.full(x.shape, 0.5)
        return meant(program, rounded(program, x, scale, 2.0 * half, ends, rounding), 2.0 * scale, half)
    (zero, bits), signed, narrow = rest, given.get("signed", 1), given.get("narrow", 1)
    mode = given.get("rounding_mode", b"ROUND").decode("utf-8", "replace").upper()
    if mode not in MODES or not {signed, narrow} <= {0, 1}:
        raise Refused(f"a {node.op_type} in a way that the auditor does not read")
    if (bits != np.rint(bits)).any() or (bits < 1 + signed).any() or (bits > MOST_BITS).any():
        raise Refused(f"a {node.op_type} whose width is no whole number of bits from {1 + signed} to {MOST_BITS}")
    limit = 2.0 ** (bits - signed)
    ends = (narrow - limit, limit - 1.0) if signed else (np.zeros(x.shape), limit - 1.0 - narrow)
    return meant(program, rounded(program, x, scale, zero, ends, MODES[mode]), scale, zero)


@np.errstate(all="ignore")
def quantised(program: Program, operands: Operands, given: Mapping[str, Any], inside: bool = False) -> Levels:
    """QuantizeLinear of a value, or of constants; the zero point `inside` of the rounding if one operator does all."""
    x, other = _first(operands), any(given[name] for name in given.keys() - {"axis", "saturate"})
    zero = operands[2] if len(operands) > 2 and operands[2] is not None else np.zeros((), np.uint8)
    if isinstance(zero, Value) or zero.dtype not in TYPES or other:
        raise Refused("a QuantizeLinear to a type, or with attributes, that the auditor does not read")
    scale, shift = along(operands[1], x.shape, given), along(zero, x.shape, given)
    if isinstance(x, np.ndarray) and x.dtype != object and not inside:
        short = [np.float32(x), np.float32(scale), np.float32(x) / np.float32(scale)]
        held = (short[0] == x) & (short[1] == scale) & np.isfinite(short[2])
        x, scale = np.where(held, short[2], x).astype(float), np.where(held, 1.0, scale)
    held = np.array([sign * a for a in program.held for sign in (1.0, -1.0)] if isinstance(x, Value) else ())
    low, high = (end - shift for end in TYPES[zero.dtype])
    pairs = [(a, s) for s in np.unique(scale) for a in held[np.abs(held / s % 1.0 - 0.5) < 2.0**-6]]
    pairs = [(a, s) for a, s in pairs if low.min() - 1.0 < a / s < high.max() + 1.0]
    tie = any(np.rint(np.float32(a) / np.float32(s)) != round(Fraction(a) / Fraction(s)) for a, s in pairs)
    if tie or any(np.float32(a) != a and np.abs(a / s % 1.0 - 0.5) < NEAR * (1 + abs(a / s)) for a, s in pairs):
        raise Refused("a Clip to a number, or one like it, that runtimes, dividing by a scale, give another level")
    if isinstance(x, Value) and not inside and _isolated(program, x, scale):
        raise Refused("levels, signs or whole numbers times a weight that may lie between two levels")
    within, behind = (shift, np.zeros(x.shape)) if inside else (np.zeros(x.shape), shift)
    return Levels(rounded(program, x, scale, within, (low + within, high + within), HALF_EVEN), behind, zero.dtype)


def _isolated(program: Program, x: Value, scale: Array) -> bool:
    """Whether many of the numbers that are each the value of a region may lie between two levels, up to rounding.

    They are what ISOLATED functions give times a weight, and sums of signs or whole numbers. Of powers of two float32
    rounds nothing.
    """
    scales = np.unique(scale)
    for part in x.parts:
        step = program.steps[part.source] if part.source >= 0 else None
        names, single = {curve.name for curve in step.curves} if step else set[str](), part.index.shape[1] == 1
        bent = step is not None and step.curves == BENT and single
        if not bent and (not names or names - ISOLATED or not (single or names - {"levels"})):
            continue
        weights = np.unique(np.abs([_near(one) for one in part.kernels.ravel()]))
        weights = weights[weights > 0.0]
        if step and bent and _isolated(program, step.value, np.divide.outer(scales, weights)):
            return True
        constants = [a for one in x.parts if one.source == CONSTANT for a in one.kernels.ravel()]
        moved = np.unique([0.0, *map(_near, constants)])
        short = (np.frexp(np.append(weights, scales))[0] == 0.5).all()
        if not (bent or short) and any(_between(w / s, b / s) for w in weights for s in scales for b in moved):
            return True
    return False


def _between(ratio: float, moved: float) -> bool:
    """Whether many multiples of a number, moved by another one, are nearly a whole number and a half."""
    near = Fraction(ratio).limit_denominator(MOST_TURNS)
    turns = near.denominator * (0.5 - moved)
    return abs(near / Fraction(ratio) - 1) < NEAR and abs(turns - round(turns)) < NEAR * (1.0 + abs(turns))


def dequantised(program: Program, x: Levels | Operand | None, constants: Operands, given: Mapping[str, Any]) -> Operand:
    """DequantizeLinear of levels, or of integers that are stored."""
    other = any(given[name] for name in given.keys() - {"axis"})
    if x is None or isinstance(x, Value) or (isinstance(x, np.ndarray) and x.dtype not in STORED) or other:
        raise Refused("a DequantizeLinear of what is no integer, or with attributes that the auditor does not read")
    made = x if isinstance(x, Levels) else Levels(x.astype(np.float64), np.zeros(x.shape), x.dtype)
    zero = constants[1] if len(constants) > 1 and constants[1] is not None else np.zeros((), np.uint8)
    scale, base = (along(one, made.shape, given) for one in (constants[0], zero))
    return meant(program, made.value, scale, base - made.shift)


def _first(operands: Operands) -> Operand:
    x = operands[0]
    if x is None or not (isinstance(x, Value) or x.dtype.kind in "fO"):
        raise Refused("a quantiser of what is no real number")
    return x


def _constants(operand: Operand | None, shape: tuple[int, ...]) -> Array:
    """Parameters that the file holds, by entry."""
    if operand is None or isinstance(operand, Value) or operand.dtype == object:
        raise Refused("a quantiser whose parameters are computed")
    return np.broadcast_to(operand.astype(np.float64), shape)


def along(operand: Operand | None, shape: tuple[int, ...], given: Mapping[str, Any]) -> Array:
    """Parameters of ONNX: one for all, or one for each place along an axis."""
    if not isinstance(operand, np.ndarray) or operand.size == 1:
        return _constants(operand.reshape(()) if isinstance(operand, np.ndarray) else operand, shape)
    axis = given.get("axis", 1)
    if operand.ndim != 1 or not -len(shape) <= axis < len(shape) or shape[axis] != operand.size:
        raise Refused("a quantiser with another number of scales than places along its axis, or with blocks of them")
    return _constants(operand.reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))]), shape)


def rounded(program: Program, x: Operand, scale: Array, zero: Array, ends: tuple[Array, Array], mode: int) -> Operand:
    """The levels of every entry: a step, or integers."""
    if program.kind.rounds:
        raise Refused("quantisers are not read in float32, where a rounding may decide on another level")
    program.effort.name(5, *x.shape)
    every = [part.ravel() for part in np.broadcast_arrays(scale, zero, *ends, float(mode))]
    if not all(np.isfinite(part).all() for part in every):
        raise Refused("a quantiser whose numbers are not finite")
    keys = [tuple(map(float, key)) for key in zip(*every, strict=True)]
    known = {key: Curve("levels", key) for key in dict.fromkeys(keys)}
    if isinstance(x, Value):
        return program.step(x, joined([known[key] for key in keys]) if len(known) > 1 else tuple(known.values()))
    program.effort.spend(x.size)
    return np.array([_level(key, number) for key, number in zip(keys, x.ravel(), strict=True)]).reshape(x.shape)


def _level(key: tuple[float, ...], number: Any) -> float:
    """Of a constant: that of all numbers which it may be."""
    one = Number.of(number).rounded()
    low, high = (level(key, one.c + off) for off in (-one.missing, one.missing))
    if low != high:
        raise Refused("a constant that is computed, and may lie on either side of a threshold, is quantised")
    return float(low)


def _near(number: Any) -> float:
    """A constant up to far less than what `_isolated` allows for."""
    return float(number.rounded().c) if isinstance(number, Number) else float(number)


def meant(program: Program, levels: Operand, unit: Array, base: Array) -> Operand:
    """unit (k - base), exactly."""
    if not (np.isfinite(unit).all() and (unit > 0.0).all() and np.isfinite(base).all()):
        raise Refused("a scale that is not positive, or a zero point that is no number")
    if isinstance(levels, Value):
        value = program.scaled(levels, unit)
        return program.added(value, product(program, unit, -base)) if base.any() else value
    return product(program, unit, program.effort.done(np.subtract, levels, base) if base.any() else levels)


def product(program: Program, a: Array, b: Array) -> Array:
    """The product of constants: floats where no bit is lost, else exact numbers."""
    if b.dtype != object:
        (p, _), (q, _) = np.frexp(a), np.frexp(b)
        if (np.ldexp(p, 24) % 1.0 == 0.0).all() and (np.ldexp(q, 29) % 1.0 == 0.0).all():
            near = np.asarray(a * b)
            if ((np.abs(near) > 2.0**-900) | (near == 0.0)).all() and np.isfinite(near).all():
                return near
    return program.effort.done(np.multiply, a, b)
