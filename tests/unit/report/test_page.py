"""The page of a report: well-formed, self-contained, and with the results' own facts in the right places."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_results import results
from breadth import examples
from eqspec.api.report import Report
from eqspec.report.html import page
from eqspec.report.missing import Missing, interrupted
from eqspec.report.outcome import Outcome, outcome, sentence, standing
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from unit.report.pages import WHEN, parsed, result, said, shown, with_class, witness


@settings(max_examples=examples(20))
@given(st.lists(results(), max_size=3))
def test_whatever_came_out_makes_a_whole_page(made: list[Result]) -> None:
    text = page(made, made=WHEN)
    tree = parsed(text)
    ids = [e.get("id") for e in tree.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    for link in (e.get("href") for e in tree.iter() if e.get("href")):
        assert link is not None
        assert link.startswith("#")
        assert link[1:] in ids
    # Nothing is fetched and nothing runs.
    assert not {e.tag for e in tree.iter()} & {"script", "link", "iframe", "img", "object", "embed", "base", "form"}
    assert not any(name.startswith("on") or name in ("src", "srcset") for e in tree.iter() for name in e.attrib)
    style = "".join(said(e) for e in tree.iter("style"))
    assert "url(" not in style
    assert "@import" not in style
    # Every task has a cell, a line and its details.
    assert len(with_class(tree, "cell", "a")) == len(made)
    lines = with_class(tree, "list", "table")
    assert [" ".join(r.id.split()) for r in made] == [said(e) for table in lines for e in with_class(table, "id", "td")]
    assert len(with_class(tree, "task", "details")) == len(made)
    assert "nan" not in re.sub("(?s)<text.*?</text>", "", text).split("<svg", 1)[-1].split("</svg>")[0]


def test_no_results_are_said_to_be_none() -> None:
    tree = shown([])
    assert said(tree.find(".//h1")) == "eqspec"
    assert "No results" in said(with_class(tree, "summary")[0])
    assert not with_class(tree, "cell")


def test_text_from_specs_is_text() -> None:
    evil = "<script>alert('x')</script>&amp;\"\x00\udc80 ünïcode → 粒子"
    made = result(
        Verdict.DIFFERENT,
        id=evil,
        check=evil,
        claim=evil,
        source=f"{evil}:1:1",
        tags=(evil,),
        witness=witness(features=(evil, "b", "c"), statement=evil, outputs=(evil, "y")),
        networks={"reference": {"name": evil, "path": evil, "sha256": evil}},
        settings={evil: evil},
        parameters={evil: Fraction(1)},
    )
    tree = shown([made], evil)
    assert not list(tree.iter("script"))
    clean = evil.replace("\x00", r"\x00").replace("\udc80", r"\udc80")
    assert said(tree.find(".//h1")) == clean
    assert clean in [said(e) for e in tree.iter("b")]


def test_a_sweep_is_a_grid_of_its_parameters() -> None:
    made = [
        result(verdict, "same", id=f"same[{s},{d}]", parameters={"sigma": Fraction(s), "delta": Fraction(d)}, **fields)
        for s, d, verdict, fields in (
            ("0.2", "0.9", Verdict.EQUIVALENT, {}),
            ("0.2", "0.5", Verdict.DIFFERENT, {"expected": "different"}),
            ("0.2", "0.7", Verdict.UNKNOWN, {"certified_fraction": 0.25}),
            ("0.1", "0.9", Verdict.EQUIVALENT, {"vacuous": True}),
            ("0.1", "0.7", Verdict.DIFFERENT, {}),
        )
    ]
    (grid,) = with_class(shown(made), "matrix", "table")
    rows = [[said(cell) for cell in row] for row in grid.iter("tr")]
    assert rows == [
        ["", "delta"],
        ["", "0.5", "0.7", "0.9"],
        ["sigma = 0.2", "≠", "?25.0 %", "="],
        ["sigma = 0.1", "", "≠", "∅"],
    ]
    cells = {e.get("href"): (e.get("class") or "").split() for e in with_class(grid, "cell")}
    assert cells["#t0"] == ["cell", "equivalent"]
    assert cells["#t1"] == ["cell", "different"]
    assert cells["#t2"] == ["cell", "unknown"]
    assert cells["#t3"] == ["cell", "vacuous", "wrong"]  # a claim is meant to hold, and not vacuously
    assert cells["#t4"] == ["cell", "different", "wrong"]


def test_long_sweeps_flow_and_checks_of_many_files_cross() -> None:
    rows = [result(id=f"r[{i}]", parameters={"r": Fraction(r), "row": Fraction(i)}) for r in (1, 2) for i in range(60)]
    flows = with_class(shown(rows), "flow")
    assert [len(with_class(flow, "cell")) for flow in flows] == [60, 60]
    assert [said(with_class(flow, "head")[0]) for flow in flows] == ["r = 1", "r = 2"]
    many = [
        result(name=f"prop_{p}", source=f"nets/acas/{n}.eqspec:3:1")
        for n in ("1_1", "1_2", "1_3")
        for p in range(6)
        if (n, p) != ("1_2", 5)
    ]
    (grid,) = with_class(shown(many), "matrix", "table")
    heads = [[said(cell) for cell in row] for row in grid.iter("tr")]
    assert heads[1] == ["", *(f"prop_{p}" for p in range(6))]
    assert heads[3] == ["1_2.eqspec", "=", "=", "=", "=", "=", ""]


def test_joined_results_keep_both() -> None:
    twice = [result(parameters={"d": Fraction(1)}), result(Verdict.UNKNOWN, parameters={"d": Fraction(1)})]
    (grid,) = with_class(shown(twice), "matrix", "table")
    assert [e.get("href") for e in with_class(grid, "cell")] == ["#t0", "#t1"]


def test_counts_and_the_summary_add_up() -> None:
    made = [
        result(seconds=1.5),
        result(Verdict.DIFFERENT, seconds=2.0),
        result(Verdict.DIFFERENT, expected="different"),
        result(Verdict.UNKNOWN, seconds=0.5),
        result(Verdict.UNKNOWN, reason=Reason.ERROR, message="ValueError: no"),
    ]
    tree = shown(made)
    sentence = said(with_class(tree, "sentence")[0])
    assert sentence == "FAILED: 1 of 5 not as expected; 1 could not be run; 1 undecided"
    assert said(with_class(tree, "summary")[0]) == "As expected: 1 equivalent, 1 different. 4.00 s of search in all."
    assert [said(e) for e in with_class(tree, "message")] == ["ValueError: no"]


@settings(max_examples=examples(20))
@given(st.lists(results(), min_size=1, max_size=3))
def test_no_task_is_counted_twice(made: list[Result]) -> None:
    numbers = re.findall(r"(?<!of )(?<!all )\b\d+\b", sentence(made))
    fine = sum(outcome(one) is Outcome.PASSED for one in made)
    if standing(made) != "passed":
        assert sum(map(int, numbers)) + fine == len(made)
    worst = max({"passed": 0, "undecided": 1}.get(str(outcome(one)), 2) for one in made)
    assert standing(made) == ("passed", "undecided", "failed")[worst]


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ([Missing("bad.eqspec", "E008: no claim")], "FAILED: 1 spec cannot be used. Of the rest all 2 proved"),
        ([interrupted("a.eqspec", 6)], "INTERRUPTED: 6 tasks not run. Of the rest all 2 proved"),
        (
            [Missing("bad.eqspec", "E008"), interrupted("a.eqspec", 2)],
            "FAILED: 1 spec cannot be used; 2 tasks not run. Of the rest all 2 proved",
        ),
    ],
)
def test_what_is_missing_is_said_first(missing: list[Missing], says: str) -> None:
    tree = parsed(page([result(name="a"), result(name="b")], made=WHEN, missing=missing))
    (head,) = with_class(tree, "sentence")
    assert said(head) == says
    assert "passed" not in (head.get("class") or "").split()
    listed = [[said(part) for part in line] for line in with_class(tree, "missing", "dl")[0]]
    assert listed == [[one.file, one.why] for one in missing]


def test_a_report_in_python_says_what_was_not_run() -> None:
    whole, part = Report((result(),)), Report((result(),), interrupted=True, left_out=3)
    assert said(with_class(parsed(whole.to_html()), "sentence")[0]).startswith("PASSED")
    assert said(with_class(parsed(part.to_html()), "sentence")[0]).startswith("INTERRUPTED: 3 tasks not run")


def test_a_run_of_which_nothing_was_checked_says_so() -> None:
    tree = parsed(page([], made=WHEN, missing=[Missing("bad.eqspec", "E008: no claim")]))
    assert said(with_class(tree, "sentence")[0]) == "FAILED: 1 spec cannot be used"
    assert said(tree.find(".//h1")) == "bad.eqspec"
    assert sentence([], [Missing("bad.eqspec", "why")]) == "FAILED: 1 spec cannot be used"


def test_of_many_failures_the_first_of_each_check_is_unfolded() -> None:
    made = [replace(result(Verdict.DIFFERENT, f"{check}[{n}]"), check=check) for check in "ab" for n in range(15)]
    open_ones = [said(task.find(".//b")) for task in with_class(shown(made), "task") if task.get("open") is not None]
    assert open_ones == ["a[0]", "b[0]"]
    assert [task.get("open") is not None for task in with_class(shown(made[:3]), "task")] == [True] * 3
    folded = [fold for fold in with_class(shown(made), "all", "details") if with_class(fold, "task")]
    assert [said(fold.find("summary")) for fold in folded] == ["18 more"]


def test_many_tasks_that_are_as_expected_are_folded_together() -> None:
    for number, folds in ((12, 0), (13, 1)):
        tree = shown([result(name=f"t{n}") for n in range(number)])
        assert len(with_class(tree, "task")) == number
        assert len([fold for fold in with_class(tree, "all", "details") if with_class(fold, "task")]) == folds


def test_claims_of_a_sweep_are_written_once() -> None:
    made = [
        result(name=f"n[{d}]", check="n", parameters={"d": Fraction(d)}, claim=f"g stays within {d} of f")
        for d in range(4)
    ]
    (head,) = with_class(shown(made), "claim", "span")
    assert said(head) == "g stays within 0, …, 3 of f"


def test_failures_come_first_and_open_and_the_rest_is_folded() -> None:
    made = [result(name="fine"), result(Verdict.UNKNOWN, name="slow"), result(Verdict.DIFFERENT, name="broken")]
    tree = shown(made)
    told = [(said(with_class(e, "id")[0]), "open" in e.attrib) for e in with_class(tree, "task", "details")]
    assert told == [("broken", True), ("slow", False), ("fine", False)]
    heads = [said(e) for e in tree.iter("h2")]
    assert heads.index("Not as expected") < heads.index("Overview") < heads.index("Undecided")
    folded = with_class(shown(made[:2]), "task", "details")
    assert ["open" in e.attrib for e in folded] == [True, False]  # nothing failed, so what is undecided comes first


def test_the_legend_explains_what_occurs_and_nothing_else() -> None:
    made = [
        result(name="fine"),
        result(Verdict.UNKNOWN, name="slow", certified_fraction=0.5),
        result(name="empty", vacuous=True),
    ]
    entries = [said(e) for e in with_class(shown(made), "legend")[0]]
    assert [entry.split(":")[0] for entry in entries] == [
        "= equivalent",
        "? unknown",
        "∅ vacuous",
        "not as expected, or failed",
        "% the share of the region that is proved",
    ]
    assert [said(e) for e in with_class(shown(made[:1]), "legend")[0]] == ["= equivalent: proved on the whole region"]


def test_what_tasks_were_run_with_is_told_once() -> None:
    networks = {r: {"name": r[0], "path": f"{r}.onnx", "sha256": r[0] * 64} for r in ("reference", "candidate")}
    same = {"networks": networks, "settings": {"timeout": 5.0, "threads": None}, "engine_version": "0.1.0"}
    one = replace(result(), **same)  # type: ignore[arg-type]
    tree = shown([one, one, replace(one, settings={"timeout": None, "memory": None})])
    first, second = with_class(tree, "setup", "div")
    assert "r" * 64 in said(first)
    assert "2 tasks" in said(first)
    assert "timeout5 s" in said(first)
    assert "threadsone per core" in said(first)
    assert "timeoutno limit set" in said(second)
    assert "memory2048 MiB, the default" in said(second)


def test_very_many_tasks_are_listed_and_the_urgent_ones_told() -> None:
    made = [result(id=f"fine{i}") for i in range(450)] + [result(Verdict.DIFFERENT, id="broken")]
    tree = shown(made)
    assert len(with_class(tree, "cell", "a")) == 451
    told = [said(with_class(e, "id")[0]) for e in with_class(tree, "task", "details")]
    assert len(told) == 400
    assert told[0] == "broken"
    assert "51 tasks stand in the table only, the least pressing ones." in said(tree)
