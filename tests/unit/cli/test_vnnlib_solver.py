"""`eqspec-vnnlib`: the command line of the VNN-LIB 2.0 standard, chapter 5."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import onnx
import pytest

import eqspec
from eqspec.cli.vnnlib_solver import main
from eqspec.networks.operators import OPERATORS, QUANTISING
from eqspec.vnnlib.capabilities import CAPABILITIES, supported
from unit.vnnlib.pairs import pair

QUERY = """(vnnlib-version <2.0>)
(declare-network f (declare-input X float32 [1,2]) (declare-output Y float32 [1,3]))
(declare-network g (isomorphic-to f) (declare-input U float32 [1,2]) (declare-output V float32 [1,3]))
(assert (and (>= X[0,0] -1.0) (<= X[0,0] 1.0) (>= X[0,1] -1.0) (<= X[0,1] 1.0)))
(assert (and (== X[0,0] U[0,0]) (== X[0,1] U[0,1])))
(assert (> Y[0,0] (+ V[0,0] {far})))
"""
THEORIES = {
    "hidden-node-theories": {"NH", "H"},
    "multiple-input-output-theories": {"SIO", "MIO"},
    "multiple-network-theories": {"SNET", "MENET", "MINET", "MNET"},
    "multiple-node-comparison-theories": {"SNC", "MNC"},
    "arithmetic-complexity-theories": {"BND", "COUT", "LIN", "POLY"},
}


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    try:
        code = main([str(word) for word in words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pair(tmp_path, 0)
    for name, far in (("near", "-100.0"), ("far", "100.0")):
        (tmp_path / f"{name}.vnnlib").write_text(QUERY.format(far=far), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES = ["--network", "f=f.onnx", "--network", "g=g.onnx"]


def test_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "verify", "far.vnnlib", *FILES, "--timeout", 60) == (0, "unsat\n", "")
    code, out, _ = run(capsys, "verify", "near.vnnlib", *FILES)
    lines = out.splitlines()
    assert (code, lines[0]) == (0, "sat")
    heads = ["X float32 [1,2]", "Y float32 [1,3]", "U float32 [1,2]", "V float32 [1,3]"]
    assert [line for line in lines[1:] if "[" in line] == heads
    numbers = [line for line in lines[1:] if "[" not in line]
    assert len(numbers) == 10
    assert all(float(np.float32(number)) == pytest.approx(float(number), rel=1e-7) for number in numbers)
    assert run(capsys, "verify", "far.vnnlib", *FILES, "--timeout", "0")[:2] == (0, "timed-out\n")


def test_what_cannot_be_answered_is_an_error_on_the_standard_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too few networks, too many, types that do not fit, no such file."""
    (folder / "double.vnnlib").write_text(QUERY.format(far="1.0").replace("float32", "float64"), encoding="utf-8")
    for words in (
        ["far.vnnlib", *FILES[:2]],
        ["far.vnnlib", *FILES, "--network", "h=f.onnx"],
        ["double.vnnlib", *FILES],
        ["none.vnnlib", *FILES],
        ["far.vnnlib", "--network", "f=f.onnx", "--network", "g=none.onnx"],
        ["far.vnnlib", *FILES, "--timeout", "-1"],
    ):
        code, out, err = run(capsys, "verify", *words)
        assert (code, out) == (2, ""), words
        assert "error" in err


def test_name_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--name") == (0, "eqspec\n", "")
    assert run(capsys, "--version") == (0, f"{eqspec.__version__}\n", "")
    (installed,) = entry_points(group="console_scripts", name="eqspec-vnnlib") or (None,)
    assert installed is None or installed.load()


def test_capabilities(capsys: pytest.CaptureFixture[str]) -> None:
    for name in CAPABILITIES:
        code, out, _ = run(capsys, "supports", f"--{name}")
        assert code == 0
        lines = out.splitlines()
        assert lines == list(supported(name))
        if name in THEORIES:
            assert set(lines) <= THEORIES[name]
    oldest, newest = map(int, supported("onnx-opset-versions"))
    assert oldest < onnx.defs.onnx_opset_version() <= newest
    assert supported("onnx-element-types") == ["float32", "real"]
    listed = {line.split()[0]: line.split()[1:] for line in supported("onnx-operators")}
    assert set(listed) == {*OPERATORS, *QUANTISING}
    assert listed["Gemm"] == ["float32", "real"]
    assert listed["Tanh"] == listed["QuantizeLinear"] == ["real"]
    assert supported("serialise-assignments") == supported("unsat-proofs") == ["false"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verfy"], "did you mean verify?"),
        ([], "required: COMMAND"),
        (["supports"], "name a capability"),
        (["supports", "--onnx-elemnt-types"], "did you mean --onnx-element-types?"),
        (["verify", "far.vnnlib", "--netwrk", "f=f.onnx"], "did you mean --network?"),
        (["verify", "far.vnnlib", "--network", "f"], "not of the form NAME=FILE"),
    ],
)
def test_mistakes_are_told_in_a_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_it_can_be_interrupted(folder: Path) -> None:
    """Soon after it began, while the rest is imported or while it works."""
    code = """from eqspec.cli import vnnlib_solver as solver
read = solver._read
solver._read = lambda words: (print(flush=True), read(words))[1]
exit(solver.main())
"""
    words = [sys.executable, "-c", code, "verify", "far.vnnlib", *FILES]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert re.fullmatch(r"(unsat|unknown)?\n?", out)
    assert "Traceback" not in err
