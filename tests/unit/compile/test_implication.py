"""Which claim follows from which: never where some outputs meet the one and break the other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from eqspec.compile.implication import claim_follows
from eqspec.property import (
    Confidence,
    Epsilon,
    Linear,
    Margin,
    NeverSaturates,
    NeverWraps,
    Norm,
    Property,
    Top1,
)
from eqspec.replay.violation import violation

NORMS: tuple[Norm, ...] = ("linf", "l1", "l2")
CLAIMS: tuple[Property, ...] = (
    *(Epsilon(eps, norm, chosen) for eps, norm, chosen in product((0, 1, 2), NORMS, (None, (0,)))),
    Top1(),
    *(Margin(margin) for margin in (0, 1, 2)),
    *(Confidence(Fraction(share, 10)) for share in (3, 5, 9)),
    *(
        Linear(candidate, (0, 1), bound, strict)
        for candidate, bound, strict in product(((1, 0), (2, 0)), (0, 1), (False, True))
    ),
)
OUTPUTS = [tuple((Fraction(x), Fraction(x)) for x in pair) for pair in product((-1, 0, 1, 2), repeat=2)]


def kept(claim: Property) -> set[int]:
    """At which outputs of f and g, all of which are points, the claim is not broken."""
    pairs = enumerate(product(OUTPUTS, OUTPUTS))
    return {number for number, (f, g) in pairs if violation(claim, f, g) is None}


KEPT = {claim: kept(claim) for claim in CLAIMS}


@pytest.mark.parametrize("hard", CLAIMS, ids=str)
def test_no_outputs_meet_a_claim_and_break_one_that_follows(hard: Property) -> None:
    for easy in CLAIMS:
        if claim_follows(easy, hard):
            assert KEPT[hard] <= KEPT[easy], easy


@pytest.mark.parametrize(
    ("easy", "hard"),
    [
        (Epsilon(2), Epsilon(1)),
        (Margin(1), Top1()),
        (Confidence(0.9), Confidence(0.5)),
        (Linear((1, 0), (0, 1), 0), Linear((1, 0), (0, 1), 0, strict=True)),
        (Linear((1, 0), (0, 1), 1, strict=True), Linear((1, 0), (0, 1), 0)),
        (NeverWraps(), NeverWraps()),
    ],
    ids=str,
)
def test_what_follows_is_seen(easy: Property, hard: Property) -> None:
    assert claim_follows(easy, hard)
    assert easy == hard or not claim_follows(hard, easy)


def test_wrapping_says_nothing_of_saturating() -> None:
    assert not claim_follows(NeverWraps(), NeverSaturates())
    assert not claim_follows(NeverSaturates(), NeverWraps())
