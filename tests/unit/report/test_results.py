"""How results look: numbers, remarks, witnesses that fit the page, progress on and off a terminal, files."""

from __future__ import annotations

import io
import json as standard_json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console, Group, RenderableType

from eqspec.report import json, numbers, table, witness_files
from eqspec.report.live import LiveMonitor
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness
from small_tasks import identity, task


def shown(renderable: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def made(verdict: Verdict = Verdict.EQUIVALENT, **fields: object) -> Result:
    return replace(Result("near[delta=0.9]", "near", {}, verdict), **fields)  # type: ignore[arg-type]


def witness(size: int = 2, outputs: int = 2) -> Witness:
    return Witness(
        normalised=(Fraction(1, 3),) * size,
        raw=tuple(Fraction(i) for i in range(size)),
        features=tuple(f"f{i}" for i in range(size)),
        units=("ft", *(None,) * (size - 1)),
        outputs=tuple(f"y{i}" for i in range(outputs)),
        reference=(1.0,) * outputs,
        candidate=(2.0,) * outputs,
        confidence=0.9,
        statement="they differ",
        onnxruntime_confirms=True,
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.00 s"), (3.456, "3.46 s"), (45.24, "45.2 s"), (125.9, "2:05"), (3725, "1:02:05")]
)
def test_durations(seconds: float, text: str) -> None:
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(
    ("fraction", "text"), [(0, "0 %"), (1e-9, "<0.1 %"), (0.495, "49.5 %"), (0.99999, ">99.9 %"), (1, "100 %")]
)
def test_shares_are_never_rounded_to_all_or_nothing(fraction: float, text: str) -> None:
    assert numbers.share(fraction) == text


def test_counts() -> None:
    assert numbers.count(1234567) == "1 234 567"
    assert (numbers.plural(1, "task"), numbers.plural(2, "task")) == ("1 task", "2 tasks")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (made(), ""),
        (made(expected="equivalent"), "as expected"),
        (made(expected="different"), "expected different"),
        (made(vacuous=True), "vacuous: nothing in the region meets the condition"),
        (made(vacuous=True, expected="vacuous"), "vacuous: nothing in the region meets the condition, as expected"),
        (
            made(Verdict.UNKNOWN, reason=Reason.TIMEOUT, certified_fraction=0.5, expected="equivalent"),
            "timeout, 50.0 % proved, expected equivalent",
        ),
        (made(Verdict.UNKNOWN, reason=Reason.SPURIOUS), "only spurious points left, 0 % proved"),
        (made(Verdict.UNKNOWN, reason=Reason.ERROR, message="ValueError: x"), "failed: ValueError: x"),
    ],
)
def test_remarks(result: Result, words: str) -> None:
    assert table.remark(result).plain == words


def bracket(proved: str | None, refuted: str | None, **fields: object) -> Bracket:
    low, high = Fraction("0.1"), Fraction(1)
    ends = [None if end is None else Fraction(end) for end in (proved, refuted)]
    return replace(Bracket("eps", "smallest", low, high, None, ends[0], ends[1], "closed"), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (bracket("0.5", "0.49"), "holds at eps = 0.5, not at 0.49"),
        (bracket("0.5", "0.3", gap="budget"), "holds at eps = 0.5, not at 0.3 (time ran out)"),
        (bracket("0.5", None, gap="budget"), "holds at eps = 0.5, refuted nowhere"),
        (bracket("0.1", None), "holds at eps = 0.1, the smallest there is"),
        (bracket("0.25000004", "0.25000003"), "holds at eps = 0.25000004, not at 0.25000003"),
        (bracket("0.9999999", "1/3"), "holds at eps = 0.9999999, not at 1/3"),
        (bracket("0.25" + "0" * 30 + "1", "1e-400"), "holds at eps = ≈0.25, not at ≈0.0"),
        (bracket("1e400", None), "holds at eps = ≈inf, refuted nowhere"),
        (bracket(None, "1"), "no eps proved, refuted at 1"),
        (bracket(None, None, gap="budget"), "no eps proved"),
    ],
)
def test_brackets(found: Bracket, words: str) -> None:
    assert table.bracket_in_words(found) == words


def test_an_id_stands_whole_however_narrow_the_window() -> None:
    """With the rest of its row beside it, or below it."""
    long = "confident_in_a_wide_region[sigma=0.25, delta=0.9]"
    rows = [made(id=long, expected="equivalent"), made(id="short", expected="equivalent")]
    for width in (50, 60, 80, 120):
        lines = shown(table.results_table(rows), width).splitlines()
        assert any(line.startswith(long) for line in lines), width
        assert sum("equivalent" in line and "as expected" in line for line in lines) == 2, width
        assert (lines[0].split()[:1] == ["task"]) == (width >= 100), width


def test_a_table_fits_the_terminal() -> None:
    long = made(Verdict.UNKNOWN, reason=Reason.TIMEOUT, boxes=1234567, expected="equivalent")
    results = [replace(long, id=f"robustly_same[radius=2/255,row={i}]") for i in (1, 17)]
    for width in (60, 80, 200):
        page = shown(table.results_table(results), width)
        assert max(len(line.rstrip()) for line in page.splitlines()) <= width
        assert "1 234 567" in page
        joined = "".join(line.split("  ")[0].strip() for line in page.splitlines())
        assert "robustly_same[radius=2/255,row=17]" in joined


def test_a_witness_shows_names_units_and_both_outputs() -> None:
    page = shown(table.witnesses([made(), made(Verdict.DIFFERENT, witness=witness())]))
    lines = [line.split() for line in page.splitlines()]
    assert lines[0] == ["near[delta=0.9]", "they", "differ"]
    assert lines[1] == ["at", "f0", "=", "0", "ft,", "f1", "=", "1"]
    assert lines[2:5] == [["output", "reference", "candidate"], ["y0", "1", "2"], ["y1", "1", "2"]]
    assert "onnxruntime agrees" in page


def test_of_many_features_those_that_moved_furthest_are_named() -> None:
    """Feature i of 30 moved by i / 30 of what it may, the first two were fixed."""
    seen = replace(witness(30), normalised=tuple(Fraction(i, 30) for i in range(30)), moved=tuple(range(2, 30)))
    region = {"lo": [0.0, 0.0, *[-1.0] * 28], "hi": [0.0, 0.0, *[1.0] * 28]}
    broken = made(Verdict.DIFFERENT, witness=seen, task={"region": region})
    page = " ".join(shown(table.witnesses([broken])).split())
    assert "at f18 = 18, f19 = 19, " in page
    assert "f17" not in page
    assert "and 16 that moved less; the other 2 are at the centre of the region" in page


def test_inputs_that_were_expected_come_last() -> None:
    fine = made(Verdict.DIFFERENT, id="fine", witness=witness(), expected="different")
    page = shown(table.witnesses([fine, made(Verdict.DIFFERENT, id="bad", witness=witness())]))
    assert page.index("bad") < page.index("fine")


def test_what_onnxruntime_says_is_reported_as_it_is() -> None:
    for confirms, words in ((False, "the claim holds here"), (None, "not an ONNX file")):
        seen = replace(witness(), onnxruntime_confirms=confirms, onnxruntime_reason="not an ONNX file")
        assert words in shown(table.witnesses([made(Verdict.DIFFERENT, witness=seen)]))


def test_large_inputs_and_many_witnesses_are_cut_and_say_so() -> None:
    page = shown(table.witnesses([made(Verdict.DIFFERENT, witness=witness(784, 100))]))
    assert "f11 = 11, and 772 more" in " ".join(page.split())
    assert "... 68 more" in " ".join(page.split())
    assert len(page.splitlines()) < 50
    many = shown(table.witnesses([made(Verdict.DIFFERENT, witness=witness())] * 25))
    assert "... and 5 more inputs; --format json or --save-witness has them all" in many


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([made(expected="equivalent")], "1 task in 2.00 s: 1 equivalent. All as expected"),
        ([made(), made()], "2 tasks in 2.00 s: 2 equivalent. All hold"),
        ([made(Verdict.DIFFERENT)], "1 task in 2.00 s: 1 different. 1 not as expected"),
        (
            [made(Verdict.UNKNOWN, reason=Reason.TIMEOUT), made(Verdict.DIFFERENT)],
            "2 tasks in 2.00 s: 1 different, 1 unknown. 1 not as expected. 1 undecided",
        ),
        ([], "0 tasks in 2.00 s"),
    ],
)
def test_the_last_line_sums_up(results: list[Result], words: str) -> None:
    assert table.summary(results, 2.0).plain == words


def test_an_interrupted_run_never_says_that_all_is_well() -> None:
    line = table.summary([made()], 1.0, interrupted=True, left_out=3).plain
    assert "Interrupted, 3 tasks not run" in line
    assert "All" not in line


def test_json_is_a_list_of_objects_without_nan() -> None:
    text = json.to_text([made(initial_bound=float("nan")), made(initial_bound=float("inf"))])
    assert [item["initial_bound"] for item in standard_json.loads(text)] == [None, None]
    assert standard_json.loads(json.to_text([])) == []


def test_saved_names_are_safe_and_never_overwrite_each_other(tmp_path: Path) -> None:
    broken = made(Verdict.DIFFERENT, witness=witness())
    results = [replace(broken, id=i) for i in ("../a[r=2/255]", "../a[r=2_255]", "...", "b")] + [made()]
    paths = witness_files.save_witnesses(results, tmp_path / "w")
    assert len(paths) == len(set(paths)) == 4
    assert {p.parent for p in paths} == {tmp_path / "w"}
    assert len(list((tmp_path / "w").iterdir())) == 8
    assert [standard_json.loads(p.read_text())["id"] for p in paths] == [r.id for r in results[:4]]
    assert np.load(paths[0].with_suffix(".npy")).tolist() == [float(Fraction(1, 3))] * 2


def progress(certified: float) -> SimpleNamespace:
    return SimpleNamespace(certified=certified, boxes=12345, open_boxes=7, seconds=2.0)


def test_on_a_terminal_a_running_task_has_a_line() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    running = task(identity(1), identity(1), id="near[delta=0.9]")
    with LiveMonitor(console, 2) as monitor:
        monitor.started(running)
        monitor.progress(running, progress(0.25))
        assert monitor._display is not None
        monitor._display.refresh()
        assert isinstance(console.file, io.StringIO)
        drawn = console.file.getvalue()
        monitor.finished(running, made(seconds=3.0))
        monitor.progress(running, progress(0.5))  # a late report about a task that is done is no error
    for words in ("near[delta=0.9]", "25.0 %", "12 345 boxes", "6 172/s"):
        assert words in drawn
    assert "1/2 near[delta=0.9] equivalent in 3.00 s" in console.file.getvalue()


def test_where_a_table_follows_no_line_stays() -> None:
    """Of eight tasks the last ones are shown while others run; in the end each line was taken away."""
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    monitor = LiveMonitor(console, 8, told_again=True)
    for number in range(8):
        monitor.finished(task(identity(1), identity(1), id=f"t{number}"), made(seconds=3.0))
    assert monitor._display is not None
    said = shown(Group(*monitor._display.get_renderables()))
    assert [line for line in said.splitlines() if line.strip()] == [
        f"{number + 1}/8 t{number} equivalent in 3.00 s" for number in range(3, 8)
    ]
    assert isinstance(console.file, io.StringIO)
    assert not console.file.getvalue()


def test_off_a_terminal_only_what_is_done_leaves_a_line() -> None:
    console = Console(file=io.StringIO(), width=100)
    running = task(identity(1), identity(1), id="near[delta=0.9]")
    with LiveMonitor(console, 1) as monitor:
        monitor.started(running)
        monitor.progress(running, progress(0.25))
        monitor.finished(running, made(seconds=3.0))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == ["1/1 near[delta=0.9] equivalent in 3.00 s"]
