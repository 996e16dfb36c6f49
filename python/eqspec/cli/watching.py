"""`eqspec check --watch`: check, wait until a file changes on which a spec rests, and check that spec again.

What a spec rests on is asked of its text (`compile/used_files`) before every run. Of a spec that is checked again, the
cache of results tells which questions are the same as before: those are not searched again, whatever file was written.
A file that changes while its spec runs stops that run, whose verdicts would be about what is no more there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from rich.text import Text

from eqspec.cli.cache_options import advise
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.file_changes import Look, Outdated, changed, look_at, pause, settle
from eqspec.cli.spec_files import ENDING, spec_files
from eqspec.cli.spec_runs import Selection, SpecRun, choose, load_specs, run_specs
from eqspec.compile.used_files import used_files
from eqspec.errors import EqspecError, InputError
from eqspec.report import table
from eqspec.report.numbers import plural
from eqspec.report.run_output import RunOutput
from eqspec.run.engine import Engine
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache

_MOST_NAMED = 3


class Watch:
    """Specs that are checked until Ctrl-C, each again when something that it rests on changes."""

    def __init__(
        self,
        named: Sequence[str],
        selection: Selection,
        options: Options,
        jobs: int | None,
        cache: ResultCache | None,
        output: RunOutput,
        engine: Engine | None = None,
    ) -> None:
        """`named` are files and folders, as `spec_files` takes them."""
        self._named, self._selection, self._options, self._jobs = named, selection, options, jobs
        self._cache, self._output, self._err, self._engine = cache, output, output.err, engine
        self._runs: dict[str, SpecRun] = {}
        self._looks: dict[str, Look] = {}
        self._unusable: dict[str, str] = {}
        self._not_run: list[str] = []
        self._code, self._seconds = ExitCode.INTERRUPTED, 0.0

    def run(self) -> ExitCode:
        """Check until Ctrl-C; the exit code of the last verdicts. InputError where there is no spec to begin with."""
        names = spec_files(self._named)
        stale, seen, waiting = names, list[str](), False
        try:
            while not self._interrupted(names, stale, seen):
                waiting = True
                names, stale, seen = self._wait()
                waiting = False
        except KeyboardInterrupt:
            if not waiting:
                raise
            results = [result for run in self._runs.values() for result in run.report]
            behind_ctrl_c = "\n" if self._output.out.is_terminal else ""  # which the terminal shows as ^C
            stopped = self._code is ExitCode.INTERRUPTED
            summary = table.summary(results, self._seconds, interrupted=stopped, unusable=len(self._unusable))
            said = Text.assemble(f"{behind_ctrl_c}Ended. ", summary)
            self._output.out.print(said, soft_wrap=True)
        return self._code

    def _interrupted(self, names: Sequence[str], stale: Collection[str], seen: Sequence[str]) -> bool:
        """Run the specs that are stale, show what came of them and of all together; whether Ctrl-C ended it."""
        out, began = self._output.out, time.perf_counter()
        stale = [name for name in names if name in stale or name in self._not_run]
        if out.is_terminal and not out.is_dumb_terminal:
            out.clear()
        if seen:
            self._say(f"changed: {', '.join(seen[:_MOST_NAMED])}{', ...' if len(seen) > _MOST_NAMED else ''}")
        looks = {name: self._look(name) for name in stale}  # before they are read, so that no change is missed
        self._looks = {name: looks.get(name) or self._looks[name] for name in names}
        loaded, unusable = load_specs([*stale], self._selection, self._err, only=len(names) == 1)
        kept = {name: why for name, why in self._unusable.items() if name in names and name not in stale}
        self._unusable, self._not_run = kept | unusable, []
        known = {run.name: run for run in (*self._runs.values(), *loaded) if run.name not in stale or run in loaded}
        self._runs = {name: known[name] for name in names if name in known}
        self._output.several, outdated = len(names) > 1, Outdated([*looks.values()])
        try:
            if self._runs:
                choose([*self._runs.values()], self._selection)
            how = (self._options, self._jobs, self._cache, self._output)
            shown = run_specs(loaded, *how, stop=outdated, engine=self._engine)
        except EqspecError as problem:
            self._err.print(Text.assemble(("error", "bold red"), f": {problem}"), soft_wrap=True)
            self._not_run, shown = stale, 0
            self._unusable |= {name: str(problem) for name in stale}
        if not names:
            self._unusable = {" ".join(self._named) or ".": f"no file that ends in {ENDING} is left"}
        if outdated.found:
            self._not_run = [run.name for run in loaded[shown:]]
            self._code = ExitCode.INTERRUPTED
            return False
        self._finish(loaded, time.perf_counter() - began)
        return self._code is ExitCode.INTERRUPTED

    def _finish(self, ran: Sequence[SpecRun], seconds: float) -> None:
        """The last line of all specs, what failed of those that ran, and what is looked at from now on."""
        runs, self._seconds = [*self._runs.values()], seconds
        self._output.finish([run.outcome for run in runs], seconds, self._unusable)
        for run in ran:
            self._output.failures(run.outcome)
        advise(self._cache, (result for run in ran for result in run.report), self._err)
        self._code = exit_code((run.report for run in runs), bad_input=bool(self._unusable))
        if self._code is not ExitCode.INTERRUPTED:
            files = {path for look in self._looks.values() for path, state in look.items() if state is not None}
            specs = next(iter(self._looks)) if len(self._looks) == 1 else plural(len(self._looks), "spec")
            self._say(f"watching {plural(len(files), 'file')} of {specs}; Ctrl-C ends")

    def _say(self, text: str) -> None:
        self._err.print(Text(text, "dim"), soft_wrap=True)

    def _look(self, name: str) -> Look:
        """The present state of a spec's files; if the spec cannot be read completely, also of those it had before."""
        used = used_files(name, self._selection.params)
        before = () if used.complete else self._looks.get(name, ())
        return look_at({*used.paths, *before})

    def _wait(self) -> tuple[list[str], list[str], list[str]]:
        """Wait for a change: the specs that there are now, those that rest on what changed, and what that was."""
        while True:
            began = time.perf_counter()
            if self._news()[2]:
                settle({path: state for look in self._looks.values() for path, state in look.items()})
                names, stale, seen = self._news()
                if seen:
                    return names, stale, seen
            pause(time.perf_counter() - began)

    def _news(self) -> tuple[list[str], list[str], list[str]]:
        """What `_wait` returns, without waiting; empty where nothing has changed."""
        try:
            names = spec_files(self._named)
        except InputError:  # the last spec of a folder is gone
            names = []
        touched = {name: changed(look) for name, look in self._looks.items()}
        stale = [name for name in names if touched.get(name, True)]
        other = {os.path.relpath(path) for paths in touched.values() for path in paths}
        return names, stale, sorted(other | {os.path.relpath(Path(n)) for n in names if n not in self._looks})
