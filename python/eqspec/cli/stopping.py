"""SIGTERM, by which schedulers, containers and `timeout` end a run, stops it as Ctrl-C does: what is known is printed,
what was decided and what is left of searches is kept.

Only the first one counts: it often comes twice, to the process and to its group, and must not cut off the last words.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopped_by_sigterm() -> Iterator[Callable[[], bool]]:
    """Within this context the signal raises KeyboardInterrupt. Gives a function that says whether it came.

    Other threads than the main one cannot listen, and who started us with the signal ignored wants it ignored.
    """
    heard = threading.Event()

    def stop(*_: object) -> None:
        if not heard.is_set():
            heard.set()
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) in (signal.SIG_IGN, None):
        yield heard.is_set
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield heard.is_set
    finally:
        signal.signal(signal.SIGTERM, before)
