"""`eqspec check`: load every spec, run what is selected, show progress, results and witnesses."""

from __future__ import annotations

import argparse
import io
import os
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rich.console import Console, RenderableType
from rich.text import Text

from eqspec.api.report import Report
from eqspec.api.spec import Spec, load, select
from eqspec.certificates import Certifier
from eqspec.cli.arguments import options_of
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.remembering import advise, recall_of
from eqspec.errors import EqspecError, InputError, SpecError
from eqspec.report import diagnostics, formats, github, table
from eqspec.report.explain_search import explain_search
from eqspec.report.files import write_file
from eqspec.report.lines import Lines
from eqspec.report.live import LiveMonitor
from eqspec.report.numbers import plural
from eqspec.report.saved import save_witnesses
from eqspec.report.terminal import Terminal
from eqspec.tasks.recall import Recall
from eqspec.tasks.run import Options
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task


@dataclass
class _Run:
    """A spec file under way."""

    name: str
    spec: Spec
    chosen: Sequence[Task | Search] = ()
    report: Report = field(default_factory=lambda: Report(()))


def run_check(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command: results to `out`, everything else to `err`.

    InputError if an argument makes no sense; whatever is wrong with a file is printed, and the other files go on.
    """
    certifier = Certifier(arguments.certify) if arguments.certify is not None else None
    with certifier or nullcontext():
        return _check(arguments, certifier, out, err)


def _check(arguments: argparse.Namespace, certifier: Certifier | None, out: Console, err: Console) -> ExitCode:
    options = options_of(arguments, certifier)
    if arguments.jobs is not None and arguments.jobs < 1:
        raise InputError(f"jobs = {arguments.jobs}; give 1 or more")
    _prepare(arguments)
    recall = recall_of(arguments, err)
    began = perf_counter()
    runs = _load(arguments, err)
    bad_input = len(runs) < len(arguments.files)
    if runs:
        groups = select([run.spec for run in runs], arguments.select, arguments.tag, arguments.check)
        for run, chosen in zip(runs, groups, strict=True):
            run.chosen = chosen
        if not any(groups):
            raise InputError(f"nothing to check in {', '.join(run.name for run in runs)}; add a 'check' clause")
    target = out.file if arguments.output is None else arguments.output
    lines = Lines(target) if arguments.format == "jsonl" and runs else None
    try:
        _run(runs, arguments, options, recall, lines, out, err)
    finally:
        _write(runs, arguments, out, perf_counter() - began)
        _write_reports(runs, arguments, err)
        if certifier is not None:
            _show_certificates(certifier, err)
    for run in runs:
        _show_failures(run, arguments, err)
    if lines is not None:
        lines.close()
    advise(recall, (result for run in runs for result in run.report), err)
    certified = certifier is None or not certifier.missing
    return exit_code((run.report for run in runs), bad_input=bad_input, certified=certified)


def _prepare(arguments: argparse.Namespace) -> None:
    """Find out before hours of work whether the results can be written."""
    try:
        if arguments.output is not None:
            arguments.output.open("a", encoding="utf-8").close()
        for path in arguments.report:
            formats.format_of(path)
            path.open("a", encoding="utf-8").close()
        if arguments.save_witness is not None:
            arguments.save_witness.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {error.filename}: {error.strerror}") from None


def _load(arguments: argparse.Namespace, err: Console) -> list[_Run]:
    """All specs that can be used; what is wrong with the others is printed."""
    params = dict(arguments.param)
    only = arguments.check if len(arguments.files) == 1 else None
    runs: list[_Run] = []
    for name in arguments.files:
        try:
            spec = load(name, params, checks=only)
        except SpecError as problem:
            err.print(diagnostics.of_error(problem, err.width), soft_wrap=True)
        except EqspecError as problem:
            err.print(Text.assemble(("error", "bold red"), f": {problem}"), soft_wrap=True)
        else:
            if spec.warnings:
                err.print(diagnostics.text(spec.warnings, width=err.width), soft_wrap=True)
            runs.append(_Run(name, spec))
    return runs


def _run(
    runs: Sequence[_Run],
    arguments: argparse.Namespace,
    options: Options,
    recall: Recall | None,
    lines: Lines | None,
    out: Console,
    err: Console,
) -> None:
    """Spec after spec, each with its table as soon as it is done."""
    shown = arguments.format == "human" or arguments.output is not None
    several = len(runs) > 1
    for run in runs:
        if several and shown and run.chosen:
            out.print(Text(run.name, "bold underline"), soft_wrap=True)
        with LiveMonitor(err, len(run.chosen), lines.add if lines else None) as monitor:
            run.report = run.spec.run(run.chosen, options, arguments.jobs, monitor, recall)
        if shown and run.report:
            _show(run.report, out)
            if arguments.explain_search:
                out.print(_searches(run))
        if arguments.save_witness is not None:
            folder = arguments.save_witness / Path(run.name).stem if several else arguments.save_witness
            if saved := save_witnesses(run.report, folder):
                err.print(f"saved {len(saved)} in {folder}", highlight=False, soft_wrap=True)
        if run.report.interrupted:
            break


def _searches(run: _Run) -> RenderableType:
    return explain_search(tuple(run.report), {task.id: task for task in run.chosen if isinstance(task, Task)})


def _show(report: Report, out: Console) -> None:
    out.print(table.results_table(report))
    if any(r.witness or (r.find and r.find.witness) for r in report):
        out.print()
        out.print(table.witnesses(report))
    else:
        out.print()


def _write(runs: Sequence[_Run], arguments: argparse.Namespace, out: Console, seconds: float) -> None:
    """The last line, and the results where they were asked for; also when something stopped the run."""
    results = [result for run in runs for result in run.report]
    interrupted = any(run.report.interrupted for run in runs)
    left_out = sum(len(run.chosen) for run in runs) - len(results)
    last = table.summary(results, seconds, interrupted=interrupted, left_out=left_out)
    said = table.scores(results)
    if (arguments.format == "human" or arguments.output is not None) and runs:
        if said:
            out.print(Text(said), soft_wrap=True)
        out.print(last, soft_wrap=True)
    if arguments.format == "json":
        text = formats.render(results, arguments.format)
        if arguments.output is None:
            out.file.write(text)
        else:
            write_file(arguments.output, text)
    elif arguments.format == "human" and arguments.output is not None:
        page = Terminal(file=io.StringIO(), width=120, record=True)
        for run in runs:
            page.print(Text(run.name))
            _show(run.report, page)
            if arguments.explain_search:
                page.print(_searches(run))
        if said:
            page.print(Text(said), soft_wrap=True)
        page.print(last, soft_wrap=True)
        write_file(arguments.output, page.export_text())


def _write_reports(runs: Sequence[_Run], arguments: argparse.Namespace, err: Console) -> None:
    """What else was asked for: files, and annotations among the messages, where GitHub finds them too."""
    results = [result for run in runs for result in run.report]
    for path in arguments.report:
        formats.write(results, path)
    wanted = os.environ.get("GITHUB_ACTIONS") == "true" if arguments.github is None else arguments.github
    if wanted and (text := github.to_text(results)):
        err.file.write(f"{text}\n")


def _show_certificates(certifier: Certifier, err: Console) -> None:
    """What can be audited, and what cannot, with the reason."""
    made = [c for c in certifier.made.values() if c.reason is None]
    for name, reason in certifier.missing.items():
        err.print(Text.assemble(("no certificate", "yellow"), f" of {name}: {reason}"), soft_wrap=True)
    size, seconds = sum(c.size for c in made) / 1000.0, sum(c.seconds for c in made)
    what = f"{plural(len(made), 'certificate')} in {certifier.folder}, {size:.0f} kB, audited in {seconds:.1f} s"
    err.print(what, highlight=False, soft_wrap=True)


def _show_failures(run: _Run, arguments: argparse.Namespace, err: Console) -> None:
    for name, error in run.report.failures:
        if isinstance(error, EqspecError):
            err.print(Text.assemble(("error", "bold red"), f" in {run.name}, {name}: {error}"), soft_wrap=True)
            continue
        what = f" at {name} of {run.name}: {type(error).__name__}: {error}"
        err.print(Text.assemble(("eqspec failed", "bold red"), what), soft_wrap=True)
        if arguments.debug:
            err.print("".join(traceback.format_exception(error)), highlight=False, markup=False, soft_wrap=True)
    if any(not isinstance(error, EqspecError) for _, error in run.report.failures):
        advice = "run again with --debug and report it" if not arguments.debug else "please report it"
        err.print(f"This is a defect of eqspec; {advice} with the spec.", soft_wrap=True)
