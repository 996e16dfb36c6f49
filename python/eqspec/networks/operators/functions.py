"""Piecewise linear functions: Max, Min, Clip, Abs, LeakyRelu, PRelu, HardSigmoid.

Those of one variable with exact parameters are the function of a step, `pieces`. Maxima of two values, and functions
whose parameters are only known up to an error, are written exactly with ReLUs:

    max(a, b) = b + relu(a - b)                           min(a, b) = b - relu(b - a)
    max(a, c) = a + relu(c - a)                           min(a, c) = a - relu(a - c)       of large constants c
    clip(v, lo, hi) = lo + relu(v - lo) - relu(v - hi)    where lo <= hi; else hi, as ONNX says
    leaky(v) = (1 - a) relu(v) + a v

over the real numbers. Large constants, such as the ends of a type, would leave no digits of a sum. Values that are read
twice are units first, so that they are computed once. In a rounding arithmetic the functions themselves are exact but
LeakyRelu, PRelu and HardSigmoid, whose coefficients get the radius of what they may round; what every function gives is
a value of its own there (see `roundoff`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import ABSOLUTE, Curves
from eqspec.networks.curves import clip as clip_of
from eqspec.networks.curves import leaky as leaky_of
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import NONE, Indices, Selection, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value

Real = Affine | Enclosure
_LARGE = 2.0**20


def argument(value: Affine) -> Affine:
    """A value that a function reads: units, exactly, so that it can be read twice."""
    if not value.unit:
        return value if all(isinstance(part.matrix, Selection) for part in value.parts) else af.as_units(value)
    exactly = af.started_selection(value)
    return af.as_units(value, started=False) if exactly is None else exactly


def result(value: Real) -> Real:
    """What a function gives: in a rounding arithmetic the start of new sums."""
    if isinstance(value, Enclosure) or not value.unit:
        return value
    return replace(af.as_units(value), roundings=0)


def _relu(value: Affine) -> Affine:
    return af.relu(value, started=False)


def _shift(value: Affine, offset: Enclosure) -> Affine:
    return af.shift(value, offset, started=False)


def maximum(a: Real, b: Real) -> Real:
    """max(a, b), broadcast; of exact arguments in a rounding arithmetic."""
    check_broadcast(a.shape, b.shape)
    if isinstance(a, Enclosure):
        if isinstance(b, Affine):
            return maximum(b, a)
        return en.enclose(np.maximum(a.value, b.value), _larger_error(a, b))
    if isinstance(b, Enclosure):
        if _is_large(b):
            return af.add(a, _relu(_shift(af.negate(a), b)))
        return _shift(_relu(_shift(a, constants.negate(b))), b)
    return af.add(b, _relu(af.add(a, af.negate(b))))


def minimum(a: Real, b: Real) -> Real:
    """min(a, b), broadcast; of exact arguments in a rounding arithmetic."""
    check_broadcast(a.shape, b.shape)
    if isinstance(a, Enclosure):
        if isinstance(b, Affine):
            return minimum(b, a)
        return en.enclose(np.minimum(a.value, b.value), _larger_error(a, b))
    if isinstance(b, Enclosure):
        if _is_large(b):
            return af.add(a, af.negate(_relu(_shift(a, constants.negate(b)))))
        return _shift(af.negate(_relu(_shift(af.negate(a), b))), b)
    return af.add(b, af.negate(_relu(af.add(b, af.negate(a)))))


def _is_large(constant: Enclosure) -> bool:
    return bool((np.abs(constant.value) >= _LARGE).all())


def _larger_error(a: Enclosure, b: Enclosure) -> en.Array | None:
    if a.error is None and b.error is None:
        return None
    return np.asarray(np.maximum(*np.broadcast_arrays(a.radius, b.radius)))


def maximum_of(value: Affine, groups: Indices) -> Affine:
    """The largest of each group (m, n) of flat entries, -1 for none: a tree of maxima of two.

    A mask such as -1e9 is what is added to, never what something is added to: no digits of the other would be left.
    """
    value = af.rearrange(value, lambda p: p.reshape(-1))
    while groups.shape[1] > 1:
        half = -(-groups.shape[1] // 2)
        second = groups[:, :half]
        first = np.full_like(second, NONE)
        first[:, : groups.shape[1] - half] = groups[:, half:]
        both = (first != NONE) & (second != NONE) & (first != second)
        size = np.abs(value.bias.value)
        turned = both & (size[second] >= _LARGE) & (size[first] < _LARGE)
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        place = np.where(both, np.cumsum(both).reshape(both.shape) - 1, NONE)
        kept = np.where(second != NONE, second, first)
        there = kept != NONE
        base = af.rearrange(value, lambda _, at=kept[there]: at)  # type: ignore[misc]
        if both.any():
            a, b = (af.rearrange(value, lambda _, at=at[both]: at) for at in (first, second))  # type: ignore[misc]
            more = _relu(af.add(a, af.negate(b)))
            base = af.add(base, af.rearrange(more, lambda _, at=place[there]: at))  # type: ignore[misc]
        value = base
        groups = np.where(there, np.cumsum(there).reshape(there.shape) - 1, NONE)
    return af.rearrange(value, lambda _: groups[:, 0])


def _pairwise(call: OperatorCall, *, largest: bool) -> Sequence[Value]:
    if all(isinstance(call.value(i), np.ndarray) for i in range(len(call.inputs))):
        return folding.fold(call)
    values = [call.real_value(i) for i in range(len(call.inputs))]
    for value in values[1:]:
        check_one_for_all(call, values[0].shape, value.shape)
    fixed = [v for v in values if isinstance(v, Enclosure)]
    moving = [argument(v) for v in values if isinstance(v, Affine)]
    made: Real | None = None
    operands: list[Real] = [*moving, *fixed]
    for value in operands:
        if made is None:
            made = value
            continue
        made = argument(made) if isinstance(made, Affine) and not made.unit else made
        made = maximum(made, value) if largest else minimum(made, value)
    assert made is not None
    return [result(made)]


def absolute(call: OperatorCall) -> Sequence[Value]:
    """Abs."""
    if isinstance(call.value(0), np.ndarray):
        return folding.fold(call)
    x = call.real_value(0)
    if isinstance(x, Enclosure):
        return [en.enclose(np.abs(x.value), x.error)]
    return [af.curve(x, Curves.all(ABSOLUTE))]


def clip(call: OperatorCall) -> Sequence[Value]:
    """Clip, its ends as attributes before opset 11, as inputs since; either may be missing, or depend on the input."""
    if isinstance(call.value(0), np.ndarray):
        return folding.fold(call)
    x = call.real_value(0)
    low: Real | None
    high: Real | None
    if call.opset < 11:
        low, high = (None if call.attribute(n) is None else en.exactly(call.real(n, 0.0)) for n in ("min", "max"))
    else:
        low, high = (_one_number(call.real_value(i)) if call.has(i) else None for i in (1, 2))
    if isinstance(low, Affine) or isinstance(high, Affine):
        return [_between(x, low, high)]
    return [clipped(x, low, high)]


def _one_number(end: Real) -> Real:
    if prod(end.shape) != 1:
        raise UnreadableError("an end that is not one number", "export the model again")
    if isinstance(end, Affine):
        return af.rearrange(end, lambda a: a.reshape(()))
    return end.rearranged(lambda a: a.reshape(()))


def _between(x: Real, low: Real | None, high: Real | None) -> Real:
    """min(max(x, low), high), as the standard defines it for ends that may cross."""
    made = x
    for end, choose in ((low, maximum), (high, minimum)):
        if end is not None:
            made, end = (argument(v) if isinstance(v, Affine) else v for v in (made, end))
            made = choose(made, end)
    return result(made)


def clipped(x: Real, low: Enclosure | None, high: Enclosure | None) -> Real:
    """x between low and high, high where they cross."""
    if low is not None and high is not None and float(low.value) >= float(high.value):
        if low.error is not None or high.error is not None:
            raise UnreadableError("ends of a clip that are rounded and may cross", "fold the constants")
        constant = constants.add(high, en.exactly(np.zeros(x.shape)))
        # Where x has no value, neither has this: what x is made of stays, without weight.
        return constant if isinstance(x, Enclosure) else af.shift(af.scale(x, en.exactly(0.0)), constant)
    if low is None and high is None:
        return x
    if isinstance(x, Enclosure):
        above = x if low is None else maximum(x, low)
        return above if high is None else minimum(above, high)
    if low is not None and high is not None and low.error is None and high.error is None:
        return af.curve(x, Curves.all(clip_of(float(low.value), float(high.value))))
    v = argument(x)
    if low is None:
        assert high is not None
        return result(minimum(v, high))
    above = maximum(v, low)
    if high is None:
        return result(above)
    assert isinstance(above, Affine)
    return result(af.add(above, af.negate(_relu(_shift(v, constants.negate(high))))))


def leaky_relu(call: OperatorCall) -> Sequence[Value]:
    """LeakyRelu: v where it is positive, alpha v elsewhere."""
    return [_leaky(call.real_value(0), en.exactly(call.real("alpha", float(np.float32(0.01)))))]


def parametric_relu(call: OperatorCall) -> Sequence[Value]:
    """PRelu: v where it is positive, slope v elsewhere; the slope is constant and broadcast to the value."""
    x, slope = call.real_value(0), call.number(1)
    if call.opset < 7 and len(slope.shape) == 1 and slope.shape[0] > 1:
        slope = slope.rearranged(lambda a: a.reshape(-1, *(1,) * (len(x.shape) - 2)))
    check_broadcast(x.shape, slope.shape)
    if np.broadcast_shapes(x.shape, slope.shape) != x.shape:
        raise UnreadableError(f"a slope of shape {slope.shape} does not broadcast to {x.shape}", "export it again")
    check_one_for_all(call, x.shape, slope.shape)
    return [_leaky(x, slope)]


def _leaky(x: Real, slope: Enclosure) -> Real:
    if isinstance(x, Enclosure):
        below = constants.multiply(Enclosure(np.minimum(x.value, 0.0), x.error), slope)
        return constants.add(Enclosure(np.maximum(x.value, 0.0), x.error), below)
    if slope.error is None and not x.unit:
        return _by_slopes(x, np.broadcast_to(slope.value, x.shape))
    v = argument(x)
    rounded = _absorbing(en.inflate(slope, x.unit), x)
    positive = af.scale(_relu(v), constants.add(en.exactly(1.0), constants.negate(rounded)))
    return result(_underflowing(af.add(positive, af.scale(v, rounded))))


def _by_slopes(x: Affine, slopes: en.Array) -> Affine:
    """x where it is positive, elsewhere its slope times x."""
    if (slopes == 1.0).all():
        return x
    if (slopes == 0.0).all():
        return af.relu(x)
    return af.curve(x, Curves.of_numbers((slopes + 0.0).reshape(-1), leaky_of))


def hard_sigmoid(call: OperatorCall) -> Sequence[Value]:
    """HardSigmoid: alpha x + beta between 0 and 1."""
    x = call.real_value(0)
    alpha = en.exactly(call.real("alpha", float(np.float32(0.2))))
    beta = en.exactly(call.real("beta", 0.5))
    zero, one = en.exactly(0.0), en.exactly(1.0)
    if isinstance(x, Enclosure):
        return [clipped(constants.add(constants.multiply(x, alpha), beta), zero, one)]
    unit = x.unit
    if unit:
        x = argument(x)
    line = af.shift(af.scale(x, _absorbing(en.inflate(alpha, unit), x)), beta)
    return [clipped(_underflowing(line), zero, one)]


def _absorbing(factor: Enclosure, like: Affine) -> Enclosure:
    """A factor with what may be lost where it is tiny."""
    tiny = like.parts[0].units.reading.tiny
    return factor if not tiny else en.enclose(factor.value, factor.radius + 8 * tiny)


def _underflowing(value: Affine) -> Affine:
    """A value with what results may lose where they are tiny."""
    tiny = value.parts[0].units.reading.tiny
    if not tiny:
        return value
    return _shift(value, Enclosure(np.zeros(value.shape), np.full(value.shape, 8 * tiny)))


def reduced(x: Affine, groups: Indices, shape: tuple[int, ...], *, largest: bool) -> Value:
    """The largest or smallest of each group of entries, in a shape."""
    check_value((prod(shape),))
    v = argument(x)
    made = maximum_of(v if largest else af.negate(v), groups)
    made = af.rearrange(made if largest else af.negate(made), lambda p: p.reshape(shape))
    return result(made)


OPERATORS: dict[str, Operator] = {
    "Abs": absolute,
    "Clip": clip,
    "HardSigmoid": hard_sigmoid,
    "LeakyRelu": leaky_relu,
    "Max": lambda call: _pairwise(call, largest=True),
    "Min": lambda call: _pairwise(call, largest=False),
    "PRelu": parametric_relu,
}
