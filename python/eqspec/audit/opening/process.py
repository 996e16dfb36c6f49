"""What the process of the auditor may take, where the system can hold it to that; else the other limits must do."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..rounding import Refused

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def hold(size: int) -> None:
    """Whatever memory is asked for beyond so many bytes is not there."""
    if resource is not None:
        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (size if most < 0 else min(size, most), most))


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Refused after so many seconds, also in the middle of a step. In the main thread only."""

    def ring(*_: Any) -> None:
        raise Refused(
            f"checking it takes longer than the {seconds:g} seconds that the auditor may;"
            " `eqspec audit --timeout` gives it more"
        )

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
