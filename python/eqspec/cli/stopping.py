"""SIGTERM, by which schedulers, containers and `timeout` end a run, stops it as Ctrl-C does: what is known is printed,
what was decided and what is left of searches is kept.

While the program is imported there is nothing to print or to keep, and a library that is interrupted there fails in its
own way; so either signal ends the process at once.

Only the first SIGTERM counts: it often comes twice, to the process and to its group, and the second one must not cut
off what is printed because of the first.

A library that is imported when it is needed may be interrupted, too. Its C code may then report that a module is
missing. Whoever knows which signals came can tell that from a module that really is missing.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_AT_ONCE: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit codes by signal. They repeat those of `exit`, whose import would delay the handlers."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within this context SIGINT and SIGTERM end the process, with their exit codes."""
    with _handled(lambda number, _: os._exit(_AT_ONCE[number])):
        yield


@contextmanager
def stopped_by_signals() -> Iterator[set[int]]:
    """Within this context SIGINT and the first SIGTERM raise KeyboardInterrupt. Gives the signals that have come."""
    heard: set[int] = set()

    def stop(number: int, _: object) -> None:
        again = number == signal.SIGTERM and number in heard
        heard.add(number)
        if not again:
            raise KeyboardInterrupt

    with _handled(stop):
        yield heard


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Within this context both signals are handled so.

    Only the main thread can handle signals. A signal that was ignored when the process started stays ignored.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in _AT_ONCE:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
