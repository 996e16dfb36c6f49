"""What the packages must carry is where the build looks for it. `.ci/run` installs the real wheel and sdist."""

from __future__ import annotations

import importlib.resources
import tomllib
from pathlib import Path


def test_the_package_holds_the_grammar(root: Path) -> None:
    inside = importlib.resources.files("eqspec.spec").joinpath("eqspec.lark").read_bytes()
    assert inside == (root / "grammar" / "eqspec.lark").read_bytes()
    # A link to the file: a link to a folder is left out of the wheel without a word.
    assert (root / "python" / "eqspec" / "spec" / "eqspec.lark").is_symlink()


def test_the_licences_are_declared_and_there(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    crate = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    assert project["license"] == crate["license"] == "Apache-2.0 OR MIT"
    found = {path.name for pattern in project["license-files"] for path in root.glob(pattern)}
    assert found == {"LICENSE-APACHE", "LICENSE-MIT"}
    assert "Apache License" in (root / "LICENSE-APACHE").read_text(encoding="utf-8")
    assert "MIT License" in (root / "LICENSE-MIT").read_text(encoding="utf-8")


def test_the_sdist_carries_what_the_build_needs(root: Path) -> None:
    crate = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    carried = set(crate["package"]["include"])
    assert carried >= {"/rust/**", "/grammar/**", "/python/**", "/README.md", "/LICENSE*", "/pyproject.toml"}
    for kind in ("test", "bench", "example"):
        for target in crate.get(kind, []):
            folder = "/".join(Path(target["path"]).parts[:-1])
            assert f"/{folder}/**" in carried, f"{target['path']} is named in Cargo.toml but not in the sdist"
