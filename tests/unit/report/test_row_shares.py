"""Rows of a table counted: every row in one of four counts, at every value of what else is swept."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import examples
from eqspec.report.formats import render
from eqspec.report.html.row_shares import row_shares
from eqspec.report.row_counts import concluded
from eqspec.tasks.question import question
from eqspec.tasks.result import Result
from eqspec.tasks.result_schema import result_schema
from eqspec.tasks.row_groups import row_groups
from eqspec.tasks.row_source import Choice, RowSource
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import identity, task

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


@settings(max_examples=examples(30))
@given(st.lists(st.sampled_from(sorted(OUTCOMES)), min_size=2, max_size=9))
def test_every_row_is_in_one_count(kinds: list[str]) -> None:
    ((_, words, _),) = row_shares(over_rows(kinds))[0].lines
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
        ("r = 1", "3 of 4 rows proved, 1 undecided", ()),
        ("r = 2", "1 of 4 rows proved, 2 refuted, 1 undecided", ()),
    )
    assert found.picture is not None
    path = re.search(r'd="M([^"]+)Z" class="between"', found.picture)
    assert path is not None
    heights = [float(point.split()[1]) for point in path[1].split("L")]
    proved_1, proved_2, open_2, open_1 = heights  # along what is proved, and back along what is not refuted
    whole = (proved_1 - open_1) / 0.25  # pixels of the whole share: between 3 of 4 and 4 of 4
    assert proved_2 - proved_1 == 0.5 * whole
    assert open_2 - open_1 == 0.5 * whole


def drawn(kinds: list[str], taken: int, choice: Choice = "sampled") -> list[Result]:
    """The same rows, drawn from a table, or named by the spec."""
    seed = 3 if choice == "sampled" else None
    asked = question(task(identity(2), identity(2), row_source=RowSource("t.csv", 500, taken, choice, seed=seed)))
    return [replace(result, question=asked) for result in over_rows(kinds)]


def test_what_is_said_of_events() -> None:
    ((_, counts, said),) = row_shares(drawn(["proved"] * 96 + ["refuted"] + ["undecided"] * 3, 100))[0].lines
    assert counts == "96 of 100 sampled rows proved, 1 refuted, 3 undecided"
    assert said == ("at least 91 % of such events, 95 % confidence, if drawn alike",)
    ((_, _, said),) = row_shares(drawn(["proved"] * 96 + ["vacuous"] * 4, 100))[0].lines
    assert said[1] == "at least 96.9 % of those that are not vacuous"  # 0.05 ** (1 / 96)
    assert row_shares(drawn(["refuted"] * 3, 3))[0].lines[0][2] == ()
    ((_, counts, said),) = row_shares(drawn(["proved"] * 3, 3, "listed"))[0].lines
    assert counts == "3 of 3 listed rows proved"
    assert said == ("at least 36.8 % of such events, 95 % confidence, if the rows were drawn alike and not chosen",)


def test_rows_that_never_ran_count_against_it() -> None:
    """Whoever stops a run when it looks good, or selects some tasks, gets no better bound."""
    results = drawn(["proved"] * 30, 100)
    ((_, counts, said),) = row_shares(results)[0].lines
    assert counts == "30 of 100 sampled rows proved, 70 not run"
    assert said[0].startswith("at least 22.4 %")  # the quantile at 5 % of the beta distribution with 30 and 71
    ((_, _, said),) = row_shares(drawn(["proved"] * 30 + ["vacuous"] * 10, 100))[0].lines
    assert said[1] == "at least 25.1 % of those that are not vacuous"  # of the beta distribution with 30 and 61
    assert not concluded(row_groups(over_rows(["proved"] * 30))[0].share)  # it is not known how many there were to be


def test_results_carry_what_became_of_all_rows() -> None:
    written = json.loads(render(drawn(["proved", "proved", "refuted"], 3), "json"))
    assert [entry["over_rows"]["proved"] for entry in written] == [2, 2, 2]
    schema = result_schema()
    jsonschema.validate(written[0]["over_rows"], {**schema["$defs"]["over_rows"], "$defs": schema["$defs"]})
    back = Result.from_json(written[0])
    assert back.over_rows is not None
    assert back.over_rows.source == RowSource("t.csv", 500, 3, "sampled", seed=3)
    assert json.loads(render([back], "jsonl"))["question"]["rows"]["seed"] == 3


def test_what_is_not_over_rows_is_left_out() -> None:
    assert row_shares([Result("a", "a", {}, Verdict.EQUIVALENT), *over_rows(["proved"])]) == ()
    broken = over_rows(["proved", "proved", "undecided"])
    broken[2] = Result(broken[2].id, "near", broken[2].parameters, Verdict.UNKNOWN, Reason.ERROR)
    assert row_shares(broken)[0].lines == (("", "2 of 3 rows proved, 1 not run", ()),)
    assert [
        found.name for found in row_shares([*over_rows(["proved"] * 2), *over_rows(["proved"] * 2, None, "other")])
    ] == [
        "near",
        "other",
    ]
