"""Warnings that a file gives rise to many times are given once, with a count."""

from __future__ import annotations

from dataclasses import field

from eqspec.errors import Diagnostic
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import warning


@dataclass
class UniqueWarnings:
    """The warnings so far, without repetitions."""

    _seen: dict[tuple[str, str, str | None], list[Span]] = field(default_factory=dict)

    def add(self, code: str, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        """Add a warning about a place."""
        self._seen.setdefault((code, message, help), []).append(span)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """One warning for each message, at its first place."""
        found = []
        for (code, message, fix), spans in self._seen.items():
            times = "" if len(spans) == 1 else f" ({len(spans)} times)"
            found.append(warning(code, message + times, spans[0], help=fix))
        return tuple(found)
