"""The library: reports as sequences, one pair on one box, arguments that are refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import eqspec
from eqspec import Confidence, Epsilon, InputError, Margin, Reason, Top1, Verdict
from small_specs import CHECKS, HEADER, write_onnx, write_spec
from small_tasks import hard, identity, network


def test_what_is_exported_exists() -> None:
    for name in eqspec.__all__:
        assert getattr(eqspec, name) is not None
    assert eqspec.__version__.count(".") == 2


def test_a_report_is_a_sequence_with_names(tmp_path: Path) -> None:
    report = eqspec.check(write_spec(tmp_path))
    assert report.ok
    assert len(report) == 3
    assert [r.id for r in report] == ["close[eps=0.2]", "close[eps=0.3]", "same"]
    assert report["same"] is report[2] is report[-1]
    assert [r.verdict for r in report[:2]] == [Verdict.DIFFERENT, Verdict.EQUIVALENT]
    assert report.to_json()[0]["id"] == "close[eps=0.2]"
    assert [eqspec.Result.from_json(data) for data in report.to_json()] == list(report)
    page = report.to_html("Mine")
    assert "<title>Mine: eqspec report</title>" in page
    assert all(f'<b class="id">{result.id}</b>' in page for result in report)
    with pytest.raises(KeyError, match="did you mean 'same'"):
        report["sane"]


def test_what_is_not_as_expected_is_not_ok(tmp_path: Path) -> None:
    path = write_spec(tmp_path, CHECKS.replace("expect different  if", "expect equivalent if"))
    assert not eqspec.check(path).ok
    assert eqspec.check(path, select="same").ok
    assert not eqspec.Report((), interrupted=True).ok
    assert not eqspec.Report((), left_out=1).ok


def test_specs_are_loaded_once_and_checked_many_times(tmp_path: Path) -> None:
    write_spec(tmp_path)
    text = HEADER + "param e = 0.3\ncheck c { prove pruned stays within e of full on near(1) }"
    spec = eqspec.loads(text, directory=tmp_path)
    assert [task.id for task in spec.tasks] == ["c"]
    assert spec.check(threads=1).ok
    assert spec.check(timeout=5, domain="naive")[0].settings["domain"] == "naive"
    again = eqspec.loads(text, {"e": "0.2"}, directory=tmp_path)
    assert again.check()[0].verdict is Verdict.DIFFERENT


def test_a_bad_spec_raises_with_all_findings(tmp_path: Path) -> None:
    with pytest.raises(eqspec.SpecError) as caught:
        eqspec.check(write_spec(tmp_path, CHECKS.replace("pruned", "prunned")))
    assert [d.code for d in caught.value.diagnostics] == ["E101", "E101"]


def test_selecting_nothing_is_refused(tmp_path: Path) -> None:
    spec = eqspec.load(write_spec(tmp_path))
    assert [i.id for i in spec.select(tags=["quick"], patterns="*0.2]")] == ["close[eps=0.2]"]
    for wrong in ({"patterns": "none"}, {"tags": "slow"}, {"checks": ["close", "x"]}):
        with pytest.raises(InputError, match="matches"):
            spec.select(**wrong)


def test_one_pair_on_one_box(tmp_path: Path) -> None:
    full = write_onnx(tmp_path / "full.onnx", np.eye(2), [0, 0])
    pruned = write_onnx(tmp_path / "pruned.onnx", np.eye(2), [0, 0.25])
    box = [-1.0, -1.0], np.array([1.0, 1.0])
    result = eqspec.verify(str(full), pruned, *box, Epsilon(0.3), timeout=20, threads=1)
    assert result.verdict is Verdict.EQUIVALENT
    assert result.certified_fraction == 1.0
    result = eqspec.verify(eqspec.read_network(str(full)), pruned, *box, Epsilon(0.2))
    assert result.verdict is Verdict.DIFFERENT
    assert result.witness is not None
    assert result.witness.candidate[1] - result.witness.reference[1] == 0.25
    assert result.witness.onnxruntime_confirms is True
    assert eqspec.verify(full, pruned, *box, Top1()).verdict is Verdict.DIFFERENT
    assert eqspec.verify(full, pruned, *box, Margin(0.3)).verdict is Verdict.EQUIVALENT
    assert eqspec.verify(full, pruned, *box, Confidence(0.6)).verdict is Verdict.EQUIVALENT  # sigmoid(0.25) = 0.562
    assert eqspec.verify(full, pruned, *box, Confidence(0.55)).verdict is Verdict.DIFFERENT


def test_constraints_narrow_the_box() -> None:
    """|x1| <= 1, but only x1 <= -0.5 counts: relu(x1) is 0 there."""
    plain, bent = network(([[0.0, 0.0]], [0.0])), network(([[0.0, 1.0]], [0.0]), ([[1.0]], [0.0]))
    box = [-1, -1], [1, 1]
    assert eqspec.verify(plain, bent, *box, Epsilon(0.1)).verdict is Verdict.DIFFERENT
    only = ([[0.0, 1.0]], [-0.5])
    assert eqspec.verify(plain, bent, *box, Epsilon(0.1), constraints=only).verdict is Verdict.EQUIVALENT


def test_bounds_are_floats_as_they_are_or_exact_numbers() -> None:
    one = network(([[1.0]], [0.0])), network(([[1.0]], [1.0]))
    found = eqspec.verify(*one, [0.1], [0.1], Epsilon(0.5))
    assert found.witness is not None
    assert found.witness.normalised == (Fraction(0.1),)
    found = eqspec.verify(*one, ["1/3"], [Fraction(1, 3)], Epsilon(0.5))
    assert found.witness is not None
    assert found.witness.normalised == (Fraction(1, 3),)


def test_the_smallest_score_may_decide() -> None:
    pair = identity(3), network((np.eye(3), [0.0, 0.5, 0.0]))
    box = [-1.0, 0.0, 0.2], [-0.9, 0.1, 0.3]
    assert eqspec.verify(*pair, *box, Top1()).verdict is Verdict.DIFFERENT
    assert eqspec.verify(*pair, *box, Top1(), decide="min").verdict is Verdict.EQUIVALENT


def test_progress_can_stop_it() -> None:
    task = hard()
    heard: list[float] = []

    def hear(progress: eqspec.Progress) -> bool:
        heard.append(progress.certified)
        return True

    found = eqspec.verify(task.reference, task.candidate, task.lower, task.upper, Epsilon(9), on_progress=hear)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, Reason.INTERRUPTED)
    assert heard


@pytest.mark.parametrize("one", [1, 1.0, "1", Fraction(1), np.float32(1), np.int64(1)])
def test_one_number_stands_for_a_whole_corner(one: Any) -> None:
    pair = identity(2), network((-np.eye(2), np.zeros(2)))
    found = eqspec.verify(*pair, 0, one, Epsilon(1))
    assert found.task == eqspec.verify(*pair, [0, 0], [1, 1], Epsilon(1)).task
    assert found.task is not None
    assert found.task["region"]["hi"] == [1.0, 1.0]
    assert "input 0 = " in str(found)


def test_a_result_is_a_line_where_python_shows_values() -> None:
    """Its fields are many: what `print` shows is a page."""
    said = repr(eqspec.verify(identity(2), identity(2), 0, 1, Top1()))
    assert said == "<Result: verify is equivalent; candidate keeps top1 of reference>"


PAIR = identity(2), identity(2)
ONE_OUTPUT = network(([[1.0, 0.0]], [0.0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eqspec.verify(identity(2), identity(3), [0, 0], [1, 1], Top1()), "2 inputs, but .* has 3"),
        (
            lambda: eqspec.verify(identity(2), network(([[1.0, 0.0]], [0.0])), [0, 0], [1, 1], Top1()),
            "2 outputs, but .* 1",
        ),
        (lambda: eqspec.verify(*PAIR, [0], [1, 1], Top1()), "lower has 1 numbers for networks with 2 inputs"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [[1, 1]], Top1()), r"upper has shape \(1, 2\); give 1 dimension"),
        (lambda: eqspec.verify(*PAIR, [0, np.nan], [1, 1], Top1()), r"lower\[1\] = nan is not finite"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, np.inf], Top1()), r"upper\[1\] = inf is not finite"),
        (lambda: eqspec.verify(*PAIR, [0, -(10**400)], [1, 1], Top1()), r"lower\[1\] is beyond the range of floats"),
        (
            lambda: eqspec.verify(*PAIR, np.array([0, 1j]), [1, 1], Top1()),
            "lower is not an array of numbers: some",
        ),
        (lambda: eqspec.verify(*PAIR, [0, 2], [1, 1], Top1()), r"lower\[1\] = 2.0 is above upper\[1\] = 1.0"),
        (lambda: eqspec.verify(*PAIR, ["a", "b"], [1, 1], Top1()), "'a' is not an exact number"),
        (lambda: eqspec.verify(*PAIR, [None, 1], [1, 1], Top1()), "lower"),  # type: ignore[arg-type]
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], "top1"), "'top1' is not a property"),  # type: ignore[arg-type]
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Confidence(1)), "delta = 1 is not a confidence"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Margin(-1)), "use Top1"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Epsilon(0.1, "l3")), "linf, l1, l2"),  # type: ignore[arg-type]
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Epsilon(float("nan"))), "nan is not an exact number"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], eqspec.Linear((1,), (1, 0), 0)), "1 candidate coefficients"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Top1(), timeout=-1), "timeout = -1"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Top1(), threads=0), "threads = 0"),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Top1(), decide="most"), "one of max, min"),  # type: ignore[arg-type]
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Top1(), domain="best"), "unknown domain"),  # type: ignore[arg-type]
        (
            lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Top1(), constraints=([[1.0]], [1.0])),
            r"constraints have shapes \(1, 1\)",
        ),
        (lambda: eqspec.verify(*PAIR, [0, 0], [1, 1], Top1(), constraints=1), "a pair of arrays"),  # type: ignore[arg-type]
    ],
)
def test_arguments_are_checked(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_a_missing_network_is_named(tmp_path: Path) -> None:
    with pytest.raises(eqspec.NetworkError, match=r"gone\.onnx"):
        eqspec.verify(tmp_path / "gone.onnx", identity(1), [0], [1], Top1())


def test_models_take_the_place_of_the_files_a_spec_names(tmp_path: Path) -> None:
    path = write_spec(tmp_path)
    (tmp_path / "pruned.onnx").unlink()
    near, far = (network((np.eye(2), [0.0, bias]), source=f"<{bias}>") for bias in (0.1, 0.5))
    assert eqspec.check(path, select="*0.2]", networks={"pruned": near})[0].verdict is Verdict.EQUIVALENT
    assert eqspec.check(path, select="*0.3]", networks={"pruned": far})[0].verdict is Verdict.DIFFERENT
    elsewhere = write_onnx(tmp_path / "elsewhere.onnx", np.eye(2), [0.0, 0.25])
    assert eqspec.load(path, networks={"pruned": str(elsewhere)}).check().ok
    assert eqspec.load(path, networks={"pruned": onnx.load(elsewhere)}).check().ok
    text = path.read_text(encoding="utf-8")
    assert eqspec.loads(text, directory=tmp_path, networks={"pruned": elsewhere}).check().ok


def test_a_model_has_to_fit_its_space_and_its_name_has_to_be_known(tmp_path: Path) -> None:
    path = write_spec(tmp_path)
    with pytest.raises(eqspec.SpecError, match="E201: network 'pruned' does not fit: 3 outputs against 2"):
        eqspec.load(path, networks={"pruned": network((np.ones((3, 2)), np.zeros(3)))})
    with pytest.raises(InputError, match="the spec has no network 'prunned'; did you mean 'pruned'"):
        eqspec.load(path, networks={"prunned": identity(2)})
    with pytest.raises(InputError, match="is not a model eqspec knows"):
        eqspec.load(path, networks={"pruned": 3})


def test_a_model_that_takes_raw_inputs_is_normalised_as_a_file_would_be(tmp_path: Path) -> None:
    """full(x) = ((left - 10) / 2, (right - 20) / 4) in network units; raw is given left and right themselves."""
    path = write_spec(tmp_path, "\ncheck same { prove raw stays within 0.001 of full  on near(1) }\n")
    text = path.read_text(encoding="utf-8") + '\nnetwork raw = "raw.onnx" in plane takes raw\n'
    raw = network((np.diag([0.5, 0.25]), [-5.0, -5.0]))
    assert eqspec.loads(text, directory=tmp_path, networks={"raw": raw}).check().ok


def test_a_model_of_an_included_file_is_named_as_there(tmp_path: Path) -> None:
    write_spec(tmp_path, "", name="pair.eqspec")
    text = 'eqspec 1\ninclude "pair.eqspec" as p\ncheck c { prove p.pruned stays within 0.2 of p.full  on p.near(1) }'
    assert eqspec.loads(text, directory=tmp_path).check()[0].verdict is Verdict.DIFFERENT
    assert eqspec.loads(text, directory=tmp_path, networks={"p.pruned": identity(2)}).check().ok
