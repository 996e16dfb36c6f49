"""Where results of a pytest run are kept, and which cluster its searches go to."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from eqspec.run.engine import ThisMachine
from small_specs import write_spec
from unit.pytest_plugin.running import outcome, run

pytest_plugins = ("pytester",)


@pytest.mark.parametrize(
    ("arguments", "setting", "folder"),
    [
        (("--eqspec-cache", "kept"), None, "kept"),
        ((), "below/kept", "below/kept"),
        (("--eqspec-cache", "kept"), "off", "kept"),
        ((), None, "usual"),
        ((), "off", None),
        (("--eqspec-no-cache",), "below/kept", None),
    ],
)
def test_results_are_kept_where_somebody_says(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    setting: str | None,
    folder: str | None,
) -> None:
    monkeypatch.setenv("EQSPEC_CACHE", str(pytester.path / "usual"))
    write_spec(pytester.path)
    if setting is not None:
        pytester.makeini(f"[pytest]\neqspec_cache = {setting}\n")
    for again in (False, True):
        outcome(run(pytester, *arguments, "--eqspec-report", "results.json"), passed=3)
        found = json.loads((pytester.path / "results.json").read_text())
        assert [result["cached"] for result in found] == [again and folder is not None] * 3
    kept = {str(path.parents[2].relative_to(pytester.path)) for path in pytester.path.rglob("*.result")}
    assert kept == ({folder} if folder else set())


@pytest.mark.parametrize("setting", [False, True])
def test_searches_go_to_the_cluster_that_is_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, setting: bool
) -> None:
    """One cluster for the whole run, which is left at its end."""
    # By its name among the loaded modules: pytester forgets what a run has loaded, while the package still has it as an
    # attribute, which `from eqspec.pytest_plugin import ...` would take.
    session_options = importlib.import_module("eqspec.pytest_plugin.session_options")
    events: list[str] = []

    class Engine(ThisMachine):
        def solve(self, *given: Any, **more: Any) -> Any:
            events.append("solve")
            return super().solve(*given, **more)

    @contextmanager
    def engine_on(where: str) -> Iterator[Engine]:
        events.append(where)
        yield Engine()
        events.append("left")

    monkeypatch.setattr(session_options, "engine_on", engine_on)
    write_spec(pytester.path)
    if setting:
        pytester.makeini("[pytest]\neqspec_cluster = tcp://head:8786\n")
    arguments = [] if setting else ["--eqspec-cluster", "tcp://head:8786"]
    outcome(run(pytester, "--eqspec-no-cache", *arguments), passed=3)
    assert events == ["tcp://head:8786", *["solve"] * events.count("solve"), "left"]
    assert "solve" in events


@pytest.fixture(scope="module")
def distributed() -> None:
    """Imported before `pytester` begins, which makes Python forget what it imports: no package is found after that."""
    pytest.importorskip("distributed")


@pytest.mark.usefixtures("distributed")
def test_a_cluster_that_is_not_there_is_refused_at_once(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    result = run(pytester, "--eqspec-cluster", "nowhere.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*there is no cluster 'nowhere.json'*"])


def test_a_cache_that_cannot_be_is_refused_at_once(pytester: pytest.Pytester) -> None:
    spec = write_spec(pytester.path)
    for arguments, words in (
        (("--eqspec-cache", spec.name), "cannot keep results in"),
        (("--eqspec-cache", "kept", "--eqspec-no-cache"), "contradict each other"),
    ):
        result = run(pytester, *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{words}*"])
