"""Functions of one variable by name and parameters, which are exact floats; and which steps have which.

    pieces(n, k_1 ... k_n, s_0 ... s_n, v_1)    continuous, linear between knots, of slope s_i behind knot i, v_1 at k_1
    elu(a), celu(a)    x >= 0: x, else a (e^x - 1), a (e^(x/a) - 1), a > 0     selu(a, g)    g elu(a)
    hardswish(a, b)    x max(0, min(1, a x + b)), a > 0          thresholded(a)    x > a: x, else 0
    guarded(a)    x > a: x, else softplus(x)
    power(p)    x^p of x > 0; of any x where p is a whole number, of x != 0 where it is negative
    levels(scale, zero, low, high, r)    the integer that x / scale + zero is rounded to, cut off (`levels`); scale > 0
    multiples(scale, zero, low, high, r)    the same times scale, in the units of x
    sign, floor, and those of `formulas`, have none

A step has one function for every row, or one for all of them; () is the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ..rounding import Refused
from .levels import ROUNDINGS

COUNTS = {
    "atan": 0, "celu": 1, "cos": 0, "elu": 1, "erf": 0, "exp": 0, "floor": 0, "gelu": 0, "gelu_tanh": 0, "guarded": 1,
    "hardswish": 2, "levels": 5, "log": 0, "mish": 0, "multiples": 5, "power": 1, "reciprocal": 0, "relu": 0,
    "selu": 2, "sigmoid": 0, "sign": 0, "silu": 0, "sin": 0, "softplus": 0, "softsign": 0, "sqrt": 0, "square": 0,
    "tanh": 0, "thresholded": 1,
}  # fmt: skip
"""How many parameters they have; `pieces` has 2 n + 3."""
MOST_KNOTS = 64


@dataclass(frozen=True)
class Curve:
    """One of them."""

    name: str
    parameters: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        given, name = self.parameters, self.name
        if not all(isfinite(p) for p in given):
            raise Refused(f"a {name} with parameters that are no finite numbers")
        if name == "pieces":
            n = int(given[0]) if given else 0
            knots = given[1 : n + 1]
            if not 1 <= n <= MOST_KNOTS or len(given) != 2 * n + 3 or list(knots) != sorted(set(knots)):
                raise Refused("a piecewise linear function whose pieces do not fit")
        elif COUNTS.get(name) != len(given):
            raise Refused(f"the auditor knows no function {name!r} of {len(given)} parameters")
        elif (name == "celu" and given[0] <= 0.0) or (name == "hardswish" and given[0] <= 0.0):
            raise Refused(f"a {name} with a parameter that is not positive")
        elif name in ("levels", "multiples"):
            whole, ordered = all(p.is_integer() for p in given[2:]), given[2] <= given[3]
            if not (given[0] > 0.0 and whole and ordered and 0 <= given[4] < len(ROUNDINGS)):
                raise Refused("a quantiser whose numbers do not fit")

    @property
    def resting(self) -> float:
        """A point of its domain, where rows that are not there are put: 0 if that is one."""
        name, p = self.name, self.parameters
        outside = name in ("log", "reciprocal") or (name == "power" and not (p[0] >= 0.0 and p[0].is_integer()))
        return 1.0 if outside else 0.0


RELU = Curve("relu")
Curves = tuple[Curve, ...]
"""Of a step: none, one for all rows, or one for each."""
BENT: Curves = (RELU,)


def leaky(slope: float) -> Curve:
    """x of x >= 0, else slope x."""
    return Curve("pieces", (1.0, 0.0, slope, 1.0, 0.0))


def clip(low: float, high: float) -> Curve:
    """x between low < high."""
    return Curve("pieces", (2.0, low, high, 0.0, 1.0, 0.0, low))


def joined(rows: list[Curve]) -> Curves:
    """Of rows."""
    return tuple(rows[:1]) if len(set(rows)) == 1 else tuple(rows)
