"""`eqspec verify`: one question about two networks, answered without a spec, and the spec it amounts to.

The options become a spec; that text is compiled and run, so what is printed is what was decided.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.text import Text

from eqspec.api.cache_choice import comparisons_kept
from eqspec.api.cluster_choice import engine_on
from eqspec.api.report import Report
from eqspec.api.spec import loads
from eqspec.cli.arguments import options_of
from eqspec.cli.cache_options import advise, cache_from_arguments, note
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.tools.common import show, show_warnings
from eqspec.cli.tools.pair_arguments import read, refuse_without_data, write_new
from eqspec.draft.comment_lines import comment
from eqspec.draft.data import Data
from eqspec.draft.verified_spec import What, Where, draft, refuse_incomplete
from eqspec.errors import EqspecError, SpecError
from eqspec.report import json, table
from eqspec.report.live import LiveMonitor
from eqspec.report.run_output import show_results
from eqspec.report.witness_files import save_witnesses
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.spec import printer

_HERE = {
    "E131": "here the ends are those of '--lower' and '--upper'",
    "E208": "here '--logits' or '--probabilities' says so",
    "E306": "here '--eps' claims such a distance",
}
"""What the help of a finding about the spec means on the command line."""


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    options = options_of(arguments)
    cache = cache_from_arguments(arguments, err)
    with comparisons_kept(cache):
        return _run(arguments, options, cache, out, err)


def _run(
    arguments: argparse.Namespace, options: Options, cache: ResultCache | None, out: Console, err: Console
) -> ExitCode:
    text, data = _spec(arguments, err)
    if arguments.spec is not None:
        write_new(arguments.spec, text)
    if arguments.only_spec:
        if arguments.spec is None:
            out.file.write(text)
        return ExitCode.AS_EXPECTED
    try:
        spec = loads(text, directory=_folder(arguments), name="this question as a spec")
    except SpecError as problem:
        show(problem, err)
        for code in dict.fromkeys(finding.code for finding in problem.diagnostics):
            if code in _HERE:
                err.print(_HERE[code], highlight=False, soft_wrap=True)
        return ExitCode.BAD_INPUT
    show_warnings(spec.warnings, err)
    began = perf_counter()
    engine_there = engine_on(arguments.cluster, partial(note, err))
    again = arguments.format == "human" and out.is_terminal
    with engine_there as engine, LiveMonitor(err, 1, told_again=again) as monitor:
        tasks = [task if data is None else replace(task, observed=(data.observed(task.space),)) for task in spec.tasks]
        report = spec.run(tasks, options, 1, monitor, cache, engine=engine)
    for _, error in report.failures:
        if not isinstance(error, EqspecError):
            raise error
        err.print(Text.assemble(("error", "bold red"), f": {error}"), soft_wrap=True)
    if arguments.format == "json":
        out.file.write(json.to_text(report) + "\n")
    else:
        _show(report, perf_counter() - began, out)
        if arguments.spec is None:
            out.print(Text("As a spec (--spec FILE writes it):\n", "bold"), soft_wrap=True)
            out.file.write(text)
        else:
            err.print(Text(f"wrote {arguments.spec}"), soft_wrap=True)
    if arguments.save_witness is not None and (saved := save_witnesses(report, arguments.save_witness)):
        err.print(Text(f"saved {len(saved)} in {arguments.save_witness}"), soft_wrap=True)
    advise(cache, report, err)
    return exit_code([report], bad_input=False)


def _spec(arguments: argparse.Namespace, err: Console) -> tuple[str, Data | None]:
    """The spec, and the table that was given."""
    comparing = tuple(name.strip() for name in arguments.comparing.split(",")) if arguments.comparing else ()
    where = Where(arguments.sigma, arguments.lower, arguments.upper)
    claim = (arguments.eps, arguments.norm, comparing, arguments.top1, arguments.confidence, arguments.margin)
    what = What(*claim, arguments.float32, arguments.gives)
    refuse_without_data(arguments)
    refuse_incomplete(where, what, has_data=arguments.data is not None)
    pair, known = read(arguments, err, to_keep=False)
    text = printer.text(draft(pair, known.inputs, where, what, _folder(arguments), arguments.timeout))
    data = known.inputs.data
    if data is None:
        return text, None
    version, _, rest = text.partition("\n")
    return "\n".join([version, *(line for note in known.notes for line in comment(note)), rest]), data


def _folder(arguments: argparse.Namespace) -> Path:
    """Where the spec lies, or would lie."""
    return Path() if arguments.spec is None else Path(arguments.spec).parent


def _show(report: Report, seconds: float, out: Console) -> None:
    show_results(report, out)
    if said := table.scores(report):
        out.print(Text(said), soft_wrap=True)
    out.print(table.summary(report, seconds, interrupted=report.interrupted, left_out=report.left_out), soft_wrap=True)
    out.print()
