"""The same function written in another way, exactly: whatever deployment does to a network without changing it.

Weights are dyadic and changed by powers of two only, so that not a single bit of the function changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracle.pairs import Random
from oracle.pieces import Layers

Rewriting = Callable[[Random, Layers], Layers]


def permuted(rng: Random, layers: Layers) -> Layers:
    """The neurons of every hidden layer in another order."""
    changed = [*layers]
    for at in range(len(layers) - 1):
        (weight, bias), (following, rest) = changed[at], changed[at + 1]
        order = rng.permutation(len(bias))
        changed[at] = (weight[order], bias[order])
        changed[at + 1] = (np.ascontiguousarray(following[:, order]), rest)
    return changed


def rescaled(rng: Random, layers: Layers) -> Layers:
    """Neurons times powers of two, which the next layer takes back."""
    changed = [*layers]
    for at in range(len(layers) - 1):
        (weight, bias), (following, rest) = changed[at], changed[at + 1]
        scale = 2.0 ** rng.integers(-6, 7, len(bias))
        changed[at] = (weight * scale[:, None], bias * scale)
        changed[at + 1] = (following / scale, rest)
    return changed


def deepened(rng: Random, layers: Layers) -> Layers:
    """An identity behind some ReLU."""
    at = int(rng.integers(1, len(layers)))
    width = layers[at][0].shape[1]
    return [*layers[:at], (np.eye(width), np.zeros(width)), *layers[at:]]


def split(rng: Random, layers: Layers) -> Layers:
    """Some layer in two steps, x = relu(x) - relu(-x) between them."""
    at = int(rng.integers(len(layers)))
    weight, bias = layers[at]
    both = (np.concatenate([weight, -weight]), np.concatenate([bias, -bias]))
    one = np.eye(len(bias))
    return [*layers[:at], both, (np.concatenate([one, -one], axis=1), np.zeros(len(bias))), *layers[at + 1 :]]


def duplicated(rng: Random, layers: Layers) -> Layers:
    """Each hidden layer with one of its neurons twice; what goes out of it is shared between them."""
    changed = [*layers]
    for at in range(len(layers) - 1):
        (weight, bias), (following, rest) = changed[at], changed[at + 1]
        neuron, part = int(rng.integers(len(bias))), float(rng.choice([0.25, 0.5, 2.0]))
        changed[at] = (np.concatenate([weight, weight[[neuron]]]), np.append(bias, bias[neuron]))
        following = np.concatenate([following, following[:, [neuron]] * (1 - part)], axis=1)
        following[:, neuron] *= part
        changed[at + 1] = (following, rest)
    return changed


def with_dead_neurons(rng: Random, layers: Layers) -> Layers:
    """A neuron more in each hidden layer: never positive, or nobody listens."""
    changed = [*layers]
    for at in range(len(layers) - 1):
        (weight, bias), (following, rest) = changed[at], changed[at + 1]
        if rng.random() < 0.5:
            row, offset = np.zeros((1, weight.shape[1])), -float(rng.integers(0, 9))
            column = rng.integers(-8, 9, (len(rest), 1)) / 8.0
        else:
            row, offset = rng.integers(-8, 9, (1, weight.shape[1])) / 8.0, 1.0
            column = np.zeros((len(rest), 1))
        changed[at] = (np.concatenate([weight, row]), np.append(bias, offset))
        changed[at + 1] = (np.concatenate([following, column], axis=1), rest)
    return changed


REWRITINGS: dict[str, Rewriting] = {
    "permuted": permuted,
    "rescaled": rescaled,
    "deepened": deepened,
    "split": split,
    "duplicated": duplicated,
    "with dead neurons": with_dead_neurons,
}
