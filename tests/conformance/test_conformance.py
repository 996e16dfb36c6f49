"""A fixed slice of the graphs; that it sees every operator; that a reader which is wrong would be found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from conformance import oracles
from conformance.counting import COUNTING
from conformance.coverage import missing
from conformance.excuses import excuse_for_refusal
from conformance.generating import graph
from conformance.generators import GENERATORS
from conformance.judging import judge
from conformance.products import PRODUCTS
from conformance.running import Catch, check
from conformance.shrinking import shrink
from conformance.spoiling import SPOILERS, needed
from conformance.truth import TRUTH
from eqspec.audit.reading import program as audited
from eqspec.networks.operators import OPERATORS, QUANTISING
from eqspec.networks.operators.operator_call import OperatorCall, Value
from eqspec.networks.readers import onnx_reader

SLICE, SLICES = 80, 3
KEPT = sorted((Path(__file__).parent / "kept").glob("*.onnx"))


@pytest.fixture(scope="module")
def catch() -> Catch:
    """What all slices together saw."""
    return Catch()


def test_every_operator_has_a_generator() -> None:
    standard = {name for name in QUANTISING if "." not in name}
    assert GENERATORS.keys() == OPERATORS.keys() | standard | COUNTING.keys() | {"DynamicQuantizeLinear"}  # written out
    # The others are folded alone, as any operator on constants is; these have a generator for values, too.
    assert COUNTING.keys() & OPERATORS.keys() <= TRUTH.keys() | PRODUCTS.keys() | {"ArgMax", "ArgMin", "Mod", "TopK"}


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
        if spoiled == 2:
            return
    pytest.fail(f"only {spoiled} graphs could be spoiled")


def graphs_with(operator: str) -> Iterator[onnx.ModelProto]:
    """Graphs that are not spoiled and hold an operator."""
    for number in range(3000):
        model, spoiled, traits = graph(1, number)
        if spoiled is None and f"operator {operator}" in traits:
            yield model


def test_a_reader_that_is_wrong_is_found_and_its_graph_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = OPERATORS["Transpose"]

    def unmoved(call: OperatorCall) -> Sequence[Value]:
        return [call.value(0)] if len(call.node.attribute) else whole(call)

    monkeypatch.setitem(OPERATORS, "Transpose", unmoved)
    for model in graphs_with("Transpose"):
        complaint = judge(model).complaint
        if complaint and "disagrees" in complaint:
            small = shrink(model, complaint)
            assert len(small.graph.node) <= len(model.graph.node)
            assert "disagrees" in (judge(small).complaint or "")
            return
    pytest.fail("a Transpose that moves nothing was never noticed")


def test_an_auditor_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audited.Program, "negative", lambda self, operand: operand)
    assert any("the auditor reads" in (judge(model).complaint or "") for model in graphs_with("Sub"))


def test_a_reader_that_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError("somewhere")

    monkeypatch.setattr(onnx_reader, "read", crash)
    assert judge(graph(1, 0)[0]).complaint == "the reader fails: ZeroDivisionError: somewhere"


def test_a_refusal_for_no_listed_reason_is_found() -> None:
    assert excuse_for_refusal("it is Monday") is None
    assert excuse_for_refusal("a division by zero") is not None


def slices_of_an_empty_axis() -> onnx.ModelProto:
    """onnxruntime 1.32 ends the process on them with a failed assertion."""
    constants = {"s": [0], "z": [0], "a": [1], "e": [3], "p": [-1]}
    nodes = [
        helper.make_node("Slice", ["x", "s", "z", "a"], ["none"]),
        helper.make_node("Slice", ["none", "e", "s", "a", "p"], ["nothing"]),
        helper.make_node("Concat", ["x", "nothing"], ["y"], axis=1),
    ]
    tensors = [numpy_helper.from_array(np.array(numbers), name) for name, numbers in constants.items()]
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_an_oracle_that_dies_is_counted_and_asked_again() -> None:
    model, inputs = slices_of_an_empty_axis(), [np.ones((1, 3), np.float32)]
    died = oracles.by_onnxruntime(model, inputs)[0] is oracles.DIED  # which versions of it do
    judged = judge(model)
    assert judged.complaint is None
    assert ("onnxruntime ends its process" in judged.traits) == died
    process = oracles.the_process()
    assert process.running is not None or died
    if process.running is not None:
        process.running.kill()
        process.running.wait()
        assert oracles.by_onnxruntime(model, inputs)[0] is oracles.DIED
    del model.graph.node[:2], model.graph.node[0].input[1]
    (answer,) = oracles.by_onnxruntime(model, inputs)
    assert np.array_equal(np.asarray(answer), inputs[0])


def test_a_model_that_is_read_and_ends_onnxruntime_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model = next(model for model in graphs_with("Identity") if judge(model).traits[:1] == ["read"])
    monkeypatch.setattr(oracles, "by_onnxruntime", lambda model, inputs: [oracles.DIED] * len(inputs))
    assert judge(model).complaint == "onnxruntime ends its process at a model that is read"


def test_a_node_is_not_needed_for_an_input_that_is_left_out() -> None:
    """An output that is not asked for has the same name as an input that is left out: none."""
    trained = helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["unused", "m2", ""], name="bn")
    last = helper.make_node("Dropout", ["x", "", "t"], ["y"], name="last")
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    model = helper.make_model(helper.make_graph([trained, last], "g", [], [y]))
    assert [node.name for node in needed(model)] == ["last"]
