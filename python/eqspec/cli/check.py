"""`eqspec check`: load every spec, run what is selected, show progress, results and witnesses."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from eqspec.api.cluster_choice import engine_on
from eqspec.api.report import Report
from eqspec.api.spec import Spec, load, select
from eqspec.cli.arguments import add_effort, add_params, options_of
from eqspec.cli.cache_options import advise, cache_from_arguments, note
from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.spec_files import spec_files
from eqspec.errors import EqspecError, InputError, SpecError
from eqspec.report import diagnostics
from eqspec.report.json_lines import Lines
from eqspec.report.live import LiveMonitor
from eqspec.report.run_output import RunOutput, SpecOutcome, Wanted
from eqspec.run.engine import Engine
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task

if TYPE_CHECKING:
    from eqspec.certificates import Certifier

_CODES = """\
exit codes:
  0    everything as expected: where a check says 'expect', that; else the claim holds, and not vacuously
  1    something decided, and not as expected
  2    a spec, a network or an argument cannot be used (other files are run all the same)
  3    something left undecided, nothing else wrong
  4    eqspec itself failed
  5    a certificate is missing that --certify asked for, the verdicts being as expected or undecided
  75   the machine did not give what was needed: threads, memory, room on a disk; trying again may help
  130  interrupted by Ctrl-C; what was known by then is printed, and kept
  141  the program that reads the output ended before all was written
  143  as 130, by SIGTERM
If several apply, the first of 143, 130, 2, 4, 75, 1, 5, 3, 0 counts.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    check = command(
        commands,
        "check",
        "Decide every claim of spec files: prove it, or show an input where it does not hold.",
    )
    check.epilog = _CODES
    check.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="spec files (*.eqspec), or folders of them; without any, all below this folder",
    )
    _selection(check.add_argument_group("what to run"))
    effort = check.add_argument_group("how to run")
    add_effort(effort)
    effort.add_argument(
        "--jobs", type=int, metavar="N", help="tasks at once (default: what the spec says, at most one per core)"
    )
    _output(check.add_argument_group("what to show"))
    check.set_defaults(run=run)


def _selection(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--select",
        action="append",
        metavar="PATTERN",
        help="only tasks whose id, as near[delta=0.9], or check matches; * and ? stand for anything; repeatable",
    )
    group.add_argument("-c", "--check", action="append", metavar="NAME", help="only this check; repeatable")
    group.add_argument("-t", "--tag", action="append", metavar="TAG", help="only checks with this tag; repeatable")
    add_params(group)


def _output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        choices=("human", "json", "jsonl"),
        default="human",
        help="a table, or a JSON object per task: in a list, or one to a line",
    )
    group.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write it to a file; the terminal still shows the table"
    )
    group.add_argument(
        "--report",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="also write a report; the ending says which: .html, .json, .jsonl, .xml (JUnit), .sarif, .txt; repeatable",
    )
    group.add_argument(
        "--github",
        action=argparse.BooleanOptionalAction,
        help="mark what is not as expected in GitHub Actions (default: where GITHUB_ACTIONS is true)",
    )
    group.add_argument(
        "--save-witness", type=Path, metavar="DIR", help="write every input that breaks a claim, as .json and .npy"
    )
    group.add_argument(
        "--explain-search", action="store_true", help="show where each search went and what it left open"
    )
    group.add_argument(
        "--certify", type=Path, metavar="DIR", help="write a certificate of every verdict, which 'eqspec audit' checks"
    )


@dataclass
class _Run:
    """A spec file under way."""

    name: str
    spec: Spec
    chosen: Sequence[Task | Search] = ()
    report: Report = field(default_factory=lambda: Report(()))

    @property
    def outcome(self) -> SpecOutcome:
        """What came of it, in the form in which it is shown and written."""
        tasks = {item.id: item for item in self.chosen if isinstance(item, Task)}
        report = self.report
        return SpecOutcome(self.name, len(self.chosen), tasks, report.results, report.failures, report.interrupted)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command: results to `out`, everything else to `err`.

    InputError if an argument makes no sense; whatever is wrong with a file is printed, and the other files go on.
    """
    arguments.files = spec_files(arguments.files)
    certifier = _certifier(arguments.certify)
    with certifier or nullcontext():
        return _check(arguments, certifier, out, err)


def _certifier(folder: Path | None) -> Certifier | None:
    """What makes certificates, if that was asked for."""
    if folder is None:
        return None
    from eqspec.certificates import Certifier  # with the auditor: a third of what a check would load

    return Certifier(folder)


def _check(arguments: argparse.Namespace, certifier: Certifier | None, out: Console, err: Console) -> ExitCode:
    options = options_of(arguments, certifier)
    if arguments.jobs is not None and arguments.jobs < 1:
        raise InputError(f"jobs = {arguments.jobs}; give 1 or more")
    output = RunOutput(_wanted(arguments), out, err)
    cache = cache_from_arguments(arguments, err)
    began = perf_counter()
    runs = _load(arguments, err)
    bad_input = len(runs) < len(arguments.files)
    if runs:
        groups = select([run.spec for run in runs], arguments.select, arguments.tag, arguments.check)
        for run, chosen in zip(runs, groups, strict=True):
            run.chosen = chosen
        if not any(groups):
            raise InputError(f"nothing to check in {', '.join(run.name for run in runs)}; add a 'check' clause")
    output.several = len(runs) > 1
    lines = output.lines() if runs else None
    with engine_on(arguments.cluster if runs else None, partial(note, err)) as engine:
        try:
            _run(runs, options, arguments.jobs, cache, output, lines, engine)
        finally:
            output.finish([run.outcome for run in runs], perf_counter() - began)
            if certifier is not None:
                made = [one for one in certifier.made.values() if one.reason is None]
                seconds = sum(one.seconds for one in made)
                output.certificates(certifier.folder, [one.size for one in made], seconds, certifier.missing)
    for run in runs:
        output.failures(run.outcome)
    if lines is not None:
        lines.close()
    advise(cache, (result for run in runs for result in run.report), err)
    certified = certifier is None or not certifier.missing
    return exit_code((run.report for run in runs), bad_input=bad_input, certified=certified)


def _wanted(arguments: argparse.Namespace) -> Wanted:
    return Wanted(
        format=arguments.format,
        output=arguments.output,
        reports=tuple(arguments.report),
        github=arguments.github,
        save_witness=arguments.save_witness,
        explain_search=arguments.explain_search,
        debug=arguments.debug,
    )


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
    options: Options,
    jobs: int | None,
    cache: ResultCache | None,
    output: RunOutput,
    lines: Lines | None,
    engine: Engine | None,
) -> None:
    """Spec after spec, each with its table as soon as it is done."""
    for run in runs:
        if run.chosen:
            output.begin(run.name)
        with LiveMonitor(output.err, len(run.chosen), lines.add if lines else None) as monitor:
            run.report = run.spec.run(run.chosen, options, jobs, monitor, cache, engine=engine)
        output.show(run.outcome)
        if run.report.interrupted:
            break
