"""What counts as a broken claim, at the edges: ties, strictness, equality, and enclosures that leave it open."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.replay.violation import BeyondBound, Enclosure, OtherClass, TooFar, Violation, confident, violation
from eqspec.replay.violation_in_words import told_apart, violation_in_words
from small_tasks import identity, task

F = Fraction


def exactly(*numbers: float | str | F) -> list[Enclosure]:
    return [(F(n), F(n)) for n in numbers]


def test_numbers_of_a_type_are_decimals_as_long_as_they_are_told_apart() -> None:
    meant, limit = F(2214855815, 2**31), F(2147483775, 2**31)
    assert told_apart(meant, limit, F(8, 255)) == ["1.03137261", "1.00000006", "8/255"]
    above = limit + F(1, 2**60)
    assert told_apart(above, limit) == [str(above), str(limit)]


@pytest.mark.parametrize(
    ("claim", "found", "words"),
    [
        (Epsilon("0.25"), TooFar("linf", F("0.3"), 0), "pruned and full differ by 0.3 in y0, more than 0.25"),
        (Epsilon("0.25"), TooFar("linf", F("0.25000011"), 0), "differ by 0.25000011 in y0, more than 0.25"),
        (Epsilon("0.25", "l1"), TooFar("l1", F("0.25") + F(1, 2**40), None), "by 0.250000000001 in l1, more than"),
        (Epsilon(5, "l2"), TooFar("l2", F("25.0000001"), None), "differ by 5.00000001 in l2, more than 5"),
        (Epsilon(1), TooFar("linf", 1 + F(1, 10**50), 0), "by 1 and less than floats tell in y0, more than 1"),
        (Epsilon(1), TooFar("linf", F(10**400), 0), "differ by inf in y0, more than 1"),
        (Linear((1, 0), (-1, 0), "0.1"), BeyondBound(F("0.10000004")), "the left side is 0.10000004, more than 0.1"),
        (
            Linear((1, 0), (-1, 0), F(1, 3), strict=True),
            BeyondBound(F(1, 3) + F(1, 10**9)),
            "is 0.333333334, not below",
        ),
        (Linear((1, 0), (-1, 0), "0.2", strict=True), BeyondBound(F("0.2")), "the left side is 0.2, not below 0.2"),
        (Confidence("0.9000001"), OtherClass(0, 1, F(1)), "full decides y0 with confidence 0.90000012, but pruned has"),
        (Margin(1), OtherClass(0, 1, F(1)), "full decides y0 with confidence 0.9, but pruned has y1 higher by 1"),
    ],
)
def test_what_breaks_a_claim_is_seen_to_be_beyond_it(claim: Property, found: Violation, words: str) -> None:
    asked = task(identity(2), identity(2), claim)
    assert words in violation_in_words(asked, found, 0.90000012)


def test_a_distance_equal_to_eps_is_no_violation() -> None:
    claim = Epsilon("1/3")
    assert violation(claim, exactly(0, 0), exactly("1/3", "-1/3")) is None
    just_beyond = F(1, 3) + F(1, 10**50)
    assert violation(claim, exactly(0, 0), exactly(0, -just_beyond)) == TooFar("linf", just_beyond, 1)


def test_norms_add_up_and_only_named_outputs_count() -> None:
    reference, candidate = exactly(0, 0, 0), exactly(3, -4, 100)
    assert violation(Epsilon(7, "l1", (0, 1)), reference, candidate) is None
    assert violation(Epsilon("6.999", "l1", (0, 1)), reference, candidate) == TooFar("l1", F(7), None)
    assert violation(Epsilon(5, "l2", (0, 1)), reference, candidate) is None
    assert violation(Epsilon("4.999999999999999999999999", "l2", (1, 0)), reference, candidate) is not None
    assert violation(Epsilon(4, "linf", (0, 1)), reference, candidate) is None
    assert violation(Epsilon(99), reference, candidate) == TooFar("linf", F(100), 2)


def test_a_distance_in_doubt_is_no_violation() -> None:
    reference = [(F(0), F(1))]
    assert violation(Epsilon(1), reference, [(F(2), F(3))]) is None  # 1 apart at the closest
    assert violation(Epsilon("0.99"), reference, [(F(2), F(3))]) == TooFar("linf", F(1), 0)
    assert violation(Epsilon(0), reference, [(F(1), F(3))]) is None  # they overlap


def test_top1_follows_the_argmax_sets() -> None:
    """Argmax f must lie in Argmax g: a tie in g alone is allowed, a tie in f that g breaks is not."""
    claim = Top1()
    assert violation(claim, exactly(1, 0), exactly(1, 1)) is None
    assert violation(claim, exactly(1, 1), exactly(1, 0)) == OtherClass(1, 0, F(1))
    assert violation(claim, exactly(1, 1), exactly(2, 2)) is None
    assert violation(claim, exactly(1, 0, 0), exactly(1, 0, "1.0000000000000000001")) is not None
    assert violation(claim, exactly(1, 0), exactly(0, -1)) is None


def test_top1_reports_the_clearest_preference() -> None:
    assert violation(Top1(), exactly(1, 1, 0), exactly(0, 2, 5)) == OtherClass(0, 2, F(5))


def test_a_tie_in_doubt_is_no_violation() -> None:
    open_reference = [(F(0), F(1)), (F(1, 2), F(2))]
    assert violation(Top1(), open_reference, exactly(0, 5)) is None
    clear_reference = [(F(0), F(1)), (F(1), F(2))]
    assert violation(Top1(), clear_reference, exactly(5, 0)) == OtherClass(1, 0, F(5))
    assert violation(Top1(), clear_reference, [(F(0), F(1)), (F(0), F(1))]) is None


def test_the_smallest_score_may_win() -> None:
    assert violation(Top1(), exactly(0, 1), exactly(0, 1), lowest_wins=True) is None
    assert violation(Top1(), exactly(0, 1), exactly(2, 1), lowest_wins=True) == OtherClass(0, 1, F(1))
    assert violation(Epsilon(1), exactly(0, 1), exactly(2, 1), lowest_wins=True) == TooFar("linf", F(2), 0)


def test_margin_is_a_closed_guard() -> None:
    claim = Margin("0.1")
    assert violation(claim, exactly("0.1", 0), exactly(0, 1)) is not None
    assert violation(claim, exactly("0.09999999999999999999", 0), exactly(0, 1)) is None


def test_confidence_uses_the_true_softmax() -> None:
    """softmax(ln 4, 0, 0) = (2/3, 1/6, 1/6), while every odds ratio is 4: the polytope of pairs would say 0.8."""
    log4 = F("1.3862943611198906188344642429163531361510002687205105082413600189867872439393894312")
    candidate = exactly(0, 1, 0)
    assert violation(Confidence("0.6666"), exactly(log4, 0, 0), candidate) is not None
    assert violation(Confidence("0.6667"), exactly(log4, 0, 0), candidate) is None
    assert violation(Confidence("0.8"), exactly(log4, 0, 0), candidate) is None


def test_equal_scores_have_a_rational_confidence() -> None:
    assert confident(exactly(7, 7, 7, 7), 0, F(1, 4))
    assert not confident(exactly(7, 7, 7, 7), 0, F(1, 4) + F(1, 10**60))
    assert violation(Confidence("1/2"), exactly(3, 3), exactly(0, 1)) == OtherClass(0, 1, F(1))


@pytest.mark.parametrize("power", [20, 60, 150])
def test_confidence_is_decided_however_close(power: int) -> None:
    """delta = 1 / (1 + e^-1) to so many digits and a half, from below and from above."""
    with localcontext() as context:
        context.prec = power + 60
        true = F(1 / (1 + Decimal(-1).exp()))
    assert confident(exactly(1, 0), 0, true - F(1, 10**power))
    assert not confident(exactly(1, 0), 0, true + F(1, 10**power))


def test_confidence_of_enclosures_must_hold_at_their_worst() -> None:
    assert confident([(F(10), F(11)), (F(0), F(1))], 0, F(999, 1000))
    assert not confident([(F(5), F(11)), (F(0), F(1))], 0, F(999, 1000))


def test_saturated_confidence() -> None:
    """A float softmax says 1.0 here, and would pass any delta below it."""
    assert confident(exactly(100, 0), 0, 1 - F(1, 10**43))
    assert not confident(exactly(100, 0), 0, 1 - F(1, 10**44))
    assert confident(exactly(10**9, 0), 0, 1 - F(1, 10**4000))


def test_linear_claims() -> None:
    closed = Linear((1, 0), (-1, 0), "0.02")
    strict = Linear((1, 0), (-1, 0), "0.02", strict=True)
    assert violation(closed, exactly(1, 9), exactly("1.02", -9)) is None
    assert violation(strict, exactly(1, 9), exactly("1.02", -9)) == BeyondBound(F(2, 100))
    assert violation(closed, exactly(1, 9), exactly("1.03", -9)) == BeyondBound(F(3, 100))
    assert violation(closed, [(F(0), F(1)), (F(0), F(0))], [(F(1), F(3)), (F(0), F(0))]) is None
