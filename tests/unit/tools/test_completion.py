"""`eqspec completion`: the scripts, tried in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from eqspec.cli import main
from eqspec.cli.options.completion import SHELLS

_BASH = """
source {script}
COMP_WORDS=({words} "{last}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
$(complete -p eqspec | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(shell: str, script: Path, words: str, last: str) -> set[str]:
    """What the shell proposes behind `eqspec words last`."""
    if shell == "bash":
        text = _BASH.format(script=script, words=words, last=last)
        arguments = ["bash", "--norc", "-c", text]
    else:
        arguments = ["fish", "--no-config", "-c", f"source {script}; complete -C '{words} {last}'"]
    done = subprocess.run(arguments, cwd=script.parent, capture_output=True, text=True, check=True, timeout=60)
    return {line.partition("\t")[0].rstrip("/") for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_commands_options_choices_and_files(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    for name in ("a.eqspec", "b.onnx", "c.nnet", "d.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    assert {"check", "verify", "init", "lint", "doctor"} <= completed(shell, script, "eqspec", "")
    assert completed(shell, script, "eqspec", "doc") == {"doctor"}
    assert completed(shell, script, "eqspec check", "--time") == {"--timeout"}
    assert completed(shell, script, "eqspec schema", "") == {"task", "result", "diagnostic"}
    assert completed(shell, script, "eqspec check", "") - {"folder"} == {"a.eqspec"}
    assert completed(shell, script, "eqspec verify", "") - {"folder"} == {"b.onnx", "c.nnet"}
    assert completed(shell, script, "eqspec replay", "") >= {"a.eqspec", "d.txt"}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_it(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert all(command in text for command in ("verify", "doctor", "completion"))
    if shutil.which(shell) is None:
        return
    script = tmp_path / "script"
    script.write_text(text)
    subprocess.run([shell, "-n", str(script)], check=True, timeout=60)
