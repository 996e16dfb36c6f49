"""The functions as they are defined, in balls of python-flint around the exact values: the oracle of the auditor."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eqspec.audit.functions import Curve, clip, leaky

Ball = Any
SIXTH = float(np.float32(1 / 6))
CURVES = [
    *map(Curve, ("sigmoid", "tanh", "softplus", "softsign", "exp", "log", "sqrt", "reciprocal", "square", "erf")),
    *map(Curve, ("atan", "sin", "cos", "gelu", "gelu_tanh", "silu", "mish", "sign", "floor", "relu")),
    Curve("elu", (1.0,)), Curve("elu", (1.7,)), Curve("elu", (-0.5,)), Curve("celu", (0.7,)), Curve("celu", (3.0,)),
    Curve("selu", (1.67326319217681884765625, 1.05070102214813232421875)), Curve("selu", (1.5, -0.5)),
    *(Curve("power", (p,)) for p in (0.0, 1.0, 3.0, 4.0, -1.0, -2.0, -3.0, 0.25, 1.5, -1.5)),
    Curve("hardswish", (SIXTH, 0.5)), Curve("hardswish", (0.3, -0.2)), Curve("thresholded", (1.0,)),
    Curve("thresholded", (0.0,)), Curve("thresholded", (-0.5,)), leaky(0.1), leaky(-0.3), leaky(2.0), clip(-0.4, 0.9),
    Curve("pieces", (3.0, -1.0, 0.3, 0.7, 0.5, -1.0, 2.0, 0.1, 0.25)),
    *(Curve("levels", (0.25, 0.5 * (r % 2), -8.0, 7.0, float(r))) for r in range(7)),
    Curve("levels", (float(np.float32(0.3)), 1.0, 0.0, 15.0, 0.0)), Curve("levels", (0.125, -3.0, 0.0, 1.0, 3.0)),
    *(Curve("multiples", (0.25, 0.5 * (r % 2), -8.0, 7.0, float(r))) for r in range(7)),
    Curve("multiples", (float(np.float32(0.3)), 1.0, 0.0, 15.0, 0.0)),
    Curve("guarded", (20.0,)), Curve("guarded", (0.0,)), Curve("guarded", (-0.5,)),
]  # fmt: skip
"""Every name, and every shape."""


def ball(x: Any) -> Ball:
    """A float or a rational, exactly or nearly."""
    if isinstance(x, Fraction):
        return flint.arb(flint.fmpz(x.numerator)) / flint.fmpz(x.denominator)
    return flint.arb(float(x))


def name_of(curve: Curve) -> str:
    return f"{curve.name}{curve.parameters or ''}"


def kind_of(curve: Curve) -> Hashable:
    """Its name; of quantisers, also how they round."""
    return (curve.name, curve.parameters[4]) if curve.name in ("levels", "multiples") else curve.name


def smooth(curve: Curve) -> Callable[[Any], Any] | None:
    """The function as a formula of balls, or of series of them; None where it has branches."""
    one, (p, g) = flint.arb(1), (*curve.parameters, 1.0, 1.0)[:2]
    cube, root = flint.arb(44715) / 10**6, (2 / flint.arb.pi()).sqrt()
    formulas: dict[str, Callable[[Any], Any]] = {
        "sigmoid": lambda x: one / ((-x).exp() + 1),
        "atan": lambda x: x.atan(),
        "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
        "softplus": lambda x: x + ((-x).exp() + 1).log(),
        "exp": lambda x: x.exp(),
        "log": lambda x: x.log(),
        "sqrt": lambda x: x.sqrt(),
        "reciprocal": lambda x: one / x,
        "square": lambda x: x * x,
        "erf": lambda x: x.erf(),
        "sin": lambda x: x.sin(),
        "cos": lambda x: x.cos(),
        "gelu": lambda x: x * ((x / flint.arb(2).sqrt()).erf() + 1) / 2,
        "gelu_tanh": lambda x: x / ((-2 * root * (x + cube * x * x * x)).exp() + 1),
        "silu": lambda x: x / ((-x).exp() + 1),
        "mish": lambda x: x * (1 - 2 / ((x.exp() + 1) * (x.exp() + 1) + 1)),
        "power": lambda x: (
            x ** int(p) if p.is_integer() and p >= 0 else 1 / x ** int(-p) if p.is_integer() else (p * x.log()).exp()
        ),
        "elu": lambda x: p * (x.exp() - 1),
        "celu": lambda x: p * ((x / p).exp() - 1),
        "selu": lambda x: flint.arb(g) * p * (x.exp() - 1),
    }
    return formulas.get(curve.name)


def true_value(curve: Curve, x: Ball) -> Ball:
    """The function at a point, in a ball; of balls that meet a jump, not a number."""
    name, p = curve.name, curve.parameters
    if name in ("elu", "celu", "selu") and x >= 0:
        return x * (p[1] if name == "selu" else 1)
    if name == "guarded":
        return x if x > p[0] else x + ((-x).exp() + 1).log()
    formula = smooth(curve)
    if formula is not None:
        return formula(x)
    if name == "softsign":
        return x / (1 + abs(x))
    if name == "floor":
        return x.floor()
    if name in ("levels", "multiples"):
        unit = flint.arb(p[0] if name == "multiples" else 1)
        ends = [unit * _level(p, end) for end in (x.lower(), x.upper())]
        return ends[0] if ends[0] == ends[1] else flint.arb.union(*ends)
    if name == "sign":
        return flint.arb(1) if x > 0 else flint.arb(-1) if x < 0 else flint.arb(0)
    if name == "thresholded":
        return x if x > p[0] else flint.arb(0)
    if name == "hardswish":
        return x * _between(flint.arb(p[0]) * x + p[1], flint.arb(0), flint.arb(1))
    if name == "relu":
        return x if x >= 0 else flint.arb(0)
    n = int(p[0])
    knots, slopes, value = p[1 : n + 1], p[n + 1 : 2 * n + 2], flint.arb(p[-1])
    if x < knots[0]:
        return value + slopes[0] * (x - knots[0])
    for k in range(1, n):
        if x < knots[k]:
            break
        value = value + slopes[k] * (flint.arb(knots[k]) - knots[k - 1])
    else:
        k = n
    return value + slopes[k] * (x - knots[k - 1])


def _level(p: tuple[float, ...], x: Ball) -> int:
    """Of an exact ball, by decimal's roundings of integers and a half."""
    man, exp = x.mid().man_exp()
    t = Fraction(int(man)) * Fraction(2) ** int(exp) / Fraction(p[0]) + Fraction(p[1])
    whole, rest = divmod(t, 1)
    place = Decimal(int(whole)) + (Decimal(0) if rest == 0 else Decimal("0.5") + Decimal("0.1") * _sign(2 * rest - 1))
    names = ("HALF_EVEN", "HALF_UP", "HALF_DOWN", "FLOOR", "CEILING", "DOWN", "UP")
    found = int(place.quantize(Decimal(1), rounding=f"ROUND_{names[int(p[4])]}"))
    return int(min(max(found, p[2]), p[3]))


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def _between(x: Ball, low: Ball, high: Ball) -> Ball:
    return low if x <= low else high if x >= high else x


def contains(low: float | Fraction, value: Ball, high: float | Fraction) -> bool:
    """Whether the exact value lies between these, as far as its ball of many digits can tell."""
    return not (low > -np.inf and value < ball(low)) and not (high < np.inf and value > ball(high))
