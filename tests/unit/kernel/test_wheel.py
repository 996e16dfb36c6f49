"""The wheel around the kernel's program: pip installs it, and it is found without an activated environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from eqspec.kernel import BinaryError, find

MAKER = Path(__file__).parents[3] / "kernel" / "wheel.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a program that only says a word, since the real one needs OCaml."""
    folder = tmp_path_factory.mktemp("wheel")
    program = folder / "program"
    program.write_text("#!/bin/sh\necho here\n")
    done = subprocess.run(
        [sys.executable, str(MAKER), str(program), str(folder / "dist")], capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())


@pytest.mark.skipif(sys.platform == "win32", reason="the program is built with make")
def test_pip_installs_a_program_that_runs(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("pip")
    offline = ["--no-index", "--no-deps", "--quiet", "--prefix", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, str(wheel)], check=True)
    (program,) = tmp_path.rglob("bin/eqspec-kernel")
    assert subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout == "here\n"


def test_it_is_found_beside_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "eqspec-kernel"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.delenv("EQSPEC_KERNEL", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert find() == program


def test_an_error_names_both_ways_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQSPEC_KERNEL", "/nowhere/eqspec-kernel")
    with pytest.raises(BinaryError, match=r"make -C kernel'.*pip install kernel/dist/"):
        find()
