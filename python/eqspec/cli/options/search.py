"""Options that several commands have: values of parameters, how to search, and where results are kept."""

from __future__ import annotations

import argparse
from pathlib import Path

from eqspec.run.settings import SETTINGS


def add_params(group: argparse._ActionsContainer) -> None:
    """The option that gives a `param` of a spec a value."""
    group.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        type=parameter,
        metavar="NAME=VALUE",
        help="give a 'param' a value",
    )


def add_effort(group: argparse._ArgumentGroup) -> None:
    """What a task may cost and how it is decided: the table of settings as options."""
    for setting in SETTINGS:
        group.add_argument(setting.option, dest=setting.name, help=setting.help, **setting.argument)
    group.add_argument(
        "--cluster",
        metavar="WHERE",
        help="search on a Dask cluster: the address of its scheduler, the file it wrote, or 'local'",
    )
    add_cache_options(group)


def add_cache_options(group: argparse._ArgumentGroup) -> None:
    """--resume, --cache and --no-cache."""
    group.add_argument(
        "--resume", action="store_true", help="go on with searches that were interrupted or ran out of time"
    )
    kept = group.add_mutually_exclusive_group()
    kept.add_argument("--cache", type=Path, metavar="DIR", help="where results are kept (see: eqspec cache)")
    kept.add_argument("--no-cache", action="store_true", help="keep no results, and use none")


def parameter(text: str) -> tuple[str, str]:
    """NAME=VALUE as a pair."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value.strip()
