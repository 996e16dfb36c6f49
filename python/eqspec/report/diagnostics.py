"""Findings about a spec as people and programs read them.

For people: what is wrong, where, the source line with a caret, second places, and a fix. `text` carries styles for a
rich console, which honours NO_COLOR and what the terminal can do; `plain` is the same without. For programs: `to_json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from eqspec.errors import Diagnostic, Label, SpecError
from eqspec.report.printable import shown as escaped
from eqspec.report.printable import written_out
from eqspec.span import Span

WIDTH = 120
_STYLES = {"error": "bold red", "warning": "bold yellow"}
_MARGIN = "bold blue"
_TAB = "    "
_CUT = "..."


def plain(diagnostics: Sequence[Diagnostic], hidden: int = 0, width: int = WIDTH) -> str:
    """All findings, one after the other, and a last line that counts them."""
    return escaped(text(diagnostics, hidden, width).plain)


def text(diagnostics: Sequence[Diagnostic], hidden: int = 0, width: int = WIDTH) -> Text:
    """The same with styles; lines of source are cut to `width` columns around the caret."""
    shown = [_one(d, width) for d in diagnostics]
    if hidden:
        shown.append(Text(f"... and {_count(hidden, 'more error')}\n", "bold"))
    errors = sum(d.severity == "error" for d in diagnostics) + hidden
    warnings = sum(d.severity == "warning" for d in diagnostics)
    counts = [_count(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    if len(diagnostics) + hidden > 1:
        shown.append(Text(", ".join(counts) + "\n", "bold"))
    return Text("\n").join(shown)


def of_error(problem: SpecError, width: int = WIDTH) -> Text:
    """Everything a SpecError says."""
    return text(problem.diagnostics, problem.hidden, width)


def to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding as JSON: code, severity, message, help, and where, with lines and columns from 1, ends exclusive."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "help": diagnostic.help,
        **_place(diagnostic.span),
        "labels": [{"text": label.text, **_place(label.span)} for label in diagnostic.labels],
    }


def _place(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"file": None, "line": None, "column": None, "end_line": None, "end_column": None}
    end_line, end_column = span.source.line_column(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _one(diagnostic: Diagnostic, width: int) -> Text:
    """One finding, every line ended."""
    style = _STYLES[diagnostic.severity]
    out = Text()
    out.append(f"{diagnostic.severity}[{diagnostic.code}]", style)
    out.append(f": {_printable(diagnostic.message)}\n", "bold")
    span = diagnostic.span
    margin = 0
    if span is not None:
        marks = [*diagnostic.labels]
        if not any(label.span == span for label in marks):
            marks.append(Label(span, ""))
        margin = max(len(str(label.span.line)) for label in marks)
        out.append(" " * margin + "--> ", _MARGIN)
        out.append(f"{_printable(str(span))}\n")
        out.append(" " * margin + " |\n", _MARGIN)
        here = [label for label in marks if label.span.source is span.source]
        _source(out, here, span, style, margin, width)
        for label in marks:
            if label.span.source is not span.source:
                out.append(" " * margin + "--> ", _MARGIN)
                out.append(f"{_printable(str(label.span))}\n")
                _source(out, [label], span, style, margin, width)
    if diagnostic.help is not None:
        out.append(" " * margin + " = ", _MARGIN)
        out.append("help", "bold")
        out.append(f": {_printable(diagnostic.help)}\n")
    return out


def _source(out: Text, labels: Iterable[Label], primary: Span, style: str, margin: int, width: int) -> None:
    """Lines of source in order, each with its marks below: ^ under the finding, - under second places."""
    ordered = sorted(labels, key=lambda label: (label.span.line, label.span == primary, label.span.column))
    last = 0
    for label in ordered:
        number = label.span.line
        line = label.span.source.line(number)
        start = label.span.column - 1
        end = max(start + 1, min(len(line), start + label.span.end - label.span.start))
        room = max(20, width - margin - 3)
        shown, start, end = _window(line, start, end, room)
        if number != last:
            out.append(f"{number:>{margin}} | ", _MARGIN)
            out.append(f"{_printable(shown)}".rstrip() + "\n")
            last = number
        mark = "^" if label.span == primary else "-"
        mark_style = style if label.span == primary else _MARGIN
        before, under = _printable(shown[:start]), _printable(shown[start:end])
        out.append(" " * margin + " | ", _MARGIN)
        out.append(" " * cell_len(before))
        out.append(mark * max(1, cell_len(under)), mark_style)
        out.append(f" {_printable(label.text)}" if label.text else "", mark_style)
        out.append("\n")


def _window(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """The part of a line around start..end that fits, with marks where it is cut, and the place in it."""
    if len(line) <= room:
        return line, start, end
    first = max(0, min(start - room // 3, len(line) - room))
    last = min(len(line), first + room)
    part = line[first:last]
    if first > 0:
        part = _CUT + part[len(_CUT) :]
    if last < len(line):
        part = part[: -len(_CUT)] + _CUT
    return part, start - first, max(start - first + 1, min(end - first, len(part)))


def _printable(shown: str) -> str:
    """Text that cannot move the cursor."""
    return "".join(c if c.isprintable() else _TAB if c == "\t" else written_out(c) for c in shown)
