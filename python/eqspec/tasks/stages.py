"""The words by which the core counts: the stages that decide boxes, and the parts of the work that take time.

They are the keys of `stages` and of `effort["seconds"]` in a result. The reasons of an unknown verdict, which the core
sends as well, are `eqspec.tasks.result.Reason`. A test holds all of them against what the core sends.
"""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """What decided a box, a condition or a claim on a box."""

    OUTSIDE = "outside"
    """The box lies outside the constraints of the region."""
    GUARD = "guard"
    """The reference cannot meet the condition of the claim."""
    ZONOTOPE = "zonotope"
    """Bounds of the outputs from the zonotopes of the box."""
    INHERITED = "inherited"
    """Dual multipliers of the box that it was cut from."""
    DUAL = "dual"
    """Multipliers found on the box, by ascent in the dual program."""
    PROGRAM = "program"
    """Linear programs."""
    CONTRACTION = "contraction"
    """Contraction of the bounds under an assumed violation."""
    OVERFLOW = "overflow"
    """Bounds overflowed, and the box was halved."""


class Part(StrEnum):
    """A part of the work, whose time is measured."""

    PROPAGATION = "propagation"
    ROWS = "rows"
    INHERITED = "inherited"
    DUAL = "dual"
    PROGRAMS = "programs"
    CONTRACTION = "contraction"
    CANDIDATES = "candidates"
    SPLITTING = "splitting"
    QUEUE = "queue"
    WAITING = "waiting"
