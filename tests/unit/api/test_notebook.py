"""How results look in notebooks, progress in a real one, and frames."""

from __future__ import annotations

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import eqspec
from eqspec import Epsilon, Report, Result, Verdict
from eqspec.api import progress
from eqspec.report import notebook_monitor
from eqspec.report.live import LiveMonitor
from small_specs import write_spec
from small_tasks import hard, identity, network

FULL, RAISED = identity(2), network(([[1, 0], [0, 1]], [0.0, 0.25]))


class Cells(HTMLParser):
    """The texts of the cells of tables, row by row; complains of tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


def html_of(shown: object) -> str:
    html: str = shown._repr_html_()  # type: ignore[attr-defined]
    return html


def test_a_report_is_a_table(tmp_path: Path) -> None:
    report = eqspec.check(write_spec(tmp_path))
    rows = Cells(html_of(report)).rows
    assert rows[0] == ["task", "verdict", "time", "boxes", ""]
    assert [row[:2] for row in rows[1:4]] == [
        ["close[eps=0.2]", "different"],
        ["close[eps=0.3]", "equivalent"],
        ["same", "equivalent"],
    ]
    assert rows[1][4] == "as expected"
    assert ["left", "10", "m"] in rows
    assert ["b", "0", "0.25"] in rows
    assert "All as expected" in html_of(report)
    assert repr(report).startswith("<Report: 3 tasks in ")
    assert repr(report).endswith("2 equivalent, 1 different. All as expected>")


def test_a_result_shows_where_the_claim_breaks() -> None:
    result = eqspec.verify(FULL, RAISED, [-1, -1], [1, 1], Epsilon(0.2))
    html = html_of(result)
    assert "candidate and reference differ by 0.25 in output 1, more than 0.2." in html
    assert ["1", "0", "0.25"] in Cells(html).rows
    undecided = html_of(eqspec.verify(FULL, RAISED, [-1, -1], [1, 1], Epsilon(0.2), timeout=0))
    assert "timeout, 0 % proved" in undecided
    assert Cells(undecided).rows == []


def test_a_result_prints_as_on_a_terminal() -> None:
    lines = str(eqspec.verify(FULL, RAISED, [-1, -1], [1, 1], Epsilon(0.2))).splitlines()
    assert lines[:2] == ["verify is different", "claim  candidate stays within 0.2 of reference in linf"]
    assert "  1               0       0.25" in lines
    assert str(eqspec.verify(FULL, FULL, [-1, -1], [1, 1], Epsilon(0.2))).startswith("verify is equivalent\n")


def test_nothing_a_spec_says_becomes_markup(tmp_path: Path) -> None:
    result = Result("<script>", "<b>", {}, Verdict.UNKNOWN, eqspec.Reason.ERROR, "<img>", claim="<i>")
    for shown in (result, Report((result,))):
        html = html_of(shown)
        Cells(html)
        assert "&lt;script&gt;" in html
        assert not any(tag in html for tag in ("<script>", "<i>", "<img>"))


def test_long_reports_are_cut() -> None:
    result = Result("t", "t", {}, Verdict.EQUIVALENT)
    html = html_of(Report((result,) * 1234))
    assert len(Cells(html).rows) == 201
    assert "1 034 more" in html


def test_a_spec_lists_its_tasks(tmp_path: Path) -> None:
    checks = (
        "\ncheck best { prove pruned stays within e of full  on near(1)  find smallest e in 0.01 .. 1  tags x, y }\n"
    )
    spec = eqspec.load(write_spec(tmp_path, checks + "check c { prove pruned keeps top1 of full  on near(1) }\n"))
    rows = Cells(html_of(spec)).rows
    assert rows[1:] == [["c", "equivalent", ""], ["best", "smallest e", "x, y"]]
    assert repr(spec) == "<Spec: c, best>"
    assert repr(eqspec.load(write_spec(tmp_path, ""))) == "<Spec: no checks>"


def test_a_frame_has_a_row_for_each_task(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    checks = """
    check close { prove pruned stays within eps of full  on near(r)  for eps in [0.2, 1/3]  for r in [1, 2] }
    check best { prove pruned stays within seconds of full  on near(1)  find smallest seconds in 0.01 .. 1 to 0.01 }
    """
    report = eqspec.check(write_spec(tmp_path, checks))
    frame = report.to_frame()
    assert list(frame.index) == [r.id for r in report]
    assert list(frame["verdict"]) == ["different"] * 2 + ["equivalent"] * 3
    assert list(frame["eps"])[:4] == [0.2, 0.2, 1 / 3, 1 / 3]
    assert list(frame["r"])[:4] == [1.0, 2.0, 1.0, 2.0]
    assert frame["eps"].isna()["best"]
    assert frame.loc["best", "proved"] == float(report["best"].find.proved)  # type: ignore[union-attr, arg-type]
    assert list(frame["as_expected"])[:3] == [False, False, True]
    assert "more than 0.2" in frame.loc["close[eps=0.2,r=1]", "broken"]
    assert frame.pivot_table(index="eps", columns="r", values="certified").loc[1 / 3, 2.0] == 1.0
    assert Report(()).to_frame().empty
    undecided = eqspec.check(write_spec(tmp_path, checks), timeout=0).to_frame()
    assert set(undecided["as_expected"]) == {None}
    assert set(undecided["reason"]) == {"timeout"}


def test_variables_called_like_columns_are_kept_apart() -> None:
    pytest.importorskip("pandas")
    from fractions import Fraction

    frame = Report((Result("t", "t", {"seconds": Fraction(1, 2)}, Verdict.EQUIVALENT, seconds=3.0),)).to_frame()
    assert frame.loc["t", "[seconds]"] == 0.5
    assert frame.loc["t", "seconds"] == 3.0


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Report(()).to_frame()


def test_progress_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.shown(None, 1) as nobody, progress.shown(False, 1) as neither:
        assert nobody is None
        assert neither is None
    with progress.shown(True, 3) as live:
        assert isinstance(live, LiveMonitor)
    eqspec.verify(FULL, RAISED, [-1, -1], [1, 1], Epsilon(0.3), progress=True)
    assert "verify equivalent in" in capsys.readouterr().err
    eqspec.verify(FULL, RAISED, [-1, -1], [1, 1], Epsilon(0.3))
    assert capsys.readouterr() == ("", "")


class Told:
    """A stand-in for what the search tells."""

    certified, boxes, open_boxes, seconds = 0.25, 1234, 5, 6.0


def test_the_picture_shows_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures: list[str] = []
    monitor = notebook_monitor.NotebookMonitor(2)
    monkeypatch.setattr(monitor, "_show", pictures.append)
    monkeypatch.setattr(notebook_monitor, "_PATIENCE", 0.0)
    task = hard()
    with monitor:
        monitor.started(task)
        monitor._due = 0.0
        monitor.progress(task, Told())
        monitor.finished(task, Result("t", "t", {}, Verdict.UNKNOWN))
        monitor._due = 0.0
        monitor.started(task)
        monitor.progress(task, Told())
    assert "0 of 2 tasks done" in pictures[0]
    assert 'hard[seed=0] <progress value="0.25" max="1"></progress> 25.0 % proved, 1 234 boxes' in pictures[0]
    assert "1 of 2 tasks done" in pictures[1]


SLOW = """
from small_tasks import hard
task = hard()
eqspec.verify(task.reference, task.candidate, task.lower, task.upper, eqspec.Epsilon(9), timeout=1.5)
"""


def run_notebook(cells: list[str]) -> list[list[Any]]:
    """The outputs of the cells of a real notebook, executed in a real kernel."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in book.cells]


@pytest.mark.filterwarnings("ignore")
def test_a_real_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = Path(eqspec.__file__).parents[1], Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
    monkeypatch.chdir(tmp_path)
    write_spec(tmp_path)
    seen = """
import IPython.display as d
kept, show = [], d.DisplayHandle.update
d.DisplayHandle.update = lambda self, html, **k: (kept.append(html.data), show(self, html, **k))[1]
"""
    report, _, verified, pictures = run_notebook(
        ["import eqspec\neqspec.check('pair.eqspec')", seen, SLOW, "print(repr(kept))"]
    )
    (shown,) = report  # quick: no progress, one answer
    assert shown["output_type"] == "execute_result"
    assert ["close[eps=0.2]", "different"] in [row[:2] for row in Cells(shown["data"]["text/html"]).rows]
    assert shown["data"]["text/plain"].startswith("<Report: 3 tasks")
    bar, result = verified
    assert bar["output_type"] == "display_data"
    assert bar["data"]["text/html"] == ""  # gone when the search is over
    assert "timeout" in result["data"]["text/html"]
    assert "<progress value=" in pictures[0]["text"]
