"""What may be set about a search: one table, from which keywords, command-line options and their help follow.

A setting is a field of `Options`. Here it has its type as a keyword of `check` and `verify`, and what the command line
calls it. To add one, add the field to `Options`, a line to `Keywords` and a line to `SETTINGS`; what the core takes
stands in the table of rust/src/settings.rs. A test holds these against each other.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from eqspec.lazy_dataclass import dataclass
from eqspec.run.options import Options
from eqspec.spec.numbers import SUFFIXES, NumberError, literal, split_quantity
from eqspec.tasks.task import Domain


def bytes_of(text: str) -> int:
    """A size on the command line as bytes: 8GB, or a whole number. ArgumentTypeError if it is none."""
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


class Keywords(TypedDict, total=False):
    """The settings as keywords: what is given replaces what `options` say."""

    timeout: float | None
    threads: int | None
    memory: int | None
    domain: Domain
    lp: bool
    milp: bool
    since: str | PathLike[str] | None


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
        {"choices": ("shared", "paper", "naive")},
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


def options_with(options: Options | None, given: Keywords) -> Options:
    """The options with the keywords in their place. TypeError for what is no setting, InputError for a bad value."""
    known = [setting.name for setting in SETTINGS]
    for name in given:
        if name not in known:
            raise TypeError(f"unexpected keyword argument {name!r}; settings are {', '.join(known)}")
    return replace(Options() if options is None else options, **given)
