"""`eqspec export`: tasks as files for other verifiers."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.arguments import add_params
from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import load
from eqspec.errors import InputError
from eqspec.report.numbers import plural
from eqspec.vnnlib.exporting import Target, export

_TARGETS: dict[str, Target] = {
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
        "Write the tasks of a spec for other verifiers, with a list of instances as the competitions have it.\n"
        "vnnlib2: a VNN-LIB 2.0 property over both networks. product-onnx (or vnnlib1): both networks as one, and a\n"
        "VNN-LIB 1.0 property of it, for verifiers that know only one network. 'unsat' is 'equivalent'; every file\n"
        "says what 'sat' means.",
    )
    made.add_argument("spec", metavar="FILE[:CHECK]", help="a spec, or one of its checks (* and ? stand for anything)")
    made.add_argument("--to", choices=tuple(_TARGETS), required=True, help="the form; vnnlib is vnnlib2")
    made.add_argument("-o", "--output", type=Path, metavar="DIR", required=True, help="write into this folder")
    add_params(made)
    made.epilog = "exit codes: 0 written; 2 a spec cannot be used, or a task cannot be written in that form"
    made.set_defaults(run=run)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    compiled = load(arguments.spec, arguments.param, err)
    if compiled is None:
        return ExitCode.BAD_INPUT
    for find in compiled.finds:
        message = f"{find.id} searches for {find.variable}, which is no single query: left out"
        err.print(Text.assemble(("warning", "bold yellow"), f": {message}"), soft_wrap=True)
    if not compiled.tasks:
        raise InputError(f"nothing to export in {arguments.spec}: give {_hint(bool(compiled.finds))}")
    target = _TARGETS[arguments.to]
    done = export(compiled.tasks, target, arguments.output)
    for made in done:
        seen = "" if made.deviation is None else f"  (onnxruntime agrees up to {made.deviation:.2g})"
        out.print(Text(f"{made.property}{seen}"), soft_wrap=True)
    err.print(Text(f"wrote {plural(len(done), 'task')} and instances.csv to {arguments.output}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _hint(searched: bool) -> str:
    """What to do about a spec without tasks."""
    return "a value in place of 'find'" if searched else "it a check"
