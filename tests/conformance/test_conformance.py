"""A fixed slice of the graphs; that it sees every operator; that a reader which is wrong would be found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

from conformance.coverage import missing
from conformance.excuses import excuse_for_refusal
from conformance.generating import graph
from conformance.judging import judge
from conformance.operators import GENERATORS
from conformance.running import Catch, check
from conformance.shrinking import shrink
from conformance.spoiling import SPOILERS
from eqspec.audit.reading import graph as audited
from eqspec.networks import onnx_reader
from eqspec.networks.call import Call, Value

SLICE, SLICES = 150, 6
KEPT = sorted((Path(__file__).parent / "kept").glob("*.onnx"))


@pytest.fixture(scope="module")
def catch() -> Catch:
    """What all slices together saw."""
    return Catch()


def test_every_operator_has_a_generator() -> None:
    assert GENERATORS.keys() == onnx_reader.OPERATORS.keys()


@pytest.mark.parametrize("number", range(SLICES))
def test_graphs_are_read_as_others_read_them(number: int, catch: Catch) -> None:
    found = check(1, range(number * SLICE, (number + 1) * SLICE))
    catch.add(found)
    assert not found.wrong, [(at, words) for at, words, *_ in found.wrong]


def test_everything_was_exercised(catch: Catch) -> None:
    if catch.graphs < SLICE * SLICES:
        pytest.skip("only some of the slices ran")
    lacking = missing(catch.seen, catch.graphs)
    assert not [trait for trait in lacking if not trait.startswith("spoiled")]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_was_read_wrong_is_not_again(path: Path) -> None:
    spoiled = path.stem.rpartition("-")[0]
    judged = judge(onnx.load(path), None if spoiled == "whole" else spoiled)
    assert judged.complaint is None


@pytest.mark.parametrize("name", SPOILERS)
def test_spoiled_graphs_are_refused_by_both_readers(name: str) -> None:
    spoiled = 0
    for number in range(400):
        model, other, _ = graph(2, number)
        rng = np.random.default_rng(number)
        if other is not None or judge(model).traits[:1] != ["read"] or not SPOILERS[name](rng, model):
            continue
        spoiled += 1
        assert judge(model, name).complaint is None, number
        if spoiled == 3:
            return
    pytest.fail(f"only {spoiled} graphs could be spoiled")


def numbers_of(operator: str, count: int = 400) -> list[int]:
    return [n for n in range(count) if f"operator {operator}" in graph(1, n)[2]]


def test_a_reader_that_is_wrong_is_found_and_its_graph_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = onnx_reader.OPERATORS["Transpose"]

    def unmoved(call: Call) -> Sequence[Value]:
        return [call.value(0)] if len(call.node.attribute) else whole(call)

    monkeypatch.setitem(onnx_reader.OPERATORS, "Transpose", unmoved)
    for number in numbers_of("Transpose", 1500):
        model, spoiled, _ = graph(1, number)
        complaint = None if spoiled else judge(model).complaint
        if complaint and "disagrees" in complaint:
            small = shrink(model, complaint)
            assert len(small.graph.node) <= len(model.graph.node)
            assert "disagrees" in (judge(small).complaint or "")
            return
    pytest.fail("a Transpose that moves nothing was never noticed")


def test_an_auditor_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(audited.ELEMENTWISE, "Sub", np.add)
    complaints = [judge(model).complaint for n in numbers_of("Sub") for model, bad, _ in [graph(1, n)] if bad is None]
    assert any("the auditor reads" in words for words in complaints if words)


def test_a_reader_that_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError("somewhere")

    monkeypatch.setattr(onnx_reader, "read", crash)
    assert judge(graph(1, 0)[0]).complaint == "the reader fails: ZeroDivisionError: somewhere"


def test_a_refusal_for_no_listed_reason_is_found() -> None:
    assert excuse_for_refusal("it is Monday") is None
    assert excuse_for_refusal("a division by a value that depends on the input") is not None
