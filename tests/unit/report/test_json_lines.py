"""Results line by line while a run goes on, and files that are whole or not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eqspec.errors import InputError, ResourceError
from eqspec.property import Epsilon
from eqspec.report.atomic_file import write_file
from eqspec.report.json_lines import Lines
from eqspec.run.batch import run_all
from eqspec.run.monitor import Monitor
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from small_specs import write_spec
from small_tasks import identity, task


def made(name: str) -> Result:
    return Result(id=name, check=name, parameters={}, verdict=Verdict.UNKNOWN)


def test_every_line_is_there_before_the_next_task_ends(tmp_path: Path) -> None:
    path, seen = tmp_path / "results.jsonl", []
    lines = Lines(path)

    class Watching(Monitor):
        def decided(self, result: Result) -> None:
            lines.add(result)
            seen.append([json.loads(line)["id"] for line in path.read_text().splitlines()])

    tasks = [task(identity(2), identity(2), Epsilon(eps), id=f"t{eps}") for eps in (1, 2, 3)]
    run_all(Runner(), tasks, Watching())
    lines.close()
    assert seen == [["t1"], ["t1", "t2"], ["t1", "t2", "t3"]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_stops_nothing_and_is_said_in_the_end() -> None:
    lines = Lines(Path("/dev/full"))
    lines.add(made("one"))
    lines.add(made("two"))
    with pytest.raises(ResourceError, match="cannot write to /dev/full: No space left on device; lines are missing"):
        lines.close()
    with pytest.raises(ResourceError, match="cannot write to /dev/full: No space left on device"):
        write_file(Path("/dev/full"), "text")


def test_a_run_that_is_killed_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    script = """
import os, signal, sys
from pathlib import Path
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from eqspec.report.json_lines import Lines
lines = Lines(Path(sys.argv[1]))
for name in "abc":
    lines.add(Result(id=name, check=name, parameters={}, verdict=Verdict.UNKNOWN))
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["a", "b", "c"]


def test_check_writes_lines_to_the_output_and_to_a_file(tmp_path: Path) -> None:
    spec, path = write_spec(tmp_path), tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "eqspec", "check", str(spec), "--format", "jsonl"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    subprocess.run([*command, "-o", str(path)], capture_output=True, check=True)
    ids = ["close[eps=0.2]", "close[eps=0.3]", "same"]
    assert [json.loads(line)["id"] for line in printed.splitlines()] == ids
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ids


def test_a_file_is_replaced_with_its_permissions_and_through_links(tmp_path: Path) -> None:
    path, link = tmp_path / "report.json", tmp_path / "link.json"
    write_file(path, "one")
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_mask()
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(link, "two \udcff")
    assert path.read_bytes() == b"two \\udcff"
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(InputError, match="cannot write to"):
        write_file(tmp_path / "no" / "folder", "x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "report.json"]


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
