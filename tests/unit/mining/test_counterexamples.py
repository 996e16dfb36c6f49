"""Mined counterexamples: every one breaks its claim by exact arithmetic done here, and they are spread and grouped."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eqspec
from breadth import examples
from eqspec.cli import main
from eqspec.errors import InputError
from eqspec.mining.counterexamples import mine
from eqspec.mining.hits import Places
from eqspec.mining.page import lines
from eqspec.mining.selection import farthest_points, islands
from eqspec.property import Confidence, Epsilon, Margin, NeverWraps, Top1
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.observed import Observed
from eqspec.tasks.task import LinearConstraint, Task
from small_tasks import identity, network, space, task

F = Fraction
CLAIMS = [Epsilon("0.3"), Top1(), Margin("0.1")]


def scores(task: Task, x: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Both networks in exact arithmetic, by the definition of layers of ReLU."""
    answers = []
    for net in (task.reference, task.candidate):
        value = x
        for number, layer in enumerate(net.layers):
            rows = zip(np.asarray(layer.weight).tolist(), np.asarray(layer.bias).tolist(), strict=True)
            value = [sum((F(w) * v for w, v in zip(row, value, strict=True)), F(b)) for row, b in rows]
            if number < len(net.layers) - 1:
                value = [max(v, F(0)) for v in value]
        answers.append(value)
    return answers[0], answers[1]


def breaks(task: Task, x: list[Fraction]) -> bool:
    f, g = scores(task, x)
    match task.property:
        case Epsilon(eps):
            return max(abs(a - b) for a, b in zip(f, g, strict=True)) > F(eps)
        case Top1():
            return any(f[k] == max(f) and g[k] < max(g) for k in range(len(f)))
        case Margin(margin):
            rest = [max(f[:k] + f[k + 1 :]) for k in range(len(f))]
            return any(f[k] - rest[k] >= F(margin) and g[k] < max(g) for k in range(len(f)))
    raise AssertionError(task.property)


def inside(task: Task, x: list[Fraction]) -> bool:
    box = all(low <= v <= high for low, v, high in zip(task.lower_exact, x, task.upper_exact, strict=True))
    rows = all(sum(a * v for a, v in zip(c.coefficients, x, strict=True)) <= c.bound for c in task.constraints)
    grids = all(a is None or ((v - a.origin) / a.step).denominator == 1 for a, v in zip(task.lattices, x, strict=False))
    return box and rows and grids


def pair(seed: int, claim: Any, **fields: Any) -> Task:
    rng = np.random.default_rng(seed)
    sizes = [(6, 3), (3, 6)]
    layers = [(rng.normal(size=s), rng.normal(size=s[0])) for s in sizes]
    other = [(w + 0.2 * rng.normal(size=w.shape), b) for w, b in layers]
    return task(network(*layers), network(*other), claim, **fields)


@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 50), st.sampled_from(CLAIMS), st.sampled_from(["", "rows", "grid"]))
def test_every_one_breaks_the_claim_inside_the_region(seed: int, claim: Any, kind: str) -> None:
    regions: dict[str, dict[str, Any]] = {
        "": {},
        "rows": {"constraints": (LinearConstraint((F(1), F(2), F(-1)), F(1, 3)),)},
        "grid": {"lattices": (Lattice(F(0), F(1, 8)), None, Lattice(F(0), F(1, 4)))},
    }
    asked = pair(seed, claim, **regions[kind])
    found = mine([asked], 12)
    assert len(found) <= 12
    for x, f, g in zip(found.normalised.tolist(), found.reference, found.candidate, strict=True):
        point = [F(v) for v in x]
        assert inside(asked, point)
        assert breaks(asked, point)
        exact = scores(asked, point)
        np.testing.assert_allclose([f, g], np.array(exact, np.float64), rtol=1e-12, atol=1e-12)
    assert len({tuple(x) for x in found.normalised.tolist()}) == len(found)
    assert found.reference_label.tolist() == found.reference.argmax(axis=1).tolist()


def test_they_are_found_where_there_are_some_and_the_same_every_time() -> None:
    asked = pair(3, Top1())
    found = mine([asked], 40)
    assert len(found) == 40
    assert found.counts[0].unasked == 40  # networks in memory have no file that onnxruntime could run
    again, other = mine([asked], 40), mine([asked], 40, seed=2)
    assert np.array_equal(found.normalised, again.normalised)
    assert not np.array_equal(found.normalised, other.normalised)


def test_none_is_found_where_there_is_none() -> None:
    found = mine([task(identity(3), identity(3), Epsilon("0.1"))], 5)
    assert (len(found), found.raw.shape, found.counts[0].hits) == (0, (0, 3), 0)
    assert "proves nothing" in lines(found)[-1][1]


def test_outputs_decide_by_their_smallest_where_the_space_says_so() -> None:
    asked = pair(5, Top1(), space=space(3, 3, decide="min"))
    found = mine([asked], 10)
    assert found.reference_label.tolist() == found.reference.argmin(axis=1).tolist()
    for x in found.normalised.tolist():
        f, g = scores(asked, [F(v) for v in x])
        assert f.index(min(f)) not in [k for k, v in enumerate(g) if v == min(g)]


def test_the_nearest_row_of_a_table_is_told(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(-8, 9, (40, 3)) / 8
    seen = Observed(
        "t.csv", [(2 * i, tuple(map(F, row))) for i, row in enumerate(rows.tolist())], (F(0),) * 3, (F(1),) * 3
    )
    found = mine([pair(3, Top1(), observed=(seen,)), pair(3, Top1(), id="without")], 20)
    apart = np.abs(found.normalised[:10, None] - rows).max(axis=2)
    assert found.distance[:10] == pytest.approx(apart.min(axis=1))
    assert found.nearest_row.tolist() == [*(2 * apart.argmin(axis=1)).tolist(), *[-1] * 10]
    assert found.table.tolist() == ["t.csv"] * 10 + [""] * 10
    assert np.isnan(found.distance[10:]).all()
    said = [line for _, line in lines(found) if "nearest" in line]
    assert said == [f"the nearest row of t.csv is {np.median(apart.min(axis=1)):.3g} away in the median"]
    found.save(tmp_path / "cx.csv")
    header, first, *_ = csv.reader((tmp_path / "cx.csv").read_text().splitlines())
    assert header[-4:] == ["table", "nearest_row", "distance", "task"]
    assert float(first[-2]) == found.distance[0]


def test_tasks_share_what_is_wanted_and_what_one_lacks_others_give() -> None:
    none, some = task(identity(3), identity(3), id="none"), pair(3, Top1(), id="some")
    found = mine([none, some], 30)
    assert [counts.kept for counts in found.counts] == [0, 30]
    assert set(found.task.tolist()) == {1}
    said = [line for _, line in lines(found)]
    assert said[0].startswith("some: 30 counterexamples")
    assert any(line.startswith("none: none, of ") for line in said)
    assert [counts.kept for counts in mine([some, some], 31).counts] == [16, 15]


@pytest.mark.parametrize(
    ("tasks", "wanted", "words"),
    [
        ([], 5, "nothing to find"),
        ([pair(0, Top1())], 0, "at least one"),
        ([pair(0, Top1()), task(identity(2), identity(2))], 5, "different inputs or outputs"),
        ([pair(0, NeverWraps())], 5, "types of numbers"),
    ],
)
def test_what_cannot_be_asked(tasks: list[Task], wanted: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        mine(tasks, wanted)


def test_time_ends_it_with_what_there_is() -> None:
    calls = iter(range(10**9))
    found = mine([pair(3, Top1())], 500, stop=lambda: next(calls) > 150)
    assert found.ended == "timeout"
    assert 0 < len(found) < 500


def test_tasks_share_the_time_and_what_is_found_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock takes a second, so searches end early and there is time left to replay."""
    clock = iter(range(10**9))
    monkeypatch.setattr("eqspec.mining.counterexamples.perf_counter", lambda: float(next(clock)))
    found = mine([pair(3, Top1(), id=name) for name in ("first", "second", "third")], 60, seconds=120.0)
    assert found.ended == "timeout"
    assert [counts.task for counts in found.counts] == ["first", "second", "third"]
    assert all(counts.kept for counts in found.counts)


class TestFiles:
    def test_arrays_and_tables_say_the_same(self, root: Path, tmp_path: Path) -> None:
        found = eqspec.counterexamples(root / "specs" / "lhc.eqspec", "everywhere", 20)
        assert len(found) == 20
        assert found.confirmed.all()
        found.save(tmp_path / "cx.npz")
        found.save(tmp_path / "cx.csv")
        with np.load(tmp_path / "cx.npz") as arrays:  # no pickles
            assert np.array_equal(arrays["raw"], found.raw)
            assert arrays["outputs"].tolist() == ["g", "q", "w", "z", "t"]
            assert arrays["tasks"][arrays["task"]].tolist() == ["everywhere"] * 20
        with (tmp_path / "cx.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header[14] == "mass [GeV]"
        assert np.array_equal(np.array([row[:16] for row in rows], float), found.raw)
        column = header.index("reference_label")
        assert [row[column] for row in rows] == [found.space.outputs[i] for i in found.reference_label]
        for name, wanted in (("reference", found.reference_label), ("pruned", found.candidate_label)):
            session = onnxruntime.InferenceSession(str(root / "specs" / "lhc" / f"{name}.onnx"))
            (answer,) = session.run(None, {session.get_inputs()[0].name: found.normalised.astype(np.float32)})
            assert answer.argmax(axis=1).tolist() == wanted.tolist()

    def test_another_ending_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"\.npz or \.csv"):
            mine([pair(3, Top1())], 1).save(tmp_path / "cx.parquet")


def test_a_confidence_is_reached_where_it_is_asked_for() -> None:
    found = mine([pair(3, Confidence("0.6"))], 10)
    powers = np.exp(found.reference)
    assert len(found)
    assert (powers.max(axis=1) / powers.sum(axis=1) >= 0.6).all()
    assert (found.reference_label != found.candidate_label).all()


@given(st.integers(2, 40), st.integers(1, 12), st.integers(0, 9))
def test_farthest_points_are_far(size: int, count: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(-20, 20, (size, 3)).astype(float)
    chosen = farthest_points(points, 0, count).tolist()
    for i in range(1, len(chosen)):
        apart = np.abs(points[:, None] - points[chosen[:i]][None]).max(axis=2).min(axis=1)
        assert apart[chosen[i]] == apart.max() > 0.0
    distinct = len(np.unique(points, axis=0))
    assert len(chosen) == min(count, distinct)


def test_islands_are_what_segments_join() -> None:
    """Two discs apart, and between them nothing breaks."""
    rng = np.random.default_rng(0)
    away = np.array([2.0, 0.0])
    left, right = rng.uniform(-0.5, 0.5, (30, 2)) - away, rng.uniform(-0.5, 0.5, (10, 2)) + away
    found = islands(np.vstack([right, left]), lambda x: np.abs(x[:, 0]) > 1.0)
    assert set(found[:10].tolist()) == {1}
    assert set(found[10:].tolist()) == {0}
    assert islands(np.zeros((0, 2)), lambda x: np.ones(len(x), bool)).tolist() == []


def test_places_lie_in_the_box_and_on_its_grids() -> None:
    asked = pair(0, Top1(), lattices=(Lattice(F(0), F(1, 8)), None, None))
    drawn = Places(asked).drawn(np.random.default_rng(0), 200)
    assert (np.abs(drawn) <= 1.0).all()
    assert (drawn[:, 0] * 8 % 1 == 0).all()
    assert len(np.unique(drawn[:, 1])) == 200


class TestCommand:
    def test_what_is_found_is_written_and_said(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec, file = str(root / "specs" / "tiny" / "tiny.eqspec"), tmp_path / "cx.npz"
        assert main(["counterexamples", spec, "raised_same", "-n", "7", "-o", str(file)]) == 0
        said = capsys.readouterr()
        assert "raised_same: 7 counterexamples, of" in said.out
        assert "examples, not a census" in said.out
        assert "7 inputs" in said.err
        with np.load(file) as arrays:
            assert len(arrays["raw"]) == 7

    def test_none_is_no_success_and_writes_nothing(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec, file = str(root / "specs" / "tiny" / "tiny.eqspec"), tmp_path / "cx.csv"
        assert main(["counterexamples", spec, "wider_same", "-n", "7", "-o", str(file)]) == 1
        assert "proves nothing" in capsys.readouterr().out
        assert not file.exists()

    @pytest.mark.parametrize(
        "words", [["nothing"], ["-o", "cx.txt"], ["-o", "none/cx.csv"], ["--seed", "-1"], ["-n", "0"]]
    )
    def test_what_makes_no_sense_is_refused(self, root: Path, words: list[str]) -> None:
        assert main(["counterexamples", str(root / "specs" / "tiny" / "tiny.eqspec"), *words]) == 2
