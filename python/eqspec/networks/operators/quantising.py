"""What quantisers and dequantisers do to a value: parameters by entry, constants exactly, everything else as `levels`.

QuantizeLinear and DequantizeLinear of ONNX:

    k = R(x / scale) + zero, cut off at what the type of k holds      x' = scale (k - zero)

with R to the nearest, ties to even. The zero point is added behind the rounding, which matters at ties, so it is not
the `zero` of a `Quantiser` (that of QONNX is). Parameters are the float32 numbers of the file, as real numbers.

A ReLU or Clip, and a Max or Min of one number, in front of a quantiser that alone reads it is no function of its own:
rounding never decreases, so
R(max(v, a) / scale + zero) = max(R(v / scale + zero), R(a / scale + zero)), and the levels are cut off there. So they
are behind every Clip with an end whose level in float32 is another one.

Constants are quantised in rationals, but for the quotient of two float32 numbers of a file in QuantizeLinear: that is
one of float32, as the standard has it and every runtime and optimiser computes it. The largest weight of a tensor whose
scale is made of it lies at 127.5 levels, a tie, and the rational quotient beside it. A constant that a runtime has
rounded, or that is only known within a radius, could land on either side of a threshold nearby: it is refused there,
because no one can say which weight the network has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from onnx import TensorProto

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.exact_vectors import to_integers
from eqspec.networks.levels import Levels, Quantised, told_apart
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.matrices import TooLargeError, check_value
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators.held_values import level_differs
from eqspec.networks.operators.isolated_values import check_isolated
from eqspec.networks.operators.operator_call import OperatorCall, Scores, Value
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.networks.units import Reading

_AGAIN = "export the model again"
_STORE = "store it as a constant of the file, as quantisers of exporters do"
_NEARBY = 2.0**-20
"""How far, relative to its size, a runtime may have rounded a constant that it computed."""
_SMALL = 2.0**-100
"""Quotients that are smaller may underflow."""
ROUNDINGS = 8
"""Between a value, or an integer, and the number that a runtime rounds to a level: at most so many."""
SLACK = 1.001
"""For (1 + d)^k - 1 in place of k d, and for what is rounded here."""
_MOST_KINDS, _AT_ONCE = 1 << 16, 1 << 18
"""Different quantisers of one constant that are read, and how many of its numbers become integers at a time."""

_BITS = {"INT2": 2, "INT4": 4, "INT8": 8, "INT16": 16, "INT32": 32, "UINT2": 2, "UINT4": 4, "UINT8": 8, "UINT16": 16}
TYPES: dict[int, tuple[int, int]] = {
    kind: (0, 2 ** _BITS[name] - 1) if name[0] == "U" else (-(2 ** (_BITS[name] - 1)), 2 ** (_BITS[name] - 1) - 1)
    for name, kind in TensorProto.DataType.items()
    if name in _BITS
}
"""The integers that a type of levels holds."""


@dataclass(frozen=True, eq=False)
class Steps:
    """What a quantiser does to every entry of a value, all of the value's shape; see `levels.Quantised`.

    `missed` is how far a runtime may be off in front of the rounding, where that is known; else it is what the division
    by the scale makes of a value in the arithmetic of the reading.
    """

    scale: Array
    zero: Array
    low: Array
    high: Array
    shift: Array
    rounding: Rounding = Rounding.HALF_EVEN
    missed: float | None = None

    def of_variable(self, call: OperatorCall, x: Affine) -> Quantised:
        """The levels of a value that depends on the input, the first of the node's inputs."""
        scale, zero, low, high, shift = (
            a.reshape(-1) for a in (self.scale, self.zero, self.low, self.high, self.shift)
        )
        made = Quantised(x, scale, zero, low, high, shift, self.rounding, self._missed(call))
        alone = bool(call.alone and call.alone[0])
        if call.given.reading.unit and x._origin and x._origin[0].kind != "Relu":
            return made  # a runtime may round the ends of a Clip to other levels
        divided = call.node.op_type == "QuantizeLinear"
        merged, apart = _without_bend(made, x, call.plain, divided=divided)
        if alone and merged is not made:
            x.parts[0].units.reading.neurons -= x.size
        result = merged if alone or apart else made
        if divided and not call.given.reading.unit:
            bend = None if result is made else bend_of(x)
            _check_held(x if bend is None else bend[0], result)
            check_isolated(result.argument, result)
        return result

    def _missed(self, call: OperatorCall) -> Array:
        """What a runtime misses of the zero point, and by underflow; the rest is in the radius of a value.

        Of a value without a radius (`front`) the quotient is off by a share of itself. Where the level is not cut off,
        it is at most one more than the levels reach; and where it is, so is the computed one (see `requantising`).
        """
        reading = call.given.reading
        if self.missed is not None or not reading.unit or call.front == "exact":
            return np.array([self.missed or 0.0])
        zero, scale = np.abs(self.zero).reshape(-1), self.scale.reshape(-1)
        tiny = 8.0 * reading.tiny * (1.0 + scale)
        if call.front is None:
            return np.asarray(zero * scale * (2.0 * reading.unit) + tiny)
        reach = np.maximum(np.abs(self.low), np.abs(self.high)).reshape(-1) + 1.0 + 2.0 * zero
        share = reach * relative(reading.rounds)
        if not (share < 0.25).all():
            raise UnreadableError(
                "a quantiser of so many levels that float32 does not tell them apart", "use fewer bits"
            )
        return np.asarray(share * scale + tiny)

    def of_constant(self, call: OperatorCall, x: Enclosure) -> Array:
        """The levels of constants, exactly. UnreadableError where they are not certain; those cut off are said."""
        stored = x.error is None and not (call.rounded or call.given.reading.unit)
        if stored and call.node.op_type == "QuantizeLinear":
            value, scale = quotients(x.value, self.scale)
            levels, cut_off = replace(self, scale=scale).certain(Enclosure(value), rounded=False)
        else:
            levels, cut_off = self.certain(self._as_divided(x, call.given.reading), call.rounded)
        if cut_off:
            what = f"{call.node.op_type} {call.node.output[0]!r}"
            call.notes.append(f"{what}: {cut_off} of {levels.size} constants lie beyond its levels and are cut off")
        return levels

    def _as_divided(self, x: Enclosure, reading: Reading) -> Enclosure:
        """Constants with what a runtime misses that divides them by their scale; by a power of two it misses nothing.

        Unless the quotient is tiny: then it may count as zero.
        """
        if self.missed is not None:
            return en.enclose(x.value, en.add_up(x.radius, np.full(x.shape, self.missed)))
        if not reading.unit:
            return x
        size, short = np.abs(x.value) + x.radius, np.frexp(self.scale)[0] == 0.5
        missed = np.where(short & (self.zero == 0.0), 0.0, 2.0 * reading.unit * (size + np.abs(self.zero) * self.scale))
        missed += np.where((size > 0.0) & (size < _SMALL * self.scale), _SMALL * self.scale, 0.0)
        return en.enclose(x.value, en.add_up(x.radius, missed))

    def certain(self, x: Enclosure, rounded: bool) -> tuple[Array, int]:
        """The levels of constants, and how many of them were cut off at an end."""
        check_value(x.shape)
        radius = x.radius + (np.abs(x.value) * _NEARBY if rounded else 0.0)
        value, radius = x.value.reshape(-1), radius.reshape(-1)
        kinds, of_entry = told_apart(*(a.reshape(-1) for a in (self.scale, self.zero, self.low, self.high)))
        if len(kinds) > _MOST_KINDS:
            raise TooLargeError(f"{len(kinds)} different quantisers of constants; {_MOST_KINDS} are read")
        found, cut_off = np.zeros(len(value)), 0
        order = np.argsort(of_entry, kind="stable")
        bounds = np.searchsorted(of_entry[order], np.arange(len(kinds) + 1))
        for (scale, zero, *ends), start, stop in zip(kinds, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            quantiser = Quantiser(scale, int(ends[0]), int(ends[1]), self.rounding, zero)
            for at in range(start, stop, _AT_ONCE):
                here = order[at : min(stop, at + _AT_ONCE)]
                found[here], beyond = _levels_of(quantiser, value[here], radius[here])
                cut_off += beyond
        return np.asarray(found.reshape(x.shape) + self.shift), cut_off  # an array also of a single number


def quotients(value: Array, scale: Array) -> tuple[Array, Array]:
    """Numbers and scales, where both are float32 the quotient in float32 and a scale of 1."""
    with np.errstate(all="ignore"):
        short, by = value.astype(np.float32), scale.astype(np.float32)
        divided = short / by
    held = (short == value) & (by == scale) & np.isfinite(divided)
    return np.where(held, divided.astype(np.float64), value), np.where(held, 1.0, scale)


def _levels_of(quantiser: Quantiser, value: Array, radius: Array) -> tuple[Array, int]:
    """The levels of numbers within a radius, which must be certain, and how many are cut off."""
    (values, radii), exponent = to_integers(value, radius)
    shift, divisor = max(0, exponent), 1 << max(0, -exponent)
    low, high = (quantiser.levels(n << shift, divisor) for n in (values - radii, values + radii))
    least, most = quantiser.brought(low), quantiser.brought(high)
    if (least != most).any():
        message = "a constant that was computed, and may be rounded, lies at a threshold of the quantiser"
        raise UnreadableError(message, "fold the constants before exporting")
    return least.astype(np.float64), int(((low != least) & (high != most)).sum())


def _check_held(x: Affine, made: Quantised) -> None:
    """UnreadableError where a number that the argument is held at has two levels, so that neither is what all have."""
    number = level_differs(x._held, made.scale, made.low, made.high)
    if number is not None:
        message = f"a value that is held at {number!r}, as by a Clip, has another level there as a float32 quotient"
        raise UnreadableError(message, "quantise right behind the Clip, or with a scale that does not make it a tie")


def _without_bend(
    made: Quantised, x: Affine, plain: Callable[[Affine], Affine] | None, *, divided: bool
) -> tuple[Quantised, bool]:
    """The same levels, of what stands in front of a ReLU, a Clip, or a Max or Min of one number.

    The ends of a Clip are stored numbers, so where they are `divided` by the scale their levels are those of float32
    quotients; and whether one of them has another level than the rational one.
    """
    bend = bend_of(x)
    if bend is None or bend[0].shape != x.shape:
        return made, False
    inner, ends = bend
    apart = False
    for end, cut in zip(ends, (Quantised.at_least, Quantised.at_most), strict=True):
        if end is not None:
            whole = np.full(made.size, end)
            steps = Steps(made.scale, made.zero, made.low, made.high, made.shift, made.rounding)
            level = steps.certain(Enclosure(whole), rounded=False)[0]
            if divided:
                whole, scale = quotients(whole, made.scale)
                rational, level = level, replace(steps, scale=scale).certain(Enclosure(whole), rounded=False)[0]
                apart |= bool((rational != level).any())
            made = cut(made, level)
    return replace(made, argument=inner if plain is None else plain(inner)), apart


def relative(rounds: float, summed: int = 0) -> float:
    """By which share of itself a number is off that a runtime makes a level of, with `summed` terms added up."""
    return (ROUNDINGS + summed) * rounds * SLACK


def bend_of(x: Affine) -> tuple[Affine, list[float | None]] | None:
    """Of a ReLU, a Clip, or a Max or Min of one number, what it is applied to and between which ends it leaves that."""
    if not x._origin or x._origin[0].kind not in ("Relu", "Clip", "Max", "Min"):
        return None
    (origin,) = x._origin
    inner, *others = operands = origin.operands
    if origin.kind in ("Max", "Min"):
        inner, *others = operands = tuple(sorted(operands, key=lambda operand: not isinstance(operand, Affine)))
        if len(others) != 1:
            return None
    ends = [0.0, None] if origin.kind == "Relu" else ends_of_clip(operands, origin.attributes)
    if ends is None or not isinstance(inner, Affine):
        return None
    return inner, [None, ends[0]] if origin.kind == "Min" else ends


def ends_of_clip(operands: Sequence[Affine | Enclosure], attributes: Sequence[float]) -> list[float | None] | None:
    """The ends of a Clip, where they are exact numbers: twice the upper one where they cross; NaN for a missing one."""
    given = [*attributes] if attributes else []
    for end in operands[1:]:
        if not isinstance(end, Enclosure) or end.error is not None or end.value.size != 1:
            return None
        given.append(float(end.value.reshape(())))
    low, high = [*given, np.nan, np.nan][:2]
    return [None if end != end else end for end in (high if low > high else low, high)]


def along(parameter: Array, shape: tuple[int, ...], axis: int, block: int = 0) -> Array:
    """A parameter for every entry: one for all, one for each place along an axis, or one for each block of it."""
    if parameter.size == 1 and len(parameter.shape) <= 1 and not block:
        return np.broadcast_to(parameter.reshape(()), shape)
    if not -len(shape) <= axis < len(shape):
        raise UnreadableError(f"axis {axis} of a value with {len(shape)} axes", _AGAIN)
    axis %= len(shape)
    if block:
        wanted = tuple(-(-d // block) if i == axis else d for i, d in enumerate(shape))
        if block < 0 or parameter.shape != wanted:
            raise UnreadableError(f"scales of shape {parameter.shape} for blocks of {block} in {shape}", _AGAIN)
        return np.repeat(parameter, min(block, shape[axis]), axis=axis).take(range(shape[axis]), axis=axis)
    if len(parameter.shape) != 1 or parameter.shape[0] != shape[axis]:
        alike = f"ONNX takes a vector of {shape[axis]} there, or a single number, and so do runtimes; {_AGAIN}"
        raise UnreadableError(f"scales of shape {parameter.shape} along axis {axis} of {shape}", alike)
    return np.broadcast_to(parameter.reshape(tuple(-1 if i == axis else 1 for i in range(len(shape)))), shape)


def scales(call: OperatorCall, index: int) -> Array:
    """An input that holds scales: positive numbers, known exactly. QKeras writes a scale of 1 as an integer."""
    whole = call.value(index)
    is_whole = isinstance(whole, np.ndarray) and whole.dtype.kind in "iu"
    found = Enclosure(_small(call.whole(index))) if is_whole else call.number(index)
    if found.error is not None:
        raise UnreadableError(f"input {index} ({call.node.input[index]!r}), a scale, is computed", _STORE)
    if found.value.size == 0 or not (found.value > 0).all():
        raise UnreadableError(f"input {index} ({call.node.input[index]!r}), a scale, is not positive", "repair it")
    return found.value


def zeros(call: OperatorCall, index: int, like: Array) -> Array:
    """An input that holds zero points, 0 if it is left out."""
    if not call.has(index):
        return np.zeros(like.shape)
    found = call.whole(index).astype(np.float64)
    if found.size == like.size == 1:
        return found.reshape(like.shape)
    if found.shape != like.shape:
        raise UnreadableError(f"zero points of shape {found.shape} for scales of {like.shape}", _AGAIN)
    return found


def range_of(kind: int | None) -> tuple[int, int]:
    """The integers that a type holds. UnreadableError for types of another kind."""
    found = None if kind is None else TYPES.get(kind)
    if found is None:
        name = "an unknown type" if kind is None else TensorProto.DataType.Name(kind).lower()
        raise UnreadableError(f"levels of {name}", "quantise to integers of 2 to 16 bits, signed or not")
    return found


def quantised(
    call: OperatorCall,
    x: Value,
    scale: Array,
    zero: Array,
    ends: tuple[int, int],
    place: tuple[int, int] = (1, 0),
    *,
    inside: bool = False,
    missed: float | None = None,
) -> Levels | Whole:
    """Levels of ONNX; `place` are the axis and block size along which the parameters lie.

    `inside` says that the zero point is added in front of the rounding, `missed` is as in `Steps`.
    """
    if isinstance(x, Scores):
        x = x.value
    if isinstance(x, Levels):
        x = x.meaning(1.0, 0.0)
    if isinstance(x, np.ndarray):
        x = Enclosure(_small(x))
    shape = x.shape
    by_entry, shift = (along(a, shape, *place) for a in (scale, zero))
    before, shift = (shift, np.zeros(shape)) if inside else (np.zeros(shape), shift)
    low, high = (np.full(shape, float(end)) - shift for end in ends)
    steps = Steps(by_entry, before, low, high, shift, missed=missed)
    if isinstance(x, Masked | Hidden):
        raise UnreadableError("minus infinity is quantised", "mask behind the quantiser")
    if isinstance(x, Enclosure):
        return steps.of_constant(call, x).astype(np.int64)
    if call.rounded:
        raise UnreadableError("a scale that is computed of other constants, which a runtime may have rounded", _STORE)
    return Levels.of(steps.of_variable(call, x), shape, *ends)


def dequantised(
    x: Value, scale: Array, zero: Array, place: tuple[int, int] = (1, 0), of: Enclosure | None = None
) -> Affine | Enclosure:
    """scale (k - zero) of levels; of constants with the names that `of`, the scales as they were read, has."""
    if isinstance(x, Levels):
        return x.meaning(along(scale, x.shape, *place), along(zero, x.shape, *place))
    if not isinstance(x, np.ndarray):
        raise UnreadableError("real numbers are dequantised", "quantise them first, or leave the node out")
    whole = Enclosure(_small(x) - along(zero, x.shape, *place))
    by_entry = (en.exactly(scale) if of is None else of).rearranged(lambda a: along(a, x.shape, *place))
    return constants.multiply(whole, by_entry)


def _small(x: Whole) -> Array:
    """Integers as floats, which hold them."""
    numbers = x.astype(np.float64)
    if (np.abs(numbers) >= 2.0**52).any():
        raise UnreadableError("an integer beyond 2^52", "store it in fewer bits")
    return numbers
