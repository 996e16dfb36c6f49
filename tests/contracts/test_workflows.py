"""What other programs read of us: the entry point of the plugin, hooks for pre-commit, workflows for GitHub."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.documents import environment
from forked import Forking


def test_the_plugin_is_announced(root: Path) -> None:
    """That pytest finds it in the installed package is tried by `.ci/try-package`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (name,) = project["entry-points"]["pytest11"].values()
    module = importlib.import_module(name)
    assert callable(module.pytest_collect_file)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("hook", ["eqspec-fmt", "eqspec-lint"])
def test_a_hook_runs_on_the_files_it_is_for(root: Path, tmp_path: Path, forking: Forking, hook: str) -> None:
    """pre-commit calls the entry with the names of changed files that match."""
    (found,) = (entry for entry in load(root / ".pre-commit-hooks.yaml") if entry["id"] == hook)
    assert re.search(found["files"], "models/tiny.eqspec")
    assert not re.search(found["files"], "models/tiny.eqspec.bak")
    shutil.copytree(root / "specs" / "tiny", tmp_path / "tiny")
    spec = tmp_path / "tiny" / "tiny.eqspec"
    command = [*found["entry"].split(), "tiny/tiny.eqspec"]

    def run() -> int:
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment(tmp_path, forking, tmp_path / ".kept"),
            capture_output=True,
            check=False,
        )
        return done.returncode

    assert run() == 0
    formatted = spec.read_text(encoding="utf-8")
    spec.write_text(formatted.replace("on square", "on  sqare", 1), encoding="utf-8")
    assert (run() == 0) == (hook == "eqspec-fmt")  # a name that is not there is no matter of style
    assert ("on  sqare" in spec.read_text(encoding="utf-8")) == (hook == "eqspec-lint")
    spec.write_text("check {", encoding="utf-8")
    assert run() == 2


def test_the_workflow_for_users_runs(root: Path, tmp_path: Path, forking: Forking) -> None:
    """Every command but the installation, where models/ has specs; what it uploads is there."""
    (job,) = load(root / "docs" / "workflows" / "equivalence.yml")["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[0] == "pip install ./.eqspec pytest"
    shutil.copytree(root / "specs" / "tiny", tmp_path / "models")
    for command in commands[1:]:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment(tmp_path, forking, tmp_path / ".kept") | {"GITHUB_ACTIONS": "true"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    (uploaded,) = (step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", ""))
    assert {path.name for path in tmp_path.glob(uploaded)} == {"equivalence.html", "equivalence.json"}


def test_the_gate_runs_on_every_change(root: Path) -> None:
    """The same script as anywhere else, and nothing that it would not do by itself."""
    workflow = load(root / ".github" / "workflows" / "ci.yml")
    assert {"push", "pull_request"} <= set(workflow[True])  # YAML reads the key `on` as a truth value
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert job["env"]["CI"] != "true"  # real networks are not there


def test_what_the_project_asks_of_contributors_can_be_read(root: Path) -> None:
    """Files that other programs read are well formed, and name commands and files that exist."""
    hooks = [hook for repo in load(root / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    gate = (root / ".ci" / "run").read_text(encoding="utf-8")
    for hook in hooks:
        assert hook["entry"].split(" --fix")[0].removesuffix(" --").removeprefix(".venv/bin/") in gate, hook["id"]
    assert {update["package-ecosystem"] for update in load(root / ".github" / "dependabot.yml")["updates"]} == {
        "cargo",
        "pip",
        "github-actions",
    }
    cited = load(root / "CITATION.cff")
    crate = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    assert cited["version"] == crate["version"]
    for template in (root / ".github" / "ISSUE_TEMPLATE").glob("*.md"):
        _, head, body = template.read_text(encoding="utf-8").split("---\n", 2)
        assert {"name", "about"} <= set(yaml.safe_load(head)), template.name
        for command in re.findall(r"`eqspec (\w+)", body):
            assert importlib.import_module(f"eqspec.cli.tools.{command}")


def test_a_wheel_is_built_and_tried_for_every_platform(root: Path) -> None:
    workflow = load(root / ".github" / "workflows" / "wheels.yml")
    wheel = workflow["jobs"]["wheel"]
    built = {(row["runner"].split("-")[0], row["target"]) for row in wheel["strategy"]["matrix"]["include"]}
    assert built == {
        ("ubuntu", "x86_64"),
        ("ubuntu", "aarch64"),
        ("macos", "x86_64"),
        ("macos", "aarch64"),
        ("windows", "x64"),
    }
    for job in ("wheel", "sdist"):
        steps = workflow["jobs"][job]["steps"]
        kinds = ["build" if "maturin-action" in s.get("uses", "") else s.get("run", s.get("uses", "")) for s in steps]
        tried = next(i for i, kind in enumerate(kinds) if kind.startswith(".ci/try-package"))
        assert kinds.index("build") < tried < len(kinds) - 1
        assert "upload-artifact" in kinds[-1]
    assert (root / ".ci" / "try-package").stat().st_mode & 0o111
    assert ".ci/try-package" in (root / ".ci" / "run").read_text(encoding="utf-8")
    assert workflow["jobs"]["publish"]["needs"] == ["wheel", "sdist"]
