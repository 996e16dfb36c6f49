"""Options that several commands have: values of parameters, and how to search."""

from __future__ import annotations

import argparse
import re

from eqspec.api.settings import SETTINGS
from eqspec.cli.cache_options import add_cache_options
from eqspec.errors import InputError
from eqspec.run.certifier import Certifier
from eqspec.run.options import Options


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
        default = getattr(Options, setting.name)
        group.add_argument(setting.option, dest=setting.name, default=default, help=setting.help, **setting.argument)
    group.add_argument(
        "--cluster",
        metavar="WHERE",
        help="search on a Dask cluster: the address of its scheduler, the file it wrote, or 'local'",
    )
    add_cache_options(group)


def options_of(arguments: argparse.Namespace, certifier: Certifier | None = None) -> Options:
    """How to run, as the command line says. InputError, in its words, for a value that makes no sense."""
    chosen = {setting.name: getattr(arguments, setting.name) for setting in SETTINGS}
    try:
        return Options(**chosen, certifier=certifier)
    except InputError as problem:  # 'since = there' is how Python says it
        raise InputError(re.sub(r"\A(\w+) = ", lambda name: f"--{name[1].replace('_', '-')} ", str(problem))) from None


def parameter(text: str) -> tuple[str, str]:
    """NAME=VALUE as a pair."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value.strip()
