"""`eqspec export`: tasks as files for other verifiers, or a network that a spec derives as a file to deploy."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.options.export import TARGETS
from eqspec.cli.tools.common import load, show
from eqspec.compile import Made, load_derived
from eqspec.errors import InputError, SpecError
from eqspec.networks.deriving import Integers, exported
from eqspec.report.atomic_file import write_source
from eqspec.report.numbers import plural
from eqspec.vnnlib.exporting import export


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    if arguments.network is not None:
        return _write_network(arguments, out, err)
    if arguments.to is None:
        raise InputError("say what to write: --to with a form writes the tasks, the name of a network that network")
    compiled = load(arguments.spec, arguments.param, err)
    if compiled is None:
        return ExitCode.BAD_INPUT
    for find in compiled.finds:
        message = f"{find.id} searches for {find.variable}, which is not a single query: left out"
        err.print(Text.assemble(("warning", "bold yellow"), f": {message}"), soft_wrap=True)
    if not compiled.tasks:
        raise InputError(f"nothing to export in {arguments.spec}: give {_hint(bool(compiled.finds))}")
    target = TARGETS[arguments.to]
    done = export(compiled.tasks, target, arguments.output)
    for made in done:
        seen = "" if made.deviation is None else f"  (onnxruntime agrees up to {made.deviation:.2g})"
        out.print(Text(f"{made.property}{seen}"), soft_wrap=True)
    err.print(Text(f"wrote {plural(len(done), 'task')} and instances.csv to {arguments.output}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _write_network(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    if arguments.to is not None:
        raise InputError("--to is the form of tasks; leave it out to write a network")
    try:
        made = load_derived(arguments.spec, arguments.network, dict(arguments.param))
    except SpecError as problem:
        show(problem, err)
        return ExitCode.BAD_INPUT
    if arguments.output.is_dir():
        raise InputError(f"{arguments.output} is a folder; give the file to write, such as {_example(made)}")
    write_source(arguments.output, exported(made.reference, made.precision, made.rows))
    out.print(Text(str(arguments.output), no_wrap=True), soft_wrap=True)
    err.print(Text(f"wrote {arguments.network}: {made.network.source}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _example(made: Made) -> str:
    return "quantised.onnx" if isinstance(made.precision, Integers) else "hls4ml.yml"


def _hint(searched: bool) -> str:
    """What to do about a spec without tasks."""
    return "a value in place of 'find'" if searched else "it a check"
