"""`eqspec audit`: do certificates hold, what do they show, and are they those of a spec?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from eqspec.api.cluster_choice import jobs_on
from eqspec.audit.opening import label, plain
from eqspec.certificates import SUFFIX, Answer, Auditor, Coverage, UnboundError, dealt_audit
from eqspec.cli.cache_options import note
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import load
from eqspec.errors import EqspecError, InputError
from eqspec.kernel import Checked, allowed, check, find
from eqspec.report.numbers import count, plural

if TYPE_CHECKING:
    from eqspec.cluster.jobs import Jobs

_NOT_SHOWN = ("refused", "seconds", "part", "unproved")


@dataclass(frozen=True)
class _Found:
    """A certificate file, the auditor's answer, and which tasks of the specs it proves."""

    file: Path
    answer: Answer
    tasks: Sequence[str] = ()
    refused: str | None = None
    kernel: Checked | None = None

    def to_json(self) -> dict[str, Any]:
        data = {name: value for name, value in asdict(self.answer).items() if name not in _NOT_SHOWN}
        return (
            {"file": str(self.file), "holds": self.refused is None, "refused": self.refused}
            | (data | {"tasks": list(self.tasks)} if self.answer.refused is None else {})
            | ({} if self.kernel is None else {"kernel": self.kernel.to_json()})
        )


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    if arguments.timeout is not None and not 0 < arguments.timeout < float("inf"):
        raise InputError(f"timeout = {arguments.timeout:g}; give a number of seconds above 0")
    if arguments.param and not arguments.spec:
        raise InputError("--param gives values to a spec; name it with --spec")
    if arguments.kernel:
        find()  # or it is said now how to build it
    files = [file for given in arguments.files for file in _files(given)]
    coverage = _coverage(arguments, err)
    if arguments.spec and coverage is None:
        return ExitCode.BAD_INPUT
    found: list[_Found] = []
    with Auditor() as auditor, jobs_on(arguments.cluster, partial(note, err)) as jobs:
        for file, answer in zip(files, _answers(files, auditor, jobs, arguments), strict=True):
            found.append(_bound(file, answer, arguments, coverage, err))
            if arguments.format == "human":
                _show(found[-1], out, arguments.verbose)
    troubles = [one for one in coverage.all if one.trouble] if coverage else []
    if arguments.format == "json":
        whole = {"certificates": [one.to_json() for one in found], "specs": arguments.spec, "tasks": _tasks(coverage)}
        out.file.write(json.dumps(whole, indent=2, allow_nan=False) + "\n")
    else:
        refused = sum(one.refused is not None for one in found)
        held = len(files) - refused
        holds = "holds" if held == 1 else "hold"
        out.print(f"{plural(held, 'certificate')} {holds}, {refused} refused", soft_wrap=True)
        if coverage:
            _show_coverage(coverage, arguments.spec, out)
    failed = troubles or any(one.refused is not None for one in found)
    return ExitCode.NOT_AS_EXPECTED if failed else ExitCode.AS_EXPECTED


def _files(given: Path) -> list[Path]:
    files = sorted(given.glob("*" + SUFFIX)) if given.is_dir() else [given]
    if not files or not all(file.is_file() for file in files):
        raise InputError(f"there is no certificate at {given}; 'eqspec check --certify DIR' writes them")
    return files


def _coverage(arguments: argparse.Namespace, err: Console) -> Coverage | None:
    """The tasks of all specs; None if there is no spec, or one that cannot be used."""
    specs = [load(spec, arguments.param, err) for spec in arguments.spec]
    used = [spec for spec in specs if spec is not None]
    if not used or len(used) < len(specs):
        return None
    tasks, searches = [t for spec in used for t in spec.tasks], [s for spec in used for s in spec.finds]
    if not tasks and not searches:
        raise InputError(f"there is nothing to cover in {', '.join(arguments.spec)}; add a 'check' clause")
    return Coverage(tasks, searches)


def _answers(
    files: Sequence[Path], auditor: Auditor, jobs: Jobs | None, arguments: argparse.Namespace
) -> Iterator[Answer]:
    """The auditor's answer for each certificate, computed here or with its leaves spread over a cluster."""
    if jobs is not None:
        yield from dealt_audit.answers(files, auditor, jobs, arguments.networks, arguments.timeout)
        return
    for file in files:
        try:
            answer = auditor.ask(file, arguments.networks, arguments.timeout)
        except EqspecError as problem:  # the process of the auditor ended
            answer = Answer(str(problem))
        yield answer


def _bound(
    file: Path, answer: Answer, arguments: argparse.Namespace, coverage: Coverage | None, err: Console
) -> _Found:
    if answer.refused is not None:
        return _Found(file, answer, refused=answer.refused)
    try:
        tasks = coverage.bind(answer) if coverage else ()
    except UnboundError as reason:
        return _Found(file, answer, refused=str(reason))
    if not arguments.kernel or answer.verdict != "equivalent":
        return _Found(file, answer, tasks)
    said = f"the kernel checks {plain(file.name)}"
    seconds = _left(answer, arguments.timeout, arguments.cluster is not None)
    with err.status(said) as status:

        def progress(part: float, leaves: int) -> None:
            status.update(f"{said}: {part:.0%}, {plural(leaves, 'leaf', 'leaves')}")

        checked = check(file, arguments.networks, seconds, progress=progress)
    refused = None if checked.refused is None else f"the kernel does not accept it: {checked.refused}"
    return _Found(file, answer, tasks, refused, checked)


def _left(answer: Answer, timeout: float | None, spread: bool) -> float:
    """Seconds for the kernel: what the auditor left of those of the certificate, unless a cluster audited it."""
    if timeout is None:
        return allowed(answer.leaves + answer.rounds)
    return timeout if spread else max(0.0, timeout - answer.seconds)


_BRIEF = 3
"""So many lines of a region, or of an input, are shown; of the others how many there are."""


def _show(one: _Found, out: Console, verbose: bool) -> None:
    name, answer = plain(str(one.file)), one.answer
    if one.refused is not None:
        text = Text.assemble((name, "bold"), "  ", ("refused", "bold red"), f": {plain(one.refused)}")
        out.print(text, soft_wrap=True)
        return
    steps = f"{plural(answer.leaves, 'leaf', 'leaves')}, {plural(answer.rounds, 'round')}"
    checked = [("checked", steps)] if answer.leaves else []
    bound = [("task", ", ".join(one.tasks))] if one.tasks else []
    named = [] if one.tasks else [("called", f"{_labels(answer, verbose)} (the certificate's own words, not checked)")]
    out.print(Text.assemble((name, "bold"), "  ", (answer.verdict, "bold green")), soft_wrap=True)
    kernel = one.kernel.said() if one.kernel else []
    said = answer.said if verbose else _in_brief(answer.said)
    before = ""
    for heading, sentence in [*bound, *said, *checked, *kernel, *named]:
        shown = "" if heading == before else heading
        out.print(Text.assemble((f"  {shown:14}", "dim"), sentence), soft_wrap=True)
        before = heading


def _in_brief(said: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """One line under each heading: the first few sentences of those that have one for every input, all of the others.

    The digest of a file stands behind its path. That a box is cut by constraints, or is about points of a grid, is
    always said; of the box in raw units only where it comes from.
    """
    found = list[tuple[str, str]]()
    for heading, several in groupby(said, key=lambda pair: pair[0]):
        sentences = [sentence for _, sentence in several]
        if heading == "sha256" and found:
            found[-1] = found[-1][0], f"{found[-1][1]}; sha256 {sentences[0]}"
            continue
        first = {"region": 1 + _BRIEF, "raw units": 1, "input": _BRIEF}.get(heading, len(sentences))
        rest = sentences[first:] if len(sentences) > first + 1 or heading == "raw units" else []
        also = [one for one in rest if one.startswith("and ")]
        left = len(rest) - len(also)
        more = [f"{plural(left, 'line')} more with --verbose"] if left else []
        found.append((heading, "; ".join([*sentences[: len(sentences) - len(rest)], *also, *more])))
    return found


def _labels(answer: Answer, verbose: bool) -> str:
    """The certificate's own names: that of the task, or a few of each kind."""
    parts = [f"{name} {label(str(answer.labels.get(name, '')))}" for name in ("task", "reference", "candidate")]
    for name in ("features", "outputs"):
        texts = [label(str(text)) for text in answer.labels.get(name, ())]
        parts.append(f"{name} {', '.join(texts[:6])}{' ...' if len(texts) > 6 else ''}")
    return "; ".join(parts if verbose else parts[:1])


def _tasks(coverage: Coverage | None) -> list[dict[str, Any]]:
    if coverage is None:
        return []
    tasks = [
        {"id": one.id, "verdicts": sorted({a.verdict for a in one.answers}), "trouble": one.trouble}
        for one in coverage.tasks
    ]
    return tasks + [
        {
            "id": one.id,
            "verdicts": sorted({a.verdict for _, a in one.answers}),
            "proved": None if one.proved is None else str(one.proved),
            "refuted": None if one.refuted is None else str(one.refuted),
            "trouble": one.trouble,
        }
        for one in coverage.searches
    ]


def _show_coverage(coverage: Coverage, specs: Sequence[str], out: Console) -> None:
    for one in coverage.all:
        if one.trouble is not None:
            out.print(
                Text.assemble((one.id, "bold"), "  ", ("not shown", "bold red"), f": {one.trouble}"), soft_wrap=True
            )
    for search in coverage.searches:
        if search.trouble is None:
            out.print(Text.assemble((search.id, "bold"), f"  {search.shown}"), soft_wrap=True)
    good = sum(one.trouble is None for one in coverage.all)
    what = f"{count(good)} of {plural(len(coverage.all), 'task')} of {', '.join(specs)} shown as expected"
    out.print(Text(what), soft_wrap=True)
