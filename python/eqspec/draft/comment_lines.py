"""Comments in a drafted spec."""

from __future__ import annotations

from textwrap import wrap

_WIDTH = 110


def comment(text: str) -> list[str]:
    """A text as lines of a comment; an item of a list keeps its indent."""
    return [f"# {line}" for line in wrap(text, _WIDTH, subsequent_indent="  " if text.startswith("- ") else "")]
