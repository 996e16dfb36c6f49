"""What `eqspec lsp` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_cache_options


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "lsp",
        "Serve an editor in the Language Server Protocol, over standard input and output. Editors start it by\n"
        "themselves; the how-to about editors says what to write into their settings.",
    )
    made.add_argument("--stdio", action="store_true", help="over standard input and output, which it does anyway")
    add_cache_options(made.add_argument_group("earlier results"))
