"""The console on which everything is printed for people; `printable` says what it keeps from a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from eqspec.report.printable import shown

_HANGING = 2
_LEAST = 20
"""Fewer columns than so many are no room for words."""


class Terminal(Console):
    """A console of rich on which nothing that is printed has control characters of its own.

    Strings are taken as they are: brackets in names are no markup. What is printed with `soft_wrap` is broken between
    words where a person reads it, with what follows indented; in a file or a pipe a line stays a line. Lines that are
    to be copied, as commands are, stay one if they are a `Text` with `no_wrap`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **options})

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints, and prose between words."""
        if options.get("soft_wrap") and self.is_terminal and all(isinstance(one, str | Text) for one in objects):
            objects = tuple(between_words(one, self.width) for one in objects)
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Hand it on to the command. By itself rich would end the process as if a claim had failed."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, in segments; rich's own control sequences are marked as such and stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)


def between_words(text: str | Text, width: int) -> Text:
    """The text with its long lines broken between words, and what follows indented by two more than the line began."""
    text = Text(text) if isinstance(text, str) else text
    if text.no_wrap:
        return text
    lines = []
    for line in text.split("\n", allow_blank=True):
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        room = width - indent - _HANGING
        if line.cell_len <= width or room < _LEAST:
            lines.append(line)
            continue
        first, *rest = line[indent:].divide(_breaks(line.plain[indent:], room))
        lines.append(Text(" " * indent) + _end(first))
        lines += [Text(" " * (indent + _HANGING)) + _end(piece) for piece in rest]
    return Text("\n", text.style).join(lines)


def _breaks(text: str, room: int) -> list[int]:
    """Where lines begin, after a space each, so that they fit; a word that is longer has a line of its own."""
    found, begin = [], 0
    for word in re.finditer(r"\S+", text):
        if word.start() > begin and cell_len(text[begin : word.end()]) > room:
            begin = word.start()
            found.append(begin)
    return found


def _end(line: Text) -> Text:
    line.rstrip()
    return line
