"""S-expressions: the brackets and words of a VNN-LIB file, with their places.

Written without recursion and with a limit on nesting, so that a hostile file costs time and memory in proportion to
its length. A word carries the subscript behind it: `X_f[0,3]`, and `real [5]` in a declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from re import compile as regex
from typing import TypeAlias

from eqspec.span import Source, Span
from eqspec.spec.findings import Fault, error

MOST_DEPTH = 100
"""Far deeper than any file in use, and small enough for functions that recurse into the result."""

_TOKEN = regex(
    r"(?P<blank>[\s\ufeff]+|;[^\r\n]*(?=\r*(?:\n|\Z)))|(?P<return>;[^\n]*)|(?P<open>\()|(?P<close>\))|(?P<subscript>\[[^\[\]();\"]*\])"
    r"|(?P<string>\"[^\"\n]*\")|(?P<word>[^\s()\[\]\";]+)|(?P<wrong>.)"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word, with the text between the brackets behind it, if any."""

    text: str
    span: Span
    subscript: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """(items)."""

    items: list[Node]
    span: Span

    @property
    def head(self) -> str | None:
        """The first word, None if there is none."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Word) and first.subscript is None else None


Node: TypeAlias = Word | Group


@dataclass(slots=True)
class _Open:
    start: int
    items: list[Node] = field(default_factory=list)


def read(source: Source) -> list[Node]:
    """Everything at the top of a file. Fault with E600 where brackets do not match, E612 where they nest too deep."""
    stack = [_Open(0)]
    for kind, start, end in _tokens(source):
        items = stack[-1].items
        span = Span(source, start, end)
        match kind:
            case "open":
                if len(stack) > MOST_DEPTH:
                    raise Fault(error("E612", f"brackets nest deeper than {MOST_DEPTH}", span, help="flatten it"))
                stack.append(_Open(start))
            case "close":
                if len(stack) == 1:
                    raise Fault(error("E600", "a ')' without its '('", span, help="remove it"))
                closed = stack.pop()
                stack[-1].items.append(Group(closed.items, Span(source, closed.start, end)))
            case "subscript":
                last = items[-1] if items else None
                if not isinstance(last, Word) or last.subscript is not None:
                    raise Fault(error("E600", "'[...]' stands behind a name", span))
                items[-1] = Word(last.text, Span(source, last.span.start, end), source.text[start + 1 : end - 1])
            case "return":
                message = "a comment ends with a lone carriage return: readers differ on whether its line does, too"
                raise Fault(error("E600", message, span, help="save the file with plain line ends"))
            case "wrong":
                raise Fault(error("E600", f"{source.text[start:end]!r} has no meaning here", span))
            case _:
                items.append(Word(source.text[start:end], span))
    if len(stack) > 1:
        place = Span(source, stack[-1].start, stack[-1].start + 1)
        raise Fault(error("E600", "this '(' is not closed", place, help="add the missing ')'"))
    return stack[0].items


def _tokens(source: Source) -> Iterator[tuple[str, int, int]]:
    for match in _TOKEN.finditer(source.text):
        if match.lastgroup is not None and match.lastgroup != "blank":
            yield match.lastgroup, match.start(), match.end()
