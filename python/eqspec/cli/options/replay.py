"""What `eqspec replay` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command


def add(commands: Commands) -> None:
    """Add the command."""
    replay = command(
        commands,
        "replay",
        "Evaluate every witness of a results file again: exactly, on the network files as they are now, and in\n"
        "onnxruntime. Networks are found by the paths in the file, or by the same paths beside it.",
    )
    replay.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="from 'eqspec check --format json -o' or --save-witness"
    )
    replay.add_argument(
        "--assignment",
        type=Path,
        metavar="ANSWER",
        help="what another verifier answered with sat; FILE is then the .task.json that 'eqspec export' wrote",
    )
    replay.epilog = (
        "exit codes: 0 every witness breaks its claim; 1 one does not; 2 a file cannot be used, or a network changed"
    )
