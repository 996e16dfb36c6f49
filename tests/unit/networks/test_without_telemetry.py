"""onnxruntime is imported so that it collects nothing, and the environment is as before."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SWITCH = "ORT_DISABLE_TELEMETRY"
_ASKED = f"""
import os, eqspec.networks.without_telemetry as quiet
print(quiet.onnxruntime.seen, os.environ.get("{SWITCH}"))
"""


@pytest.mark.parametrize(("before", "seen"), [(None, "1 None"), ("0", "0 0"), ("1", "1 1")])
def test_the_import_alone_sees_the_switch(tmp_path: Path, before: str | None, seen: str) -> None:
    """With a module in its place that says what it finds when it is imported; what the user has set stays."""
    (tmp_path / "onnxruntime.py").write_text(f"import os\nseen = os.environ.get('{SWITCH}')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop(SWITCH, None)
    if before is not None:
        environment[SWITCH] = before
    said = subprocess.run(
        [sys.executable, "-c", _ASKED], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert said.stdout.strip() == seen


def test_a_session_leaves_nothing_among_the_caches_of_the_user(tmp_path: Path, root: Path) -> None:
    model = str(root / "specs" / "tiny" / "base.onnx")
    code = (
        "from eqspec.networks import read_network; from eqspec.networks.session import Session; "
        f"Session(read_network({model!r}))"
    )
    environment = {**os.environ, "HOME": str(tmp_path)}
    for name in (SWITCH, "XDG_CACHE_HOME"):
        environment.pop(name, None)
    subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60, check=True)
    assert not list(tmp_path.rglob("*"))


def test_no_other_module_imports_onnxruntime(root: Path) -> None:
    package = root / "python" / "eqspec"
    importing = set[str]()
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "onnxruntime" in text else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            if any(name.split(".")[0] == "onnxruntime" for name in names):
                importing.add(path.relative_to(package).as_posix())
    assert importing == {"networks/without_telemetry.py"}
