"""W321: decisions by the other end of the scores than the label that a file gives beside them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

import eqspec
from eqspec.compile import load
from eqspec.networks import read_network
from unit.networks.models import model, node, run_onnxruntime, save

F = np.float32
CENTRES = {"w": np.array([[1, -2, 0.5], [0, 1, -1]], F), "classes": np.array([7, 3, 5])}
SPEC = """eqspec 1
space s {{ features a, b  outputs u, v, w  {decide} }}
network f = "f.onnx" in s
region r in s = box {{ all: 0 .. 1 }}
check c {{ prove f {claim}  on r }}
"""
End = Literal["max", "min"]


def with_label(*nodes: NodeProto, output: str, label: str = "label") -> onnx.ModelProto:
    """Scores h of three classes, what is made of them, and two outputs."""
    proto = model([node("MatMul", ["x", "w"], "h"), *nodes], CENTRES, (1, 2))
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_value_info(label, TensorProto.INT64, None))
    proto.graph.output.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, None))
    return proto


def place(kind: str, of: str, label: str = "label") -> NodeProto:
    return node(kind, [of], label, axis=1, keepdims=0)


POWERS = (node("Exp", ["h"], "e"), node("Sqrt", ["e"], "d"))
K = helper.make_node("Constant", [], ["k"], value_ints=[1])
CASES: dict[str, tuple[onnx.ModelProto, End | None]] = {
    "largest": (with_label(place("ArgMax", "h"), output="h"), "max"),
    "smallest": (with_label(place("ArgMin", "h"), output="h"), "min"),
    "of what is turned round": (with_label(node("Neg", ["h"], "n"), place("ArgMax", "n"), output="h"), "min"),
    "both turned round": (with_label(node("Neg", ["h"], "n"), place("ArgMax", "n"), output="n"), "max"),
    "distances to centres": (with_label(*POWERS, place("ArgMin", "e"), output="d"), "min"),
    "shares": (with_label(node("Softmax", ["h"], "s"), place("ArgMax", "h"), output="s"), "max"),
    "first of those sorted upwards": (
        with_label(K, helper.make_node("TopK", ["h", "k"], ["v", "label"], axis=1, largest=0), output="h"), "min",
    ),
    "other numbers": (with_label(node("MatMul", ["x", "w"], "g"), place("ArgMin", "g"), output="h"), None),
    "a function in between": (with_label(node("Relu", ["h"], "n"), place("ArgMin", "n"), output="h"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_which_end_a_label_stands_for(name: str, tmp_path: Path) -> None:
    proto, end = CASES[name]
    assert read_network(save(tmp_path, proto)).label == end
    if end is not None:
        rng, output = np.random.default_rng(1), proto.graph.output[1].name
        network = read_network(save(tmp_path, proto), output=output)
        for x in rng.normal(size=(20, 2)).astype(F):
            scores = network.evaluate(x[None].astype(float))[0]
            wanted = scores.argmax() if end == "max" else scores.argmin()
            assert run_onnxruntime(proto, x[None]).reshape(-1)[0] == wanted


def test_names_of_classes_and_labels_that_contradict_each_other(tmp_path: Path) -> None:
    picked = helper.make_node("ArrayFeatureExtractor", ["classes", "i"], ["label"], domain="ai.onnx.ml")
    named = with_label(place("ArgMin", "h", "i"), picked, output="h")
    named.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    assert read_network(save(tmp_path, named)).label == "min"
    several = with_label(place("ArgMin", "h"), place("ArgMax", "h", "other"), output="h")
    several.graph.output.append(helper.make_tensor_value_info("other", TensorProto.INT64, None))
    assert read_network(save(tmp_path, several)).label is None


@pytest.mark.parametrize(
    ("decide", "claim", "said"),
    [
        ("", "keeps top1 of f", True),
        ("", "keeps top1 of f when margin >= 1", True),
        ("decide min", "keeps top1 of f", False),
        ("", "stays within 1 of f", False),
    ],
)
def test_a_space_that_decides_otherwise(decide: str, claim: str, said: bool, tmp_path: Path) -> None:
    save(tmp_path, CASES["smallest"][0], "f.onnx")
    (tmp_path / "s.eqspec").write_text(SPEC.format(decide=decide, claim=claim))
    found = [d.message for d in load(tmp_path / "s.eqspec").diagnostics if d.code == "W321"]
    assert found == ["the largest score decides here, and the label that 'f' gives is the smallest one's"] * said


@pytest.mark.parametrize(("decide", "said"), [("max", True), ("min", False)])
def test_from_python(decide: End, said: bool) -> None:
    proto = CASES["smallest"][0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eqspec.verify(proto, proto, [0, 0], [1, 1], eqspec.Top1(), decide=decide, timeout=5)
    assert any("by the other end of its scores" in str(one.message) for one in caught) == said
