"""Random tiny pairs for the hunt: those of the oracle, and what makes floats err: other scales, equal parts, spikes.

Every pair stays small enough for the oracle to take it apart in a millisecond or two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from oracle.pairs import Pair, Random, make
from oracle.pieces import Layers


def random_pair(seed: int) -> tuple[Pair, str]:
    """A pair and what was done to it."""
    rng = np.random.default_rng([seed, 7])
    pair, turn = make(seed), seed % _CYCLE
    if turn >= len(CHANGES):
        return pair, "plain"
    return _CHANGES[CHANGES[turn]](pair, rng), CHANGES[turn]


def _scaled(pair: Pair, rng: Random, most: int) -> Pair:
    """Layers times powers of two, in the same way in both if they are alike; ReLU lets positive factors through."""
    exponents = [int(e) for e in rng.integers(-most, most + 1, max(len(pair.reference), len(pair.candidate)))]
    if rng.random() < 0.7:  # as large before as it was, behind everything
        exponents[min(len(pair.reference), len(pair.candidate)) - 1] = -sum(
            exponents[: min(len(pair.reference), len(pair.candidate)) - 1]
        )
    return replace(
        pair, reference=_times(pair.reference, exponents, most), candidate=_times(pair.candidate, exponents, most)
    )


def _times(layers: Layers, exponents: list[int], most: int) -> Layers:
    made, total = [], 0
    for (weight, bias), exponent in zip(layers, exponents, strict=False):
        total += exponent
        with np.errstate(over="ignore", under="ignore"):
            made.append((np.ldexp(weight, exponent), np.ldexp(bias, total)))
    if not all(np.isfinite(weight).all() and np.isfinite(bias).all() for weight, bias in made):
        return layers
    return made


def _rescaled(pair: Pair, rng: Random) -> Pair:
    return _scaled(pair, rng, 12)


def _extreme(pair: Pair, rng: Random) -> Pair:
    """Down to denormal numbers and up to 1e300."""
    return _scaled(pair, rng, int(rng.choice([350, 520])))


def _overflowing(pair: Pair, rng: Random) -> Pair:
    """Finite weights whose products are not, except where they cancel."""
    exponent = int(rng.integers(400, 800))

    def large(layers: Layers) -> Layers:
        return [(np.ldexp(weight, exponent), bias) for weight, bias in layers]

    return replace(pair, reference=large(pair.reference), candidate=large(pair.candidate))


def _nearly_equal(pair: Pair, rng: Random) -> Pair:
    """The candidate is the reference but for the last digits of some weights."""
    candidate = []
    for weight, bias in pair.reference:
        moved = np.where(rng.random(weight.shape) < 0.3, np.nextafter(weight, rng.choice([-9.0, 9.0])), weight)
        candidate.append((moved, bias))
    return replace(pair, candidate=candidate)


def _doubled(pair: Pair, rng: Random) -> Pair:
    """The candidate with a neuron twice, each with a part of its outgoing weight, exactly."""
    if len(pair.candidate) < 2:
        return pair
    at = int(rng.integers(len(pair.candidate) - 1))
    layers = [*pair.candidate]
    (weight, bias), (following, rest) = layers[at], layers[at + 1]
    if len(bias) > 3:
        return pair
    neuron, part = int(rng.integers(len(bias))), float(rng.choice([0.5, 2.0, -1.0, 0.0]))
    layers[at] = (np.concatenate([weight, weight[[neuron]]]), np.append(bias, bias[neuron]))
    following = np.concatenate([following, following[:, [neuron]] * (1 - part)], axis=1)
    following[:, neuron] *= part
    layers[at + 1] = (following, rest)
    return replace(pair, candidate=layers)


def _spiked(pair: Pair, rng: Random) -> Pair:
    """The candidate is the reference plus a spike: one more neuron that is positive near one corner of the box only."""
    if len(pair.reference) != 2 or len(pair.reference[0][1]) > 3:
        return pair
    (weight, bias), (following, rest) = pair.reference
    low, high = (np.array([float(x) for x in ends]) for ends in (pair.lower, pair.upper))
    side = rng.choice([-1.0, 1.0], len(low))
    width = float(np.max(high - low)) * 2.0 ** -float(rng.integers(1, 16))
    reach = float(side @ np.where(side > 0, high, low))
    height = rng.choice([-1.0, 1.0], (len(rest), 1)) * 2.0 ** float(rng.integers(-2, 12))
    return replace(
        pair,
        candidate=[
            (np.concatenate([weight, side[None, :]]), np.append(bias, width - reach)),
            (np.concatenate([following, height], axis=1), rest),
        ],
    )


def _far_away(pair: Pair, rng: Random) -> Pair:
    """The box far from 0, where floats are coarse; biases follow, as well as they can."""
    shift = [int(s) * 2 ** int(rng.integers(5, 30)) for s in rng.integers(-3, 4, len(pair.lower))]

    def moved(layers: Layers) -> Layers:
        (weight, bias), *others = layers
        return [(weight, bias - weight @ np.array(shift, np.float64)), *others]

    return replace(
        pair,
        reference=moved(pair.reference),
        candidate=moved(pair.candidate),
        lower=tuple(x + s for x, s in zip(pair.lower, shift, strict=True)),
        upper=tuple(x + s for x, s in zip(pair.upper, shift, strict=True)),
        constraints=tuple(
            replace(c, bound=c.bound + sum(a * s for a, s in zip(c.coefficients, shift, strict=True)))
            for c in pair.constraints
        ),
    )


_CHANGES: dict[str, Callable[[Pair, Random], Pair]] = {
    "rescaled": _rescaled,
    "extreme": _extreme,
    "overflowing": _overflowing,
    "nearly equal": _nearly_equal,
    "doubled": _doubled,
    "spiked": _spiked,
    "far away": _far_away,
}
CHANGES = tuple(_CHANGES)
_CYCLE = 17
"""One pair in so many of each kind, and the rest as they are; prime, because the oracle's kinds have a cycle, too."""
