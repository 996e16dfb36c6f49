"""Endings of files are read as onnxruntime runs them, and the hunt through them finds what is read otherwise."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest
from onnx import TensorProto

from eqspec.compile import network_pairs
from eqspec.networks.readers import two_class_output
from hunt import ending_files, endings

SEEDS = range(48)


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_ending_is_read_wrongly(seed: int, tmp_path: Path) -> None:
    assert endings.judge(9 * 10**9 + seed, tmp_path)[1] is None


def test_cases_are_of_all_kinds() -> None:
    cases = [case for seed in range(400) if (case := endings.case_of(seed)) is not None]
    assert len(cases) > 250
    seen = Counter(kind for case in cases for file in case.files for kind in file.kinds)
    seen.update(case.claim.kind for case in cases)
    seen.update(f"{case.outputs} of {case.files[0].size}" for case in cases)
    wanted = ("Softmax", "LogSoftmax", "Sigmoid", "ArgMax", "TopK", "Cast", "Concat", "Transpose", "2 of 1", "top1")
    assert all(seen[what] >= 5 for what in (*wanted, "confidence", "margin", "distance", "linear")), seen


def test_a_reader_that_sees_through_casts_to_integers_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one did: a Sigmoid that is cast to integers was read as two classes, as if nothing were cast."""

    def cut_off(graph: ending_files.Graph, value: str) -> str:
        whole = graph.put("Cast", graph.put("Sigmoid", value), to=TensorProto.INT32)
        return graph.put("Cast", whole, to=TensorProto.FLOAT)

    turns = cycle(([cut_off], [lambda graph, value: graph.put("Sigmoid", value)]))
    monkeypatch.setattr(ending_files, "endings", lambda rng, length: next(turns))
    monkeypatch.setattr(endings, "alike", lambda rng: False)
    with monkeypatch.context() as planted:
        planted.setattr(network_pairs, "ends_in_sigmoid", lambda network: True)
        planted.setattr(two_class_output, "hands_on", lambda node: node.op_type in ("Cast", "Identity"))
        wrong = next(seed for seed in range(30, 100) if endings.judge(seed, tmp_path)[1] is not None)
    assert endings.judge(wrong, tmp_path)[1] is None
