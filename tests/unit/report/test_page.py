"""The page of a report: well-formed, self-contained, and with the results' own facts in the right places."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from xml.etree.ElementTree import Element

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_results import results
from eqspec.api.report import Report
from eqspec.report.html import page
from eqspec.report.missing import Missing, interrupted
from eqspec.report.outcome import Outcome, outcome, sentence, standing
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.bracket import Bracket, Probe
from eqspec.tasks.result import Result
from eqspec.tasks.search_statistics import Moment, OpenBox, Sampled, Undecided
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness
from small_tasks import undecided_task

WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def parsed(text: str) -> Element:
    """The tree of a page that keeps every rule of HTML."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree: Element = parser.parse(text)
    return tree


def shown(made: list[Result], title: str | None = None) -> Element:
    return parsed(page(made, title, WHEN))


def said(element: Element | None) -> str:
    assert element is not None
    return " ".join("".join(element.itertext()).split())


def with_class(tree: Element, name: str, tag: str = "*") -> list[Element]:
    return [e for e in tree.iter() if name in (e.get("class") or "").split() and (tag == "*" or e.tag == tag)]


def result(verdict: Verdict = Verdict.EQUIVALENT, name: str = "near", **fields: object) -> Result:
    reason = Reason.TIMEOUT if verdict is Verdict.UNKNOWN else None
    seen = witness() if verdict is Verdict.DIFFERENT else None
    return replace(Result(name, name, {}, verdict, reason, witness=seen), **fields)  # type: ignore[arg-type]


def witness(**fields: object) -> Witness:
    made = Witness(
        normalised=(Fraction(1, 2), Fraction(-3), Fraction(0)),
        raw=(Fraction(11), Fraction(-4), Fraction(7)),
        features=("mass", "charge", "spin"),
        units=("GeV", None, None),
        outputs=("q", "g"),
        reference=(1.5, 1.25),
        candidate=(1.0, 1.75),
        confidence=0.5622,
        statement="f decides q, but g has g higher by 0.75",
        onnxruntime_confirms=True,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


@settings(max_examples=20)
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


@settings(max_examples=20)
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


def test_features_that_did_not_move_are_folded() -> None:
    names, still = tuple("abcdef"), Fraction(0)
    seen = witness(
        normalised=(still, still, Fraction(1), still, still, still),
        raw=(still,) * 6,
        features=names,
        units=(None,) * 6,
    )
    made = result(Verdict.DIFFERENT, witness=seen, task={"region": {"lo": [-1.0] * 6, "hi": [1.0] * 6}})
    (task,) = with_class(shown([made]), "task")
    (fold,) = [more for more in with_class(task, "more") if "at the centre" in said(more.find("summary"))]
    assert said(fold.find("summary")) == "5 more, at the centre"
    assert sorted(said(head) for head in fold.findall(".//tbody//th")) == ["a", "b", "d", "e", "f"]


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


def test_what_was_asked_stands_there() -> None:
    made = Runner(Options(boxes=60, threads=1)).run(undecided_task())
    asked = said(with_class(shown([made]), "asked")[0])
    assert made.question is not None
    assert made.question.words in asked
    assert "real numbers" in asked
    assert made.networks["candidate"]["sha256"][:12] in asked
    assert not with_class(shown([replace(made, question=None)]), "asked")  # results of older versions


def test_a_row_is_told_how_far_its_witness_lies() -> None:
    region = {"lo": [0.0, -5.0, -1.0], "hi": [1.0, 5.0, 1.0], "around": ["1/4", "-1", "0"]}
    seen = witness(base="row")
    tree = shown([result(Verdict.DIFFERENT, parameters={"row": Fraction(3)}, witness=seen, task={"region": region})])
    table = table_after(tree, "The input, features that moved furthest")
    assert table[0][3] == "from row 3"
    # charge moved by 2 of the 6 that it may, mass by a quarter of the 3/4, spin not at all, though it may by 1
    assert [(row[0], row[3]) for row in table[1:]] == [("charge", "-2"), ("mass", "+0.25"), ("spin", "+0")]


def test_every_axis_has_a_name() -> None:
    history = tuple(Moment(s, c, 1, 1) for s, c in ((0.0, 0.0), (0.01, 0.5), (0.02, 0.9), (60.0, 0.91)))
    seen = Sampled(100, {"y": 0.5}, (90, 10), 1.0)
    made = [
        result(Verdict.UNKNOWN, name=f"slow{i}", history=history, sampled=seen, certified_fraction=0.91)
        for i in range(8)
    ]
    tree = shown([*made, result()])
    by_name = {e.get("aria-label", "").split(":")[0]: e for e in tree.iter() if e.tag.endswith("svg")}
    curve = next(e for name, e in by_name.items() if name == "Proved share over time")
    labels = [said(e) for e in curve.iter() if e.get("class") == "label"]
    assert labels == ["proved share", "seconds"]
    ticks = [said(e) for e in curve.iter() if e.get("class") == "tick"]
    assert ticks[-4:] == ["0.01", "0.1", "1", "10"]  # most was proved at the very beginning
    (apart,) = (e for name, e in by_name.items() if name.startswith("Largest difference"))
    named = [said(e) for e in apart.iter() if e.get("class") == "label"]
    assert {"random inputs", "largest |difference| of an output"} <= set(named)


def table_after(tree: Element, heading: str) -> list[list[str]]:
    """Rows of the first table in the figure with this caption."""
    for figure in tree.iter("figure"):
        if said(figure.find("figcaption")).startswith(heading):
            return [[said(cell) for cell in row] for row in figure.iter("tr")]
    raise AssertionError(heading)


def test_a_witness_is_shown_with_both_outputs_and_its_place_in_the_region() -> None:
    region = {"lo": [-1.0, -3.0, 0.0], "hi": [1.0, 3.0, 0.0]}
    tree = shown([result(Verdict.DIFFERENT, task={"region": region, "property": {}})])
    assert table_after(tree, "Outputs") == [
        ["", "reference", "candidate", "difference"],
        ["q", "1.5", "1", "-0.5"],
        ["g", "1.25", "1.75", "0.5"],
    ]
    features = table_after(tree, "The input, features that moved furthest")
    assert [row[:3] for row in features[1:]] == [
        ["charge", "-4", "-3"],  # at the border of the region
        ["mass", "11 GeV", "+0.5"],
        ["spin", "7", "+0"],
    ]
    assert features[0][3] == "from the centre"
    assert [row[3] for row in features[1:]] == ["-3", "+0.5", "+0"]
    assert features[3][4] == "fixed"
    places = [e[0].get("style") for e in with_class(tree, "range")]
    assert places == ["left:0.0%", "left:75.0%"]
    whole = said(with_class(tree, "task")[0])
    assert "confidence of the reference 0.5622" in whole
    assert "f decides q, but g has g higher by 0.75. onnxruntime, run on the original files, agrees." in whole


def test_results_without_a_task_or_a_region_show_what_they_have() -> None:
    tree = shown([result(Verdict.DIFFERENT, witness=witness(onnxruntime_confirms=None, onnxruntime_reason="no ONNX"))])
    rows = table_after(tree, "The input, features that moved furthest")
    assert [row[0] for row in rows[1:]] == ["charge", "mass", "spin"]
    assert not with_class(tree, "range")
    assert "onnxruntime was not asked: no ONNX." in said(with_class(tree, "task")[0])


def numbers(path: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", path)]


def test_the_curve_ends_where_the_search_ended() -> None:
    history = (Moment(0, 0, 0, 1), Moment(1, 0.25, 10, 5), Moment(2, 0.25, 20, 5), Moment(4, 0.75, 30, 2))
    made = result(Verdict.UNKNOWN, history=history, certified_fraction=0.75)
    (curve,) = [e for e in with_class(shown([made]), "curve") if e.tag.endswith("path")]
    start_x, start_y, *rest = numbers(curve.get("d") or "")
    steps = list(zip(rest[::2], rest[1::2], strict=True))
    end_x = steps[-1][0]
    left = [(x - start_x) / (end_x - start_x) for x, _ in steps]
    assert left == pytest.approx([0.25, 0.5, 1.0], abs=1e-3)
    grid = [e for e in with_class(shown([made]), "faint") if e.tag.endswith("path")]
    bottom, _, top = (numbers(line.get("d") or "")[1] for line in grid)  # 0, 50 and 100 %
    assert start_y == bottom
    assert [(bottom - y) / (bottom - top) for _, y in steps] == pytest.approx([0.25, 0.25, 0.75], abs=1e-3)


def test_open_boxes_become_histograms_of_the_features_that_tell() -> None:
    undecided = Undecided(
        share=0.25,
        features=("mass", "charge", "spin"),
        units=("GeV", None, None),
        lower=(100.0, -3.0, 7.0),
        upper=(180.0, 3.0, 7.0),
        sample=(OpenBox(0.1875, {0: (0.5, 0.75)}), OpenBox(0.0625, {0: (0.0, 0.25)})),
    )
    tree = shown([result(Verdict.UNKNOWN, undecided=undecided, certified_fraction=0.75, worst_open={"bound": 0.125})])
    (some,) = with_class(tree, "histograms")
    named = [said(e) for e in some.iter() if e.get("class") == "label"]
    assert named == ["open share", "mass [GeV]"]
    bars = [(float(e.get("x") or 0), float(e.get("height") or 0)) for e in with_class(some, "open")]
    assert len(bars) == 8  # of 16 steps: two quarters
    assert [x for x, _ in bars] == sorted(x for x, _ in bars)
    heights = [height for _, height in bars]
    assert heights[:4] == pytest.approx([heights[0]] * 4)
    assert heights[4:] == pytest.approx([3 * heights[0]] * 4, rel=1e-3)
    assert {said(e) for e in with_class(some, "tick")} == {"100", "180", "0%", "19%"}
    whole = said(with_class(tree, "task")[0])
    assert "25.0 % of the claim is not proved. 2 open boxes stand for it here." in whole
    assert "may break by at most 0.125" in whole


def test_differences_stand_beside_bound_and_limit() -> None:
    seen = Sampled(10, {"q": 0.5, "g": 0.25}, (0, 4, 6, 0), limit=0.75)
    made = result(claim="g stays within 0.75 of f in linf", sampled=seen, initial_bound=1.0)
    tree = shown([made])
    labels = [said(e) for e in with_class(tree, "label") if e.tag.endswith("text")]
    assert "proved on the whole box 1" in labels
    assert "claimed 0.75" in labels
    bars = with_class(tree, "bar")
    assert len(bars) == 2
    assert float(bars[0].get("height") or 0) * 6 == pytest.approx(float(bars[1].get("height") or 0) * 4, rel=1e-2)
    bound = numbers(next(e.get("d") or "" for e in with_class(tree, "bound") if e.tag.endswith("path")))[0]
    limit = numbers(next(e.get("d") or "" for e in with_class(tree, "limit") if e.tag.endswith("path")))[0]
    first = float(bars[0].get("x") or 0)  # the second of four steps up to 0.5, so at 0.125
    assert (limit - first) / (bound - first) == pytest.approx((0.75 - 0.125) / (1.0 - 0.125), abs=1e-3)


def test_a_search_shows_its_bracket_and_every_value_tried() -> None:
    tried = (("1", "equivalent"), ("0.5", "different"))
    probes = tuple(Probe(Fraction(value), verdict, None, 1.0, 1) for value, verdict in tried)
    found = Bracket(
        "eps", "smallest", Fraction(0), Fraction(2), None, Fraction(1), Fraction("0.5"), "closed", probes, witness()
    )
    tree = shown([result(find=found)])
    places = {
        e.get("class"): (float(e.get("x") or 0), float(e.get("width") or 0))
        for e in tree.iter()
        if e.get("class") in ("between", "proved", "refuted") and e.tag.endswith("rect")
    }
    left, width = places["between"]
    assert places["refuted"] == pytest.approx((left, width / 4))
    assert places["proved"] == pytest.approx((left + width / 2, width / 2))
    assert len(with_class(tree, "probe")) == 2
    (cell,) = with_class(tree, "cell", "a")
    assert said(cell) == "=eps ≥ 1"
    assert cell.get("class") == "cell equivalent"
    (cell,) = with_class(shown([result(find=replace(found, gap="budget"))]), "cell", "a")
    assert cell.get("class") == "cell equivalent partly"
    assert "An input that breaks the claim at eps = 0.5" in said(with_class(tree, "task")[0])


def test_pixels_are_shown_as_pictures() -> None:
    side = 8
    pixels = [Fraction(i % 5) for i in range(side * side)]
    names = tuple(f"x{i}" for i in range(side * side))
    image = witness(normalised=tuple(pixels), raw=tuple(pixels), features=names, units=(None,) * side * side)
    tree = shown([result(Verdict.DIFFERENT, witness=image)])
    (ink,) = with_class(tree, "ink")
    drawn = {(int(x), int(y)) for path in ink for x, y in re.findall(r"M(\d+) (\d+)", path.get("d") or "")}
    assert drawn == {(i % side, i // side) for i in range(side * side) if i % 5}
    ordinary = witness(normalised=tuple(pixels), raw=tuple(pixels), features=(*names[:-1], "mass"), units=image.units)
    assert not with_class(shown([result(Verdict.DIFFERENT, witness=ordinary)]), "ink")


def test_what_tasks_were_run_with_is_told_once() -> None:
    networks = {r: {"name": r[0], "path": f"{r}.onnx", "sha256": r[0] * 64} for r in ("reference", "candidate")}
    same = {"networks": networks, "settings": {"timeout": 5.0, "threads": None}, "engine_version": "0.1.0"}
    one = replace(result(), **same)  # type: ignore[arg-type]
    tree = shown([one, one, replace(one, settings={"timeout": None})])
    first, second = with_class(tree, "setup", "div")
    assert "r" * 64 in said(first)
    assert "2 tasks" in said(first)
    assert "timeout5 s" in said(first)
    assert "threadsone per core" in said(first)
    assert "timeoutno limit set" in said(second)


def test_very_many_tasks_are_listed_and_the_urgent_ones_told() -> None:
    made = [result(id=f"fine{i}") for i in range(450)] + [result(Verdict.DIFFERENT, id="broken")]
    tree = shown(made)
    assert len(with_class(tree, "cell", "a")) == 451
    told = [said(with_class(e, "id")[0]) for e in with_class(tree, "task", "details")]
    assert len(told) == 400
    assert told[0] == "broken"
    assert "51 tasks stand in the table only, the least pressing ones." in said(tree)


def test_what_a_real_search_left_undecided_is_on_the_page() -> None:
    made = Runner(Options(boxes=60, threads=1)).run(undecided_task())
    tree = shown([made])
    whole = said(with_class(tree, "task")[0])
    assert "limit on boxes reached" in whole
    assert f"boxes bounded{made.boxes}" in whole
    assert f"splits{made.splits}" in whole
    assert made.networks["reference"]["sha256"] in said(tree)
