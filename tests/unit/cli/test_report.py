"""`eqspec report`, and the reports of `eqspec check`, from argument to file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import html5lib
import pytest

from eqspec.cli import main
from small_specs import write_spec

BREAKS = "check bad { prove pruned stays within 0.2 of full  on near(1) }\n"
HOLDS = "check good { prove pruned stays within 0.3 of full  on near(1) }\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Results of two checks, one of which fails."""
    path = tmp_path / "results.json"
    code, _, _ = run(capsys, "check", write_spec(tmp_path, HOLDS + BREAKS), "--format", "json", "-o", path)
    assert code == 1
    return path


def ids(text: str) -> list[str]:
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    return ["".join(e.itertext()) for e in tree.iter("td") if e.get("class") == "id"]


def test_a_page_from_results(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    code, out, err = run(capsys, "report", saved, "-o", page, "--title", "Nightly <run>")
    assert (code, out) == (0, "")  # it tells of failures, it is none
    assert f"wrote 2 results to {page}" in err
    text = page.read_text(encoding="utf-8")
    assert "Nightly &lt;run&gt;" in text
    assert ids(text) == ["good", "bad"]


def test_files_are_joined_and_any_form_goes_anywhere(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, "report", saved, saved, "--format", "jsonl")
    assert code == 0
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["good", "bad", "good", "bad"]
    (tmp_path / "some.jsonl").write_text(out, encoding="utf-8")
    code, out, _ = run(capsys, "report", tmp_path / "some.jsonl")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[1:5]] == [
        ["good", "equivalent"],
        ["bad", "different"],
    ] * 2
    monkeypatch.setattr("sys.stdin", io.StringIO(saved.read_text(encoding="utf-8")))
    code, out, _ = run(capsys, "report", "-", "--format", "github")
    assert code == 0
    assert out.startswith("::error file=")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.json"], "cannot read absent.json"),
        (["RESULTS", "-o", "report.pdf"], "report.pdf does not say in which form"),
        (["RESULTS", "-o", "absent/report.html"], "cannot write to"),
        (["RESULTS", "--title", "x"], "--title is for the form html, not for table"),
        (["RESULTS", "--against", "absent.json"], "cannot read absent.json"),
        (["RESULTS", "--against", "RESULTS", "--format", "sarif"], "--against has no form sarif"),
        (["-", "--against", "-"], "can be read only once"),
    ],
)
def test_what_cannot_be_done_is_said(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    given = [saved if a == "RESULTS" else tmp_path / a if a.startswith("absent/") else a for a in arguments]
    code, out, err = run(capsys, "report", *given)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_two_runs_are_compared(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "report", saved, "--against", saved)
    assert (code, out, err) == (0, "2 tasks compared with results.json: 2 the same\n", "")
    worse = json.loads(saved.read_text(encoding="utf-8"))
    worse[0] = {**worse[1], "id": "good", "check": "good"}
    (tmp_path / "new.json").write_text(json.dumps(worse[:1]), encoding="utf-8")
    code, out, _ = run(capsys, "report", tmp_path / "new.json", "--against", saved)
    assert code == 1
    assert "was equivalent; now different" in out
    assert out.splitlines()[-1] == "2 tasks compared with results.json: 1 worse, 1 gone"
    code, out, _ = run(capsys, "report", tmp_path / "new.json", "--against", saved, "--format", "github")
    assert code == 1
    assert out.startswith("::error file=")
    page = tmp_path / "since.html"
    code, _, _ = run(capsys, "report", saved, "--against", tmp_path / "new.json", "-o", page)
    assert code == 0  # better is not worse
    assert "Since new.json" in page.read_text(encoding="utf-8")


def test_check_writes_reports_on_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("r.html", "r.xml", "r.sarif", "r.jsonl", "r.json", "r.txt")
    options = [part for name in names for part in ("--report", tmp_path / name)]
    code, out, err = run(capsys, "check", write_spec(tmp_path, HOLDS + BREAKS), *options, "--no-github")
    assert code == 1
    assert "1 not as expected" in out
    assert "::error" not in out + err
    texts = {name: (tmp_path / name).read_text(encoding="utf-8") for name in names}
    assert ids(texts["r.html"]) == ["good", "bad"]
    assert Xml.fromstring(texts["r.xml"]).get("failures") == "1"
    (finding,) = json.loads(texts["r.sarif"])["runs"][0]["results"]
    assert finding["message"]["text"].startswith("bad: different")
    objects = json.loads(texts["r.json"])
    assert [json.loads(line) for line in texts["r.jsonl"].splitlines()] == objects
    assert objects[1]["sampled"]["largest"] == {"a": 0.0, "b": 0.25}
    assert "bad" in texts["r.txt"]


def test_a_report_that_cannot_be_written_is_found_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write_spec(tmp_path, HOLDS)
    for name in ("absent/r.html", "r.pdf"):
        code, out, _ = run(capsys, "check", spec, "--report", tmp_path / name)
        assert (code, out) == (2, "")


def test_github_is_told_where_it_listens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = write_spec(tmp_path, HOLDS + BREAKS)
    for value, option, told in (("true", [], True), ("true", ["--no-github"], False), ("false", [], False)):
        monkeypatch.setenv("GITHUB_ACTIONS", value)
        _, out, err = run(capsys, "check", spec, "--format", "json", *option)
        assert json.loads(out)[1]["id"] == "bad"  # annotations never mix with results
        assert (f"::error file={spec},line=" in err) is told
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::error" not in run(capsys, "check", spec)[2]
    assert "::error" in run(capsys, "check", spec, "--github")[2]


def test_json_lines_of_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", write_spec(tmp_path, HOLDS + BREAKS), "--format", "jsonl")
    assert code == 1
    assert [json.loads(line)["verdict"] for line in out.splitlines()] == ["equivalent", "different"]


@pytest.mark.parametrize("text", ["", "\n", "[]"])
def test_results_that_hold_nothing_are_no_success(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """What a full disk or a killed run leaves: nothing got worse in it, because nothing is there."""
    left = tmp_path / "left.json"
    left.write_text(text)
    for new, old in ((left, saved), (saved, left)):
        code, _, err = run(capsys, "report", new, "--against", old)
        assert code == 2
        assert f"{left}: no results" in err


def test_an_input_that_was_taken_out_is_missed(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = json.loads(saved.read_text())
    assert run(capsys, "replay", saved)[0] == 0
    saved.write_text(json.dumps([{**entry, "witness": None} for entry in results]))
    code, out, err = run(capsys, "replay", saved)
    assert (code, out) == (2, "")
    assert "bad is different, but its input is missing" in err
