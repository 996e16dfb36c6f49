"""The noise floor against what roundings, chosen freely, do to the outputs."""

import numpy as np

from eqspec.networks.curves import Curves
from eqspec.networks.noise_floor import floors
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser


def network(rng: np.random.Generator, scale: float) -> tuple[list[Step], list[np.ndarray]]:
    weights = [rng.normal(size=(6, 3)), rng.normal(size=(5, 6)), rng.normal(size=(2, 5))]
    quantised = Curves.all(Quantiser(scale, -(2**20), 2**20).curve)
    steps = [
        Step(
            (Term(k - 1 if k else INPUTS, Tile.dense(w)),),
            np.zeros(len(w)),
            None,
            quantised if k < 2 else "identity",
        )
        for k, w in enumerate(weights)
    ]
    return steps, weights


def test_it_is_what_the_worst_roundings_do() -> None:
    rng = np.random.default_rng(4)
    scale = 2.0**-8
    steps, (_, second, third) = network(rng, scale)
    points = rng.normal(size=(40, 3))
    expected = scale / 2 * (np.abs(third @ second).sum(axis=1) + np.abs(third).sum(axis=1))
    np.testing.assert_allclose(floors(steps, points), np.repeat(expected[None], 40, axis=0))
    np.testing.assert_allclose(floors(steps, points, outputs=[1]), np.repeat([[0.0, expected[1]]], 40, axis=0))


def test_what_has_one_level_rounds_nothing_away() -> None:
    rng = np.random.default_rng(5)
    steps, _ = network(rng, 1e6)
    assert not floors(steps, rng.normal(size=(40, 3))).any()


def test_no_points_and_no_quantisers() -> None:
    rng = np.random.default_rng(6)
    steps, weights = network(rng, 0.5)
    assert floors(steps, np.zeros((0, 3))).shape == (0, 2)
    plain = [Step((Term(INPUTS, Tile.dense(weights[0])),), np.zeros(6), None, "relu")]
    assert not floors(plain, rng.normal(size=(3, 3))).any()
