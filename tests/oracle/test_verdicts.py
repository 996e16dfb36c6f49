"""Two hundred random queries of every property, most of them next to where the answer turns, against the oracle.

`EQSPEC_ORACLE_QUERIES` sets another number, `EQSPEC_ORACLE_SEED` asks about other pairs. A failure prints the query as
JSON with everything needed to ask it again.
"""

from __future__ import annotations

import os
from collections import Counter
from fractions import Fraction
from math import ceil

import pytest

from breadth import some
from eqspec.property import Confidence, Epsilon, Linear
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from oracle.pairs import KINDS
from oracle.queries import CLAIMS, Claim, Query, query
from oracle.record import write
from oracle.search import Bounded, contradiction, is_witness, runner

PAIRS = len(some(range(50), 25))
"""A block asks every property about the same pairs, whose pieces are found once."""
QUERIES_PER_PAIR = 4
BLOCK = PAIRS * QUERIES_PER_PAIR
QUERIES = int(os.environ.get("EQSPEC_ORACLE_QUERIES", BLOCK))
FIRST_SEED = int(os.environ.get("EQSPEC_ORACLE_SEED", "0"))
MOST_UNKNOWN: dict[Claim, float] = {"epsilon": 0.05, "top1": 0.05, "margin": 0.05, "confidence": 0.15, "linear": 0.05}
"""Shares of a block. Confidence is harder while the search knows the guard as a polytope only."""

DOMAINS = ("shared", "paper", "naive")
BLOCKS = [(block, claim) for block in range(ceil(QUERIES / BLOCK)) for claim in CLAIMS]


def budget(asked: Query) -> Bounded:
    """Boxes are cheap unless each of them asks for linear programs; a query that is excused need not be decided."""
    boxes = 20_000
    if asked.excuse:
        boxes = 200
    elif asked.lp and isinstance(asked.claim, Confidence):
        boxes = 500
    elif asked.lp and (not isinstance(asked.claim, Epsilon | Linear) or asked.pair.constraints):
        boxes = 1000
    return Bounded(threads=asked.threads, domain=asked.domain, lp=asked.lp, dual=asked.dual, boxes=boxes)


def judge(asked: Query, result: Result) -> str | None:
    """What is wrong about a result."""
    confirmed = result.witness is not None and is_witness(asked, result.witness.normalised)
    vacuous = asked.oracle.is_vacuous(asked.claim) if result.vacuous else None
    wrong = contradiction(result, asked.breaks, vacuous=vacuous, confirmed=confirmed)
    if wrong is None and isinstance(asked.claim, Epsilon):
        greatest = asked.oracle.greatest_distance("linf", asked.claim.outputs)
        task, first = asked.task(), result.initial_bound
        run = first is None and task.lower_exact == task.upper_exact  # a single point has no bounds
        if greatest is not None and not run and (first is None or Fraction(first) < greatest.value):
            wrong = f"the first bound is {first}, but a difference of {float(greatest.value)} occurs"
    return wrong


@pytest.mark.parametrize(("block", "claim"), BLOCKS, ids=[f"{claim}-{block}" for block, claim in BLOCKS])
def test_every_verdict_is_true(block: int, claim: Claim) -> None:
    verdicts: Counter[tuple[str, Verdict]] = Counter()
    seen: Counter[str] = Counter()
    for at in range(block * BLOCK, min(QUERIES, (block + 1) * BLOCK)):
        asked = query(FIRST_SEED + at // QUERIES_PER_PAIR, claim, at % QUERIES_PER_PAIR)
        result = runner(budget(asked)).run(asked.task())
        wrong = judge(asked, result)
        assert wrong is None, f"{wrong}\n{write(asked)}\n{result.to_json()}"
        verdicts[asked.excuse or "required", result.verdict] += 1
        seen.update(traits(asked, result))
    if at + 1 == (block + 1) * BLOCK:
        check_that_it_means_something(claim, verdicts, seen)


def traits(asked: Query, result: Result) -> list[str]:
    """What a query and its result are examples of."""
    pair = asked.pair
    found = [
        f"{asked.domain} {result.verdict}",
        f"{asked.threads} threads",
        pair.kind,
        *(["no lp"] if not asked.lp else []),
        *(["programs"] if result.lps else []),
        *(["multipliers"] if result.stages.get("dual") else []),
        *(["splits"] if result.splits else []),
        *(["excused"] if asked.excuse else []),
        *(["undecided"] if asked.breaks is None else []),
        *(["constraints"] if pair.constraints else []),
        *(["vacuous"] if result.vacuous else []),
        *(["lowest wins"] if pair.decide == "min" else []),
    ]
    if any(low == high for low, high in zip(pair.lower, pair.upper, strict=True)):
        found.append("fixed input")
    if len(pair.reference) != len(pair.candidate):
        found.append("other depth")
    elif any(len(b) != len(c) for (_, b), (_, c) in zip(pair.reference, pair.candidate, strict=True)):
        found.append("other width")
    if any(not weight.all() for weight, _ in pair.candidate):
        found.append("zero weights")
    return found


def check_that_it_means_something(claim: Claim, verdicts: Counter[tuple[str, Verdict]], seen: Counter[str]) -> None:
    """Both verdicts often, by every domain; little left unknown or excused; searching was necessary."""
    required = {verdict: verdicts["required", verdict] / BLOCK for verdict in Verdict}
    assert required[Verdict.EQUIVALENT] >= 0.25, verdicts
    assert required[Verdict.DIFFERENT] >= 0.1, verdicts
    assert required[Verdict.UNKNOWN] <= MOST_UNKNOWN[claim], verdicts
    least = {f"{domain} {verdict}": 0.015 for domain in DOMAINS for verdict in ("equivalent", "different")}
    least |= dict.fromkeys(KINDS, 0.02)
    least |= {"1 threads": 0.3, "2 threads": 0.3, "no lp": 0.08, "splits": 0.1, "constraints": 0.1, "lowest wins": 0.1}
    least |= {"fixed input": 0.05, "other depth": 0.05, "other width": 0.02, "zero weights": 0.2}
    if claim != "epsilon":
        least["programs"] = 0.01
    if claim not in ("epsilon", "linear"):
        least["multipliers"] = 0.01
    missing = {trait: seen[trait] for trait, share in least.items() if seen[trait] < share * BLOCK}
    assert not missing, seen
    assert seen["excused"] <= 0.25 * BLOCK, seen
    assert seen["undecided"] <= 0.05 * BLOCK, seen
