"""Graphs are written for other verifiers as matrices, or refused with the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import InputError
from eqspec.networks import Network, read_network
from eqspec.networks.curves import ABSOLUTE, Curve, Curves, clip, leaky, pieces
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser
from eqspec.property import Epsilon, Linear, Top1
from eqspec.vnnlib.exporting import Target, export
from eqspec.vnnlib.onnx_program import exact_program, write_program
from programs import convolution, program
from small_tasks import task


def readable(seed: int) -> Network:
    """A random program in which no row reads an entry twice."""
    random = np.random.default_rng(seed)
    network = program(random, steps=5)
    sizes = [4, *(step.rows for step in network.steps)]
    steps = []
    for step in network.steps:
        terms = tuple(Term(t.source, Tile.dense(t.tile.matrix(sizes[t.source + 1]))) for t in step.terms)
        steps.append(replace(step, terms=terms))
    return Network(tuple(steps), 4, f"graph {seed}", f"{seed}{'0' * 63}")


@pytest.mark.parametrize("target", ["vnnlib2", "product-onnx"])
@pytest.mark.parametrize("claim", [Epsilon("0.5"), Top1(), Linear((1, 0, -1), (0, 1, 0), 2)])
def test_a_graph_is_written(target: Target, claim: object, tmp_path: Path) -> None:
    asked = task(readable(1), readable(2), claim)  # type: ignore[arg-type]
    (made,) = export([asked], target, tmp_path)  # compares what it wrote with the networks
    assert made.deviation is not None
    assert made.deviation < 1e-3


def test_a_convolution_is_written_as_its_matrix(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    first = Step((Term(-1, convolution(random, 1, 4, 2)),), np.zeros(32))
    last = Step((Term(0, Tile.dense(random.normal(size=(2, 32)))), Term(-1, Tile.dense(np.ones((2, 16))))), np.ones(2))
    network = Network((first, replace(last, function="identity")), 16, "convolution", "0" * 64)
    (made,) = export([task(network, network, Epsilon("0.5"))], "product-onnx", tmp_path)
    assert made.networks[0].is_file()


WRITTEN = [
    *(
        Curve(name)
        for name in ("sigmoid", "tanh", "softplus", "softsign", "exp", "erf", "sin", "cos", "atan", "sign", "floor")
    ),
    *(Curve(name) for name in ("atan", "square", "silu", "gelu", "gelu_tanh", "mish")),
    Curve("elu", (0.5,)),
    Curve("celu", (2.0,)),
    Curve("selu", (1.5, 1.25)),
    Curve("thresholded", (0.25,)),
    Curve("power", (3.0,)),
    Curve("hardswish", (float(np.float32(1 / 6)), 0.5)),
    *(leaky(0.25), clip(-0.5, 0.75), ABSOLUTE),
]


def with_function(function: Curves) -> Network:
    random = np.random.default_rng(0)
    first = Step((Term(-1, Tile.dense(random.normal(size=(4, 3)))),), random.normal(size=4), function=function)
    last = Step((Term(0, Tile.dense(random.normal(size=(2, 4)))),), np.ones(2), function="identity")
    return Network((first, last), 3, "bent", "0" * 64)


@pytest.mark.parametrize("curve", WRITTEN, ids=str)
def test_functions_are_written_as_the_operators_that_they_are(curve: Curve, tmp_path: Path) -> None:
    """The file is read again as the same function."""
    network = with_function(Curves.all(curve))
    made = exact_program(network, "")
    write_program(made, tmp_path / "written.onnx", "a test")
    again = read_network(tmp_path / "written.onnx")
    if curve.name != "celu":  # which is written with an Elu
        assert [step.function for step in again.steps] == [step.function for step in network.steps]
    points = np.random.default_rng(1).normal(size=(20, 3))
    np.testing.assert_allclose(again.evaluate(points), network.evaluate(points), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        Curves.all(pieces((0.0, 1.0), (0.5, 1.0, 2.0), 0.0)),
        Curves.all(Curve("elu", (0.1,))),  # no float32
        Curves.all(Curve("hardswish", (1.0, 0.5))),
        Curves.of_rows([leaky(0.25), leaky(0.5), leaky(0.25), Curve("tanh")]),
        Curves.all(Quantiser(0.25, -8, 7).curve),
    ],
    ids=str,
)
def test_functions_that_are_no_operator_are_refused(function: Curves) -> None:
    with pytest.raises(InputError, match="is not an operator of ONNX"):
        exact_program(with_function(function), "split it")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    random = np.random.default_rng(0)

    def refused(*steps: Step, inputs: int) -> str:
        network = Network(steps, inputs, "graph", "0" * 64)
        with pytest.raises(InputError) as caught:
            export([task(network, network, Epsilon("0.5"))], "product-onnx", tmp_path)
        return str(caught.value)

    image = Step((Term(-1, convolution(random, 1, 50, 2)),), np.zeros(5000))
    last = Step((Term(0, Tile.dense(random.normal(size=(2, 5000)))),), np.zeros(2), function="identity")
    assert "as matrices, and" in refused(image, last, inputs=2500)
    rounded = Tile(np.array([[[0], [1]]], np.int32), np.ones((1, 1, 1)), np.full((1, 1, 1), 1e-9))
    assert "folded" in refused(Step((Term(-1, rounded),), np.zeros(2), function="identity"), inputs=2)
    twice = Tile(np.array([[[0, 0]]], np.int32), np.full((1, 1, 2), 0.1))
    assert "adds one value twice" in refused(Step((Term(-1, twice),), np.zeros(1), function="identity"), inputs=1)
