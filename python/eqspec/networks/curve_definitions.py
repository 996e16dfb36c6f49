"""What each function of one variable is: in floats, its slope, and enclosed exactly. One entry for each name.

    sigmoid 1 / (1 + e^-x)   tanh   softplus ln(1 + e^x)   softsign x / (1 + |x|)   exp   log   sqrt   reciprocal 1 / x
    square x^2   power(p) x^p   erf   sin   cos   atan   gelu x/2 (1 + erf(x / sqrt 2))   silu x sigmoid(x)
    gelu_tanh x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))   hardswish(a, b) x max(0, min(1, a x + b)), a > 0
    elu(a) x, below 0: a (e^x - 1)   celu(a) x, below 0: a (e^(x/a) - 1), a > 0   selu(a, g) g elu(a)
    mish x tanh(softplus(x))   thresholded(a) x where x > a, else 0   sign   floor   pieces (see `curves`)
    quantiser(...) (see `quantiser`)

Shapes: any, elementwise. `value` and `slope` are float64, for attacks and samples: a value is within 2^-40 max(1, |x|,
|f(x)|) of the function where its platform's exp, log, erf and trigonometry are within 2^-45, and nothing is proved of
it. `enclosed` takes intervals of integers that stand for n / 2^bits (`fixed_point`) and gives such ones that contain
the function on them: it is what a replay rests on. Of functions that are not monotone, turning points are given as
rationals around them (`curve_intervals`), which tests check. `exact` are functions that take rationals to rationals;
`exact_curves` has these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import erf as _erf_of_one
from math import isfinite, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import fixed_point as fp
from eqspec.networks import quantiser
from eqspec.networks.curve_intervals import (
    Enclosed,
    Parameters,
    anywhere,
    at_most,
    between,
    composed,
    increasing,
    rational,
    turning,
)
from eqspec.networks.curves import Curve, Pieces
from eqspec.networks.enclosure import Array
from eqspec.networks.fixed_point import Ends, Integers, UndefinedError

Mask: TypeAlias = NDArray[np.bool_]


def _no_problem(_: Parameters) -> str | None:
    return None


def _everywhere(low: Array, _high: Array, _p: Parameters) -> Mask:
    return np.ones(np.shape(low), bool)


@dataclass(frozen=True)
class Definition:
    """One function: see the head of this file. `defined` says whether it has a value everywhere on an interval."""

    value: Callable[[Array, Parameters], Array]
    slope: Callable[[Array, Parameters], Array]
    enclosed: Enclosed | None
    parameters: int = 0
    problem: Callable[[Parameters], str | None] = _no_problem
    defined: Callable[[Array, Array, Parameters], Mask] = _everywhere
    turns: Callable[[Parameters], Sequence[float]] = lambda _: ()
    onnx: str | None = None
    """The operator of ONNX that is this function, where one without attributes is."""

    @property
    def exact(self) -> bool:
        """Whether it takes rationals to rationals."""
        return self.enclosed is None


def problem(curve: Curve) -> str | None:
    """What is wrong with a curve, None if nothing is."""
    definition = DEFINITIONS.get(curve.name)
    if definition is None:
        return f"unknown function {curve.name!r}"
    if not all(isinstance(p, float) and isfinite(p) for p in curve.parameters):
        return f"{curve.name} has a parameter that is not a finite float"
    if curve.name != "pieces" and len(curve.parameters) != definition.parameters:
        return f"{curve.name} has {definition.parameters} parameters, {len(curve.parameters)} are given"
    return definition.problem(curve.parameters)


def domain_point(curve: Curve) -> float:
    """A point at which the function has a value: 0, or else 1."""
    zero = np.zeros(1)
    return 0.0 if DEFINITIONS[curve.name].defined(zero, zero, curve.parameters).all() else 1.0


def defined_everywhere(curve: Curve) -> bool:
    """Whether the function has a value at every number."""
    most = np.full(1, np.finfo(np.float64).max)
    return bool(DEFINITIONS[curve.name].defined(-most, most, curve.parameters).all())


def homogeneous(curve: Curve) -> bool:
    """Whether f(c x) = c f(x) for all c > 0."""
    if curve.name != "pieces":
        return False
    parts = Pieces.of(curve.parameters)
    return parts.knots == (0.0,) and not any(parts.values)


# Floats.


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, e) / (1.0 + e))


_erf_of_each = np.frompyfunc(_erf_of_one, 1, 1)


def _erf(x: Array) -> Array:
    return np.asarray(_erf_of_each(x), np.float64)


def _elu_value(x: Array, a: float, scale: float = 1.0) -> Array:
    return np.asarray(np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0.0) / scale)))


def _elu_slope(x: Array, a: float, scale: float = 1.0) -> Array:
    return np.asarray(np.where(x > 0, 1.0, a / scale * np.exp(np.minimum(x, 0.0) / scale)))


def _gelu_slope(x: Array, _: Parameters) -> Array:
    return np.asarray(0.5 * (1.0 + _erf(x / np.sqrt(2.0))) + x * np.exp(-x * x / 2) / np.sqrt(2.0 * pi))


def _cubic(x: Array) -> Array:
    return np.asarray(np.sqrt(2.0 / pi) * (x + 0.044715 * x * x * x))


def _gelu_tanh_slope(x: Array, _: Parameters) -> Array:
    t = np.tanh(_cubic(x))
    return np.asarray(0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * np.sqrt(2.0 / pi) * (1.0 + 3 * 0.044715 * x * x))


def _mish_slope(x: Array, _: Parameters) -> Array:
    t = np.tanh(np.logaddexp(0.0, x))
    return np.asarray(t + x * (1.0 - t * t) * _sigmoid(x))


def _hardswish_slope(x: Array, p: Parameters) -> Array:
    line = p[0] * x + p[1]
    inner = np.where((line > 0) & (line < 1), p[0] * x, 0.0)
    return np.asarray(np.clip(line, 0.0, 1.0) + inner)


def _pieces_value(x: Array, p: Parameters) -> Array:
    parts = Pieces.of(p)
    piece = np.searchsorted(np.array(parts.knots), x, side="right")
    knots = np.array([parts.knots[0], *parts.knots])
    values = np.array([float(parts.values[0]), *map(float, parts.values)])
    return np.asarray(values[piece] + np.array(parts.slopes)[piece] * (x - knots[piece]))


def _pieces_slope(x: Array, p: Parameters) -> Array:
    parts = Pieces.of(p)
    return np.asarray(np.array(parts.slopes)[np.searchsorted(np.array(parts.knots), x, side="left")])


def _power_value(x: Array, p: Parameters) -> Array:
    return np.asarray(np.power(x, p[0]))


def _power_slope(x: Array, p: Parameters) -> Array:
    return np.asarray(p[0] * np.power(x, p[0] - 1.0))


# Exact enclosures.


def _sigmoid_of(n: Integers, bits: int) -> Ends:
    low, high = fp.exp(-np.abs(n) << 4, bits + 4)
    one = 1 << (bits + 4)
    positive = ((one << bits) // (one + high), (one << bits) // (one + low) + 1)
    negative = ((low << bits) // (one + low), (high << bits) // (one + high) + 1)
    return np.where(n >= 0, positive[0], negative[0]), np.where(n >= 0, positive[1], negative[1])


def _tanh_of(n: Integers, bits: int) -> Ends:
    low, high = fp.exp(-2 * np.abs(n), bits)
    one = 1 << bits
    least, most = np.maximum(0, ((one - high) << bits) // (one + high)), ((one - low) << bits) // (one + low) + 1
    return np.where(n >= 0, least, -most), np.where(n >= 0, most, -least)


def _softplus_of(n: Integers, bits: int) -> Ends:
    low, high = fp.exp(-np.abs(n), bits)
    one = 1 << bits
    return np.maximum(n, 0) + fp.ln(one + low, bits)[0], np.maximum(n, 0) + fp.ln(one + high, bits)[1]


def _softsign_of(n: Integers, bits: int) -> Ends:
    low = (n << bits) // ((1 << bits) + np.abs(n))
    return low, low + 1


def _elu(ends: Ends, bits: int, a: float, scale: float = 1.0) -> Ends:
    """max(x, 0) + a (e^(min(x, 0) / scale) - 1), one summand after the other."""
    low, high = ends
    below = fp.times((np.minimum(low, 0), np.minimum(high, 0)), rational(1 / Fraction(scale), bits), bits)
    curved = increasing(fp.exp)(below, bits, ())
    one = 1 << bits
    bent = fp.times((curved[0] - one, np.minimum(curved[1] - one, 0)), rational(Fraction(a), bits), bits)
    return fp.plus((np.maximum(low, 0), np.maximum(high, 0)), bent)


def _selu(ends: Ends, bits: int, p: Parameters) -> Ends:
    return fp.times(_elu(ends, bits, p[0]), rational(Fraction(p[1]), bits), bits)


def _square(ends: Ends, bits: int, _: Parameters) -> Ends:
    return _whole_power(ends, bits, 2)


def _whole_power(ends: Ends, bits: int, power: int) -> Ends:
    low, high = ends
    if power == 0:
        one = np.full(low.shape, 1 << bits, object)
        return one, one
    of_low, of_high = low**power, high**power
    if power % 2:
        return fp.outward((of_low, of_high), (power - 1) * bits)
    least = np.where((low <= 0) & (high >= 0), 0, np.minimum(of_low, of_high))
    return fp.outward((least, np.maximum(of_low, of_high)), (power - 1) * bits)


def _reciprocal(ends: Ends, bits: int, _: Parameters) -> Ends:
    low, high = ends
    if ((low <= 0) & (high >= 0)).any():
        raise UndefinedError("a reciprocal of a number that may be 0")
    return fp.reciprocal(high, bits)[0], fp.reciprocal(low, bits)[1]


def _power(ends: Ends, bits: int, p: Parameters) -> Ends:
    (exponent,) = p
    if exponent == int(exponent) and abs(exponent) <= 64:
        whole = _whole_power(ends, bits, abs(int(exponent)))
        return whole if exponent >= 0 else _reciprocal(whole, bits, ())
    if ends[0].min() <= 0:
        raise UndefinedError("a broken power of a number that may be 0 or less")
    logarithm = fp.increasing(fp.ln)(ends, bits)
    return fp.increasing(fp.exp)(fp.times(logarithm, rational(Fraction(exponent), bits), bits), bits)


def _erf_of_scaled(n: Integers, bits: int) -> Ends:
    """erf(x / sqrt 2)."""
    scale = fp.sqrt(np.array(1 << (bits - 1), object), bits)
    return fp.increasing(fp.erf)(fp.times((n, n), scale, bits), bits)


def _gelu_of(n: Integers, bits: int, _: Parameters) -> Ends:
    low, high = _erf_of_scaled(n, bits)
    one = 1 << bits
    return fp.outward(fp.times((n, n), (one + low, one + high), bits), 1)


def _gelu_tanh_of(n: Integers, bits: int, _: Parameters) -> Ends:
    two_over_pi = ((1 << (2 * bits + 1)) // (fp.pi(bits) + 1), (1 << (2 * bits + 1)) // (fp.pi(bits) - 1) + 1)
    scale = fp.sqrt(np.array(two_over_pi[0], object), bits)[0], fp.sqrt(np.array(two_over_pi[1], object), bits)[1]
    cube = fp.times(rational(Fraction(44715, 10**6), bits), _whole_power((n, n), bits, 3), bits)
    low, high = fp.increasing(_tanh_of)(fp.times(scale, fp.plus((n, n), cube), bits), bits)
    one = 1 << bits
    return fp.outward(fp.times((n, n), (one + low, one + high), bits), 1)


def _silu_of(n: Integers, bits: int, _: Parameters) -> Ends:
    return fp.times((n, n), _sigmoid_of(n, bits), bits)


def _mish_of(n: Integers, bits: int, _: Parameters) -> Ends:
    return fp.times((n, n), fp.increasing(_tanh_of)(_softplus_of(n, bits), bits), bits)


def _hardswish_of(n: Integers, bits: int, p: Parameters) -> Ends:
    one = 1 << bits
    line = fp.plus(fp.times((n, n), rational(Fraction(p[0]), bits), bits), rational(Fraction(p[1]), bits))
    gate = np.minimum(np.maximum(line[0], 0), one), np.minimum(np.maximum(line[1], 0), one)
    return fp.times((n, n), gate, bits)


def _hardswish_turns(p: Parameters) -> Sequence[tuple[Fraction, Fraction]]:
    """Its slope changes sign where 2 a x + b = 0 or at the ends of the middle piece."""
    a, b = map(Fraction, p)
    points = sorted((-b / (2 * a), -b / a, (1 - b) / a))
    return [(points[0], points[-1])]


# Parameters.


def _positive_first(p: Parameters) -> str | None:
    return None if p[0] > 0 else "its first parameter has to be positive"


def _pieces_problem(p: Parameters) -> str | None:
    count = p[0] if p else 0.0
    if not (count >= 1 and count == int(count) and len(p) == 2 * int(count) + 3):
        return "pieces have n >= 1 knots, n + 1 slopes and a value, after their number n"
    knots = p[1 : int(count) + 1]
    return None if all(a < b for a, b in pairwise(knots)) else "knots have to grow"


def _above_zero(low: Array, _high: Array, _p: Parameters) -> Mask:
    return np.asarray(low > 0)


def _beside_zero(low: Array, high: Array, _p: Parameters) -> Mask:
    return np.asarray((low > 0) | (high < 0))


def _power_defined(low: Array, high: Array, p: Parameters) -> Mask:
    if p[0] != int(p[0]):
        return _above_zero(low, high, p)
    return _everywhere(low, high, p) if p[0] >= 0 else _beside_zero(low, high, p)


DEFINITIONS: dict[str, Definition] = {
    "pieces": Definition(
        _pieces_value, _pieces_slope, None, problem=_pieces_problem, turns=lambda p: Pieces.of(p).knots
    ),
    "sigmoid": Definition(
        lambda x, _: _sigmoid(x),
        lambda x, _: _sigmoid(x) * _sigmoid(-x),
        composed(increasing(_sigmoid_of)),
        onnx="Sigmoid",
    ),
    "tanh": Definition(
        lambda x, _: np.tanh(x), lambda x, _: 1.0 - np.tanh(x) ** 2, composed(increasing(_tanh_of)), onnx="Tanh"
    ),
    "softplus": Definition(
        lambda x, _: np.logaddexp(0.0, x),
        lambda x, _: _sigmoid(x),
        composed(increasing(_softplus_of)),
        onnx="Softplus",
    ),
    "softsign": Definition(
        lambda x, _: x / (1.0 + np.abs(x)),
        lambda x, _: np.asarray(1.0 / np.square(1.0 + np.abs(x)), np.float64),
        increasing(_softsign_of),
        onnx="Softsign",
    ),
    "elu": Definition(
        lambda x, p: _elu_value(x, p[0]),
        lambda x, p: _elu_slope(x, p[0]),
        composed(lambda ends, bits, p: _elu(ends, bits, p[0])),
        1,
        turns=lambda _: (0.0,),
    ),
    "celu": Definition(
        lambda x, p: _elu_value(x, p[0], p[0]),
        lambda x, p: _elu_slope(x, p[0], p[0]),
        composed(lambda ends, bits, p: _elu(ends, bits, p[0], p[0])),
        1,
        _positive_first,
    ),
    "selu": Definition(
        lambda x, p: p[1] * _elu_value(x, p[0]),
        lambda x, p: p[1] * _elu_slope(x, p[0]),
        composed(_selu),
        2,
        turns=lambda _: (0.0,),
    ),
    "exp": Definition(lambda x, _: np.exp(x), lambda x, _: np.exp(x), increasing(fp.exp), onnx="Exp"),
    "log": Definition(lambda x, _: np.log(x), lambda x, _: 1.0 / x, increasing(fp.ln), defined=_above_zero, onnx="Log"),
    "sqrt": Definition(
        lambda x, _: np.sqrt(x),
        lambda x, _: 0.5 / np.sqrt(x),
        increasing(fp.sqrt),
        defined=lambda low, _high, _p: np.asarray(low >= 0),
        onnx="Sqrt",
    ),
    "reciprocal": Definition(
        lambda x, _: 1.0 / x, lambda x, _: -1.0 / (x * x), _reciprocal, defined=_beside_zero, onnx="Reciprocal"
    ),
    "square": Definition(lambda x, _: x * x, lambda x, _: 2.0 * x, _square, turns=lambda _: (0.0,)),
    "power": Definition(
        _power_value, _power_slope, composed(_power), 1, defined=_power_defined, turns=lambda _: (0.0,)
    ),
    "erf": Definition(
        lambda x, _: _erf(x), lambda x, _: 2.0 / np.sqrt(pi) * np.exp(-x * x), increasing(fp.erf), onnx="Erf"
    ),
    "sin": Definition(
        lambda x, _: np.sin(x),
        lambda x, _: np.cos(x),
        turning(lambda n, bits, _: fp.sin(n, bits), anywhere, at_most("1")),
        onnx="Sin",
    ),
    "cos": Definition(
        lambda x, _: np.cos(x),
        lambda x, _: -np.sin(x),
        turning(lambda n, bits, _: fp.cos(n, bits), anywhere, at_most("1")),
        onnx="Cos",
    ),
    "atan": Definition(
        lambda x, _: np.arctan(x),
        lambda x, _: np.asarray(1.0 / (1.0 + np.square(x)), np.float64),
        composed(increasing(fp.atan)),
        onnx="Atan",
    ),
    "gelu": Definition(
        lambda x, _: 0.5 * x * (1.0 + _erf(x / np.sqrt(2.0))),
        _gelu_slope,
        composed(turning(_gelu_of, between("-0.752", "-0.751"), at_most("1.2"))),
        turns=lambda _: (-0.7517915246935645,),
    ),
    "gelu_tanh": Definition(
        lambda x, _: 0.5 * x * (1.0 + np.tanh(_cubic(x))),
        _gelu_tanh_slope,
        composed(turning(_gelu_tanh_of, between("-0.753", "-0.752"), at_most("1.2"))),
        turns=lambda _: (-0.7524614220710162,),
    ),
    "silu": Definition(
        lambda x, _: x * _sigmoid(x),
        lambda x, _: _sigmoid(x) * (1.0 + x * _sigmoid(-x)),
        composed(turning(_silu_of, between("-1.279", "-1.278"), at_most("1.2"))),
        turns=lambda _: (-1.2784645427610738,),
    ),
    "mish": Definition(
        lambda x, _: x * np.tanh(np.logaddexp(0.0, x)),
        _mish_slope,
        composed(turning(_mish_of, between("-1.193", "-1.192"), at_most("1.2"))),
        turns=lambda _: (-1.192438185474,),
    ),
    "hardswish": Definition(
        lambda x, p: x * np.clip(p[0] * x + p[1], 0.0, 1.0),
        _hardswish_slope,
        composed(
            turning(
                _hardswish_of,
                _hardswish_turns,
                lambda p: max(abs(2 - Fraction(p[1])), abs(Fraction(p[1])), Fraction(1)),
            )
        ),
        2,
        _positive_first,
        turns=lambda p: [float(t) for t in (-p[1] / (2 * p[0]), -p[1] / p[0], (1 - p[1]) / p[0])],
    ),
    "thresholded": Definition(
        lambda x, p: np.where(x > p[0], x, 0.0),
        lambda x, p: np.where(x > p[0], 1.0, 0.0),
        None,
        1,
        turns=lambda p: (p[0],),
    ),
    "sign": Definition(lambda x, _: np.sign(x), lambda x, _: 0.0 * x, None, onnx="Sign"),
    "floor": Definition(lambda x, _: np.floor(x), lambda x, _: 0.0 * x, None, onnx="Floor"),
    "quantiser": Definition(quantiser.value, quantiser.slope, None, 8, quantiser.problem),
}
"""Every function by its name."""
