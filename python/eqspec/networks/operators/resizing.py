"""Resize and Upsample: to the nearest entry, or linear and cubic interpolation along one axis after the other.

Which one is computed along each axis in exact rationals: the coordinate in the value by the coordinate mode, then
rounded by the mode for the nearest. A runtime computes it in float32; where a scale is neither whole nor one over a
whole number and the exact coordinate comes close to where rounding changes, runtimes may differ, and it is refused.
Shares of interpolation (`interpolation`) are continuous in the coordinate, so there it counts as rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, prod

import numpy as np

from eqspec.networks.matrices import Indices, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import interpolation
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply, axis_of, shape_of_value

_AGAIN = "export the model again"
_CLOSE = Fraction(1, 1000)


def upsample(call: OperatorCall) -> Sequence[Value]:
    """Upsample, the Resize of opsets 7 and 9."""
    x = call.value(0)
    _mode(call)
    scales = [float(s) for s in call.number(1).value.reshape(-1)] if call.opset >= 9 else _reals(call, "scales")
    shape = shape_of_value(x)
    if len(scales) != len(shape) or min(scales) < 1:
        raise UnreadableError(f"scales {scales[:8]} of a value of shape {shape}", _AGAIN)
    sizes = [_size(d, s) for d, s in zip(shape, scales, strict=True)]
    return _made(call, sizes, [Fraction(s) for s in scales], "asymmetric", "floor")


def resize(call: OperatorCall) -> Sequence[Value]:
    """Resize to scales or sizes."""
    x = call.value(0)
    shape = shape_of_value(x)
    _mode(call)
    if call.opset < 11:
        scales = [float(s) for s in call.number(1).value.reshape(-1)]
        _check_rank(scales, shape)
        sizes = [_size(d, s) for d, s in zip(shape, scales, strict=True)]
        if any(s < 1 for s in scales):
            raise UnreadableError("it makes a value smaller as opset 10 does", "export with opset 11 or newer")
        return _made(call, sizes, [Fraction(s) for s in scales], "asymmetric", "floor")
    if call.opset >= 18 and call.integer("antialias", 0):
        raise UnreadableError("antialias", "leave it out")
    axes = [axis_of(a, len(shape)) for a in (call.integers("axes") or [])] if call.opset >= 18 else []
    axes = axes or list(range(len(shape)))
    sizes, factors = _sizes(call, shape, axes)
    coordinates = _text(call, "coordinate_transformation_mode", "half_pixel")
    return _made(call, sizes, factors, coordinates, _text(call, "nearest_mode", "round_prefer_floor"))


def _sizes(call: OperatorCall, shape: tuple[int, ...], axes: list[int]) -> tuple[list[int], list[Fraction]]:
    """The sizes of the result, and the scale of every axis."""
    sizes, factors = list(shape), [Fraction(1)] * len(shape)
    scales = [float(s) for s in call.number(2).value.reshape(-1)] if call.has(2) else []
    wanted = [int(s) for s in call.whole(3).reshape(-1)] if call.has(3) else []
    if bool(scales) == bool(wanted):
        raise UnreadableError("both scales and sizes, or neither", _AGAIN)
    if len(scales or wanted) != len(axes) or min(scales or wanted) <= 0:
        raise UnreadableError(f"scales or sizes {(scales or wanted)[:8]} for {len(axes)} axes", _AGAIN)
    if wanted and _text(call, "keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnreadableError("sizes that keep the aspect ratio", "give the sizes themselves")
    for place, axis in enumerate(axes):
        if wanted:
            sizes[axis], factors[axis] = wanted[place], Fraction(wanted[place], shape[axis])
        else:
            factors[axis] = Fraction(scales[place])
            sizes[axis] = _size(shape[axis], scales[place])
    return sizes, factors


def _size(size: int, scale: float) -> int:
    """The size of the result, whose product runtimes round to float32: 0.9 times 10 is 9."""
    return int(np.floor(np.float32(size) * np.float32(scale)))


def _made(
    call: OperatorCall, sizes: list[int], factors: list[Fraction], coordinates: str, nearest: str
) -> Sequence[Value]:
    """The value in its new sizes, by the mode of the node."""
    x, mode = call.value(0), _mode(call)
    if mode == "nearest":
        return _taken(x, sizes, factors, coordinates, nearest)
    shape = shape_of_value(x)
    if coordinates == "tf_half_pixel_for_nn":
        raise UnreadableError(f"coordinates by {coordinates!r}, which are for the nearest", "use 'half_pixel'")
    if call.integer("exclude_outside", 0):
        raise UnreadableError("an interpolation that leaves out what is outside", "leave exclude_outside out")
    if min(sizes, default=1) < 1 or min(shape, default=1) < 1:
        raise UnreadableError(f"a result of shape {sizes} of a value of shape {shape}", _AGAIN)
    check_value(sizes)
    steep = None if mode == "linear" else Fraction(call.real("cubic_coeff_a", -0.75))
    made = call.real_value(0)
    for axis, (size, results, factor) in enumerate(zip(shape, sizes, factors, strict=True)):
        if results != size or factor != 1:
            _say_whose_ends_meet(call, size, results, factor, coordinates)
            at = [_coordinate(place, size, results, factor, coordinates) for place in range(results)]
            made = interpolation.along(made, axis, at, steep, call.given.unit)
    return [made]


def _say_whose_ends_meet(call: OperatorCall, size: int, results: int, factor: Fraction, coordinates: str) -> None:
    """A note of a length that is no whole number: the standard does not say what is aligned then."""
    if coordinates == "align_corners" and factor * size != results:
        call.notes.append(
            f"Resize {call.node.name!r} aligns the last of {size} entries with the last of {results}, as onnxruntime "
            f"and torch do; onnx's reference aligns it with place {float(factor * size) - 1:.6g}"
        )


def _taken(x: Value, sizes: list[int], factors: list[Fraction], coordinates: str, nearest: str) -> Sequence[Value]:
    shape = shape_of_value(x)
    if min(sizes, default=1) < 1:
        raise UnreadableError(f"a result of shape {sizes}", _AGAIN)
    check_value(sizes)
    places = [
        np.arange(d) if size == d and factor == 1 else _places(d, size, factor, coordinates, nearest)
        for d, size, factor in zip(shape, sizes, factors, strict=True)
    ]
    return [apply(x, lambda a: a[np.ix_(*places)] if prod(a.shape) else a)]


def _places(size: int, results: int, factor: Fraction, coordinates: str, nearest: str) -> Indices:
    simple = _is_simple(size, results, factor, coordinates)
    made = []
    for place in range(results):
        at = _coordinate(place, size, results, factor, coordinates)
        first = coordinates == "asymmetric" and place == 0  # lies at 0, whatever the scale is rounded to
        made.append(min(max(_nearest(at, nearest, simple or first), 0), size - 1))
    return np.array(made, np.intp)


def _is_simple(size: int, results: int, factor: Fraction, coordinates: str) -> bool:
    """Whether runtimes get all coordinates right in float32, and so choose the same entries."""
    match coordinates:
        case "align_corners":
            return False
        case "half_pixel_symmetric":  # whose shift is a difference of quotients
            halves = factor.numerator == 1 and factor.denominator & (factor.denominator - 1) == 0
            return factor * size == results and (halves or factor.denominator == 1)
    return factor.numerator == 1 or factor.denominator == 1


def _coordinate(place: int, size: int, results: int, factor: Fraction, coordinates: str) -> Fraction:
    """Where in the value a place of the result lies."""
    match coordinates:
        case "asymmetric":
            return place / factor
        case "half_pixel":
            return (place + Fraction(1, 2)) / factor - Fraction(1, 2)
        case "pytorch_half_pixel":
            return (place + Fraction(1, 2)) / factor - Fraction(1, 2) if results > 1 else Fraction(0)
        case "tf_half_pixel_for_nn":
            return (place + Fraction(1, 2)) / factor
        case "align_corners":
            return Fraction(place * (size - 1), results - 1) if results > 1 else Fraction(0)
        case "half_pixel_symmetric":
            adjusted = Fraction(results) / (factor * size)
            return Fraction(size, 2) * (1 - adjusted) + (place + Fraction(1, 2)) / factor - Fraction(1, 2)
        case _:
            raise UnreadableError(f"coordinates by {coordinates!r}", "resize with scales and another mode")


def _nearest(at: Fraction, mode: str, simple: bool) -> int:
    half = Fraction(1, 2)
    rounded = {
        "round_prefer_floor": ceil(at - half),
        "round_prefer_ceil": floor(at + half),
        "floor": floor(at),
        "ceil": ceil(at),
    }
    if mode not in rounded:
        raise UnreadableError(f"the nearest by {mode!r}", _AGAIN)
    edge = at + half if mode.startswith("round") else at
    distance = abs(edge - round(edge))
    if not simple and distance < _CLOSE and not (at.denominator == 1 and mode.startswith("round")):
        message = "a scale for which runtimes may choose different entries"
        raise UnreadableError(message, "resize by a whole factor, or by 'asymmetric' with 'floor'")
    return rounded[mode]


def _mode(call: OperatorCall) -> str:
    mode = _text(call, "mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        raise UnreadableError(f"interpolation in mode {mode!r}", "resize to the nearest entry, linear or cubic")
    return mode


def _check_rank(scales: list[float], shape: tuple[int, ...]) -> None:
    if len(scales) != len(shape) or min(scales) <= 0:
        raise UnreadableError(f"scales {scales[:8]} of a value of shape {shape}", _AGAIN)


def _text(call: OperatorCall, name: str, default: str) -> str:
    found = call.attribute(name)
    return default if found is None else found.s.decode("utf-8", "replace")


def _reals(call: OperatorCall, name: str) -> list[float]:
    found = call.attribute(name)
    return [] if found is None else [float(s) for s in found.floats]


OPERATORS: dict[str, Operator] = {
    "Resize": resize,
    "Upsample": upsample,
}
