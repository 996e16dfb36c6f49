"""A candidate whose neurons have other sizes: its verdict, boxes as for equal sizes, witnesses and certificates.

The oracle is the pair without any rescaling. Factors are powers of two, so that all files compute what it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import eqspec
from convolutional_models import Array, Conv, Dense, Flatten, Function, Layer, Model, to_onnx
from eqspec.audit import audit
from eqspec.property import Epsilon

Random = np.random.Generator
Make = Callable[[Random, float], tuple[Model, Model]]


def dense(random: Random, change: float) -> tuple[Model, Model]:
    """A network and a copy on a grid of 2^-5 or so, three inputs and two hidden layers."""
    layers = [(random.normal(size=(m, n)) / n**0.5, random.normal(size=m) / 4) for n, m in ((3, 12), (12, 12), (12, 2))]

    def model(step: float) -> Model:
        made: list[Layer] = []
        for w, b in layers:
            made += [Dense(rounded(w, step), rounded(b, 2.0**-10)), Function("relu")]
        return Model(made[:-1], (3,))

    return model(2.0**-10), model(change)


def convolutional(random: Random, change: float) -> tuple[Model, Model]:
    """The same with a convolution over a sequence of four in front."""
    front, hidden, last = random.normal(size=(3, 1, 3)) / 2, random.normal(size=(8, 12)) / 3, random.normal(size=(2, 8))
    first, second = (
        Model(
            [
                Conv(rounded(front, step), np.array([0.25, -0.5, 0.125]), padding=1),
                Function("leaky"),
                Flatten(),
                Dense(rounded(hidden, step), np.zeros(8)),
                Function("relu"),
                Dense(rounded(last, step), np.zeros(2)),
            ],
            (1, 4),
        )
        for step in (2.0**-10, change)
    )
    return first, second


def rounded(a: Array, step: float) -> Array:
    return np.asarray(np.round(a / step) * step)


def rescaled(model: Model, random: Random) -> Model:
    """The same function, hidden rows times powers of two from 1/32 to 32."""
    layers = list(model.layers)
    places = [at for at, layer in enumerate(layers) if isinstance(layer, Conv | Dense)]
    for at, reader in pairwise(places):
        layer, after = layers[at], layers[reader]
        assert isinstance(layer, Conv | Dense)
        assert isinstance(after, Conv | Dense)
        assert layer.bias is not None
        by = np.exp2(random.integers(-5, 6, len(layer.weight)))
        weight = layer.weight * by.reshape(-1, *[1] * (layer.weight.ndim - 1))
        read = (after.weight.reshape(len(after.weight), len(by), -1) / by[:, None]).reshape(after.weight.shape)
        layers[at] = type(layer)(**{**vars(layer), "weight": weight, "bias": layer.bias * by})
        layers[reader] = type(after)(**{**vars(after), "weight": read})
    return Model(layers, model.shape)


def asked(pair: tuple[Model, Model], eps: float, certify: Path | None = None) -> eqspec.Result:
    f, g = map(to_onnx, pair)
    inputs = int(np.prod(pair[0].shape))
    claim = Epsilon(Fraction(eps))
    limits = eqspec.Options(threads=1, boxes=6000, weaken=False)
    return eqspec.verify(f, g, [-1] * inputs, [1] * inputs, claim, options=limits, certify=certify)


@pytest.mark.parametrize("make", [dense, convolutional])
@pytest.mark.parametrize("seed", range(3))
def test_the_size_of_neurons_costs_nothing(make: Make, seed: int) -> None:
    random = np.random.default_rng(seed)
    f, g = make(random, 2.0**-4)
    plain = asked((f, g), 0.5)
    assert str(plain.verdict) == "equivalent"
    for pair in ((f, rescaled(g, random)), (rescaled(f, random), g), (rescaled(f, random), rescaled(g, random))):
        found = asked(pair, 0.5)
        assert str(found.verdict) == "equivalent"
        assert found.boxes <= 1.3 * plain.boxes + 4


@pytest.mark.parametrize("make", [dense, convolutional])
def test_witnesses_are_of_the_networks_that_were_given(make: Make) -> None:
    random = np.random.default_rng(5)
    f, g = make(random, 2.0**-3)
    result = asked((f, rescaled(g, random)), 2.0**-7)
    assert str(result.verdict) == "different"
    assert result.witness is not None
    assert result.witness.onnxruntime_confirms
    again = eqspec.as_network(to_onnx(g)).evaluate_exact([Fraction(x) for x in result.witness.normalised])
    np.testing.assert_allclose([float(low) for low, _ in again], result.witness.candidate, rtol=1e-12)


def test_certificates_of_a_rescaled_pair_are_accepted(tmp_path: Path) -> None:
    """They speak of both networks as their files have them."""
    random = np.random.default_rng(1)
    f, g = dense(random, 2.0**-6)
    result = asked((f, rescaled(g, random)), 1.5, tmp_path)
    assert str(result.verdict) == "equivalent"
    assert result.certificate is not None
    assert audit(Path(result.certificate)).verdict == "equivalent"
