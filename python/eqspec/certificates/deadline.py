"""Until when a certificate may be written: a search that is over must not be followed by work without an end.

Writing is given the time of the task once more, and a minute at least. Most of it takes a small part of what the
search took; but the programs that settle a leaf, and the trees of cuts, may take any time.
"""

from __future__ import annotations

from math import inf, isfinite
from time import monotonic

from eqspec.certificates.record import IncompleteError


class Deadline:
    """`seconds` from now on; inf for no end."""

    def __init__(self, seconds: float = inf) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, 0 when it is over."""
        return max(0.0, self._end - monotonic())

    def keep(self) -> None:
        """Raises IncompleteError, with a reason for the user, when it is over."""
        if isfinite(self.seconds) and self.left == 0.0:
            raise IncompleteError(
                f"writing it was stopped after {self.seconds:g} s, the time of the task once more or a minute:"
                " too much stays open in the enclosures of the auditor; give the task more time (--timeout),"
                " or ask for less"
            )


ENDLESS = Deadline()
"""The deadline of a writer that has all the time there is."""
