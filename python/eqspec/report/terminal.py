"""The console on which everything is printed for people; `printable` says what it keeps from a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from eqspec.report.printable import harmless
from eqspec.report.trimming import Trimmed

_LABEL = re.compile(r" *\S+(?: \S+)* {2,}(?=\S)")
_HANGING = 2
_NARROWEST, _UNKNOWN = 20, 80
"""The fewest columns that are printed on, and how many there are where COLUMNS says that there are none."""
_LEAST = 20
"""The fewest columns into which words are still wrapped."""


class Terminal(Console):
    """A console of rich on which nothing that is printed has control characters of its own.

    Strings are taken as they are: brackets in names are no markup. What is printed with `soft_wrap` is broken between
    words where a person reads it, with what follows indented; in a file or a pipe a line stays a line. Lines that are
    to be copied, as commands are, stay one if they are a `Text` with `no_wrap`. Lines of prose and of tables
    end where their last mark is.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **options})
        if self.width < _NARROWEST:  # rich prints nothing at all on no columns, as COLUMNS=0 says
            self.width = _NARROWEST if self.width > 1 else _UNKNOWN

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints, and prose between words."""
        if options.get("soft_wrap") and self.is_terminal and all(isinstance(one, str | Text) for one in objects):
            objects = tuple(between_words(one, self.width) for one in objects)
        elif len(objects) == 1 and isinstance(objects[0], Group | Padding | Table | Text) and not options:
            objects = (Trimmed(objects[0]),)
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Hand it on to the command. By itself rich would end the process as if a claim had failed."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, in segments; rich's own control sequences are marked as such and stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)


def between_words(text: str | Text, width: int) -> Text:
    """The text with its long lines broken between words, and what follows indented.

    It stands below what a label, told by two spaces behind it, is beside; else two columns further in than the line.
    """
    text = Text(text) if isinstance(text, str) else text
    if text.no_wrap:
        return text
    lines = []
    for line in text.split("\n", allow_blank=True):
        hanging = _hanging(line.plain, width)
        if line.cell_len <= width or width - hanging < _LEAST:
            lines.append(line)
            continue
        first, *rest = line.divide(_breaks(line.plain, width, hanging))
        lines.append(_end(first))
        lines += [Text(" " * hanging) + _end(piece) for piece in rest]
    return Text("\n", text.style).join(lines)


def _hanging(line: str, width: int) -> int:
    """Where the lines that continue one begin."""
    label = _LABEL.match(line)
    if label is not None and 2 * cell_len(label[0]) <= width:
        return cell_len(label[0])
    return len(line) - len(line.lstrip(" ")) + _HANGING


def _breaks(text: str, width: int, hanging: int) -> list[int]:
    """Where lines begin, after a space each, so that they fit. A word that fits on none stays where it is."""
    found, begin, room = [], 0, width
    for word in re.finditer(r"\S+", text):
        is_first = not text[begin : word.start()].strip(" ")
        if not is_first and cell_len(text[begin : word.end()]) > room and cell_len(word[0]) <= width - hanging:
            begin, room = word.start(), width - hanging
            found.append(begin)
    return found


def _end(line: Text) -> Text:
    line.rstrip()
    return line
