"""Where a search went, in words: every count and every name that the core reports appears."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import eqspec
from eqspec.api import load
from eqspec.cli import main
from eqspec.report.explain_search import PARTS, STAGES, explain_search
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from small_specs import write_spec


def text(results: list[Result], tasks: list[Task], width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(explain_search(results, {task.id: task for task in tasks}))
    return " ".join(console.export_text().split())


@pytest.fixture
def task(root: Path) -> Task:
    spec = load(root / "specs" / "lhc.eqspec")
    (found,) = [task for task in spec.tasks if task.id == "confident[sigma=0.3]"]
    assert isinstance(found, Task)
    return found


def test_every_stage_and_part_of_the_core_has_words(task: Task) -> None:
    result = Runner(Options(threads=1, boxes=1)).run(task)
    assert set(result.stages) == set(STAGES)
    assert set(result.effort["seconds"]) == set(PARTS)


def test_what_stays_open_is_named(task: Task) -> None:
    result = Runner(Options(threads=1, boxes=3, domain="paper", lp=False)).run(task)
    assert result.verdict == "unknown"
    assert result.worst_open is not None
    shown = text([result], [task])
    assert "3 boxes" in shown
    assert "the claim may break by at most" in shown
    assert f"{result.worst_open['bound']:.6g}" in shown
    assert "mass in" in shown
    assert " GeV" in shown
    # Raw units: the box lies in the region, whose centre is the mean of the feature.
    low, high = (float(end) for end in shown.split("mass in ")[1].split(" GeV")[0].split(" .. "))
    assert low < high
    i = task.space.features.index("mass")
    corners = (task.lower_exact[i], task.upper_exact[i])
    raw = [float(task.space.centre[i] + task.space.scale[i] * end) for end in corners]
    assert raw[0] - 1e-3 <= low < high <= raw[1] + 1e-3


def test_unknown_bounds_and_tasks_are_said_to_be_so(task: Task) -> None:
    result = Runner(Options(threads=1, boxes=3, domain="paper", lp=False)).run(task)
    assert result.worst_open is not None
    for unknown in (float("inf"), None):
        open_end = replace(result, worst_open={**result.worst_open, "bound": unknown})
        assert "no bound is known yet" in text([open_end], [])
    assert "no search of its own" in text([replace(result, effort={})], [])


def test_nothing_is_open_behind_a_proof(task: Task) -> None:
    result = Runner(Options(threads=1)).run(task)
    assert result.verdict == "equivalent"
    assert result.worst_open is None
    shown = text([result], [task])
    assert "open," not in shown
    assert "contradiction after assuming a violation" in shown


def test_the_command_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_spec(tmp_path, "check good { prove pruned stays within 0.3 of full  on near(1) }\n")
    assert main(["check", str(path)]) == 0
    assert "taken apart" not in capsys.readouterr().out
    assert main(["check", str(path), "--explain-search"]) == 0
    shown = capsys.readouterr().out
    assert "taken apart" in shown
    assert eqspec.check(path)[0].boxes == 1
    assert "1 box, " in shown
