"""Numbers of a spec as functions of the one variable that a search moves, and which way they move: exactly.

The language has sums, products, quotients and whole powers, so a number that depends on a variable v is a quotient of
two polynomials in v with rational coefficients. Its derivative has the sign of N'D - ND', which `polynomials` decides
on the whole range of the search, for infinitely many values at once. Whatever a number depends on besides v is
evaluated by `values`, so an expression means the same here as in a task; `Tracer` adds only what an operation does to
v. What it cannot decide raises UndecidedError, and says why: nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Literal, TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, polynomials, values
from eqspec.spec.numbers import MOST_VALUES
from eqspec.spec.polynomials import Polynomial
from eqspec.spec.values import Form, Value

MOST_DEGREE = 40
MOST_BITS = 2048
"""The most bits of all coefficients of a polynomial together. Longer ones are not decided, which would take seconds."""
_ONE: Polynomial = (Fraction(1),)


class UndecidedError(Exception):
    """It is not decided which way a number moves; the message says why."""


@dataclass(frozen=True)
class Moving:
    """above / below at every value of the variable; `below` is above 0 on the whole range."""

    above: Polynomial
    below: Polynomial = _ONE

    def at(self, value: Fraction) -> Fraction:
        """The number at a value of the variable."""
        return polynomials.value(self.above, value) / polynomials.value(self.below, value)

    def __add__(self, other: Moving) -> Moving:
        if self.below == other.below:
            return _affordable(polynomials.add(self.above, other.above), self.below)
        crossed = polynomials.multiply(self.above, other.below), polynomials.multiply(other.above, self.below)
        return _affordable(polynomials.add(*crossed), polynomials.multiply(self.below, other.below))

    def __mul__(self, other: Moving) -> Moving:
        return _affordable(polynomials.multiply(self.above, other.above), polynomials.multiply(self.below, other.below))

    def __neg__(self) -> Moving:
        return Moving(polynomials.scale(self.above, Fraction(-1)), self.below)


def fixed(number: Fraction) -> Moving:
    """A number that does not move."""
    return Moving(polynomials.trimmed([number]))


VARIABLE = Moving((Fraction(0), Fraction(1)))
"""The variable itself."""


@dataclass(frozen=True)
class MovingForm:
    """constant + sum of coefficient * atom, as `values.Form`, with numbers that move; no coefficient is always 0."""

    constant: Moving
    coefficients: Mapping[Hashable, Moving] = field(default_factory=dict)


MovingValue: TypeAlias = MovingForm | str | tuple["MovingValue", ...]


@dataclass(frozen=True)
class Course:
    """Which way a number moves as the variable grows: 1 up, -1 down, 0 not at all, None both ways.

    Up and down allow for stretches where it stays. `turn` is about the value where it turns first.
    """

    way: Literal[1, -1, 0] | None
    turn: Fraction | None = None
    rises_first: bool = False


def course(number: Moving, low: Fraction, high: Fraction) -> Course:
    """Which way a number moves on [low, high]."""
    above, below = number.above, number.below
    slope = polynomials.add(
        polynomials.multiply(polynomials.derivative(above), below),
        polynomials.scale(polynomials.multiply(above, polynomials.derivative(below)), Fraction(-1)),
    )
    _afford(slope)
    match polynomials.constant_sign(slope, low, high):
        case 1:
            return Course(1)
        case -1:
            return Course(-1)
        case 0:
            return Course(0)
        case _:
            turn = polynomials.first_root(polynomials.odd_part(slope), low, high)
            return Course(None, turn, _rises_first(number, low, turn or high))


def _rises_first(number: Moving, low: Fraction, turn: Fraction) -> bool:
    return number.at((low + turn) / 2) >= number.at(low)


@dataclass(frozen=True)
class Tracer:
    """Evaluates expressions as functions of the variable, which lies in [low, high].

    `lookup` answers what `values` asks for, UNKNOWN for the names in `moving`, which are functions of the variable.
    """

    lookup: values.Lookup
    moving: Mapping[str, MovingValue]
    low: Fraction
    high: Fraction

    def evaluate(self, expression: ast.Expression) -> MovingValue:
        """The value of an expression as a function of the variable."""
        known = values.evaluate(expression, self.lookup)
        if values.is_known(known):
            return _still(known)
        match expression:
            case ast.Group():
                return self.evaluate(expression.inner)
            case ast.ListOf():
                return tuple(self.evaluate(item) for item in expression.items)
            case ast.Reference():
                return self._reference(expression)
            case ast.Negation():
                return _times(self.form(expression.operand), fixed(Fraction(-1)))
            case ast.Sum():
                parts = [self.form(expression.first)]
                for operator, term in expression.rest:
                    part = self.form(term)
                    parts.append(part if operator == "+" else _times(part, fixed(Fraction(-1))))
                return _sum(parts)
            case ast.Product():
                return self._product(expression)
            case ast.Power():
                return self._power(expression)
            case ast.Call():
                return self._call(expression)
            case _:
                raise UndecidedError(f"'{expression.span.text}' cannot be followed")

    def form(self, expression: ast.Expression) -> MovingForm:
        """A number, or a linear form."""
        found = self.evaluate(expression)
        if not isinstance(found, MovingForm):
            raise UndecidedError(f"'{expression.span.text}' is not a number")
        return found

    def number(self, expression: ast.Expression) -> Moving:
        """A number."""
        found = self.form(expression)
        if found.coefficients:
            raise UndecidedError(f"'{expression.span.text}' is not a number")
        return found.constant

    def difference(self, comparison: ast.Comparison) -> MovingForm:
        """left - right of a comparison."""
        return _sum([self.form(comparison.left), _times(self.form(comparison.right), fixed(Fraction(-1)))])

    def quotient(self, above: Moving, below: Moving, written: str) -> Moving:
        """above / below, where below is 0 nowhere on the range."""
        if polynomials.has_root(below.above, self.low, self.high):
            raise UndecidedError(f"'{written}' divides by a number that is 0 somewhere in the range")
        turned = Moving(below.below, below.above)
        if polynomials.value(below.above, self.low) < 0:
            minus = Fraction(-1)
            turned = Moving(polynomials.scale(turned.above, minus), polynomials.scale(turned.below, minus))
        return above * turned

    def _reference(self, reference: ast.Reference) -> MovingValue:
        found = self.moving[str(reference.name)]
        if reference.index is None:
            return found
        if not isinstance(found, tuple) or not isinstance(reference.index, ast.Number):
            raise UndecidedError(f"'{reference.span.text}' cannot be followed")
        number = Fraction(reference.index.text)
        if number.denominator != 1 or not 0 <= number < len(found):
            raise UndecidedError(f"'{reference.name}' has {len(found)} items")
        return found[int(number)]

    def _product(self, expression: ast.Product) -> MovingForm:
        result = self.form(expression.first)
        for operator, factor in expression.rest:
            other = self.form(factor)
            if other.coefficients and (result.coefficients or operator == "/"):
                raise UndecidedError(f"'{expression.span.text}' is not linear")
            if operator == "/":
                inverse = self.quotient(fixed(Fraction(1)), other.constant, expression.span.text)
                result = _times(result, inverse)
            elif other.coefficients:
                result = _times(other, result.constant)
            else:
                result = _times(result, other.constant)
        return result

    def _power(self, expression: ast.Power) -> MovingForm:
        base, exponent = self.form(expression.base), self.number(expression.exponent)
        if course(exponent, self.low, self.high).way != 0:
            raise UndecidedError(f"the exponent of '{expression.span.text}' moves, and only whole ones have a value")
        times = exponent.at(self.low)
        if base.coefficients and times == 1:
            return base
        if base.coefficients or times.denominator != 1 or abs(times) > MOST_DEGREE:
            raise UndecidedError(f"'{expression.span.text}' is not followed: whole powers up to {MOST_DEGREE} are")
        result = fixed(Fraction(1))
        for _ in range(abs(int(times))):
            result = result * base.constant
        if times < 0:
            result = self.quotient(fixed(Fraction(1)), result, expression.span.text)
        return MovingForm(result)

    def _call(self, expression: ast.Call) -> MovingValue:
        if expression.function.text != "linspace" or len(expression.arguments) != 3:
            raise UndecidedError(f"'{expression.span.text}' is not followed: 'linspace' is")
        first, last, count = (self.number(argument) for argument in expression.arguments)
        if course(count, self.low, self.high).way != 0:
            raise UndecidedError(f"how many values '{expression.span.text}' has moves")
        total = count.at(self.low)
        if total.denominator != 1 or not 2 <= total <= MOST_VALUES:
            raise UndecidedError(f"'{expression.span.text}' has no values")
        steps = int(total) - 1
        shares = (Fraction(i, steps) for i in range(int(total)))
        return tuple(MovingForm(first * fixed(1 - share) + last * fixed(share)) for share in shares)


def _still(value: Value) -> MovingValue:
    """A known value as a function that does not depend on the variable."""
    if isinstance(value, tuple):
        return tuple(_still(item) for item in value)
    if isinstance(value, Form):
        return MovingForm(fixed(value.constant), {a: fixed(c) for a, c in value.coefficients.items() if c})
    if isinstance(value, str):
        return value
    raise UndecidedError("a value is not known")


def _sum(parts: Sequence[MovingForm]) -> MovingForm:
    constant, coefficients = fixed(Fraction(0)), dict[Hashable, Moving]()
    for part in parts:
        constant = constant + part.constant
        for atom, coefficient in part.coefficients.items():
            coefficients[atom] = coefficients[atom] + coefficient if atom in coefficients else coefficient
    return MovingForm(constant, {a: c for a, c in coefficients.items() if c.above})


def _times(form: MovingForm, factor: Moving) -> MovingForm:
    scaled = {a: c * factor for a, c in form.coefficients.items()}
    return MovingForm(form.constant * factor, {a: c for a, c in scaled.items() if c.above})


def _affordable(above: Polynomial, below: Polynomial) -> Moving:
    _afford(above)
    _afford(below)
    return Moving(above, below)


def _afford(p: Polynomial) -> None:
    bits = sum(a.numerator.bit_length() + a.denominator.bit_length() for a in p)
    if len(p) > 1 and (len(p) > MOST_DEGREE + 1 or bits > MOST_BITS):
        raise UndecidedError("the expression is too long to be followed")
