"""What the documents show is true: commands are the ones that run in `.ci/run`, examples run, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "specs/README.md", "tests/README.md")


def blocks(document: Path, language: str) -> list[str]:
    """The fenced code blocks of one language."""
    text = document.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_the_gate_runs_the_commands_as_printed(root: Path) -> None:
    commands = [line for block in blocks(root / "README.md", "sh") for line in block.splitlines()]
    assert len(commands) == 2
    assert "eqspec check specs/lhc.eqspec" in commands[0]
    assert commands[1].endswith(".venv/bin/pytest")
    gate = re.findall(r'^run "(.*)"$', (root / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [command for command in commands if command not in gate] == []


def test_the_spec_shown_is_the_spec_that_runs(root: Path) -> None:
    shown = blocks(root / "README.md", "eqspec")
    assert shown
    text = (root / "specs" / "lhc.eqspec").read_text(encoding="utf-8")
    for block in shown:
        assert block in text


def test_the_python_shown_prints_what_it_says(root: Path) -> None:
    shown = blocks(root / "README.md", "python")
    assert shown
    for code in shown:
        promised = re.findall(r"^\s*print\(.*\)  # (.+)$", code, flags=re.MULTILINE)
        assert promised
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == promised


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(root: Path, name: str) -> None:
    document = root / name
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{name} links to {target}"
