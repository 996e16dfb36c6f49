"""What can become of a claim, and why it may stay undecided."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The answer to a task."""

    EQUIVALENT = "equivalent"
    """It holds at every real point of the region: a theorem."""
    DIFFERENT = "different"
    """`witness` is a point of the region where it does not hold, checked in exact arithmetic."""
    UNKNOWN = "unknown"
    """Neither was shown; `reason` says why."""


class Reason(StrEnum):
    """Why a verdict is unknown."""

    TIMEOUT = "timeout"
    """The time ran out."""
    MEMORY = "memory"
    """The open boxes filled the memory of the task."""
    SPURIOUS = "spurious"
    """Only points of the relaxation were left, none of which breaks the claim itself."""
    INCOMPLETE = "incomplete"
    """Boxes became as small as floats allow, undecided."""
    FLOAT_ONLY = "float_only"
    """At the points that were left the claim breaks in floating point, but holds in exact arithmetic."""
    ROUNDING = "rounding"
    """The claim allows less than the rounding inside of the networks may change, which no bound can prove."""
    OFF_GRID = "off_grid"
    """The claim breaks beside the grid of the region, which no bound can leave out, and no point of it was found."""
    UNDECIDED = "undecided"
    """Exact integers do not settle it, and there is no search for such a claim."""
    SIZE = "size"
    """The networks are too large for bounds, and an attack found nothing."""
    BOXES = "boxes"
    """The limit on boxes was reached."""
    SOLVER = "solver"
    """The only boxes left are those where a solver says, without proof, that nothing breaks the claim."""
    INTERRUPTED = "interrupted"
    """The user stopped it."""
    ERROR = "error"
    """The task failed; `message` says how."""
