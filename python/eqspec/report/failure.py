"""Why a result fails a test, as plain text: one line that says it all, then the claim, its place and the witness."""

from __future__ import annotations

import io

from rich.console import Group, RenderableType
from rich.text import Text

from eqspec.report import table
from eqspec.report.terminal import Terminal
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict


def headline(result: Result) -> str:
    """close[eps=0.2] is different, expected equivalent. Without an expectation, the claim must hold."""
    words = f"{result.id} is {result.verdict}"
    remark = table.remark(result).plain
    if result.verdict is Verdict.DIFFERENT and result.find is None:
        if result.expected is not None:
            return f"{words}, {remark}"
        return f"{words}, but the claim must hold{f' ({remark})' if remark else ''}"
    return f"{words}: {remark}" if remark else words


def explanation(result: Result, width: int = 80) -> str:
    """The headline, what was claimed and where, and the input that breaks it; no line is longer than `width` columns.

    Lines that need more (a path, a single long word) are broken.
    """
    return _page(headline(result), result, width)


def of_result(result: Result, width: int = 80) -> str:
    """The same of any result, which need not fail a test: what `print` shows."""
    remark = table.remark(result).plain
    words = f"{result.id} is {result.verdict}"
    return _page(f"{words}: {remark}" if remark else words, result, width)


def _page(first: str, result: Result, width: int) -> str:
    parts: list[RenderableType] = [Text(first)]
    if result.claim:
        parts.append(Text.assemble(("claim  ", "bold"), result.claim))
    if said := result.scores_in_words:
        parts.append(Text(said))
    if result.source is not None:
        parts.append(Text.assemble(("at  ", "bold"), result.source))
    if result.witness or (result.find and result.find.witness):
        parts += [Text(), table.witnesses([result])]
    page = Terminal(file=(text := io.StringIO()), width=width, color_system=None, legacy_windows=False)
    page.print(Group(*parts))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).rstrip()
