"""The settings of a search as keywords of `check` and `verify`, with their types.

`eqspec.run.settings` has the table of all of them.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TypedDict

from eqspec.run.options import Options
from eqspec.run.settings import SETTINGS
from eqspec.tasks.task import Domain


class Keywords(TypedDict, total=False):
    """The settings as keywords: what is given replaces what `options` say."""

    timeout: float | None
    threads: int | None
    memory: int | None
    domain: Domain
    lp: bool
    milp: bool
    since: str | PathLike[str] | None


def options_with(options: Options | None, given: Keywords) -> Options:
    """The options with the keywords in their place. TypeError for what is no setting, InputError for a bad value."""
    known = [setting.name for setting in SETTINGS]
    for name in given:
        if name not in known:
            raise TypeError(f"unexpected keyword argument {name!r}; settings are {', '.join(known)}")
    return replace(Options() if options is None else options, **given)
