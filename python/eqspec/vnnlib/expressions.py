"""Arithmetic and truth of a VNN-LIB file: brackets and words to formulas over elements.

Expressions become polynomials of degree at most two with exact coefficients. What a hostile file could make expensive
is bounded: the size of products, the digits of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from re import compile as regex
from typing import TypeAlias

from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.spec.numbers import NumberError, bounded, literal
from eqspec.spec.suggest import did_you_mean
from eqspec.vnnlib.query import All, Element, Formula, Monomial, Relation, Some, compare
from eqspec.vnnlib.sexpr import Group, Node, Word
from eqspec.vnnlib.unique_warnings import UniqueWarnings

Polynomial: TypeAlias = dict[Monomial, Fraction]
Variables: TypeAlias = Callable[[Word], Element]
Literals: TypeAlias = Callable[[Fraction], Fraction]

MOST_TERMS = 200_000
"""The most terms of a product of two sums."""
MOST_DEGREE = 2
_NUMBER = regex(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PLAIN = regex(r"-?[0-9]+(?:\.[0-9]+)?")
_RELATIONS: dict[str, tuple[Relation, int]] = {
    "<=": ("<=", 1),
    "<": ("<", 1),
    ">=": ("<=", -1),
    ">": ("<", -1),
    "==": ("==", 1),
    "=": ("==", 1),
}
_ARITHMETIC = ("+", "-", "*")
_LOGIC = ("and", "or")


class Expressions:
    """Reads the formulas of one file; `variables` says which element a word stands for, or raises a Fault.

    `literals` says which number a literal stands for: by default the one that is written.
    """

    def __init__(
        self, variables: Variables, notes: UniqueWarnings, *, standard: bool, literals: Literals | None = None
    ) -> None:
        self._variables, self._notes, self._standard, self._literals = variables, notes, standard, literals

    def formula(self, node: Node) -> Formula:
        """What an assert says. Fault E600 or E603 where it says nothing."""
        if isinstance(node, Word):
            raise Fault(error("E600", f"a comparison is expected here, found '{node.text}'", node.span))
        head = node.head
        if head in _LOGIC:
            parts = tuple(self.formula(item) for item in node.items[1:])
            if not parts:
                raise Fault(error("E600", f"'{head}' of nothing", node.span, help="give it at least one part"))
            return All(parts) if head == "and" else Some(parts)
        if head in _RELATIONS or head == "!=":
            return self._comparison(str(head), node)
        if head in ("not", "=>", "xor", "ite", "let", "forall", "exists"):
            message = f"'{head}' does not belong to VNN-LIB"
            raise Fault(error("E603", message, node.items[0].span, help="write what it says with 'and' and 'or'"))
        raise self._not_a_comparison(node)

    def _comparison(self, operator: str, node: Group) -> Formula:
        if len(node.items) != 3:
            message = f"'{operator}' compares two numbers, here are {len(node.items) - 1}"
            raise Fault(error("E600", message, node.span))
        left, right = self.number(node.items[1]), self.number(node.items[2])
        terms = _sum([(1, left), (-1, right)])
        bound = -terms.pop((), Fraction(0))
        if operator == "=" and self._standard:
            self._notes.add("W601", "'=' is written '==' in the grammar of the standard", node.items[0].span)
        if not terms or not any(terms.values()):
            message = "a comparison in which nothing varies"
            self._notes.add("W603", message, node.span, "VNN-LIB gives it no type; it is read as what it says")
        if operator == "!=":
            opposite = {m: -c for m, c in terms.items()}
            return Some((compare(terms, "<", bound, node.span), compare(opposite, "<", -bound, node.span)))
        relation, sign = _RELATIONS[operator]
        return compare({m: sign * c for m, c in terms.items()}, relation, sign * bound, node.span)

    def number(self, node: Node) -> Polynomial:
        """An arithmetic expression."""
        if isinstance(node, Word):
            if _NUMBER.fullmatch(node.text) and node.subscript is None:
                return {(): self._literal(node)}
            return {(self._variables(node),): Fraction(1)}
        head = node.head
        if head not in _ARITHMETIC:
            raise self._not_arithmetic(node)
        parts = [self.number(item) for item in node.items[1:]]
        if not parts:
            raise Fault(error("E600", f"'{head}' of nothing", node.span, help="give it at least one number"))
        match head:
            case "+":
                return _sum([(1, part) for part in parts])
            case "-" if len(parts) == 1:
                return _sum([(-1, parts[0])])
            case "-":
                return _sum([(1, parts[0]), *((-1, part) for part in parts[1:])])
            case _:
                result = parts[0]
                for part in parts[1:]:
                    result = _product(result, part, node.span)
                return result

    def _literal(self, node: Word) -> Fraction:
        if self._standard and not _PLAIN.fullmatch(node.text):
            message = "numbers have no exponent and no '+' in VNN-LIB 2.0, and digits on both sides of the point"
            self._notes.add("W601", message, node.span, "write a plain decimal")
        try:
            number = literal(node.text)
        except (NumberError, ValueError) as problem:
            raise Fault(error("E612", f"this number cannot be formed: {problem}", node.span)) from None
        return number if self._literals is None else self._literals(number)

    def _not_a_comparison(self, node: Group) -> Fault:
        if len(node.items) == 3 and isinstance(node.items[1], Word) and node.items[1].text in _RELATIONS:
            left, operator, right = (item.span.text for item in node.items)
            message = f"'{operator}' stands in the middle: in VNN-LIB it comes first"
            return Fault(error("E600", message, node.items[1].span, help=f"write ({operator} {left} {right})"))
        if not node.items:
            return Fault(error("E600", "empty brackets", node.span, help="remove them"))
        found = node.items[0].span.text
        known = (*_RELATIONS, "!=", *_LOGIC)
        hint = did_you_mean(found, known) or f"one of {' '.join(known)} comes first"
        return Fault(error("E600", f"'{_short(found)}' is not a comparison", node.items[0].span, help=hint))

    def _not_arithmetic(self, node: Group) -> Fault:
        if not node.items:
            return Fault(error("E600", "empty brackets", node.span, help="remove them"))
        found = node.items[0].span.text
        if found in ("/", "^", "div", "pow"):
            return Fault(error("E603", f"'{found}' does not belong to VNN-LIB", node.items[0].span))
        message = f"'{_short(found)}' is not arithmetic"
        return Fault(error("E600", message, node.items[0].span, help="one of + - * comes first"))


def _short(text: str) -> str:
    return text if len(text) <= 30 else text[:27] + "..."


def _sum(parts: list[tuple[int, Polynomial]]) -> Polynomial:
    total: Polynomial = {}
    for sign, part in parts:
        for monomial, coefficient in part.items():
            total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
    return total


def _product(a: Polynomial, b: Polynomial, span: Span) -> Polynomial:
    if len(a) * len(b) > MOST_TERMS:
        raise Fault(error("E612", f"this product has more than {MOST_TERMS} terms", span))
    total: Polynomial = {}
    try:
        for first, x in a.items():
            for second, y in b.items():
                monomial = tuple(sorted((*first, *second)))
                if len(monomial) > MOST_DEGREE and x and y:
                    message = f"a product of more than {MOST_DEGREE} variables is not supported"
                    raise Fault(error("E603", message, span))
                total[monomial] = total.get(monomial, Fraction(0)) + bounded(x * y)
    except NumberError as problem:
        raise Fault(error("E612", f"this product cannot be formed: {problem}", span)) from None
    return total
