"""What a command loads: nothing that another command needs. Most of the time of a small check is spent on imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_REPORTED = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=open("modules.txt", "w")))
from eqspec.cli import main
sys.exit(main(sys.argv[1:]))
"""
LIBRARIES = {"numpy", "onnx", "onnxruntime", "lark", "rich", "highspy", "jinja2", "shtab", "matplotlib", "pandas"}
NOT_TO_CHECK = {
    "eqspec.audit": "certificates are written with --certify alone",
    "eqspec.certificates": "the same",
    "eqspec.draft": "drafts are for init and verify",
    "eqspec.vnnlib": "VNN-LIB has commands of its own",
    "eqspec.doctor": "so has this",
    "eqspec.plots": "pictures are drawn for pages",
    "eqspec.report.html": "pages are written with --report",
    "jinja2": "pages are written with --report",
    "xml.etree.ElementTree": "JUnit is written with --report",
    "eqspec.lp": "few searches have programs that are too large for the core",
    "highspy": "the same",
    "eqspec.networks.firmware.project": "the networks are no folders of hls4ml",
    "eqspec.networks.frameworks.torch_module": "the networks are no models in memory",
    "eqspec.networks.grids": "the networks round nothing",
    "eqspec.networks.cells": "the same",
    "eqspec.networks.deriving.float_graph": "no network is derived",
    "rich.progress": "nobody watches",
    "numpy.ma": "nothing is masked; some functions of numpy load it to look",
    "onnx.reference": "the files have no constants to compute",
    "shtab": "completion is a command of its own",
    "matplotlib": "nothing is plotted",
    "pandas": "frames are for Python",
}


def loaded(folder: Path, *words: str) -> set[str]:
    """The modules of a process that ran a command, which has to end well."""
    process = subprocess.run(
        [sys.executable, "-c", _REPORTED, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert process.returncode == 0, process.stderr
    return set((folder / "modules.txt").read_text(encoding="utf-8").split())


def test_a_check_loads_what_a_check_needs(root: Path, tmp_path: Path) -> None:
    spec = str(root / "specs" / "tiny" / "tiny.eqspec")
    found = loaded(tmp_path, "check", spec, "--check", "permuted_close", "--cache", str(tmp_path / "cache"))
    assert "eqspec.run.runner" in found, "this is the list of the process that ran the check"
    assert not {name: why for name, why in NOT_TO_CHECK.items() if name in found}
    again = loaded(tmp_path, "check", spec, "--check", "permuted_close", "--cache", str(tmp_path / "cache"))
    assert "onnxruntime" in found
    assert "onnxruntime" not in again, "the files were compared before"


_COLLECTED = """
import gc, sys
found = []
gc.callbacks.append(lambda phase, about: found.append(phase))
from eqspec import cli
from eqspec.cli import commands
ran = commands.read
def read(words):
    arguments = ran(words)
    run = arguments.run
    def counted(*given):
        print(len(found), gc.isenabled(), gc.get_freeze_count() > 10_000, gc.get_threshold()[0] > 0)
        return 0
    arguments.run = counted
    return arguments
commands.read = read
from eqspec.__main__ import start
sys.argv = ["eqspec", "lint", "none"]
found.clear()
sys.exit(start())
"""


def test_cycles_are_searched_for_when_everything_is_imported() -> None:
    words = [sys.executable, "-c", _COLLECTED]
    process = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (process.returncode, process.stdout.split()) == (0, ["0", "True", "True", "True"]), process.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"]], ids=" ".join)
def test_the_list_of_commands_loads_no_library(words: list[str], tmp_path: Path) -> None:
    found = loaded(tmp_path, *words)
    assert "eqspec.cli.commands" in found
    assert not LIBRARIES & found
