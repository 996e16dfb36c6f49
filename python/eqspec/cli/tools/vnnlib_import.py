"""`eqspec import`: a VNN-LIB file as a spec."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import show, show_warnings
from eqspec.errors import InputError, SpecError
from eqspec.report.atomic_file import write_source
from eqspec.vnnlib.importing import import_query
from eqspec.vnnlib.reading import read_file


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
    made.set_defaults(run=run)


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


def networks(arguments: argparse.Namespace) -> dict[str, Path]:
    """The files by name. InputError if one is given twice."""
    found: dict[str, Path] = {}
    for name, path in arguments.network:
        if name in found:
            raise InputError(f"--network {name} is given twice")
        found[name] = path
    return found


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    output: Path | None = arguments.output
    try:
        read = read_file(Path(arguments.file))
        made = import_query(read, networks(arguments), Path() if output is None else output.parent)
    except SpecError as problem:
        show(problem, err)
        return ExitCode.BAD_INPUT
    show_warnings(made.warnings, err)
    if output is None:
        out.file.write(made.text)
        return ExitCode.AS_EXPECTED
    write_source(output, made.text.encode())
    err.print(Text(f"wrote {output}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED
