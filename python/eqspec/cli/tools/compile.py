"""`eqspec compile`: the tasks of specs as JSON, for other programs."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.text import Text

from eqspec import __version__
from eqspec import compile as compiler
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import show, show_warnings
from eqspec.errors import SpecError
from eqspec.report.atomic_file import write_file
from eqspec.report.numbers import plural
from eqspec.report.printable import shown_in_json
from eqspec.tasks import serialisation
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    tasks: list[Task] = []
    searches: list[Search] = []
    broken = False
    for file in arguments.files:
        try:
            compiled = compiler.load(file, dict(arguments.param), given=arguments.files)
        except SpecError as problem:
            show(problem, err)
            broken = True
            continue
        show_warnings(compiled.diagnostics, err)
        tasks += compiled.tasks
        searches += compiled.finds
    if broken:
        return ExitCode.BAD_INPUT
    whole = serialisation.file_of(tasks, searches, __version__)
    text = shown_in_json(json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False)) + "\n"
    if arguments.output is None:
        out.file.write(text)
        return ExitCode.AS_EXPECTED
    write_file(arguments.output, text)
    made = f"{plural(len(tasks), 'task')}, {plural(len(searches), 'search', 'searches')}"
    err.print(Text(f"wrote {arguments.output}: {made}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED
