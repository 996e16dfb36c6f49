"""`eqspec counterexamples`: many inputs that break a claim, far apart, as a file to learn from."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.api.counterexamples import tasks_of
from eqspec.api.spec import Spec
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import load
from eqspec.errors import InputError
from eqspec.mining import page
from eqspec.mining.counterexamples import mine
from eqspec.mining.files import refuse_suffix
from eqspec.mining.found import Counterexamples
from eqspec.report import table
from eqspec.report.numbers import plural


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
    with err.status("") as status:
        found = mine(
            tasks,
            arguments.n,
            seed=arguments.seed,
            seconds=arguments.timeout,
            tell=lambda said: status.update(Text(said)),
        )
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
