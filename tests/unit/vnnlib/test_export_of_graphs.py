"""Graphs are written for other verifiers as matrices, or refused with the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import InputError
from eqspec.networks import Network
from eqspec.networks.program import Step, Term, Tile
from eqspec.property import Epsilon, Linear, Top1
from eqspec.vnnlib.exporting import Target, export
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
