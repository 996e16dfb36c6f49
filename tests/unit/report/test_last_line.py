"""The last line counts every task once, and what holds of nothing apart."""

from __future__ import annotations

from dataclasses import replace

from eqspec.report.table import summary
from eqspec.tasks.verdict import Verdict
from unit.report.test_json_lines import made


def test_what_is_vacuous_is_not_counted_as_equivalent() -> None:
    good = replace(made("good"), expected=None, verdict=Verdict.EQUIVALENT, reason=None)
    empty = replace(good, vacuous=True)
    wanted = replace(empty, expected="vacuous")
    wrong = replace(good, expected="different")
    kind = good.verdict.value
    assert (
        summary([good, empty, wanted], 1).plain == f"3 tasks in 1.00 s: 1 {kind}, 2 vacuous. 1 not as expected: vacuous"
    )
    assert summary([good, wanted], 1).plain == f"2 tasks in 1.00 s: 1 {kind}, 1 vacuous. All as expected"
    assert summary([wrong, empty], 1).plain.endswith(". 2 not as expected, 1 of them vacuous")
    assert summary([wrong], 1).plain.endswith(". 1 not as expected")
