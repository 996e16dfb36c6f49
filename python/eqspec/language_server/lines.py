"""Offsets in a text as an editor counts them: lines, and code units in a line, both from 0.

The protocol ends lines at a line feed, a carriage return or both, and counts in units that editor and server agreed
upon (those of UTF-16 unless both prefer others); offsets of eqspec count characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from re import compile as regex

_END = regex(r"\r\n|\n|\r")


class Lines:
    """The lines of a text; `units` says how many units a string has."""

    def __init__(self, text: str, units: Callable[[str], int]) -> None:
        self.text, self._units = text, units
        self._starts = [0, *(found.end() for found in _END.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and unit of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self.text[self._starts[line] : offset])

    def offset(self, line: int, unit: int) -> int:
        """The offset of a unit in a line; behind the end of the line or of the text, that end."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        content = self.text[start:end].rstrip("\r\n")
        counted = 0
        for place, character in enumerate(content):
            if counted >= unit:
                return start + place
            counted += self._units(character)
        return start + len(content)
