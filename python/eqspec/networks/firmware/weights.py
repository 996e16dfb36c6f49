"""The weights of a project: what stands in weights/NAME.h, and in weights/NAME.txt where the simulation loads it.

The hardware has the numbers of the .h file, the C simulation those of the .txt file, each a decimal that is read as the
nearest double and assigned to the type of the array (so that AP_TRN cuts off what the text has too much). Both have to
give the same numbers.
"""

from __future__ import annotations

import re
from math import isfinite

import numpy as np

from eqspec.errors import NetworkError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.declarations import ArrayOf, Declarations
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.powers_of_two import powers
from eqspec.networks.firmware.size_limits import MAX_PRODUCTS
from eqspec.networks.firmware.tokens import OCTAL, UNREAD, Words

_COMMENT = re.compile(r"//(?:\\[^\S\n]*\n|[^\n])*|/\*.*?\*/", re.DOTALL)
_DEFINITION = re.compile(
    r"(?P<head>[^={};]*)=\s*\{(?P<numbers>[^{}]*|\s*\{[^{}]*\}(\s*,\s*\{[^{}]*\})*\s*)\}\s*;", re.DOTALL
)
_DECLARATION = re.compile(r"[^={};]*;")
_GUARDS = re.compile(r"^[ \t]*#[ \t]*(ifndef[ \t]+\w+|define[ \t]+\w+|else|endif)[ \t\r]*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"#[^\n]*")
_OPENED = re.compile(r"^[ \t]*#[ \t]*if", re.MULTILINE)
_CLOSED = re.compile(r"^[ \t]*#[ \t]*endif", re.MULTILINE)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Weights:
    """An array of weights: integers times 2^-type.bits."""

    name: str
    type: FixedPoint
    integers: Integers
    path: str


def read_header(path: str, text: str, declared: Declarations) -> Weights:
    """The array that a .h file defines. NetworkError where its text is no declared array of numbers."""
    if len(_OPENED.findall(text)) != len(_CLOSED.findall(text)):
        raise NetworkError(path, "an #ifndef and an #endif do not belong together", fix="write the project again")
    plain = _GUARDS.sub("", _COMMENT.sub("", text))
    if (other := _DIRECTIVE.search(plain)) is not None:
        raise NetworkError(path, f"the directive {other[0].strip()[:60]!r} is not read", fix=UNREAD)
    definition = _DEFINITION.search(plain)
    if definition is None:
        fix = "the weights have to be part of the project: write it without weights in BRAM, and without compression"
        raise NetworkError(path, "no array of plain numbers is defined here", fix=fix)
    before, behind = plain[: definition.start()], plain[definition.end() :]
    if _DECLARATION.sub("", before).strip() or behind.strip():
        raise NetworkError(path, "more stands here than one array", fix=UNREAD)
    words = Words(path, definition["head"])
    of = declared.weight_type(words)
    name = words.name("the name of the array")
    words.expect("[")
    size = declared.number(words)
    words.expect("]")
    if isinstance(of, ArrayOf):
        raise NetworkError(path, f"{name} is an array of arrays", fix=UNREAD)
    return Weights(name, of, assigned(path, name, definition["numbers"], of, size), path)


def read_text(path: str, text: str, like: Weights) -> Weights:
    """The numbers of a .txt file, of the first line alone, as the simulation reads it."""
    first = text.split("\n", 1)[0]
    return Weights(like.name, like.type, assigned(path, like.name, first, like.type, len(like.integers)), path)


def assigned(path: str, name: str, text: str, of: FixedPoint, size: int) -> Integers:
    """Numbers with commas between them as integers (size,) of a type. NetworkError where there are more or fewer."""
    if of.exponent:
        return powers(path, name, text, of, size)
    count = text.count(",") + 1
    if count != size:
        raise NetworkError(path, f"{count} numbers, {name} has {size}", fix="write the project again")
    if count > MAX_PRODUCTS:
        message = f"{name} has {count} numbers; networks of up to {MAX_PRODUCTS} products are decided"
        raise NetworkError(path, message, fix="use a smaller network")
    fields = [field.strip() for field in text.split(",")]
    numbers = [_number(path, f"number {position} of {name}", field, of) for position, field in enumerate(fields)]
    return of.stored(np.array(numbers))


def _number(path: str, where: str, field: str, of: FixedPoint) -> float:
    if not _DECIMAL.fullmatch(field):
        raise NetworkError(path, f"{where}: {field[:40]!r} is not a number", fix="write the project again")
    number = float(field)
    if not isfinite(number):
        raise NetworkError(path, f"{where}: {field[:40]} is not finite", fix="repair the training")
    if OCTAL.fullmatch(field):
        fix = "write it without the zero in front"
        raise NetworkError(path, f"{where}: {field[:40]} is octal in C++, but not where it is read from text", fix=fix)
    if of.whole and not field.lstrip("+-").isdecimal():
        raise NetworkError(
            path, f"{where}: {field[:40]} is not an integer, but its type is {of.text}", fix="use ap_fixed"
        )
    return number
