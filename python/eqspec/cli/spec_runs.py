"""Spec files of a run: loaded, what is selected of them, and run one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from eqspec.api.report import Report
from eqspec.api.spec import Spec, load, select
from eqspec.errors import EqspecError, InputError, SpecError, explained
from eqspec.lazy_dataclass import dataclass
from eqspec.report.json_lines import Lines
from eqspec.report.live import LiveMonitor
from eqspec.report.run_output import RunOutput, SpecOutcome
from eqspec.run.engine import Engine
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task


@dataclass(frozen=True)
class Selection:
    """What is to run of spec files: values of params, and patterns of tasks, tags and checks; None for all."""

    params: Mapping[str, str]
    tasks: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    checks: Sequence[str] | None = None

    @property
    def whole(self) -> bool:
        """Whether everything is to run."""
        return self.tasks is None and self.tags is None and self.checks is None


@dataclass
class SpecRun:
    """A spec file under way."""

    name: str
    spec: Spec
    chosen: Sequence[Task | Search] = ()
    report: Report = field(default_factory=lambda: Report(()))

    @property
    def outcome(self) -> SpecOutcome:
        """Its results, in the form in which they are shown and written."""
        tasks = {item.id: item for item in self.chosen if isinstance(item, Task)}
        report = self.report
        return SpecOutcome(self.name, len(self.chosen), tasks, report.results, report.failures, report.interrupted)


class Loaded(NamedTuple):
    """The specs that can be used, and for each of the others, by name, what is wrong with it."""

    runs: list[SpecRun]
    unusable: dict[str, str]


def load_specs(names: Sequence[str], selection: Selection, err: Console, *, only: bool) -> Loaded:
    """All specs; what is wrong with those that cannot be used is printed. With `only`, other checks are not read."""
    runs: list[SpecRun] = []
    unusable: dict[str, str] = {}
    for name in names:
        try:
            spec = load(name, selection.params, checks=selection.checks if only else None)
        except SpecError as problem:
            from eqspec.report import diagnostics

            err.print(diagnostics.of_error(problem, err.width), soft_wrap=True)
            unusable[name] = str(problem)
        except (EqspecError, OSError) as problem:
            if (what := explained(problem)) is None:
                raise
            err.print(Text.assemble(("error", "bold red"), f": {what}"), soft_wrap=True)
            unusable[name] = what
        else:
            if spec.warnings:
                from eqspec.report import diagnostics

                err.print(diagnostics.text(spec.warnings, width=err.width), soft_wrap=True)
            runs.append(SpecRun(name, spec))
    return Loaded(runs, unusable)


def choose(runs: Sequence[SpecRun], selection: Selection) -> None:
    """Select what runs of specs that are loaded. InputError if that is nothing, or a pattern matches nothing."""
    groups = select([run.spec for run in runs], selection.tasks, selection.tags, selection.checks)
    for run, chosen in zip(runs, groups, strict=True):
        run.chosen = chosen
    if not any(groups):
        raise InputError(f"nothing to check in {', '.join(run.name for run in runs)}; add a 'check' clause")


def run_specs(
    runs: Sequence[SpecRun],
    options: Options,
    jobs: int | None,
    cache: ResultCache | None,
    output: RunOutput,
    lines: Lines | None = None,
    stop: Callable[[], bool] | None = None,
    engine: Engine | None = None,
) -> int:
    """Spec after spec, each with its table as soon as it is done, until all are or one is interrupted.

    What `stop` ends, by answering True, has no table. How many have one.
    """
    for shown, run in enumerate(runs):
        if run.chosen:
            output.begin(run.name)
        each, again = lines.add if lines else None, output.wanted.tables and output.out.is_terminal
        with LiveMonitor(output.err, len(run.chosen), each, told_again=again) as monitor:
            run.report = run.spec.run(run.chosen, options, jobs, monitor, cache, stop=stop, engine=engine)
        if stop is not None and stop():
            return shown
        output.show(run.outcome)
        if run.report.interrupted:
            return shown + 1
    return len(runs)
