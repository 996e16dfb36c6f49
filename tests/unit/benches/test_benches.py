"""What the measurements compute from what they measure, on numbers whose answer is known; nothing is timed here."""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from eqspec.api import load
from eqspec.run.runner import Runner


@pytest.fixture(scope="module")
def benches(root: Path) -> Iterator[SimpleNamespace]:
    """The modules below benches, which are run from the repository's root and not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root)
        names = ("levers", "report", "measure", "families", "paper.softmax", "paper.tables", "paper.queries")
        modules = {name.split(".")[-1]: importlib.import_module(f"benches.{name}") for name in names}
        modules["networks"] = importlib.import_module("benches.paper.networks")
        modules["machine"] = importlib.import_module("benches.machine")
        modules["baselines"] = importlib.import_module("benches.baselines")
        yield SimpleNamespace(**modules)


@pytest.mark.parametrize("classes", [2, 3, 5, 10])
@pytest.mark.parametrize("delta", [0.5, 0.7, 0.9, 0.999])
def test_the_polytope_reaches_down_as_far_as_its_error_says(
    benches: SimpleNamespace, classes: int, delta: float
) -> None:
    lead = np.log(delta / (1 - delta))
    rng = np.random.default_rng(classes)
    behind = -lead - np.abs(rng.normal(size=(2000, classes - 1)) * rng.choice([0, 1e-3, 1], size=(2000, 1)))
    scores = np.column_stack([np.zeros(2000), behind])
    confidence = 1 / np.exp(scores).sum(axis=1)
    least = delta - benches.softmax.polytope(delta, classes)
    assert confidence.min() >= least - 1e-12
    assert confidence.min() == pytest.approx(least, abs=1e-12)


def test_two_classes_are_approximated_by_nobody(benches: SimpleNamespace) -> None:
    for delta in (0.5, 0.9, 0.999):
        assert benches.softmax.polytope(delta, 2) == pytest.approx(0, abs=1e-15)
    assert benches.softmax.sigmoid(2) == 0
    assert benches.softmax.sigmoid(5, 0.01) == pytest.approx(3 / 9 + 0.02)


def test_the_polytope_is_never_worse_than_the_sigmoid_and_as_bad_at_its_worst(benches: SimpleNamespace) -> None:
    deltas = np.linspace(0.5, 1, 5001)
    for classes in (3, 5, 10):
        worst = max(benches.softmax.polytope(delta, classes) for delta in deltas)
        assert worst == pytest.approx(benches.softmax.sigmoid(classes), abs=1e-6)
        assert worst <= benches.softmax.sigmoid(classes) + 1e-15


def test_our_own_error_is_the_rounding_of_the_threshold(benches: SimpleNamespace) -> None:
    for delta in (0.5, 0.6, 0.9, 0.999, 1 - 1e-7):
        assert 0 <= benches.softmax.ours(delta) < 1e-15


def made(**changes: Any) -> dict[str, Any]:
    run = {
        "name": "acas-0.05",
        "threads": 1,
        "boxes": 1000,
        "cpu": 0.05,
        "seconds": 0.1,
        "bytes": 2**28,
        "flops": 10**7,
        "asked": 10,
        "parts": {"propagation": 0.06, "contraction": 0.02, "queue": 0.02, "waiting": 7.0},
    }
    return run | changes


def test_parts_are_scaled_to_the_time_that_was_granted(benches: SimpleNamespace) -> None:
    report = benches.report
    # Busy for 0.1 s by the wall clock, 0.05 s of CPU: everything took half as long.
    assert report.part_cpu(made(), "propagation", "contraction") == pytest.approx(0.04)
    assert report.gigaflops(made()) == pytest.approx(1e7 / 0.04 / 1e9)
    # More CPU than the workers were busy: the rest is the calling thread's.
    assert report.part_cpu(made(cpu=5.0), "propagation") == pytest.approx(0.06)
    assert report.microseconds_a_box(made()) == pytest.approx(50)


def test_targets_are_met_or_not(benches: SimpleNamespace) -> None:
    (target, *_) = [t for t in benches.report.TARGETS if t.name == "acas-0.05" and t.threads == 1]
    assert target.met(target.value(made(), None))
    assert not target.met(target.value(made(cpu=0.065), None))
    (least, *_) = [t for t in benches.report.TARGETS if t.least]
    assert least.met(least.limit)
    assert not least.met(least.limit * 0.99)
    known = {m.name for m in benches.families._own()} | {m.name for m in benches.families._acceptance()}
    assert {t.name for t in benches.report.TARGETS} <= known


def test_speed_ups_are_of_queries_that_both_decided_alike(benches: SimpleNamespace) -> None:
    tables = benches.tables
    one = tables.Record("d", "s", "p", 0.1, False, 0.5, "top1", 1.0, None, "q", "naive", "equivalent", 3.0, 5)
    records = [one]
    for query, naive, ours, seconds, boxes in (
        ("faster", "equivalent", "equivalent", 0.5, 1),
        ("slower", "different", "different", 6.0, 10),
        ("lost", "unknown", "equivalent", 1.0, 1),
        ("open", "equivalent", "unknown", 1.0, 1),
    ):
        records.append(replace(one, query=query, verdict=naive))
        records.append(replace(one, query=query, verdict=ours, way="shared", seconds=seconds, boxes=boxes))
    gains = {gain.record.query: gain.factor for gain in tables.speed_ups(records, "shared")}
    assert gains == {"faster": 6.0, "slower": 0.5}
    (row,) = tables.gains(records, lambda r: (r.kind,), ("kind",))
    named = {"kind": "top1", "way": "shared", "common": 2}
    assert row == {**named, "median": 3.25, "maximum": 6.0, "median_boxes": 2.75, "maximum_boxes": 5.0}
    counted = {row["way"]: (row["queries"], row["decided"]) for row in tables.all_tables(records)["decided"]}
    assert counted == {"naive": (5, 4), "shared": (4, 3)}


def test_the_evaluation_asks_every_combination_about_a_pair(benches: SimpleNamespace, tmp_path: Path) -> None:
    networks, training = benches.networks, importlib.import_module("making.training")
    first = training.initialise((3, 4, 2), np.random.default_rng(1))
    for name in ("reference", "cut"):
        networks._write(tmp_path / f"{name}.npz", first)
    again = networks._read(tmp_path / "cut.npz")
    assert networks._difference(first, again) == 0
    pair = networks.Pair(
        "toy", (4,), 0.1, False, tmp_path / "reference.onnx", tmp_path / "cut.onnx", 0.0, features=3, classes=2
    )
    asked = benches.queries.asked(pair, tmp_path, "full")
    counts = {kind: sum(q.kind == kind for q in asked) for kind in ("epsilon", "top1", "confidence")}
    assert counts == {"epsilon": 4 * 3, "top1": 4, "confidence": 4 * 6}
    assert {q.threshold for q in asked if q.kind == "confidence"} >= {0.5, 1 - 1e-7}
    assert all(np.allclose(q.query.task.upper, q.sigma) for q in asked)
    # Equal networks are settled at once.
    assert all(Runner().run(q.query.task).verdict == "equivalent" for q in asked[::9])


def test_switches_reach_the_core(benches: SimpleNamespace, root: Path) -> None:
    (task,) = [t for t in load(root / "specs" / "lhc.eqspec").tasks if t.id == "confident[sigma=0.3]"]
    levers = benches.levers.Levers

    def run(*without: str) -> Any:
        return Runner(levers(threads=1, boxes=2, without=frozenset(without))).run(task)

    assert run().effort["contracted"] > 0
    plain = run("contract", "attack")
    assert plain.effort["contracted"] == 0
    with pytest.raises(ValueError, match="no switch attak"):
        levers(without=frozenset({"attak"}))


def test_outcomes_add_up(benches: SimpleNamespace) -> None:
    effort = {"seconds": {"rows": 0.5}, "flops": 2, "obligations": 3, "asked": 1, "contracted": 0, "depth": 9}
    outcome = {
        "verdict": "equivalent",
        "published": "different",
        "seconds": 1.5,
        "boxes": 4,
        "lps": 1,
        "stages": {"zonotope": 3},
        "effort": effort,
    }
    total = benches.measure.added([outcome, outcome | {"verdict": "unknown", "published": None}])
    assert (total["queries"], total["decided"], total["contradictions"]) == (2, 1, 1)
    assert (total["boxes"], total["flops"], total["parts"], total["stages"]) == (8, 4, {"rows": 1.0}, {"zonotope": 6})


def test_every_line_that_is_kept_can_be_compared(benches: SimpleNamespace) -> None:
    lines = benches.baselines.kept()
    assert len(lines) > 100
    seen = set()
    for line in lines:
        assert tuple(line) == benches.baselines.COLUMNS
        assert re.fullmatch(r"20\d\d(-\d\d-\d\d)?", line["date"]), line
        assert line["commit"], line
        assert line["machine"], line
        assert int(line["threads"]) >= 1
        numbers = [line[name] for name in ("queries", "decided", "boxes", "seconds", "cpu_seconds")]
        assert all(float(number) >= 0 for number in numbers if number), line
        assert sum(map(bool, numbers)) >= 2, line
        assert not line["decided"] or int(line["decided"]) <= int(line["queries"]), line
        key = tuple(line[name] for name in ("date", "commit", "family", "setting", "threads", "machine"))
        assert key not in seen, key
        seen.add(key)


def test_what_the_page_calls_today_is_a_line(benches: SimpleNamespace, root: Path) -> None:
    page = (root / "benches" / "BASELINES.md").read_text(encoding="utf-8")
    today = page.partition("## Today")[2].partition("The published tool")[0]
    rows = re.findall(r"^\| (\S+) \| (\d) \| (\d+) of (\d+) \| ([\d.]+) \| ([\d ]+) \|", today, flags=re.MULTILINE)
    assert len(rows) >= 4
    lines = benches.baselines.kept()
    for family, threads, decided, queries, seconds, boxes in rows:
        wanted = (family, threads, queries, decided, boxes.replace(" ", ""))
        names = ("family", "threads", "queries", "decided", "boxes")
        runs = [line for line in lines if tuple(line[name] for name in names) == wanted]
        assert all(line["setting"].partition(";")[0] == "default" for line in runs)
        assert any(float(line["seconds"]) == pytest.approx(float(seconds), abs=0.06) for line in runs)


def test_a_run_becomes_a_line(benches: SimpleNamespace, tmp_path: Path) -> None:
    run = {"name": "lhc", "threads": 2, "timeout": 20.0, "boxes_each": 0, "without": ["attack", "contract"]}
    run |= {"queries": 8, "decided": 7, "boxes": 40, "seconds": 1.234, "cpu": 2.5, "load": 9.0}
    machine = benches.machine.Machine("A processor, with a comma", 2, "3.11", {64: 1.0}, 9.0)
    line = benches.baselines.line(run, machine, "abc1234", "2030-01-02")
    assert line["setting"] == "without attack, contract; timeout 20 s"
    assert line["machine"] == "A processor, with a comma, 2 cores, busy"
    path = tmp_path / "kept.csv"
    path.write_text(",".join(benches.baselines.COLUMNS) + "\n", encoding="utf-8")
    benches.baselines.keep([run, run | {"threads": 1, "load": 1.0, "without": []}], machine, path)
    first, second = benches.baselines.kept(path)
    assert {name: first[name] for name in ("decided", "boxes", "seconds", "cpu_seconds")} == {
        "decided": "7",
        "boxes": "40",
        "seconds": "1.23",
        "cpu_seconds": "2.50",
    }
    assert first["jobs"] == "1"
    assert first["wall_seconds"] == ""
    assert second["machine"].endswith("idle")
    assert second["setting"] == "default; timeout 20 s"


def test_jobs_are_kept_and_those_of_earlier_lines_are_not_told(benches: SimpleNamespace, tmp_path: Path) -> None:
    run = {"name": "lhc", "threads": 1, "jobs": 2, "wall": 0.765, "timeout": 20.0, "boxes_each": 0, "without": []}
    run |= {"queries": 8, "decided": 7, "boxes": 40, "seconds": 1.234, "cpu": 1.3, "load": 3.0}
    machine = benches.machine.Machine("A processor", 2, "3.11", {64: 1.0}, 3.0)
    path = tmp_path / "kept.csv"
    earlier = '2030-01-01,abc,lhc,default,2,8,7,40,1.00,2.00,"A processor, 2 cores, idle"'
    path.write_text(",".join(benches.baselines.COLUMNS) + f"\n{earlier}\n", encoding="utf-8")
    benches.baselines.keep([run], machine, path)
    before, line = benches.baselines.kept(path)
    assert (before["jobs"], before["wall_seconds"]) == ("", "")
    assert (line["threads"], line["jobs"], line["seconds"], line["wall_seconds"]) == ("1", "2", "1.23", "0.77")
    assert line["machine"].endswith("idle")  # two of the three running processes are the run's own


def test_kernels_that_are_kept_are_numbers(root: Path) -> None:
    with (root / "benches" / "kernels.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["kind"] for line in lines} == {"product", "kernel", "lever"}
    assert all(float(line["value"]) > 0 for line in lines)
    assert all(bool(line["value_without"]) == (line["kind"] == "lever") for line in lines)
