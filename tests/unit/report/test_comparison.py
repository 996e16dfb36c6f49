"""Two runs compared: nothing changes from a run to itself, and every task of either is told exactly once."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree as Xml

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import examples
from eqspec.errors import InputError
from eqspec.report.comparison import Kind, compare
from eqspec.report.comparison_forms import FORMS, render
from eqspec.report.outcome import Outcome, outcome
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.question import question
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import identity, task

numbers = st.none() | st.fractions(0, 10, max_denominator=8)
searches = st.builds(
    Bracket,
    st.just("s"),
    st.sampled_from(["smallest", "largest"]),
    st.just(Fraction(0)),
    st.just(Fraction(10)),
    st.none(),
    numbers,
    numbers,
    st.sampled_from(["closed", "budget"]),
)
verdicts: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"verdict": Verdict.EQUIVALENT},
        {"verdict": Verdict.EQUIVALENT, "vacuous": True},
        {"verdict": Verdict.DIFFERENT},
        {"verdict": Verdict.UNKNOWN, "reason": Reason.TIMEOUT},
        {"verdict": Verdict.UNKNOWN, "reason": Reason.ERROR, "message": "no <such> file"},
    ]
)


@st.composite
def some_results(draw: st.DrawFn) -> Result:
    """What a comparison looks at, in every combination, sensible or not."""
    name = draw(st.sampled_from("abc"))
    return Result(
        id=name,
        check=name,
        parameters={},
        expected=draw(st.sampled_from(["equivalent", "different", "unknown", "vacuous", None])),
        seconds=draw(st.floats(0, 1e6)),
        find=draw(st.none() | searches),
        source=draw(st.sampled_from([None, "x.eqspec:1:1", "here/x.eqspec:1:1", "here/y.eqspec:2:1", "odd"])),
        cached=draw(st.booleans()),
        **draw(verdicts),
    )


runs = st.lists(some_results(), max_size=4)


def made(verdict: Verdict = Verdict.EQUIVALENT, name: str = "near", **fields: object) -> Result:
    reason = Reason.TIMEOUT if verdict is Verdict.UNKNOWN else None
    given = {"source": "a/x.eqspec:1:1", "seconds": 1.0} | fields
    return replace(Result(name, name, {}, verdict, reason), **given)  # type: ignore[arg-type]


def kinds(before: list[Result], after: list[Result]) -> list[Kind]:
    return [task.kind for task in compare(before, after).tasks]


@settings(max_examples=examples(50))
@given(runs)
def test_a_run_compared_with_itself_is_empty(run: list[Result]) -> None:
    found = compare(run, run)
    assert found.changes == ()
    assert len(found.of(Kind.SAME)) == len(run)
    assert not found.worse


@settings(max_examples=examples(50))
@given(runs, runs)
def test_every_task_of_either_run_is_there_once(before: list[Result], after: list[Result]) -> None:
    found = compare(before, after)
    assert Counter(id(t.before) for t in found.tasks if t.before) == Counter(map(id, before))
    assert Counter(id(t.after) for t in found.tasks if t.after) == Counter(map(id, after))
    assert sorted(map(id, found.changes)) == sorted(id(t) for t in found.tasks if t.kind is not Kind.SAME)


@settings(max_examples=examples(50))
@given(runs, st.data())
def test_every_changed_verdict_is_listed_exactly_once(before: list[Result], data: st.DataObject) -> None:
    fresh = [replace(data.draw(some_results()), id=old.id, check=old.check, source=old.source) for old in before]
    after = [data.draw(st.sampled_from(pair)) for pair in zip(before, fresh, strict=True)]
    listed = Counter(id(change.after) for change in compare(before, data.draw(st.permutations(after))).changes)
    assert set(listed.values()) <= {1}
    if len({old.id for old in before}) == len(before):  # so it is clear what goes with what
        for old, now in zip(before, after, strict=True):
            if old.verdict is not now.verdict or outcome(old) is not outcome(now):
                assert listed[id(now)] == 1


ORDER = (Outcome.PASSED, Outcome.UNDECIDED, Outcome.FAILED)


@given(some_results(), some_results())
def test_worse_one_way_is_better_the_other_way(one: Result, other: Result) -> None:
    other = replace(other, id=one.id, source=one.source)
    there, back = kinds([one], [other]), kinds([other], [one])
    ranks = [ORDER.index(Outcome.FAILED if outcome(r) is Outcome.BROKEN else outcome(r)) for r in (one, other)]
    if ranks[0] < ranks[1]:
        assert (there, back) == ([Kind.WORSE], [Kind.BETTER])
    assert compare([one], [other]).worse == (there == [Kind.WORSE])


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (made(), made(Verdict.DIFFERENT), Kind.WORSE),
        (made(), made(vacuous=True), Kind.WORSE),
        (made(), made(Verdict.UNKNOWN), Kind.WORSE),
        (made(Verdict.UNKNOWN), made(), Kind.BETTER),
        (made(Verdict.UNKNOWN), made(Verdict.UNKNOWN, reason=Reason.ERROR, message="no"), Kind.WORSE),
        (made(), made(Verdict.DIFFERENT, expected="different"), Kind.OTHER),
        (made(), made(expected="equivalent"), Kind.SAME),
        (made(seconds=1.0), made(seconds=1.9), Kind.SAME),
        (made(seconds=0.01), made(seconds=0.9), Kind.SAME),  # a second is what a busy machine may cost
        (made(seconds=1.0), made(seconds=2.0), Kind.SLOWER),
        (made(seconds=10.0), made(seconds=19.0), Kind.SAME),
        (made(seconds=10.0), made(seconds=20.0, cached=True), Kind.SAME),  # not a time of this run
        (made(Verdict.UNKNOWN, seconds=10.0), made(Verdict.UNKNOWN, seconds=60.0), Kind.SAME),  # its time limit
    ],
)
def test_what_a_change_is(before: Result, after: Result, kind: Kind) -> None:
    assert kinds([before], [after]) == [kind]


@pytest.mark.parametrize("direction", ["smallest", "largest"])
def test_a_search_is_worse_where_what_was_proved_is_refuted(direction: str) -> None:
    sign = 1 if direction == "largest" else -1

    def search(proved: int, refuted: int) -> Result:
        ends = (Fraction(5 + sign * proved), Fraction(5 + sign * refuted))
        return made(find=Bracket("s", direction, Fraction(0), Fraction(10), None, *ends, "closed"))  # type: ignore[arg-type]

    assert kinds([search(2, 3)], [search(1, 2)]) == [Kind.WORSE]
    assert kinds([search(1, 2)], [search(2, 3)]) == [Kind.BETTER]
    assert kinds([search(1, 3)], [search(2, 3)]) == [Kind.SAME]  # both may be what the border allows


def test_a_check_that_was_renamed_is_judged_like_any_other() -> None:
    asked = question(task(identity(2), identity(2)))
    known: dict[str, Any] = {"claim": "g keeps top1 of f", "question": asked}
    before = made(name="old", **known)
    (same,) = compare([before], [replace(before, id="new", check="new")]).tasks
    assert (same.kind, same.words) == (Kind.RENAMED, "was called old")
    worse = compare([before], [made(Verdict.DIFFERENT, "new", **known)])
    assert worse.worse
    assert "it was called old" in worse.tasks[0].asked
    # With another claim, another region, another file or no word of them, or with two that ask it, nobody can say.
    other = [
        [made(name="new", **{**known, "claim": "g keeps top1 of h"})],
        [made(name="new", **{**known, "question": replace(asked, constraints=("x > 0",))})],
        [made(name="new", source="a/y.eqspec:1:1", **known), made(name="more", source="a/x.eqspec:1:1")],
        [made(name="new", claim="g keeps top1 of f")],
        [made(name="new", **known), made(name="newer", **known)],
    ]
    for after in other:
        assert kinds([before], after) == [Kind.NEW] * len(after) + [Kind.GONE]


def test_a_slower_machine_makes_no_task_slower() -> None:
    before = [made(name=f"t{i}", seconds=2.0) for i in range(9)]
    after = [replace(one, seconds=6.0) for one in before]
    found = compare(before, after)
    assert found.changes == ()
    assert "the median task takes 3 times as long" in found.summary
    after[4] = replace(after[4], seconds=20.0)
    assert [change.result.id for change in compare(before, after).of(Kind.SLOWER)] == ["t4"]


def test_folders_may_differ_and_names_in_two_files_do_not_mix() -> None:
    here = [made(source="/ci/1/x.eqspec:3:1"), made(Verdict.DIFFERENT, source="/ci/1/y.eqspec:3:1")]
    there = [made(source="/ci/2/x.eqspec:9:1"), made(Verdict.DIFFERENT, source="/ci/2/y.eqspec:9:1")]
    assert kinds(here, there[::-1]) == [Kind.SAME] * 2
    # Of two folders with a file of the same name, one went and another came: these are not the same tasks.
    old = [made(source="nets/1/x.eqspec:1:1"), made(source="nets/2/x.eqspec:1:1")]
    assert kinds(old, [old[0], made(source="nets/3/x.eqspec:1:1")]) == [Kind.SAME, Kind.NEW, Kind.GONE]
    assert kinds(old, [replace(r, source=f"/ci/{r.source}") for r in old[::-1]]) == [Kind.SAME] * 2
    assert kinds([made(), made(name="old")], [made(), made(name="new")]) == [Kind.SAME, Kind.NEW, Kind.GONE]


def test_other_files_are_said_to_be_others() -> None:
    networks = {"candidate": {"name": "pruned", "path": "p.onnx", "sha256": "0" * 64}}
    before = made(networks=networks)
    after = made(Verdict.DIFFERENT, networks={"candidate": {**networks["candidate"], "sha256": "1" * 64}})
    (change,) = compare([before], [after]).changes
    assert change.asked == "pruned is another file than before"
    assert change.words == "was equivalent; now different"


@settings(max_examples=examples(15))
@given(runs, runs)
def test_every_form_tells_of_every_verdict_that_got_worse(before: list[Result], after: list[Result]) -> None:
    found = compare(before, after, "old.json")
    worse = len(found.of(Kind.WORSE))
    assert render(found, "github").count("::error ") == worse
    document = json.loads(render(found, "json"))
    assert [change["kind"] for change in document["changes"]].count("worse") == worse
    assert (len(document["changes"]) + document["same"], document["worse"]) == (len(found.tasks), worse > 0)
    root = Xml.fromstring(render(found, "junit"))
    assert (root.get("tests"), root.get("failures")) == (str(len(after)), str(worse))
    text = render(found, "table")
    assert text.endswith("\n")
    assert "compared with old.json" in text
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(render(found, "html"))
    (section,) = (e for e in tree.iter("section") if e.get("id") == "against")
    assert sum("worse" in (e.get("class") or "") for e in section.iter("tr")) == worse


def test_very_many_new_tasks_are_counted() -> None:
    after = [made(name=f"t{i}") for i in range(500)]
    assert "... and 460 more tasks" in render(compare([], after), "table")
    assert len(render(compare([], after), "table").splitlines()) < 60
    broken = [replace(one, verdict=Verdict.DIFFERENT) for one in after]
    assert render(compare(after, broken), "table").count("now different") == 500


def test_forms_without_a_comparison_are_refused() -> None:
    with pytest.raises(InputError, match="--against has no form sarif; give one of html, table"):
        render(compare([], []), "sarif")
    assert set(FORMS) == {"json", "junit", "github"}


def test_a_narrow_terminal_has_no_wider_lines() -> None:
    before = [made(name=f"a_rather_long_name_of_a_check[sigma={i},row=17]") for i in range(3)]
    after = [replace(one, verdict=Verdict.UNKNOWN, reason=Reason.TIMEOUT) for one in before]
    *lines, _ = render(compare(before, after), "table", width=60).splitlines()
    assert max(map(len, lines)) <= 60
