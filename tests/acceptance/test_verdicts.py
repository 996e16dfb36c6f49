"""No verdict against a published one, on the parts of the published families that take seconds.

`families.py` runs them whole. Searches are limited by boxes, not by time, so that a slow machine decides as much as a
fast one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from acceptance import published
from acceptance.families import contradicts
from acceptance.published import Query
from breadth import some
from eqspec.networks import in_float32
from eqspec.property import Epsilon, exact
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

FEW_BOXES = 1000
"""ACAS queries for which the published tool took fewer are quick."""

pytestmark = pytest.mark.shared


def results(queries: Sequence[Query], options: Options) -> list[tuple[Query, Result]]:
    """Each query with its result; fails at the first contradiction."""
    runner = Runner(options)
    pairs = []
    for query in queries:
        result = runner.run(query.task)
        known = query.published.verdict if query.published else result.expected or "unknown"
        assert not contradicts(result.verdict.value, known), f"{query.name}: {result.verdict}, published {known}"
        pairs.append((query, result))
    return pairs


def decided(pairs: Sequence[tuple[Query, Result]]) -> int:
    """How many got a verdict."""
    return sum(result.verdict is not Verdict.UNKNOWN for _, result in pairs)


@pytest.mark.parametrize("eps", ["0.05", "0.5"])
def test_acas(shared: Path, eps: str) -> None:
    queries = [
        query
        for query in published.acas(shared)
        if f"eps={eps}]" in query.name and query.published and query.published.boxes < FEW_BOXES
    ]
    queries = some(queries, len(queries) // 2)
    assert {query.published.verdict for query in queries if query.published} >= {"equivalent", "different"}
    pairs = results(queries, Options(threads=2, boxes=5 * FEW_BOXES))
    assert decided(pairs) >= 0.95 * len(pairs)


def test_acas_as_published(shared: Path) -> None:
    """The published domain takes about the published number of boxes: the search is as faithful as the bounds."""
    queries = [
        query
        for query in published.acas(shared)
        if query.published and query.published.verdict == "equivalent" and 100 <= query.published.boxes < FEW_BOXES
    ]
    pairs = results(queries, Options(threads=1, domain="paper", boxes=5 * FEW_BOXES))
    assert decided(pairs) == len(pairs) >= 10
    ratios = [result.boxes / query.published.boxes for query, result in pairs if query.published]
    assert 0.5 < np.median(ratios) < 1.5


def test_lhc(shared: Path) -> None:
    pairs = results(published.lhc(shared), Options(threads=2, boxes=FEW_BOXES))
    assert decided(pairs) >= 7
    for query, result in pairs:
        assert result.expected is not None
        if result.verdict is not Verdict.UNKNOWN:
            assert result.verdict == result.expected, query.name


def test_mnist_witnesses_break_the_claim_in_another_runtime(shared: Path) -> None:
    """Nothing is published about single images; onnxruntime and float64 sums have to agree with `different`."""
    queries = [
        query
        for query in published.mnist(shared, "close", rows=len(some(range(6), 3)))
        if query.task.parameters["radius"] >= 5
    ]
    pairs = results(queries, Options(threads=2, boxes=1))
    different = [(query, result) for query, result in pairs if result.verdict is Verdict.DIFFERENT]
    assert different
    for query, result in different:
        assert result.witness is not None
        claim = query.task.property
        assert isinstance(claim, Epsilon)
        point = np.array([float(x) for x in result.witness.normalised])
        assert all(
            low <= x <= high
            for low, x, high in zip(
                query.task.lower_exact, result.witness.normalised, query.task.upper_exact, strict=True
            )
        )
        reference, candidate = (
            onnx_outputs(shared / "data" / "mnist" / name, point)
            for name in ("mnist_relu_3_100.onnx", "mnist_relu_3_100_pruned5.onnx")
        )
        assert np.abs(reference - candidate).max() > float(exact(claim.eps)) - 1e-4


def onnx_outputs(path: Path, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """A network's outputs at one point, in its own precision."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    shape = [size if isinstance(size, int) and size > 0 else 1 for size in given.shape]
    (outputs,) = session.run(None, {given.name: point.astype(np.float32).reshape(shape)})
    return np.asarray(outputs, np.float64).ravel()


def test_lhc_in_float32(shared: Path) -> None:
    """What every float32 runtime may round changes no verdict of the family's quick queries."""
    queries = [
        replace(
            query,
            task=replace(
                query.task, reference=in_float32(query.task.reference), candidate=in_float32(query.task.candidate)
            ),
        )
        for query in published.lhc(shared)
    ]
    pairs = results(queries, Options(threads=1, boxes=200))
    assert all(result.claim.endswith("in float32") for _, result in pairs)
    assert decided(pairs) == len(queries) == 8


def test_acas_in_float32(shared: Path) -> None:
    """Seven layers stretch the worst case of rounding beyond the limit; where neurons are inactive it ends there."""
    query = next(q for q in published.acas(shared) if "eps=0.05]" in q.name)
    rounded = replace(
        query.task, reference=in_float32(query.task.reference), candidate=in_float32(query.task.candidate)
    )
    result = Runner(Options(threads=1, boxes=4000)).run(rounded)
    assert result.verdict is Verdict.EQUIVALENT
