"""What `eqspec counterexamples` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_params

SEED = 1
"""That of `eqspec.mining.counterexamples`."""
_EXAMPLES = """\
examples:
  eqspec counterexamples lhc.eqspec everywhere -n 1000 -o cx.npz
  eqspec counterexamples lhc.eqspec everywhere -n 50 -o cx.csv

exit codes: 0 some were found; 1 none was found, which proves nothing; 2 something cannot be used"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "counterexamples",
        "Find many inputs that break a claim, far apart from each other, with what both networks answer: examples to\n"
        "learn from, not a census. Each is replayed in exact arithmetic and confirmed by onnxruntime.",
    )
    made.add_argument("spec", metavar="SPEC", help="a spec file")
    made.add_argument("check", nargs="?", metavar="CHECK", help="one of its checks; without it, all of them")
    made.add_argument("-n", type=int, default=1000, metavar="N", help="how many to find in all (default: 1000)")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="write them there: .npz or .csv")
    made.add_argument("-k", "--select", action="append", metavar="ID", help="only tasks with such ids; * and ? work")
    made.add_argument("--seed", type=int, default=SEED, metavar="N", help="find other ones (default: %(default)s)")
    made.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="for all tasks, which share it; keep what was found by then"
    )
    add_params(made)
    made.epilog = _EXAMPLES
