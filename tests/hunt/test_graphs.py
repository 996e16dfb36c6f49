"""Plans are what files say and the reader reads, partners are what they are said to be, and no verdict is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from eqspec.certificates import Auditor, Certifier
from eqspec.networks import read_network
from hunt import graphs
from hunt.graph_files import by_onnxruntime, write_graph
from hunt.graph_plans import Plan, changed, evaluate, folded, permuted, random_plan
from hunt.graphs import EXACTLY, case_of, judge, points
from hunt.smooth import TOLERANCE

SEEDS = range(60)


def some_points(plan: Plan, rng: np.random.Generator) -> list[list[Fraction]]:
    return [[Fraction(int(n), 16) for n in rng.integers(-48, 49, plan.inputs)] for _ in range(3)]


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
        exact = evaluate(plan, point)
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
        for point in some_points(plan, rng):
            assert evaluate(plan, point) == evaluate(partner, point), seed
        different += any(
            not np.array_equal(a.arrays[name], b.arrays[name])
            for a, b in zip(plan.blocks, partner.blocks, strict=True)
            for name in a.arrays
        )
    assert different > 3


def test_other_partners_mostly_are_another_function() -> None:
    kinds = {"rounded": 0, "pruned": 0, "moved": 0, "swapped": 0}
    for seed in range(120):
        rng = np.random.default_rng([seed, 5])
        plan = random_plan(rng)
        partner, kind = changed(plan, rng)
        if kind in EXACTLY:
            continue
        kinds[kind] += any(evaluate(plan, p) != evaluate(partner, p) for p in some_points(plan, rng))
    assert min(kinds.values()) > 5, kinds


def test_cases_hold_and_break() -> None:
    cases = [case_of(seed) for seed in range(60)]
    assert {case.holds for case in cases} == {True, False, None}
    for case in cases:
        assert all(len(p) == case.reference.inputs for p in points(np.random.default_rng(0), case.lower, case.upper))


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
    assert judge(case, 1, tmp_path, None, None).complaint == "proved although a point breaks it"
