"""`eqspec check --watch` as a process of its own: what is checked again when which file changes, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from eqspec.cli import ExitCode, main
from eqspec.cli.file_changes import Outdated, changed, look_at, settle
from eqspec.compile.used_files import used_files
from small_specs import HEADER, write_onnx, write_spec

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
HOLDS = "check good { prove pruned stays within 0.3 of full  on near(1) }\n"
OTHER = "check other { prove pruned stays within 5 of full  on near(1) }\n"
SECONDS = 60.0
WATCHING = "Ctrl-C ends"


class Watching:
    """The process, and what it wrote to both of its streams, in the order of its arrival."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        words = [sys.executable, "-m", "eqspec", "check", "--watch", "--cache", str(folder / "kept"), *arguments]
        self.process = subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
        self.text, self._read = "", 0
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    def _follow(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.text += line

    def until(self, said: str = WATCHING) -> str:
        """What it says from where the last call ended until the end of the first line with these words."""
        deadline = time.monotonic() + SECONDS
        while (at := self.text.find(said, self._read)) < 0 or "\n" not in self.text[at:]:
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, self.text
            time.sleep(0.02)
        begin, self._read = self._read, self.text.index("\n", at)
        return self.text[begin : self._read]

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Its exit code after a signal, and its last words."""
        self.process.send_signal(number)
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        return code, self.text[self._read :]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Watching]]:
    begun: list[Watching] = []

    def start(*arguments: str) -> Watching:
        begun.append(Watching(tmp_path, *arguments))
        return begun[-1]

    yield start
    for one in begun:
        one.process.kill()
        one.process.wait()
        one._reader.join(SECONDS)
        assert one.process.stdout is not None
        one.process.stdout.close()


def test_what_a_change_touches_is_checked_again(tmp_path: Path, start: Callable[..., Watching]) -> None:
    write_spec(tmp_path, HOLDS)
    write_spec(tmp_path, OTHER, "other.eqspec", HEADER.replace('"pruned.onnx"', '"third.onnx"'))
    write_onnx(tmp_path / "third.onnx", np.eye(2), [0.0, 1.0])
    watching = start("pair.eqspec", "other.eqspec")
    first = watching.until()
    assert "good  equivalent" in first
    assert "2 tasks in" in first
    assert "watching 5 files of 2 specs" in first

    write_onnx(tmp_path / "pruned.onnx", np.eye(2), [0.0, 0.5])  # written in place
    again = watching.until()
    assert "changed: pruned.onnx" in again
    assert "good  different" in again
    assert "other " not in again  # which does not read that file
    assert "2 tasks in" in again  # though it counts
    assert "1 not as expected" in again

    write_onnx(tmp_path / "new.onnx", np.eye(2), [0.0, 0.125])
    (tmp_path / "new.onnx").replace(tmp_path / "pruned.onnx")  # another file takes its place
    assert "good  equivalent" in watching.until()

    (tmp_path / "third.onnx").touch()  # the same question as before
    kept = watching.until()
    assert "kept from before" in kept
    assert "good " not in kept

    code, words = watching.end()
    assert code == 0
    assert "Ended. 2 tasks in" in words
    assert "2 equivalent" in words


def test_a_spec_that_cannot_be_used_is_named_and_watched(tmp_path: Path, start: Callable[..., Watching]) -> None:
    path = write_spec(tmp_path, HOLDS)
    good = path.read_text(encoding="utf-8")
    watching = start("pair.eqspec")
    watching.until()

    path.write_text(good.replace("region near", "regoin near"), encoding="utf-8")
    assert "error" in watching.until()
    path.unlink()
    assert "no such file" in watching.until()
    path.write_text(good, encoding="utf-8")
    assert "good  equivalent" in watching.until()
    (tmp_path / "pruned.onnx").unlink()
    assert "cannot read 'pruned.onnx'" in watching.until()
    code, words = watching.end()
    assert code == ExitCode.BAD_INPUT
    assert "Ended. 0 tasks" in words


HARD = """eqspec 1
space plane {
  shape     [12]
  normalise none
  outputs   2
}
network full   = "full.onnx"   in plane
network pruned = "pruned.onnx" in plane
region all     in plane = box { all: -1 .. 1 }
check easy { prove full equals full on all }
check hard { prove pruned stays within 200 of full on all }
"""


def deep(path: Path, noise: float) -> None:
    """A random ReLU network; two of them differ by 116 at 10^5 random inputs, and the root bounds that by hundreds."""
    rng = np.random.default_rng(3)
    nodes, stored, last = [], [], "x"
    for i, (m, n) in enumerate([(12, 40), (40, 40), (40, 40), (40, 2)]):
        weight = rng.normal(size=(n, m)) + noise * rng.normal(size=(n, m))
        stored.append(onnx.numpy_helper.from_array(weight.astype(np.float32), f"w{i}"))
        nodes.append(onnx.helper.make_node("Gemm", [last, f"w{i}"], [f"g{i}"], transB=1))
        last = f"g{i}"
        if n > 2:
            nodes.append(onnx.helper.make_node("Relu", [last], [f"r{i}"]))
            last = f"r{i}"
    shapes = {"x": 12, last: 2}
    ends = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ("batch", k)) for n, k in shapes.items()]
    graph = onnx.helper.make_graph(nodes, "deep", ends[:1], ends[1:], stored)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), path)


def test_a_run_whose_files_change_begins_anew_and_one_that_is_interrupted_ends(
    tmp_path: Path, start: Callable[..., Watching]
) -> None:
    deep(tmp_path / "full.onnx", 0.0)
    deep(tmp_path / "pruned.onnx", 0.05)
    path = tmp_path / "pair.eqspec"
    path.write_text(HARD, encoding="utf-8")
    later = tmp_path / "rest.eqspec"
    later.write_text(HARD, encoding="utf-8")
    watching = start("pair.eqspec", "rest.eqspec", "--jobs", "1")
    watching.until("easy equivalent")
    later.write_text(HARD.replace("check easy", "check last"), encoding="utf-8")
    assert "changed: rest.eqspec" in watching.until("changed")
    watching.until("easy equivalent")  # of the spec that was stopped, though it did not change itself
    path.write_text(HARD.replace("check easy", "check simple"), encoding="utf-8")
    assert "changed: pair.eqspec" in watching.until("changed")
    assert "tasks in" not in watching.until("simple equivalent")  # no last line of what was stopped
    code, words = watching.end()
    assert code == ExitCode.INTERRUPTED, words
    assert "Interrupted" in words


def test_a_spec_that_is_new_in_a_folder_is_checked_and_one_that_is_gone_counts_no_more(
    tmp_path: Path, start: Callable[..., Watching]
) -> None:
    write_spec(tmp_path, HOLDS)
    watching = start()
    assert "1 task in" in watching.until()
    write_spec(tmp_path, OTHER, "new.eqspec")
    said = watching.until()
    assert "other  equivalent" in said
    assert "2 tasks in" in said
    (tmp_path / "pair.eqspec").unlink()
    assert "1 task in" in watching.until()
    (tmp_path / "more.eqspec").write_text("eqspec one", encoding="utf-8")
    assert "1 spec cannot be used" in watching.until()
    (tmp_path / "more.eqspec").unlink()
    assert "1 task in" in watching.until()
    (tmp_path / "new.eqspec").unlink()
    watching.until()
    code, words = watching.end(signal.SIGTERM)
    assert code == ExitCode.BAD_INPUT
    assert "1 spec cannot be used" in words


@pytest.mark.parametrize("other", [["--certify", "out"], ["--format", "json"], ["--format", "jsonl"]])
def test_what_is_written_once_does_not_go_with_it(
    tmp_path: Path, other: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", str(write_spec(tmp_path)), "--watch", *other])
    assert code == ExitCode.BAD_INPUT
    assert f"--watch does not go with {other[0]} {other[1]}".replace(" out", " DIR") in capsys.readouterr().err


def test_files_behind_a_spec(tmp_path: Path) -> None:
    part = 'eqspec 1\nparam d = "deep"\nnetwork third = d + "/third.onnx" in plane\n'
    (tmp_path / "part.eqspec").write_text(part, encoding="utf-8")
    header = (
        'eqspec 1\nlet table = "rows" + ".csv"\n' + HEADER.replace("mean [10, 20] std [2, 4]", 'from "scaler.json"')[8:]
    )
    path = write_spec(
        tmp_path,
        'include "part.eqspec"\nregion r(r) in plane = ball linf r around rows 0 .. 2 of table\n'
        'param rows = "some.csv"\nregion of(t) in plane = ball linf 1 around rows 0 .. 2 of t\n'
        "region at in plane = of(rows)",
        header=header,
    )
    names = {os.path.relpath(file, tmp_path) for file in used_files(path).paths}
    wanted = {"pair.eqspec", "full.onnx", "pruned.onnx", "scaler.json", "part.eqspec", "deep/third.onnx", "rows.csv"}
    assert wanted <= names
    assert tmp_path / "wide" / "third.onnx" in used_files(path, {"d": "wide"}).paths
    assert tmp_path / "drawn.csv" in used_files(path, {"rows": "drawn.csv"}).paths

    model = onnx.load(tmp_path / "full.onnx")
    onnx.save(model, tmp_path / "full.onnx", save_as_external_data=True, location="full.weights", size_threshold=0)
    assert tmp_path / "full.weights" in used_files(path).paths
    assert not used_files(tmp_path / "none.eqspec").complete


def test_looks_find_what_is_otherwise(tmp_path: Path) -> None:
    one, gone = tmp_path / "one", tmp_path / "gone"
    one.write_text("1", encoding="utf-8")
    look = look_at([one, gone])
    outdated = Outdated([look])
    assert not changed(look)
    assert not outdated()
    gone.write_text("", encoding="utf-8")
    (tmp_path / "two").write_text("2", encoding="utf-8")
    (tmp_path / "two").replace(one)
    assert changed(look) == {one, gone}
    deadline = time.monotonic() + SECONDS
    while not outdated():
        assert time.monotonic() < deadline
    one.unlink()
    back = threading.Timer(0.5, lambda: one.write_text("3", encoding="utf-8"))
    back.start()
    settle(look)
    assert one.exists()  # it was waited for
    back.join()
