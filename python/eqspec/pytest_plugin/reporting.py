"""The results of a pytest run as reports of eqspec's own, and as annotations where GitHub runs it.

A result travels with the report of its test, as JSON, because with pytest-xdist the test runs in another process.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eqspec.errors import InputError
from eqspec.report import formats, github
from eqspec.tasks.result import Result

_OTHER_ANNOTATOR = "pytest_github_actions_annotate_failures"


class Results:
    """Gathers the results of a session, in the order in which they arrive, and writes them at its end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._results: list[Result] = []
        self._paths = [config.invocation_params.dir / name for name in config.getoption("eqspec_report")]
        for path in self._paths:
            try:
                formats.format_of(path)
            except InputError as problem:
                raise pytest.UsageError(f"--eqspec-report: {problem}") from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test is done, here or in a worker."""
        if (found := getattr(report, "eqspec_result", None)) is not None:
            self._results.append(Result.from_json(found))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the reports, and the annotations unless another plugin does."""
        for path in self._paths:
            self._write(path, terminalreporter)
        manager = self._config.pluginmanager
        if os.environ.get("GITHUB_ACTIONS") == "true" and not manager.hasplugin(_OTHER_ANNOTATOR):
            for line in github.to_text(self._results).splitlines():
                terminalreporter.write_line(line)

    def _write(self, path: Path, terminalreporter: pytest.TerminalReporter) -> None:
        try:
            formats.write(self._results, path)
        except InputError as problem:
            terminalreporter.write_line(f"eqspec: {problem}", red=True)
        else:
            terminalreporter.write_line(f"eqspec: {len(self._results)} results in {path}")
