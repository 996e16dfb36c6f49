"""What `eqspec explain` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_params


def add(commands: Commands) -> None:
    """Add the command."""
    explain = command(
        commands,
        "explain",
        "Say what the checks of a spec claim: in words, as a formula with names and numbers, and what a proof does\n"
        "not promise. Or say at length what a finding means, with a wrong and a right example.",
    )
    explain.add_argument("subject", metavar="FILE[:CHECK] | CODE", help="a spec, one of its checks, or a code")
    add_params(explain)
