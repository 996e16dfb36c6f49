"""Functions of one variable: Sigmoid, Tanh, Softplus, Elu, Exp, Log, Sqrt, Pow, Erf, Gelu, Swish, Mish, Sign, Floor ...

On values that depend on the input each of them is the function of a step (`curve_definitions`), with the parameters of
the file as they are, float32 numbers. Constants are enclosed, as everything that is folded. Only what a function is
defined on counts: where an argument may leave the domain of Log, Sqrt or Reciprocal, nothing is proved.

    ceil(x) = -floor(-x)         swish(x, a) = silu(a x) / a         c^x = e^(x ln c), c > 0
    round(x) = floor(x / 2 + 1/4) - floor(1/4 - x / 2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curve_definitions import problem
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.exact_curves import applied
from eqspec.networks.exact_vectors import Vector, to_integers
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding
from eqspec.networks.operators.broadcasting import check_broadcast, check_one_for_all
from eqspec.networks.operators.isolated_values import check_threshold
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.runtime_functions import as_computed

Real = Affine | Enclosure
_BITS = 200
"""Behind the point, in which constants are enclosed before they are rounded to floats."""
_RUNTIME = 16
"""Units in the last place of 1 by which runtimes may miss the function of a constant."""


def of(curve: Curve, x: Real) -> Real:
    """A function of a value. UnreadableError where a constant is outside of its domain."""
    return of_entries(Curves.all(curve), x)


def of_entries(curves: Curves, x: Real) -> Real:
    """Functions of the entries of a value, in C order."""
    for curve in curves.kinds:
        wrong = problem(curve)
        if wrong is not None:
            raise UnreadableError(wrong, "export the model again")
    return as_computed(af.curve(x, curves), curves, x) if isinstance(x, Affine) else _of_constant(curves, x)


def _of_constant(curves: Curves, x: Enclosure) -> Enclosure:
    (values, radii), exponent = to_integers(x.value.reshape(-1), x.radius.reshape(-1))
    lower = values - radii
    vector = Vector(lower, lower if x.error is None else values + radii, exponent, 1)
    try:
        found = en.from_intervals(applied(curves, vector, _BITS).fractions())
    except UndefinedError as error:
        raise UnreadableError(
            f"{curves} of a constant outside of its domain ({error})", "repair the constant"
        ) from error
    found = found.rearranged(lambda a: a.reshape(x.shape))
    if curves.uniform is None:
        return found
    numbers = " ".join(p.hex() for p in curves.uniform.parameters)
    return constants.named(found, f"{curves.uniform.name} {numbers}", x)


def _unary(make: Callable[[OperatorCall], Curve]) -> Operator:
    def operator(call: OperatorCall) -> Sequence[Value]:
        if isinstance(call.value(0), np.ndarray):
            return folding.fold(call)
        return [_as_computed(call, of(make(call), call.real_value(0)))]

    return operator


def _as_computed(call: OperatorCall, made: Real) -> Real:
    """What a runtime computes of constants is inflated where its rounding counts."""
    if isinstance(made, Affine) or not call.given.unit:
        return made
    size = np.maximum(1.0, np.abs(made.value))
    return en.enclose(made.value, en.add_up(made.radius, size * (_RUNTIME * call.given.unit)))


def _plain(name: str) -> Operator:
    return _unary(lambda _: Curve(name))


def _with(name: str, *attributes: tuple[str, float]) -> Operator:
    return _unary(lambda call: Curve(name, tuple(call.real(key, default) for key, default in attributes)))


def _gelu(call: OperatorCall) -> Curve:
    found = call.attribute("approximate")
    kind = b"none" if found is None else found.s
    if kind not in (b"none", b"tanh"):
        raise UnreadableError(f"a GELU approximated by {kind.decode(errors='replace')!r}", "export the model again")
    return Curve("gelu" if kind == b"none" else "gelu_tanh")


def swish(call: OperatorCall) -> Sequence[Value]:
    """Swish: x sigmoid(alpha x)."""
    x, alpha = call.real_value(0), en.exactly(call.real("alpha", 1.0))
    if alpha.value == 1.0:
        return [_as_computed(call, of(Curve("silu"), x))]
    if alpha.value == 0.0:
        return [scaled(x, en.exactly(0.5))]
    inner = of(Curve("silu"), scaled(x, alpha))
    return [_as_computed(call, scaled(inner, constants.divide(en.exactly(1.0), alpha)))]


def scaled(x: Real, factor: Enclosure) -> Real:
    """x times a constant."""
    return af.scale(x, factor) if isinstance(x, Affine) else constants.multiply(x, factor)


def _step_function(name: str, *, turned: bool = False) -> Operator:
    """A function with jumps; turned: -f(-x). Constants are only taken where the result is certain."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        if folding.is_constant(call):
            return folding.fold(call)
        x = call.real_value(0)
        assert isinstance(x, Affine)
        if name == "sign":
            check_threshold(x)
        made = af.curve(af.negate(x) if turned else x, Curves.all(Curve(name)))
        return [af.negate(made) if turned else made]

    return operator


def round_to_even(call: OperatorCall) -> Sequence[Value]:
    """Round, ties to the even number: it jumps up at 2 k + 3/2, with the tie above, and at 2 k + 1/2, with it below."""
    if folding.is_constant(call):
        return folding.fold(call)
    call.refuse_rounded_jump("rounding to whole numbers jumps at a tie")
    x = call.real_value(0)
    assert isinstance(x, Affine)
    half, quarter, floor = af.scale(x, en.exactly(0.5)), en.exactly(0.25), Curves.all(Curve("floor"))
    above = af.curve(af.shift(half, quarter), floor)
    below = af.curve(af.shift(af.negate(half), quarter), floor)
    return [af.add(above, af.negate(below))]


def power(call: OperatorCall) -> Sequence[Value]:
    """Pow with a constant exponent, or of a constant."""
    if isinstance(call.value(0), np.ndarray):
        return folding.fold(call)
    base, given = call.real_value(0), call.value(1)
    exponent = Enclosure(given.astype(np.float64)) if isinstance(given, np.ndarray) else call.real_value(1)
    check_broadcast(base.shape, exponent.shape)
    check_one_for_all(call, base.shape, exponent.shape)
    if isinstance(exponent, Affine):
        if isinstance(base, Affine) or not (base.value - base.radius > 0).all():
            fix = "only powers with a constant exponent, or of a positive constant, are read"
            raise UnreadableError("a power whose base and exponent both depend on the input", fix)
        return [of(Curve("exp"), af.scale(exponent, _of_constant(Curves.all(Curve("log")), base)))]
    if exponent.error is not None:
        return [_enclosed_power(call, base, exponent)]
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    if isinstance(base, Enclosure):
        base = base.rearranged(lambda a: np.broadcast_to(a, shape))
    else:
        base = af.broadcast(base, shape)
    exponents = np.broadcast_to(exponent.value, shape).reshape(-1) + 0.0
    if exponents.size and (exponents == 1.0).all():
        return [base]
    if exponents.size and (exponents == 0.5).all() and (root := _exact_root(base)) is not None:
        return [_as_computed(call, root)]
    return [_as_computed(call, of_entries(Curves.of_numbers(exponents, _power), base))]


def _enclosed_power(call: OperatorCall, base: Real, exponent: Enclosure) -> Real:
    """x^a = exp(a log x), where the graph computes a, as 1 / p of a generalised mean. It has a value for positive x."""
    if prod(exponent.shape) != 1 or call.given.unit:  # in float32 a is another number
        raise UnreadableError("an exponent that is only known up to rounding", "store the exponent as a constant")
    logarithm = of(Curve("log"), base)
    if isinstance(logarithm, Enclosure):
        return of(Curve("exp"), constants.multiply(logarithm, exponent))
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    return of(Curve("exp"), af.scale(af.broadcast(logarithm, shape), exponent))


def square_root(call: OperatorCall) -> Sequence[Value]:
    """Sqrt."""
    root = _exact_root(call.real_value(0))
    return _plain("sqrt")(call) if root is None else [_as_computed(call, root)]


def _exact_root(x: Real) -> Enclosure | None:
    """The square roots of constants that all have one without rounding, as files compute sizes of a grid of patches."""
    if not isinstance(x, Enclosure) or x.error is not None or not (x.value >= 0).all():
        return None
    root = constants.square_root(x)
    return root if root.error is None else None


def _power(exponent: float) -> Curve:
    named = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}
    return Curve(named[exponent]) if exponent in named else Curve("power", (exponent,))


_SIXTH = float(np.float32(1 / 6))
_SELU = (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875))

OPERATORS: dict[str, Operator] = {
    "Atan": _plain("atan"),
    "Ceil": _step_function("floor", turned=True),
    "Celu": _with("celu", ("alpha", 1.0)),
    "Cos": _plain("cos"),
    "Elu": _with("elu", ("alpha", 1.0)),
    "Erf": _plain("erf"),
    "Exp": _plain("exp"),
    "Floor": _step_function("floor"),
    "Gelu": _unary(_gelu),
    "HardSwish": _unary(lambda _: Curve("hardswish", (_SIXTH, 0.5))),
    "Log": _plain("log"),
    "Mish": _plain("mish"),
    "Pow": power,
    "Reciprocal": _plain("reciprocal"),
    "Round": round_to_even,
    "Selu": _with("selu", *_SELU),
    "Sigmoid": _plain("sigmoid"),
    "Sign": _step_function("sign"),
    "Sin": _plain("sin"),
    "Softplus": _plain("softplus"),
    "Softsign": _plain("softsign"),
    "Sqrt": square_root,
    "Swish": swish,
    "Tanh": _plain("tanh"),
    "ThresholdedRelu": _with("thresholded", ("alpha", 1.0)),
}
