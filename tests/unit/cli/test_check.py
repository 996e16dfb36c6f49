"""`eqspec check` from argument to exit code, on small specs and with the core."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import eqspec
from eqspec.cli import ExitCode, main
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.result_schema import result_schema
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_specs import CHECKS, write_spec

SCHEMA = Draft202012Validator(result_schema())

HOLDS = "check good { prove pruned stays within 0.3 of full  on near(1) }\n"
BREAKS = "check bad { prove pruned stays within 0.2 of full  on near(1) }\n"
EXPECTED = "check bad { prove pruned stays within 0.2 of full  on near(1)  expect different }\n"
VACUOUS = "check far { prove pruned keeps top1 of full when margin >= 9  on near(1) }\n"
EXPECTED_VACUOUS = VACUOUS.replace("}", "expect vacuous }")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    code, out, _ = run(capsys, *arguments, "--format", "json")
    objects = json.loads(out)
    for item in objects:
        SCHEMA.validate(item)
    return code, objects


@pytest.mark.parametrize(
    ("checks", "code"),
    [
        (CHECKS, 0),
        (HOLDS, 0),
        (EXPECTED, 0),
        (EXPECTED_VACUOUS, 0),
        (BREAKS, 1),
        (HOLDS + BREAKS, 1),
        (VACUOUS, 1),
        (HOLDS.replace("}", "expect different }"), 1),
        (EXPECTED.replace("different", "equivalent"), 1),
        (HOLDS.replace("full  on", "fulll  on"), 2),
        ("", 2),
    ],
)
def test_exit_codes_of_decided_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], checks: str, code: int
) -> None:
    assert run(capsys, "check", write_spec(tmp_path, checks))[0] == code


def test_the_table_has_verdict_time_boxes_and_the_input_in_raw_units(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "check", write_spec(tmp_path))
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[:4]}
    assert rows["task"] == ["verdict", "time", "boxes"]
    assert rows["close[eps=0.3]"][0] == "equivalent"
    assert rows["close[eps=0.3]"][2:] == ["s", "1", "as", "expected"]
    assert rows["same"][0] == "equivalent"
    assert "pruned and full differ by 0.25 in b, more than 0.2" in out
    witness = next(line for line in out.splitlines() if line.strip().startswith("at left"))
    left, right = (part.split(" = ")[1] for part in witness.strip().split(", "))
    assert left.endswith(" m")
    assert 8 <= float(left.removesuffix(" m")) <= 12  # 10 +- 2
    assert 16 <= float(right) <= 24  # 20 +- 4
    assert "onnxruntime agrees" in out
    assert "3 tasks in" in out
    assert "2 equivalent, 1 different. All as expected" in out


def test_json_has_an_object_per_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, objects = run_json(capsys, "check", write_spec(tmp_path))
    assert code == 0
    assert [o["id"] for o in objects] == ["close[eps=0.2]", "close[eps=0.3]", "same"]
    assert [o["verdict"] for o in objects] == ["different", "equivalent", "equivalent"]
    assert [o["expected"] for o in objects] == ["different", "equivalent", None]
    assert objects[0]["parameters"] == {"eps": 0.2}
    assert objects[0]["parameters_exact"] == {"eps": "1/5"}
    assert objects[0]["initial_bound"] == pytest.approx(0.25)
    witness = objects[0]["witness"]
    assert set(witness["raw"]) == {"left", "right"}
    assert witness["candidate"]["b"] - witness["reference"]["b"] == pytest.approx(0.25)
    assert witness["onnxruntime_confirms"] is True
    assert objects[1]["certified_fraction"] == 1.0


def test_what_is_selected_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_spec(tmp_path)

    def ids(*arguments: str) -> list[str]:
        return [o["id"] for o in run_json(capsys, "check", path, *arguments)[1]]

    assert ids("--select", "close[eps=0.3]") == ["close[eps=0.3]"]
    assert ids("--select", "close") == ["close[eps=0.2]", "close[eps=0.3]"]
    assert ids("--select", "*0.2]", "--select", "sam?") == ["close[eps=0.2]", "same"]
    assert ids("-c", "same") == ["same"]
    assert ids("-t", "quick") == ["close[eps=0.2]", "close[eps=0.3]"]
    assert ids("-t", "quick", "--select", "*0.3]") == ["close[eps=0.3]"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "close[eps=0.4]"], "did you mean 'close[eps=0.3]'?"),
        (["--select", "zzz"], "tasks: close[eps=0.2], close[eps=0.3], same"),
        (["-t", "nightly"], "no tag matches 'nightly'; tags: quick"),
        (["-c", "sane"], "did you mean 'same'?"),
        (["-p", "x=1"], "no param named 'x'"),
        (["--timeout", "-1"], "give seconds, 0 or more"),
        (["--threads", "0"], "--threads 0; give a number from 1 to 1024"),
        (["--since", "nowhere"], "--since nowhere: there is no such folder; name"),
        (["--since", __file__], "is not a folder; name the cache of an earlier run"),
        (["--jobs", "0"], "give 1 or more"),
        (["-o", "no/such/folder/r.json"], "cannot write to no/such/folder/r.json"),
    ],
)
def test_arguments_that_make_no_sense(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, "check", write_spec(tmp_path), *arguments)
    assert code == 2
    assert message in " ".join(err.split())
    assert out == ""


@pytest.mark.parametrize(
    "arguments", [["compile"], ["chekc", "a"], ["check", "a", "--domain", "x"], ["check", "a", "-p", "x"]]
)
def test_usage_errors_are_explained(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("eqspec")
    assert "error: " in said
    assert said.count("\n") == 1


def test_help_explains_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["check", "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    for code in ExitCode:
        assert f"\n  {code.value:<4} " in shown


def test_a_param_is_given_from_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_spec(tmp_path, "param e = 0.3\ncheck c { prove pruned stays within e of full  on near(1) }\n")
    assert run(capsys, "check", path)[0] == 0
    assert run(capsys, "check", path, "-p", "e=1/5")[0] == 1


def test_a_bad_spec_is_shown_and_the_others_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one").mkdir()
    good = write_spec(tmp_path / "one", BREAKS)
    bad = write_spec(tmp_path, HOLDS.replace("pruned", "prunned"), "bad.eqspec")
    reports = [tmp_path / name for name in ("r.html", "r.xml")]
    asked = [part for path in reports for part in ("--report", path)]
    code, out, err = run(capsys, "check", bad, tmp_path / "gone.eqspec", good, *asked)
    assert code == 2
    assert "FAILED: 2 specs cannot be used. Of the rest" in reports[0].read_text()
    assert 'errors="2"' in reports[1].read_text()
    assert "2 specs cannot be used" in out
    assert "did you mean 'pruned'" in err
    assert "no such file" in err  # its name may be cut off, where folders have long names
    assert "bad " in out
    assert "1 different" in out


def test_several_specs_keep_their_order_and_share_patterns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = write_spec(tmp_path, HOLDS, "a.eqspec"), write_spec(tmp_path, EXPECTED, "b.eqspec")
    code, objects = run_json(capsys, "check", first, second)
    assert (code, [o["id"] for o in objects]) == (0, ["good", "bad"])
    assert [Path(o["source"].rsplit(":", 2)[0]).name for o in objects] == ["a.eqspec", "b.eqspec"]
    assert [o["id"] for o in run_json(capsys, "check", first, second, "-c", "bad")[1]] == ["bad"]
    code, out, _ = run(capsys, "check", first, second)
    assert out.index("a.eqspec") < out.index("good") < out.index("b.eqspec") < out.index("2 tasks in")


def test_results_and_witnesses_are_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, folder = tmp_path / "r.json", tmp_path / "deep" / "witnesses"
    path = write_spec(tmp_path)
    code, out, err = run(capsys, "check", path, "--format", "json", "-o", target, "--save-witness", folder)
    assert code == 0
    assert "saved 1 in" in err
    assert "close[eps=0.3]" in out  # the table, not the JSON
    assert [o["id"] for o in json.loads(target.read_text())] == ["close[eps=0.2]", "close[eps=0.3]", "same"]
    assert sorted(p.name for p in folder.iterdir()) == ["close_eps=0.2.json", "close_eps=0.2.npy"]
    saved = json.loads((folder / "close_eps=0.2.json").read_text())
    assert saved["id"] == "close[eps=0.2]"
    assert np.load(folder / "close_eps=0.2.npy").tolist() == saved["witness"]["normalised"]
    table = tmp_path / "r.txt"
    run(capsys, "check", path, "-o", table)
    assert "close[eps=0.3]" in table.read_text()
    assert "\x1b" not in table.read_text()


def test_specs_called_alike_do_not_write_over_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two folders with a spec of one name, and in it a check of one name: every verdict keeps what was made for it."""
    folders = [tmp_path / name for name in ("a", "b")]
    for folder, epsilon in zip(folders, ("0.15", "0.2"), strict=True):
        folder.mkdir()
        write_spec(folder, EXPECTED.replace("0.2", epsilon), "spec.eqspec")
    saved, proofs = tmp_path / "saved", tmp_path / "proofs"
    code, found = run_json(capsys, "check", *folders, "--save-witness", saved, "--certify", proofs)
    assert code == 0
    assert [o["claim"] for o in found] == [json.loads(p.read_text())["claim"] for p in sorted(saved.glob("*/*.json"))]
    assert len({o["certificate"] for o in found}) == 2
    for folder, result in zip(folders, found, strict=True):
        assert run(capsys, "audit", result["certificate"], "--spec", folder / "spec.eqspec")[0] == 0


def test_a_missing_certificate_is_missed_whatever_other_specs_call_their_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (write_spec(tmp_path, HOLDS, name) for name in ("a.eqspec", "b.eqspec"))
    proofs = tmp_path / "proofs"
    proofs.mkdir()
    monkeypatch.setattr("eqspec.certificates.writer.token_hex", lambda _: "token")
    (proofs / "good.eqcert.token.part").mkdir()  # the first cannot be written
    code, _, err = run(capsys, "check", first, second, "--certify", proofs)
    assert code == ExitCode.NOT_CERTIFIED
    assert f"no certificate of {first}: good: " in err


@pytest.mark.parametrize("form", [[], ["--format", "json"]])
def test_results_are_not_written_over_what_they_are_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    path = write_spec(tmp_path)
    before = path.read_text()
    code, _, err = run(capsys, "check", path, "-o", path, *form)
    assert (code, path.read_text()) == (2, before)
    assert f"not written over {path}" in err


def test_the_ending_says_the_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table in results.json would be read by nothing; the form that is asked for counts all the same."""
    path = write_spec(tmp_path)
    for name, words in (("r.json", []), ("r.jsonl", []), ("table.json", ["--format", "human"])):
        assert run(capsys, "check", path, "-o", tmp_path / name, *words)[0] == 0
    assert len(json.loads((tmp_path / "r.json").read_text())) == 3
    assert [json.loads(line)["check"] for line in (tmp_path / "r.jsonl").read_text().splitlines()][-1] == "same"
    assert "close[eps=0.3]" in (tmp_path / "table.json").read_text()
    for name in ("r.html", "r.xml", "r.SARIF"):
        code, _, err = run(capsys, "check", path, "-o", tmp_path / name)
        assert code == 2
        assert f"--report {tmp_path / name}" in err
        assert not (tmp_path / name).exists()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Task], Result]], None]:
    """Puts something else in the place of the core."""

    def replace(answer: Callable[[Task], Result]) -> None:
        monkeypatch.setattr(Runner, "begin", lambda self, task, monitor=None, **rest: answer(task))

    return replace


def unknown(reason: Reason) -> Callable[[Task], Result]:
    return lambda task: Result(task.id, task.check, {}, Verdict.UNKNOWN, reason, expected=task.expected)


def test_undecided_is_its_own_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: Callable[[Callable[[Task], Result]], None]
) -> None:
    answers(unknown(Reason.TIMEOUT))
    code, out, _ = run(capsys, "check", write_spec(tmp_path))
    assert code == 3
    assert "timeout, 0 % proved, expected different" in out
    assert "3 undecided" in out


def test_a_wrong_verdict_counts_more_than_an_undecided_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: Callable[[Callable[[Task], Result]], None]
) -> None:
    def answer(task: Task) -> Result:
        if task.check == "same":
            return unknown(Reason.MEMORY)(task)
        return Result(task.id, task.check, {}, Verdict.EQUIVALENT, expected=task.expected)

    answers(answer)
    code, out, _ = run(capsys, "check", write_spec(tmp_path))
    assert code == 1
    assert "1 not as expected. 1 undecided" in out
    assert "expected different" in out


@pytest.mark.parametrize(("debug", "shown"), [([], False), (["--debug"], True)])
def test_a_defect_says_so_and_loses_nothing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    answers: Callable[[Callable[[Task], Result]], None],
    debug: list[str],
    shown: bool,
) -> None:
    def answer(task: Task) -> Result:
        if task.id == "close[eps=0.2]":
            raise RuntimeError("the wheel came off")
        return unknown(Reason.TIMEOUT)(task)

    answers(answer)
    code, out, err = run(capsys, "check", write_spec(tmp_path), *debug)
    assert code == 4
    assert "failed: RuntimeError: the wheel came off" in " ".join(out.split())
    assert "same" in out
    assert "eqspec failed at close[eps=0.2]" in err
    assert "defect of eqspec" in err
    assert ("Traceback" in err) == shown


def test_an_input_error_in_a_task_is_no_defect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: Callable[[Callable[[Task], Result]], None]
) -> None:
    def answer(task: Task) -> Result:
        raise eqspec.InputError("round them")

    answers(answer)
    code, _, err = run(capsys, "check", write_spec(tmp_path))
    assert code == 2
    assert "defect" not in err


def test_ctrl_c_prints_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: Callable[[Callable[[Task], Result]], None]
) -> None:
    def answer(task: Task) -> Result:
        reason = Reason.INTERRUPTED if task.id == "close[eps=0.3]" else Reason.TIMEOUT
        return unknown(reason)(task)

    answers(answer)
    target = tmp_path / "r.json"
    page = tmp_path / "r.html"
    code, out, _ = run(capsys, "check", write_spec(tmp_path), "--format", "json", "-o", target, "--report", page)
    assert code == 130
    assert "INTERRUPTED: 1 task not run. Of the rest 2 of 2" in page.read_text()
    assert "close[eps=0.3]" in out
    assert "Interrupted, 1 task not run" in out
    assert [o["reason"] for o in json.loads(target.read_text())] == ["timeout", "interrupted"]


def test_ctrl_c_while_loading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eqspec.cli.spec_runs.load", load)
    code, _, err = run(capsys, "check", write_spec(tmp_path))
    assert code == 130
    assert "Interrupted" in err


def test_a_search_is_a_row_with_its_bracket(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "check best { prove pruned stays within e of full  on near(1)  find smallest e in 0.01 .. 1 to 0.01 }\n"
    path = write_spec(tmp_path, text)
    code, out, _ = run(capsys, "check", path)
    assert code == 0
    row = next(line for line in out.splitlines() if line.startswith("best"))
    assert "equivalent" in row
    assert "holds at e = 0.2" in row
    (answer,) = run_json(capsys, "check", path)[1]
    found = answer["find"]
    assert found["refuted"] < 0.25 <= found["proved"] <= found["refuted"] + 0.01
    assert found["gap"] == "closed"


def test_the_module_and_the_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "eqspec", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"eqspec {eqspec.__version__}\n")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", b"a,b\n1,2\n", "name a spec; if this is one, add 'eqspec 1' as line 1"),
        ("plain.eqspec", b"space s { }\n", "= help: add 'eqspec 1' as line 1"),
        ("net.onnx", b"\x08\x08\xff\xfe\x00", "it is a network: 'eqspec inspect net.onnx' shows it"),
        ("wide.eqspec", "eqspec 1".encode("utf-16"), "it is UTF-16"),
        ("rows.xlsx", b"PK\x03\x04\xff\xfe", "it holds no text"),
    ],
)
def test_another_file_in_place_of_a_spec(
    name: str, content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["check", str(tmp_path / name)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
