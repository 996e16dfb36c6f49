"""Toy jets: synthetic data in the shape of a jet tagging problem. Nothing here was measured or simulated by a physics
generator.

A jet is one, two or three prongs in the plane around its axis (gluon and quark: one prong and what it radiates; W and
Z: a two-body decay; top: a bottom prong and a W), each prong breaks up into a few constituents, and the sixteen
features are computed from the constituents as the real ones are: energy correlation functions and ratios of them, mass,
multiplicity, each measured to a few per cent. So the features are correlated the way real ones are, W and Z differ by
little but their mass, and quarks, gluons and unlucky decays overlap; that overlap is what the examples need.

Shapes: N jets, C constituents; shares (N, C) sum to 1, positions (N, C, 2) are angles from the jet axis.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from making.training import Array, Labels

FEATURES = (
    *("zlogz", "c1_b0", "c1_b1", "c1_b2", "c2_b1", "c2_b2", "d2_b1", "d2_b2", "d2_a1_b1", "d2_a1_b2"),
    *("m2_b1", "m2_b2", "n2_b1", "n2_b2", "mass", "multiplicity"),
)
CLASSES = ("g", "q", "w", "z", "t")
MOMENTUM = 1000.0  # GeV, of every jet up to a tenth
PIECES = 4  # constituents of a prong
RESOLUTION = 0.04  # relative, of every feature but the multiplicity
MEAN_MULTIPLICITY = {"g": 62.0, "q": 42.0, "w": 47.0, "z": 49.0, "t": 70.0}


def sample(per_class: int, rng: np.random.Generator) -> tuple[Array, Labels]:
    """Features (N, 16) and labels (N,), N = 5 * per_class, classes in the order of `CLASSES`."""
    rows = [_features(name, per_class, rng) for name in CLASSES]
    return np.concatenate(rows), np.repeat(np.arange(len(CLASSES)), per_class)


def _features(name: str, count: int, rng: np.random.Generator) -> Array:
    momentum = MOMENTUM * rng.lognormal(sigma=0.1, size=count)
    shares, positions = _fragment(*_prongs(name, momentum, rng), rng)
    multiplicity = rng.poisson(MEAN_MULTIPLICITY[name] * rng.lognormal(sigma=0.22, size=count))
    return _observables(shares, positions, momentum, multiplicity, rng)


def _prongs(name: str, momentum: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Shares (N, 3) and positions (N, 3, 2) of the prongs of a class."""
    if name in ("g", "q"):
        hardness = 1.6 if name == "g" else 1.0
        first = np.minimum(_log_uniform(0.01, 0.3, momentum, rng) * hardness, 0.5)
        second = np.minimum(_log_uniform(0.005, 0.2, momentum, rng) * hardness, 0.3)
        shares = np.stack([1 - first - second, first, second], axis=1)
        positions = np.stack([_turn(_log_uniform(0.02, 0.8, momentum, rng), rng) for _ in range(3)], axis=1)
        positions[:, 0] = 0
        return shares, positions
    boson = 80.4 if name == "w" else 91.2
    if name in ("w", "z"):
        shares, positions = _two_body(boson, momentum, rng)
        soft = _log_uniform(0.002, 0.05, momentum, rng)
        third = _turn(_log_uniform(0.1, 0.8, momentum, rng), rng)
        shares = np.column_stack([shares * (1 - soft)[:, None], soft])
        return shares, np.concatenate([positions, third[:, None]], axis=1)
    to_boson = rng.uniform(0.45, 0.85, size=momentum.size)
    to_boson = np.where(rng.random(momentum.size) < 0.15, 0.97, to_boson)  # the bottom prong is nearly lost
    shares, positions = _two_body(80.4, momentum * to_boson, rng)
    opening = np.sqrt((172.5**2 - 80.4**2) / (to_boson * (1 - to_boson))) / momentum
    bottom = _turn(np.minimum(opening, 0.8), rng)
    return (
        np.column_stack([shares * to_boson[:, None], 1 - to_boson]),
        np.concatenate([positions, bottom[:, None]], axis=1),
    )


def _two_body(mass: float, momentum: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """A decay with the given mass: shares s and 1 - s at an opening angle of mass / (momentum sqrt(s (1 - s)))."""
    share = rng.uniform(0.08, 0.5, size=momentum.size)
    opening = np.minimum(mass / (momentum * np.sqrt(share * (1 - share))), 0.8)
    direction = _turn(opening, rng)
    positions = np.stack([direction * (1 - share)[:, None], -direction * share[:, None]], axis=1)
    return np.column_stack([share, 1 - share]), positions


def _fragment(shares: Array, positions: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Every prong breaks up into `PIECES` constituents, spread wider the softer it is."""
    pieces = rng.dirichlet(np.full(PIECES, 0.7), size=shares.shape)
    spread = 0.02 / np.sqrt(np.maximum(shares, 0.02))
    offsets = rng.normal(size=(*pieces.shape, 2)) * spread[:, :, None, None]
    count = shares.shape[0]
    return (shares[:, :, None] * pieces).reshape(count, -1), (positions[:, :, None] + offsets).reshape(count, -1, 2)


def _observables(
    shares: Array, positions: Array, momentum: Array, multiplicity: NDArray[np.int64], rng: np.random.Generator
) -> Array:
    """The sixteen features, (N, 16), from constituents; e2 and e3 are the energy correlation functions."""
    angles = np.linalg.norm(positions[:, :, None] - positions[:, None], axis=-1)
    pairs = np.array(list(combinations(range(shares.shape[1]), 2)))
    triples = np.array(list(combinations(range(shares.shape[1]), 3)))
    weight2 = shares[:, pairs].prod(axis=2)
    weight3 = shares[:, triples].prod(axis=2)
    angle2 = angles[:, pairs[:, 0], pairs[:, 1]]
    sides = np.sort(np.stack([angles[:, triples[:, i], triples[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))]), axis=0)

    def e2(beta: float) -> Array:
        return np.asarray((weight2 * angle2**beta).sum(axis=1))

    def e3(beta: float, shortest: int = 3) -> Array:
        return np.asarray((weight3 * sides[:shortest].prod(axis=0) ** beta).sum(axis=1))

    visible = np.where(shares > 0, shares, 1)
    columns = [(visible * np.log(visible)).sum(axis=1), e2(0), e2(1), e2(2)]
    columns += [e3(beta) / e2(beta) ** 2 for beta in (1, 2)]
    columns += [e3(beta) / e2(beta) ** 3 for beta in (1, 2)]
    columns += [e3(1) / e2(beta) ** (3 / beta) for beta in (1, 2)]
    columns += [e3(beta, 1) / e2(beta) for beta in (1, 2)]
    columns += [e3(beta, 2) / e2(beta) ** 2 for beta in (1, 2)]
    columns += [momentum * np.sqrt(e2(2))]
    measured = np.column_stack(columns)
    return np.column_stack([measured * rng.normal(1, RESOLUTION, size=measured.shape), multiplicity])


def _log_uniform(low: float, high: float, like: Array, rng: np.random.Generator) -> Array:
    return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), size=like.size)))


def _turn(length: Array, rng: np.random.Generator) -> Array:
    """Vectors (N, 2) of the given lengths in random directions."""
    angle = rng.uniform(0, 2 * np.pi, size=length.size)
    return np.asarray(length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))
