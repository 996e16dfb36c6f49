"""One function in several operators has one program: LayerNormalization, and how exporters write it by hand.

Programs are compared by what is proved of them: on a box that no bound of products would settle, the first bound of
the difference is that of rounded weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

import eqspec
from breadth import some
from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.models import run_onnxruntime, save

rng = np.random.default_rng(0)
STORED = {
    "w": rng.normal(size=(4, 5)), "b": rng.normal(size=5), "g": 1 + 0.2 * rng.normal(size=5), "s": rng.normal(size=5),
    "v": rng.normal(size=(5, 2)), "e": np.array(1e-3), "half": np.array(-0.5),
}  # fmt: skip
CENTRE, RADIUS = rng.normal(size=4), 0.4


def node(kind: str, inputs: str, output: str, **attributes: Any) -> NodeProto:
    return helper.make_node(kind, inputs.split(), [output], **attributes)


MEAN = [node("ReduceMean", "h", "mean", axes=[-1]), node("Sub", "h mean", "d")]
ROOT = [
    node("Mul", "d d", "q"), node("ReduceMean", "q", "var", axes=[-1]), node("Add", "var e", "more"),
    node("Sqrt", "more", "root"),
]  # fmt: skip
SHARE = [*MEAN, *ROOT, node("Reciprocal", "root", "r")]
FORMS: dict[str, list[NodeProto]] = {
    "operator": [node("LayerNormalization", "h g s", "o", epsilon=1e-3)],
    "torch": [*MEAN, *ROOT, node("Div", "d root", "n"), node("Mul", "n g", "y1"), node("Add", "y1 s", "o")],
    "power": [
        *MEAN, *ROOT[:-1], node("Pow", "more half", "r"), node("Mul", "d r", "n"), node("Mul", "n g", "y1"),
        node("Add", "y1 s", "o"),
    ],
    "turned": [*SHARE, node("Mul", "r d", "n"), node("Mul", "g n", "y1"), node("Add", "s y1", "o")],
    "scale first": [*SHARE, node("Mul", "r g", "f"), node("Mul", "d f", "y1"), node("Add", "y1 s", "o")],
    "Keras": [
        *SHARE, node("Mul", "r g", "f"), node("Mul", "h f", "y1"), node("Neg", "mean", "away"),
        node("Mul", "away f", "y2"), node("Add", "y2 s", "y3"), node("Add", "y1 y3", "o"),
    ],
    "subtracted": [
        *SHARE, node("Mul", "r g", "f"), node("Mul", "f h", "y1"), node("Mul", "mean f", "y2"),
        node("Sub", "s y2", "y3"), node("Add", "y1 y3", "o"),
    ],
}  # fmt: skip


def written(form: str, folder: Path) -> Path:
    """A file in one of the forms, between two layers."""
    nodes = [node("MatMul", "x w", "m"), node("Add", "m b", "h"), *FORMS[form], node("MatMul", "o v", "y")]
    read = {name for one in nodes for name in one.input}
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", 1, [None, 4])], [value("y", 1, [None, 2])],
        [helper.make_tensor(k, 1, a.shape, a.astype(np.float32).ravel()) for k, a in STORED.items() if k in read],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Path(save(folder, made, f"{form}.onnx"))


@pytest.mark.parametrize("form", FORMS)
def test_each_is_read_as_it_is(form: str, tmp_path: Path) -> None:
    path = written(form, tmp_path)
    network, proto = read_network(path), onnx.load(path)
    for point in np.random.default_rng(1).normal(size=(20, 1, 4)).astype(np.float32):
        expected = run_onnxruntime(proto, point).ravel()
        np.testing.assert_allclose(network.evaluate(point.astype(float))[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("one", "other"), [("operator", form) for form in list(FORMS)[1:]])
def test_each_beside_the_operator(one: str, other: str, tmp_path: Path) -> None:
    found = eqspec.verify(
        written(one, tmp_path), written(other, tmp_path), CENTRE - RADIUS, CENTRE + RADIUS, Epsilon("1e-6"), timeout=20,
        cache=False, certify=tmp_path / "kept",
    )  # fmt: skip
    assert (found.verdict, found.boxes) == (Verdict.EQUIVALENT, 1)
    assert found.certificate is not None, found.uncertified


def test_what_is_another_function_is_told_apart(tmp_path: Path) -> None:
    """The mean by another factor than the value: no factor in common, and different."""
    FORMS["other"] = [one if one.output[0] != "y2" else node("Mul", "away g", "y2") for one in FORMS["Keras"]]
    try:
        one, other = (written(form, tmp_path) for form in ("Keras", "other"))
    finally:
        del FORMS["other"]
    found = eqspec.verify(one, other, CENTRE - RADIUS, CENTRE + RADIUS, Epsilon("1e-6"), timeout=20, cache=False)
    assert found.verdict is Verdict.DIFFERENT


def test_sums_of_products_are_what_they_were(tmp_path: Path) -> None:
    """Random sums and differences of products, nested, some of them used twice, against onnxruntime."""
    draw = np.random.default_rng(7)
    value = helper.make_tensor_value_info
    for number in some(range(25), 8):
        names = [f"i{k}" for k in range(3)]
        nodes = [node("Slice", f"x at{k} at{k + 1} last", f"i{k}") for k in range(3)]
        for k in range(int(draw.integers(4, 10))):
            kind = str(draw.choice(["Mul", "Mul", "Add", "Sub", "Neg", "Sqrt", "Reciprocal"]))
            first, second = (str(draw.choice(names)) for _ in "ab")
            if kind in ("Sqrt", "Reciprocal"):  # of 1 + v^2, in which they have values
                nodes += [node("Mul", f"{first} {first}", f"p{k}"), node("Add", f"p{k} one", f"q{k}")]
                nodes += [node("Sqrt", f"q{k}", f"r{k}"), node("Reciprocal", f"r{k}", f"v{k}")]
            else:
                nodes.append(node(kind, first if kind == "Neg" else f"{first} {second}", f"v{k}"))
            names.append(f"v{k}")
        nodes.append(node("Add", f"{names[-1]} {names[-2]}", "y"))
        stored = [helper.make_tensor(f"at{k}", 7, [1], [k]) for k in range(4)]
        stored += [helper.make_tensor("last", 7, [1], [1]), helper.make_tensor("one", 1, [], [1.0])]
        graph = helper.make_graph(nodes, "g", [value("x", 1, [1, 3])], [value("y", 1, [1, 1])], stored)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        network = read_network(save(tmp_path, proto, f"{number}.onnx"))
        points = draw.normal(size=(10, 1, 3)).astype(np.float32)
        expected = np.array([run_onnxruntime(proto, point).ravel() for point in points])
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(network.evaluate(points[:, 0].astype(float)), expected, rtol=0, atol=1e-4 * scale)
