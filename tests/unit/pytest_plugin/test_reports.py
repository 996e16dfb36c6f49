"""Reports of a pytest run: JUnit files, reports in the forms of eqspec, annotations; what was not checked is said."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import pytest

from eqspec.report import atomic_file
from eqspec.run.runner import Runner
from small_specs import CHECKS, write_spec
from unit.pytest_plugin.running import NO_TIME, outcome, properties, run

pytest_plugins = ("pytester",)


def test_junit_files_have_the_reason_in_one_line(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "\ncheck c { prove pruned stays within 0.2 of full  on near(1) }\n")
    run(pytester, "--junit-xml=found.xml")
    failure = ElementTree.parse(pytester.path / "found.xml").getroot().find(".//failure")
    assert failure is not None
    assert failure.attrib["message"] == "c is different, but the claim must hold"
    assert "left = " in (failure.text or "")
    assert properties(pytester)["eqspec_verdict"] == "different"


def test_results_are_written_in_the_forms_of_eqspec(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    write_spec(pytester.path, CHECKS + "\ncheck c { prove pruned stays within 0.2 of full  on near(1) }\n")
    result = run(pytester, "--eqspec-report=found.json", "--eqspec-report", "found.html")
    outcome(result, passed=3, failed=1)
    result.stdout.fnmatch_lines(["eqspec: 4 results in *found.json"])
    assert "::error" not in result.stdout.str()
    found = json.loads((pytester.path / "found.json").read_text(encoding="utf-8"))
    ids = ["close[eps=0.2]", "close[eps=0.3]", "same", "c"]
    assert [(r["id"], r["as_expected"]) for r in found] == [(i, i != "c") for i in ids]
    assert found[3]["witness"]["candidate"]["b"] - found[3]["witness"]["reference"]["b"] == 0.25
    assert "close[eps=0.3]" in (pytester.path / "found.html").read_text(encoding="utf-8")
    assert run(pytester, "--eqspec-report=found.doc").ret == pytest.ExitCode.USAGE_ERROR
    refused = run(pytester, "--eqspec-report=gone/found.json")
    refused.stderr.fnmatch_lines(["*--eqspec-report: cannot write *gone*"])
    assert refused.ret == pytest.ExitCode.USAGE_ERROR


def test_a_report_that_cannot_be_written_fails_the_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of an earlier run would be taken for it. A run that failed anyway says that it did."""

    def full(path: Path, *parts: bytes) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic_file, "replace_file", full)
    write_spec(pytester.path)
    found = run(pytester, "--eqspec-report=found.html")
    outcome(found, passed=3)
    found.stdout.fnmatch_lines(["eqspec: cannot write *found.html: No space left on device"])
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    write_spec(pytester.path, "\ncheck c { prove pruned stays within 0.2 of full  on near(1) }\n")
    assert run(pytester, "--eqspec-report=found.html").ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("broken", "arguments", "said"),
    [
        ("other", ("--continue-on-collection-errors",), "FAILED: 1 spec cannot be used. Of the rest all 3"),
        ("other", (), "FAILED: 1 spec cannot be used"),
        ("runner", ("-x",), "3 tasks not run"),
        ("none", ("-k", "close"), "PASSED: all 2"),
    ],
)
def test_reports_say_what_was_not_checked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, broken: str, arguments: tuple[str, ...], said: str
) -> None:
    """No report is green about what nobody ran. What was not asked for is not missing."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    write_spec(pytester.path)
    if broken == "other":
        (pytester.path / "other.eqspec").write_text("eqspec 1\nnetwrok f\n")
    if broken == "runner":
        monkeypatch.setattr(Runner, "begin", lambda *given, **named: 1 / 0)
    run(pytester, *arguments, *(f"--eqspec-report=found.{form}" for form in ("html", "xml", "sarif")))
    page = (pytester.path / "found.html").read_text(encoding="utf-8")
    assert said in re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert ("error" in (pytester.path / "found.xml").read_text().replace('errors="0"', "")) is (broken != "none")
    sarif = json.loads((pytester.path / "found.sarif").read_text(encoding="utf-8"))
    assert sarif["runs"][0]["invocations"][0]["executionSuccessful"] is (broken == "none")


def test_github_marks_the_line_of_the_check(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    write_spec(pytester.path, CHECKS + "\ncheck c { prove pruned stays within 0.2 of full  on near(1) }\n")
    result = run(pytester)
    annotations = [line for line in result.outlines if line.startswith("::")]
    assert len(annotations) == 1
    assert annotations[0].startswith("::error file=pair.eqspec,line=21,col=7,title=eqspec%3A c::different")
    assert len([line for line in run(pytester, NO_TIME).outlines if line.startswith("::warning file=")]) == 4
