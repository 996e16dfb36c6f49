"""Piecewise linear functions of one variable that may jump: what comparisons give, and what is chosen by them.

Between its knots k_1 < ... < k_n a `Stepped` is one of n + 1 lines, at each knot it has a value of its own; all numbers
are exact rationals. Exporters write functions without any jump so, as x - c where x > c and else 0; `settled` turns
what has none into `Lines`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.expressions import Expression, Lines, TooComplexError

Line = tuple[Fraction, Fraction]
_MOST_KNOTS = 32


@dataclass(frozen=True)
class Stepped:
    """Knots, the lines (slope, value at 0) between them, and the values at the knots."""

    knots: tuple[Fraction, ...]
    lines: tuple[Line, ...]
    values: tuple[Fraction, ...]

    def line(self, x: Fraction) -> Line:
        """The line at a point that is no knot."""
        return self.lines[sum(k < x for k in self.knots)]

    def at(self, x: Fraction) -> Fraction:
        """The value at a point."""
        if x in self.knots:
            return self.values[self.knots.index(x)]
        slope, offset = self.line(x)
        return slope * x + offset


def of(expression: Expression | Stepped) -> Stepped:
    """Lines as a function that could jump. TooComplexError where it is another expression."""
    if isinstance(expression, Stepped):
        return expression
    if not isinstance(expression, Lines):
        raise TooComplexError
    lines = [(s, expression.at(x) - s * x) for x, s in zip(_between(expression.knots), expression.slopes, strict=True)]
    return Stepped(expression.knots, tuple(lines), tuple(expression.at(k) for k in expression.knots))


def settled(function: Stepped) -> Expression | Stepped:
    """The function as Lines where it has no jump."""
    for index, knot in enumerate(function.knots):
        sides = {slope * knot + offset for slope, offset in function.lines[index : index + 2]}
        if sides != {function.values[index]}:
            return function
    return Lines(function.knots, tuple(slope for slope, _ in function.lines), function.at(Fraction(0))).simplified()


def _between(knots: Sequence[Fraction]) -> list[Fraction]:
    """A point in each piece."""
    if not knots:
        return [Fraction(0)]
    return [knots[0] - 1, *((a + b) / 2 for a, b in pairwise(knots)), knots[-1] + 1]


def _joined(
    operands: Sequence[Stepped], line: Callable[[Sequence[Line], Fraction], Line],
    value: Callable[[Sequence[Fraction]], Fraction], more: Sequence[Fraction] = (),
) -> Stepped:  # fmt: skip
    """A function of functions: of their lines around a point of a piece, and of their values at a knot."""
    knots = sorted({*more, *(k for o in operands for k in o.knots)})
    if len(knots) > _MOST_KNOTS:
        raise TooComplexError
    lines = [line([o.line(x) for o in operands], x) for x in _between(knots)]
    return Stepped(tuple(knots), tuple(lines), tuple(value([o.at(k) for o in operands]) for k in knots))


def _crossings(function: Stepped) -> list[Fraction]:
    return [-offset / slope for slope, offset in function.lines if slope]


def _sum(given: Sequence[Stepped], factors: Sequence[int]) -> Stepped:
    def line(lines: Sequence[Line], _: Fraction) -> Line:
        pairs = list(zip(lines, factors, strict=True))
        return sum((f * s for (s, _), f in pairs), Fraction(0)), sum((f * o for (_, o), f in pairs), Fraction(0))

    return _joined(given, line, lambda values: sum((f * v for v, f in zip(values, factors, strict=True)), Fraction(0)))


def _product(a: Stepped, b: Stepped) -> Stepped:
    def line(lines: Sequence[Line], _: Fraction) -> Line:
        (s, o), (t, p) = lines
        if s and t:
            raise TooComplexError
        return s * p + t * o, o * p

    return _joined([a, b], line, lambda values: values[0] * values[1])


def _bent(a: Stepped, function: Callable[[Fraction], tuple[Line, Fraction]]) -> Stepped:
    """A function with a bend or jump at 0 alone: the line that it is around a number, and its value there."""

    def line(lines: Sequence[Line], x: Fraction) -> Line:
        ((s, o),) = lines
        (slope, offset), _ = function(s * x + o)
        return slope * s, slope * o + offset

    return _joined([a], line, lambda values: function(values[0])[1], _crossings(a))


def _flag(holds: bool) -> tuple[Line, Fraction]:
    return (Fraction(0), Fraction(holds)), Fraction(holds)


def _sign(x: Fraction) -> tuple[Line, Fraction]:
    sign = Fraction((x > 0) - (x < 0))
    return (Fraction(0), sign), sign


def _absolute(x: Fraction) -> tuple[Line, Fraction]:
    return (Fraction(-1 if x < 0 else 1), Fraction(0)), abs(x)


def _positive(x: Fraction) -> tuple[Line, Fraction]:
    return (Fraction(int(x > 0)), Fraction(0)), max(x, Fraction(0))


def _chosen(condition: Stepped, a: Stepped, b: Stepped) -> Stepped:
    def line(lines: Sequence[Line], _: Fraction) -> Line:
        (slope, offset), first, second = lines
        if slope or offset not in (0, 1):
            raise TooComplexError
        return first if offset else second

    return _joined([condition, a, b], line, lambda values: values[1] if values[0] else values[2])


_TESTS: dict[str, Callable[[Fraction], bool]] = {
    "Equal": lambda x: x == 0,
    "Greater": lambda x: x > 0,
    "GreaterOrEqual": lambda x: x >= 0,
    "Less": lambda x: x < 0,
    "LessOrEqual": lambda x: x <= 0,
}
JUMPING = frozenset({*_TESTS, "Not", "Sign", "Where"})
"""Operators whose result may jump."""


def applied(kind: str, operands: Sequence[Expression | Stepped]) -> Expression | Stepped:
    """An operator applied to functions that may jump. TooComplexError where it does not lead to one."""
    given = [of(operand) for operand in operands]
    if kind in _TESTS:
        return _bent(_sum(given, (1, -1)), lambda x: _flag(_TESTS[kind](x)))
    match kind:
        case "Not":
            one = Stepped((), ((Fraction(0), Fraction(1)),), ())
            made = _sum([one, *given], (1, -1))
        case "Where":
            made = _chosen(*given)
        case "Sign":
            made = _bent(given[0], _sign)
        case "Abs":
            made = _bent(given[0], _absolute)
        case "Relu":
            made = _bent(given[0], _positive)
        case "Add" | "Sum":
            made = _sum(given, (1,) * len(given))
        case "Sub":
            made = _sum(given, (1, -1))
        case "Neg":
            made = _sum(given, (-1,))
        case "Mul" if len(given) == 2:
            made = _product(*given)
        case _:
            raise TooComplexError
    return settled(made)
