"""Plans are what files say and the reader reads, partners are what they are said to be, and no verdict is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.certificates import Auditor, Certifier
from eqspec.networks import read_network
from eqspec.tasks.verdict import Verdict
from hunt import graphs
from hunt.graph_definitions import by_definition
from hunt.graph_files import by_onnxruntime, write_graph
from hunt.graph_plans import Block, Plan, changed, folded, permuted, random_plan
from hunt.graph_values import Values, evaluate
from hunt.graphs import EXACTLY, blocks, case_of, judge, points
from hunt.kept_counts import KeptCounts
from hunt.smooth import TOLERANCE

SEEDS = range(60)


def some_points(plan: Plan, rng: np.random.Generator) -> list[list[Fraction]]:
    return [[Fraction(int(n), 16) for n in rng.integers(-48, 49, plan.inputs)] for _ in range(3)]


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(120))
def test_values_of_all_points_at_once_are_those_by_definition(seed: int) -> None:
    """Also of points whose denominators are no powers of two, and so large that no int64 holds what comes of them."""
    rng = np.random.default_rng([seed, 6])
    plan, _ = changed(random_plan(rng), rng)
    denominator = [16, 30, 10**20 + 39][seed % 3]
    given = [[int(n) * (denominator // 16) for n in rng.integers(-48, 49, plan.inputs)] for _ in range(3)]
    several = [[Fraction(n, denominator) for n in point] for point in given]
    assert evaluate(plan, Values.of(several)).fractions() == [by_definition(plan, point) for point in several]


def test_integers_turn_into_larger_ones_before_they_wrap() -> None:
    """Through ten layers of large weights, of which each result alone would still be an int64."""
    plan = random_plan(np.random.default_rng(8))
    weight = np.full((plan.inputs, plan.inputs), 2.0**11)
    blocks = [Block("dense", (n,), (plan.inputs,), {"weight": weight, "bias": weight[0]}) for n in range(10)]
    deep, point = Plan((plan.inputs,), tuple(blocks)), [Fraction(3, 7)] * plan.inputs
    assert evaluate(deep, Values.of([point])).fractions() == [by_definition(deep, point)]


@pytest.mark.part(25)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_file_is_read_as_its_plan(seed: int, tmp_path: Path) -> None:
    """Bit for bit, in whatever style it is written; onnxruntime agrees but for its rounding."""
    rng = np.random.default_rng([seed, 3])
    plan, path = random_plan(rng), tmp_path / "f.onnx"
    write_graph(path, plan, rng)
    network, several = read_network(path), some_points(plan, rng)
    arrays = [np.array([float(x) for x in point]).reshape(1, *plan.shape) for point in several]
    for point, other in zip(several, by_onnxruntime(path, arrays), strict=True):
        exact = by_definition(plan, point)
        for value, (low, high) in zip(exact, network.evaluate_exact(point), strict=True):
            room = 0 if plan.exact else TOLERANCE
            assert low - room <= value <= high + room
            assert high - low <= (abs(value) + room) / 2**30
        scale = 1 + max(abs(float(v)) for v in exact)
        assert np.allclose([float(v) for v in exact], other.ravel(), rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("make", [lambda plan, _: folded(plan), permuted], ids=["folded", "permuted"])
def test_partners_that_are_the_same_function_are(make: object) -> None:
    different = 0
    for seed in range(80):
        rng = np.random.default_rng([seed, 4])
        plan = random_plan(rng)
        partner: Plan = make(plan, rng)  # type: ignore[operator]
        several = Values.of(some_points(plan, rng))
        assert evaluate(plan, several).largest_difference(evaluate(partner, several)) == 0, seed
        different += any(
            not np.array_equal(a.arrays[name], b.arrays[name])
            for a, b in zip(plan.blocks, partner.blocks, strict=True)
            for name in a.arrays
        )
    assert different > 3


def test_other_partners_mostly_are_another_function() -> None:
    kinds = {"rounded": 0, "pruned": 0, "moved": 0, "swapped": 0, "another": 0}
    for seed in range(120):
        rng = np.random.default_rng([seed, 5])
        plan = random_plan(rng)
        partner, kind = changed(plan, rng)
        if kind in EXACTLY:
            continue
        several = Values.of(some_points(plan, rng))
        kinds[kind] += evaluate(plan, several).largest_difference(evaluate(partner, several)) > 0
    assert min(kinds.values()) > 5, kinds


def test_cases_hold_and_break() -> None:
    cases = [case_of(seed) for seed in range(60)]
    assert {case.holds for case in cases} == {True, False, None}
    for case in cases:
        some = points(np.random.default_rng(0), case.lower, case.upper).fractions()
        assert all(a <= x <= b for p in some for a, x, b in zip(case.lower, p, case.upper, strict=True))
        assert [*case.lower] in some
        assert [*case.upper] in some
        assert len({*map(tuple, some)}) >= 4


@pytest.fixture(scope="module")
def auditing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Certifier, Auditor]]:
    with Certifier(tmp_path_factory.mktemp("certificates")) as certifier, Auditor() as auditor:
        yield certifier, auditor


@pytest.mark.part(10)
@pytest.mark.parametrize("seed", range(24))
def test_no_verdict_about_graphs_is_wrong(seed: int, tmp_path: Path, auditing: tuple[Certifier, Auditor]) -> None:
    case = case_of(seed)
    found = judge(case, seed, tmp_path, *auditing)
    assert found.complaint is None
    uncertified = [trait for trait in found.traits if trait.startswith("no certificate")]
    # The auditor does not read the Gelu of onnxruntime, and of quantisers some proofs that rest on one side of a jump.
    kinds = {block.kind for plan in (case.reference, case.candidate) for block in plan.blocks}
    assert not uncertified or kinds & {"levels", "gelu"}


def test_a_wrong_verdict_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both files are the same network, what a point breaks comes out as proved."""
    case = next(case for case in map(case_of, range(60)) if case.holds is False)
    monkeypatch.setattr(graphs, "write_graph", lambda path, _, rng: write_graph(path, case.reference, rng))
    assert judge(case, 1, tmp_path, None, None).complaint == "g is read as another function than its plan"
    monkeypatch.setattr(graphs, "misread", lambda *_: False)
    assert judge(case, 1, tmp_path, None, None).complaint == "proved although a point breaks it"


@pytest.mark.whole
def test_blocks_by_several_processes_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "BLOCK", 3)
    counted = [sum((seen for *_, seen, _ in blocks(5, 0, 8, False, jobs)), Counter[str]()) for jobs in (1, 2)]
    assert counted[0] == counted[1]
    assert sum(counted[0][verdict.value] for verdict in Verdict) == 8


def test_a_hunt_goes_on_behind_what_is_kept_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs of one seed are one longer run; another seed is counted beside it, other ways of hunting are not."""
    path = tmp_path / "kept.json"
    for seed, cases in ((5, 2), (6, 1), (5, 2)):
        assert graphs.main(["--seed", str(seed), "--cases", str(cases), "--keep", str(path)]) == 0
    assert capsys.readouterr().out.endswith("\n5 cases in all hunts that are kept of this kind, 0 wrong\n")
    ((_, _, whole, _),) = blocks(5, 0, 4, False, 1)
    again = KeptCounts.of(path, 5, False)
    assert (again.done, again.seen) == (4, whole)
    assert KeptCounts.of(path, 5, True).total() == 0


def test_blocks_count_once_none_before_them_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    kept = KeptCounts.of(path, 1, True)
    kept.add(50, 50, Counter(audited=40))
    assert not path.exists()
    kept.add(0, 50, Counter(audited=41, wrong=1))
    again = KeptCounts.of(path, 1, True)
    assert (again.done, again.seen) == (100, Counter(audited=81, wrong=1))
    assert (again.total(), again.total("wrong")) == (100, 1)
