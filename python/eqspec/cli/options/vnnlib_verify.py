"""What `eqspec verify-vnnlib` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.vnnlib_import import add_networks
from eqspec.run.settings import bytes_of

_EPILOG = """\
the standard:     eqspec verify-vnnlib QUERY.vnnlib --network f=a.onnx --network g=b.onnx --timeout 60
the competition:  eqspec verify-vnnlib [v1 CATEGORY] NETWORK QUERY.vnnlib RESULTS SECONDS
                  NETWORK is a file, or a pair as in instances.csv: "[('f','a.onnx'),('g','b.onnx')]"

The first line is sat, unsat, unknown, timeout ('timed-out' in the standard's form) or error; with sat, the assignment
follows. Everything else goes to the standard error.

exit codes: 0 answered, whatever the answer; 2 error: a file or an argument cannot be used; 130 interrupted, 143 by
SIGTERM"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "verify-vnnlib",
        "Answer a VNN-LIB 1.0 or 2.0 file: sat with an assignment, unsat if there provably is none, or unknown.",
    )
    made.add_argument("words", nargs="+", metavar="WORD", help="the query alone, or the competition's arguments")
    add_networks(made)
    made.add_argument("--timeout", type=float, metavar="S", help="seconds, reading included (default: no limit)")
    made.add_argument("--threads", type=int, metavar="N", help="threads (default: one per core)")
    made.add_argument(
        "--memory",
        type=bytes_of,
        metavar="SIZE",
        help="memory for open boxes, and as much for the bounds of each thread, such as 8GB (default: 2 GiB)",
    )
    made.add_argument("--as-real", action="store_true", help="read floating-point types as real numbers")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the answer there too")
    made.epilog = _EPILOG
