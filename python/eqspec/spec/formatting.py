"""One style for every spec: text in, text out, and nothing it says is lost."""

from __future__ import annotations

from collections import Counter

from eqspec.spec import ast, printer
from eqspec.spec.parse import parse_text


def formatted(text: str, name: str = "<text>") -> str:
    """The text as `eqspec fmt` writes it; SpecError if it cannot be read.

    What comes out was read again: it is the same tree, holds the same comments, and would not be changed again.
    """
    file = parse_text(text, name)
    written = printer.text(file)
    again = parse_text(written, name)
    if again != file or _remarks(again) != _remarks(file) or printer.text(again) != written:
        raise RuntimeError(f"formatting {name} would change what it says; it is left as it is")
    return written


def _remarks(file: ast.File) -> Counter[str]:
    """The texts of all comments that are not empty."""
    return Counter(words for c in file.comments if (words := c.text.lstrip("#").strip()))
