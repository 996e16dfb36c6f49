"""Elementwise operators of ONNX applied to expressions of one variable (`expressions`).

Piecewise linear functions stay such where an operator keeps them; everything else is a sum of monomials. Each operator
gives the same real function as the operator, with the constants of the file as they are. Operands and attributes are
those of the node, in its order; TooComplexError where an operator does not lead to an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from eqspec.networks import expressions as ex
from eqspec.networks import stepped
from eqspec.networks.expressions import Expression, Form, Lines, TooComplexError, point
from eqspec.networks.stepped import Stepped

# Operators on piecewise linear functions; None where the result is none.

_OnLines = Callable[[Sequence[Expression], tuple[float, ...]], Expression | None]


def _lines(operands: Sequence[Expression]) -> list[Lines] | None:
    found = [o for o in operands if isinstance(o, Lines)]
    return found if len(found) == len(operands) else None


def _added(signs: Sequence[int]) -> _OnLines:
    def operator(operands: Sequence[Expression], _: tuple[float, ...]) -> Expression | None:
        if (given := _lines(operands)) is None:
            return None
        total = given[0]
        for place, other in enumerate(given[1:], 1):
            total = total.plus(other.scaled(Fraction(signs[min(place, len(signs) - 1)])))
        return total

    return operator


def _multiplied(operands: Sequence[Expression], _: tuple[float, ...]) -> Expression | None:
    if (given := _lines(operands)) is None:
        return None
    for one, other in (given, given[::-1]):
        if not one.knots and not any(one.slopes):
            return other.scaled(one.at_zero)
    return None


def _divided(operands: Sequence[Expression], _: tuple[float, ...]) -> Expression | None:
    if (given := _lines(operands)) is None or given[1].knots or any(given[1].slopes):
        return None
    return given[0].scaled(1 / given[1].at_zero)


def _extreme(*, largest: bool) -> _OnLines:
    def operator(operands: Sequence[Expression], _: tuple[float, ...]) -> Expression | None:
        if (given := _lines(operands)) is None:
            raise TooComplexError
        made = given[0]
        for other in given[1:]:
            made = made.maximum(other) if largest else made.minimum(other)
        return made

    return operator


def _of_lines(function: Callable[[Lines, tuple[float, ...]], Lines]) -> _OnLines:
    def operator(operands: Sequence[Expression], attributes: tuple[float, ...]) -> Expression | None:
        if (given := _lines(operands)) is None:
            raise TooComplexError
        return function(given[0], attributes)

    return operator


def _leaky(x: Lines, attributes: tuple[float, ...]) -> Lines:
    below = x.scaled(Fraction(-1)).positive().scaled(Fraction(-1))
    return x.positive().plus(below.scaled(Fraction(attributes[0])))


def _hard_sigmoid(x: Lines, attributes: tuple[float, ...]) -> Lines:
    line = x.scaled(Fraction(attributes[0])).plus(ex.constant(Fraction(attributes[1])))
    return line.positive().minimum(ex.constant(Fraction(1)))


def _absolute(x: Lines, _: tuple[float, ...]) -> Lines:
    return x.maximum(x.scaled(Fraction(-1)))


def _clipped(given: Sequence[Expression | None], attributes: tuple[float, ...]) -> Expression:
    ends: list[Expression | None] = [None if a != a else ex.constant(Fraction(a)) for a in attributes] or [*given[1:]]
    x = given[0]
    if not isinstance(x, Lines):
        raise TooComplexError
    for end, largest in zip(ends, (True, False), strict=False):
        if end is not None:
            if not isinstance(end, Lines):
                raise TooComplexError
            x = x.maximum(end) if largest else x.minimum(end)
    return x


_LINES: dict[str, _OnLines] = {
    "Abs": _of_lines(_absolute),
    "Add": _added((1, 1)),
    "Div": _divided,
    "HardSigmoid": _of_lines(_hard_sigmoid),
    "LeakyRelu": _of_lines(_leaky),
    "Max": _extreme(largest=True),
    "Min": _extreme(largest=False),
    "Mul": _multiplied,
    "Neg": _of_lines(lambda x, _: x.scaled(Fraction(-1))),
    "Relu": _of_lines(lambda x, _: x.positive()),
    "Sub": _added((1, -1)),
    "Sum": _added((1, 1)),
}


# Operators on forms.

_OnForms = Callable[[Sequence[Form]], Form]


def _sum(forms: Sequence[Form]) -> Form:
    total = forms[0]
    for other in forms[1:]:
        total = total.plus(other)
    return total


def _power(forms: Sequence[Form]) -> Form:
    exponent = forms[1].coefficients.get(ex.ONE)
    if len(forms[1].terms) != 1 or exponent is None or not ex.is_point(exponent) or exponent[0] not in (2, 3, 4):
        raise TooComplexError
    made = forms[0]
    for _ in range(int(exponent[0]) - 1):
        made = made.multiplied(forms[0])
    return made


def _atom(name: str) -> _OnForms:
    return lambda forms: Form.atom(name, forms[0])


_FORMS: dict[str, _OnForms] = {
    "Add": _sum,
    "Div": lambda forms: forms[0].multiplied(ex.reciprocal(forms[1])),
    "Erf": _atom("erf"),
    "Exp": _atom("exp"),
    "Log": lambda forms: ex.logarithm(forms[0]),
    "Mul": lambda forms: forms[0].multiplied(forms[1]),
    "Neg": lambda forms: forms[0].scaled(point(-1)),
    "Pow": _power,
    "Reciprocal": lambda forms: ex.reciprocal(forms[0]),
    "Sigmoid": _atom("sigmoid"),
    "Softplus": _atom("softplus"),
    "Sub": lambda forms: forms[0].plus(forms[1].scaled(point(-1))),
    "Sum": _sum,
    "Tanh": _atom("tanh"),
}
EXPRESSED = frozenset({
    "Abs", "Clip", "Equal", "Erf", "Exp", "Greater", "GreaterOrEqual", "HardSigmoid", "LeakyRelu", "Less",
    "LessOrEqual", "Log", "Neg", "Not", "Pow", "Reciprocal", "Relu", "Sigmoid", "Sign", "Softplus", "Tanh",
})  # fmt: skip
"""Operators that are no sum, product or quotient: each takes a step of its own where it is not part of a function."""


def _softplus_up_to(operands: Sequence[Expression | Stepped]) -> Form | None:
    """x where x > c and else softplus(x), which is softplus(x) up to ln(1 + e^-c) <= e^-c < 2^-c, c >= 0."""
    condition, above, below = operands
    if not isinstance(condition, Stepped) or above != ex.X or not isinstance(below, Form):
        return None
    if len(condition.knots) != 1 or condition.lines != ((Fraction(0), Fraction(0)), (Fraction(0), Fraction(1))):
        return None
    threshold = condition.knots[0]
    if threshold < 0 or below != Form.atom("softplus", ex.form_of(ex.X)):
        return None
    missed = Fraction(1, 2 ** min(int(threshold), 64))
    return below.plus(Form(((ex.ONE, (-missed, Fraction(0))),)))


def applied(
    kind: str, operands: Sequence[Expression | Stepped | None], attributes: tuple[float, ...]
) -> Expression | Stepped:
    """An operator applied to expressions; None is an end that a Clip has not."""
    jumping = [operand for operand in operands if operand is not None]
    if kind in stepped.JUMPING or any(isinstance(operand, Stepped) for operand in jumping):
        if kind == "Where" and (found := _softplus_up_to(jumping)) is not None:
            return found
        return stepped.applied(kind, jumping)
    return _without_jump(kind, [o for o in operands if not isinstance(o, Stepped)], attributes)


def _without_jump(kind: str, operands: Sequence[Expression | None], attributes: tuple[float, ...]) -> Expression:
    if kind == "Clip":
        return _clipped(operands, attributes)
    given = [operand for operand in operands if operand is not None]
    if len(given) < len(operands):
        raise TooComplexError
    made = _LINES[kind](given, attributes) if kind in _LINES else None
    if made is not None:
        return made
    if kind not in _FORMS:
        raise TooComplexError
    return _FORMS[kind]([ex.form_of(g) for g in given])
