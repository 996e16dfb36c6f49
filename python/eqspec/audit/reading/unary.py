"""Operators of one variable as functions of steps, and products of two values by squares:

    ceil(x) = -floor(-x),   swish(x, a) = silu(a x) / a,   c^x = e^(x ln c),
    u v = s^2 - t^2,   s = (u + v) / 2,   t = (u - v) / 2,   u / v = u (1 / v).

x times a function of the same x is one function where there is a name for it: silu, hardswish, gelu, mish. In float32
products of values are not read, and of functions it is assumed how far a runtime is off (`assumed`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..functions import Curve, joined
from ..functions.exact import behind
from ..rounding import Array, Refused
from . import assumed
from .number import Number, exact
from .program import Given, Operand, Program, Step
from .surd import root
from .value import INPUTS, Part, Value

PLAIN = {
    "Atan": "atan", "Cos": "cos", "Erf": "erf", "Exp": "exp", "Floor": "floor", "Log": "log", "Mish": "mish",
    "Reciprocal": "reciprocal", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Softplus": "softplus",
    "Softsign": "softsign", "Sqrt": "sqrt", "Tanh": "tanh",
}  # fmt: skip
SIXTH = float(np.float32(1 / 6))
"""As the function of the standard has it."""
WITH: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "Celu": ("celu", (("alpha", 1.0),)), "Elu": ("elu", (("alpha", 1.0),)),
    "Selu": ("selu", (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875))),
    "ThresholdedRelu": ("thresholded", (("alpha", 1.0),)),
}  # fmt: skip
OPERATORS = {*PLAIN, *WITH, "Ceil", "Gelu", "HardSwish", "Pow", "Swish"}


def computed(program: Program, operator: str, x: Value, attributes: Given, exponent: Operand | None) -> Value:
    """The result of one of OPERATORS, of a value that varies."""
    if operator == "Pow":
        return power(program, x, exponent)
    if operator == "Ceil":
        return program.scaled(_of(program, program.negative(x), Curve("floor")), np.array(-1.0))
    if operator == "Swish":
        return swish(program, x, float(attributes.get("alpha", 1.0)))
    if operator == "HardSwish":
        return _of(program, x, Curve("hardswish", (SIXTH, 0.5)))
    if operator == "Gelu":
        kind = attributes.get("approximate", b"none")
        if kind not in (b"none", b"tanh"):
            raise Refused("a Gelu in a way that the auditor does not read")
        return _of(program, x, Curve("gelu" if kind == b"none" else "gelu_tanh"))
    if operator in WITH:
        name, given = WITH[operator]
        return _of(program, x, Curve(name, tuple(float(attributes.get(key, value)) for key, value in given)))
    return _of(program, x, Curve(PLAIN[operator]))


def of_constants(program: Program, x: Array, curve: Curve) -> Array:
    """A function of constants: numbers, and how far they may be off."""
    if program.kind.rounds:
        raise Refused(f"the auditor does not read {curve.name} of constants in float32")
    given = [number.rounded() for number in program.effort.numbers(x).ravel()]
    ends = (np.array([n.c + sign * n.missing for n in given], object) for sign in (-1, 1))
    found = [Number.between(*pair) for pair in zip(*behind((curve,), *ends), strict=True)]
    return np.array(found, object).reshape(x.shape)


def applied(program: Program, x: Value, curve: Curve) -> Value:
    """A function of every entry, over the reals; 1 / sqrt(x) is x^(-1/2)."""
    step = whole(program, x.parts[0], x.size) if curve.name == "reciprocal" and len(x.parts) == 1 else None
    if step and step.curves == (Curve("sqrt"),) and only(x.parts[0], x.size) == 1:
        x, curve = step.value.reshaped(x.shape), Curve("power", (-0.5,))
    return program.step(x, (curve,))


def _of(program: Program, x: Value, curve: Curve) -> Value:
    """A function of every entry, as it is computed."""
    return assumed.computed(program, x, curve) if program.kind.rounds else applied(program, x, curve)


def swish(program: Program, x: Value, alpha: float) -> Value:
    """x sigmoid(alpha x)."""
    if alpha == 0.0:
        return program.scaled(x, np.array(0.5))
    if alpha == 1.0:
        return _of(program, x, Curve("silu"))
    inner = _of(program, program.scaled(x, np.array(alpha)), Curve("silu"))
    return program.scaled(inner, program.effort.done(np.true_divide, np.ones(()), np.array(alpha)))


def power(program: Program, x: Value, exponent: Operand | None) -> Value:
    """Constant powers."""
    if exponent is None or isinstance(exponent, Value) or exponent.dtype == object:
        raise Refused("the auditor reads powers with stored exponents alone")
    if np.broadcast_shapes(x.shape, exponent.shape) != x.shape:
        raise Refused("a power with more exponents than values")
    every = np.broadcast_to(exponent.astype(float), x.shape).ravel().tolist()
    if set(every) == {1.0}:
        return x
    if program.kind.rounds and len(set(every)) == 1:
        return _of(program, x, _power(every[0]))
    return program.step(x, joined([_power(p) for p in every]))


def _power(p: float) -> Curve:
    named = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}
    return Curve(named[p]) if p in named else Curve("power", (p,))


def product(program: Program, u: Value, v: Value) -> Value:
    """u v, entry by entry."""
    shape = np.broadcast_shapes(u.shape, v.shape)
    u, v = (program.taken(one, np.broadcast_to(one.places, shape)) for one in (u, v))
    if same(u, v):
        return applied(program, u, Curve("square"))
    for one, other in ((u, v), (v, u)):
        if (found := gated(program, one, other)) is not None:
            return found
    for one, other in ((v, u), (u, v)):
        if (plain := _plain(program, one)) is not None:
            factors = one.parts[0].kernels[one.parts[0].kind, 0].reshape(shape)
            return program.scaled(product(program, *((other, plain) if one is v else (plain, other))), factors)
    if _latest(v) < _latest(u):
        u, v = v, u
    half = np.array(0.5)
    s, t = (program.scaled(one, half) for one in (program.added(u, v), program.added(u, program.negative(v))))
    squares = [applied(program, one, Curve("square")) for one in (s, t)]
    return program.added(squares[0], program.negative(squares[1]))


def _plain(program: Program, x: Value) -> Value | None:
    """What is a multiple of the result of a function, entry by entry, as this result; None of all else."""
    if len(x.parts) != 1 or (part := x.parts[0]).index.shape[1] != 1 or len(part.rows) != x.size or part.source < 0:
        return None
    numbers = {exact(part.kernels[kind, 0]) for kind in np.unique(part.kind)}
    curved = program.steps[part.source].curves and not program.kind.rounds
    if not curved or (part.index < 0).any() or None in numbers or numbers == {1}:
        return None
    return Value(x.shape, (Part(part.source, part.rows, part.index, 0 * part.kind, np.ones((1, 1))),))


def _latest(x: Value) -> int:
    """The last of the steps that a value reads: which factor stands first is no choice of the file."""
    return max((part.source for part in x.parts), default=INPUTS)


def quotient(program: Program, u: Operand, v: Value) -> Value:
    """u / v, entry by entry."""
    inverse = applied(program, v, Curve("reciprocal"))
    return product(program, u, inverse) if isinstance(u, Value) else program.scaled(inverse, u)


def gated(program: Program, x: Value, gate: Value) -> Value | None:
    """x times a function of x, as one function; None where it has no name."""
    units = [part for part in gate.parts if part.source >= 0]
    if len(units) != 1 or len(gate.parts) > 2 or program.kind.rounds:
        return None
    part, (shift,) = units[0], [[p for p in gate.parts if p.source < INPUTS]]
    step = whole(program, part, gate.size)
    factor, more = only(part, gate.size), Fraction(0) if not shift else only(shift[0], gate.size)
    if step is None or len(step.curves) != 1 or not isinstance(factor, Fraction) or not isinstance(more, Fraction):
        return None
    (curve,), inner = step.curves, step.value
    ratio = _ratio(inner, x.reshaped((x.size,)))
    if ratio is None or factor == 0:
        return None
    if curve.name == "sigmoid" and more == 0:  # x sigmoid(r x) = silu(r x) / r
        return _scaled(program, applied(program, inner, Curve("silu")), factor / ratio, x.shape)
    if curve.name == "erf" and abs(more) == abs(factor):  # x (1 + erf(r x)) = 2 gelu(k x) / k, k = r sqrt 2
        ratio, factor = ratio * more / factor, more  # 1 - erf(-r x) is 1 + erf(r x)
        k = root(2 * ratio * ratio) * (1 if ratio > 0 else -1)
        stretched = program.scaled(x, np.array(Number(k, abs(ratio) * 2, 0, 0.0), object))
        inverse = root(1 / (2 * ratio * ratio)) * (2 * factor if ratio > 0 else -2 * factor)
        return _scaled(program, applied(program, stretched, Curve("gelu")), inverse, x.shape)
    return None


def whole(program: Program, part: Part, size: int) -> Step | None:
    """The step of which a part has all rows in their order; None where it is not so."""
    step = program.steps[part.source] if part.source >= 0 else None
    whole = all(np.array_equal(a.ravel(), np.arange(size)) for a in (part.rows, part.index))
    return step if whole and step is not None and step.value.size == size else None


def _scaled(program: Program, x: Value, factor: Any, shape: tuple[int, ...]) -> Value:
    size = abs(factor) if isinstance(factor, Fraction) else sum((abs(end) for end in factor.near()), Fraction(0))
    number = Number(factor, size, 0, 0.0)
    return (x if factor == 1 else program.scaled(x, np.array(number, object))).reshaped(shape)


def only(part: Part, size: int) -> Any:
    """The number that all kernels of a part with one unit a row are, or None."""
    if part.index.shape[1] != 1 or len(part.rows) != size:
        return None
    found = {exact(part.kernels[kind, 0]) for kind in np.unique(part.kind)}
    return found.pop() if len(found) == 1 else None


def same(u: Value, v: Value) -> bool:
    """Whether two values are written as the same sums."""
    return u.size == v.size and _ratio(u.reshaped((u.size,)), v.reshaped((v.size,))) == 1


def _ratio(u: Value, v: Value) -> Fraction | None:
    """r where u is r v, number by number, or None."""
    if len(u.parts) != len(v.parts):
        return None
    ratio: Fraction | None = None
    for a, b in zip(u.parts, v.parts, strict=True):
        if a.source != b.source or not (np.array_equal(a.rows, b.rows) and np.array_equal(a.index, b.index)):
            return None
        pairs = {(int(i), int(j)) for i, j in zip(a.kind, b.kind, strict=True)}
        for i, j in pairs:
            for one, other in zip(a.kernels[i], b.kernels[j], strict=True):
                p, q = exact(one), exact(other)
                if p is None or q is None or (p == 0) != (q == 0) or (q != 0 and ratio not in (None, p / q)):
                    return None
                ratio = p / q if q != 0 else ratio
    return ratio
