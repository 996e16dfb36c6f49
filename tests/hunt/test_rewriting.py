"""Pairs that are equivalent by construction: never called different, and with any slack at all proved."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Domain
from eqspec.tasks.verdict import Verdict
from hunt.planted import base
from hunt.rewriting import REWRITINGS
from oracle.evaluate import outputs
from oracle.pairs import Random
from oracle.pieces import Layers
from small_tasks import network, task

WITH_SLACK: list[Property] = [
    Epsilon(Fraction(1, 8)),
    Epsilon(Fraction(1, 4), "l1", (0, 2)),
    Epsilon(Fraction(2), "l2"),
    Linear((1, 0, -1), (-1, 0, 1), Fraction(1, 4)),
    Margin(Fraction(1, 4)),
    Confidence(Fraction(9, 10)),
]
WITHOUT: list[Property] = [Epsilon(0), Epsilon(Fraction(1, 2**40), "l1"), Top1(), Linear((0, 1, 0), (0, -1, 0), 0)]
KINDS = [*REWRITINGS, "everything"]
DOMAINS: tuple[Domain, ...] = ("shared", "paper", "naive")


def rewritten(kind: str, rng: Random, layers: Layers) -> Layers:
    for name in REWRITINGS if kind == "everything" else [kind]:
        layers = REWRITINGS[name](rng, layers)
    return layers


def run(kind: str, seed: int, inputs: int, claim: Property, options: Options) -> Result:
    """On the cube; every other time it is the original that is the candidate."""
    rng = np.random.default_rng(seed)
    original = base(rng, inputs, 3)
    other = rewritten(kind, rng, original)
    f, g = (original, other) if seed % 2 else (other, original)
    return Runner(options).run(task(network(*f), network(*g), claim))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_a_rewriting_changes_nothing(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = base(rng, 3, 2)
    other = rewritten(kind, rng, original)
    assert [w.tolist() for w, _ in other] != [w.tolist() for w, _ in original]
    for _ in range(10):
        point = [Fraction(int(n), 64) for n in rng.integers(-64, 65, 3)]
        assert outputs(other, point) == outputs(original, point)


@pytest.mark.part(16)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("claim", WITH_SLACK, ids=lambda claim: type(claim).__name__)
def test_what_is_equivalent_by_construction_is_proved(kind: str, claim: Property) -> None:
    verdicts = [run(kind, seed, 2, claim, Options(threads=1, boxes=600)).verdict for seed in range(4)]
    assert verdicts == [Verdict.EQUIVALENT] * 4


@pytest.mark.part(12)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("claim", WITHOUT, ids=lambda claim: type(claim).__name__)
def test_neurons_that_are_matched_prove_it_on_the_first_box(kind: str, claim: Property) -> None:
    """Nothing is rounded here, so that both networks are the same numbers when their neurons are in step."""
    found = [run(kind, seed, 10, claim, Options(threads=1, boxes=1)) for seed in range(6)]
    assert [result.verdict for result in found] == [Verdict.EQUIVALENT] * 6


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_equivalent_by_construction_is_never_different(kind: str) -> None:
    """No slack, where bounds meet or just miss; in every domain, by halving and beyond eight inputs."""
    seen: Counter[Verdict] = Counter()
    for number, claim in enumerate([*WITHOUT, *WITH_SLACK]):
        for inputs, boxes in ((1, 60), (2, 30), (10, 3)):
            options = Options(threads=1, domain=DOMAINS[number % 3], lp=number % 2 == 0, boxes=boxes)
            seen[run(kind, number, inputs, claim, options).verdict] += 1
    assert not seen[Verdict.DIFFERENT]
    assert seen[Verdict.EQUIVALENT] >= 5, seen
