"""JUnit, SARIF, annotations, JSON Lines and tables: each says of every task what the result says, in its own form."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_results import results
from breadth import examples
from eqspec.errors import InputError
from eqspec.report import formats, github, junit, sarif
from eqspec.report.missing import Missing
from eqspec.report.outcome import Outcome, headline, outcome, place, sentence, standing
from eqspec.report.printable import shown
from eqspec.report.reading import parse, read
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason, Verdict

some = st.lists(results(), max_size=3)
sources = st.sampled_from([None, "specs/lhc.eqspec:16:7", "/abs/a b.eqspec:3:1", "<memory>", "x:y", "c:\\n:1:2"])


def made(verdict: Verdict, name: str = "near[d=0.9]", **fields: object) -> Result:
    reason = Reason.TIMEOUT if verdict is Verdict.UNKNOWN else None
    return replace(Result(name, "near", {}, verdict, reason, claim="g keeps top1 of f"), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (made(Verdict.EQUIVALENT), Outcome.PASSED),
        (made(Verdict.EQUIVALENT, vacuous=True), Outcome.FAILED),
        (made(Verdict.DIFFERENT), Outcome.FAILED),
        (made(Verdict.DIFFERENT, expected="different"), Outcome.PASSED),
        (made(Verdict.UNKNOWN), Outcome.UNDECIDED),
        (made(Verdict.UNKNOWN, expected="unknown"), Outcome.PASSED),
        (made(Verdict.UNKNOWN, reason=Reason.ERROR, message="no"), Outcome.BROKEN),
        (made(Verdict.UNKNOWN, reason=Reason.ERROR, message="no", expected="unknown"), Outcome.BROKEN),
    ],
)
def test_outcomes(result: Result, expected: Outcome) -> None:
    assert outcome(result) is expected


@settings(max_examples=examples(20))
@given(some, st.lists(sources, min_size=3, max_size=3))
def test_junit_has_a_case_per_task_and_counts_that_add_up(found: list[Result], places: list[str | None]) -> None:
    tasks = [replace(r, source=s) for r, s in zip(found, places, strict=False)]
    root = Xml.fromstring(junit.to_text(tasks))
    assert root.tag == "testsuites"
    kinds = Counter(outcome(task) for task in tasks)
    failures, errors = kinds[Outcome.FAILED], kinds[Outcome.UNDECIDED] + kinds[Outcome.BROKEN]
    counts = tuple(root.get(name) for name in ("tests", "failures", "errors"))
    assert counts == tuple(map(str, (len(tasks), failures, errors)))
    cases = []
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == {"name", "tests", "failures", "errors", "time"}
        assert re.fullmatch(r"\d+\.\d{3}", suite.get("time") or "")
        inside = [problem.tag for case in suite for problem in case]
        assert (suite.get("tests"), suite.get("failures")) == (str(len(suite)), str(inside.count("failure")))
        assert suite.get("errors") == str(inside.count("error"))
        for case in suite:
            assert (case.tag, set(case.attrib)) == ("testcase", {"classname", "name", "time"})
            assert len(case) <= 1
            cases.append((suite.get("name"), case))
    assert len(cases) == len(tasks)
    for task in tasks:
        where = place(task)
        name = where[0] if where else "eqspec"
        (case,) = [c for n, c in cases if n == name and c.get("name") == task.id][:1]
        assert case is not None


def test_a_junit_failure_says_what_is_wrong() -> None:
    task = made(Verdict.UNKNOWN, certified_fraction=0.5, source="specs/lhc.eqspec:3:1", seconds=1.25)
    root = Xml.fromstring(junit.to_text([task, made(Verdict.EQUIVALENT), made(Verdict.DIFFERENT, message="\x00")]))
    case = root[0][0]
    assert case.attrib == {"classname": "lhc.near", "name": "near[d=0.9]", "time": "1.250"}
    assert case[0].tag == "error"
    assert case[0].attrib == {"type": "undecided", "message": "unknown: timeout, 50.0 % proved"}
    assert "claim: g keeps top1 of f" in (case[0].text or "")
    assert [[problem.tag for problem in case] for case in root[1]] == [[], ["failure"]]


def test_junit_cases_of_specs_called_alike_have_names_of_their_own() -> None:
    """A CI server takes two cases of one name for one, and may show the one that passed."""
    places = ("a/s.eqspec:3:1", "b/s.eqspec:3:1", "b/t.eqspec:3:1")
    root = Xml.fromstring(junit.to_text([made(Verdict.EQUIVALENT, source=place) for place in places]))
    assert [case.get("classname") for case in root.iter("testcase")] == ["a/s.near", "b/s.near", "t.near"]


RESULT_KEYS = {
    "ruleId", "ruleIndex", "kind", "level", "message", "partialFingerprints", "properties", "locations"
}  # fmt: skip


@settings(max_examples=examples(20))
@given(some, st.lists(sources, min_size=3, max_size=3))
def test_sarif_keeps_the_rules_of_its_schema(given_results: list[Result], places: list[str | None]) -> None:
    tasks = [replace(r, source=s) for r, s in zip(given_results, places, strict=False)]
    log = json.loads(sarif.to_text(tasks))
    assert (set(log), log["version"]) == ({"$schema", "version", "runs"}, "2.1.0")
    (run,) = log["runs"]
    assert set(run) == {"tool", "originalUriBaseIds", "invocations", "columnKind", "results", "properties"}
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert run["columnKind"] == "unicodeCodePoints"
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    found = [task for task in tasks if outcome(task) is not Outcome.PASSED]
    assert len(run["results"]) == len(found)
    for task, finding in zip(found, run["results"], strict=True):
        assert set(finding) <= RESULT_KEYS
        assert rules[finding["ruleIndex"]]["id"] == finding["ruleId"]
        assert finding["level"] == rules[finding["ruleIndex"]]["defaultConfiguration"]["level"]
        assert finding["level"] == ("warning" if outcome(task) is Outcome.UNDECIDED else "error")
        assert finding["kind"] == "fail"  # only then may there be a level
        assert finding["message"]["text"].startswith(f"{task.id}: {headline(task)}")
        tags = finding["properties"]["tags"]
        assert len(tags) == len(set(tags))
        check_location(task, finding)
    prints = [finding["partialFingerprints"]["eqspecTask/v1"] for finding in run["results"]]
    keys = [(place(task) or ("",))[0] + "\n" + task.id for task in found]
    assert len(set(prints)) == len(set(keys))


@settings(max_examples=examples(10))
@given(some, st.booleans())
def test_no_form_calls_a_run_good_of_which_results_are_missing(made_results: list[Result], interrupted: bool) -> None:
    missing = [Missing("a, b.eqspec", "E008: 100 %\nof it", 3 if interrupted else None, interrupted)]
    suites = Xml.fromstring(junit.to_text(made_results, missing))
    (suite,) = [s for s in suites if s.get("name") == "a, b.eqspec"]
    assert [case[0].tag for case in suite] == ["error"]
    for counts in (suites, suite):
        cases = list(counts.iter("testcase"))
        assert int(counts.get("tests", "")) == len(cases)
        assert int(counts.get("errors", "")) == sum(case.find("error") is not None for case in cases)
    (invocation,) = json.loads(sarif.to_text(made_results, missing))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [said["message"]["text"] for said in invocation["toolExecutionNotifications"]] == [missing[0].why]
    level = "warning" if interrupted else "error"
    assert github.to_text(made_results, missing).startswith(
        f"::{level} file=a%2C b.eqspec,title=eqspec::E008: 100 %25%0Aof it"
    )
    assert "a, b.eqspec: E008" in formats.render(made_results, "table", missing)
    assert standing(made_results, missing) in (("failed", "undecided") if interrupted else ("failed",))
    assert not sentence(made_results, missing).startswith("PASSED")


def check_location(task: Result, finding: dict[str, Any]) -> None:
    where = place(task)
    if where is None:
        assert "locations" not in finding
        return
    physical = finding["locations"][0]["physicalLocation"]
    assert physical["region"] == {"startLine": where[1], "startColumn": where[2]}
    address = physical["artifactLocation"]
    assert re.fullmatch(r"[A-Za-z0-9._~:/%+-]+", address["uri"])
    if where[0].startswith("/"):
        assert address == {"uri": address["uri"]}
        assert unquote(address["uri"]) == f"file://{where[0]}"
    else:
        assert address["uriBaseId"] == "%SRCROOT%"
        assert unquote(address["uri"]) == where[0]


def test_places_are_read_as_written() -> None:
    written = ("a b.eqspec:3:12", "c:\\x.eqspec:1:2", None, ":1:2")
    places = [place(made(Verdict.UNKNOWN, source=source)) for source in written]
    assert places == [("a b.eqspec", 3, 12), ("c:\\x.eqspec", 1, 2), None, None]


def undone(text: str) -> str:
    """What GitHub makes of the value of a workflow command."""
    for code, character in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def visible(text: str) -> str:
    """As it is shown; a carriage return goes through as GitHub writes it."""
    return "\r".join(shown(part) for part in text.split("\r"))


@settings(max_examples=examples(20))
@given(some, sources)
def test_annotations_are_one_line_each_and_can_be_read_back(given_results: list[Result], source: str | None) -> None:
    tasks = [replace(r, source=source) for r in given_results]
    text = github.to_text(tasks)
    wanted = [task for task in tasks if outcome(task) is not Outcome.PASSED]
    ordered = [t for t in wanted if outcome(t) is not Outcome.UNDECIDED]
    ordered += [t for t in wanted if outcome(t) is Outcome.UNDECIDED]
    lines = text.split("\n") if text else []
    assert len(lines) == len(wanted)
    for line, task in zip(lines, ordered, strict=True):
        parts = re.fullmatch(r"::(error|warning) ([^:]*)::(.*)", line)
        assert parts is not None
        assert parts[1] == ("warning" if outcome(task) is Outcome.UNDECIDED else "error")
        given_properties = dict(part.split("=", 1) for part in parts[2].split(","))
        assert undone(given_properties["title"]) == visible(f"eqspec: {task.id}")
        if (where := place(task)) is not None:
            assert (undone(given_properties["file"]), given_properties["line"]) == (visible(where[0]), str(where[1]))
        assert undone(parts[3]).startswith(visible(headline(task)))


def test_many_annotations_end_in_a_count() -> None:
    lines = github.to_text([made(Verdict.DIFFERENT)] * 25 + [made(Verdict.UNKNOWN)] * 10).split("\n")
    assert len(lines) == 20  # what GitHub shows of one step
    assert lines[9] == "::error title=eqspec::... and 16 more tasks not as expected"
    assert lines[19].startswith("::warning title=eqspec%3A near")
    assert github.to_text([made(Verdict.EQUIVALENT)]) == ""


@settings(max_examples=examples(20))
@given(some)
def test_json_and_json_lines_are_the_same_results_and_come_back(tasks: list[Result]) -> None:
    whole, lines = formats.render(tasks, "json"), formats.render(tasks, "jsonl")
    assert json.loads(whole) == [json.loads(line) for line in lines.split("\n") if line] == [t.to_json() for t in tasks]
    assert len(lines.split("\n")) == len(tasks) + 1
    assert parse(whole, "a") == parse(lines, "b")
    assert [r.to_json() for r in parse(lines, "b")] == [t.to_json() for t in tasks]
    if tasks:
        assert [r.id for r in parse(json.dumps(tasks[0].to_json()), "c")] == [tasks[0].id]


LATER = ("task", "history", "undecided", "sampled", "effort", "worst_open")
"""Fields that the first version did not have."""


def test_results_of_older_versions_are_read() -> None:
    entry = {key: value for key, value in made(Verdict.UNKNOWN).to_json().items() if key not in LATER}
    (back,) = parse(json.dumps([entry]), "old.json")
    assert (back.verdict, back.history) == (Verdict.UNKNOWN, ())
    assert (back.undecided, back.sampled, back.task) == (None, None, None)
    assert "<html" in formats.render([back], "html")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no json", "x.json is not JSON"),
        ('{"id": 1', "x.json is not JSON"),
        ("[1]", "x.json, entry 1 is not a result; give what 'eqspec check --format json -o FILE' wrote"),
        ('[{"id": "a", "witness": {}, "claim": ""}]', "entry 1 (a) has no verdict: it is a saved witness or a task"),
        ('[{"id": "a", "verdict": "equivalent", "schema_version": 7}]', "has version 7 of the schema"),
        ('[{"id": "a", "verdict": "equivalent", "schema_version": true}]', "has version True of the schema"),
        ('[{"id": "a", "verdict": "equivalent"}]', "has no version of the schema"),
        ('[{"id": "a", "verdict": "equivalent", "schema_version": 1}]', "is not a whole result: KeyError at 'check'"),
        ('[{"id": 1, "verdict": "equivalent", "schema_version": 1}]', "id = 1, which is not of the type string"),
    ],
)
def test_what_holds_no_results_is_refused_with_the_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        parse(text, "x.json")
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(str(path))):
        read(path)


def test_a_file_cut_off_names_the_line(tmp_path: Path) -> None:
    text = formats.render([made(Verdict.EQUIVALENT), made(Verdict.DIFFERENT, name="b")], "jsonl")
    with pytest.raises(InputError, match=r"x.jsonl, line 2 is not JSON .* was it cut off"):
        parse(text[:-20], "x.jsonl")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not text"):
        read(tmp_path / "bytes.json")
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path / "absent.json")
    assert parse("\n", "empty") == []


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.html", "html"),
        ("b.JSON", "json"),
        ("c.jsonl", "jsonl"),
        ("TEST-d.xml", "junit"),
        ("e.sarif", "sarif"),
        ("e.sarif.json", "sarif"),
        ("f.txt", "table"),
    ],
)
def test_endings_say_the_form(name: str, form: str, tmp_path: Path) -> None:
    assert formats.format_of(Path(name)) == form
    formats.write([made(Verdict.EQUIVALENT)], tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").endswith("\n")


def test_an_unknown_ending_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"results.pdf does not say .*\.html \(html\)"):
        formats.format_of(Path("results.pdf"))


def test_names_that_are_no_text_can_be_written(tmp_path: Path) -> None:
    odd = made(Verdict.DIFFERENT, networks={"reference": {"name": "f", "path": "\udc80.onnx", "sha256": ""}})
    for form in formats.FORMATS:
        formats.write([odd], tmp_path / form, form)
    (back,) = read(tmp_path / "json")
    assert back.networks["reference"]["path"] == "\udc80.onnx"


def test_tables_end_their_lines_where_their_words_end() -> None:
    results_shown = [made(Verdict.EQUIVALENT), made(Verdict.UNKNOWN, name="a longer name than that")]
    lines = formats.render(results_shown, "table").splitlines()
    assert lines[1].split() == ["near[d=0.9]", "equivalent", "0.00", "s", "0"]
    assert [line for line in lines if line != line.rstrip()] == []
