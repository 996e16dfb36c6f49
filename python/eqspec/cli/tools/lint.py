"""`eqspec lint`: everything that can be found in specs without proving anything."""

from __future__ import annotations

import argparse
import json
from functools import partial

from rich.console import Console
from rich.text import Text

from eqspec import compile as compiler
from eqspec.api.cache_choice import comparisons_kept, open_cache
from eqspec.cli.cache_options import note
from eqspec.cli.exit import ExitCode
from eqspec.cli.spec_files import spec_files
from eqspec.cli.tools.common import show, show_warnings
from eqspec.errors import Diagnostic, SpecError
from eqspec.report import diagnostics
from eqspec.report.numbers import plural
from eqspec.report.printable import shown_in_json
from eqspec.tasks.score_meaning import left_out, of_networks


def _scores(compiled: compiler.Compiled) -> str:
    """Notes on claims that compare something else than the files' outputs, such as the scores in front of a Softmax."""
    tasks = [*compiled.tasks, *(find.task_at(find.easy) for find in compiled.finds)]
    pairs = [((t.reference_name, t.reference), (t.candidate_name, t.candidate)) for t in tasks]
    return of_networks([{"name": name, "left_out": left_out(network)} for name, network in pair] for pair in pairs)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    code = ExitCode.AS_EXPECTED
    found: list[Diagnostic] = []
    files = spec_files(arguments.files)
    cache = open_cache(True, tell=partial(note, err))
    for file in files:
        try:
            with comparisons_kept(cache):
                compiled = compiler.load(file, dict(arguments.param), given=files)
        except SpecError as problem:
            code = ExitCode.BAD_INPUT
            found += problem.diagnostics
            if arguments.format == "human":
                show(problem, err)
            continue
        found += compiled.diagnostics
        if arguments.format == "human":
            show_warnings(compiled.diagnostics, err)
            parts = [plural(len(compiled.tasks), "task")]
            if compiled.finds:
                parts.append(f"{len(compiled.finds)} search{'' if len(compiled.finds) == 1 else 'es'}")
            out.print(Text(f"{file}: {', '.join(parts)}"), soft_wrap=True)
            if said := _scores(compiled):
                out.print(Text(f"{file}: {said}"), soft_wrap=True)
    if arguments.format == "json":
        whole = json.dumps([diagnostics.to_json(d) for d in found], indent=2, ensure_ascii=False)
        out.file.write(shown_in_json(whole) + "\n")
    return code
