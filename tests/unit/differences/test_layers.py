"""What changed in each layer, where that is known because the change was made here; and which layer is to blame."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.differences.layers import Layer, Layers, compare_layers
from eqspec.networks import Network, read_network
from eqspec.networks.curves import Curves
from eqspec.networks.graph_rewriting import placed
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser
from programs import convolution
from small_tasks import network

SIZES = (4, 6, 5, 3)


def chain(seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(seed)
    return [(random.normal(size=(m, n)), random.normal(size=m)) for n, m in pairwise(SIZES)]


def points(count: int = 40, inputs: int = SIZES[0]) -> np.ndarray:
    return np.random.default_rng(7).uniform(-1, 1, (count, inputs))


def answers(layers: list[tuple[np.ndarray, np.ndarray]], x: np.ndarray) -> np.ndarray:
    """By hand."""
    for weight, bias in layers[:-1]:
        x = np.maximum(x @ weight.T + bias, 0.0)
    weight, bias = layers[-1]
    return np.asarray(x @ weight.T + bias)


@given(st.integers(0, 1000), st.integers(0, 2), st.data())
def test_a_change_is_found_in_its_layer_with_its_size(seed: int, place: int, data: st.DataObject) -> None:
    before = chain(seed)
    size = before[place][0].size
    chosen = data.draw(st.sets(st.integers(0, size - 1), max_size=size // 2))
    after = [(weight.copy(), bias) for weight, bias in before]
    after[place][0].ravel()[list(chosen)] = 0.0
    found = compare_layers(network(*before), network(*after), points())
    apart = float(np.abs(answers(after, points()) - answers(before, points())).max())
    if found.matching:  # channels with little left may be moved: then weights are compared with others
        return
    for number, layer in enumerate(found.steps):
        here = number == place
        assert layer.changed == (len(chosen) if here else 0)
        largest = np.abs(before[place][0].ravel()[list(chosen)]).max(initial=0.0) if here else 0.0
        assert layer.largest_change == pytest.approx(largest)
        assert layer.candidate is not None
        assert layer.candidate.zeros == pytest.approx(len(chosen) / size if here else 0.0)
        assert layer.alone == pytest.approx(apart if here else 0.0, abs=1e-12)
        assert number > place or layer.apart is not None
        if number < place:
            assert layer.apart == 0.0
        assert layer.same == (not here or not chosen)


def test_a_bias_counts_as_a_change_though_no_weight_differs() -> None:
    before = chain(1)
    after = [*before[:-1], (before[-1][0], before[-1][1] + [0.0, 0.25, 0.0])]
    last = compare_layers(network(*before), network(*after), points()).steps[-1]
    assert (last.changed, last.largest_change, last.same) == (0, 0.0, False)
    assert last.bias_change == pytest.approx(0.25)
    assert last.alone == pytest.approx(0.25)


def test_layers_that_are_no_worse_alone_than_together_are_told_apart() -> None:
    """Two changes that cancel: the outputs agree, and each layer alone would change them."""
    before = chain(2)
    after = [(2 * before[0][0], 2 * before[0][1]), (0.5 * before[1][0], before[1][1]), before[2]]
    reference, candidate = network(*before), network(*after)
    found = compare_layers(reference, candidate, points())
    assert found.matching, "scaled neurons are rescaled, as for a proof"
    assert all(layer.same or (layer.alone or 0.0) < 1e-9 for layer in found.steps)


def graph(seed: int) -> Network:
    random = np.random.default_rng(seed)
    first = Step((Term(-1, convolution(random, 1, 4, 4)),), random.normal(size=64))
    second = Step((Term(0, convolution(random, 4, 4, 4)), Term(0, Tile.rearranged(np.arange(64)))), np.zeros(64))
    last = Step((Term(1, Tile.dense(random.normal(size=(2, 64)))),), np.zeros(2), function="identity")
    return Network((first, second, last), 16, "graph", "0")


def test_channels_of_a_graph_that_were_moved_have_not_changed() -> None:
    one = graph(3)
    other = replace(one, steps=tuple(placed(list(one.steps), 0, [2, 0, 3, 1], 16)))
    found = compare_layers(one, other, points(20, 16))
    assert "moved" in found.matching
    assert all(layer.same for layer in found.steps)


def test_a_changed_kernel_of_a_graph_is_to_blame_alone() -> None:
    one = graph(4)
    tile = one.steps[0].terms[0].tile
    kernel = tile.weight.copy()
    kernel.ravel()[5] += 0.125
    first = replace(one.steps[0], terms=(Term(-1, replace(tile, weight=kernel)),))
    other = replace(one, steps=(first, *one.steps[1:]))
    found = compare_layers(one, other, points(20, 16))
    expected = float(np.abs(other.evaluate(points(20, 16)) - one.evaluate(points(20, 16))).max())
    assert [layer.changed for layer in found.steps] == [1, 0, 0]
    assert [layer.alone for layer in found.steps] == pytest.approx([expected, 0.0, 0.0])


def quantised(bits: int) -> Network:
    random = np.random.default_rng(5)
    most = 2 ** (bits - 1)
    whole = random.integers(-most, most, (6, 5)).astype(np.float64)
    whole[:, 0], whole[:, 1] = -most, 1
    rounds = Curves.all(Quantiser(2.0**-4, 0, 255).curve)
    first = Step((Term(-1, Tile.dense(whole * 2.0**-7)),), np.zeros(6), function=rounds)
    last = Step((Term(0, Tile.dense(random.normal(size=(2, 6)))),), np.zeros(2), function="identity")
    return Network((first, last), 5, "quantised", "0")


@pytest.mark.parametrize("bits", [3, 4, 8])
def test_bits_and_functions_of_a_quantised_network(bits: int) -> None:
    one = quantised(bits)
    real = np.random.default_rng(6).normal(size=(6, 5))
    other = replace(one, steps=(Step((Term(-1, Tile.dense(real)),), np.zeros(6)), one.steps[1]))
    (first, last) = compare_layers(other, one, points(20, 5)).steps
    assert first.reference is not None
    assert first.candidate is not None
    assert (first.reference.bits, first.candidate.bits) == (None, bits)
    assert first.reference.function == "ReLU"
    assert first.candidate.function.startswith("8 bits")
    assert not first.same
    assert last.same


def test_weights_that_were_equalised_before_they_were_quantised_are_compared_in_the_sizes_of_the_reference() -> None:
    """The bits are those of the file, whatever the channels are scaled by."""
    random = np.random.default_rng(8)
    by = random.uniform(0.1, 8.0, 6)
    weight, read = random.normal(size=(6, 5)), random.normal(size=(2, 6))
    step = np.abs(weight * by[:, None]).max() / 128
    step = 2.0 ** np.ceil(np.log2(step))
    on_a_grid = np.clip(np.round(weight * by[:, None] / step), -128, 127) * step
    one = network((weight, np.zeros(6)), (read, np.zeros(2)))
    other = network((on_a_grid, np.zeros(6)), (read / by, np.zeros(2)))
    found = compare_layers(one, other, points(20, 5))
    assert "6 rescaled" in found.matching
    first, _ = found.steps
    assert first.candidate is not None
    assert first.candidate.bits == 8
    assert first.largest_change is not None
    assert first.largest_change <= 0.6 * step / by.min()


def sides(layer: Layer) -> tuple[bool, bool]:
    return layer.reference is not None, layer.candidate is not None


def test_steps_without_a_partner_are_said_to_be_in_one_network_only() -> None:
    one = graph(8)
    widened = Step((Term(1, Tile.dense(np.random.default_rng(9).normal(size=(7, 64)))),), np.zeros(7))
    last = Step((Term(2, Tile.dense(np.random.default_rng(10).normal(size=(2, 7)))),), np.zeros(2), function="identity")
    found: Layers = compare_layers(one, replace(one, steps=(*one.steps[:2], widened, last)), points(20, 16))
    assert (False, True) in map(sides, found.steps)
    assert all(layer.alone is None for layer in found.steps), "no program is whole without it"
    assert all((layer.apart is None) == (sides(layer) != (True, True)) for layer in found.steps)


def test_a_file_that_is_deeper_is_compared_too(root: Path) -> None:
    base, deeper = (read_network(root / "specs" / "tiny" / f"{name}.onnx") for name in ("base", "deeper"))
    assert all(layer.same for layer in compare_layers(base, deeper, points(20, 2)).steps)


def test_weights_that_were_stored_once_more_in_float32_have_not_changed() -> None:
    before = chain(11)
    after = [(weight.astype(np.float32).astype(np.float64), bias) for weight, bias in before]
    after[1] = (after[1][0].astype(np.float16).astype(np.float64), after[1][1])
    found = compare_layers(network(*before), network(*after), points())
    halved = int((after[1][0] != before[1][0].astype(np.float32)).sum())
    assert halved > 20
    assert [layer.changed for layer in found.steps] == [0, pytest.approx(halved, abs=2), 0]
    assert not any(layer.same for layer in found.steps), "the numbers are not the same ones, either"
