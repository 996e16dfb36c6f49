"""The meaning of each sentence, clause by clause, and of its boundaries."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from eqspec.property import Confidence, Top1
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from oracle.cases import CASES, DISTANCE, UNIT, Case
from oracle.evaluate import confidence_exceeds
from oracle.queries import Query, known, oracle_of
from oracle.search import Bounded, contradiction, is_witness, runner

SEARCHES = [Bounded(threads=1, domain=domain) for domain in ("shared", "paper", "naive")]
SEARCHES += [Bounded(threads=1, lp=False), Bounded(threads=2)]


def ask(case: Case, options: Bounded = SEARCHES[0]) -> tuple[Query, Result]:
    pair = case.pair
    asked = Query(
        pair, oracle_of(pair), case.claim, case.breaks, None, options.domain, options.threads or 1, options.lp
    )
    return asked, runner(options).run(asked.task())


@pytest.mark.part(172)
@pytest.mark.parametrize("options", SEARCHES, ids=lambda o: f"{o.domain}{'' if o.lp else '-no-lp'}-{o.threads}")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_the_sentence_means_this(case: Case, options: Bounded) -> None:
    asked, result = ask(case, options)
    confirmed = result.witness is not None and is_witness(asked, result.witness.normalised)
    vacuous = asked.oracle.is_vacuous(case.claim)
    assert contradiction(result, case.breaks, vacuous=vacuous, confirmed=confirmed) is None
    if not case.exact and options.lp:
        assert result.verdict is (Verdict.DIFFERENT if case.breaks else Verdict.EQUIVALENT)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_the_oracle_reads_it_so_too(case: Case) -> None:
    assert oracle_of(case.pair).breaks(case.claim) is case.breaks


def test_distance_is_symmetric_and_deciding_is_not() -> None:
    tie, first = [[0, 1], [0, 1]], [[0, 1], [0, 0]]
    for case in DISTANCE:
        assert oracle_of(replace(case, f=case.g, g=case.f).pair).breaks(case.claim) is case.breaks
    assert ask(Case("", first, tie, UNIT, Top1(), breaks=False))[1].verdict is not Verdict.DIFFERENT
    assert ask(Case("", tie, first, UNIT, Top1(), breaks=True))[1].verdict is not Verdict.EQUIVALENT


@pytest.mark.parametrize("name", ["never so confident", "f unsure, g sure", "margin never", "empty"])
def test_a_claim_about_no_input_at_all_is_called_vacuous(name: str) -> None:
    result = ask(next(case for case in CASES if case.name == name))[1]
    assert result.verdict is Verdict.EQUIVALENT
    assert result.vacuous


@pytest.mark.parametrize("name", ["two classes, above", "margin above", "cut off", "no tie beside it", "second best"])
def test_a_claim_about_some_inputs_is_not(name: str) -> None:
    result = ask(next(case for case in CASES if case.name == name))[1]
    assert result.verdict is Verdict.EQUIVALENT
    assert not result.vacuous


@pytest.mark.part(15)
@pytest.mark.parametrize("seed", range(40))
def test_a_confidence_that_every_input_has_is_plain_top1(seed: int) -> None:
    """Up to 1/n for n classes; for two classes that is 1/2."""
    pair, oracle = known(seed)
    asked = Query(pair, oracle, Top1(), oracle.breaks(Top1()), None, "shared", 1, True)
    plain = runner(Bounded(threads=1)).run(asked.task())
    for delta in (Fraction(1, pair.outputs), Fraction(1, 2 * pair.outputs)):
        if delta == 1:
            continue
        assert oracle.breaks(Confidence(delta)) is asked.breaks
        result = runner(Bounded(threads=1)).run(replace(asked, claim=Confidence(delta)).task())
        assert (result.verdict, result.boxes) == (plain.verdict, plain.boxes)


@pytest.mark.parametrize(("lacking", "exceeds"), [("8.7e-223", False), ("8.8e-223", True), ("1e-9", True)])
def test_a_confidence_of_hundreds_of_nines_is_told_from_a_larger_one(lacking: str, exceeds: bool) -> None:
    """Scores 0, 512 and 0: all but 2 exp(-512), which is between 8.7 and 8.8e-223."""
    scores = [Fraction(0), Fraction(512), Fraction(0)]
    assert confidence_exceeds(scores, 1, 1 - Fraction(lacking)) is exceeds
