"""Numbers of a drafted spec: those that were given keep their text, those that were measured are rounded decimals."""

from __future__ import annotations

import re
from fractions import Fraction
from math import floor, log10

from eqspec.errors import InputError, SpecError
from eqspec.spec import ast, parse_expression
from eqspec.spec.numbers import shown

_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
"""A point without a digit in front of it, as people type numbers on a command line."""

_PERCENTAGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_EXAMPLES = "write it as 0.05, 8/255 or 1 - 1e-3"

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def given(text: str, option: str) -> ast.Expression:
    """A number as a spec would write it, 8/255 or 1 - 1e-3, or .05. InputError, naming the option, if it is none."""
    if (percentage := _PERCENTAGE.fullmatch(text)) is not None:
        raise InputError(f"{option} {text!r} is not a number; write it as {shown(Fraction(percentage[1]) / 100)}")
    if (word := _WORD.search(text)) is not None:
        message = f"'{word[0]}' stands for no number here"
        raise InputError(f"{option} {text!r} is not a number: {message}; {_EXAMPLES}")
    try:
        return parse_expression(_POINT.sub("0.", text), option)
    except SpecError as problem:
        message = problem.diagnostics[0].message if problem.diagnostics else "it cannot be read"
        raise InputError(f"{option} {text!r} is not a number: {message}; {_EXAMPLES}") from None


def several(text: str, option: str, names: tuple[str, ...]) -> list[ast.Expression]:
    """Numbers with commas between them, one for each name or a single one for all."""
    found = [given(part.strip(), option) for part in text.split(",")]
    if len(found) not in (1, len(names)):
        raise InputError(f"{option} has {len(found)} numbers for {len(names)} inputs; give one, or one for each")
    return found


def exactly(number: Fraction) -> ast.Expression:
    """A rational as a decimal where it has a short one, else as a quotient."""
    return parse_expression(shown(number), "number")


def measured(value: float, resolution: float) -> ast.Expression:
    """A float rounded to a decimal that is no coarser than the resolution."""
    return exactly(rounded(value, resolution))


def rounded(value: float, resolution: float) -> Fraction:
    """The same as an exact number: a multiple of a power of ten that is at most the resolution."""
    step = Fraction(10) ** floor(log10(resolution))
    return round(Fraction(value) / step) * step
