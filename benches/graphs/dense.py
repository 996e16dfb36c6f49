"""Controllers and classifiers of dense layers with sigmoid or tanh, against 8 bits of their weights.

A controller holds up a pendulum: it takes angle, angular velocity, the place of the cart and its velocity, each in
[-1, 1], and learns in numpy what a linear law with bounded force does. A classifier takes scikit-learn's digits as 64
numbers. Biases stay as they are; each matrix is rounded to 8 bits with a scale of its own. What is claimed is three
times the largest difference of an output at sampled points and corners of a box of radius .01.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from acceptance.published import Query
from benches.graphs import training
from benches.graphs.digits import FOLDER, box, largest
from convolutional_models import Array, Dense, Function, Layer, Model, on_a_grid, write
from eqspec.networks import read_network
from eqspec.networks.network import Network
from eqspec.property import Epsilon
from small_tasks import task

SIZES = ((2, 64), (3, 100), (6, 200))
"""Hidden layers, and neurons of each."""
FUNCTIONS = ("sigmoid", "tanh")
RADIUS, TIMES, BOXES = 0.01, 3, 5
_BATCHES, _BATCH, _RATE = 1000, 128, 3e-3
_GAINS = np.array([2.0, 0.8, 0.5, 0.6])


def controllers() -> list[Query]:
    """Around five states of a pendulum, every size and function."""
    centres = np.random.default_rng(7).uniform(-0.9, 0.9, (BOXES, len(_GAINS)))
    return list(_queries("controller", centres, (-1.0, 1.0)))


def classifiers() -> list[Query]:
    """Around five images that were not trained on, every size and function."""
    _, _, images, _ = training.digits()
    return list(_queries("classifier", images[:BOXES].reshape(BOXES, -1), (0.0, 1.0)))


def _queries(kind: str, centres: Array, ends: tuple[float, float]) -> Iterator[Query]:
    for function in FUNCTIONS:
        for size in SIZES:
            one, other = _pair(kind, function, size)
            for number, centre in enumerate(centres):
                lower, upper = box(centre, RADIUS, *ends)
                claim = Epsilon(TIMES * Fraction(largest(one, other, lower, upper)))
                name = f"{kind}_{function}_{size[0]}x{size[1]}"
                yield Query(f"{name} {number}", task(one, other, claim, lower, upper, id=f"{name}[{number}]"), None)


def _pair(kind: str, function: str, size: tuple[int, int]) -> tuple[Network, Network]:
    """A network and its copy of 8 bits, trained and written if they are not there."""
    name = f"dense_{kind}_{function}_{size[0]}x{size[1]}"
    paths = FOLDER / f"{name}.onnx", FOLDER / f"{name}_grid.onnx"
    if not all(path.exists() for path in paths):
        model = trained(kind, function, size)
        write(model, paths[0])
        write(on_a_grid(model), paths[1])
    one, other = (read_network(path) for path in paths)
    return one, other


def trained(kind: str, function: str, size: tuple[int, int]) -> Model:
    """A controller or a classifier."""
    rng = np.random.default_rng([size[0], size[1], FUNCTIONS.index(function)])
    inputs, outputs = (len(_GAINS), 1) if kind == "controller" else (64, 10)
    model = initialise(function, (inputs, *(size[1],) * size[0], outputs), rng)
    images, labels, _, _ = training.digits()

    def batches() -> Iterator[tuple[Array, Array]]:
        for _ in range(_BATCHES):
            if kind == "controller":
                states = rng.uniform(-1, 1, (_BATCH, inputs))
                yield states, np.clip(np.sin(states) @ _GAINS, -1, 1)[:, None]
            else:
                chosen = rng.integers(len(images), size=_BATCH)
                yield images[chosen].reshape(_BATCH, -1), np.eye(10)[labels[chosen]]

    training.descend(model, batches(), np.subtract if kind == "controller" else training.surprise, _RATE)
    return model


def initialise(function: str, sizes: tuple[int, ...], rng: np.random.Generator) -> Model:
    """Untrained weights that keep the size of values: a sigmoid has a quarter of the slope of tanh."""
    gain = {"sigmoid": 4.0, "tanh": 1.0}[function]
    layers: list[Layer] = []
    for number, (before, after) in enumerate(pairwise(sizes)):
        of_inputs = 1.0 if number == 0 else gain
        weight = rng.normal(0, of_inputs / np.sqrt(before), (after, before))
        middle = 0.5 if function == "sigmoid" and number else 0.0  # what a sigmoid gives where it is fed 0
        layers += [Dense(weight, -middle * weight.sum(axis=1)), Function(function)]
    return Model(layers[:-1], (sizes[0],))
