"""What `eqspec lint` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_params


def add(commands: Commands) -> None:
    """Add the command."""
    lint = command(commands, "lint")
    lint.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="spec files (*.eqspec), or folders of them; without any, all below this folder",
    )
    add_params(lint)
    lint.add_argument(
        "--format", choices=("human", "json"), default="human", help="text, or a JSON list of findings (eqspec schema)"
    )
    lint.epilog = "exit codes: 0 nothing is wrong (there may be warnings); 2 something is"
