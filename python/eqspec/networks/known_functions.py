"""Expressions of one variable that are known functions of it: outer f(inner X + shift) + rest.

Sound because an expression is a real function with enclosed coefficients, and is compared with functions in exact
arithmetic: where a constant is not the one of a function (float32 holds neither 1 / sqrt 2 nor 1 / 6), X is scaled in
front and the result behind, by enclosed numbers. The tanh form of GELU has two constants and one scale, so there the
rest is bounded: for F = k x (1 + tanh(s x + t x^3)) and f with s0, t0 in their place, s, s0 >= 0.79 and t, t0 >= 0,

    |F - f| <= |k| |x| (|s - s0| |x| + |t - t0| |x|^3) 4 e^(-1.58 |x|) <= |k| (|s - s0| + 4 |t - t0|)

as x^2 4 e^(-1.58 x) < 0.9 and x^4 4 e^(-1.58 x) < 3.2; this goes into the error of the result, without a name.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import expressions as ex
from eqspec.networks import fixed_point as fp
from eqspec.networks.curves import Curve
from eqspec.networks.expressions import Expression, Form, Interval, Lines, point

_BITS = 200


@dataclass(frozen=True)
class Known:
    """outer f(inner X + shift) + rest."""

    curve: Curve
    inner: Interval
    shift: Interval
    outer: Interval
    rest: Interval


def recognise(expression: Expression) -> Known | None:
    """The function that an expression is; None where it is none that is known."""
    if isinstance(expression, Lines):
        return _pieces(expression)
    constant = expression.coefficients.get(ex.ONE, point(0))
    terms = [(m, c) for m, c in expression.terms if m != ex.ONE]
    for form in (_one_monomial, _gated):
        found = form(terms)
        if found is not None:
            return Known(found.curve, found.inner, found.shift, found.outer, _plus(found.rest, constant))
    return None


def _plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _pieces(lines: Lines) -> Known | None:
    if not lines.knots:
        return None
    value = lines.at(lines.knots[0])
    numbers = [*lines.knots, *lines.slopes, value]
    if any(Fraction(float(n)) != n for n in numbers):
        return None
    curve = Curve("pieces", (float(len(lines.knots)), *map(float, numbers)))
    return Known(curve, point(1), point(0), point(1), point(0))


_Terms = list[tuple[ex.Monomial, Interval]]


def _one_monomial(terms: _Terms) -> Known | None:
    """A multiple of one function, of X times a function, or of a power of X."""
    if len(terms) != 1:
        return None
    monomial, factor = terms[0]
    powers = dict(monomial)
    atoms = [atom for atom in powers if atom is not None]
    if not atoms:
        power = powers[None]
        curve = Curve("square") if power == 2 else Curve("power", (float(power),))
        return Known(curve, point(1), point(0), factor, point(0)) if power > 1 else None
    (atom, *others) = atoms
    if others or powers[atom] != 1 or powers.get(None, 0) > 1:
        return None
    if None not in powers:
        line = _line(atom.argument)
        return None if line is None else Known(Curve(atom.name), *line, factor, point(0))
    if atom.name == "lines":
        assert atom.lines is not None
        return _hard_gate(atom.lines, factor)
    if atom.name == "sigmoid":
        return _scaled("silu", atom.argument, factor)
    if atom.name == "tanh" and (softplus := _only_atom(atom.argument, "softplus")) is not None:
        return _scaled("mish", softplus.argument, factor)
    if atom.name == "reciprocal" and atom.argument is not None:
        return _softsign(atom.argument, factor)
    return None


def _line(form: Form | None) -> tuple[Interval, Interval] | None:
    """a and b of the form a X + b."""
    if form is None or any(m not in (ex.ONE, ex.LINEAR) for m, _ in form.terms):
        return None
    slope = form.coefficients.get(ex.LINEAR)
    return None if slope is None else (slope, form.coefficients.get(ex.ONE, point(0)))


def _only_atom(form: Form | None, name: str) -> ex.Atom | None:
    """The function that a form is, and nothing else."""
    if form is None or len(form.terms) != 1 or form.terms[0][1] != point(1) or len(form.terms[0][0]) != 1:
        return None
    atom, power = form.terms[0][0][0]
    return atom if atom is not None and atom.name == name and power == 1 else None


def _scaled(name: str, argument: Form | None, factor: Interval) -> Known | None:
    """k X h(a X) = (k / a) f(a X) for f(y) = y h(y)."""
    line = _line(argument)
    if line is None or line[1] != point(0):
        return None
    return Known(Curve(name), line[0], point(0), ex.times(factor, ex.inverse(line[0])), point(0))


def _softsign(argument: Form, factor: Interval) -> Known | None:
    """k X / (c + |a X|) = (k / a) softsign((a / c) X), for a > 0."""
    lines = ex.lines_of(argument)
    if lines is None or len(lines.knots) != 1 or lines.knots[0] or lines.at_zero <= 0:
        return None
    slope = lines.slopes[1]
    if slope <= 0 or lines.slopes[0] != -slope:
        return None
    return Known(
        Curve("softsign"), point(slope / lines.at_zero), point(0), ex.times(factor, point(1 / slope)), point(0)
    )


def _hard_gate(lines: Lines, factor: Interval) -> Known | None:
    """k X g(X) where g rises from 0 to m > 0 with slope s: k m X max(0, min(1, (s X + b) / m))."""
    if len(lines.knots) != 2 or lines.slopes[0] or lines.slopes[2] or lines.slopes[1] <= 0 or lines.at(lines.knots[0]):
        return None
    top = lines.at(lines.knots[1])
    slope = lines.slopes[1] / top
    offset = -lines.knots[0] * slope
    if Fraction(float(offset)) != offset:
        return None
    outer = ex.times(factor, point(top))
    if Fraction(float(slope)) == slope:
        return Known(Curve("hardswish", (float(slope), float(offset))), point(1), point(0), outer, point(0))
    return Known(
        Curve("hardswish", (1.0, float(offset))), point(slope), point(0), ex.times(outer, point(1 / slope)), point(0)
    )


def _gated(terms: _Terms) -> Known | None:
    """k X (1 + erf(c X)), also written k X (1 - erf(-c X)) as with erfc, and k X (1 + tanh(s X + t X^3))."""
    coefficients = dict(terms)
    factor = coefficients.pop(ex.LINEAR, None)
    if factor is None or len(coefficients) != 1 or not ex.is_point(factor):
        return None
    ((monomial, other),) = coefficients.items()
    powers = dict(monomial)
    sign = 1 if other == factor else -1
    if other != ex.times(factor, point(sign)) or powers.pop(None, 0) != 1 or len(powers) != 1:
        return None
    ((atom, power),) = powers.items()
    if atom is None or power != 1 or atom.argument is None:
        return None
    if atom.name == "erf" and (line := _line(atom.argument)) is not None and line[1] == point(0):
        root = _root(Fraction(2))
        inner = ex.times(ex.times(line[0], point(sign)), root)
        return Known(Curve("gelu"), inner, point(0), ex.times(ex.times(factor, point(2)), ex.inverse(inner)), point(0))
    return _gated_by_tanh(atom.argument, factor) if atom.name == "tanh" and sign == 1 else None


def _gated_by_tanh(argument: Form, factor: Interval) -> Known | None:
    given = argument.coefficients
    if given.keys() != {ex.LINEAR, ((None, 3),)}:
        return None
    slope, cubic = given[ex.LINEAR], given[((None, 3),)]
    two_over_pi = Fraction(2 << _BITS, fp.pi(_BITS) + 1), Fraction(2 << _BITS, fp.pi(_BITS) - 1)
    exact = _root(two_over_pi[0])[0], _root(two_over_pi[1])[1]
    exact_cubic = ex.times(exact, point(Fraction(44715, 10**6)))
    if slope[0] < Fraction(79, 100) or cubic[0] < 0 or _apart(slope, exact) > Fraction(1, 1000):
        return None
    size = max(abs(factor[0]), abs(factor[1]))
    error = size * (_apart(slope, exact) + 4 * _apart(cubic, exact_cubic))
    return Known(Curve("gelu_tanh"), point(1), point(0), ex.times(factor, point(2)), (-error, error))


def _apart(a: Interval, b: Interval) -> Fraction:
    return max(abs(a[1] - b[0]), abs(b[1] - a[0]))


def _root(number: Fraction) -> Interval:
    """An enclosure of the square root."""
    low = isqrt((number.numerator << 2 * _BITS) // number.denominator)
    return Fraction(low, 1 << _BITS), Fraction(low + 1, 1 << _BITS)
