"""What `eqspec inspect` shows of a graph: a row for each step, on eighty columns; and of two, what goes together."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from rich.console import Console

from eqspec.cli.tools import inspect
from eqspec.networks import Network
from eqspec.networks.graph_rewriting import placed
from eqspec.networks.program import Step, Term, Tile
from programs import convolution


def residual() -> Network:
    random = np.random.default_rng(0)
    first = Step((Term(-1, convolution(random, 1, 4, 4)),), random.normal(size=64))
    both = (Term(0, convolution(random, 4, 4, 4)), Term(0, Tile.rearranged(np.arange(64))))
    depthwise = Step((Term(1, convolution(random, 4, 4, 4, groups=4)),), np.zeros(64), function="identity")
    pruned = np.where(np.arange(192) % 4 == 0, 0.0, 1.0).reshape(3, 64)
    last = Step((Term(2, Tile.dense(pruned)),), np.zeros(3), function="identity")
    return Network((first, Step(both, np.zeros(64)), depthwise, last), 16, "residual", "0")


def shown(*networks: Network) -> str:
    out = Console(file=io.StringIO(), width=80)
    inspect._show_network(networks[0], out)
    if len(networks) > 1:
        inspect._show_pair(networks[0], networks[1], out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 80
    return str(text)


def test_a_graph_is_listed_step_by_step() -> None:
    text = shown(residual())
    lines = [line.split() for line in text.splitlines()]
    assert "4, 128 ReLU neurons, 3 712 products a point" in text
    assert "0 inputs 4 channels of 16, 9 taps, ReLU 64 36" in [" ".join(line) for line in lines]
    assert "1 0 + 0 4 channels of 16, 36 taps + rearranged, 64 144" in [" ".join(line) for line in lines]
    assert "2 1 4 channels of 16, 9 taps, 4 groups 64 36" in [" ".join(line) for line in lines]
    assert "3 2 dense 3 192 25 %" in [" ".join(line) for line in lines]


def test_two_graphs_are_compared() -> None:
    network = residual()
    other = replace(network, steps=tuple(placed(list(network.steps), 0, [3, 2, 1, 0], 16)))
    assert "channels were matched: 4 moved" in shown(network, other)
    assert "go together in the order of the files" in shown(network, network)
