"""Signals that come while a command is still being imported, at every stage of that, or at its very end.

`-X importtime` makes the interpreter write a line for each module that was imported, so a signal is sent at a stage and
not at a time. What the interpreter does before it comes to eqspec is not ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eqspec.cli import main
from eqspec.cli.commands import COMMANDS
from small_specs import write_spec

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
STAGES = (1, 10, 30, 80, 160, 280, 400)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
ARGUMENTS = {
    "check": ["pair.eqspec"],
    "verify": ["full.onnx", "pruned.onnx", "--eps", "0.5"],
    "diff": ["full.onnx", "pruned.onnx"],
    "init": ["full.onnx", "pruned.onnx"],
    "lint": ["pair.eqspec"],
    "explain": ["E133"],
    "fmt": ["pair.eqspec"],
    "inspect": ["full.onnx"],
    "compile": ["pair.eqspec"],
    "replay": ["none.json"],
    "counterexamples": ["pair.eqspec"],
    "audit": ["none"],
    "report": ["none.json"],
    "schema": ["task"],
    "import": ["q.vnnlib"],
    "export": ["pair.eqspec", "--to", "vnnlib", "-o", "out"],
    "verify-vnnlib": ["q.vnnlib"],
    "doctor": [],
    "lsp": ["--no-cache"],
    "completion": ["bash"],
    "cache": ["info"],
}


def interrupted(folder: Path, command: str, stage: int, number: signal.Signals) -> tuple[int, str, bool]:
    """The exit code, what was said beside the list of imports, and whether the stage was reached."""
    words = [sys.executable, "-X", "importtime", "-m", "eqspec", command, *ARGUMENTS[command]]
    begun, seen, said, reached = False, 0, list[str](), False
    with (
        (folder / "out.txt").open("w", encoding="utf-8") as out,
        subprocess.Popen(words, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True) as process,
    ):
        assert process.stderr is not None
        for line in process.stderr:
            if not line.startswith("import time:"):
                said.append(line)
                continue
            begun = begun or line.rstrip().endswith(" argparse")  # the first thing that the command imports
            seen += begun
            if seen == stage and not reached:
                process.send_signal(number)
                reached = True
        return process.wait(60), "".join(said), reached


def test_every_command_is_here() -> None:
    assert list(ARGUMENTS) == list(COMMANDS)


@pytest.mark.part(10)
@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_signal_at_the_start_ends_without_a_traceback(command: str, tmp_path: Path) -> None:
    """Each command takes another stage and the other signal, so that together they take many."""
    write_spec(tmp_path)
    place = [*reversed(ARGUMENTS)].index(command)  # the last ones import the least
    number = list(CODES)[place % 2]
    code, said, reached = interrupted(tmp_path, command, 2 + 8 * place, number)
    assert "Traceback" not in said
    assert "Error" not in said
    assert reached
    assert code == CODES[number]


@pytest.mark.parametrize("number", CODES)
def test_every_stage_of_one_command(number: signal.Signals, tmp_path: Path) -> None:
    reached = 0
    for stage in STAGES:
        code, said, sent = interrupted(tmp_path, "schema", stage, number)
        assert "Traceback" not in said
        if sent:
            assert (code, said.strip()) in ((CODES[number], ""), (CODES[number], "Interrupted."))
        reached += sent
    assert reached >= 5


@pytest.mark.parametrize("number", CODES)
def test_a_library_that_is_interrupted_while_it_is_imported_is_no_defect(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """C code that imports a module forgets why that failed, and names the module."""

    def run(*_: object) -> int:
        try:
            os.kill(os.getpid(), number)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
        raise ImportError("PyCapsule_Import could not import module datetime")

    monkeypatch.setattr("eqspec.cli.tools.explain.run", run)
    assert main(["explain", "E133"]) == CODES[number]
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_module_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*_: object) -> int:
        raise ImportError("no module named so")

    monkeypatch.setattr("eqspec.cli.tools.explain.run", run)
    assert main(["explain", "E133"]) not in CODES.values()
    assert "no module named so" in capsys.readouterr().err


def test_signals_at_the_end_leave_a_code_of_ours() -> None:
    """While the interpreter is taken down too."""
    for turn in range(3):
        words = [sys.executable, "-m", "eqspec", "schema", "task"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.read(1)
            while process.poll() is None:
                process.send_signal(list(CODES)[turn % 2])
                time.sleep(0.01)
            assert process.returncode in (0, *CODES.values())
            assert process.stderr is not None
            assert process.stderr.read() in ("", "Interrupted.\n")


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    words = f"trap '' INT; exec {sys.executable} -X importtime -m eqspec schema task"
    with subprocess.Popen(["sh", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for number, _ in enumerate(process.stderr):
            if number in (150, 400, 700):
                process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.read().startswith("{")
        assert process.wait(60) == 0
