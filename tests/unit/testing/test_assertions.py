"""The assertions of `eqspec.testing`: what passes, what fails, how, and with which exception."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import eqspec
from eqspec import InputError, Verdict
from eqspec.run.runner import Rest, Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason
from eqspec.testing import (
    DifferentError,
    NotExpectedError,
    UndecidedError,
    VacuousError,
    assert_equivalent,
    assert_spec,
)
from small_specs import CHECKS, write_onnx, write_spec
from small_tasks import hard, identity, network

FULL, RAISED = identity(2), network((np.eye(2), [0.0, 0.25]))
BOX = [-1.0, -1.0], [1.0, 1.0]


def test_what_is_proved_is_returned() -> None:
    result = assert_equivalent(FULL, RAISED, BOX, eps=0.3)
    assert result.verdict is Verdict.EQUIVALENT
    assert assert_equivalent(FULL, RAISED, BOX, confidence=0.6).certified_fraction == 1.0  # sigmoid(0.25) = 0.562
    assert assert_equivalent(FULL, RAISED, BOX, margin="0.3").verdict is Verdict.EQUIVALENT
    assert assert_equivalent(FULL, FULL, BOX, top1=True).verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    "claim", [{"eps": 0.2}, {"top1": True}, {"confidence": 0.55}, {"margin": 0.2}, {"eps": 0, "norm": "l1"}]
)
def test_a_difference_comes_with_its_input(claim: dict[str, float]) -> None:
    with pytest.raises(DifferentError, match="verify is different, but the claim must hold") as caught:
        assert_equivalent(FULL, RAISED, BOX, **claim)  # type: ignore[arg-type]
    assert isinstance(caught.value, AssertionError)
    witness = caught.value.result.witness
    assert witness is not None
    assert witness.candidate[1] - witness.reference[1] == 0.25
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("claim  candidate ")
    assert any(line.startswith("  at input 0 = ") for line in lines)
    assert any(line.split() == ["output", "reference", "candidate"] for line in lines)


def test_undecided_is_an_error_of_its_own() -> None:
    task = hard()
    with pytest.raises(UndecidedError, match="verify is unknown: timeout, 0 % proved") as caught:
        assert_equivalent(task.reference, task.candidate, 1.0, eps=9, timeout=0)
    assert caught.value.result.reason == "timeout"
    assert not isinstance(caught.value, DifferentError)


def test_vacuous_is_an_error_of_its_own() -> None:
    with pytest.raises(VacuousError, match="nothing in the region meets the condition"):
        assert_equivalent(FULL, FULL, BOX, margin=9)


def test_a_radius_is_a_region() -> None:
    """|x| <= r: relu(x - 1/2) is 0 up to r = 1/2."""
    plain, bent = network(([[0.0]], [0.0])), network(([[1.0]], [-0.5]), ([[1.0]], [0.0]))
    assert assert_equivalent(plain, bent, 0.5, eps=1e-6)
    assert assert_equivalent(plain, bent, 0, eps=1e-6)
    with pytest.raises(DifferentError):
        assert_equivalent(plain, bent, 0.6, eps=0.05)


def test_constraints_and_decisions_are_handed_on() -> None:
    plain, bent = network(([[0.0, 0.0]], [0.0])), network(([[0.0, 1.0]], [0.0]), ([[1.0]], [0.0]))
    assert assert_equivalent(plain, bent, BOX, eps=0.1, constraints=([[0.0, 1.0]], [-0.5]))
    three = identity(3), network((np.eye(3), [0.0, 0.5, 0.0]))
    corners = [-1.0, 0.0, 0.2], [-0.9, 0.1, 0.3]
    assert assert_equivalent(*three, corners, top1=True, decide="min")
    with pytest.raises(DifferentError):
        assert_equivalent(*three, corners, top1=True)


def test_models_come_from_anywhere(tmp_path: Path) -> None:
    path = write_onnx(tmp_path / "raised.onnx", np.eye(2), [0.0, 0.25])
    assert assert_equivalent(FULL, path, BOX, eps=0.3)
    with pytest.raises(DifferentError, match="onnxruntime agrees"):
        assert_equivalent(onnx.load(write_onnx(tmp_path / "a.onnx", np.eye(2), [0, 0])), onnx.load(path), 1, eps=0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assert_equivalent(FULL, FULL, BOX), "one of eps, top1, confidence, margin; none is given"),
        (lambda: assert_equivalent(FULL, FULL, BOX, eps=0.1, top1=True), "eps and top1 are given"),
        (lambda: assert_equivalent(FULL, FULL, -1, eps=0.1), "region = -1; a single number is a radius"),
        (lambda: assert_equivalent(FULL, FULL, float("nan"), eps=0.1), "region = nan"),
        (lambda: assert_equivalent(FULL, FULL, float("inf"), eps=0.1), "not finite"),
        (lambda: assert_equivalent(FULL, FULL, (1, 2, 3), eps=0.1), r"region is a pair"),  # type: ignore[arg-type]
        (lambda: assert_equivalent(FULL, FULL, None, eps=0.1), r"region is a pair"),  # type: ignore[arg-type]
        (lambda: assert_equivalent(FULL, FULL, BOX, confidence=2), "delta = 2 is not a confidence"),
        (lambda: assert_equivalent(FULL, identity(3), BOX, top1=True), "2 inputs, but .* has 3"),
    ],
)
def test_arguments_are_checked(call: Callable[[], object], message: str) -> None:
    """A mistake in the test is no failed claim."""
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert not isinstance(caught.value, AssertionError)


def test_a_spec_is_asserted_as_a_whole(tmp_path: Path) -> None:
    path = write_spec(tmp_path)
    assert len(assert_spec(path)) == 3
    assert len(assert_spec(eqspec.load(path))) == 3
    with pytest.raises(NotExpectedError, match=r"close\[eps=0.2\] is equivalent: expected different"):
        assert_spec(path, networks={"pruned": FULL})
    with pytest.raises(DifferentError, match=r"close\[eps=0.3\] is different, expected equivalent"):
        assert_spec(path, networks={"pruned": network((np.eye(2), [0.0, 0.4]))})
    with pytest.raises(UndecidedError):
        assert_spec(path, timeout=0)
    with pytest.raises(InputError, match="give the path"):
        assert_spec(eqspec.load(path), networks={"pruned": FULL})
    with pytest.raises(eqspec.SpecError):
        assert_spec(write_spec(tmp_path, CHECKS.replace("pruned", "prunned")))


def test_a_spec_without_checks_is_no_success(tmp_path: Path) -> None:
    path = write_spec(tmp_path, "")
    for spec in (path, eqspec.load(path)):
        with pytest.raises(InputError, match="nothing to check in"):
            assert_spec(spec)
        assert not eqspec.check(path).ok


def test_a_run_that_was_stopped_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks before Ctrl-C came out as expected; pytest has to see it, or it goes on with the next test."""
    path = write_spec(tmp_path, CHECKS)
    run, names = Runner.begin, list[str]()

    def stopped(runner: Runner, task: Task, *others: Any, **more: Any) -> Result | Rest:
        names.append(task.id)
        if len(names) == 2:
            raise KeyboardInterrupt
        return run(runner, task, *others, **more)

    monkeypatch.setattr(Runner, "begin", stopped)
    with pytest.raises(KeyboardInterrupt):
        assert_spec(path, cache=False)
    assert len(names) == 2


def test_a_search_that_was_stopped_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core ends a search on Ctrl-C with what it has proved; pytest has to see the interrupt."""
    task, run = hard(), Runner.run

    def stopped(*given: Any) -> Result:
        return replace(run(*given), reason=Reason.INTERRUPTED)

    monkeypatch.setattr(Runner, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        assert_equivalent(task.reference, task.candidate, 1.0, eps=9, timeout=0, cache=False)


def test_params_of_a_spec_are_given(tmp_path: Path) -> None:
    path = write_spec(tmp_path, "\nparam e = 0.3\ncheck c { prove pruned stays within e of full  on near(1) }\n")
    assert assert_spec(path)
    with pytest.raises(DifferentError):
        assert_spec(path, params={"e": 0.2})


pytest_plugins = ("pytester",)


def test_pytest_shows_the_test_and_the_explanation_only(pytester: pytest.Pytester) -> None:
    write_spec(pytester.path)
    pytester.makepyfile(
        """
        from eqspec.testing import assert_equivalent

        def test_pruning():
            assert_equivalent("full.onnx", "pruned.onnx", region=1.0, eps=0.2)
        """
    )
    # Where the package is installed, its plugin would collect the spec as well.
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:eqspec")
    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(
        ["> * assert_equivalent(*", "E *verify is different, but the claim must hold", "E *at input 0 = *", "FAILED *"]
    )
    assert "testing.py" not in result.stdout.str().replace("test_pytest", "")


def test_results_are_kept_unless_somebody_says_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = write_spec(tmp_path)
    monkeypatch.setenv("EQSPEC_CACHE", str(tmp_path / "usual"))
    for again in (False, True):
        assert assert_equivalent(FULL, RAISED, BOX, eps=0.3).cached is again
        assert {result.cached for result in assert_spec(spec)} == {again}
    assert not assert_equivalent(FULL, RAISED, BOX, eps=0.3, cache=False).cached
    assert not any(result.cached for result in assert_spec(eqspec.load(spec), cache=False))
    named = tmp_path / "named"
    assert not assert_equivalent(FULL, RAISED, BOX, eps=0.3, cache=named).cached
    assert assert_equivalent(FULL, RAISED, BOX, eps=0.3, cache=named).cached
    for words in ("the claim must hold\n", r"the claim must hold \(kept from before\)\n"):
        with pytest.raises(DifferentError, match=words):
            assert_equivalent(FULL, RAISED, BOX, eps=0.2, cache=named)
    monkeypatch.setenv("EQSPEC_CACHE", "off")
    assert not assert_equivalent(FULL, RAISED, BOX, eps=0.3).cached


def test_a_difference_that_was_kept_fails_as_well(tmp_path: Path) -> None:
    for again in (False, True):
        with pytest.raises(DifferentError) as caught:
            assert_equivalent(FULL, RAISED, BOX, eps=0.2, cache=tmp_path)
        assert caught.value.result.cached is again
        assert caught.value.result.witness is not None
