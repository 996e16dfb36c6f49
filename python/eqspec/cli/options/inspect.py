"""What `eqspec inspect` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.input_shape import add_input_shape
from eqspec.cli.options.search import add_params


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "inspect")
    made.add_argument(
        "files",
        nargs="+",
        metavar="NETWORK",
        help="networks (*.onnx, *.nnet, a folder of hls4ml or da4ml), or SPEC:NETWORK for one that a spec derives",
    )
    made.add_argument("--network-output", metavar="NAME", help="of a file with several outputs, the one that is read")
    add_input_shape(made)
    made.add_argument(
        "--dequantised",
        action="store_true",
        help="of a file that takes or gives integers of a quantiser, the network of the real numbers they stand for",
    )
    add_params(made)
    made.epilog = "exit codes: 0 every file can be used; 2 one cannot"
