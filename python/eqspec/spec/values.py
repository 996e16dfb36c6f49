"""The values of expressions.

A value is a text, a list, or a linear form: a rational constant plus rational multiples of atoms, where atoms are the
inputs inside `where` and the outputs inside `satisfies`. A number is a form without atoms. UNKNOWN stands for a value
that depends on something not given yet (a formal parameter, a swept variable), so that the same walk serves the static
check and the compilation.

A form carries the unit it is in, None if none was said. A sum of two different units is an error; a product of two
things with units, or of an input and a number, has a unit that is not checked, because eqspec does not
convert units.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from enum import Enum
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from eqspec.errors import Fix, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, numbers
from eqspec.spec.findings import Fault, error, spelt
from eqspec.spec.numbers import NumberError
from eqspec.spec.suggest import closest, did_you_mean


class Unknown(Enum):
    """The value that is not known yet."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
MOST_CHARACTERS = 10_000


@dataclass(frozen=True)
class Form:
    """constant + sum of coefficient * atom, in a unit."""

    constant: Fraction
    coefficients: Mapping[Hashable, Fraction] = field(default_factory=dict)
    unit: str | None = None


Value: TypeAlias = Form | str | tuple["Value", ...] | Literal[Unknown.UNKNOWN]
Lookup: TypeAlias = Callable[[ast.Reference], Value]
"""Gives the value that a reference names; raises Fault where there is none."""


def no_names(reference: ast.Reference) -> Value:
    """The lookup where names mean nothing."""
    raise Fault(error("E101", f"no value named '{reference.name}'", reference.name.span))


def evaluate(expression: ast.Expression, lookup: Lookup) -> Value:
    """The value of an expression; Fault where it has none."""
    match expression:
        case ast.Number():
            with _arithmetic(expression):
                return Form(numbers.literal(expression.text), unit=expression.unit)
        case ast.Quantity():
            return _quantity(expression)
        case ast.Text():
            return expression.value
        case ast.ListOf():
            return tuple(evaluate(item, lookup) for item in expression.items)
        case ast.Group():
            return evaluate(expression.inner, lookup)
        case ast.Reference():
            return lookup(expression)
        case ast.Call():
            return _call(expression, lookup)
        case ast.Negation():
            operand = form(expression.operand, lookup)
            return operand if operand is UNKNOWN else _scaled(operand, Fraction(-1), operand.unit)
        case ast.Power():
            return _power(expression, lookup)
        case ast.Sum():
            return _sum(expression, lookup)
        case ast.Product():
            return _product(expression, lookup)


def kind(value: Value) -> str:
    """The kind of a value in words, for messages."""
    if isinstance(value, str):
        return "a text"
    if isinstance(value, tuple):
        return "a list"
    if isinstance(value, Form) and value.coefficients:
        return "an expression of inputs or outputs"
    return "a number"


def is_known(value: Value) -> bool:
    """Whether nothing in a value is unknown."""
    return all(map(is_known, value)) if isinstance(value, tuple) else value is not UNKNOWN


def form(expression: ast.Expression, lookup: Lookup) -> Form | Literal[Unknown.UNKNOWN]:
    """A number or linear form; Fault E134 for anything else."""
    value = evaluate(expression, lookup)
    if isinstance(value, str | tuple):
        raise Fault(error("E134", f"expected a number, found {kind(value)}", expression.span))
    return value


def number(expression: ast.Expression, lookup: Lookup) -> Form | Literal[Unknown.UNKNOWN]:
    """A number; Fault E134 for anything else."""
    value = form(expression, lookup)
    if value is not UNKNOWN and value.coefficients:
        raise Fault(error("E134", f"expected a number, found {kind(value)}", expression.span))
    return value


def text(expression: ast.Expression, lookup: Lookup) -> str | Literal[Unknown.UNKNOWN]:
    """A text; Fault E134 for anything else."""
    value = evaluate(expression, lookup)
    if isinstance(value, Form | tuple):
        help_text = "write it in double quotes" if isinstance(expression, ast.Reference | ast.Number) else None
        raise Fault(error("E134", f"expected a text, found {kind(value)}", expression.span, help=help_text))
    return value


def number_list(expression: ast.Expression, lookup: Lookup) -> tuple[Form, ...] | Literal[Unknown.UNKNOWN]:
    """A list of numbers; Fault E134 for anything else."""
    value = evaluate(expression, lookup)
    if value is UNKNOWN:
        return value
    if not isinstance(value, tuple):
        message = f"expected a list of numbers, found {kind(value)}"
        raise Fault(error("E134", message, expression.span, help="write [a, b, ...] or linspace(a, b, n)"))
    items: list[Form] = []
    for i, item in enumerate(value):
        if item is UNKNOWN:
            return UNKNOWN
        if not isinstance(item, Form) or item.coefficients:
            span = expression.items[i].span if isinstance(expression, ast.ListOf) else expression.span
            raise Fault(error("E134", f"expected a number, found {kind(item)}", span))
        items.append(item)
    return tuple(items)


def difference(comparison: ast.Comparison, lookup: Lookup) -> Form | Literal[Unknown.UNKNOWN]:
    """left - right of a comparison."""
    parts = ((1, comparison.left), (-1, comparison.right))
    return _add([(sign, e, form(e, lookup)) for sign, e in parts])


def holds(comparison: ast.Comparison, lookup: Lookup) -> bool | Literal[Unknown.UNKNOWN]:
    """Whether a comparison of numbers is true."""
    for side in (comparison.left, comparison.right):
        number(side, lookup)
    value = difference(comparison, lookup)
    if value is UNKNOWN:
        return value
    x = value.constant
    return {"<=": x <= 0, ">=": x >= 0, "<": x < 0, ">": x > 0, "==": x == 0}[comparison.operator]


def item(values: tuple[Value, ...], reference: ast.Reference) -> Value:
    """The item of a list that a reference with an index picks."""
    index = reference.index
    if not isinstance(index, ast.Number):
        raise Fault(error("E134", "items of a list are numbered from 0", reference.span))
    at = numbers.literal(index.text) if len(index.text) < 10 else Fraction(len(values))
    if at.denominator != 1 or not 0 <= at < len(values):
        raise Fault(error("E138", f"'{reference.name}' has {len(values)} items, numbered from 0", index.span))
    return values[int(at)]


def _quantity(expression: ast.Quantity) -> Form:
    with _arithmetic(expression):
        decimal, suffix = numbers.split_quantity(expression.text)
        if suffix not in numbers.SUFFIXES:
            hint = did_you_mean(suffix, numbers.SUFFIXES) or f"one of {', '.join(numbers.SUFFIXES)}"
            if suffix in ("sigma", "pi") or len(suffix) == 1:
                hint = f"write '{decimal} {suffix}' or '{decimal} * {suffix}'"
            near = closest(suffix, numbers.SUFFIXES)
            fixes = () if near is None else (Fix(expression.span, f"{decimal}{near}"),)
            raise Fault(error("E103", f"unknown unit '{suffix}'", expression.span, help=hint, fixes=fixes))
        factor, unit = numbers.SUFFIXES[suffix]
        return Form(numbers.literal(decimal) * factor, unit=unit)


def _call(expression: ast.Call, lookup: Lookup) -> Value:
    functions = {"linspace": numbers.linspace, "logspace": numbers.logspace}
    name = expression.function
    if name.text not in functions:
        hint = did_you_mean(name.text, functions) or f"functions: {', '.join(functions)}"
        fixes = spelt(name.span, name.text, functions)
        raise Fault(error("E101", f"no function named '{name}'", name.span, help=hint, fixes=fixes))
    if len(expression.arguments) != 3:
        message = f"'{name}' takes 3 values, found {len(expression.arguments)}"
        raise Fault(error("E112", message, expression.span, help=f"write {name}(first, last, how many)"))
    values = [number(a, lookup) for a in expression.arguments]
    known = [v for v in values if v is not UNKNOWN]
    if len(known) < 3:
        return UNKNOWN
    with _arithmetic(expression):
        found = functions[name.text](*(v.constant for v in known))
    return tuple(Form(v, unit=known[0].unit) for v in found)


def _power(expression: ast.Power, lookup: Lookup) -> Value:
    base, exponent = form(expression.base, lookup), number(expression.exponent, lookup)
    if base is UNKNOWN or exponent is UNKNOWN:
        return UNKNOWN
    if base.coefficients:
        if exponent.constant == 1:
            return base
        raise Fault(error("E136", f"'{_written(expression)}' is not linear", expression.span))
    with _arithmetic(expression):
        return Form(numbers.power(base.constant, exponent.constant))


def _sum(expression: ast.Sum, lookup: Lookup) -> Value:
    first = evaluate(expression.first, lookup)
    if isinstance(first, str):
        return _joined(first, expression, lookup)
    parts = [(1, expression.first, form(expression.first, lookup))]
    parts += [(1 if op == "+" else -1, e, form(e, lookup)) for op, e in expression.rest]
    return _add(parts)


def _joined(first: str, expression: ast.Sum, lookup: Lookup) -> Value:
    pieces = [first]
    for operator, piece in expression.rest:
        value = text(piece, lookup)
        if operator == "-":
            raise Fault(error("E134", "texts can only be joined, with '+'", expression.span))
        if value is UNKNOWN:
            return UNKNOWN
        pieces.append(value)
    if sum(map(len, pieces)) > MOST_CHARACTERS:
        raise Fault(error("E138", f"a text of more than {MOST_CHARACTERS} characters", expression.span))
    return "".join(pieces)


def _add(parts: list[tuple[int, ast.Expression, Form | Literal[Unknown.UNKNOWN]]]) -> Form | Literal[Unknown.UNKNOWN]:
    """The signed sum of forms; Fault E130 where two of them are in different units."""
    constant, coefficients = Fraction(0), dict[Hashable, Fraction]()
    unit: str | None = None
    said_by: ast.Expression | None = None
    unknown = False
    for sign, expression, part in parts:
        if part is UNKNOWN:
            unknown = True
            continue
        if part.unit is not None and unit is not None and part.unit != unit and said_by is not None:
            message = (
                f"unit mismatch: '{_written(said_by)}' is in [{unit}], '{_written(expression)}' is in [{part.unit}]"
            )
            label = Label(said_by.span, f"in [{unit}]")
            raise Fault(
                error("E130", message, expression.span, label, help="eqspec does not convert units; convert the number")
            )
        if unit is None and part.unit is not None:
            unit, said_by = part.unit, expression
        with _arithmetic(expression):
            constant = numbers.bounded(constant + sign * part.constant)
            for atom, coefficient in part.coefficients.items():
                coefficients[atom] = numbers.bounded(coefficients.get(atom, Fraction(0)) + sign * coefficient)
    if unknown:
        return UNKNOWN
    return Form(constant, {a: c for a, c in coefficients.items() if c}, unit)


def _product(expression: ast.Product, lookup: Lookup) -> Value:
    result = form(expression.first, lookup)
    unknown = result is UNKNOWN
    for operator, factor in expression.rest:
        value = form(factor, lookup)
        if result is UNKNOWN or value is UNKNOWN:
            unknown = True
            continue
        if value.coefficients and (result.coefficients or operator == "/"):
            message = f"'{_written(expression)}' is not linear"
            raise Fault(error("E136", message, expression.span, help="multiply inputs and outputs by numbers only"))
        number_times_number = not value.coefficients and not result.coefficients
        unit = _product_unit(result.unit, value.unit, operator) if number_times_number else None
        with _arithmetic(expression):
            if operator == "/":
                result = _scaled(result, numbers.divide(Fraction(1), value.constant), unit)
            elif value.coefficients:
                result = _scaled(value, result.constant, unit)
            else:
                result = _scaled(result, value.constant, unit)
    return UNKNOWN if unknown else result


def _product_unit(a: str | None, b: str | None, operator: str) -> str | None:
    """The unit of a product, where one of the two is a bare number; otherwise it is not checked."""
    if b is None:
        return a
    return b if a is None and operator == "*" else None


def _scaled(value: Form, factor: Fraction, unit: str | None) -> Form:
    coefficients = {a: numbers.bounded(c * factor) for a, c in value.coefficients.items()}
    return replace(
        value,
        constant=numbers.bounded(value.constant * factor),
        coefficients={a: c for a, c in coefficients.items() if c},
        unit=unit,
    )


def _written(expression: ast.Expression) -> str:
    """The expression as the user wrote it, on one line and cut short."""
    written = " ".join(expression.span.text.split())
    return written if len(written) <= 40 else written[:37] + "..."


@contextmanager
def _arithmetic(expression: ast.Expression) -> Iterator[None]:
    """Turns a number that cannot be formed into a finding at the expression."""
    try:
        yield
    except NumberError as problem:
        raise Fault(
            error("E135", f"'{_written(expression)}' has no usable value: {problem}", expression.span)
        ) from None
