"""What the commands share: their options, and how findings are shown."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from eqspec.cli.arguments import parameter
from eqspec.errors import Diagnostic, SpecError
from eqspec.report import diagnostics
from eqspec.spec.files import read_spec
from eqspec.spec.findings import Fault

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
STDIN = "-"


def command(commands: Commands, name: str, summary: str, description: str | None = None) -> argparse.ArgumentParser:
    """A new command with the options that all have."""
    made = commands.add_parser(
        name,
        help=summary,
        description=description or summary[0].upper() + summary[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--debug", action="store_true", help="show where eqspec failed, if it does")
    return made


def add_params(parser: argparse.ArgumentParser) -> None:
    """The option that gives a `param` of a spec a value."""
    parser.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        type=parameter,
        metavar="NAME=VALUE",
        help="give a 'param' a value",
    )


def read_text(file: str) -> tuple[str, str]:
    """The text of a spec, or of the standard input for `-`, and what to call it. SpecError if it cannot be read."""
    if file == STDIN:
        return sys.stdin.read(), "<stdin>"
    try:
        return read_spec(Path(file), file), file
    except Fault as fault:
        raise SpecError([fault.diagnostic] if fault.diagnostic else []) from None


def show(problem: SpecError, err: Console) -> None:
    """Everything that is wrong with a spec."""
    err.print(diagnostics.of_error(problem, err.width), soft_wrap=True)


def show_warnings(warnings: tuple[Diagnostic, ...], err: Console) -> None:
    """What was noticed on the way."""
    if warnings:
        err.print(diagnostics.text(warnings, width=err.width), soft_wrap=True)
