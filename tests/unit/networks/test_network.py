"""Networks in memory: validation, float64 evaluation, exact evaluation against plain rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eqspec.errors import InputError, NetworkError
from eqspec.networks import AffineLayer, Network


def network(*layers: AffineLayer) -> Network:
    return Network.of_layers(layers, "memory", "")


def layer(rows: int, columns: int, seed: int = 0, *, error: float = 0.0) -> AffineLayer:
    random = np.random.default_rng(seed)
    weight, bias = (
        random.normal(size=(rows, columns)) * 10.0 ** random.integers(-8, 8, (rows, columns)),
        random.normal(size=rows),
    )
    if not error:
        return AffineLayer(weight, bias)
    return AffineLayer(weight, bias, np.abs(weight) * error, np.abs(bias) * error)


def plain(net: Network, point: list[Fraction], choose: Any) -> list[Fraction]:
    """The network over the rationals, one number at a time; `choose` picks a weight within its error."""
    values = point
    for number, affine in enumerate(net.layers):
        weight_error = np.zeros_like(affine.weight) if affine.weight_error is None else affine.weight_error
        bias_error = np.zeros_like(affine.bias) if affine.bias_error is None else affine.bias_error
        rows = []
        for i in range(affine.bias.size):
            total = choose(affine.bias[i], bias_error[i])
            for j, value in enumerate(values):
                total += choose(affine.weight[i, j], weight_error[i, j]) * value
            rows.append(total)
        values = rows if number == len(net.layers) - 1 else [max(v, Fraction(0)) for v in rows]
    return values


POINTS = [
    [Fraction(1, 3), Fraction(-2, 7), Fraction(0)],
    [Fraction(5), Fraction(-1, 1 << 70), Fraction(1, 10**30)],
    [Fraction(0), Fraction(0), Fraction(0)],
]


@pytest.mark.parametrize("point", POINTS)
def test_exact_evaluation_is_the_rational_function(point: list[Fraction]) -> None:
    net = network(layer(5, 3), layer(4, 5, 1), layer(2, 4, 2))
    expected = plain(net, point, lambda value, _: Fraction(float(value)))
    assert net.evaluate_exact(point) == [(v, v) for v in expected]


@pytest.mark.parametrize("point", POINTS)
def test_exact_evaluation_encloses_every_network_within_the_errors(point: list[Fraction]) -> None:
    net = network(layer(5, 3, error=0.01), layer(4, 5, 1), layer(2, 4, 2, error=0.001))
    intervals = net.evaluate_exact(point)
    random = np.random.default_rng(3)
    outputs = [
        plain(net, point, lambda v, e: Fraction(float(v)) + Fraction(float(e)) * int(random.integers(-1, 2)))
        for _ in range(50)
    ]
    for output in outputs:
        assert all(low <= v <= high for (low, high), v in zip(intervals, output, strict=True))
    assert len({tuple(o) for o in outputs}) > 1


def test_one_layer_intervals_are_tight() -> None:
    net = network(AffineLayer(np.array([[2.0, -3.0]]), np.array([1.0]), np.array([[0.5, 0.25]]), np.array([0.125])))
    x, y = Fraction(-1, 3), Fraction(1, 7)
    middle, radius = 2 * x - 3 * y + 1, abs(x) / 2 + y / 4 + Fraction(1, 8)
    assert net.evaluate_exact([x, y]) == [(middle - radius, middle + radius)]


def test_exact_evaluation_of_extreme_weights() -> None:
    net = network(
        AffineLayer(np.array([[1e308, 5e-324]]), np.array([-0.0])), AffineLayer(np.array([[1e308]]), np.array([1e-300]))
    )
    expected = plain(net, [Fraction(1, 3), Fraction(1)], lambda v, _: Fraction(float(v)))
    assert net.evaluate_exact([Fraction(1, 3), Fraction(1)]) == [(expected[0], expected[0])]


def test_float_evaluation_follows_the_exact_one() -> None:
    net = network(layer(5, 3), layer(2, 5, 2))
    points = np.random.default_rng(0).normal(size=(7, 3))
    outputs = net.evaluate(points)
    assert outputs.shape == (7, 2)
    for point, output in zip(points, outputs, strict=True):
        exact = [float(low) for low, _ in net.evaluate_exact([Fraction(float(v)) for v in point])]
        np.testing.assert_allclose(output, exact, rtol=1e-12)


@pytest.mark.parametrize("shape", [(3,), (2, 4), (1, 1, 3)])
def test_inputs_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"\(N, 3\)"):
        network(layer(5, 3)).evaluate(np.zeros(shape))


def test_points_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="2 numbers given, 3"):
        network(layer(5, 3)).evaluate_exact([Fraction(1)] * 2)


GOOD = np.ones((2, 3))


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ((), "no layers"),
        ((AffineLayer(GOOD, np.ones(3)),), "layer 0, bias"),
        ((AffineLayer(np.ones(3), np.ones(3)),), "layer 0, weight"),
        ((AffineLayer(np.ones((0, 3)), np.ones(0)),), "layer 0, weight"),
        ((AffineLayer(np.ones((2, 0)), np.ones(2)),), "layer 0, weight"),
        ((AffineLayer(GOOD.astype(np.float32), np.ones(2)),), "float64"),
        ((AffineLayer(np.ones((3, 2)).T, np.ones(2)),), "C-contiguous"),
        ((AffineLayer(np.full((2, 3), np.nan), np.ones(2)),), "not finite"),
        ((AffineLayer(GOOD, np.array([1, np.inf])),), "not finite"),
        ((AffineLayer(GOOD, np.ones(2), -GOOD),), "negative error"),
        ((AffineLayer(GOOD, np.ones(2), None, np.ones(3)),), "bias_error"),
        ((AffineLayer(GOOD, np.ones(2)), AffineLayer(GOOD, np.ones(2))), "layer 1 has 3 inputs"),
        ((AffineLayer([[1.0]], np.ones(1)),), "weight"),  # type: ignore[arg-type]
    ],
)
def test_layers_that_do_not_fit_are_refused(layers: tuple[AffineLayer, ...], words: str) -> None:
    with pytest.raises(NetworkError, match=words) as caught:
        network(*layers)
    assert caught.value.fix


def test_nobody_writes_to_a_network() -> None:
    net = network(layer(3, 2, error=1e-9), layer(2, 3, 1))
    again = network(*(replace(affine) for affine in net.layers))
    for one in (net, again, net.with_layers(net.layers[:1])):
        arrays: list[Any] = [array for step in one.steps for array in (step.bias, step.bias_error)]
        tiles = [term.tile for step in one.steps for term in step.terms]
        arrays += [array for tile in tiles for array in (tile.index, tile.weight, tile.weight_error)]
        arrays += [array for a in one.layers for array in (a.weight, a.bias, a.weight_error, a.bias_error)]
        for array in arrays:
            if array is not None:
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0
