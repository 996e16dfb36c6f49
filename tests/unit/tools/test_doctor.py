"""`eqspec doctor`: well where all is well, and what is broken is named with a way to mend it."""

from __future__ import annotations

import ctypes
import json
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from eqspec import doctor as examination
from eqspec.cli import main
from eqspec.lp import HighsSolver
from eqspec.replay.onnx_runtime import CannotRunError, RuntimeReplay
from eqspec.run.runner import Runner

_UPWARD, _NEAREST = 0x800, 0


def doctor(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, dict[str, str]]]:
    code = main(["doctor", "--format", "json"])
    return code, {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)}


def test_all_is_well_here(capsys: pytest.CaptureFixture[str]) -> None:
    code, findings = doctor(capsys)
    assert code == 0, findings
    assert findings.keys() >= {
        "eqspec", "python", "packages", "prover", "HiGHS", "onnxruntime", "floating point", "processor", "threads",
        "cache", "terminal",
    }  # fmt: skip
    assert {finding["state"] for finding in findings.values()} <= {"ok", "note"}
    assert main(["doctor"]) == 0
    assert "All that is needed works" in capsys.readouterr().out


def fail(*_: Any, **__: Any) -> Any:
    raise CannotRunError("no such library\nand more")


@pytest.mark.parametrize(
    ("owner", "method", "name"),
    [(RuntimeReplay, "outputs", "onnxruntime"), (HighsSolver, "answer", "HiGHS"), (Runner, "run", "prover")],
)
def test_what_fails_is_named_and_the_rest_is_looked_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, owner: type, method: str, name: str
) -> None:
    monkeypatch.setattr(owner, method, fail)
    code, findings = doctor(capsys)
    assert code == 1
    assert [f["name"] for f in findings.values() if f["state"] == "problem"] == [name]
    assert "no such library" in findings[name]["value"]
    assert "and more" not in findings[name]["value"]
    assert findings[name]["advice"]


def test_a_wrong_answer_is_a_problem(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    right = HighsSolver.answer

    def wrong(self: HighsSolver, programs: Any) -> Any:
        ((duals, points, ray),) = right(self, programs)
        return [(duals / 2, points, ray)]

    monkeypatch.setattr(HighsSolver, "answer", wrong)
    monkeypatch.setattr(examination, "_CHECKS", [check for check in examination._CHECKS if check[0] == "HiGHS"])
    code, findings = doctor(capsys)
    assert (code, findings["HiGHS"]["state"]) == (1, "problem")


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="the number of a rounding mode is the processor's"
)
def test_another_rounding_mode_is_noticed() -> None:
    mode = ctypes.CDLL("libm.so.6")
    assert mode.fesetround(_UPWARD) == 0
    try:
        (finding,) = examination._floating_point()
    finally:
        mode.fesetround(_NEAREST)
    assert (finding.state, finding.value) == ("problem", "does not round to nearest")
    (finding,) = examination._floating_point()
    assert finding.state == "ok"


def test_the_cache_is_written_to_and_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQSPEC_CACHE", str(tmp_path / "kept"))
    (finding,) = examination._cache()
    assert (finding.state, finding.value) == ("ok", f"{tmp_path / 'kept'}: 0 results and 0 stopped searches")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    monkeypatch.setenv("EQSPEC_CACHE", "off")
    (finding,) = examination._cache()
    assert (finding.state, finding.value) == ("ok", "EQSPEC_CACHE is off: no result is kept")


def test_a_cache_that_cannot_be_written_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setenv("EQSPEC_CACHE", str(file))
    (finding,) = examination._cache()
    assert finding.state == "note"
    assert f"cannot keep results in {file}" in finding.value
    assert "--cache" in finding.advice


def test_missing_extras_are_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    requires = [
        "numpy>=1.26",
        "torch>=2 ; extra == 'torch'",
        'pandas ; extra == "frames"',
        "surely-not-there; extra == 'x'",
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: requires)
    monkeypatch.setattr(examination, "_installed", lambda name: name != "surely-not-there")
    (finding,) = examination._extras()
    assert (finding.name, finding.state) == ("extra x", "note")
    assert "pip install 'eqspec[x]'" in finding.advice
