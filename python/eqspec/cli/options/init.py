"""What `eqspec init` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.pair import add_pair

_PROBE = 5.0


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "init",
        "Write a first spec for two networks, with comments that say what was taken from where: names, normalisation,\n"
        "a claim that fits what the networks do on the data, and a region on which it could be proved in a short time.",
    )
    add_pair(made)
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="the new file (default: CANDIDATE.eqspec here)")
    made.add_argument(
        "--probe",
        type=float,
        default=_PROBE,
        metavar="S",
        help=f"seconds to try on which region the claim can be proved; 0 for not at all (default: {_PROBE:g})",
    )
    made.epilog = (
        "What the networks take is found out by the labels in the table. Where these do not tell, it is asked on a\n"
        "terminal; elsewhere the question is printed with the options that answer it.\n\n"
        "exit codes: 0 written; 2 something cannot be used or has to be said, or the file is there already"
    )
