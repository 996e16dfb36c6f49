"""`eqspec check`: load every spec, run what is selected, show progress, results and witnesses."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.text import Text

from eqspec.api.cluster_choice import engine_on
from eqspec.cli.arguments import add_effort, add_params, options_of
from eqspec.cli.cache_options import advise, cache_from_arguments, note
from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.spec_files import spec_files
from eqspec.cli.spec_runs import Selection, choose, load_specs, run_specs
from eqspec.errors import InputError
from eqspec.report.run_output import RunOutput, Wanted
from eqspec.run.options import Options

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
    check.add_argument(
        "--watch",
        action="store_true",
        help="go on: check again what a file that changes touches, until Ctrl-C, which ends with the last verdicts",
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
        help="a table, or a JSON object per task: in a list, or one to a line (default: what the ending of -o says, "
        "else a table)",
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


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command: results to `out`, everything else to `err`.

    InputError if an argument makes no sense; whatever is wrong with a file is printed, and the other files go on.
    """
    if arguments.watch:
        return _watch(arguments, out, err)
    arguments.named = frozenset(arguments.files)
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
    options = _options(arguments, certifier)
    output = RunOutput(_wanted(arguments), out, err)
    cache = cache_from_arguments(arguments, err)
    began = perf_counter()
    selection = _selected(arguments)
    runs, unusable = load_specs(arguments.files, selection, err, only=len(arguments.files) == 1)
    if runs:
        choose(runs, selection)
    if selection.whole:
        for run in (run for run in runs if not run.chosen and run.name in arguments.named):
            err.print(Text.assemble(("warning", "bold yellow"), f": nothing to check in {run.name}"), soft_wrap=True)
    output.several = len(runs) > 1
    lines = output.lines() if runs else None
    with engine_on(arguments.cluster if runs else None, partial(note, err)) as engine:
        try:
            run_specs(runs, options, arguments.jobs, cache, output, lines, engine=engine)
        finally:
            output.finish([run.outcome for run in runs], perf_counter() - began, unusable)
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
    return exit_code((run.report for run in runs), bad_input=bool(unusable), certified=certified)


def _watch(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Check, and check again what changes. InputError for what is written once, at the end of a run."""
    form = _form(arguments)
    for name, said, ends in (
        ("certify", "--certify DIR", arguments.certify is not None),
        ("format", f"--format {form}", form != "human"),
    ):
        if ends:
            also = "; --report FILE is written anew after every run" if name == "format" else ""
            raise InputError(f"--watch does not go with {said}, which is for a run that ends{also}")
    from eqspec.cli.watching import Watch  # only who watches needs it

    options, output = _options(arguments), RunOutput(_wanted(arguments), out, err)
    cache = cache_from_arguments(arguments, err)
    with engine_on(arguments.cluster, partial(note, err)) as engine:
        return Watch(arguments.files, _selected(arguments), options, arguments.jobs, cache, output, engine).run()


def _selected(arguments: argparse.Namespace) -> Selection:
    return Selection(dict(arguments.param), arguments.select, arguments.tag, arguments.check)


def _options(arguments: argparse.Namespace, certifier: Certifier | None = None) -> Options:
    options = options_of(arguments, certifier)
    if arguments.jobs is not None and arguments.jobs < 1:
        raise InputError(f"jobs = {arguments.jobs}; give 1 or more")
    return options


def _form(arguments: argparse.Namespace) -> Literal["human", "json", "jsonl"]:
    """The form of the results: as --format says, else as the ending of --output does. InputError for other endings."""
    forms: dict[str, Literal["human", "json", "jsonl"]] = {"human": "human", "json": "json", "jsonl": "jsonl"}
    if arguments.format is not None:
        return forms[arguments.format]
    ending = "" if arguments.output is None else arguments.output.suffix.lower()
    if ending in (".html", ".xml", ".sarif"):
        raise InputError(f"{arguments.output} would hold a table; write the report with --report {arguments.output}")
    return forms.get(ending.removeprefix("."), "human")


def _wanted(arguments: argparse.Namespace) -> Wanted:
    return Wanted(
        format=_form(arguments),
        output=arguments.output,
        reports=tuple(arguments.report),
        github=arguments.github,
        save_witness=arguments.save_witness,
        explain_search=arguments.explain_search,
        debug=arguments.debug,
    )
