"""Random tiny pairs on random regions: at most three inputs, three hidden layers of three neurons and four outputs.

Every kind of pair that deployment makes is there: pruned weights, removed neurons, rounded weights, neurons permuted
and rescaled, extra layers, the same network twice, and two that have nothing to do with each other. Weights come from
a coarse grid with many zeros, as float32, or as float64 with all their digits; boxes have inputs of no width and
bounds that no float can hold; regions have linear constraints, strict or not, and now and then are empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from eqspec.tasks.task import LinearConstraint
from oracle.pieces import Layers

Kind = Literal["pruned", "removed", "rounded", "permuted", "deeper", "equal", "unrelated"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SHARES: tuple[int, ...] = (5, 3, 3, 2, 2, 1, 4)
_CYCLE = [kind for kind, share in zip(KINDS, _SHARES, strict=True) for _ in range(share)]
Random = np.random.Generator


@dataclass(frozen=True)
class Pair:
    """Two networks of I inputs and O outputs, and a region."""

    kind: Kind
    reference: Layers
    candidate: Layers
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    constraints: tuple[LinearConstraint, ...]
    decide: Literal["max", "min"]

    @property
    def outputs(self) -> int:
        return len(self.reference[-1][1])


def make(seed: int) -> Pair:
    """The pair of a seed."""
    rng = np.random.default_rng([seed, 1])
    inputs, outputs = (
        int(rng.choice([1, 2, 3], p=[0.2, 0.5, 0.3])),
        int(rng.choice([1, 2, 3, 4], p=[0.05, 0.35, 0.3, 0.3])),
    )
    kind: Kind = _CYCLE[seed % len(_CYCLE)]
    style = str(rng.choice(["grid", "float32", "float64"]))
    reference = _network(rng, inputs, outputs, style)
    candidate = _network(rng, inputs, outputs, style) if kind == "unrelated" else _derive(rng, kind, reference)
    lower, upper = _box(rng, inputs)
    return Pair(
        kind,
        reference,
        candidate,
        lower,
        upper,
        _constraints(rng, lower, upper),
        "min" if seed % 7 == 3 else "max",
    )


def _network(rng: Random, inputs: int, outputs: int, style: str) -> Layers:
    hidden = [int(rng.integers(1, 4)) for _ in range(int(rng.choice(4, p=[0.04, 0.36, 0.4, 0.2])))]
    layers = []
    for n, m in pairwise([inputs, *hidden, outputs]):
        weight, bias = rng.normal(size=(m, n)), 0.5 * rng.normal(size=m)
        match style:
            case "grid":
                weight = np.round(4 * weight) / 4 * (rng.random((m, n)) < 0.75)
                bias = np.round(8 * bias) / 8
            case "float32":
                weight, bias = weight.astype(np.float32).astype(np.float64), bias.astype(np.float32).astype(np.float64)
        layers.append((weight, bias))
    return layers


def _derive(rng: Random, kind: Kind, reference: Layers) -> Layers:
    layers = [(weight.copy(), bias.copy()) for weight, bias in reference]
    match kind:
        case "pruned":
            for weight, _ in layers:
                weight[np.abs(weight) < rng.uniform(0.0, 0.4)] = 0.0
            layers[-1] = (layers[-1][0], layers[-1][1] + 0.05 * rng.normal(size=layers[-1][1].shape))
        case "removed":
            return _without_a_neuron(rng, layers)
        case "rounded":
            step = float(rng.choice([1 / 4, 1 / 16, 1 / 128]))
            return [(np.round(weight / step) * step, np.round(bias / step) * step) for weight, bias in layers]
        case "permuted":
            return _permuted(rng, layers)
        case "deeper" if len(layers) < 4 and layers[-1][0].shape[1] <= 3:
            weight, bias = layers.pop()
            width = weight.shape[1]
            noise = 0.05 * rng.normal(size=(width, width)) * (rng.random((width, width)) < 0.5)
            layers += [(np.eye(width) + noise, np.zeros(width)), (weight, bias)]
    return layers


def _without_a_neuron(rng: Random, layers: Layers) -> Layers:
    wide = [index for index, (_, bias) in enumerate(layers[:-1]) if len(bias) > 1]
    if not wide:
        return layers
    at = wide[int(rng.integers(len(wide)))]
    (weight, bias), (following, rest) = layers[at], layers[at + 1]
    neuron = int(rng.integers(len(bias)))
    changed = [*layers]
    changed[at] = (np.delete(weight, neuron, axis=0), np.delete(bias, neuron))
    changed[at + 1] = (np.ascontiguousarray(np.delete(following, neuron, axis=1)), rest)
    return changed


def _permuted(rng: Random, layers: Layers) -> Layers:
    """The same function: neurons in another order, each scaled by a power of two and scaled back."""
    changed = [*layers]
    for at in range(len(layers) - 1):
        (weight, bias), (following, rest) = changed[at], changed[at + 1]
        order, scale = rng.permutation(len(bias)), 2.0 ** rng.integers(-2, 3, size=len(bias))
        changed[at] = ((weight * scale[:, None])[order], (bias * scale)[order])
        changed[at + 1] = (np.ascontiguousarray((following / scale)[:, order]), rest)
    return changed


def _box(rng: Random, inputs: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    centre = [Fraction(int(rng.integers(-10, 11)), 10) for _ in range(inputs)]
    radius = [Fraction(0 if rng.random() < 0.12 else int(rng.integers(1, 16)), 10) for _ in range(inputs)]
    return tuple(c - r for c, r in zip(centre, radius, strict=True)), tuple(
        c + r for c, r in zip(centre, radius, strict=True)
    )


def _constraints(rng: Random, lower: tuple[Fraction, ...], upper: tuple[Fraction, ...]) -> tuple[LinearConstraint, ...]:
    """Half spaces whose border passes through the box, or (rarely) that the box misses."""
    made = []
    for _ in range(int(rng.choice(3, p=[0.65, 0.25, 0.1]))):
        coefficients = tuple(Fraction(int(rng.integers(-10, 11)), 10) for _ in lower)
        share = [Fraction(int(rng.integers(0, 11)), 10) for _ in lower]
        point = [a + s * (b - a) for a, s, b in zip(lower, share, upper, strict=True)]
        bound = sum((c * x for c, x in zip(coefficients, point, strict=True)), Fraction(0))
        strict = bool(rng.random() < 0.5)
        if rng.random() < 0.03:
            bound -= 100
        elif strict and rng.random() < 0.8:  # or else it may leave nothing of a face that the other constraints leave
            bound += Fraction(1, 20)
        made.append(LinearConstraint(coefficients, bound, strict))
    return tuple(made)
