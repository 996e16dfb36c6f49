"""What `eqspec schema` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command

SCHEMAS = ("task", "result", "diagnostic")


def add(commands: Commands) -> None:
    """Add the command."""
    schema = command(commands, "schema")
    schema.add_argument(
        "kind", choices=SCHEMAS, help="task: eqspec compile; result: eqspec check; diagnostic: eqspec lint"
    )
