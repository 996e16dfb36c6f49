"""What rich renders, without the blanks with which it fills lines up to the width of the console.

They wrap in narrower windows and clutter what is copied, and what is written to files and logs.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Trimmed:
    """The same lines, each up to its last mark."""

    shown: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in console.render_lines(self.shown, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                yield from line[:-1]
                yield Segment(line[-1].text.rstrip(), line[-1].style)
            yield Segment.line()
