"""Matching keeps both functions exactly, and finds the twins of a network again, whatever was done to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from eqspec.networks import AffineLayer, Network, align
from eqspec.networks.matching import match
from eqspec.networks.rewriting import ratio

Layers = list[AffineLayer]
Change = Callable[[Layers, np.random.Generator], Layers]


def network(layers: Layers) -> Network:
    return Network.of_layers(tuple(layers), "net", "sha")


def random_layers(random: np.random.Generator, *widths: int) -> Layers:
    return [
        AffineLayer(random.normal(size=(m, n)).astype(np.float32).astype(float) / n**0.5, random.normal(size=m))
        for n, m in pairwise(widths)
    ]


def with_rows(layers: Layers, h: int, rows: list[int], factors: list[float], shares: list[float]) -> Layers:
    """Row k of hidden layer h is now factors[k] times row rows[k], and is read for shares[k] of it."""
    weight, bias = layers[h].weight[rows] * np.array(factors)[:, None], layers[h].bias[rows] * np.array(factors)
    columns = layers[h + 1].weight[:, rows] / np.array(factors) * np.array(shares)
    changed = list(layers)
    changed[h] = AffineLayer(np.ascontiguousarray(weight), bias)
    changed[h + 1] = AffineLayer(np.ascontiguousarray(columns), layers[h + 1].bias)
    return changed


def permuted(layers: Layers, random: np.random.Generator) -> Layers:
    for h in range(len(layers) - 1):
        m = len(layers[h].bias)
        layers = with_rows(layers, h, random.permutation(m).tolist(), [1.0] * m, [1.0] * m)
    return layers


def rescaled(layers: Layers, random: np.random.Generator) -> Layers:
    for h in range(len(layers) - 1):
        m = len(layers[h].bias)
        layers = with_rows(layers, h, list(range(m)), np.exp(random.normal(size=m) * 2).tolist(), [1.0] * m)
    return layers


def duplicated(layers: Layers, random: np.random.Generator) -> Layers:
    """Neurons split in two that are the same but for a power of two, read for any two shares."""
    for h in range(len(layers) - 1):
        m = len(layers[h].bias)
        i, share = int(random.integers(m)), float(random.uniform(-1.0, 2.0))
        shares = [1.0] * m + [1.0 - share]
        shares[i] = share
        layers = with_rows(layers, h, [*range(m), i], [1.0] * m + [0.25], shares)
    return layers


def split_roughly(layers: Layers, random: np.random.Generator) -> Layers:
    """The copies are scaled and rounded, so that they are no exact multiples any more."""
    for h in range(len(layers) - 1):
        m = len(layers[h].bias)
        i, share = int(random.integers(m)), float(random.uniform(0.2, 0.8))
        shares = [1.0] * m + [1.0 - share]
        shares[i] = share
        layers = with_rows(layers, h, [*range(m), i], [1.0] * m + [1.7], shares)
    return [
        AffineLayer(layer.weight.astype(np.float32).astype(float), layer.bias.astype(np.float32).astype(float))
        for layer in layers
    ]


def everything(layers: Layers, random: np.random.Generator) -> Layers:
    return permuted(rescaled(duplicated(layers, random), random), random)


CHANGES: dict[str, Change] = {
    "permuted": permuted,
    "rescaled": rescaled,
    "duplicated": duplicated,
    "split": split_roughly,
    "everything": everything,
}


def contained(before: Network, after: Network, random: np.random.Generator) -> bool:
    """Whether the exact outputs of a network lie in what its other form encloses."""
    for _ in range(3):
        point = [Fraction(float(x)) for x in random.normal(size=before.input_size)]
        pairs = zip(before.evaluate_exact(point), after.evaluate_exact(point), strict=True)
        if not all(c <= a and b <= d for (a, b), (c, d) in pairs):
            return False
    return True


@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("seed", range(4))
def test_twins_are_found_and_functions_kept(name: str, seed: int, turned: bool) -> None:
    random = np.random.default_rng([seed, list(CHANGES).index(name)])
    layers = random_layers(random, 4, 7, 6, 5, 3)
    a, b = network(layers), network(CHANGES[name](layers, random))
    if turned:
        a, b = b, a
    first, second, found = match(a, b)
    assert found
    assert contained(a, first, random)
    assert contained(b, second, random)
    first, second = align(first, second)
    for one, other in zip(first.layers, second.layers, strict=True):
        size = np.abs(one.weight).max()
        assert np.abs(one.weight - other.weight).max() <= 3e-6 * size
        assert np.abs(one.bias - other.bias).max() <= 3e-6 * max(1.0, np.abs(one.bias).max())


@pytest.mark.parametrize("seed", range(30))
def test_functions_are_kept_whatever_the_networks_are(seed: int) -> None:
    """Networks that have nothing to do with each other, with rows that are zero, equal, or multiples, of any depth."""
    random = np.random.default_rng(seed)

    def some() -> Network:
        widths = [3, *random.integers(1, 7, size=random.integers(1, 4)).tolist(), 2]
        layers = random_layers(random, *widths)
        for h in range(len(layers) - 1):
            m = len(layers[h].bias)
            rows, factors = random.integers(m, size=m).tolist(), random.choice([1.0, 0.5, 3.0, 1e-3], size=m).tolist()
            layers = with_rows(layers, h, rows, factors, random.choice([0.0, 1.0, -1.0], size=m).tolist())
        return network(layers)

    a, b = some(), some()
    first, second, _ = match(a, b)
    assert contained(a, first, random)
    assert contained(b, second, random)
    assert {type(x) for x in align(first, second)} == {Network}


@pytest.mark.parametrize("seed", range(5))
def test_errors_of_weights_go_along(seed: int) -> None:
    """Every network within the errors of one is within the errors of its other form."""
    random = np.random.default_rng(seed)
    layers = random_layers(random, 3, 5, 4, 2)
    twin = everything(layers, random)
    loose = [replace(x, weight_error=np.abs(x.weight) * 1e-4, bias_error=np.abs(x.bias) * 1e-4) for x in twin]
    first, second, found = match(network(layers), network(loose))
    assert found.moved
    assert found.scaled
    assert not found.merged
    for _ in range(5):
        inside = [AffineLayer(x.weight * (1 + 1e-4 * random.uniform(-1, 1, x.weight.shape)), x.bias) for x in twin]
        assert contained(network(inside), second, random)
    assert contained(network(layers), first, random)


def test_float32_copies_are_not_merged() -> None:
    random = np.random.default_rng(0)
    layers = random_layers(random, 3, 5, 2)
    a, b = (replace(network(x), arithmetic="float32") for x in (layers, duplicated(layers, random)))
    first, second, found = match(a, b)
    assert not found.merged
    assert found.copied
    assert contained(a, first, random)
    assert contained(b, second, random)


def test_a_copy_beside_what_it_is_unlike_stands_with_what_it_copies() -> None:
    random = np.random.default_rng(0)
    layers = random_layers(random, 3, 5, 2)
    weight, bias = layers[0].weight.copy(), layers[0].bias.copy()
    weight[1], bias[1] = -weight[0], -bias[0]
    unlike = [AffineLayer(weight.copy(), bias.copy()), layers[1]]
    weight[1], bias[1] = weight[0], bias[0]
    copied = [AffineLayer(weight, bias), layers[1]]
    a, b = (replace(network(x), arithmetic="float32") for x in (unlike, copied))
    first, second, found = match(a, b)
    assert found.copied == 1
    assert len(second.layers[0].bias) == 6
    assert second.layers[0].bias[1] == 0.0
    assert contained(a, first, random)
    assert contained(b, second, random)


@pytest.mark.parametrize("seed", range(5))
def test_a_deeper_twin_is_paired_layer_by_layer(seed: int) -> None:
    """An identity layer in the middle of a network changes nothing, and is met by one in the other network."""
    random = np.random.default_rng(seed)
    layers = random_layers(random, 4, 6, 5, 7, 3)
    twin = permuted([*layers[:2], AffineLayer(np.eye(5), np.zeros(5)), *layers[2:]], random)
    for a, b in ((network(layers), network(twin)), (network(twin), network(layers))):
        first, second, found = match(a, b)
        assert found.deepened
        assert contained(a, first, random)
        assert contained(b, second, random)
        assert all(np.array_equal(x.weight, y.weight) for x, y in zip(first.layers, second.layers, strict=True))


def test_what_is_in_step_stays_as_it_is() -> None:
    """Quantised and pruned networks have their neurons where those of the original are."""
    random = np.random.default_rng(3)
    layers = random_layers(random, 5, 20, 20, 4)
    original = network(layers)
    pruned = network([replace(x, weight=np.where(np.abs(x.weight) < 0.1, 0.0, x.weight)) for x in layers])
    quantised = network([replace(x, weight=np.round(x.weight * 64) / 64) for x in layers])
    for other in (original, pruned, quantised):
        first, second, found = match(original, other)
        assert not found
        assert first is original
        assert second is other
        assert str(found) == ""


def test_what_does_not_compare_is_left_to_align() -> None:
    random = np.random.default_rng(3)
    a, b = network(random_layers(random, 5, 4, 2)), network(random_layers(random, 4, 4, 2))
    assert match(a, b)[:2] == (a, b)


def test_numbers_beyond_the_floats_end_the_matching() -> None:
    random = np.random.default_rng(3)
    layers = random_layers(random, 3, 4, 2)
    huge = with_rows(layers, 0, [1, 0, 3, 2], [1e-200] * 4, [1.0] * 4)
    first, second, _ = match(network(layers), network(huge))
    assert contained(network(huge), second, random)
    assert contained(network(layers), first, random)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, 2.0], [0.5, 1.0], 2),
        ([1.0, 0.0], [3.0, 0.0], Fraction(1, 3)),
        ([1.0, 2.0], [-1.0, -2.0], None),
        ([1.0, 0.0], [1.0, 1.0], None),
        ([0.0, 0.0], [0.0, 0.0], None),
        ([0.1, 0.3], [0.2, 0.6], Fraction(1, 2)),
        ([0.1, 0.3], [0.3, 0.9], None),
    ],
)
def test_multiples_are_exact(one: list[float], other: list[float], expected: Fraction | None) -> None:
    layer = AffineLayer(np.array([one[:1], other[:1]]), np.array([one[1], other[1]]))
    assert ratio(layer, 0, 1) == expected
    assert ratio(replace(layer, bias_error=np.array([0.0, 1e-9])), 0, 1) is None
