"""Rows of a table counted: every row in one of four counts, at every value of what else is swept."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from eqspec.report.html.row_shares import row_shares
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict

OUTCOMES = {
    "proved": {"verdict": Verdict.EQUIVALENT},
    "vacuous": {"verdict": Verdict.EQUIVALENT, "vacuous": True},
    "refuted": {"verdict": Verdict.DIFFERENT},
    "undecided": {"verdict": Verdict.UNKNOWN, "reason": Reason.TIMEOUT},
}


def over_rows(kinds: list[str], r: int | None = None, check: str = "near") -> list[Result]:
    inside = {} if r is None else {"r": Fraction(r)}
    return [
        Result(f"{check}[{r},{n}]", check, {**inside, "row": Fraction(n)}, **OUTCOMES[kind])  # type: ignore[arg-type]
        for n, kind in enumerate(kinds)
    ]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(sorted(OUTCOMES)), min_size=2, max_size=9))
def test_every_row_is_in_one_count(kinds: list[str]) -> None:
    ((_, words),) = row_shares(over_rows(kinds))[0].lines
    proved, rows = map(int, re.findall(r"(\d+) of (\d+) rows proved", words)[0])
    counted = Counter({name: int(number) for number, name in re.findall(r"(\d+) (refuted|vacuous|undecided)", words)})
    assert rows == len(kinds)
    assert counted + Counter(proved=proved) == Counter(kinds)


def test_the_curve_is_between_what_is_proved_and_what_is_refuted() -> None:
    swept = [
        *over_rows(["proved", "proved", "undecided", "proved"], 1),
        *over_rows(["proved", "refuted", "refuted", "undecided"], 2),
    ]
    (found,) = row_shares(swept)
    assert found.lines == (
        ("r = 1", "3 of 4 rows proved, 1 undecided"),
        ("r = 2", "1 of 4 rows proved, 2 refuted, 1 undecided"),
    )
    assert found.picture is not None
    path = re.search(r'd="M([^"]+)Z" class="between"', found.picture)
    assert path is not None
    heights = [float(point.split()[1]) for point in path[1].split("L")]
    proved_1, proved_2, open_2, open_1 = heights  # along what is proved, and back along what is not refuted
    whole = (proved_1 - open_1) / 0.25  # pixels of the whole share: between 3 of 4 and 4 of 4
    assert proved_2 - proved_1 == 0.5 * whole
    assert open_2 - open_1 == 0.5 * whole


def test_what_is_not_over_rows_is_left_out() -> None:
    assert row_shares([Result("a", "a", {}, Verdict.EQUIVALENT), *over_rows(["proved"])]) == ()
    broken = over_rows(["proved", "proved", "undecided"])
    broken[2] = Result(broken[2].id, "near", broken[2].parameters, Verdict.UNKNOWN, Reason.ERROR)
    assert row_shares(broken)[0].lines == (("", "2 of 2 rows proved"),)
    assert [
        found.name for found in row_shares([*over_rows(["proved"] * 2), *over_rows(["proved"] * 2, None, "other")])
    ] == [
        "near",
        "other",
    ]
