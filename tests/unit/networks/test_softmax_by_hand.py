"""Softmax and LogSoftmax written out are read as such, and what only looks like them is not; against onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto

from eqspec.errors import DisagreementError, NetworkError
from eqspec.networks import Network, read_network, softened
from eqspec.networks.float32 import in_float32
from eqspec.networks.readers.network_file import comparison
from unit.networks.function_cases import weights
from unit.networks.models import model, node, run_onnxruntime, save

CONSTANTS = {"w": weights(4, 5), "last": np.array([-1]), "second": np.array([1]), "first": np.array([0])}


def shares(*, largest: str | None = "last", summed: str = "last", over: str = "e", keep: int = 1) -> list[NodeProto]:
    """e^z / sum of e^z in the style of JAX; without `largest` nothing is taken off."""
    nodes = [node("MatMul", ["x", "w"], "s")]
    if largest:
        stopped = [node("ReduceMax", ["s"], "m", axes=[-1 if largest == "last" else 1]), node("Identity", ["m"], "k")]
        nodes += [*stopped, node("Sub", ["s", "k"], "z")]
    nodes += [node("Exp", ["z" if largest else "s"], "e"), node("Exp", ["x"], "another")]
    return [*nodes, node("ReduceSum", [over, summed], "t", keepdims=keep), node("Div", ["e", "t"], "p")]


def logarithms() -> list[NodeProto]:
    *nodes, _, _, summed, _ = shares()
    return [*nodes, node("Exp", ["z"], "e"), summed, node("Log", ["t"], "l"), node("Sub", ["z", "l"], "p")]


def read(folder: Path, nodes: list[NodeProto], *, inside: bool = False, opset: int = 17) -> Network:
    """The network of nodes that make p, compared with onnxruntime; `inside`, something is computed with p."""
    used = {name for one in nodes for name in one.input}
    constants = {name: array for name, array in CONSTANTS.items() if name in used}
    if inside:
        constants["v"] = weights(5, 2, seed=1)
    end = node("MatMul", ["p", "v"], "y") if inside else node("Identity", ["p"], "y")
    path = save(folder, model([*nodes, end], constants, (1, 4), opset=opset))
    network = read_network(path)
    for x in np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32):
        found = softened(network).evaluate(x[None].astype(float))[0]
        np.testing.assert_allclose(found, run_onnxruntime(path, x[None])[0].ravel(), rtol=1e-5, atol=1e-6)
    return network


@pytest.mark.part(6)
@pytest.mark.parametrize("opset", [13, 17])
@pytest.mark.parametrize("largest", ["last", "second", None])
@pytest.mark.parametrize("summed", ["last", "second"])
def test_shares(largest: str | None, summed: str, opset: int, tmp_path: Path) -> None:
    network = read(tmp_path, shares(largest=largest, summed=summed), opset=opset)
    assert network.stripped == "softmax"
    assert any("is read as Softmax" in note for note in network.notes)
    inner = read(tmp_path, shares(largest=largest, summed=summed), inside=True, opset=opset)
    curves = {curve.name for step in inner.steps if not isinstance(step.function, str) for curve in step.function.kinds}
    assert not curves & {"exp", "reciprocal", "square"}


@pytest.mark.parametrize("largest", ["last", None])
def test_what_float32_may_not_hold(largest: str | None, tmp_path: Path) -> None:
    """Of scores of 100 the shares are infinities by infinities where the largest is not taken off."""
    network = read(tmp_path, shares(largest=largest))
    if largest:
        assert in_float32(network).stripped == "softmax"
        return
    point = np.full((1, 4), 1e4, np.float32) * np.sign(CONSTANTS["w"][:, 0]).astype(np.float32)
    assert np.isnan(run_onnxruntime(network.source, point)[0]).any()
    with pytest.raises(NetworkError, match="without taking off the largest"):
        in_float32(network)


def test_logarithms(tmp_path: Path) -> None:
    assert read(tmp_path, logarithms()).stripped == "log_softmax"
    assert read(tmp_path, logarithms(), inside=True).stripped is None


def test_where_exponentials_lose_their_digits_no_reading_is_doubted(tmp_path: Path) -> None:
    """e^-100 is a float32 of few digits: onnxruntime is off by .01 there, far outside of what anybody asks about."""
    nodes = [node("Exp", ["x"], "e"), node("ReduceSum", ["e", "last"], "t"), node("Log", ["t"], "l")]
    nodes += [node("Sub", ["x", "l"], "p"), node("Mul", ["p", "half"], "y")]
    path = save(tmp_path, model(nodes, {"last": CONSTANTS["last"], "half": np.array(0.5, np.float32)}, (1, 3)))
    network, point = read_network(path), np.array([-102.0, -102.5, -102.25])
    found = run_onnxruntime(path, point[None].astype(np.float32))[0].ravel()
    assert np.abs(found - network.evaluate(point[None])[0]).max() > 1e-3
    comparison(network).at(iter([point[None]]))
    moved = replace(
        network, steps=(*network.steps[:-1], replace(network.steps[-1], bias=network.steps[-1].bias + 0.01))
    )
    with pytest.raises(DisagreementError):
        comparison(moved).at(iter([np.array([[0.0, 1.0, 2.0]])]))


@pytest.mark.parametrize(
    "nodes", [shares(summed="first"), shares(over="another"), shares(keep=0), shares(largest=None, over="another")]
)
def test_what_only_looks_like_it(nodes: list[NodeProto], tmp_path: Path) -> None:
    network = read(tmp_path, nodes)
    assert network.stripped is None
    assert not any("is read as" in note for note in network.notes)


def test_exponentials_that_somebody_else_reads_stay(tmp_path: Path) -> None:
    nodes = [*shares(), node("Add", ["p", "e"], "sum")]
    nodes[-1].output[0], nodes[-2].output[0], nodes[-1].input[0] = "p", "q", "q"
    assert read(tmp_path, nodes).stripped is None
