"""Expressions of one variable X in a normal form: piecewise linear functions, and polynomials over functions of X.

A `Lines` is a continuous piecewise linear function with exact rational numbers; sums, multiples, maxima and minima of
such functions are again such. Everything else is a `Form`: a sum of monomials, coefficients times powers of X and of
*atoms*, which are functions of forms. Coefficients are rational intervals, points where a constant is exact, so two
coefficients are known to be equal only where both are points. Every operation gives the same real function; a few
identities lead to one form of what exporters write in many ways:

    1 / (a + a e^z) = sigmoid(-z) / a        ln(1 + e^z) = softplus(z)        e^z sigmoid(-z) = sigmoid(z)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass

Interval: TypeAlias = tuple[Fraction, Fraction]
MOST_TERMS, MOST_POWER = 12, 8


class TooComplexError(Exception):
    """An expression is none that could be a known function."""


def point(number: Fraction | int) -> Interval:
    """An exact coefficient."""
    return Fraction(number), Fraction(number)


def is_point(a: Interval) -> bool:
    """Whether a coefficient is exact."""
    return a[0] == a[1]


def times(a: Interval, b: Interval) -> Interval:
    """The product of two coefficients."""
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def inverse(a: Interval) -> Interval:
    """1 / a; TooComplexError where it may be 0."""
    if a[0] <= 0 <= a[1]:
        raise TooComplexError
    return 1 / a[1], 1 / a[0]


@dataclass(frozen=True)
class Lines:
    """Knots k_1 < ... < k_n, slopes s_0 ... s_n, and the value at 0; without knots x -> s_0 x + value."""

    knots: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    at_zero: Fraction

    def at(self, x: Fraction) -> Fraction:
        """The value at x: the integral of the slopes from 0."""
        low, high = min(x, Fraction(0)), max(x, Fraction(0))
        ends = [low, *(k for k in self.knots if low < k < high), high]
        total = sum((self.slope(a) * (b - a) for a, b in pairwise(ends)), Fraction(0))
        return self.at_zero + (total if x > 0 else -total)

    def slope(self, x: Fraction) -> Fraction:
        """The slope just right of x."""
        return self.slopes[sum(k <= x for k in self.knots)]

    def simplified(self) -> Lines:
        """Without knots at which the slope does not change."""
        kept = [i for i in range(len(self.knots)) if self.slopes[i] != self.slopes[i + 1]]
        return Lines(
            tuple(self.knots[i] for i in kept), (self.slopes[0], *(self.slopes[i + 1] for i in kept)), self.at_zero
        )

    def scaled(self, factor: Fraction) -> Lines:
        """A multiple of it."""
        return Lines(self.knots, tuple(factor * s for s in self.slopes), factor * self.at_zero).simplified()

    def plus(self, other: Lines) -> Lines:
        """The sum."""
        knots = tuple(sorted({*self.knots, *other.knots}))
        return Lines(knots, _slopes(knots, self, other, lambda a, b: a + b), self.at_zero + other.at_zero).simplified()

    def maximum(self, other: Lines) -> Lines:
        """The larger one everywhere: the sum of the other and of the positive part of the difference."""
        return other.plus(self.plus(other.scaled(Fraction(-1))).positive())

    def minimum(self, other: Lines) -> Lines:
        """The smaller one everywhere."""
        return self.scaled(Fraction(-1)).maximum(other.scaled(Fraction(-1))).scaled(Fraction(-1))

    def positive(self) -> Lines:
        """max(0, f): new knots where f crosses 0."""
        crossings = set[Fraction]()
        ends: list[Fraction | None] = [None, *self.knots, None]
        for (low, high), slope in zip(pairwise(ends), self.slopes, strict=True):
            anchor = low if low is not None else high if high is not None else Fraction(0)
            if slope != 0:
                zero = anchor - self.at(anchor) / slope
                if (low is None or zero > low) and (high is None or zero < high):
                    crossings.add(zero)
        knots = tuple(sorted({*self.knots, *crossings}))
        middles = _middles(knots)
        slopes = tuple(self.slope(x) if self.at(x) > 0 else Fraction(0) for x in middles)
        return Lines(knots, slopes, max(self.at_zero, Fraction(0))).simplified()


def _middles(knots: tuple[Fraction, ...]) -> list[Fraction]:
    """A point in each piece."""
    if not knots:
        return [Fraction(0)]
    return [knots[0] - 1, *((a + b) / 2 for a, b in pairwise(knots)), knots[-1] + 1]


def _slopes(
    knots: tuple[Fraction, ...], a: Lines, b: Lines, combine: Callable[[Fraction, Fraction], Fraction]
) -> tuple[Fraction, ...]:
    return tuple(combine(a.slope(x), b.slope(x)) for x in _middles(knots))


X = Lines((), (Fraction(1),), Fraction(0))


def constant(number: Fraction) -> Lines:
    """A constant."""
    return Lines((), (Fraction(0),), number)


@dataclass(frozen=True)
class Atom:
    """A function of a form, or a piecewise linear function of X."""

    name: str
    argument: Form | None = None
    lines: Lines | None = None


Monomial: TypeAlias = tuple[tuple[Atom | None, int], ...]
"""Atoms (None: X) with their powers, in one order."""


@dataclass(frozen=True)
class Form:
    """Coefficients of monomials, in one order, none of them 0."""

    terms: tuple[tuple[Monomial, Interval], ...]

    @classmethod
    def of(cls, terms: Iterable[tuple[Monomial, Interval]]) -> Form:
        """The sum of terms."""
        total: dict[Monomial, Interval] = {}
        for monomial, (low, high) in terms:
            known = total.get(monomial, point(0))
            total[monomial] = known[0] + low, known[1] + high
        found = sorted(((m, c) for m, c in total.items() if c != point(0)), key=lambda term: repr(term[0]))
        if len(found) > MOST_TERMS or any(power > MOST_POWER for m, _ in found for _, power in m):
            raise TooComplexError
        return cls(tuple(found))

    @classmethod
    def atom(cls, name: str, argument: Form) -> Form:
        """A function of a form."""
        return cls(((((Atom(name, argument), 1),), point(1)),))

    def plus(self, other: Form) -> Form:
        """The sum."""
        return Form.of([*self.terms, *other.terms])

    def scaled(self, factor: Interval) -> Form:
        """A multiple of it."""
        return Form.of([(m, times(c, factor)) for m, c in self.terms])

    def multiplied(self, other: Form) -> Form:
        """The product."""
        return Form.of((_product(m, n), times(c, d)) for m, c in self.terms for n, d in other.terms)

    @property
    def coefficients(self) -> dict[Monomial, Interval]:
        """The coefficient of every monomial."""
        return dict(self.terms)


def _product(a: Monomial, b: Monomial) -> Monomial:
    powers: dict[Atom | None, int] = {}
    for atom, power in (*a, *b):
        powers[atom] = powers.get(atom, 0) + power
    for atom in list(powers):
        if atom is None or atom.name != "exp" or atom.argument is None or not powers[atom]:
            continue
        turned = Atom("sigmoid", atom.argument.scaled(point(-1)))
        both = min(powers[atom], powers.get(turned, 0))
        if both:
            powers[atom] -= both
            powers[turned] -= both
            made = Atom("sigmoid", atom.argument)
            powers[made] = powers.get(made, 0) + both
    return tuple(sorted(((atom, n) for atom, n in powers.items() if n), key=repr))


Expression: TypeAlias = Lines | Form
ONE: Monomial = ()
LINEAR: Monomial = ((None, 1),)


def form_of(expression: Expression) -> Form:
    """An expression as a form."""
    if isinstance(expression, Form):
        return expression
    if expression.knots:
        return Form(((((Atom("lines", lines=expression), 1),), point(1)),))
    return Form.of([(LINEAR, point(expression.slopes[0])), (ONE, point(expression.at_zero))])


def lines_of(form: Form) -> Lines | None:
    """The piecewise linear function that a form is, if it is one."""
    total = constant(Fraction(0))
    for monomial, factor in form.terms:
        if not is_point(factor) or (monomial and (len(monomial) > 1 or monomial[0][1] != 1)):
            return None
        atom = monomial[0][0] if monomial else None
        part = constant(Fraction(1)) if not monomial else X if atom is None else atom.lines
        if part is None:
            return None
        total = total.plus(part.scaled(factor[0]))
    return total


def reciprocal(form: Form) -> Form:
    """1 / form."""
    if len(form.terms) == 1 and form.terms[0][0] == ONE:
        return Form(((ONE, inverse(form.terms[0][1])),))
    for monomial, factor in form.terms:
        exponential = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if len(form.terms) == 2 and exponential is not None and exponential.name == "exp":
            assert exponential.argument is not None
            if is_point(factor) and form.coefficients.get(ONE) == factor:
                return Form.atom("sigmoid", exponential.argument.scaled(point(-1))).scaled(inverse(factor))
    return Form.atom("reciprocal", form)


def logarithm(form: Form) -> Form:
    """ln(form)."""
    if len(form.terms) == 2 and form.coefficients.get(ONE) == point(1):
        ((monomial, factor),) = [term for term in form.terms if term[0] != ONE]
        exponential = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if factor == point(1) and exponential is not None and exponential.name == "exp":
            assert exponential.argument is not None
            return Form.atom("softplus", exponential.argument)
    return Form.atom("log", form)
