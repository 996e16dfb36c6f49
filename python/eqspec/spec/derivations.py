"""Networks that a spec makes of another one: of which, in which space, with which precision, calibrated on what.

Two precisions can be said. `quantised to int8 per channel` is integers with a scale: weights, and the values between
operators, as the operators QuantizeLinear and DequantizeLinear of ONNX have them, whose scales come from the least and
largest values that a table brings about. `as fixed<16, 6>` is fixed point: every number in a type of so many bits, of
which so many stand in front of the point, assigned where hls4ml assigns it. What either computes is said by
`eqspec.networks.deriving`; here are the words and the numbers.

A network is derived from a file, not from another derived network: what would be rounded twice is nobody's deployment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from eqspec.errors import Fix, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values, vocabulary
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.formal_parameters import given
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding, Module
from eqspec.spec.scope import Scope
from eqspec.spec.spaces import SpaceFacts, whole_range
from eqspec.spec.values import UNKNOWN, Form, Lookup, Value

INTEGER_BITS = (2, 16)
FIXED_BITS = (1, 64)
"""The fewest and the most bits of a fixed-point type."""


@dataclass(frozen=True)
class IntegerPrecision:
    """Integers with one scale for each tensor, or one for each channel of the weights."""

    bits: int
    per_channel: bool


@dataclass(frozen=True)
class FixedType:
    """A type of `bits` bits, `integer` of them before the binary point: maybe more than there are, or below 0."""

    signed: bool
    width: int
    integer: int
    rounding: str = "TRN"
    overflow: str = "WRAP"


@dataclass(frozen=True)
class FixedPrecision:
    """The type of all numbers, and by role the types of those that have another one."""

    value: FixedType
    others: tuple[tuple[str, FixedType], ...] = ()


Precision: TypeAlias = IntegerPrecision | FixedPrecision
Unknown: TypeAlias = Literal[values.Unknown.UNKNOWN]


@dataclass(frozen=True)
class CalibrationTable:
    """A table whose rows are raw inputs; the path is relative to the module's folder, `place` is where its columns are
    chosen.
    """

    path: str
    columns: tuple[int, int] | None
    module: Module
    span: Span
    place: Span


def is_derived(binding: Binding) -> bool:
    """Whether a network is made of another one."""
    return isinstance(binding.declaration, ast.DerivedNetwork)


def formal_parameters(network: Binding) -> tuple[ast.Name, ...]:
    """The formal parameters of a network; one from a file has none."""
    declaration = network.declaration
    return declaration.formals if isinstance(declaration, ast.DerivedNetwork) else ()


def source(binding: Binding) -> Binding:
    """The network with a file that a network is, or is made of; Fault E101, E106 or E213 where there is none."""
    declaration = binding.declaration
    if not isinstance(declaration, ast.DerivedNetwork):
        return binding
    found = binding.module.get("network", declaration.reference)
    path = [binding]
    while isinstance(found.declaration, ast.DerivedNetwork) and found not in path:
        path.append(found)
        found = found.module.get("network", found.declaration.reference)
    if found is binding:
        written = " -> ".join(b.name for b in [*path, binding])
        message = f"'{binding.name}' is defined through itself: {written}"
        raise Fault(error("E106", message, declaration.name.span, help="derive it from a network with a file"))
    if len(path) > 1:
        message = f"'{binding.name}' is derived from '{declaration.reference}', which is itself derived from another"
        label = Label(path[1].declaration.name.span, "declared here")
        hint = f"derive it from '{found.name}'" if not is_derived(found) else "derive it from a network with a file"
        raise Fault(error("E213", message, declaration.reference.span, label, help=hint))
    return found


def space_of(binding: Binding, spaces: Mapping[Binding, SpaceFacts]) -> SpaceFacts:
    """The space that a network lives in; Fault where it has none, E202 where a derived one claims another."""
    file = source(binding)
    found = file.module.get("space", cast(ast.Network, file.declaration).space)
    declaration = binding.declaration
    if isinstance(declaration, ast.DerivedNetwork) and declaration.space is not None:
        said = binding.module.get("space", declaration.space)
        if said is not found:
            message = (
                f"'{binding.name}' cannot live in space '{declaration.space}': '{file.name}' lives in '{found.name}'"
            )
            label = Label(cast(ast.Network, file.declaration).space.span, "declared here")
            hint = "leave 'in' out: a derived network lives where its reference does"
            raise Fault(error("E202", message, declaration.space.span, label, help=hint))
    if found not in spaces:
        raise Fault
    return spaces[found]


def arguments(subject: ast.Subject, network: Binding, scope: Scope, findings: Findings) -> tuple[Value, ...]:
    """The numbers that a network is given in a claim; Fault E112 where they are too many or too few, E134 for texts."""
    name, listed, formals = ast.network_of(subject), ast.arguments_of(subject), formal_parameters(network)
    found = given("network", name, network.declaration.name.span, formals, listed, subject.span, scope, findings)
    for value, argument in zip(found, listed, strict=True):
        if value is not UNKNOWN and (not isinstance(value, Form) or value.coefficients):
            raise Fault(error("E134", f"expected a number, found {values.kind(value)}", argument.span))
    return found


def precision(
    network: Binding, given_values: tuple[Value, ...], scope: Scope, findings: Findings, used: Span | None = None
) -> Precision | Unknown:
    """What a derived network computes with, for given values of its formal parameters; UNKNOWN where one is.

    `scope` is that of any declaration of the program, and `used` where the values were given. Fault E103, E112, E138.
    """
    declaration = cast(ast.DerivedNetwork, network.declaration)
    local = dict(zip((f.text for f in declaration.formals), given_values, strict=True))
    inner = Scope(network.module, scope.values, local)
    try:
        match declaration.precision:
            case ast.QuantisedTo() as clause:
                per = "tensor" if clause.per is None else vocabulary.look_up("scale", clause.per)
                return integers(clause.type, inner, per_channel=per == "channel")
            case ast.HeldAs() as clause:
                return _fixed_point(clause, inner, findings, literal=not given_values)
    except Fault as fault:
        if fault.diagnostic is None or used is None or not given_values:
            raise
        found = fault.diagnostic
        raise Fault(replace(found, labels=(*found.labels, Label(used, "used here")))) from None


def table(network: Binding, space: SpaceFacts, scope: Scope) -> CalibrationTable | Unknown | None:
    """The table that a network is calibrated on, which is that of the features where none is said; None: it needs none.

    Fault E214 where there is none to be had.
    """
    declaration = cast(ast.DerivedNetwork, network.declaration)
    clause = declaration.precision
    if isinstance(clause, ast.HeldAs):
        return None
    if clause.table is not None:
        return _table(clause.table, clause.columns, network.module, scope)
    listed = next(
        (c for c in cast(ast.Space, space.binding.declaration).clauses if isinstance(c, ast.FeaturesFrom)), None
    )
    if listed is None:
        message = f"nothing says which inputs '{network.name}' is calibrated on, and its scales depend on them"
        hint = "add 'calibrated on \"table.csv\"', with a row of raw inputs for each example"
        raise Fault(error("E214", message, clause.span, help=hint))
    module = space.binding.module
    return _table(listed.path, listed.columns, module, Scope(module, scope.values))


def _table(path: ast.Expression, columns: ast.Range | None, module: Module, scope: Scope) -> CalibrationTable | Unknown:
    inner = Scope(module, scope.values)
    written = values.text(path, inner)
    chosen = None if columns is None else whole_range(columns, inner, "column")
    if written is UNKNOWN or chosen is UNKNOWN:
        return UNKNOWN
    return CalibrationTable(written, chosen, module, path.span, (columns or path).span)


def integers(held: ast.NumberType, lookup: Lookup, *, per_channel: bool) -> IntegerPrecision | Unknown:
    """Integers of a type such as int8 or int<12>; Fault E103, E112, E130, E134 or E138 for any other."""
    text, listed = held.word.text, held.arguments
    bits_of_word = text.removeprefix("int")
    if bits_of_word.isdecimal() and bits_of_word.isascii() and text not in vocabulary.WORDS["integer type"]:
        least, most = INTEGER_BITS
        hint, fixes = f"write 'int<B>' with B from {least} to {most}", tuple[Fix, ...]()
        if not listed and least <= int(bits_of_word[:9]) <= most:
            written = f"int<{int(bits_of_word)}>"
            hint, fixes = f"write '{written}'", (Fix(held.span, written),)
        raise Fault(error("E103", f"unknown integer type '{text}'", held.span, help=hint, fixes=fixes))
    word = vocabulary.look_up("integer type", held.word)
    if word != "int":
        if listed:
            hint = f"write '{word}', or 'int<...>' with another number of bits"
            raise Fault(error("E112", f"'{word}' takes no bits, found {len(listed)}", held.span, help=hint))
        return IntegerPrecision(int(word.removeprefix("int")), per_channel)
    if len(listed) != 1:
        message = f"'int' takes its number of bits, found {len(listed)} values"
        raise Fault(error("E112", message, held.span, help="write 'int<8>'"))
    bits = _whole(listed[0], "bits", *INTEGER_BITS, lookup)
    return UNKNOWN if bits is UNKNOWN else IntegerPrecision(bits, per_channel)


def fixed_type(held: ast.NumberType, lookup: Lookup) -> FixedType | Unknown:
    """A type such as fixed<16, 6, RND, SAT>; Fault E103, E112, E130, E134 or E138 for any other."""
    word, listed = vocabulary.look_up("fixed point type", held.word), held.arguments
    if not 2 <= len(listed) <= 4:
        found = f"found {len(listed)} value{'' if len(listed) == 1 else 's'}"
        message = f"'{word}' takes its bits and how many of them stand in front of the point, {found}"
        hint = f"write '{word}<16, 6>', or '{word}<16, 6, RND, SAT>' with its rounding and overflow"
        raise Fault(error("E112", message, held.span, help=hint))
    least, most = FIXED_BITS
    width = _whole(listed[0], "bits", least, most, lookup)
    integer = _whole(listed[1], "bits in front of the point", -most, most, lookup)
    rounding = _mode("rounding mode", listed[2]) if len(listed) > 2 else "TRN"
    overflow = _mode("overflow mode", listed[3]) if len(listed) > 3 else "WRAP"
    if width is UNKNOWN or integer is UNKNOWN:
        return UNKNOWN
    return FixedType(word == "fixed", width, integer, rounding, overflow)


def _fixed_point(clause: ast.HeldAs, lookup: Lookup, findings: Findings, *, literal: bool) -> FixedPrecision | Unknown:
    """W312 for a type written in plain numbers that has no digit behind the point, which is seldom meant."""
    value = fixed_type(clause.type, lookup)
    others: dict[str, FixedType | Unknown] = {}
    for other in clause.others:
        key = vocabulary.look_up("typed number", other.key)
        if key in others:
            raise Fault(error("E204", f"'{key}' is given twice", other.key.span, help="leave one out"))
        others[key] = fixed_type(other.type, lookup)
    for found, held in zip((value, *others.values()), (clause.type, *(o.type for o in clause.others)), strict=True):
        if literal and found is not UNKNOWN and found.integer > found.width:
            step = 2 ** (found.integer - found.width)
            counts = f"{found.width} bits with {found.integer} in front of the point counts in steps of {step}"
            hint = "the first number is the total, the second a part of it: fixed<16, 6> has 10 digits behind the point"
            findings.add(warning("W312", f"a {held.word} of {counts}", held.span, help=hint))
    known = {key: held for key, held in others.items() if held is not UNKNOWN}
    if value is UNKNOWN or len(known) < len(others):
        return UNKNOWN
    return FixedPrecision(value, tuple(known.items()))


def _mode(kind: str, expression: ast.Expression) -> str:
    """A rounding or overflow mode: a name among arguments that may also be numbers."""
    match expression:
        case ast.Reference(ast.QualifiedName((word,)), None):
            return vocabulary.look_up(kind, ast.Name(word, span=expression.span))
        case _:
            one_of = f"one of {', '.join(vocabulary.WORDS[kind])}"
            raise Fault(error("E134", f"expected a {kind}", expression.span, help=one_of))


def _whole(expression: ast.Expression, what: str, least: int, most: int, lookup: Lookup) -> int | Unknown:
    found = values.number(expression, lookup)
    if found is UNKNOWN:
        return UNKNOWN
    if found.unit is not None:
        raise Fault(error("E130", f"unit mismatch: {what} have no unit, found [{found.unit}]", expression.span))
    if found.constant.denominator != 1 or not least <= found.constant <= most:
        message = f"{what} are a whole number from {least} to {most}, not {shown(found.constant)}"
        raise Fault(error("E138", message, expression.span))
    return int(found.constant)
