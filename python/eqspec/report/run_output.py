"""What a run of `eqspec check` prints and writes: tables, results in files, reports, witnesses, and what failed.

Results go to `out`, everything else to `err`. The command decides what runs; this decides what is seen of it.
"""

from __future__ import annotations

import io
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from rich.console import Console
from rich.text import Text

from eqspec.errors import EqspecError, InputError, explained, unwritten
from eqspec.lazy_dataclass import dataclass
from eqspec.report import row_counts, table
from eqspec.report.atomic_file import refuse_unwritable, write_file
from eqspec.report.json_lines import Lines
from eqspec.report.missing import Missing, interrupted
from eqspec.report.numbers import plural
from eqspec.report.terminal import Terminal
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task

_COLUMNS = 120


@dataclass(frozen=True)
class Wanted:
    """What was asked for. `github` None means: annotations where GitHub Actions runs it."""

    format: Literal["human", "json", "jsonl"] = "human"
    output: Path | None = None
    reports: tuple[Path, ...] = ()
    github: bool | None = None
    save_witness: Path | None = None
    explain_search: bool = False
    debug: bool = False

    @property
    def tables(self) -> bool:
        """Whether tables are shown: always, unless JSON takes their place on the terminal."""
        return self.format == "human" or self.output is not None


@dataclass(frozen=True)
class SpecOutcome:
    """What came of one spec file: results in the order of the spec, and the exceptions behind errors.

    `selected` counts the tasks and searches that were to run; `tasks` by id say how inputs are called.
    """

    name: str
    selected: int
    tasks: Mapping[str, Task] = field(default_factory=dict)
    results: Sequence[Result] = ()
    failures: Sequence[tuple[str, Exception]] = ()
    interrupted: bool = False


class RunOutput:
    """Prints and writes one run. InputError, before anything runs, if a file cannot be written.

    Where there are `several` spec files, each has its name above its table, and a folder of its own for its witnesses.
    """

    def __init__(self, wanted: Wanted, out: Console, err: Console) -> None:
        self.wanted, self.out, self.err, self.several = wanted, out, err, False
        self._folders: dict[str, str] = {}
        self._unwritten: list[EqspecError] = []
        self._refuse_unwritable()

    def _refuse_unwritable(self) -> None:
        """Find out before hours of work whether the results can be written."""
        for path in self.wanted.reports:
            from eqspec.report import formats

            formats.format_of(path)
        for path in filter(None, (self.wanted.output, *self.wanted.reports)):
            refuse_unwritable(path)
        try:
            if self.wanted.save_witness is not None:
                self.wanted.save_witness.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritten(error.filename, error) from None

    def lines(self) -> Lines | None:
        """Where results go one by one as soon as they are there, if that was asked for."""
        if self.wanted.format != "jsonl":
            return None
        return Lines(self.out.file if self.wanted.output is None else self.wanted.output)

    def begin(self, name: str) -> None:
        """A spec file begins to run."""
        if self.several and self.wanted.tables:
            self.out.print(Text(name, "bold underline"), soft_wrap=True)

    def show(self, outcome: SpecOutcome) -> None:
        """A spec file is done: its table, and its witnesses as files."""
        if self.wanted.tables and outcome.results:
            self._tables(outcome, self.out)
        folder = self.wanted.save_witness
        if folder is not None:
            folder = folder / self._folder_of(outcome.name) if self.several else folder
            with self._going_on():
                from eqspec.report.witness_files import save_witnesses

                if saved := save_witnesses(outcome.results, folder):
                    self.err.print(f"saved {len(saved)} in {folder}", highlight=False, soft_wrap=True)

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """A file that cannot be written keeps nothing else from being shown or written; `finish` says so in the end."""
        try:
            yield
        except EqspecError as problem:
            self._unwritten.append(problem)

    def _folder_of(self, spec: str) -> str:
        """The name of the folder for the witnesses of a spec; of files called alike, later ones get a number."""
        if spec not in self._folders:
            taken, stem, number = set(self._folders.values()), Path(spec).stem, 2
            name = stem
            while name in taken:
                name, number = f"{stem}-{number}", number + 1
            self._folders[spec] = name
        return self._folders[spec]

    def finish(
        self, outcomes: Sequence[SpecOutcome], seconds: float, unusable: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """The last line, and the results where they were asked for; also when something stopped the run.

        Reports say besides what is missing: specs that are `unusable`, with the reason, and tasks without a result.
        ResourceError or InputError, when all else is done, if files could not be written.
        """
        results = [result for outcome in outcomes for result in outcome.results]
        stopped = any(outcome.interrupted for outcome in outcomes)
        left_out = sum(outcome.selected for outcome in outcomes) - len(results)
        missing = _missing(outcomes, unusable)
        for path in self.wanted.reports:  # first, as nobody may read what is printed
            from eqspec.report import formats

            with self._going_on():
                formats.write(results, path, missing=missing)
        last = [table.summary(results, seconds, interrupted=stopped, left_out=left_out, unusable=len(unusable))]
        if said := table.scores(results):
            last.insert(0, Text(said))
        if self.wanted.tables and outcomes:
            for line in last:
                self.out.print(line, soft_wrap=True)
        with self._going_on():
            self._write_results(outcomes, results, last)
        wanted = os.environ.get("GITHUB_ACTIONS") == "true" if self.wanted.github is None else self.wanted.github
        if wanted:
            from eqspec.report import github

            if text := github.to_text(results, missing):
                self.err.file.write(f"{text}\n")
        if problems := self._unwritten:
            self._unwritten = []
            kind = next((type(one) for one in problems if isinstance(one, InputError)), type(problems[0]))
            raise kind("; ".join(map(str, problems)))

    def _write_results(self, outcomes: Sequence[SpecOutcome], results: Sequence[Result], last: Sequence[Text]) -> None:
        output = self.wanted.output
        if self.wanted.format == "json":
            from eqspec.report import formats

            text = formats.render(results, "json")
            if output is None:
                self.out.file.write(text)
            else:
                write_file(output, text)
        elif self.wanted.format == "human" and output is not None:
            page = Terminal(file=io.StringIO(), width=_COLUMNS, record=True)
            for outcome in outcomes:
                page.print(Text(outcome.name))
                self._tables(outcome, page)
            for line in last:
                page.print(line, soft_wrap=True)
            write_file(output, page.export_text())

    def _tables(self, outcome: SpecOutcome, console: Console) -> None:
        show_results(outcome.results, console)
        if self.wanted.explain_search:
            from eqspec.report.explain_search import explain_search

            console.print(explain_search(outcome.results, outcome.tasks))

    def certificates(self, folder: Path, sizes: Sequence[int], seconds: float, missing: Mapping[str, str]) -> None:
        """What can be audited, and what cannot, with the reason; `sizes` in bytes, `seconds` that audits took."""
        for name, reason in missing.items():
            self.err.print(Text.assemble(("no certificate", "yellow"), f" of {name}: {reason}"), soft_wrap=True)
        what = f"{plural(len(sizes), 'certificate')} in {folder}, {sum(sizes) / 1000.0:.0f} kB"
        self.err.print(f"{what}, audited in {seconds:.1f} s", highlight=False, soft_wrap=True)

    def failures(self, outcome: SpecOutcome) -> None:
        """What was raised: what a user can mend, and what is a defect."""
        debug, defects = self.wanted.debug, 0
        for name, error in outcome.failures:
            if (what := explained(error)) is not None:
                text = Text.assemble(("error", "bold red"), f" in {outcome.name}, {name}: {what}")
                self.err.print(text, soft_wrap=True)
                continue
            defects += 1
            what = f" at {name} of {outcome.name}: {type(error).__name__}: {error}"
            self.err.print(Text.assemble(("eqspec failed", "bold red"), what), soft_wrap=True)
            if debug:
                shown = "".join(traceback.format_exception(error))
                self.err.print(shown, highlight=False, markup=False, soft_wrap=True)
        if defects:
            advice = "please report it" if debug else "run again with --debug and report it"
            self.err.print(f"This is a defect of eqspec; {advice} with the spec.", soft_wrap=True)


def _missing(outcomes: Sequence[SpecOutcome], unusable: Mapping[str, str]) -> list[Missing]:
    """What a run lacks. A task that failed has a result, so only a run that was stopped leaves some out."""
    found = [Missing(file, why) for file, why in unusable.items()]
    left_out = [(outcome.name, outcome.selected - len(outcome.results)) for outcome in outcomes]
    return found + [interrupted(name, tasks) for name, tasks in left_out if tasks]


def show_results(results: Sequence[Result], console: Console) -> None:
    """The table of results, and the inputs that break a claim."""
    console.print(table.results_table(results))
    if over_rows := row_counts.lines(results):
        console.print(table.indented(over_rows))
    console.print()
    if any(r.witness or (r.find and r.find.witness) for r in results):
        console.print(table.witnesses(results))
