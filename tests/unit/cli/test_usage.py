"""A command line that cannot be run, in one line with what may have been meant; and output that nobody reads."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from eqspec.audit.opening import limits
from eqspec.certificates import SUFFIX
from eqspec.cli import main
from eqspec.cli.commands import COMMANDS, parser
from eqspec.cli.exit import ExitCode
from eqspec.cli.options import audit, counterexamples, report
from eqspec.mining.counterexamples import SEED
from eqspec.report import formats
from small_specs import write_spec


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("command", [command for command in COMMANDS if len(command) > 3])
def test_a_misspelt_command_is_guessed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    misspelt = command + command[-1]
    assert f"there is no command '{misspelt}', did you mean {command}?" in said(capsys, misspelt)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "a", "--timout", "3"], "eqspec check: error: there is no option --timout, did you mean --timeout?"),
        (["check", "a", "--formt=json"], "there is no option --formt, did you mean --format?"),
        (
            ["verify", "a", "b", "--sgima", "3"],
            "eqspec verify: error: there is no option --sgima, did you mean --sigma?",
        ),
        (["check", "a", "--format", "humna"], "argument --format: there is no 'humna', did you mean human?"),
        (["check", "a", "--format", "xyz"], "there is no 'xyz'; choose from human, json, jsonl"),
        (["check", "a", "--timeout", "5s"], "argument --timeout: '5s' is not a number; give 5; see"),
        (["check", "a", "--threads", "1.5"], "argument --threads: '1.5' is not a whole number; see"),
        (["--verison"], "eqspec: error: there is no option --verison, did you mean --version?"),
        (["verify", "a", "b", "c"], "'c' is too much"),
        (["inspect", "a", "--zzz"], "there is no option --zzz; see 'eqspec inspect --help'"),
        (["nothing like it"], "there is no command 'nothing like it'; see 'eqspec --help'"),
        (["completion"], "the following arguments are required: shell, one of bash, zsh, fish; see"),
        (["specs/a.eqspec"], "there is no command 'specs/a.eqspec', did you mean 'eqspec check specs/a.eqspec'?"),
        (["a.ONNX", "b.onnx"], "there is no command 'a.ONNX', did you mean 'eqspec inspect a.ONNX'?"),
        (["check", "a", "--\x1b[2J"], r"there is no option --\x1b[2J"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in said(capsys, *words)


def test_without_a_command_it_is_said_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == ExitCode.BAD_INPUT
    assert "\n    check " in capsys.readouterr().err


def closed(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the standard error of a command whose output is read by nobody."""
    command = [sys.executable, "-m", "eqspec", *words]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        return process.wait(120), process.stderr.read()


@pytest.mark.parametrize("form", ["human", "json", "jsonl"])
def test_a_closed_pipe_is_no_failed_claim(form: str, tmp_path: Path) -> None:
    """Where rich prints, and where text is written as it is."""
    write_spec(tmp_path)
    code, err = closed(tmp_path, "check", "pair.eqspec", "--format", form, "--report", "page.html")
    assert code == ExitCode.NOT_READ
    assert "Traceback" not in err
    assert "rror" not in err
    assert "</html>" in (tmp_path / "page.html").read_text(encoding="utf-8"), "reports are written all the same"


def test_a_short_answer_that_is_not_read_is_no_failure_of_eqspec(tmp_path: Path) -> None:
    assert closed(tmp_path, "schema", "task") == (ExitCode.NOT_READ, "")


@pytest.mark.parametrize("width", [60, 120])
def test_help_fits_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every line but those of usage, where a list of choices may be longer than a line."""
    monkeypatch.setenv("COLUMNS", str(width))
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = capsys.readouterr().out
        usage, _, rest = text.partition("\n\n")
        assert usage.startswith("usage: ")
        assert max(map(len, rest.splitlines())) <= width, command


def test_tables_in_help_stay_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A folded line goes on below its second column."""
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    codes = capsys.readouterr().out.partition("exit codes:\n")[2].splitlines()
    assert codes[0].startswith("  0    everything as expected")
    assert codes[1].startswith(" " * 7)
    assert codes[1][7] != " "


def test_what_commands_take_is_known_without_what_runs_them() -> None:
    """In a process of its own, as this one has imported everything: help and refusals come at once."""
    code = "import sys; from eqspec.cli.commands import parser; parser(''); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not {"numpy", "onnx", "onnxruntime", "lark", "rich.console"} & set(done.stdout.split())


def test_numbers_and_words_of_the_options_are_those_of_what_runs() -> None:
    assert tuple(formats.FORMATS) == report.FORMATS
    assert counterexamples.SEED == SEED
    assert audit.SECONDS == limits.SECONDS
    (files,) = [a for a in _options("audit") if a.dest == "files"]
    assert f"*{SUFFIX} files" in str(files.help)


def _options(command: str) -> list[argparse.Action]:
    (commands,) = [a for a in parser("")._actions if isinstance(a, argparse._SubParsersAction)]
    return list(commands.choices[command]._actions)
