"""What a spec says of the integers at the ends of a network file: scale and zero point of its inputs and its output.

The ends that it does not name are as the file has them (`eqspec.networks.readers.onnx_dequantised`); here are the
words and the numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from eqspec.lazy_dataclass import dataclass
from eqspec.spec import ast, values, vocabulary
from eqspec.spec.findings import Fault, error
from eqspec.spec.numbers import shown
from eqspec.spec.values import UNKNOWN, Lookup

Unknown = Literal[values.Unknown.UNKNOWN]
_SCALES = (Fraction(1, 10**37), Fraction(10**38))
"""The range of scales, all of which float32 holds."""
_MOST_ZERO = 2**15


@dataclass(frozen=True)
class IntegerEnds:
    """Scale and zero point of inputs, by name or "" for all others, and of the output, None where nothing is said."""

    inputs: tuple[tuple[str, Fraction, int], ...] = ()
    output: tuple[Fraction, int] | None = None


def integer_ends(clause: ast.Dequantised, lookup: Lookup) -> IntegerEnds | Unknown:
    """The scales and zero points of a clause. Fault E103, E112, E130, E134, E138 or E204 where they are impossible."""
    inputs: list[tuple[str, Fraction, int]] = []
    output: tuple[Fraction, int] | None = None
    unknown = False
    for one in clause.ends:
        end = vocabulary.look_up("end", one.end)
        if end == "output" and one.called is not None:
            message = "an output is dequantised without its name: a network has one"
            raise Fault(error("E112", message, one.called.span, help="choose one with 'output \"name\"' in front"))
        called = "" if one.called is None else one.called.value
        if any(name == called for name, _, _ in inputs) if end == "input" else output is not None:
            raise Fault(error("E204", f"'{end}' is given twice", one.end.span, help="leave one out"))
        scale, zero = _scale(one.scale, lookup), 0 if one.zero is None else _zero(one.zero, lookup)
        if scale is UNKNOWN or zero is UNKNOWN:
            unknown = True
        elif end == "input":
            inputs.append((called, scale, zero))
        else:
            output = scale, zero
    return UNKNOWN if unknown else IntegerEnds(tuple(inputs), output)


def _scale(expression: ast.Expression, lookup: Lookup) -> Fraction | Unknown:
    found = _number(expression, "a scale", lookup)
    if found is not UNKNOWN and not _SCALES[0] <= found <= _SCALES[1]:
        message = f"a scale is a positive number of float32, not {shown(found)}"
        raise Fault(error("E138", message, expression.span))
    return found


def _zero(expression: ast.Expression, lookup: Lookup) -> int | Unknown:
    found = _number(expression, "a zero point", lookup)
    if found is UNKNOWN:
        return UNKNOWN
    if found.denominator != 1 or abs(found) > 2 * _MOST_ZERO:
        message = f"a zero point is one of the integers that stand for numbers, not {shown(found)}"
        raise Fault(error("E138", message, expression.span))
    return int(found)


def _number(expression: ast.Expression, what: str, lookup: Lookup) -> Fraction | Unknown:
    found = values.number(expression, lookup)
    if found is UNKNOWN:
        return UNKNOWN
    if found.unit is not None:
        raise Fault(error("E130", f"unit mismatch: {what} has no unit, found [{found.unit}]", expression.span))
    return found.constant
