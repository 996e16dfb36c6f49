"""The pytest plugin, tried by running pytest on small specs: what passes, what fails and how, what is collected."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import pytest

import eqspec.api
from eqspec.report import atomic_file
from eqspec.run.engine import ThisMachine
from eqspec.run.runner import Runner
from small_specs import CHECKS, write_spec

pytest_plugins = ("pytester",)

PLUGIN = ("-p", "no:eqspec", "-p", "eqspec.pytest_plugin", "-p", "no:cacheprovider")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Pytest with the plugin, as if it were installed."""
    return pytester.runpytest_inprocess(*PLUGIN, *arguments)


def outcome(result: pytest.RunResult, **expected: int) -> None:
    found = {kind: n for kind, n in result.parseoutcomes().items() if kind != "warnings"}
    assert found == expected, result.stdout.str()


def test_a_task_is_a_test(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    result = run(pytester, "-v")
    outcome(result, passed=3)
    lines = ["pair.eqspec::close[[]eps=0.2] PASSED*", "pair.eqspec::close[[]eps=0.3] PASSED*", "*::same PASSED*"]
    result.stdout.fnmatch_lines(lines)
    assert result.ret == 0


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["close[eps=0.2]", "close[eps=0.3]", "same"]),
        (("-k", "same"), ["same"]),
        (("-k", "not close"), ["same"]),
        (("-m", "quick"), ["close[eps=0.2]", "close[eps=0.3]"]),
        (("-m", "not quick"), ["same"]),
        (("-m", "eqspec and quick"), ["close[eps=0.2]", "close[eps=0.3]"]),
        (("pair.eqspec::close[eps=0.3]",), ["close[eps=0.3]"]),
        (("pair.eqspec::close",), ["close[eps=0.2]", "close[eps=0.3]"]),
    ],
)
def test_tests_are_selected_as_any_others(
    pytester: pytest.Pytester, arguments: tuple[str, ...], names: list[str]
) -> None:
    write_spec(pytester.path)
    result = run(pytester, "--collect-only", "-q", "--strict-markers", *arguments)
    assert [line.split("::")[1] for line in result.outlines if "::" in line] == names


def test_a_difference_is_explained_without_a_traceback(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "\ncheck exact { prove pruned stays within 0.2 of full on near(1) }\n")
    result = run(pytester, "-v")
    outcome(result, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*FAILURES*",
            "exact is different, but the claim must hold",
            "claim  *pruned*0.2*full*",
            "at  pair.eqspec:11:7",
            "exact  *",
            "*left = * m, right = *",
            "*output*reference*candidate*",
            "*onnxruntime agrees on the original files*",
            "FAILED pair.eqspec::exact - exact is different, but the claim must hold*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert ".py:" not in result.stdout.str()
    assert max(map(len, result.outlines[8:])) <= 80
    assert result.ret == 1


@pytest.mark.parametrize(
    ("check", "headline"),
    [
        ("stays within 0.3 of full  on near(1)  expect different", "c is equivalent: expected different"),
        ("stays within 0.2 of full  on near(1)  expect equivalent", "c is different, expected equivalent"),
        (
            "keeps top1 of full when margin >= 9  on near(1)",
            "c is equivalent: vacuous: nothing in the region meets the condition",
        ),
        ("keeps top1 of full when margin >= 9  on near(1)  expect different", "c is equivalent: vacuous: *"),
        ("stays within 0.2 of full  on near(1)  expect unknown", "c is different, expected unknown"),
    ],
)
def test_what_is_not_as_expected_fails(pytester: pytest.Pytester, check: str, headline: str) -> None:
    write_spec(pytester.path, f"\ncheck c {{ prove pruned {check} }}\n")
    result = run(pytester)
    outcome(result, failed=1)
    result.stdout.fnmatch_lines([headline])


def test_what_is_expected_passes_whatever_it_is(pytester: pytest.Pytester) -> None:
    write_spec(
        pytester.path,
        """
        check broken { prove pruned stays within 0.2 of full  on near(1)  expect different }
        check empty  { prove pruned keeps top1 of full when margin >= 9  on near(1)  expect vacuous }
        check either {
          prove  pruned stays within eps of full
          on     near(1)
          for    eps in [0.1, 0.24, 0.26]
          expect different  if eps <= 0.24
          expect equivalent if eps > 0.24
        }
        """,
    )
    outcome(run(pytester), passed=5)


NO_TIME = "--eqspec-timeout=0"
"""Even a claim that is decided on the first box stays undecided."""


@pytest.mark.parametrize(
    ("arguments", "outcomes"),
    [
        ((), {"failed": 3}),
        (("--eqspec-unknown=fail",), {"failed": 3}),
        (("--eqspec-unknown=xfail",), {"xfailed": 3}),
        (("--eqspec-unknown=skip",), {"skipped": 3}),
    ],
)
def test_undecided_is_never_a_pass(
    pytester: pytest.Pytester, arguments: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    write_spec(pytester.path)
    result = run(pytester, "-rxs", NO_TIME, *arguments)
    outcome(result, **outcomes)
    result.stdout.fnmatch_lines(["*same is unknown: timeout, 0 % proved*"])


def test_a_failure_is_no_xfail_even_where_unknown_is(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "\ncheck c { prove pruned stays within 0.2 of full  on near(1) }\n")
    outcome(run(pytester, "--eqspec-unknown=xfail"), failed=1)


def test_unknown_that_is_expected_passes(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "\ncheck c { prove pruned stays within 0.2 of full  on near(1)  expect unknown }\n")
    outcome(run(pytester, NO_TIME), passed=1)


def test_settings_come_from_the_configuration_and_the_command_line_wins(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    pytester.makeini("[pytest]\neqspec_timeout = 0\neqspec_unknown = skip")
    outcome(run(pytester), skipped=3)
    outcome(run(pytester, "--eqspec-timeout=60", "--eqspec-threads=1"), passed=3)
    outcome(run(pytester, "--eqspec-unknown=fail", "-x"), failed=1)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--eqspec-timeout=soon", "--eqspec-timeout: 'soon' is not a number"),
        ("--eqspec-timeout=-1", "eqspec: timeout = -1.0 is not a time"),
        ("--eqspec-threads=0", "eqspec: threads = 0"),
        ("--eqspec-param=eps", "--eqspec-param: 'eps' is not of the form NAME=VALUE"),
        ("--eqspec-unknown=pass", "--eqspec-unknown: invalid choice: 'pass'"),
        ("--override-ini=eqspec_unknown=pass", "eqspec_unknown = pass; one of fail, xfail, skip"),
    ],
)
def test_settings_that_make_no_sense_end_the_run(pytester: pytest.Pytester, argument: str, message: str) -> None:
    write_spec(pytester.path)
    result = run(pytester, argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_params_are_given_from_outside(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "\nparam e = 0.3\ncheck c { prove pruned stays within e of full  on near(1) }\n")
    outcome(run(pytester), passed=1)
    outcome(run(pytester, "--eqspec-param", "e=0.2"), failed=1)
    result = run(pytester, "--eqspec-param", "f=0.2")
    outcome(result, errors=1)


def test_a_bad_spec_is_a_collection_error_with_carets(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, CHECKS.replace("pruned keeps", "prunned keeps"), name="bad.eqspec")
    write_spec(pytester.path)
    result = run(pytester, "--continue-on-collection-errors")
    outcome(result, passed=3, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting bad.eqspec*",
            "error[[]E101[]]: *prunned*",
            "*--> bad.eqspec:*",
            "* | check same { prove prunned keeps top1*",
            "* | *^^^^^^^*",
            "*did you mean*pruned*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    outcome(run(pytester), errors=1)


def test_a_missing_file_is_a_collection_error(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    (pytester.path / "pruned.onnx").unlink()
    result = run(pytester)
    outcome(result, errors=1)
    result.stdout.fnmatch_lines(["error*", "*pruned.onnx*", "* | *^^^*"])


def test_what_is_noticed_in_a_spec_is_a_warning(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "\ncheck c { prove full stays within 0.1 of full  on near(1) }\n")
    result = run(pytester, "-W", "default")
    assert result.parseoutcomes() == {"passed": 1, "warnings": 1}
    result.stdout.fnmatch_lines(["*SpecWarning: W304*same file*pair.eqspec:11:*"])
    result = run(pytester, "-W", "error")
    outcome(result, errors=1)
    result.stdout.fnmatch_lines(["warning[[]W304[]]: *", "* | check c *", "* | *^^^^*"])


def test_a_spec_without_checks_has_no_tests(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, "")
    assert run(pytester).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_which_files_are_specs_can_be_said(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    write_spec(pytester.path, name="pair.claims")
    result = run(pytester, "-v", "-o", "eqspec_files=*.claims *.proofs")
    outcome(result, passed=3)
    result.stdout.fnmatch_lines(["pair.claims::same PASSED*"])


def test_marks_that_pytest_acts_on_are_only_words(pytester: pytest.Pytester) -> None:
    """A check that is tagged `skip` is run: `eqspec check` would run it, too."""
    tags = "skip, skipif, xfail, timeout, usefixtures, parametrize"
    write_spec(pytester.path, f"\ncheck c {{ prove pruned stays within 0.2 of full  on near(1)  tags {tags} }}\n")
    outcome(run(pytester, "--strict-markers"), failed=1)
    outcome(run(pytester, "-k", "xfail and not quick"), failed=1)


SEARCH = "\ncheck best { prove pruned stays within e of full  on near(1)  find smallest e in 0.01 .. 1 to 0.01 }\n"


def test_a_search_is_a_test_that_tells_its_bracket(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path, SEARCH)
    result = run(pytester, "-rP", "--junit-xml=found.xml")
    outcome(result, passed=1)
    result.stdout.fnmatch_lines(["equivalent, *holds at e = 0.2*, not at 0.2*"])
    found = properties(pytester)
    assert found["eqspec_verdict"] == "equivalent"
    assert found["eqspec_answer"].startswith("holds at e = 0.2")


@pytest.mark.parametrize(
    ("range_of_e", "arguments", "headline"),
    [
        ("0.01 .. 0.2 to 0.01", (), "best is different: no e proved, refuted at 0.2"),
        ("0.01 .. 1 to 0.01", (NO_TIME,), "best is unknown: no e proved*timeout*"),
    ],
)
def test_a_search_without_an_answer_fails(
    pytester: pytest.Pytester, range_of_e: str, arguments: tuple[str, ...], headline: str
) -> None:
    write_spec(pytester.path, SEARCH.replace("0.01 .. 1 to 0.01", range_of_e))
    result = run(pytester, *arguments)
    outcome(result, failed=1)
    result.stdout.fnmatch_lines([headline])


def properties(pytester: pytest.Pytester) -> dict[str, str]:
    """The properties of the first test in the JUnit file."""
    case = ElementTree.parse(pytester.path / "found.xml").getroot().find(".//testcase")
    assert case is not None
    return {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}


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
        monkeypatch.setattr(Runner, "run", lambda *given, **named: 1 / 0)
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


def test_a_defect_shows_its_traceback(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception inside eqspec is neither a pass nor dressed up as an undecided claim."""

    def broken(*given: Any, **named: Any) -> NoReturn:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(Runner, "run", broken)
    write_spec(pytester.path)
    result = run(pytester, "--eqspec-unknown=skip")
    outcome(result, failed=3)
    result.stdout.fnmatch_lines(["*RuntimeError: a wheel came off"])


def test_ctrl_c_ends_the_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **named: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "run", interrupted)
    write_spec(pytester.path)
    result = pytester.runpytest_inprocess(*PLUGIN, no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert result.parseoutcomes() == {}


def test_a_worker_of_xdist_runs_them(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("PYTHONPATH", str(Path(eqspec.__file__).parents[1]))
    write_spec(pytester.path, CHECKS + "\ncheck c { prove pruned stays within 0.2 of full  on near(1) }\n")
    result = pytester.runpytest_subprocess(*PLUGIN, "-n", "1", "--eqspec-report=found.jsonl")
    assert len((pytester.path / "found.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    outcome(result, passed=3, failed=1)
    result.stdout.fnmatch_lines(["c is different, but the claim must hold", "*left = * m, right = *"])


def test_workers_share_the_cores(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "1000")
    write_spec(pytester.path, SEARCH + "budget { threads 3 }")
    seen: list[int | None] = []
    run_task = Runner.run

    def watched(self: Runner, task: Any, *given: Any, **named: Any) -> Any:
        seen.append(self.options.threads)
        return run_task(self, task, *given, **named)

    monkeypatch.setattr(Runner, "run", watched)
    outcome(run(pytester), passed=1)
    assert set(seen) == {None}  # the spec says how many
    write_spec(pytester.path)
    outcome(run(pytester), passed=3)
    assert seen[-3:] == [1, 1, 1]


def test_it_stands_beside_other_tests(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    pytester.makepyfile("def test_it(): pass")
    outcome(run(pytester), passed=4)
    outcome(run(pytester, "-m", "not eqspec"), passed=1, deselected=3)


@pytest.mark.parametrize(
    ("arguments", "setting", "folder"),
    [
        (("--eqspec-cache", "kept"), None, "kept"),
        ((), "below/kept", "below/kept"),
        (("--eqspec-cache", "kept"), "off", "kept"),
        ((), None, "usual"),
        ((), "off", None),
        (("--eqspec-no-cache",), "below/kept", None),
    ],
)
def test_results_are_kept_where_somebody_says(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    setting: str | None,
    folder: str | None,
) -> None:
    monkeypatch.setenv("EQSPEC_CACHE", str(pytester.path / "usual"))
    write_spec(pytester.path)
    if setting is not None:
        pytester.makeini(f"[pytest]\neqspec_cache = {setting}\n")
    for again in (False, True):
        outcome(run(pytester, *arguments, "--eqspec-report", "results.json"), passed=3)
        found = json.loads((pytester.path / "results.json").read_text())
        assert [result["cached"] for result in found] == [again and folder is not None] * 3
    kept = {str(path.parents[2].relative_to(pytester.path)) for path in pytester.path.rglob("*.result")}
    assert kept == ({folder} if folder else set())


@pytest.mark.parametrize("setting", [False, True])
def test_searches_go_to_the_cluster_that_is_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, setting: bool
) -> None:
    """One cluster for the whole run, which is left at its end."""
    # By its name among the loaded modules: pytester forgets what a run has loaded, while the package still has it as an
    # attribute, which `from eqspec.pytest_plugin import ...` would take.
    session_options = importlib.import_module("eqspec.pytest_plugin.session_options")
    events: list[str] = []

    class Engine(ThisMachine):
        def solve(self, *given: Any, **more: Any) -> Any:
            events.append("solve")
            return super().solve(*given, **more)

    @contextmanager
    def engine_on(where: str) -> Iterator[Engine]:
        events.append(where)
        yield Engine()
        events.append("left")

    monkeypatch.setattr(session_options, "engine_on", engine_on)
    write_spec(pytester.path)
    if setting:
        pytester.makeini("[pytest]\neqspec_cluster = tcp://head:8786\n")
    arguments = [] if setting else ["--eqspec-cluster", "tcp://head:8786"]
    outcome(run(pytester, "--eqspec-no-cache", *arguments), passed=3)
    assert events == ["tcp://head:8786", *["solve"] * events.count("solve"), "left"]
    assert "solve" in events


@pytest.fixture(scope="module")
def distributed() -> None:
    """Imported before `pytester` begins, which makes Python forget what it imports: no package is found after that."""
    pytest.importorskip("distributed")


@pytest.mark.usefixtures("distributed")
def test_a_cluster_that_is_not_there_is_refused_at_once(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    result = run(pytester, "--eqspec-cluster", "nowhere.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*there is no cluster 'nowhere.json'*"])


def test_a_cache_that_cannot_be_is_refused_at_once(pytester: pytest.Pytester) -> None:
    spec = write_spec(pytester.path)
    for arguments, words in (
        (("--eqspec-cache", spec.name), "cannot keep results in"),
        (("--eqspec-cache", "kept", "--eqspec-no-cache"), "contradict each other"),
    ):
        result = run(pytester, *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{words}*"])
