"""Comparisons with onnxruntime that were made before and found agreement, where somebody keeps them.

A key names everything of a comparison that depends on the network: its file, the steps that it is read as, the points.
Whoever keeps keys adds what else an answer depends on. Nothing is kept of a comparison that was cut short or found any
doubt, so that one that was made before would find the same again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Agreed(Protocol):
    """Keeps the keys of comparisons."""

    def before(self, key: str) -> bool:
        """Whether the comparison was made before."""

    def keep(self, key: str) -> None:
        """Keep that it was made."""


_KEPT: ContextVar[Agreed | None] = ContextVar("agreed", default=None)


@contextmanager
def kept_in(where: Agreed | None) -> Iterator[None]:
    """Keep comparisons there, and do not make those again that it has."""
    token = _KEPT.set(where)
    try:
        yield
    finally:
        _KEPT.reset(token)


def before(key: str) -> bool:
    """Whether a comparison was made before."""
    kept = _KEPT.get()
    return kept is not None and kept.before(key)


def keep(key: str) -> None:
    """Keep that a comparison was made, where somebody does."""
    kept = _KEPT.get()
    if kept is not None:
        kept.keep(key)
