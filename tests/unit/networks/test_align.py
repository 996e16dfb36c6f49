"""Aligning a pair changes neither function: exact outputs stay equal, and shapes agree layer by layer."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from eqspec.errors import InputError
from eqspec.networks import AffineLayer, Network, align


def network(*widths: int, seed: int = 0, error: float = 0.0) -> Network:
    random = np.random.default_rng(seed)
    layers = []
    for columns, rows in pairwise(widths):
        weight, bias = random.normal(size=(rows, columns)), random.normal(size=rows)
        layers.append(
            AffineLayer(weight, bias, np.abs(weight) * error, np.abs(bias) * error)
            if error
            else AffineLayer(weight, bias)
        )
    return Network.of_layers(tuple(layers), f"net{seed}", "sha", input_name="in", notes=("kept",))


POINTS = [[Fraction(a, 7), Fraction(b, 3), Fraction(c)] for a, b, c in [(1, -2, 0), (-5, 4, 1), (0, 0, 0), (9, 9, -9)]]


@pytest.mark.parametrize("error", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 4, 2), (3, 6, 2)),
        ((3, 4, 5, 2), (3, 6, 2)),
        ((3, 2), (3, 6, 2)),
        ((3, 2), (3, 6, 1, 7, 2)),
        ((3, 2), (3, 2)),
        ((3, 9, 1, 2), (3, 1, 9, 2)),
    ],
)
def test_both_keep_their_function(first: tuple[int, ...], second: tuple[int, ...], error: float) -> None:
    a, b = network(*first, seed=1, error=error), network(*second, seed=2, error=error)
    for x, y in ((a, b), (b, a)):
        p, q = align(x, y)
        assert [layer.weight.shape for layer in p.layers] == [layer.weight.shape for layer in q.layers]
        for before, after in ((x, p), (y, q)):
            assert all(before.evaluate_exact(point) == after.evaluate_exact(point) for point in POINTS)
            assert (after.source, after.sha256, after.input_name, after.notes) == (
                before.source,
                "sha",
                "in",
                ("kept",),
            )


def test_added_layers_are_exact_identities() -> None:
    shallow, _ = align(network(3, 4, 2), network(3, 4, 4, 4, 2, seed=1))
    for layer in shallow.layers[1:3]:
        assert np.array_equal(layer.weight, np.eye(4))
        assert layer.weight_error is None
        assert not layer.bias.any()


def test_a_pair_of_one_shape_is_left_alone() -> None:
    a, b = network(3, 4, 2), network(3, 4, 2, seed=1)
    p, q = align(a, b)
    assert all(x.weight is y.weight for n, m in ((a, p), (b, q)) for x, y in zip(n.layers, m.layers, strict=True))


@pytest.mark.parametrize(("widths", "words"), [((4, 2), "3 inputs.*4"), ((3, 5), "2 outputs.*5")])
def test_networks_that_do_not_compare(widths: tuple[int, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        align(network(3, 2), network(*widths, seed=1))
