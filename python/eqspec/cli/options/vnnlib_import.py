"""What `eqspec import` takes on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from eqspec.cli.commands import Commands, command


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "import",
        "Write a VNN-LIB 1.0 or 2.0 file as a spec. The file describes what is unsafe, the spec says what must hold:\n"
        "'unsat' of the file is 'equivalent' of every check. What no sentence of a spec says is refused.",
    )
    made.add_argument("file", metavar="FILE", help="a VNN-LIB file (*.vnnlib)")
    add_networks(made)
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there instead of the standard output")
    made.epilog = "exit codes: 0 written; 2 the file cannot be read or imported, and nothing is written"


def add_networks(parser: argparse.ArgumentParser) -> None:
    """The option that says which files the networks are in."""
    parser.add_argument(
        "--network",
        action="append",
        default=[],
        type=_network,
        metavar="NAME=FILE",
        help="the file of a declared network; repeatable. For a 1.0 file: its network, or two whose outputs are Y side"
        " by side",
    )


def _network(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=FILE")
    return name.strip(), Path(path.strip())
