"""What may be set about a search: one table, from which command-line options and their help follow.

A setting is a field of `Options`, by whose default it is left out. `eqspec.api.settings` has their types as keywords,
and what the core takes stands in the table of rust/src/settings.rs. To add one, add the field to `Options`, a line to
`Keywords` and a line here; a test holds these against each other. Little is imported, so that help is shown at once.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from eqspec.lazy_dataclass import dataclass


def bytes_of(text: str) -> int:
    """A size on the command line as bytes: 8GB, or a whole number. ArgumentTypeError if it is none."""
    from eqspec.spec.numbers import SUFFIXES, NumberError, literal, split_quantity  # no option needs it to be listed

    if text.isdecimal():
        return int(text)
    try:
        number, suffix = split_quantity(text)
        factor, unit = SUFFIXES.get(suffix, (0, ""))
        if unit == "B":
            return int(literal(number) * factor)
    except NumberError:
        pass
    raise ArgumentTypeError(f"{text!r} is not a size such as 8GB")


@dataclass(frozen=True)
class Setting:
    """One setting: its name in Python, its option and the help for it, and how argparse takes it."""

    name: str
    option: str
    help: str
    argument: dict[str, Any]


SETTINGS = (
    Setting(
        "timeout",
        "--timeout",
        "seconds for each task, instead of what the spec says",
        {"type": float, "metavar": "S"},
    ),
    Setting(
        "threads",
        "--threads",
        "threads for each task (default: one per core; more than four per core are not started)",
        {"type": int, "metavar": "N"},
    ),
    Setting(
        "memory",
        "--memory",
        "memory for the open boxes of a task, and as much for the bounds of each thread, such as 8GB (default: 2 GiB)",
        {"type": bytes_of, "metavar": "SIZE"},
    ),
    Setting(
        "domain",
        "--domain",
        "how outputs are enclosed: shared is the best; paper is as published, naive without differences",
        {"choices": ("shared", "paper", "naive"), "default": "shared"},
    ),
    Setting("lp", "--no-lp", "solve no linear programs", {"action": "store_false"}),
    Setting(
        "milp",
        "--milp",
        "as a last resort ask a mixed-integer solver; what rests on its word alone is never called equivalent",
        {"action": "store_true"},
    ),
    Setting(
        "since",
        "--since",
        "start from the proofs of an earlier run, of which this was the cache; everything is proved again on the "
        "networks as they are now (default: the cache of this run)",
        {"type": Path, "metavar": "DIR"},
    ),
)
