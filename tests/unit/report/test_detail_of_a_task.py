"""What a page shows of one task: what was asked, the input that breaks a claim, curves, histograms, pictures."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import small_tasks
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.bracket import Bracket, Probe
from eqspec.tasks.search_statistics import Moment, OpenBox, Sampled, Undecided
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import undecided_task
from unit.report.pages import numbers, result, said, shown, table_after, with_class, witness


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


def test_what_was_asked_stands_there() -> None:
    made = Runner(Options(boxes=60, threads=1)).run(undecided_task())
    asked = said(with_class(shown([made]), "asked")[0])
    assert made.question is not None
    assert made.question.words in asked
    assert "real numbers" in asked
    assert made.networks["candidate"]["sha256"][:12] in asked
    assert not with_class(shown([replace(made, question=None)]), "asked")  # results of older versions


@pytest.mark.parametrize(
    ("raw", "said_of_it"),
    [
        ((), "(value − shift) / scale"),
        (("candidate",), "(value − shift) / scale; pruned takes the values as they are"),
        (("reference", "candidate"), "no: networks take the values as they are"),
    ],
)
def test_what_networks_take_is_said_of_each(raw: tuple[str, ...], said_of_it: str) -> None:
    space = small_tasks.space(1, 1, scale=(Fraction(2),))
    takes: dict[str, Any] = {f"{role}_takes_raw": True for role in raw}
    made = Runner(Options(threads=1)).run(
        small_tasks.task(small_tasks.identity(1), small_tasks.identity(1), Epsilon(1), space=space, **takes)
    )
    asked = said(with_class(shown([made]), "asked")[0])
    assert f"normalised{said_of_it}arithmetic" in asked


def test_what_the_remark_says_is_not_said_again() -> None:
    made = result(Verdict.UNKNOWN, reason=Reason.ROUNDING, message="an output by 1.17")
    tree = shown([made])
    assert "an output by 1.17" in said(with_class(tree, "remark")[0])
    assert not with_class(tree, "message")


def test_a_row_is_told_how_far_its_witness_lies() -> None:
    region = {"lo": [0.0, -5.0, -1.0], "hi": [1.0, 5.0, 1.0], "around": ["1/4", "-1", "0"]}
    seen = witness(base="row")
    tree = shown([result(Verdict.DIFFERENT, parameters={"row": Fraction(3)}, witness=seen, task={"region": region})])
    table = table_after(tree, "The input, features that moved furthest")
    assert table[0][3] == "from row 3"
    # charge moved by 2 of the 6 that it may, mass by a quarter of the 3/4, spin not at all, though it may by 1
    assert [(row[0], row[3]) for row in table[1:]] == [("charge", "-2"), ("mass", "+0.25"), ("spin", "+0")]


def test_normalised_values_are_shown_where_they_are_others_than_the_raw_ones() -> None:
    seen = witness(raw=witness().normalised)
    for one, there in ((witness(), True), (seen, False)):
        tree = shown([result(Verdict.DIFFERENT, witness=one)])
        heads = table_after(tree, "The input, features that moved furthest")[0]
        assert ("normalised" in heads) is there
        assert ("Normalised is" in said(tree)) is there


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


def test_what_a_real_search_left_undecided_is_on_the_page() -> None:
    made = Runner(Options(boxes=60, threads=1)).run(undecided_task())
    tree = shown([made])
    whole = said(with_class(tree, "task")[0])
    assert "limit on boxes reached" in whole
    assert f"boxes bounded{made.boxes}" in whole
    assert f"splits{made.splits}" in whole
    assert made.networks["reference"]["sha256"] in said(tree)
