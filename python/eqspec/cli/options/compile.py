"""What `eqspec compile` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_params


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "compile",
        "Write the tasks of spec files as JSON: exact regions in network units, exact claims, networks by hash.\n"
        "'eqspec schema task' prints its schema.",
    )
    made.add_argument("files", nargs="+", metavar="FILE", help="spec files (*.eqspec)")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there instead of the standard output")
    add_params(made)
    made.epilog = "exit codes: 0 written; 2 a spec cannot be used, and nothing is written"
