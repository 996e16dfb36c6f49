"""The pytest plugin, tried by running pytest on small specs: what passes, what fails and how, what is collected."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

import eqspec.api
from eqspec.run.runner import Runner
from small_specs import CHECKS, write_spec
from unit.pytest_plugin.running import NO_TIME, PLUGIN, outcome, properties, run

pytest_plugins = ("pytester",)


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


def test_a_defect_shows_its_traceback(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception inside eqspec is neither a pass nor dressed up as an undecided claim."""

    def broken(*given: Any, **named: Any) -> NoReturn:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(Runner, "begin", broken)
    write_spec(pytester.path)
    result = run(pytester, "--eqspec-unknown=skip")
    outcome(result, failed=3)
    result.stdout.fnmatch_lines(["*RuntimeError: a wheel came off"])


def test_ctrl_c_ends_the_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **named: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "begin", interrupted)
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
    run_task = Runner.begin

    def watched(self: Runner, task: Any, *given: Any, **named: Any) -> Any:
        seen.append(self.options.threads)
        return run_task(self, task, *given, **named)

    monkeypatch.setattr(Runner, "begin", watched)
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
