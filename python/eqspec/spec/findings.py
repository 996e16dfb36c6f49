"""Collects what is wrong with a spec, so that one run reports everything.

Code that cannot go on raises a `Fault` with its finding; a caller that can go on without that part collects it with
`Findings.collecting`. A `Fault` without a finding means: the cause has been reported already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from eqspec.errors import Diagnostic, Fix, Label, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.suggest import closest

MOST = 20
"""The most errors that are shown; the rest are counted."""


class Fault(Exception):  # noqa: N818 (a way to leave, not an error users see)
    """A part of a spec cannot be given a meaning; `diagnostic` says why, and is None if that was reported before."""

    def __init__(self, diagnostic: Diagnostic | None = None) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message if diagnostic else "already reported")


def error(
    code: str,
    message: str,
    span: Span | None,
    *labels: Label,
    help: str | None = None,  # noqa: A002
    fixes: tuple[Fix, ...] = (),
) -> Diagnostic:
    """An error; a label on the span itself is the text behind the caret."""
    return Diagnostic(code, "error", message, span, labels, help, fixes)


def warning(code: str, message: str, span: Span | None, *labels: Label, help: str | None = None) -> Diagnostic:  # noqa: A002
    """A warning."""
    return Diagnostic(code, "warning", message, span, labels, help)


def spelt(span: Span, word: str, candidates: Iterable[str]) -> tuple[Fix, ...]:
    """The fix behind a `did you mean`: replace the word at a place by the nearest candidate."""
    meant = closest(word, candidates)
    return () if meant is None else (Fix(span, meant),)


@dataclass
class Outcome:
    """Whether a block was left by a fault."""

    failed: bool = False


class Findings:
    """Everything found so far: the same code at the same place is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Span | str], Diagnostic] = {}

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a finding, unless the same was found at the same place."""
        key = (diagnostic.code, diagnostic.span or diagnostic.message)
        self._found.setdefault(key, diagnostic)

    @contextmanager
    def collecting(self) -> Iterator[Outcome]:
        """Keep the finding of a fault raised inside and go on behind the block; the outcome says whether it failed."""
        outcome = Outcome()
        try:
            yield outcome
        except Fault as fault:
            outcome.failed = True
            if fault.diagnostic is not None:
                self.add(fault.diagnostic)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """All errors, by place."""
        return tuple(d for d in self._sorted() if d.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """All warnings, by place."""
        return tuple(d for d in self._sorted() if d.severity == "warning")

    def raise_errors(self) -> None:
        """SpecError with the errors, then the warnings, if there is an error."""
        errors = self.errors
        if errors:
            raise SpecError((*errors[:MOST], *self.warnings[:MOST]), hidden=max(0, len(errors) - MOST))

    def _sorted(self) -> list[Diagnostic]:
        sources: dict[str, int] = {}
        for d in self._found.values():
            if d.span is not None:
                sources.setdefault(d.span.source.name, len(sources))

        def place(d: Diagnostic) -> tuple[int, int]:
            return (sources[d.span.source.name], d.span.start) if d.span is not None else (-1, 0)

        return sorted(self._found.values(), key=place)
