"""A few of the random cases, and that a wrong answer would be seen."""

from dataclasses import replace

import pytest

from eqspec.run import exactness
from eqspec.tasks.verdict import Verdict
from levels import deciding
from levels.deciding import Tally, judged


def test_a_few_cases() -> None:
    total = Tally()
    for number in range(6):
        total.add(judged(7, number))
    assert total.wrong == []
    assert total.cases == 6 * 13
    assert {answer.split(": ")[1] for answer in total.answers} >= {"equivalent", "different"}


def test_a_wrong_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything_holds(*given: object) -> object:
        result = exactness.decide(*given)  # type: ignore[arg-type]
        return None if result is None else replace(result, verdict=Verdict.EQUIVALENT, witness=None)

    monkeypatch.setattr(deciding, "decide", everything_holds)
    assert any(judged(7, number).wrong for number in range(6))


def test_a_wrong_proof_by_grids_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "proved", lambda *_: True)
    assert any("proved by grids" in complaint for number in range(0, 12, 4) for complaint in judged(7, number).wrong)
