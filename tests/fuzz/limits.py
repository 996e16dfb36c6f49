"""Limits under which hostile files are read: memory for the process, time for each file."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MOST_BYTES = 6 << 30
"""Of address space; the libraries alone reserve two gigabytes."""
MOST_SECONDS = 20
"""Of the processor, so that a busy machine does not matter; five times as many by the clock, for what waits."""


class TooSlowError(BaseException):
    """A file took too long. No `except Exception` of a reader may take it for a fault of the file."""


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Nothing in this process gets more address space than so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def in_time(seconds: int = MOST_SECONDS) -> Iterator[None]:
    """TooSlowError after so many seconds."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = [signal.signal(alarm, ring) for alarm in (signal.SIGVTALRM, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 5 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGVTALRM, before[0])
        signal.signal(signal.SIGALRM, before[1])
