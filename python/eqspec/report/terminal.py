"""The console on which everything is printed for people; `printable` says what it keeps from a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from eqspec.report.printable import shown


class Terminal(Console):
    """A console of rich on which nothing that is printed has control characters of its own.

    Strings are taken as they are: brackets in names are no markup.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **options})

    def on_broken_pipe(self) -> None:
        """Hand it on to the command. By itself rich would end the process as if a claim had failed."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, in segments; rich's own control sequences are marked as such and stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)
