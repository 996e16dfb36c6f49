"""`eqspec import`: a VNN-LIB file as a spec."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import show, show_warnings
from eqspec.errors import InputError, SpecError
from eqspec.report.atomic_file import write_source
from eqspec.vnnlib.importing import import_query
from eqspec.vnnlib.reading import read_file


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
