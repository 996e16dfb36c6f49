"""Whether the walk through a tree may go on."""

from __future__ import annotations

from time import monotonic

from ..rounding import Refused


def go_on(left: int, waiting: int, most: int, until: float) -> None:
    """Refused if no record is left, if too many nodes wait to be looked at, or if the time is over."""
    if not left:
        raise Refused("the tree ends early: records are missing")
    if waiting > most:
        raise Refused(f"the tree is too deep: more than {most} nodes of it wait to be looked at")
    refuse_if_late(until)


def refuse_if_late(until: float) -> None:
    """Refused if the time is over."""
    if monotonic() > until:
        raise Refused("checking it takes longer than the auditor may; `eqspec audit --timeout` gives it more seconds")
