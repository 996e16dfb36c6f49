"""`eqspec report`: results from files as a page, or in any other form, alone or beside an earlier run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import STDIN
from eqspec.errors import InputError
from eqspec.report import comparison_forms, formats, html, reading
from eqspec.report.atomic_file import write_file
from eqspec.report.comparison import compare
from eqspec.report.numbers import plural
from eqspec.tasks.result import Result


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command. InputError if a file cannot be read or written."""
    target: Path | None = arguments.output
    form = arguments.format or ("table" if target is None else formats.format_of(target))
    if arguments.title is not None and form != "html":
        raise InputError(f"--title is for the form html, not for {form}")
    if arguments.files.count(STDIN) + (arguments.against == STDIN) > 1:
        raise InputError("the input (-) can be read only once; give the other results as a file")
    results = [result for file in arguments.files for result in _read(file)]
    if arguments.against is None:
        code = ExitCode.AS_EXPECTED
        text = html.page(results, arguments.title) if form == "html" else formats.render(results, form)
    else:
        old = Path(arguments.against).name
        found = compare(_some(_read(arguments.against), arguments.against), _some(results, *arguments.files), old)
        code = ExitCode.NOT_AS_EXPECTED if found.worse else ExitCode.AS_EXPECTED
        width = out.width if target is None else comparison_forms.COLUMNS
        text = comparison_forms.render(found, form, arguments.title, width)
    if target is None:
        out.file.write(text)
        return code
    write_file(target, text)
    err.print(f"wrote {plural(len(results), 'result')} to {target}", highlight=False, markup=False, soft_wrap=True)
    return code


def _some(results: list[Result], *files: str) -> list[Result]:
    """The results. InputError if there are none: a full disk or a killed run leaves a file like that."""
    if not results:
        raise InputError(f"{' and '.join(files)}: no results, so nothing was checked that could be compared")
    return results


def _read(file: str) -> list[Result]:
    return reading.parse(sys.stdin.read(), "<stdin>") if file == STDIN else reading.read(Path(file))
