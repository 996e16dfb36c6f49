"""A small ReLU classifier, trained by Adam on the cross entropy, pruned by magnitude and retrained under the mask.

Shapes: N samples, I features, O classes; layer l has weight (m_l, n_l) and bias (m_l,), ReLU between the layers, logits
at the end. Everything is float64 and seeded, so one machine makes the same network twice; another linear algebra
library may differ in the last digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mlp:
    """Affine layers with a ReLU between them; the outputs are logits."""

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]

    def logits(self, inputs: Array) -> Array:
        """Scores (N, O) at inputs (N, I)."""
        return self.activations(inputs)[-1]

    def activations(self, inputs: Array) -> list[Array]:
        """The inputs, the output of every ReLU and the logits."""
        values = [inputs]
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            score = values[-1] @ weight.T + bias
            values.append(score if index == len(self.weights) - 1 else np.maximum(score, 0))
        return values

    def accuracy(self, inputs: Array, labels: Labels) -> float:
        """Share of samples whose best class is the label."""
        return float(np.mean(self.logits(inputs).argmax(axis=1) == labels))


@dataclass(frozen=True)
class Recipe:
    """How long and how fast to train; `decay` is the weight of half the squared norm of all weights in the loss."""

    epochs: int
    rate: float = 1e-3
    batch: int = 64
    decay: float = 1e-4


def initialise(sizes: Sequence[int], rng: np.random.Generator) -> Mlp:
    """He initialisation of a network with the given layer sizes, inputs first."""
    pairs = list(pairwise(sizes))
    return Mlp(
        tuple(rng.normal(scale=np.sqrt(2 / n), size=(m, n)) for n, m in pairs),
        tuple(np.zeros(m) for _, m in pairs),
    )


def softmax(logits: Array) -> Array:
    """Row by row, without overflow."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def loss(network: Mlp, inputs: Array, labels: Labels, decay: float) -> float:
    """Mean cross entropy plus the decay term; what `gradients` is the gradient of."""
    logits = network.logits(inputs)
    peak = logits.max(axis=1)
    total = np.log(np.exp(logits - peak[:, None]).sum(axis=1)) + peak
    chosen = logits[np.arange(len(labels)), labels]
    return float(np.mean(total - chosen) + decay / 2 * sum(np.sum(w**2) for w in network.weights))


def gradients(network: Mlp, inputs: Array, labels: Labels, decay: float) -> list[Array]:
    """Gradient of `loss` for each weight, then for each bias."""
    values = network.activations(inputs)
    upstream = softmax(values[-1])
    upstream[np.arange(len(labels)), labels] -= 1
    upstream /= len(labels)
    by_weight: list[Array] = []
    by_bias: list[Array] = []
    for index in reversed(range(len(network.weights))):
        by_weight.append(upstream.T @ values[index] + decay * network.weights[index])
        by_bias.append(upstream.sum(axis=0))
        upstream = (upstream @ network.weights[index]) * (values[index] > 0)
    return by_weight[::-1] + by_bias[::-1]


def train(
    network: Mlp,
    inputs: Array,
    labels: Labels,
    recipe: Recipe,
    rng: np.random.Generator,
    masks: Sequence[Mask] | None = None,
) -> Mlp:
    """Adam on minibatches, the rate falling to zero along a cosine. Weights outside `masks` stay exactly zero."""
    keep = [np.ones_like(w, dtype=bool) for w in network.weights] if masks is None else list(masks)
    parameters = [np.where(k, w, 0.0) for k, w in zip(keep, network.weights, strict=True)]
    parameters += [bias.copy() for bias in network.biases]
    depth = len(keep)
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    steps = recipe.epochs * -(-len(inputs) // recipe.batch)
    step = 0
    for _ in range(recipe.epochs):
        order = rng.permutation(len(inputs))
        for start in range(0, len(inputs), recipe.batch):
            chosen = order[start : start + recipe.batch]
            current = Mlp(tuple(parameters[:depth]), tuple(parameters[depth:]))
            slopes = gradients(current, inputs[chosen], labels[chosen], recipe.decay)
            rate = recipe.rate * (1 + np.cos(np.pi * step / steps)) / 2
            step += 1
            for i, slope in enumerate(slopes):
                first[i] += 0.1 * (slope - first[i])
                second[i] += 0.001 * (slope**2 - second[i])
                scaled = np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8
                parameters[i] = parameters[i] - rate * first[i] / (1 - 0.9**step) / scaled
                if i < depth:
                    parameters[i] *= keep[i]
    return Mlp(tuple(parameters[:depth]), tuple(parameters[depth:]))


def prune_weights(network: Mlp, share: float) -> list[Mask]:
    """What to keep when the given share of all weights, the smallest, is cut."""
    sizes = np.concatenate([np.abs(w).ravel() for w in network.weights])
    threshold = np.sort(sizes)[int(share * len(sizes))]
    return [np.abs(w) >= threshold for w in network.weights]


def prune_neurons(network: Mlp, per_layer: int) -> Mlp:
    """Cut the `per_layer` hidden neurons of each layer whose incoming times outgoing weights are the smallest."""
    weights, biases = list(network.weights), list(network.biases)
    for layer in range(len(weights) - 1):
        strength = np.linalg.norm(weights[layer], axis=1) * np.linalg.norm(weights[layer + 1], axis=0)
        kept = np.sort(np.argsort(strength, kind="stable")[per_layer:])
        weights[layer], biases[layer] = weights[layer][kept], biases[layer][kept]
        weights[layer + 1] = weights[layer + 1][:, kept]
    return Mlp(tuple(weights), tuple(biases))


def fold_standardisation(network: Mlp, mean: Array, std: Array) -> Mlp:
    """The network that takes raw features: f((x - mean) / std) with the division folded into the first layer."""
    weight = network.weights[0] / std
    return Mlp((weight, *network.weights[1:]), (network.biases[0] - weight @ mean, *network.biases[1:]))
