"""Random queries about a pair whose answer is known, most of them close to where it turns.

For a pair the oracle finds the exact threshold at which a claim turns from broken to true (the greatest distance,
value, lead, margin or confidence); the query asks a little above or below it, so that a verdict which is only roughly
right is wrong. `excuse` names the queries that may stay unknown for a reason of principle; a wrong verdict is never
excused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import exp, sqrt
from typing import Literal, get_args

import numpy as np

from eqspec.networks import Network
from eqspec.property import Confidence, Epsilon, Linear, Margin, Norm, Property, Top1
from eqspec.tasks.task import Domain, Task
from oracle.decide import Oracle, log_odds
from oracle.evaluate import outputs
from oracle.pairs import Pair, Random, make
from oracle.pieces import Layers
from oracle.polytope import coordinates
from small_tasks import network, space, task

Claim = Literal["epsilon", "top1", "margin", "confidence", "linear"]
CLAIMS: tuple[Claim, ...] = get_args(Claim)
Excuse = Literal["border", "softmax", "closure"]
"""border: the threshold itself, where bounds meet exactly, or a decision that breaks (or fails to) only at ties.
softmax: the claim holds, but breaks on the polytope that contains the guard. closure: no input satisfies the strict
constraints, but some satisfy the same ones as non-strict."""

PAIRS_KEPT = 64
_OFFSETS = (-0.5, -0.05, -0.05, -0.001, -0.001, 0.001, 0.001, 0.05, 0.05, 0.5)
_BORDER = Fraction(1, 10**6)
ZERO = Fraction(0)


@dataclass(frozen=True)
class Query:
    """A claim about a pair, how to search, and the truth: `breaks` is None where the oracle itself is not sure."""

    pair: Pair
    oracle: Oracle
    claim: Property
    breaks: bool | None
    excuse: Excuse | None
    domain: Domain
    threads: int
    lp: bool
    dual: bool = True

    def task(self) -> Task:
        """The query for eqspec."""
        pair = self.pair
        inputs = len(pair.lower)
        return task(
            _network(pair.reference),
            _network(pair.candidate),
            self.claim,
            pair.lower,
            pair.upper,
            constraints=pair.constraints,
            space=space(inputs, pair.outputs, decide=pair.decide),
        )


def _network(layers: Layers) -> Network:
    made: Network = network(*layers)
    return made


@lru_cache(maxsize=PAIRS_KEPT)
def known(seed: int) -> tuple[Pair, Oracle]:
    """A pair and its pieces, kept for the next property."""
    pair = make(seed)
    return pair, oracle_of(pair)


def oracle_of(pair: Pair) -> Oracle:
    """The oracle of a pair."""
    return Oracle(
        pair.reference, pair.candidate, pair.lower, pair.upper, pair.constraints, lowest_wins=pair.decide == "min"
    )


def query(seed: int, kind: Claim, number: int) -> Query:
    """One of the queries of a kind about the pair of a seed."""
    rng = np.random.default_rng([seed, 2 + CLAIMS.index(kind), number])
    pair, oracle = known(seed)
    offset = Fraction(str(rng.choice(_OFFSETS))) if rng.random() < 0.97 else ZERO
    asked = ask(rng, kind, pair, oracle, offset)
    domain: Domain = ("shared", "paper", "naive")[int(rng.choice(3, p=[0.5, 0.3, 0.2]))]
    return replace(
        asked,
        domain=domain,
        threads=int(rng.integers(1, 3)),
        lp=bool(rng.random() < 0.8),
        dual=bool(rng.random() < 0.5),
    )


def ask(rng: Random, kind: Claim, pair: Pair, oracle: Oracle, offset: Fraction) -> Query:
    """A query of a kind, its threshold this far (as a share of it) from where the claim turns.

    Decisions are asked about the pair with other output biases, so that f and g disagree somewhere, or hardly.
    """
    excuse: Excuse | None = None
    match kind:
        case "epsilon":
            claim, border = _epsilon(rng, oracle, offset)
        case "linear":
            claim, border = _linear(rng, oracle, offset)
        case "margin":
            pair, oracle = _at_odds(rng, pair, oracle)
            claim, border = _margin(rng, oracle, offset)
        case "confidence":
            pair, oracle = _at_odds(rng, pair, oracle)
            claim, border, excuse = _confidence(rng, oracle, offset)
        case "top1":
            pair, oracle = _decided(rng, pair, oracle, offset)
            claim, border = Top1(), _is_tied(oracle, ZERO)
    breaks = oracle.breaks(claim)
    if border or breaks is None:
        excuse = "border"
    elif not oracle.pieces and any(constraint.strict for constraint in pair.constraints):
        excuse = "closure"
    return Query(pair, oracle, claim, breaks, excuse, "shared", 1, True)


def _epsilon(rng: Random, oracle: Oracle, offset: Fraction) -> tuple[Property, bool]:
    norm: Norm = ("linf", "l1", "l2")[int(rng.integers(3))]
    chosen = None
    if rng.random() < 0.4:
        chosen = tuple(int(o) for o in rng.permutation(oracle.outputs)[: int(rng.integers(1, oracle.outputs + 1))])
    greatest = oracle.greatest_distance(norm, chosen)
    distance = greatest.value if greatest else ZERO
    if norm == "l2":
        distance = Fraction(sqrt(distance))
    if not distance:
        return Epsilon(Fraction(int(rng.integers(1, 1000)), 1000), norm, chosen), False
    return Epsilon(distance * (1 + offset), norm, chosen), not offset


def _linear(rng: Random, oracle: Oracle, offset: Fraction) -> tuple[Property, bool]:
    a, b = (tuple(Fraction(int(c), 10) for c in rng.integers(-10, 11, oracle.outputs)) for _ in range(2))
    if rng.random() < 0.5:
        b = tuple(-c for c in a)
    highest, lowest = oracle.greatest_value(a, b), oracle.greatest_value([-c for c in a], [-c for c in b])
    strict = bool(rng.random() < 0.5)
    if highest is None or lowest is None:
        return Linear(a, b, ZERO, strict), False
    bound = highest.value + offset * ((highest.value + lowest.value) or 1)
    return Linear(a, b, bound, strict), not offset


def _margin(rng: Random, oracle: Oracle, offset: Fraction) -> tuple[Property, bool]:
    if oracle.greatest_margin is None:
        margin = Fraction(int(rng.integers(1, 1000)), 1000)
    else:
        margin = oracle.greatest_margin.value * (1 + offset)
    return Margin(margin), _is_tied(oracle, margin)


def _confidence(rng: Random, oracle: Oracle, offset: Fraction) -> tuple[Property, bool, Excuse | None]:
    """Near the greatest confidence of a disagreement, or near where the polytope around the guard proves the claim."""
    summit, margin = oracle.summit, oracle.greatest_margin
    if summit.low is None or margin is None:
        delta = Fraction(int(rng.integers(30, 1000)), 1001)
        return Confidence(delta), _is_tied(oracle, _margin_of(delta)), None
    turn = float(margin.value) if offset > 0 and rng.random() < 0.5 else float(summit.low)
    odds = Fraction(exp(turn + float(offset)))
    delta = odds / (1 + odds)
    relaxed = not oracle.breaks(Confidence(delta)) and log_odds(delta) <= margin.value + _BORDER
    return Confidence(delta), _is_tied(oracle, _margin_of(delta)), "softmax" if relaxed else None


def _margin_of(delta: Fraction) -> Fraction:
    """The margin of the polytope that contains all inputs where f has the confidence."""
    return Fraction(max(log_odds(delta), 0.0))


def _is_tied(oracle: Oracle, margin: Fraction) -> bool:
    """Whether g, where f decides by the margin, at worst ties, or disagrees only where f has just the margin."""
    lead, greatest = oracle.greatest_lead(margin), oracle.greatest_margin
    if lead is not None and abs(lead.value) < _BORDER:
        return True
    return greatest is not None and abs(greatest.value - margin) < _BORDER


def _at_odds(rng: Random, pair: Pair, oracle: Oracle) -> tuple[Pair, Oracle]:
    """The pair with one output of g raised, so that g turns to another class amid a piece where f decides.

    Preferably so that f decides more clearly elsewhere: otherwise every guard that excludes the disagreement is empty.
    """
    if pair.outputs == 1 or not oracle.pieces or rng.random() < 0.15:
        return pair, oracle
    sign = -1 if pair.decide == "min" else 1
    turned = pair, oracle
    for _ in range(4):
        corners = oracle.pieces[int(rng.integers(len(oracle.pieces)))].polytope.points
        middle = [sum(x) / len(corners) for x in zip(*map(coordinates, corners), strict=True)]
        f, g = ([sign * y for y in outputs(layers, middle)] for layers in (pair.reference, pair.candidate))
        kept, turn = f.index(max(f)), int(rng.integers(pair.outputs))
        raised = g[kept] - g[turn] + Fraction(int(rng.choice([-1, 1])), 32)  # no tie where both are constant
        turned = _raised(pair, oracle, turn, sign * raised, reference=False)
        greatest = turned[1].greatest_margin
        if greatest is not None and turned[1].greatest_lead(greatest.value + _BORDER) is not None:
            break
    return turned


def _decided(rng: Random, pair: Pair, oracle: Oracle, offset: Fraction) -> tuple[Pair, Oracle]:
    """The pair with other output biases: f decides for one class throughout (or nearly), and g just does or just not.

    Left to chance, nearly every pair with a decision in the region is different.
    """
    if pair.outputs == 1 or not oracle.pieces or rng.random() < 0.2:
        return pair, oracle
    sign = -1 if pair.decide == "min" else 1
    k = int(rng.integers(pair.outputs))
    behind = _greatest_lead(oracle, sign, k, reference=True)
    slack = Fraction(int(rng.choice([-1, 1, 4])), 16)
    pair, oracle = _raised(pair, oracle, k, sign * (behind + slack), reference=True)
    ahead = _greatest_lead(oracle, sign, k, reference=False)
    return _raised(pair, oracle, k, sign * (ahead + offset), reference=False)


def _greatest_lead(oracle: Oracle, sign: int, k: int, *, reference: bool) -> Fraction:
    """By how much some score is above the k-th, at most, of one network alone."""
    nothing = [ZERO] * oracle.outputs
    greatest = []
    for j in range(oracle.outputs):
        lead = [Fraction(sign * ((i == j) - (i == k))) for i in range(oracle.outputs)]
        found = oracle.greatest_value(*((nothing, lead) if reference else (lead, nothing)))
        if j != k and found is not None:
            greatest.append(found.value)
    return max(greatest)


def _raised(pair: Pair, oracle: Oracle, k: int, by: Fraction, *, reference: bool) -> tuple[Pair, Oracle]:
    """The k-th output bias of one network raised, to the nearest float."""
    layers = pair.reference if reference else pair.candidate
    *hidden, (weight, bias) = layers
    moved = bias.copy()
    moved[k] = float(Fraction(moved[k]) + by)
    shift = [Fraction(new) - Fraction(old) for new, old in zip(moved.tolist(), bias.tolist(), strict=True)]
    changed: Layers = [*hidden, (weight, moved)]
    nothing: Sequence[Fraction] = [ZERO] * len(shift)
    if reference:
        return replace(pair, reference=changed), oracle.shifted(shift, nothing)
    return replace(pair, candidate=changed), oracle.shifted(nothing, shift)
