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

from eqspec.api.cache_choice import comparisons_kept
from eqspec.api.cluster_choice import engine_on
from eqspec.cli.arguments import options_of
from eqspec.cli.cache_options import advise, cache_from_arguments, note
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.spec_files import spec_files
from eqspec.cli.spec_runs import Selection, choose, load_specs, run_specs
from eqspec.errors import InputError
from eqspec.report.run_output import RunOutput, Wanted
from eqspec.run.options import Options

if TYPE_CHECKING:
    from eqspec.certificates import Certifier


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
    if certifier is not None and arguments.resume:
        note(err, "--resume is of no use with --certify: a certificate needs the whole proof, made in one run")
    began = perf_counter()
    selection = _selected(arguments)
    with comparisons_kept(cache):
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
    if certifier is None:  # else nothing was kept
        advise(cache, (result for run in runs for result in run.report), err)
    certified = certifier is None or not certifier.missing
    room = certifier is None or not certifier.without_room
    return exit_code((run.report for run in runs), bad_input=bool(unusable), certified=certified, room=room)


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
    from eqspec.cli.watching import Watch  # needed with --watch alone

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
