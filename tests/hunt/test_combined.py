"""What specs can say together: a slice of the hunt is never wrong, sees what it has to, and finds what is planted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqspec.api.cache_choice import open_cache
from eqspec.certificates import Certifier, task_binding
from eqspec.compile import boxes, network_pairs
from eqspec.networks import Network, compose_affine
from eqspec.run import by_cells, runner
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.task import Task
from hunt import combined
from hunt.auditor_here import AuditorHere
from hunt.combined_case import case_of

FIRST = 11 * 10**9


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 400))
def test_no_spec_is_answered_wrongly(seed: int, tmp_path: Path) -> None:
    assert combined.judge(seed, tmp_path)[1] == []


@pytest.mark.part(16)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 160))
def test_no_certificate_or_kept_result_answers_another_spec(seed: int, tmp_path: Path) -> None:
    with Certifier(tmp_path, AuditorHere()) as certifier:
        assert combined.judge(seed, tmp_path, certifier, open_cache(tmp_path / "kept", resume=True))[1] == []


@pytest.mark.part(40)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + 400))
def test_no_call_is_answered_wrongly(seed: int, tmp_path: Path) -> None:
    assert combined.judge_call(seed, tmp_path)[1] == []


def test_cases_are_of_all_kinds() -> None:
    seen = Counter[str]()
    for case in map(case_of, range(1200)):
        nets = (case.f, case.g)
        seen.update(term.kind for term in case.region.terms)
        seen.update([case.claim.kind, case.arithmetic, case.space.normaliser])
        seen.update(net.ending for net in nets)
        seen.update(kind for net in nets for kind in net.kinds)
        for name, there in (
            ("raw", any(net.raw for net in nets)),
            ("several inputs", any(len(net.tensors) > 1 for net in nets)),
            ("rounded", any(net.middle for net in nets)),
            ("dequantised", any(net.ends for net in nets)),
            ("fixed point", case.g.type is not None),
            ("find", case.find is not None),
            ("sweep", bool(case.sweep)),
            ("formal", case.region.formal),
            ("probabilities", any(net.gives == "probabilities" for net in nets)),
        ):
            seen[name] += there
    wanted = (
        *(
            "box",
            "ball",
            "grid",
            "where",
            "distance",
            "linear",
            "equal",
            "top1",
            "confidence",
            "margin",
            "wraps",
            "float32",
        ),
        *("none", "zscore", "minmax", "plain", "beside", "hidden", "softmax", "sigmoid", "levels", "int8", "int64"),
        *("raw", "several inputs", "rounded", "dequantised", "fixed point", "find", "sweep", "formal", "probabilities"),
    )
    assert all(seen[what] >= 8 for what in wanted), seen


def _found(seeds: Sequence[int], folder: Path, *, certify: bool = False, cached: bool = False) -> bool:
    """Whether the hunt finds anything wrong."""
    with Certifier(folder, AuditorHere()) as certifier:
        kept = open_cache(folder / "kept", resume=True) if cached else None
        return any(combined.judge(seed, folder, certifier if certify else None, kept)[1] for seed in seeds)


def test_a_normalisation_without_its_mean_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(network: Network, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> Network:
        return compose_affine(network, scale, [Fraction(0)] * len(shift))

    monkeypatch.setattr(network_pairs, "compose_affine", scaled)
    assert _found(range(FIRST, FIRST + 60), tmp_path)


def test_a_grid_that_begins_at_the_mean_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "Lattice", lambda _, step: Lattice(Fraction(0), step))
    assert _found(range(FIRST, FIRST + 60), tmp_path)


def test_a_certificate_for_either_kind_of_inputs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(asked: Mapping[str, Any] | str) -> str | None:
        if isinstance(asked, str):
            return None
        networks = {role: asked[role]["sha256"] for role in ("reference", "candidate")}
        return json.dumps({**asked, **networks}, sort_keys=True)

    monkeypatch.setattr(task_binding, "_key", careless)
    assert _found(range(FIRST, FIRST + 60), tmp_path, certify=True)


def test_results_that_are_kept_without_their_region_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def key(task: Task, _: bytes) -> str:
        return hashlib.sha256(f"{task.property} {task.reference.sha256} {task.candidate.sha256}".encode()).hexdigest()

    monkeypatch.setattr(runner, "key_of", key)
    assert _found(range(FIRST, FIRST + 60), tmp_path, cached=True)


def test_constraints_that_are_asked_at_one_point_of_a_cell_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were: a guard that other points of the cell meet was called met nowhere."""
    seeds = [FIRST + 4465]
    assert not _found(seeds, tmp_path)
    monkeypatch.setattr(by_cells, "_MOST_APART", 0)  # points of one value are one cell
    monkeypatch.setattr(by_cells, "_single", lambda _, cells: np.ones(len(cells.numbers), bool))
    assert _found(seeds, tmp_path)
