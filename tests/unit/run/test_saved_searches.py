"""A saved search is given up only where it is shown to be unusable: never for want of threads, memory or room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eqspec.cache import Store
from eqspec.errors import InputError, InternalError, ResourceError, SavedStateError
from eqspec.run import core
from eqspec.run.options import Options
from eqspec.run.result_cache import ResultCache
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import hard, undecided_task

FEW = Options(threads=1, boxes=20, domain="paper")
PLENTY = Options(threads=1, domain="paper")


class Kept:
    """A folder with a stopped search, asked by runners of their own, as by different processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told = folder, list[str]()
        assert self.run(undecided_task(), FEW, resume=False).verdict is Verdict.UNKNOWN
        (self.path,) = folder.rglob("*.search")
        self.state = self.path.read_bytes()

    def run(self, task: Task, options: Options, *, resume: bool = True) -> Any:
        cache = ResultCache(Store(self.folder, tell=self.told.append), resume=resume, keep_every=0.0)
        return Runner(options, cache).run(task)

    def untouched(self) -> bool:
        return self.path.read_bytes() == self.state and not self.told


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def failing(error: BaseException) -> Callable[..., core.Solution]:
    def solve(*_: object, **__: object) -> core.Solution:
        raise error

    return solve


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (ResourceError("cannot start 4 worker threads"), ResourceError),
        (MemoryError(), ResourceError),
        (OSError(28, "No space left on device"), OSError),
        (InputError("threads = 5000 is not accepted"), InputError),
        (InternalError("the search failed"), InternalError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (RuntimeError("who knows"), RuntimeError),
    ],
    ids=lambda e: type(e).__name__ if isinstance(e, BaseException) else "",
)
def test_what_says_nothing_about_the_state_leaves_it(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, error: BaseException, seen: type[BaseException]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(core, "solve", failing(error))
        with pytest.raises(seen):
            kept.run(undecided_task(), FEW)
    assert kept.untouched()
    again = kept.run(undecided_task(), replace(FEW, boxes=40))
    assert again.resumed
    assert again.boxes == 40


def test_a_state_that_is_refused_is_put_aside_and_the_search_begins_anew(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve = core.solve

    def refuse(*arguments: Any, state: bytes | None = None, **more: Any) -> core.Solution:
        if state is not None:
            raise SavedStateError("it belongs to another question")
        return solve(*arguments, **more)

    monkeypatch.setattr(core, "solve", refuse)
    again = kept.run(undecided_task(), FEW)
    assert not again.resumed
    assert again.boxes == 20
    assert kept.path.with_suffix(".unusable").read_bytes() == kept.state
    assert len(kept.told) == 1
    assert "another question" in kept.told[0]


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limit on address space")
def test_threads_that_cannot_be_started_cost_no_saved_search(kept: Kept) -> None:
    """The process may map too little memory for the stacks of so many threads."""
    script = """
import re, resource, sys
from pathlib import Path
from eqspec.errors import ResourceError
from eqspec.cache import Store
from eqspec.run.result_cache import ResultCache
from eqspec.run import options
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from small_tasks import undecided_task
options.cores = lambda: 256
told = []
store = Store(Path(sys.argv[1]), tell=told.append)
runner = Runner(Options(threads=1024, boxes=40, domain="paper"), ResultCache(store, resume=True))
key = runner.key(undecided_task())
mapped = int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (mapped + (700 << 20), resource.RLIM_INFINITY))
try:
    runner.run(undecided_task())
except ResourceError as error:
    print(error, told)
"""
    command = [sys.executable, "-c", script, str(kept.folder)]
    paths = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": paths}
    for _ in range(5):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if "thread-local" not in done.stderr:  # else the C library gave up within a thread that was started before
            break
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cannot start 1024 worker threads"), done.stdout + done.stderr
    assert done.stdout.endswith(" []\n")
    assert kept.untouched()
    assert kept.run(undecided_task(), replace(FEW, boxes=40)).resumed


def test_a_decided_result_that_cannot_be_kept_leaves_the_search(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk neither the result nor what led to it would be left."""
    write = Store.write

    def full(store: Store, kind: Any, key: str, *parts: bytes) -> bool:
        return kind == "search" and write(store, kind, key, *parts)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", full)
        decided = kept.run(undecided_task(), PLENTY)
    assert decided.verdict is not Verdict.UNKNOWN
    assert kept.path.exists()
    again = kept.run(undecided_task(), PLENTY)
    assert again.resumed
    assert again.verdict is decided.verdict
    assert not kept.path.exists()
    assert kept.run(undecided_task(), FEW).cached


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()])
def test_what_stops_a_state_from_being_written_leaves_the_one_before(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """At any moment: while it is written, before it is renamed, or after."""
    for place in ("eqspec.cache.files.os.fsync", "eqspec.cache.files.mkstemp", "eqspec.cache.files._sync_folder"):
        with monkeypatch.context() as patched:
            patched.setattr(place, failing(error))
            try:
                result = kept.run(undecided_task(), replace(FEW, boxes=30))
            except (ResourceError, KeyboardInterrupt):
                assert not isinstance(error, OSError)
            else:
                assert result.reason in (Reason.BOXES, Reason.INTERRUPTED)
        assert not list(kept.folder.rglob("*.part"))
        again = kept.run(undecided_task(), replace(FEW, boxes=35))
        assert again.resumed
        kept.path.write_bytes(kept.state)


def test_each_error_has_a_type_of_its_own(tmp_path: Path) -> None:
    task = hard()
    runner = Runner(FEW)
    pair, claim = runner._lowered(task, runner.options)
    ends = task.lower, task.upper
    with pytest.raises(SavedStateError, match="it is none, or of another version"):
        core.solve(pair, *ends, claim, core.Settings(), state=b"no state")
    with pytest.raises(InputError, match="lower has size 19"):
        core.solve(pair, task.lower[1:], task.upper[1:], claim, core.Settings())
    with pytest.raises(InputError, match="keep_every = -1"):
        core.solve(pair, *ends, claim, core.Settings(), keep_every=-1.0)
    with pytest.raises(ResourceError, match=r"cannot write the record of the proof to .*No such file"):
        core.solve(pair, *ends, claim, core.Settings(record=tmp_path / "no" / "folder"))
    with pytest.raises(InputError, match="record = a file is not accepted"):
        core.solve(pair, *ends, claim, core.Settings(record=tmp_path / "record"), state=b"no state")
