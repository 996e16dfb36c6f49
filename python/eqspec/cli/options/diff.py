"""What `eqspec diff` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.pair import add_pair, add_where

_EXAMPLES = """\
examples:
  eqspec diff full.onnx pruned.onnx --data validation.csv
  eqspec diff full.onnx int8.onnx --lower 0 --upper 1

exit codes: 0 compared, whatever was found; 2 something cannot be used or has to be said"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "diff",
        "Show how two networks differ: layer by layer, at the rows of a table or at random points, and by a short\n"
        "attack; and which claim is worth making, tried for a moment. All else are samples: they prove nothing.",
    )
    add_pair(made)
    add_where(made.add_argument_group("on which inputs (default: what --data spans, else -1 .. 1)"))
    made.add_argument("--format", choices=("human", "json"), default="human", help="a page, or the same as JSON")
    made.epilog = _EXAMPLES
