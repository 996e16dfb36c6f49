"""The writer and the auditor have a table of facts each: both give the same facts the same numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eqspec.audit import bounds
from eqspec.audit.bounds import FACTS
from eqspec.audit.claim import Obligation, Region
from eqspec.certificates.facts import (
    ABOVE_IDENTITY,
    LOWER,
    OF_BENT,
    OF_CURVED,
    OF_LINEAR,
    POSITIVE,
    UPPER,
    Behind,
    Fact,
)
from unit.certificates.test_bounds import boxes, numbers_of, pair_in_step, pair_of


def test_both_tables_name_the_same_facts_in_the_same_order() -> None:
    assert [fact.value for fact in OF_BENT] == list(FACTS)
    assert [fact.value for fact in OF_LINEAR] == list(bounds.AFFINE)
    assert [fact.value for fact in OF_CURVED] == list(bounds.CURVED)


def test_groups_are_of_the_first_the_second_and_the_difference() -> None:
    names = list(FACTS)
    assert [fact.value for fact in POSITIVE] == ["X", "Y"]
    assert [fact.value for fact in ABOVE_IDENTITY] == ["X - x", "Y - y"]
    assert [fact.value for fact in LOWER] == names[bounds.LOWER : bounds.LOWER + 3]
    assert [fact.value for fact in UPPER] == names[bounds.LOWER + 3 : -1]
    assert Fact.LINK.value == names[-1]


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_of_the_writer_are_those_facts_to_the_auditor(seed: int) -> None:
    """Each fact is known by its bounds: those of the quantities in it on one box."""
    rng = np.random.default_rng(seed)
    pair = pair_in_step(*pair_of(rng))
    lower = rng.normal(size=(3, 1))
    reached = boxes(pair, lower, lower + 1.0)
    failing = Obligation(((2, 0, 1, Fraction(-4)),))
    region = Region({"region": {"lo_exact": ["0"] * 3, "hi_exact": ["1"] * 3, "A": [], "b": [], "strict": []}}, 3)
    numbers = numbers_of(pair, len(failing.exact), len(region.bounds))
    seen = 0
    for layer, m in enumerate(pair.widths):
        low, high = (ends[reached.parts[layer]].reshape(3, m) for ends in (reached.low, reached.high))
        before = [ends.reshape(3, m) for ends in reached.before[layer].form.bounds()]
        for fact in Behind.of(pair.steps[layer]).value:
            own = numbers.of(layer, fact)
            assert own.start == seen, "numbers follow one another without a gap"
            seen = own.stop
            form, kinds = reached.facts(failing, region, np.arange(own.start, own.stop))
            least, most = (ends[:, 0] for ends in form.bounds())
            assert (kinds == (1 if fact is Fact.LINK else 0)).all()
            if fact in LOWER:
                k = LOWER.index(fact)
                assert least == pytest.approx(before[0][k] - low[k], abs=1e-9)
                assert most == pytest.approx(before[1][k] - low[k], abs=1e-9)
            elif fact in UPPER:
                k = UPPER.index(fact)
                assert most == pytest.approx(high[k] - before[0][k], abs=1e-9)
            elif fact in POSITIVE:
                after = reached.after[layer].rows(np.arange(3 * m))
                assert most == pytest.approx(after.bounds()[1].reshape(3, m)[POSITIVE.index(fact)], abs=1e-9)
    everything = np.arange(numbers.of_region.stop)
    assert len(reached.facts(failing, region, everything)[1]) == len(everything) == seen
