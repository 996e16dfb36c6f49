"""The line of JSON at the head of a certificate: one meaning only, and no larger than it has to be.

A field that stands there twice means one thing to one reader and another to the next, so it is refused; so are NaN and
Infinity, which are not JSON.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ..rounding import Refused
from . import limits
from .files import Bounded
from .printable import label


def header(file: Bounded) -> dict[str, Any]:
    """The object in the first line."""
    line = file.readline(limits.HEADER)
    if not line.endswith(b"\n"):
        raise Refused(f"its first line has no end within {limits.HEADER} bytes")
    if line.count(b"[") + line.count(b"{") > limits.LISTS:
        raise Refused(f"its first line has more than {limits.LISTS} lists and objects")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("its first line is not UTF-8") from None
    try:
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_integer)
    except RecursionError:
        raise Refused("its first line nests lists or objects too deeply") from None
    except json.JSONDecodeError as problem:
        raise Refused(f"its first line is not JSON: {problem.msg} at character {problem.pos}") from None
    if not isinstance(found, dict):
        raise Refused("its first line is not a JSON object")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Refused(f"the field {label(twice)} stands twice in one object; it could mean either")
    return found


def _no_constant(text: str) -> NoReturn:
    raise Refused(f"{text} in its first line is not JSON")


def _integer(text: str) -> int:
    if len(text) > limits.DIGITS:
        raise Refused(f"a whole number of more than {limits.DIGITS} digits")
    return int(text)
