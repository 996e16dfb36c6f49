"""What `eqspec inspect` shows of a graph: a row for each step, on eighty columns; and of two, what goes together."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from rich.console import Console

from eqspec.cli.tools import inspect
from eqspec.networks import Network
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.graph_rewriting import placed
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.networks.saturation import cut_off
from eqspec.networks.weight_grids import bits_of
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


def quantised(*functions: Curve) -> Network:
    random = np.random.default_rng(1)
    weight = random.integers(-32, 32, (len(functions), 5)).astype(np.float64) * float(np.float32(0.1))
    weight[0, 0] = -32 * float(np.float32(0.1))
    first = Step((Term(-1, Tile.dense(weight)),), np.zeros(len(functions)), function=Curves.of_rows(functions))
    last = Step((Term(0, Tile.dense(random.normal(size=(1, len(functions))))),), np.zeros(1), function="identity")
    return Network((first, last), 5, "quantised", "0")


def test_quantisers_are_shown_by_bits_steps_and_range() -> None:
    one, other = Quantiser(2.0**-7, -128, 127).curve, Quantiser(0.5, 0, 15).curve
    text = shown(quantised(one, one))
    assert "dense (6 bit weights), 8 bits, steps of" in text
    assert "0.00781 in -1 .. 0.992" in text
    assert text.count("weights)") == 1  # those of the second step are real numbers
    assert str(quantised(one, other).steps[0].function) == "4 to 8 bits, steps of 0.00781 to 0.5 in -1 .. 7.5"


def test_rows_that_may_be_cut_off() -> None:
    """Behind a quantised input: 3 levels of 1 in front, so sums reach 3 times the absolute weights."""
    inner = Step(
        (Term(-1, Tile.rearranged(np.arange(2))),), np.zeros(2), function=Curves.all(Quantiser(1.0, -3, 3).curve)
    )
    weight = np.array([[1.0, 1.0], [0.5, 0.5], [1.0, 1.25], [-2.0, -1.0]])
    ends = [Quantiser(1.0, -6, 6).curve, Quantiser(1.0, -2, 2).curve, Quantiser(1.0, 0, 6).curve]
    outer = Step(
        (Term(0, Tile.dense(weight)),), np.zeros(4), function=Curves.of_rows([*ends, Quantiser(1.0, 0, 8).curve])
    )
    last = Step((Term(1, Tile.dense(np.ones((1, 4)))),), np.zeros(1), function="identity")
    network = Network((inner, outer, last), 2, "saturated", "0")
    assert cut_off(network.steps) == [None, 2, None]  # the second one, and the last; the third lacks less than a level
    text = shown(network)
    assert "cut off" in text.splitlines()[4]
    assert "≤ 2" in text
    assert "cut off" not in shown(quantised(Quantiser(0.5, 0, 3).curve))


def test_quantisers_in_words() -> None:
    assert str(Quantiser(0.25, 0, 255, zero=3).curve) == "8 bits, steps of 0.25 in -0.75 .. 63"
    assert str(Quantiser(0.25, -7, 7, Rounding.FLOOR, wraps=True).curve) == (
        "4 bits, steps of 0.25 in -1.75 .. 1.75, rounded down, wrapping around"
    )
    assert str(Quantiser(0.25, -8, 7, unit=1.0, base=0.0).curve) == "4 bits, steps of 0.25 given as -8 .. 7"
    assert str(Quantiser.bipolar(0.5).curve) == "1 bit, -0.5 or 0.5"
    assert str(Quantiser(0.5, 3, 3).curve) == "constant, 1.5"


def test_bits_of_weights() -> None:
    scale = float(np.float32(0.1))
    for weight, bits in (
        ([[1, 0, -1]], 2), ([[3, 1, -4]], 3), ([[127 * scale, -128 * scale, scale]], 8), ([[0.1, 0.7, 0.3]], None),
        ([[2.0**-30, 2.0**40, 1]], None), ([[0, 0, 5]], None), ([[2, -6, 4], [3 * scale, scale, 0]], 3),
    ):  # fmt: skip
        assert bits_of(Tile.dense(np.array(weight, float))) == bits
    assert bits_of(Tile.dense(np.ones((1, 2)), np.full((1, 2), 1e-9))) is None
