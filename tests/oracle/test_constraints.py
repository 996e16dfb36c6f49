"""Contraction on regions with linear constraints, against the oracle: their multipliers lose no input that counts.

Queries sit next to where the answer turns, so a constraint used with the wrong sign or the wrong side proves something
false at once. Every box is contracted, though these pairs have few inputs, before multipliers are sought.
"""

from __future__ import annotations

from collections import Counter

import pytest

from breadth import some
from oracle.queries import CLAIMS, Claim, known, query
from oracle.search import Bounded, contradiction, is_witness, runner

PAIRS = 45
"""With constraints, of about three times as many."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_contraction_on_constrained_regions_is_true(claim: Claim) -> None:
    seeds = [seed for seed in range(2000, 2000 + 6 * PAIRS) if known(seed)[0].constraints][:PAIRS]
    assert len(seeds) == PAIRS
    if claim != "epsilon":  # of which few are contracted
        seeds = some(seeds, 24)
    seen: Counter[str] = Counter()
    for seed in seeds:
        asked = query(seed, claim, 0)
        options = Bounded(threads=1, lp=asked.lp, dual=False, boxes=60, contract_above=0, singles=seed % 2 == 0)
        result = runner(options).run(asked.task())
        confirmed = result.witness is not None and is_witness(asked, result.witness.normalised)
        vacuous = asked.oracle.is_vacuous(asked.claim) if result.vacuous else None
        wrong = contradiction(result, asked.breaks, vacuous=vacuous, confirmed=confirmed)
        assert wrong is None, f"{wrong} at seed {seed}: {result.to_json()}"
        seen[result.verdict] += 1
        seen["contraction"] += bool(result.stages.get("contraction"))
    assert seen["equivalent"] > len(seeds) // 5, seen
    assert seen["different"] > len(seeds) // 10, seen
    # A distance in a norm that is not linear cannot be contracted.
    assert seen["contraction"] > (0 if claim == "epsilon" else len(seeds) // 10), seen
