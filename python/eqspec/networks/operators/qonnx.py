"""Quantisers of QONNX, which Brevitas, QKeras and FINN export: Quant (IntQuant), BipolarQuant, Trunc.

    Quant           s (R(clip(x / s + z, low, high)) - z)    with z a real number, in front of the rounding
    BipolarQuant    s where x >= 0, -s elsewhere; so is a signed Quant of one bit, of x / s + z
    Trunc           round x / s + z to the nearest integer, ties to even, then R of that over 2^k

Their values are real numbers, so nothing has to dequantise them. Low and high follow from the bit width, the sign and
`narrow`, which takes the lowest of signed levels away, and the highest of unsigned ones, as qonnx computes them
(its documentation says that it means nothing for these). HALF_UP is half away from zero there.

Trunc rounds twice. With m = 2^k and k >= 1 the two are one: as m is even, the tie in front of a multiple of m rounds up
to it, so floor(round(t) / m) = floor((t + 1/2) / m). For other roundings, and k <= 0, they are two functions: an output
may have finer steps than what is truncated, as Brevitas writes averages. In Trunc of five inputs nothing is cut off; it
is read where its argument is made of quantisers alone, and so is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Array, Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.matrices import Dense, Selection
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.quantising import Steps, scales
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.networks.units import Units

DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
_AGAIN = "export the model again"
_ROUNDINGS = {
    "ROUND": Rounding.HALF_EVEN,
    "HALF_EVEN": Rounding.HALF_EVEN,
    "HALF_UP": Rounding.HALF_AWAY,
    "HALF_DOWN": Rounding.HALF_ZERO,
    "CEIL": Rounding.CEIL,
    "FLOOR": Rounding.FLOOR,
    "UP": Rounding.AWAY,
    "DOWN": Rounding.ZERO,
}
_MOST_BITS = 50


def quant(call: OperatorCall) -> Sequence[Value]:
    """Quant and IntQuant: input, scale, zero point, bit width."""
    check_signature(call, ("signed", "narrow", "rounding_mode"), 4)
    x = call.real_value(0)
    scale, zero = _by_entry(scales(call, 1), x.shape, "a scale"), _number(call, 2, x.shape)
    bits = _bits(call, 3, x.shape)
    signed, narrow = call.integer("signed", 1), call.integer("narrow", 1)
    low, high = _ends(bits, signed, narrow)
    steps = Steps(scale, zero, low, high, np.zeros(x.shape), _rounding(call, "ROUND"))
    if not (signed and (bits == 1).any()):
        return [_result(call, x, steps, scale, zero)]
    if not (bits == 1).all():
        raise UnreadableError("signed levels of one bit beside others of more", "use BipolarQuant for those of one")
    return [_bipolar(call, x, scale, zero)]


def bipolar(call: OperatorCall) -> Sequence[Value]:
    """BipolarQuant: input and scale."""
    check_signature(call, (), 2)
    x = call.real_value(0)
    return [_bipolar(call, x, _by_entry(scales(call, 1), x.shape, "a scale"), np.zeros(x.shape))]


def _bipolar(call: OperatorCall, x: Affine | Enclosure, scale: Array, zero: Array) -> Value:
    """1 where x / s + z >= 0, else -1, less z, times s."""
    above = zero + 1.0  # floor(t + 1) is at least 1 where t is at least 0
    if (above - 1.0 != zero).any():
        raise UnreadableError("a zero point of so many digits", "use BipolarQuant")
    ends = np.zeros(x.shape), np.ones(x.shape)
    steps = Steps(scale, above, *ends, np.zeros(x.shape), Rounding.FLOOR)
    return _result(call, x, steps, 2.0 * scale, above / 2.0)


def truncated(call: OperatorCall) -> Sequence[Value]:
    """Trunc: with five inputs (opset 1 of qonnx) the scale stays as it is; with six (opset 2) it is given."""
    check_signature(call, ("rounding_mode", "signed", "narrow"), 5, 6)
    x = call.real_value(0)
    nothing = np.zeros(x.shape)
    scale, zero = _by_entry(scales(call, 1), x.shape, "a scale"), _number(call, 2, x.shape)
    bits, rounding = _bits(call, 3, x.shape), _rounding(call, "FLOOR")
    if len(call.node.input) == 5:
        unit, base, by = scale, zero, 2.0 ** (bits - _bits(call, 4, x.shape))
        inner = _bounds(x, scale, zero)
        low, high = (np.sign(end) * np.ceil(np.abs(end) / by) for end in inner)
    else:
        unit = _by_entry(scales(call, 4), x.shape, "a scale")
        by = unit / scale
        base = zero / by
        low, high = _ends(_bits(call, 5, x.shape), call.integer("signed", 1), call.integer("narrow", 0))
        inner = np.floor(low * by), np.ceil(high * by)
    if (np.frexp(by)[0] != 0.5).any() or (len(call.node.input) == 6 and (scale * by != unit).any()):
        raise UnreadableError(
            "steps of which one is no power of two times the other", "use a Quant for each of the two"
        )
    if (by == 1.0).all():
        return [_result(call, x, Steps(scale, zero, low, high, nothing), unit, base)]
    if rounding is Rounding.FLOOR and (by >= 2.0).all() and ((zero + 0.5) - 0.5 == zero).all():
        return [_result(call, x, Steps(scale * by, (zero + 0.5) / by, low, high, nothing, Rounding.FLOOR), unit, base)]
    whole = _result(call, x, Steps(scale, zero, *inner, nothing), np.ones(x.shape), nothing)
    return [_result(call, whole, Steps(by, nothing, low, high, nothing, rounding), unit, base)]


def _result(call: OperatorCall, x: Affine | Enclosure, steps: Steps, unit: Array, base: Array) -> Affine | Enclosure:
    """unit (k - base) of the levels of a value."""
    if isinstance(x, Affine):
        return Levels.of(steps.of_variable(call, x), x.shape, 0, 0).meaning(unit, base)
    whole = en.add(en.exactly(steps.of_constant(call, x)), en.exactly(-base))
    return constants.multiply(whole, en.exactly(unit))


def check_signature(call: OperatorCall, attributes: Sequence[str], *inputs: int) -> None:
    """These operators have no definition in onnx: attributes and inputs are checked here."""
    names = [a.name for a in call.node.attribute]
    unknown = [name for name in names if name not in attributes]
    if unknown or len(set(names)) < len(names):
        raise UnreadableError(f"attribute {[*unknown, *names][0]!r} is not known, or given twice", _AGAIN)
    if len(call.node.input) not in inputs or len(call.node.output) != 1:
        raise UnreadableError(f"{len(call.node.input)} inputs and {len(call.node.output)} outputs", _AGAIN)


def _by_entry(a: Array, shape: tuple[int, ...], what: str) -> Array:
    try:
        return np.broadcast_to(a, shape)
    except ValueError as error:
        raise UnreadableError(f"{what} of shape {a.shape} does not broadcast to {shape}", _AGAIN) from error


def _number(call: OperatorCall, index: int, shape: tuple[int, ...]) -> Array:
    """A parameter that is known exactly, of any type."""
    found = call.value(index)
    if isinstance(found, np.ndarray):
        numbers = found.astype(np.float64)
    else:
        constant = call.number(index)
        if constant.error is not None:
            message = f"input {index} ({call.node.input[index]!r}) is computed, and only known up to rounding"
            raise UnreadableError(message, "store it as a constant of the file")
        numbers = constant.value
    return _by_entry(numbers, shape, "a parameter")


def _bits(call: OperatorCall, index: int, shape: tuple[int, ...]) -> Array:
    bits = _number(call, index, shape)
    if (bits != np.rint(bits)).any() or (bits < 1).any() or (bits > _MOST_BITS).any():
        message = f"a width that is not a whole number from 1 to {_MOST_BITS} bits"
        raise UnreadableError(message, "quantise to whole bits")
    return bits


def _ends(bits: Array, signed: int, narrow: int) -> tuple[Array, Array]:
    """The lowest and highest level, as qonnx computes them."""
    if signed:
        half = 2.0 ** (bits - 1.0)
        return -half + (1.0 if narrow else 0.0), half - 1.0
    return np.zeros(bits.shape), 2.0**bits - (2.0 if narrow else 1.0)


def _rounding(call: OperatorCall, default: str) -> Rounding:
    found = call.attribute("rounding_mode")
    mode = default if found is None else found.s.decode("utf-8", "replace").upper()
    if mode not in _ROUNDINGS:
        raise UnreadableError(f"the rounding {mode!r}", f"use one of {', '.join(_ROUNDINGS)}")
    return _ROUNDINGS[mode]


def _bounds(x: Affine | Enclosure, scale: Array, zero: Array) -> tuple[Array, Array]:
    """Integers between which round(x / s + z) lies."""
    most = _largest(x) if isinstance(x, Affine) else float(np.max(np.abs(x.value) + x.radius, initial=0.0))
    reach = np.ceil(most / scale * 1.001 + np.abs(zero)) + 2.0
    if not (reach < 2.0**_MOST_BITS).all():
        cause = "it cuts nothing off, and its argument is not made of quantisers alone, which would bound it"
        raise UnreadableError(cause, "put a Quant in front of it, or write Trunc with six inputs (qonnx opset 2)")
    return -reach, reach


def _largest(x: Affine, depth: int = 0) -> float:
    """A bound of the absolute entries of a value, infinite where it depends on more than quantisers."""
    total = float(np.max(np.abs(x.bias.value) + x.bias.radius, initial=0.0))
    for part in x.parts:
        match part.matrix:
            case Selection(_, scale):
                weight = np.abs(scale.value) + scale.radius
            case Dense(rows):
                weight = (np.abs(rows.value) + rows.radius).sum(axis=-1)
            case tile:
                weight = (np.abs(tile.weight.value) + tile.weight.radius).sum(axis=-1)
        most = float(np.max(weight, initial=0.0))
        if most:
            total += most * _largest_unit(part.units, depth)
    return total * 1.001


def _largest_unit(units: Units, depth: int) -> float:
    function = units.function
    if isinstance(function, Curves) and all(curve.name == "quantiser" for curve in function.kinds):
        found = [Quantiser.of(curve) for curve in function.kinds]
        ends = [(q.unit or q.scale) * (end - (q.base or 0.0)) for q in found for end in (q.low, q.high)]
        return max(map(abs, ends))
    if isinstance(function, Curves) or not units.blocks or depth > _DEEPEST:
        return np.inf
    return max(_largest(block, depth + 1) for block in units.blocks)


_DEEPEST = 20
"""Steps without a function of their own, or with ReLU, that are looked through for bounds."""

_READ: dict[str, Operator] = {"BipolarQuant": bipolar, "IntQuant": quant, "Quant": quant, "Trunc": truncated}

OPERATORS: dict[str, Operator] = {f"{domain}.{name}": read for domain in DOMAINS for name, read in _READ.items()}
"""By name with the domain."""
