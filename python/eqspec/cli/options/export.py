"""What `eqspec export` takes on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_params

if TYPE_CHECKING:
    from eqspec.vnnlib.exporting import Target

TARGETS: dict[str, Target] = {
    "vnnlib": "vnnlib2",
    "vnnlib2": "vnnlib2",
    "vnnlib1": "product-onnx",
    "product-onnx": "product-onnx",
}


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "export",
        "With --to: write the tasks of a spec for other verifiers, with a list of instances as the competitions have\n"
        "it. vnnlib2: a VNN-LIB 2.0 property over both networks. product-onnx (or vnnlib1): both networks as one, and\n"
        "a VNN-LIB 1.0 property of it, for verifiers that know only one network. 'unsat' is 'equivalent'; every file\n"
        "says what 'sat' means.\n\n"
        "With the name of a network that the spec derives from another, such as q8 or 'fpga(12)': write that network.\n"
        "One quantised to integers becomes an ONNX file with quantisers, one in fixed point a configuration of hls4ml.",
    )
    made.add_argument("spec", metavar="FILE[:CHECK]", help="a spec, or one of its checks (* and ? stand for anything)")
    made.add_argument("network", metavar="NETWORK", nargs="?", help="a derived network, with the values it takes")
    made.add_argument("--to", choices=tuple(TARGETS), help="the form of tasks; vnnlib is vnnlib2")
    made.add_argument("-o", "--output", type=Path, metavar="PATH", required=True, help="the folder, or the file")
    add_params(made)
    made.epilog = "exit codes: 0 written; 2 a spec cannot be used, or something of it cannot be written in that form"
