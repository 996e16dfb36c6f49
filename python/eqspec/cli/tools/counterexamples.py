"""`eqspec counterexamples`: many inputs that break a claim, far apart, as a file to learn from."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.api.counterexamples import late, tasks_of
from eqspec.api.spec import Spec
from eqspec.cli.arguments import add_params
from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import load
from eqspec.errors import InputError
from eqspec.mining import page
from eqspec.mining.counterexamples import SEED, mine
from eqspec.mining.files import refuse_suffix
from eqspec.mining.found import Counterexamples
from eqspec.report import table
from eqspec.report.numbers import plural

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
    made.add_argument("--timeout", type=float, metavar="SECONDS", help="keep what was found by then")
    add_params(made)
    made.epilog = _EXAMPLES
    made.set_defaults(run=run)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    if arguments.output is not None:  # before a minute of work
        refuse_suffix(arguments.output)
        if not arguments.output.resolve().parent.is_dir():
            raise InputError(f"cannot write to {arguments.output}: there is no folder {arguments.output.parent}")
    if arguments.seed < 0:
        raise InputError(f"--seed {arguments.seed}: a seed is a whole number from 0")
    check = arguments.check
    compiled = load(arguments.spec if check is None else f"{arguments.spec}:{check}", arguments.param, err)
    if compiled is None:
        return ExitCode.BAD_INPUT
    spec = Spec(compiled.tasks, compiled.finds, compiled.diagnostics)
    tasks = tasks_of(spec, check, arguments.select)
    stop = late(arguments.timeout)
    with err.status("") as status:
        found = mine(tasks, arguments.n, seed=arguments.seed, stop=stop, tell=lambda said: status.update(Text(said)))
    _show(found, arguments.output, out, err)
    if found.ended == "interrupted":
        return ExitCode.INTERRUPTED
    return ExitCode.AS_EXPECTED if len(found) else ExitCode.NOT_AS_EXPECTED


def _show(found: Counterexamples, output: Path | None, out: Console, err: Console) -> None:
    if output is not None and len(found):
        found.save(output)
        err.print(Text(f"wrote {output}: {plural(len(found), 'input')}"), soft_wrap=True)
    out.print(table.indented(page.lines(found)))
    if output is None and len(found):
        err.print(Text("Nothing was written; -o FILE.npz or FILE.csv keeps them."), soft_wrap=True)
