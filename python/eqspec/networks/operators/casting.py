"""Cast: the identity on values that depend on the input, and on constants what the types of the file make of them.

All rounding at run time is left out of the real function that a network is, so casting a value between float types
changes nothing. A cast of a stored constant decides which weight the network has: it is applied, to nearest. Where
runtimes may differ, it is refused: a constant that was computed before, and so is rounded there and not here; a number
beyond the range of its new type; two roundings in a row that differ from one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.curves import ABSOLUTE, Curve, Curves, pieces
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Computed, Levels
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.matrices import Selection
from eqspec.networks.onnx_tensor import FLOATS, WHOLES, UnreadableError, Whole
from eqspec.networks.operators import integer_arithmetic
from eqspec.networks.operators.operator_call import NOT_AFFINE, Operator, OperatorCall, Scores, Value
from eqspec.networks.operators.quantising import bend_of
from eqspec.networks.quantiser import Quantiser
from eqspec.networks.whole_ranges import CAST, MOST_WHOLE

_INTEGERS = f"{NOT_AFFINE}; to round to whole numbers write Floor or Round"
_FOLD = "fold the constants before exporting, for example with onnxsim"
_AT_LEAST_A_HALF = pieces((0.5,), (0.0, 1.0), 0.5)
_MOST_CLIPS = 8
"""Behind one another, of which the range of a value is made."""
_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_SHORT: dict[int, str] = {TensorProto.FLOAT16: "<f2", TensorProto.FLOAT: "<f4"}


def cast(call: OperatorCall) -> Sequence[Value]:
    """Cast to a float type or to integers; of values, to truth values and to places that a Clip keeps in a table."""
    a, kind = call.value(0), call.integer("to", 0)
    if kind not in FLOATS and kind not in WHOLES:
        raise UnreadableError(f"a cast to type number {kind}", "cast to a float type, or to integers for shapes")
    if isinstance(a, Affine | Scores):
        if kind == TensorProto.BOOL and isinstance(a, Affine):
            return [_is_not_zero(call, a)]
        wide = kind in (TensorProto.INT32, TensorProto.INT64) and not call.given.unit
        if kind in WHOLES and not call.given.unit and isinstance(a, Affine) and (kept := _kept(a, kind)) is not None:
            return [kept]
        if isinstance(a, Affine) and call.kind(0) == TensorProto.BOOL and kind in WHOLES:
            return [integer_arithmetic.counted(call, a, np.array([0.0, 1.0]))]
        levels = _whole(a) if kind in WHOLES and isinstance(a, Affine) else None
        if levels is not None and integer_arithmetic.holds(kind, levels):
            return [levels]
        if wide and isinstance(a, Affine) and call.kind(0) in (*FLOATS, None):
            message = "a cast to integers drops what is behind the point; regions where that may reach 2^31 are refused"
            call.notes.append(f"Cast {call.node.output[0]!r}: {message}")
            return [_towards_zero(a)]
        if kind in WHOLES:
            raise UnreadableError("a value that depends on the input is cast to integers", _INTEGERS)
        if kind in _HALVES:
            name = TensorProto.DataType.Name(kind).lower()
            call.notes.append(f"Cast {call.node.output[0]!r} to {name} is the identity: rounding is not modelled")
        return [a]
    assert not isinstance(a, Levels | Masked | Hidden)  # an operator of their own casts them
    if kind in WHOLES:
        return [_cut(a, np.dtype(WHOLES[kind])) if isinstance(a, np.ndarray) else _truncated(a, kind, call.rounded)]
    if isinstance(a, Enclosure) and (call.kind(0) == kind or (kind == TensorProto.FLOAT and call.kind(0) in _HALVES)):
        return [a]  # it is of a type that this one holds, so nothing is rounded here that was not before
    return [_narrow(_real(a) if isinstance(a, np.ndarray) else a, kind, call.rounded)]


def _kept(a: Affine, kind: int) -> Levels | None:
    """What Clip, Max and Min keep between numbers of an integer type, rounded towards zero; None of all else.

    Numbers that were rounded before stay what they are, as in quantisers that are written out.
    """
    low, high, inner = _range(a, _MOST_CLIPS)
    if kind == TensorProto.BOOL or not -MOST_WHOLE < low <= high < MOST_WHOLE:
        return None
    limits, ends = np.iinfo(WHOLES[kind]), (int(low), int(high))
    if not limits.min <= ends[0] <= ends[1] <= limits.max:
        return None
    floor = Curves.all(Curve("floor"))
    if ends == (low, high) and _is_whole(inner):
        made = a
    elif low >= 0:
        made = af.curve(a, floor)
    elif high <= 0:
        made = af.negate(af.curve(af.negate(a), floor))
    else:
        made = towards_zero(a)
    return Levels.of(Computed(made), a.shape, *ends)


def _range(a: Affine, depth: int) -> tuple[float, float, Affine]:
    """Between which numbers Clip, Max and Min by single numbers leave a value, and what they are applied to."""
    bend = bend_of(a) if depth else None
    if bend is None:
        return -np.inf, np.inf, a
    x, (lower, upper) = bend
    low, high, inner = _range(x, depth - 1)
    if lower is not None:
        low, high = max(low, lower), max(high, lower)
    if upper is not None:
        low, high = min(low, upper), min(high, upper)
    return low, high, inner


def _is_whole(a: Affine) -> bool:
    """Whether a value is a sum of functions that give whole numbers, each a whole number of times."""
    if not a.exact or (a.bias.value != np.rint(a.bias.value)).any():
        return False
    for part in a.parts:
        function = part.units.function
        if (
            not isinstance(part.matrix, Selection)
            or (part.matrix.scale.value != np.rint(part.matrix.scale.value)).any()
        ):
            return False
        if not isinstance(function, Curves) or not {kind.name for kind in function.kinds} <= {"floor", "sign"}:
            return False
    return True


def _towards_zero(a: Affine) -> Levels:
    """Any real number without what is behind its point. No task is about regions in which it leaves 32 bits."""
    most = int(MOST_WHOLE) - 1
    return Levels.of(Computed(towards_zero(a, CAST)), a.shape, -most, most)


def towards_zero(a: Affine, least: Curve = _AT_LEAST_A_HALF) -> Affine:
    """floor(max(a, 1/2)) - floor(max(-a, 1/2)), by any such maximum: one of both is far from a jump."""
    floor, kept = Curves.all(Curve("floor")), Curves.all(least)
    up, down = (af.curve(af.curve(side, kept), floor) for side in (a, af.negate(a)))
    return af.add(up, af.negate(down))


def _whole(a: Affine) -> Levels | None:
    """What a quantiser makes of integers that were cast to floating-point numbers; None of all else."""
    matrix, units = a.matrix, a.parts[0].units
    if not isinstance(matrix, Selection) or not a.exact or (matrix.scale.value != 1.0).any() or a.bias.value.any():
        return None
    if not isinstance(units.function, Curves) or any(kind.name != "quantiser" for kind in units.function.kinds):
        return None
    found = [Quantiser.of(kind) for kind in units.function.kinds]
    if any(q.unit != 1.0 or q.base is None or q.base != int(q.base) for q in found):
        return None
    low, high = min(q.low - (q.base or 0.0) for q in found), max(q.high - (q.base or 0.0) for q in found)
    return Levels.of(Computed(a), a.shape, int(low), int(high))


def _is_not_zero(call: OperatorCall, a: Affine) -> Affine:
    """A value as a truth value, 0 or 1: whether it is not zero."""
    if call.kind(0) == TensorProto.BOOL:
        return a
    if call.kind(0) not in FLOATS or call.given.unit:
        raise UnreadableError("a value that depends on the input is cast to a truth value", NOT_AFFINE)
    return af.curve(af.curve(a, Curves.all(Curve("sign"))), Curves.all(ABSOLUTE))


def _real(a: Whole) -> Enclosure:
    """Integers as real numbers."""
    numbers = a.astype(np.float64)
    if (np.abs(numbers) >= 2.0**53).any():
        raise UnreadableError("an integer beyond 2^53 is cast to a float", "store it as a float")
    return Enclosure(numbers)


def is_exact(a: Enclosure, kind: int | None) -> bool:
    """Whether a type holds these very numbers. An unknown type holds none."""
    if a.error is not None or kind is None:
        return False
    return bool((_nearest(a, kind) == a.value).all())


def _nearest(a: Enclosure, kind: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The nearest numbers of a type; of bfloat16 those towards zero, which is enough to tell whether it holds them."""
    with np.errstate(over="ignore"):
        if kind == TensorProto.BFLOAT16:
            bits = a.value.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
            return np.asarray(bits.view(np.float32).astype(np.float64))
        return np.asarray(a.value.astype(_SHORT.get(kind, "<f8")).astype(np.float64))


def _narrow(a: Enclosure, kind: int, rounded: bool) -> Enclosure:
    if kind == TensorProto.DOUBLE or is_exact(a, kind):
        return a
    name = TensorProto.DataType.Name(kind).lower()
    if a.error is not None or rounded:
        raise UnreadableError(f"a computed constant is rounded by a cast to {name}", _FOLD)
    if kind == TensorProto.BFLOAT16:
        raise UnreadableError("a constant is rounded to bfloat16", "store the rounded constant")
    near = _nearest(a, kind)
    if not np.isfinite(near).all():
        raise UnreadableError(f"a constant is beyond the range of {name}, to which it is cast", "rescale the weights")
    with np.errstate(over="ignore"):
        if (near != a.value.astype(np.float32).astype(_SHORT[kind]).astype(np.float64)).any():
            message = f"a constant rounds to one {name} at once and to another by way of float"
            raise UnreadableError(message, "store the rounded constant")
    return Enclosure(near)


def _truncated(a: Enclosure, kind: int, rounded: bool) -> Whole:
    """Real numbers as integers, towards zero; as a truth value, whether they are not zero."""
    if a.error is not None or rounded:
        raise UnreadableError("a constant that was computed and may be rounded is cast to integers", _FOLD)
    if kind == TensorProto.BOOL:
        return np.asarray(a.value != 0)
    dtype = np.dtype(WHOLES[kind])
    limits, whole = np.iinfo(dtype), np.trunc(a.value)
    if ((whole < float(limits.min)) | (whole >= float(limits.max) + (1.0 if dtype.itemsize < 8 else 0.0))).any():
        message = f"a constant is beyond the range of {dtype}, to which it is cast"
        raise UnreadableError(message, "store it as integers")
    return np.asarray(whole.astype(dtype))


def _cut(a: Whole, dtype: np.dtype[np.generic]) -> Whole:
    """Integers of another size: the upper bits are dropped, as ONNX says; as a truth value, whether they are not 0."""
    return np.asarray(a != 0) if dtype.kind == "b" else np.asarray(a.astype(dtype))


OPERATORS: dict[str, Operator] = {
    "Cast": cast,
}
