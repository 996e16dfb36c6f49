"""Subgraphs of elementwise operators with one variable source that are one known function of it.

Exporters write GELU as five nodes, SiLU as two, HardSwish as x clip(x + 3, 0, 6) / 6. Node by node that would be
products of two variables; here the value behind such nodes is seen to be one function of one value, entry by entry.
`remember` keeps of every elementwise operator what it was applied to. At an operator that joins such values,
`recognised` goes back to each value X that all its operands are functions of, writes the result as an expression of X
(`expressions`), and compares it with the functions that are known: F(X) = a f(b X + c) + d.

Sound because an expression is the real function of the nodes, with the constants of the file as they are: where a
constant is not the one of a function (float32 holds neither 1 / sqrt 2 nor 1 / 6), X is scaled in front and the result
behind, by enclosed numbers. The tanh form of GELU has two constants and one scale, so there the rest is bounded:
for F = k x (1 + tanh(s x + t x^3)) and f with s0, t0 in their place, s, s0 >= 0.79 and t, t0 >= 0,

    |F - f| <= |k| |x| (|s - s0| |x| + |t - t0| |x|^3) 4 e^(-1.58 |x|) <= |k| (|s - s0| + 4 |t - t0|)

as x^2 4 e^(-1.58 x) < 0.9 and x^4 4 e^(-1.58 x) < 3.2; this goes into the error of the result, without a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import expressions as ex
from eqspec.networks import fixed_point as fp
from eqspec.networks.affine import Affine
from eqspec.networks.curve_definitions import problem
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.expressions import Expression, Form, Interval, Lines, TooComplexError, X, point
from eqspec.networks.operators.operator_call import OperatorCall, Value

_DEEPEST = 16
_MOST_CONSTANTS = 4096
"""Different tuples of constants that entries of a value may have."""
_JOINING = ("Add", "Div", "Log", "Max", "Min", "Mul", "Reciprocal", "Sub", "Sum")
_BENDING = ("Clip", "LeakyRelu", "Relu")
_BITS = 200

Operand = Affine | Enclosure


@dataclass(frozen=True, eq=False)
class Origin:
    """The operator that gave a value, and what it was applied to."""

    kind: str
    operands: tuple[Operand, ...]
    attributes: tuple[float, ...]
    depth: int


@dataclass(frozen=True)
class _Found:
    """outer f(inner X + shift) + rest."""

    curve: Curve
    inner: Interval
    shift: Interval
    outer: Interval
    rest: Interval


def remember(call: OperatorCall, results: Sequence[Value]) -> None:
    """Keep what an elementwise operator was applied to."""
    kind = call.node.op_type
    if (kind not in _EXPRESSED and kind not in _JOINING) or call.opset < 7 or len(results) != 1:
        return
    (result,) = results
    if not isinstance(result, Affine) or result.unit or result._origin:
        return
    operands = _operands(call)
    if operands is None:
        return
    before = max((o._origin[0].depth for o in operands if isinstance(o, Affine) and o._origin), default=0)
    if before < _DEEPEST and not any(o is result for o in operands):
        result._origin.append(Origin(kind, tuple(operands), _attributes(call), before + 1))


def _operands(call: OperatorCall) -> list[Operand] | None:
    """What an operator is applied to; an end that a Clip has not is NaN. None where it is something else."""
    found: list[Operand] = []
    for value in call.inputs:
        if isinstance(value, np.ndarray):
            value = Enclosure(value.astype(np.float64))
        if value is None and call.node.op_type == "Clip":
            value = Enclosure(np.array(np.nan))
        if not isinstance(value, Affine | Enclosure):
            return None
        found.append(value)
    return found


def _attributes(call: OperatorCall) -> tuple[float, ...]:
    match call.node.op_type:
        case "LeakyRelu":
            return (call.real("alpha", float(np.float32(0.01))),)
        case "HardSigmoid":
            return call.real("alpha", float(np.float32(0.2))), call.real("beta", 0.5)
        case "Clip" if call.opset < 11:
            ends = [call.attribute(name) for name in ("min", "max")]
            return tuple(np.nan if end is None else float(end.f) for end in ends)
        case _:
            return ()


def recognised(call: OperatorCall) -> list[Value] | None:
    """The result of a node that makes a known function of one value; None where it does not."""
    kind = call.node.op_type
    if (kind not in _JOINING and not _bends_again(call)) or call.opset < 7 or call.given.unit:
        return None
    values = [v for v in call.inputs if isinstance(v, Affine)]
    if not any(value._origin for value in values) or (len(values) < 2 and kind in ("Add", "Sub", "Mul", "Sum")):
        return None
    if len(values) == 1 and kind == "Div" and values[0] is call.inputs[0]:
        return None
    operands = _operands(call)
    if operands is None:
        return None
    node = Origin(kind, tuple(operands), _attributes(call), 0)
    for base in _bases(values) if kind in _JOINING else [_in_front(values[0])]:
        if len(values) < 2 and not _interior(node, base):
            continue
        made = _as_function(node, base)
        if made is not None:
            reading = base.parts[0].units.reading
            reading.neurons -= base.size * _interior(node, base)
            return [made]
    return None


def _bends_again(call: OperatorCall) -> bool:
    """Whether it is a ReLU or Clip of one that nothing else reads: together they are one function."""
    if call.node.op_type not in _BENDING or not (call.alone and call.alone[0]):
        return False
    x = call.inputs[0]
    return isinstance(x, Affine) and bool(x._origin) and x._origin[0].kind in _BENDING


def _in_front(x: Affine) -> Affine:
    """What stands in front of all ReLUs and Clips that are behind one another, a sum and its bias as they are."""
    while x._origin and x._origin[0].kind in _BENDING:
        inner = x._origin[0].operands[0]
        assert isinstance(inner, Affine)
        x = inner
    return x


def _bases(values: Sequence[Affine]) -> list[Affine]:
    """All values that these were made of, the nearest first."""
    found: dict[int, Affine] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if id(value) not in found:
            found[id(value)] = value
            waiting += [o for origin in value._origin for o in origin.operands if isinstance(o, Affine)]
    depth = {key: value._origin[0].depth if value._origin else 0 for key, value in found.items()}
    return sorted(found.values(), key=lambda value: -depth[id(value)])


def _interior(node: Origin, base: Affine) -> int:
    """How many functions stand between a node and its base, which nothing else is expected to read."""
    seen, waiting, count = {id(base)}, [o for o in node.operands if isinstance(o, Affine)], 0
    while waiting:
        value = waiting.pop()
        if id(value) in seen or not value._origin:
            continue
        seen.add(id(value))
        (origin,) = value._origin
        count += origin.kind in _EXPRESSED
        waiting += [o for o in origin.operands if isinstance(o, Affine)]
    return count


def _as_function(node: Origin, base: Affine) -> Affine | None:
    constants: list[Enclosure] = []
    if not _collect(node, base, constants, {id(base)}):
        return None
    shape = base.shape
    try:
        columns = [np.broadcast_to(a, shape).reshape(-1) for c in constants for a in (c.value, c.radius)]
    except ValueError:
        return None
    size = base.size
    table = np.stack(columns, axis=1) if columns else np.zeros((size, 0))
    kinds, which = np.unique(table, axis=0, return_inverse=True)
    which = which.reshape(-1)
    if len(kinds) > _MOST_CONSTANTS or size == 0:
        return None
    found = list[_Found]()
    for row in kinds.tolist():
        numbers = [
            (Fraction(v) - Fraction(r), Fraction(v) + Fraction(r)) if v == v else None
            for v, r in zip(row[::2], row[1::2], strict=True)
        ]
        known = _known(node, base, {id(c): n for c, n in zip(constants, numbers, strict=True)})
        if known is None:
            return None
        found.append(known)
    return _written(base, found, which)


def _collect(node: Origin, base: Affine, constants: list[Enclosure], seen: set[int]) -> bool:
    """The constants between a node and its base; whether everything between is elementwise, of the base's shape."""
    for operand in node.operands:
        if isinstance(operand, Enclosure):
            constants.append(operand)
        elif operand.shape != base.shape:
            return False
        elif id(operand) not in seen:
            seen.add(id(operand))
            if not operand._origin or not _collect(operand._origin[0], base, constants, seen):
                return False
    return True


def _known(node: Origin, base: Affine, numbers: dict[int, Interval | None]) -> _Found | None:
    try:
        return _function(_expression(node, base, numbers, {}))
    except (TooComplexError, ZeroDivisionError):
        return None


def _expression(
    node: Origin, base: Affine, numbers: dict[int, Interval | None], known: dict[int, Expression]
) -> Expression:
    given: list[Expression | None] = []
    for operand in node.operands:
        if operand is base:
            given.append(X)
        elif isinstance(operand, Enclosure):
            number = numbers[id(operand)]
            given.append(None if number is None else _constant(number))
        else:
            if id(operand) not in known:
                known[id(operand)] = _expression(operand._origin[0], base, numbers, known)
            given.append(known[id(operand)])
    if node.kind == "Clip":
        return _clipped(given, node.attributes)
    operands = [g for g in given if g is not None]
    if len(operands) < len(given):
        raise TooComplexError
    made = _LINES[node.kind](operands, node.attributes) if node.kind in _LINES else None
    if made is not None:
        return made
    if node.kind not in _FORMS:
        raise TooComplexError
    return _FORMS[node.kind]([ex.form_of(g) for g in operands])


def _constant(number: Interval) -> Expression:
    return ex.constant(number[0]) if ex.is_point(number) else Form(((ex.ONE, number),))


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
_EXPRESSED = frozenset({
    "Abs", "Clip", "Erf", "Exp", "HardSigmoid", "LeakyRelu", "Log", "Neg", "Pow", "Reciprocal", "Relu", "Sigmoid",
    "Softplus", "Tanh",
})  # fmt: skip


# Known functions.


def _function(expression: Expression) -> _Found | None:
    if isinstance(expression, Lines):
        return _pieces(expression)
    constant = expression.coefficients.get(ex.ONE, point(0))
    terms = [(m, c) for m, c in expression.terms if m != ex.ONE]
    for recognise in (_one_monomial, _gated):
        found = recognise(terms)
        if found is not None:
            return _Found(found.curve, found.inner, found.shift, found.outer, _plus(found.rest, constant))
    return None


def _plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _pieces(lines: Lines) -> _Found | None:
    if not lines.knots:
        return None
    value = lines.at(lines.knots[0])
    numbers = [*lines.knots, *lines.slopes, value]
    if any(Fraction(float(n)) != n for n in numbers):
        return None
    curve = Curve("pieces", (float(len(lines.knots)), *map(float, numbers)))
    return _Found(curve, point(1), point(0), point(1), point(0))


_Terms = list[tuple[ex.Monomial, Interval]]


def _one_monomial(terms: _Terms) -> _Found | None:
    """A multiple of one function, of X times a function, or of a power of X."""
    if len(terms) != 1:
        return None
    monomial, factor = terms[0]
    powers = dict(monomial)
    atoms = [atom for atom in powers if atom is not None]
    if not atoms:
        power = powers[None]
        curve = Curve("square") if power == 2 else Curve("power", (float(power),))
        return _Found(curve, point(1), point(0), factor, point(0)) if power > 1 else None
    (atom, *others) = atoms
    if others or powers[atom] != 1 or powers.get(None, 0) > 1:
        return None
    if None not in powers:
        line = _line(atom.argument)
        return None if line is None else _Found(Curve(atom.name), *line, factor, point(0))
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


def _scaled(name: str, argument: Form | None, factor: Interval) -> _Found | None:
    """k X h(a X) = (k / a) f(a X) for f(y) = y h(y)."""
    line = _line(argument)
    if line is None or line[1] != point(0):
        return None
    return _Found(Curve(name), line[0], point(0), ex.times(factor, ex.inverse(line[0])), point(0))


def _softsign(argument: Form, factor: Interval) -> _Found | None:
    """k X / (c + |a X|) = (k / a) softsign((a / c) X), for a > 0."""
    lines = ex.lines_of(argument)
    if lines is None or len(lines.knots) != 1 or lines.knots[0] or lines.at_zero <= 0:
        return None
    slope = lines.slopes[1]
    if slope <= 0 or lines.slopes[0] != -slope:
        return None
    return _Found(
        Curve("softsign"), point(slope / lines.at_zero), point(0), ex.times(factor, point(1 / slope)), point(0)
    )


def _hard_gate(lines: Lines, factor: Interval) -> _Found | None:
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
        return _Found(Curve("hardswish", (float(slope), float(offset))), point(1), point(0), outer, point(0))
    return _Found(
        Curve("hardswish", (1.0, float(offset))), point(slope), point(0), ex.times(outer, point(1 / slope)), point(0)
    )


def _gated(terms: _Terms) -> _Found | None:
    """k X (1 + erf(c X)), k X (1 + tanh(s X + t X^3))."""
    coefficients = dict(terms)
    factor = coefficients.pop(ex.LINEAR, None)
    if factor is None or len(coefficients) != 1 or not ex.is_point(factor):
        return None
    ((monomial, other),) = coefficients.items()
    powers = dict(monomial)
    if other != factor or powers.pop(None, 0) != 1 or len(powers) != 1:
        return None
    ((atom, power),) = powers.items()
    if atom is None or power != 1 or atom.argument is None:
        return None
    if atom.name == "erf" and (line := _line(atom.argument)) is not None and line[1] == point(0):
        root = _root(Fraction(2))
        inner = ex.times(line[0], root)
        return _Found(Curve("gelu"), inner, point(0), ex.times(ex.times(factor, point(2)), ex.inverse(inner)), point(0))
    return _gated_by_tanh(atom.argument, factor) if atom.name == "tanh" else None


def _gated_by_tanh(argument: Form, factor: Interval) -> _Found | None:
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
    return _Found(Curve("gelu_tanh"), point(1), point(0), ex.times(factor, point(2)), (-error, error))


def _apart(a: Interval, b: Interval) -> Fraction:
    return max(abs(a[1] - b[0]), abs(b[1] - a[0]))


def _root(number: Fraction) -> Interval:
    """An enclosure of the square root."""
    low = isqrt((number.numerator << 2 * _BITS) // number.denominator)
    return Fraction(low, 1 << _BITS), Fraction(low + 1, 1 << _BITS)


def _written(base: Affine, found: Sequence[_Found], which: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Affine | None:
    """outer f(inner X + shift) + rest, entry by entry."""
    if any(problem(one.curve) is not None for one in found):
        return None

    def array(choose: Callable[[_Found], Interval]) -> Enclosure:
        numbers = en.from_intervals([choose(one) for one in found])
        if len(found) == 1:
            return numbers.rearranged(lambda a: a.reshape(()))
        return numbers.rearranged(lambda a: a[which].reshape(base.shape))

    x = base
    inner, shift, outer, rest = (array(lambda one, n=n: getattr(one, n)) for n in ("inner", "shift", "outer", "rest"))  # type: ignore[misc]
    if not _is(inner, 1.0):
        x = af.scale(x, inner)
    if not _is(shift, 0.0):
        x = af.shift(x, shift)
    made = af.curve(x, Curves.of_rows([found[i].curve for i in which.tolist()]))
    if not _is(outer, 1.0):
        made = af.scale(made, outer)
    return made if _is(rest, 0.0) else af.shift(made, rest)


def _is(numbers: Enclosure, number: float) -> bool:
    return numbers.error is None and bool((numbers.value == number).all())
