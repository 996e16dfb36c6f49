"""Networks small enough to follow by hand: two inputs, two outputs, weights that float32 holds exactly.

Five of them compute the same function as `base`, each for another reason; `raised` differs from it by exactly one
quarter in its first output.
"""

from __future__ import annotations

import numpy as np

from making.training import Array, Mlp

RISE = 0.25


def networks() -> dict[str, Mlp]:
    """All of them by name."""
    base = Mlp(
        (
            _rows([1, 1], [1, -1], [-0.5, 1]),
            _rows([1, -1, 0.5], [0.5, 1, -1], [-1, 0.25, 1]),
            _rows([1, -0.5, 0.25], [-1, 1, 0.5]),
        ),
        (_row(0.5, 0, -0.25), _row(0, 0.25, 0.5), _row(0.125, 0)),
    )
    return {
        "base": base,
        "permuted": _permute(base, 0, [2, 0, 1]),
        "scaled": _scale(base, 1, _row(2, 0.5, 4)),
        "split": _split(base, 0, neuron=1),
        "deeper": _insert_identity(base, 1),
        "wider": _add_dead_neuron(base, 1),
        "raised": Mlp(base.weights, (*base.biases[:-1], base.biases[-1] + _row(RISE, 0))),
    }


def _permute(network: Mlp, layer: int, order: list[int]) -> Mlp:
    """The neurons of a hidden layer in another order."""
    weights, biases = list(network.weights), list(network.biases)
    weights[layer], biases[layer] = weights[layer][order], biases[layer][order]
    weights[layer + 1] = weights[layer + 1][:, order]
    return Mlp(tuple(weights), tuple(biases))


def _scale(network: Mlp, layer: int, factors: Array) -> Mlp:
    """relu(c z) / c = relu(z) for c > 0."""
    weights, biases = list(network.weights), list(network.biases)
    weights[layer], biases[layer] = weights[layer] * factors[:, None], biases[layer] * factors
    weights[layer + 1] = weights[layer + 1] / factors
    return Mlp(tuple(weights), tuple(biases))


def _split(network: Mlp, layer: int, neuron: int) -> Mlp:
    """One neuron twice, each copy handing on half."""
    weights, biases = list(network.weights), list(network.biases)
    weights[layer] = np.vstack([weights[layer], weights[layer][neuron]])
    biases[layer] = np.append(biases[layer], biases[layer][neuron])
    onward = weights[layer + 1].copy()
    onward[:, neuron] /= 2
    weights[layer + 1] = np.column_stack([onward, onward[:, neuron]])
    return Mlp(tuple(weights), tuple(biases))


def _insert_identity(network: Mlp, layer: int) -> Mlp:
    """One layer more: behind a ReLU nothing is negative, so the identity and another ReLU change nothing."""
    width = len(network.biases[layer])
    weights, biases = list(network.weights), list(network.biases)
    weights.insert(layer + 1, np.eye(width))
    biases.insert(layer + 1, np.zeros(width))
    return Mlp(tuple(weights), tuple(biases))


def _add_dead_neuron(network: Mlp, layer: int) -> Mlp:
    """A neuron whose bias keeps it off everywhere."""
    weights, biases = list(network.weights), list(network.biases)
    weights[layer] = np.vstack([weights[layer], np.zeros(weights[layer].shape[1])])
    biases[layer] = np.append(biases[layer], -1.0)
    weights[layer + 1] = np.column_stack([weights[layer + 1], np.ones(len(weights[layer + 1]))])
    return Mlp(tuple(weights), tuple(biases))


def _rows(*rows: list[float]) -> Array:
    return np.array(rows, dtype=np.float64)


def _row(*numbers: float) -> Array:
    return np.array(numbers, dtype=np.float64)
