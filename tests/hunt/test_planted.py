"""Spikes that sampling misses: what differs is never proved equal, whatever the mode, and often it is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from eqspec.property import Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Domain
from eqspec.tasks.verdict import Verdict
from hunt.cases import CHANNELS, Case, Mode
from hunt.judging import judge
from hunt.planted import Array, Planted, along_a_ridge, at_a_face, inside
from oracle.decide import Oracle
from oracle.evaluate import breaks, outputs
from oracle.pairs import Pair, Random
from oracle.pieces import Layers
from small_tasks import network, task

PLACES = ["corner", "edge", "inside", "ridge"]
DOMAINS: tuple[Domain, ...] = ("shared", "paper", "naive")
MODES = [
    Mode(channel, domain, 1, lp, contract, 8)
    for domain in DOMAINS
    for lp, contract in ((True, True), (True, False), (False, True))
    for channel in CHANNELS[:2]
]
STRIDE = 12
"""Each claim is asked in one mode of so many, others for other inputs and widths: over all of them, in every mode."""
WIDTHS = [Fraction(1, 2**k) for k in (2, 10, 40)]


def plant(rng: Random, place: str, inputs: int, width: Fraction) -> Planted:
    match place:
        case "corner":
            return at_a_face(rng, inputs, 3, inputs, width)
        case "edge":
            return at_a_face(rng, inputs, 3, max(1, inputs - 1), width)
        case "inside":
            return inside(rng, inputs, 3, width)
        case _:
            return along_a_ridge(rng, inputs, 3, width)


def claims(planted: Planted) -> Iterator[tuple[Layers, Layers, Property]]:
    """Claims that break at the planted point, most of them only near it."""
    f, g, height = planted.reference, planted.candidate, planted.height
    yield f, g, Epsilon(height * Fraction(3, 4))
    yield f, g, Epsilon(height * Fraction(3, 4), "l1")
    yield f, g, Epsilon(height * Fraction(3, 4), "l2", (planted.output,))
    here, there = outputs(f, planted.point), outputs(g, planted.point)
    gap = there[planted.output] - here[planted.output]
    one = [Fraction((i == planted.output) * (1 if gap > 0 else -1)) for i in range(3)]
    yield f, g, Linear(tuple(one), tuple(-c for c in one), height * Fraction(3, 4))
    # f decides for the output by as much as the spike takes away, or against it by as much as it adds
    rows = np.zeros((2, 3))
    rows[0, planted.output] = 1.0 if gap < 0 else -1.0
    offset = np.array([float(height) / 2, 0.0])
    f, g = (_decision(layers, f, rows, offset) for layers in (f, g))
    yield f, g, Top1()
    yield f, g, Margin(height / 4)


def _decision(layers: Layers, reference: Layers, rows: Array, offset: Array) -> Layers:
    """Two scores: the difference of the planted output from the reference's own, plus half the height; and 0.

    Both networks compute the reference's output once more and take it away, so f's scores are constant.
    """
    (w1, b1), (w2, b2), (w3, b3) = layers
    (v1, a1), (v2, a2), (v3, a3) = reference
    both = np.block([[w2, np.zeros((len(w2), len(v1)))], [np.zeros((len(v2), len(w1))), v2]])
    return [
        (np.concatenate([w1, v1]), np.append(b1, a1)),
        (both, np.append(b2, a2)),
        (np.concatenate([rows @ w3, -rows @ v3], axis=1), rows @ (b3 - a3) + offset),
    ]


@pytest.mark.part(6)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("width", WIDTHS, ids=lambda width: f"1/{width.denominator}")
def test_what_differs_in_a_tiny_region_is_never_proved_equal(place: str, width: Fraction) -> None:
    """In every domain, with and without linear programs and contraction, by halving and beyond eight inputs."""
    first = WIDTHS.index(width)
    for inputs, seed in ((1, 0), (2, 1), (3, 2), (9, 3)):
        planted = plant(np.random.default_rng([seed, PLACES.index(place)]), place, inputs, width)
        low, high = (Fraction(-1),) * inputs, (Fraction(1),) * inputs
        for number, (f, g, claim) in enumerate(claims(planted)):
            assert breaks(claim, outputs(f, planted.point), outputs(g, planted.point)), (claim, planted)
            pair = Pair("unrelated", f, g, low, high, (), "max")
            for mode in MODES[(number + seed + 2 * first) % STRIDE :: STRIDE]:
                judgement = judge(Case(pair, NOTHING_KNOWN, claim, True, mode))
                assert judgement.complaint is None, (claim, mode, planted)


class _Nothing(Oracle):
    """An oracle that is not asked: nine inputs are beyond it, and the planted point is all one needs to know."""

    def __init__(self) -> None:
        self.outputs, self.pieces = 0, []

    def is_vacuous(self, claim: Property) -> bool:
        return False


NOTHING_KNOWN = _Nothing()


@pytest.mark.parametrize("place", PLACES)
def test_hidden_differences_are_found(place: str) -> None:
    """Where sampling has no chance: bounds lead to the corner, and halving to the rest."""
    found: Counter[Verdict] = Counter()
    for seed in range(12):
        planted = plant(np.random.default_rng([seed, 9]), place, 2, Fraction(1, 2**5))
        asked = task(network(*planted.reference), network(*planted.candidate), Epsilon(planted.height * Fraction(1, 2)))
        found[Runner(Options(threads=1, boxes=2000)).run(asked).verdict] += 1
    assert found[Verdict.EQUIVALENT] == 0
    assert found[Verdict.DIFFERENT] >= 10, found
