"""`eqspec export`: tasks as files for other verifiers, or a network that a spec derives as a file to deploy."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.arguments import add_params
from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import load, show
from eqspec.compile import Made, load_derived
from eqspec.errors import InputError, SpecError
from eqspec.networks.deriving import Integers, exported
from eqspec.report.atomic_file import write_source
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
        "With --to: write the tasks of a spec for other verifiers, with a list of instances as the competitions have\n"
        "it. vnnlib2: a VNN-LIB 2.0 property over both networks. product-onnx (or vnnlib1): both networks as one, and\n"
        "a VNN-LIB 1.0 property of it, for verifiers that know only one network. 'unsat' is 'equivalent'; every file\n"
        "says what 'sat' means.\n\n"
        "With the name of a network that the spec derives from another, such as q8 or 'fpga(12)': write that network.\n"
        "One quantised to integers becomes an ONNX file with quantisers, one in fixed point a configuration of hls4ml.",
    )
    made.add_argument("spec", metavar="FILE[:CHECK]", help="a spec, or one of its checks (* and ? stand for anything)")
    made.add_argument("network", metavar="NETWORK", nargs="?", help="a derived network, with the values it takes")
    made.add_argument("--to", choices=tuple(_TARGETS), help="the form of tasks; vnnlib is vnnlib2")
    made.add_argument("-o", "--output", type=Path, metavar="PATH", required=True, help="the folder, or the file")
    add_params(made)
    made.epilog = "exit codes: 0 written; 2 a spec cannot be used, or something of it cannot be written in that form"
    made.set_defaults(run=run)


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
    target = _TARGETS[arguments.to]
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
