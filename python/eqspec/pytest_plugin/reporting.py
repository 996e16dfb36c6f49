"""The results of a pytest run as reports of eqspec's own, and as annotations where GitHub runs it.

A result travels with the report of its test, as JSON, because with pytest-xdist the test runs in another process. What
was to be checked and has no result is said in the reports: specs that could not be collected, and claims that were not
run to an end. A report that cannot be written fails the run, or the one of an earlier run would be taken for it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from eqspec.errors import EqspecError
from eqspec.report import formats, github
from eqspec.report.atomic_file import refuse_unwritable
from eqspec.report.missing import Missing, interrupted
from eqspec.report.numbers import plural
from eqspec.tasks.result import Result

_OTHER_ANNOTATOR = "pytest_github_actions_annotate_failures"


class Results:
    """Gathers the results of a session, in the order in which they arrive, and writes them at its end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._results: list[Result] = []
        self._unusable: dict[str, str] = {}
        self._open: dict[str, str | None] = {}
        self._said: list[tuple[str, bool]] = []
        self._paths = [config.invocation_params.dir / name for name in config.getoption("eqspec_report")]
        for path in self._paths:
            try:
                formats.format_of(path)
                refuse_unwritable(path)
            except EqspecError as problem:
                raise pytest.UsageError(f"--eqspec-report: {problem}") from None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file was collected, here or in a worker; a spec that could not be is missing in the results."""
        if report.failed and self._is_spec(report.nodeid):
            lines = str(report.longrepr).strip().splitlines() or ["it could not be collected"]
            self._unusable.setdefault(report.nodeid, lines[0])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What will run in this process."""
        self._to_run(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """What will run in workers of pytest-xdist, which all collect the same."""
        self._to_run(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test is done, here or in a worker."""
        if (found := getattr(report, "eqspec_result", None)) is not None:
            self._results.append(Result.from_json(found))
        if found is not None or report.skipped:  # what a mark skips was not to be checked
            self._open.pop(report.nodeid, None)
        elif report.failed and report.nodeid in self._open:
            self._open[report.nodeid] = f"{report.nodeid.partition('::')[2]} failed without a result"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports; one that cannot be written fails a run that had passed."""
        for path in self._paths:
            try:
                formats.write(self._results, path, missing=self._missing())
            except EqspecError as problem:
                self._said.append((f"eqspec: {problem}", True))
                if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                    session.exitstatus = pytest.ExitCode.USAGE_ERROR
            else:
                self._said.append((f"eqspec: {plural(len(self._results), 'result')} in {path}", False))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was written, and write the annotations unless another plugin does."""
        for line, failed in self._said:
            terminalreporter.write_line(line, red=failed)
        manager = self._config.pluginmanager
        if os.environ.get("GITHUB_ACTIONS") == "true" and not manager.hasplugin(_OTHER_ANNOTATOR):
            for line in github.to_text(self._results, self._missing()).splitlines():
                terminalreporter.write_line(line)

    def _is_spec(self, nodeid: str) -> bool:
        file = Path(_file(nodeid))
        return any(file.match(pattern) for pattern in self._config.getini("eqspec_files"))

    def _to_run(self, ids: Iterable[str]) -> None:
        self._open.update(dict.fromkeys(filter(self._is_spec, ids)))

    def _missing(self) -> list[Missing]:
        left_out = Counter(_file(nodeid) for nodeid, why in self._open.items() if why is None)
        return [
            *(Missing(file, why) for file, why in self._unusable.items()),
            *(Missing(_file(nodeid), why, tasks=1) for nodeid, why in self._open.items() if why is not None),
            *(interrupted(file, tasks) for file, tasks in left_out.items()),
        ]


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]
