"""The import contracts of pyproject.toml hold, and each of them fails when it is broken.

The package is copied, one offending import is added to the copy, and `lint-imports` runs on that. That only
`eqspec.run` touches the compiled core is checked here, because import-linter sees no compiled modules.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = "Imports point one way"
INDEPENDENCE = "Text, networks and linear programs do not know each other"

OFFENCES = [
    pytest.param("span.py", "import eqspec.errors", LAYERS, id="the bottom layer looks up"),
    pytest.param("networks/network.py", "import eqspec.tasks", LAYERS, id="networks know tasks"),
    pytest.param("tasks/task.py", "import eqspec.compile", LAYERS, id="tasks know where they come from"),
    pytest.param("tasks/result.py", "import eqspec.replay", LAYERS, id="tasks know who replays them"),
    pytest.param("replay/replay.py", "import eqspec.run", LAYERS, id="the replay knows who runs tasks"),
    pytest.param("compile/__init__.py", "import eqspec.report", LAYERS, id="compile prints"),
    pytest.param("api/__init__.py", "import eqspec.cli", LAYERS, id="the library knows the command"),
    pytest.param("spec/__init__.py", "import eqspec.networks", INDEPENDENCE, id="text knows networks"),
    pytest.param("networks/__init__.py", "import eqspec.lp", INDEPENDENCE, id="networks solve programs"),
]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """`lint-imports` on the package below `folder`, which shadows the installed one."""
    program = Path(sys.executable).parent / "lint-imports"
    return subprocess.run(
        [str(program), "--no-cache", "--config", str(folder / "pyproject.toml")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "python"), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    """The package and its contracts; the Python files only."""
    shutil.copy(root / "pyproject.toml", tmp_path)
    leave = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.lark")
    shutil.copytree(root / "python" / "eqspec", tmp_path / "python" / "eqspec", ignore=leave)
    return tmp_path


def test_the_contracts_hold(copied: Path) -> None:
    result = lint(copied)
    assert result.returncode == 0, result.stdout + result.stderr
    for name in (LAYERS, INDEPENDENCE):
        assert f"{name} KEPT" in result.stdout


@pytest.mark.parametrize(("file", "statement", "contract"), OFFENCES)
def test_a_breach_fails(copied: Path, file: str, statement: str, contract: str) -> None:
    path = copied / "python" / "eqspec" / file
    assert path.is_file()
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{statement}\n", encoding="utf-8")
    result = lint(copied)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{contract} BROKEN" in result.stdout


def touches_the_core(code: str) -> bool:
    """Whether a module imports `eqspec._core`, in any spelling, anywhere in it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{alias.name}" for alias in node.names]
        else:
            continue
        if any("_core" in name.split(".") for name in names):
            return True
    return False


def test_only_the_runner_touches_the_core(root: Path) -> None:
    package = root / "python" / "eqspec"
    touching = {
        str(path.relative_to(package)) for path in package.rglob("*.py") if touches_the_core(path.read_text("utf-8"))
    }
    assert any(name.startswith("run/") for name in touching)
    assert {name for name in touching if not name.startswith("run/")} <= {
        "__init__.py"
    }  # which takes the version from it


@pytest.mark.parametrize(
    "code",
    [
        "import eqspec._core",
        "from eqspec import _core",
        "from eqspec._core import solve",
        "def f():\n    from .. import _core",
    ],
)
def test_every_spelling_of_the_core_is_seen(code: str) -> None:
    assert touches_the_core(code)
    assert not touches_the_core(code.replace("_core", "run"))
