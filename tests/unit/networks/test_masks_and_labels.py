"""Masks of minus infinity elsewhere, models that end in labels, values inside of a graph, and words of refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.networks.float32 import in_float32
from eqspec.networks.readers import onnx_reader
from eqspec.networks.session import Session
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.function_cases import numbers, weights
from unit.networks.models import model, node, save

LOW = np.array(-np.inf, np.float32)


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([node("Add", ["x", "m"], "y")], {"m": LOW}),
        ([node("Mul", ["x", "m"], "y")], {"m": LOW}),
        ([node("Add", ["x", "m"], "a"), node("Relu", ["a"], "y")], {"m": LOW}),
        ([node("Add", ["x", "m"], "a"), node("LogSoftmax", ["a"], "y")], {"m": np.array([0, LOW, 0], np.float32)}),
        ([node("Add", ["x", "m"], "a"), node("Softmax", ["a"], "y")], {"m": LOW}),
        ([node("MatMul", ["x", "m"], "y")], {"m": np.full((3, 2), LOW)}),
        ([node("Max", ["x", "m"], "y")], {"m": LOW}),
        ([node("Clip", ["x", "", "m"], "y")], {"m": LOW}),
        ([node("Concat", ["x", "m"], "a", axis=1), node("Softmax", ["a"], "y")], {"m": LOW.reshape(1, 1)}),
    ],
)
def test_minus_infinity_is_refused_where_it_is_no_mask(
    nodes: list[NodeProto], constants: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(NetworkError, match="minus infinity"):
        read_network(save(tmp_path, model(nodes, constants, (1, 3))))


def test_other_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    for number in (np.nan, np.inf):
        proto = model([node("Add", ["x", "m"], "y")], {"m": np.array([LOW, number, 0], np.float32)}, (1, 3))
        with pytest.raises(NetworkError, match="not finite"):
            read_network(save(tmp_path, proto))


@pytest.mark.part(3)
@pytest.mark.parametrize("low", [-1e4, -1e9, float(np.finfo(np.float32).min)])
@pytest.mark.parametrize("chosen", [False, True])
def test_finite_masks_hide_as_well_as_infinite_ones(low: float, chosen: bool, tmp_path: Path) -> None:
    """As transformers' exporters write them, added or chosen, here with every pattern of hidden scores of four."""
    shown = np.array([[bin(n)[2:].zfill(4)[i] == "1" for i in range(4)] for n in range(1, 16)])
    mask = {"m": np.where(shown, 0.0, low).astype(np.float32)}
    hiding = [node("Add", ["s", "m"], "h")]
    if chosen:
        mask = {"shown": shown, "m": np.array(low, np.float32)}
        hiding = [node("Where", ["shown", "s", "m"], "h")]
    nodes = [node("MatMul", ["w", "x"], "s"), *hiding, node("Softmax", ["h"], "p", axis=-1)]
    nodes.append(node("MatMul", ["p", "v"], "y"))
    paths = []
    for name, change in (("a", 0.0), ("b", 1e-3)):
        constants = {"w": weights(15, 3), "v": weights(4, 2) + np.float32(change), **mask}
        paths.append(save(tmp_path, model(nodes, constants, (1, 3, 4)), f"{name}.onnx"))
    (a, b), lower, upper = paths, [-0.1] * 12, [0.1] * 12
    assert eqspec.verify(a, b, lower, upper, Epsilon("1.1e-3"), timeout=20).verdict is Verdict.EQUIVALENT
    assert eqspec.verify(a, b, lower, upper, Epsilon("9e-4"), timeout=20).verdict is Verdict.DIFFERENT


def labelled(kind: str, behind: list[NodeProto], place: int = 0, **attributes: Any) -> onnx.ModelProto:
    """Scores of a layer, the place of the largest, and what follows it."""
    outputs = ["values", "label"] if place else ["label"]
    inputs = ["scores", "k"] if kind == "TopK" else ["scores"]
    nodes = [
        node("Gemm", ["x", "w"], "scores"),
        helper.make_node(kind, inputs, outputs, **attributes),
        *behind,
    ]
    proto = model(nodes, {"w": weights(3, 4), "k": np.array([1])}, (1, 3), opset=13)
    del proto.graph.output[:]
    name, made = (behind[-1].output[0], behind[-1].attribute) if behind else ("label", [])
    kinds = [a.i for a in made if a.name == "to"] or [1 if kind == "Hardmax" else TensorProto.INT64]
    proto.graph.output.append(helper.make_tensor_value_info(name, kinds[0], None))
    return proto


@pytest.mark.parametrize(
    "proto",
    [
        labelled("ArgMax", [], axis=1),
        labelled("ArgMin", [], axis=-1, keepdims=0),
        labelled("ArgMax", [node("Squeeze", ["label"], "l"), node("Cast", ["l"], "y", to=6)], axis=1),
        labelled("TopK", [], 1),
    ],
)
def test_a_label_is_refused_with_its_scores(proto: onnx.ModelProto, tmp_path: Path) -> None:
    """Labels that differ by one may have scores that hardly differ, and the least score may be what decides."""
    path = save(tmp_path, proto)
    with pytest.raises(NetworkError, match="a label: a place among the numbers 'scores'") as caught:
        read_network(path)
    assert "--network-output 'scores'" in (caught.value.fix or "")
    network = read_network(path, output="scores")
    point = np.array([0.5, -1.0, 2.0])
    assert network.output_size == 4
    np.testing.assert_allclose(network.evaluate(point[None])[0], weights(3, 4).T @ point, rtol=1e-5)
    np.testing.assert_allclose(Session(network).run(point), weights(3, 4).T @ point, rtol=1e-5)


@pytest.mark.parametrize(
    "proto", [labelled("Hardmax", [], axis=1), labelled("ArgMax", [node("Cast", ["label"], "y", to=1)], axis=1)]
)
def test_floating_point_numbers_are_no_label(proto: onnx.ModelProto, tmp_path: Path) -> None:
    """A distance between them is not one between scores, so the scores have to be asked for."""
    path = save(tmp_path, proto)
    with pytest.raises(NetworkError, match="a label: a place among the numbers 'scores'") as caught:
        read_network(path)
    assert "--network-output 'scores'" in (caught.value.fix or "")
    assert read_network(path, output="scores").output_size == 4
    chosen = read_network(path, output=proto.graph.output[0].name)  # who asks for marks or places gets them
    point = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(chosen.evaluate(point[None])[0], Session(chosen).run(point))


def test_the_probabilities_behind_a_label_are_scores(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w"], "s"), node("Softmax", ["s"], "p"), node("ArgMax", ["p"], "y", axis=1)]
    proto = model(nodes, {"w": weights(3, 4)}, (1, 3), opset=13)
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    with pytest.raises(NetworkError, match="a place among the numbers 'p'"):
        read_network(save(tmp_path, proto))
    network = read_network(save(tmp_path, proto), output="p")
    assert network.stripped == "softmax"
    assert Session(network).run(np.ones(3)) == pytest.approx(weights(3, 4).sum(axis=0), rel=1e-5)


def test_any_value_of_a_graph_may_be_the_output(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w"], "s"), node("NonZero", ["s"], "n"), node("Cast", ["n"], "y", to=1)]
    path = save(tmp_path, model(nodes, {"w": weights(3, 4)}, (1, 3), opset=13))
    with pytest.raises(NetworkError, match="NonZero") as caught:
        read_network(path)
    assert "--network-output 's'" in (caught.value.fix or "")
    network = read_network(path, output="s")
    assert any("'s' is a value inside of the graph" in note for note in network.notes)
    np.testing.assert_allclose(Session(network).run(np.ones(3)), network.evaluate(np.ones((1, 3)))[0], rtol=1e-5)
    with pytest.raises(NetworkError, match="no output 'none'"):
        read_network(path, output="none")


@pytest.mark.parametrize(
    ("nodes", "kind", "words", "fix"),
    [
        (
            [node("Gather", ["w", "x"], "g"), node("Pow", ["x", "k"], "p"), node("Gather", ["g", "p"], "y")],
            TensorProto.INT64, "looked up jumps", "what is looked up as its input",
        ),
        (
            [node("Where", ["x", "w", "w"], "y")],
            TensorProto.INT64, "has type int64", "cast it to a type that the operator takes",
        ),
        ([node("TFL_SignalRfft", ["x"], "y")], TensorProto.FLOAT, "fixed point", "behind the spectrogram"),
        ([node("TFL_GELU", ["x"], "y")], TensorProto.FLOAT, "TensorFlow Lite", "from_keras"),
        (
            [helper.make_node("ActivationPOTQuantizer", ["x"], ["y"], domain="mct_quantizers", num_bits=8)],
            TensorProto.FLOAT, "Sony", "FAKELY_QUANT",
        ),
        ([node("DeformConv", ["x", "w", "x"], "y")], TensorProto.FLOAT, "windows lie", "Conv"),
        (
            [node("SplitToSequence", ["x"], "q"), node("Relu", ["q"], "y")],
            TensorProto.FLOAT, "list", "by themselves",
        ),
    ],
)  # fmt: skip
def test_refusals_say_why_and_what_to_do(
    nodes: list[NodeProto], kind: int, words: str, fix: str, tmp_path: Path
) -> None:
    proto = model(nodes, {"w": weights(4, 3), "k": np.array(1)}, (1, 3), opset=19, kind=kind)
    with pytest.raises(NetworkError, match=words) as caught:
        read_network(save(tmp_path, proto))
    assert fix in (caught.value.fix or "")


def test_erfc_of_tf2onnx_is_read_although_onnx_has_none(tmp_path: Path) -> None:
    network = read_network(save(tmp_path, model([node("Erfc", ["x"], "y")], {}, (1, 2))))
    np.testing.assert_allclose(network.evaluate(np.array([[0.0, 1.0]]))[0], [1.0, 0.15729920705028513])


def test_rounding_and_comparing_are_no_float32_arithmetic(tmp_path: Path) -> None:
    path = save(tmp_path, model([node("Round", ["x"], "y")], {}, (1, 2)))
    with pytest.raises(NetworkError, match="at a tie"):
        in_float32(read_network(path))


@pytest.mark.parametrize("size", [2, 4])
def test_a_norm_of_neighbours_has_more_behind_where_they_are_even(size: int, tmp_path: Path) -> None:
    """As ONNX defines it: onnxruntime runs odd sizes only, and the reference evaluator stops at one channel."""
    proto = model([node("LRN", ["x"], "y", size=size, alpha=0.5, beta=0.75, bias=2.0)], {}, (1, 5, 2, 1))
    network = onnx_reader.read("m.onnx", proto.SerializeToString())
    x = np.random.default_rng(0).normal(size=(5, 2))
    sums = np.array([(x[max(0, c - (size - 1) // 2) : c + size // 2 + 1] ** 2).sum(axis=0) for c in range(5)])
    expected = x / (2.0 + 0.5 / size * sums) ** 0.75
    np.testing.assert_allclose(network.evaluate(x.reshape(1, -1))[0], expected.ravel(), rtol=1e-9)


def test_a_sum_of_products_whose_sizes_differ_is_refused(tmp_path: Path) -> None:
    for equation in ("bi,i->bi", "bi,jk,k->i", "bi->bij", "b i j->b", "b..->b"):
        nodes = [node("Einsum", ["x", "c"], "y", equation=equation)]
        with pytest.raises(NetworkError) as caught:
            read_network(save(tmp_path, model(nodes, {"c": numbers(1, 2, 3, 4)}, (1, 3))))
        assert caught.value.operator == "Einsum"


HIDING = {
    "added": [node("Where", ["c", "low", "none"], "m"), node("Add", ["s", "m"], "h")],
    "chosen": [node("Where", ["c", "low", "s"], "h")],
    "chosen the other way": [node("Not", ["c"], "n"), node("Where", ["n", "s", "low"], "h")],
    "added twice": [
        node("Where", ["c", "low", "none"], "m"), node("Where", ["late", "low", "none"], "l"),
        node("Add", ["m", "l"], "b"), node("Unsqueeze", ["b", "first"], "u"), node("Squeeze", ["u", "first"], "k"),
        node("Add", ["s", "k"], "h"),
    ],
    "chosen again": [node("Where", ["c", "low", "s"], "g"), node("Where", ["d", "g", "s"], "h")],
}  # fmt: skip


def hidden(hiding: list[NodeProto], change: float = 0.0, low: float = -np.inf) -> onnx.ModelProto:
    """Attention of two rows over four numbers that hides those above a half."""
    nodes = [
        node("Greater", ["x", "half"], "c"),
        node("Less", ["x", "two"], "d"),
        node("Mul", ["x", "q"], "s"),
        *hiding,
        node("Softmax", ["h"], "p", axis=-1),
        node("MatMul", ["p", "v"], "y"),
    ]
    constants = {
        "half": np.array(0.5, np.float32),
        "two": np.array(2, np.float32),
        "low": np.array(low, np.float32),
        "none": np.zeros((), np.float32),
    }
    constants |= {"q": weights(2, 4), "v": weights(4, 2) + np.float32(change), "first": np.array([0])}
    return model(nodes, constants | {"late": np.array([False, False, False, True])}, (1, 2, 4))


@pytest.mark.part(5)
@pytest.mark.parametrize(
    ("name", "low"), [*((name, -np.inf) for name in HIDING), ("added", -1e9), ("chosen", -3.4e38), ("added", -3.4e38)]
)
def test_masks_that_depend_on_the_input(name: str, low: float, tmp_path: Path) -> None:
    """Against onnxruntime at random points, with claims that hold and that do not, on both sides of a threshold."""
    hiding = HIDING[name]
    path, other = (save(tmp_path, hidden(hiding, c, low), f"{c}.onnx") for c in (0.0, 1e-2))
    network = read_network(path)
    points = np.random.default_rng(3).normal(size=(40, 8)).astype(np.float32).astype(float)
    points[:, ::4] = -1.0  # one entry of each row is always shown
    found = np.array([Session(network).run(point) for point in points])
    np.testing.assert_allclose(network.evaluate(points), found, rtol=1e-5, atol=1e-5)
    for shown in (0.9, -1.0)[: 2 if name == "chosen" and low == -np.inf else 1]:
        lower, upper = (np.array([-1.0, shown, 0.0, -0.7] * 2) + c for c in (-0.01, 0.01))
        assert eqspec.verify(path, other, lower, upper, Epsilon("1.1e-2"), timeout=20).verdict is Verdict.EQUIVALENT
        assert eqspec.verify(path, other, lower, upper, Epsilon("9e-3"), timeout=20).verdict is Verdict.DIFFERENT


def test_nothing_is_proved_where_all_may_be_hidden(tmp_path: Path) -> None:
    """A softmax over nothing has no value: onnxruntime answers NaN."""
    hiding = HIDING["chosen"]
    path, other = (save(tmp_path, hidden(hiding, change), f"{change}.onnx") for change in (0.0, 1e-3))
    assert np.isnan(Session(read_network(path)).answers(np.ones(8))).all()
    result = eqspec.verify(path, other, [0.9] * 8, [1.1] * 8, Epsilon(1), timeout=2)
    assert result.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (node("Relu", ["h"], "y"), "only a mask in front of a Softmax"),
        (node("ReduceMax", ["h"], "y"), "only a mask in front of a Softmax"),
        (node("Identity", ["h"], "y"), "the output holds minus infinity"),
    ],
)
def test_masks_that_depend_on_the_input_go_nowhere_else(behind: NodeProto, words: str, tmp_path: Path) -> None:
    proto = hidden(HIDING["chosen"])
    del proto.graph.node[-2:]
    proto.graph.node.append(behind)
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, proto))
