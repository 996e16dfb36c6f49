"""Parts of a spec as syntax trees: exact numbers, linear sums, bounds."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from eqspec.spec import ast
from eqspec.spec.numbers import shown


def name(text: str) -> ast.QualifiedName:
    """A name on its own."""
    return ast.QualifiedName((text,))


def number(value: Fraction) -> ast.Expression:
    """An exact number: a decimal where it ends, else a quotient."""
    above, bar, below = shown(abs(value)).partition("/")
    size: ast.Expression = ast.Number(above)
    if bar:
        size = ast.Product(size, (("/", ast.Number(below)),))
    return ast.Negation(size) if value < 0 else size


def linear(terms: Iterable[tuple[Fraction, ast.Reference]]) -> ast.Expression:
    """A sum of multiples; at least one coefficient is not 0."""
    kept = [(coefficient, what) for coefficient, what in terms if coefficient]
    first = _multiple(abs(kept[0][0]), kept[0][1])
    if kept[0][0] < 0:
        first = _negated(first)
    rest = tuple(("-" if c < 0 else "+", _multiple(abs(c), what)) for c, what in kept[1:])
    return ast.Sum(first, rest) if rest else first


def _multiple(size: Fraction, what: ast.Reference) -> ast.Expression:
    if size == 1:
        return what
    above, bar, below = shown(size).partition("/")
    factors: tuple[tuple[str, ast.Expression], ...] = ((("/", ast.Number(below)),) if bar else ()) + (("*", what),)
    return ast.Product(ast.Number(above), factors)


def _negated(expression: ast.Expression) -> ast.Expression:
    if isinstance(expression, ast.Product):
        return ast.Product(ast.Negation(expression.first), expression.rest)
    return ast.Negation(expression)


def bound(feature: str, low: Fraction, high: Fraction) -> ast.Bound:
    """feature: low .. high, or feature = low."""
    if low == high:
        return ast.Fixed(ast.Name(feature), ast.Range(number(low)))
    return ast.Ranged(ast.Name(feature), ast.Range(number(low), number(high)))
