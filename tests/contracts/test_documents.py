"""Every document of the site does what it says, from top to bottom, as for a reader in an empty folder."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from contracts.documents import Block, Files, Walk, not_run, parts, steps
from forked import Forking

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {"language.md", "soundness.md"}
"""Documents whose examples have tests of their own."""
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if page.name not in ELSEWHERE)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all pages keep their results."""
    return tmp_path_factory.mktemp("kept")


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES if any(parts(page))])
def test_every_block_does_what_the_page_says(
    page: str, tmp_path: Path, root: Path, forking: Forking, kept: Path
) -> None:
    walk = Walk(tmp_path, root, forking, kept)
    for step in steps(root / page):
        walk.do(step)


def test_the_tutorial_ends_with_green_tests_and_a_report(tmp_path: Path, root: Path) -> None:
    """What it is for: the last run of pytest passes, and the page is there; both were asserted block by block above."""
    shells = [p for p in parts(root / "docs" / "tutorial.md") if isinstance(p, Block) and p.language == "sh"]
    greens = [block for block in shells if block.text.rstrip().endswith("pytest -q")]
    assert greens[-1].exit_code == 0
    assert any("eqspec report results.json -o report.html" in block.text for block in shells)


def test_the_workflow_shown_is_the_one_to_copy(root: Path) -> None:
    shown = [p.text for p in parts(root / "docs/howto/ci.md") if isinstance(p, Block) and p.language == "yaml"]
    assert shown == [(root / "docs/workflows/equivalence.yml").read_text(encoding="utf-8")]


def test_what_is_installed_exists(root: Path) -> None:
    """The lines that are not run name packages that the project has or tests with, and extras that it has."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    known = {re.split(r"[<>=]", line)[0] for lines in extras.values() for line in lines} | {
        project["name"],
        "./eqspec",
        "./.eqspec",
    }
    for page in PAGES:
        for line in not_run(page):
            if not line.startswith("pip install"):
                assert re.fullmatch(r"python3? -m venv \.venv|\. \.venv/bin/activate", line), line
                continue
            for word in line.removeprefix("pip install ").replace("'", "").split():
                name, _, extra = word.partition("[")
                assert name in known, f"{page.name}: {line}"
                assert not extra or set(extra.rstrip("]").split(",")) <= extras.keys(), f"{page.name}: {line}"


def test_a_page_that_lies_is_caught(tmp_path: Path, root: Path, forking: Forking, kept: Path) -> None:
    """The walk itself: each kind of block fails when it is not true."""
    (tmp_path / "page.md").write_text(
        "```sh\ntrue\n```\n```text\n$ echo 3 green\n4 green\n```\n```python\nprint(1)  # 1\n```\n"
        "<!-- files: specs/tiny -->\n"
    )
    walk = Walk(tmp_path, root, forking, kept)
    for part in parts(tmp_path / "page.md"):
        walk.do(part)
    assert walk.ran == 3
    assert (tmp_path / "tiny" / "base.onnx").exists()
    for lie in (
        Block("sh", "", "false\n"),
        Block("sh", " exit=1", "true\n"),
        Block("sh", "", "eqspec check nowhere.eqspec\n"),
        Block("sh", " exit=2", "eqspec --version\n"),
        Block("text", "", "$ eqspec --version\nanother\n"),
        Block("sh", "", "pytest -q nowhere.eqspec\n"),
        Block("text", "", "$ echo 3 green\n3 red\n"),
        Block("text", "", "$ echo a b c\na ... d\n"),
        Block("text", "", "$ echo a b c\nb ...\n"),
        Block("python", "", "print(1)  # 2\n"),
        Block("python", "", "1 / 0\n"),
        Block("eqspec", "", "let  a = 1\n"),
        Block("eqspec", ' title="x.eqspec"', "eqspec 1\nlet  a = 1\n"),
        Block("python", ' title="x.py"', "def\n"),
        Block("cobol", "", "STOP RUN.\n"),
    ):
        with pytest.raises((AssertionError, SyntaxError)):
            walk.do(lie)
    with pytest.raises(FileNotFoundError):
        walk.do(Files(("specs/nothing",)))
    walk.do(Block("text", "", "$ echo a 1 b 2 c\na ... b ... c\n"))
    walk.do(Block("sh", " exit=2", "eqspec check nowhere.eqspec\n"))
