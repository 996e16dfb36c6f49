"""The pytest plugin: every task of every `*.eqspec` file that pytest meets is a test.

This module is imported at the start of every pytest run where eqspec is installed, so it imports nothing heavy; what
runs specs is in `claims`, imported when the first spec is met.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from eqspec.pytest_plugin.claims import SpecFile

UNKNOWN = ("fail", "xfail", "skip")
"""What may become of a test whose claim stays undecided."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options `--eqspec-...` and their settings in the configuration file."""
    group = parser.getgroup("eqspec", "eqspec: proofs of network equivalence")
    group.addoption(
        "--eqspec-timeout", metavar="S", help="seconds for each task, instead of what its spec says (none: no limit)"
    )
    group.addoption("--eqspec-threads", metavar="N", help="threads for each task (default: a fair share of the cores)")
    group.addoption(
        "--eqspec-unknown",
        choices=UNKNOWN,
        help="what becomes of a test whose claim stays undecided (default: fail)",
    )
    group.addoption(
        "--eqspec-param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="give a 'param' of the specs a value; repeatable",
    )
    group.addoption(
        "--eqspec-report",
        action="append",
        default=[],
        metavar="FILE",
        help="write all results; the ending says how: .html, .json, .jsonl, .xml (JUnit), .sarif, .txt; repeatable",
    )
    group.addoption(
        "--eqspec-cache", metavar="DIR", help="where results are kept (default: where eqspec check keeps them)"
    )
    group.addoption("--eqspec-no-cache", action="store_true", help="keep no results, and use none")
    group.addoption(
        "--eqspec-cluster",
        metavar="WHERE",
        help="search on a Dask cluster: the address of its scheduler, the file it wrote, or 'local'",
    )
    parser.addini("eqspec_files", "file names that are specs", type="args", default=["*.eqspec"])
    parser.addini("eqspec_timeout", "seconds for each task, instead of what its spec says")
    parser.addini("eqspec_threads", "threads for each task")
    parser.addini("eqspec_cache", "where results are kept, from the folder of this file; off: nowhere")
    parser.addini("eqspec_cluster", "the Dask cluster on which claims are decided, as --eqspec-cluster names it")
    parser.addini("eqspec_unknown", f"what becomes of a test whose claim stays undecided: {', '.join(UNKNOWN)}")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that every test from a spec bears; refuse settings that make no sense."""
    config.addinivalue_line("markers", "eqspec: a claim of an .eqspec file (added by itself, for -m)")
    settings = ("eqspec_timeout", "eqspec_threads", "eqspec_unknown", "eqspec_cache", "eqspec_cluster")
    given = [config.getoption(name) for name in (*settings, "eqspec_param", "eqspec_no_cache")]
    if any(given) or any(config.getini(name) for name in settings):
        from eqspec.pytest_plugin.claims import settings_of

        settings_of(config)
    annotated = os.environ.get("GITHUB_ACTIONS") == "true"
    if (annotated or config.getoption("eqspec_report")) and not hasattr(config, "workerinput"):
        from eqspec.pytest_plugin.reporting import Results

        config.pluginmanager.register(Results(config), "eqspec-results")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the result of a claim along with the report of its test."""
    report = yield
    if call.when == "call" and (found := getattr(item, "eqspec_result", None)) is not None:
        report.eqspec_result = found  # type: ignore[attr-defined]
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    """A spec file, if the name is that of one."""
    if not any(file_path.match(pattern) for pattern in parent.config.getini("eqspec_files")):
        return None
    from eqspec.pytest_plugin.claims import SpecFile

    return SpecFile.from_parent(parent, path=file_path)
