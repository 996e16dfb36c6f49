"""Exact twins of dense networks beside the repository: neurons in another order, on another scale, or twice.

Where a scale is no power of two, the twin is rounded to float32 once more, as by a program that rescales, and is no
exact twin any more.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from acceptance.families import SHARED
from acceptance.published import Query
from benches.graphs.digits import FOLDER, box
from convolutional_models import Array, Dense, Flatten, Function, Layer, Model, write
from eqspec.networks import read_network
from eqspec.networks.network import Network
from eqspec.property import Epsilon, Top1
from small_tasks import task

Dense2 = list[tuple[Array, Array]]
Moved = tuple[NDArray[np.intp], Array, Array]
"""Which neuron stands at each place, what it is scaled by, and what share of it the next layer reads there."""
NETS = {
    "LHC": "lhc/2_80-1.onnx",
    "ACAS": "acas/nets/ACASXU_run2a_1_1_batch_2000.onnx",
    "MNIST": "mnist/mnist_relu_3_100.onnx",
}


def _permuted(layers: Dense2, rng: np.random.Generator) -> Dense2:
    return _moved(layers, lambda size: (rng.permutation(size).astype(np.intp), np.ones(size), np.ones(size)))


def _rescaled(layers: Dense2, rng: np.random.Generator, *, exact: bool = True) -> Dense2:
    """Every neuron by a factor of its own that the next layer takes back; by a power of two if `exact`."""

    def scales(size: int) -> Moved:
        factor: Array = np.exp2(rng.integers(-3, 4, size).astype(float)) if exact else np.exp(rng.normal(0, 0.7, size))
        return np.arange(size), factor, 1 / factor

    return _moved(layers, scales)


def _doubled(layers: Dense2, rng: np.random.Generator) -> Dense2:
    """A tenth of all neurons twice, each reads half of what the one had."""

    def twice(size: int) -> Moved:
        again = rng.choice(size, max(1, size // 10), replace=False)
        order = np.concatenate([np.arange(size), again])
        share = np.where(np.isin(order, again), 0.5, 1.0)
        return order, np.ones(len(order)), share

    return _moved(layers, twice)


def _moved(layers: Dense2, chosen: Callable[[int], Moved]) -> Dense2:
    done, columns, shares = [], np.arange(layers[0][0].shape[1]), np.ones(layers[0][0].shape[1])
    for number, (weight, bias) in enumerate(layers):
        weight = weight[:, columns] * shares
        size = len(bias)
        last = number == len(layers) - 1
        order, factor, shares = (np.arange(size), np.ones(size), np.ones(size)) if last else chosen(size)
        columns = order
        done.append((weight[columns] * factor[:, None], bias[columns] * factor))
    return done


CHANGES: dict[str, Callable[[Dense2, np.random.Generator], Dense2]] = {
    "permuted": _permuted,
    "rescaled by powers of two": _rescaled,
    "rescaled and rounded": partial(_rescaled, exact=False),
    "doubled": _doubled,
}


def twins(claim: str, radius: float = 0.1) -> list[Query]:
    """Every network with every change, on a box of this radius in the units of the network."""
    made = []
    for name, file in NETS.items():
        low, high = (0.0, 1.0) if name == "MNIST" else (-0.3, 0.3)
        one = read_network(SHARED / "data" / file)
        layers = [(layer.weight, layer.bias) for layer in one.layers]
        for number, (change, apply) in enumerate(CHANGES.items()):
            rng = np.random.default_rng(number)
            other = _network(apply(layers, rng), FOLDER / f"twin_{name}_{change.replace(' ', '_')}.onnx")
            centre = np.random.default_rng(5).uniform(low, high, one.input_size)
            ends = box(centre, radius, *((0, 1) if name == "MNIST" else (-100, 100)))
            wanted = Epsilon(Fraction("0.000001")) if claim == "eps" else Top1()
            made.append(
                Query(
                    f"{name} {change}", task(one, other, wanted, *ends, id=f"{name}_{change.replace(' ', '_')}"), None
                )
            )
    return made


def _network(layers: Dense2, path: Path) -> Network:
    listed: list[Layer] = [Flatten()]
    for weight, bias in layers:
        listed += [Dense(weight, bias), Function("relu")]
    return read_network(write(Model(listed[:-1], (layers[0][0].shape[1],)), path))
