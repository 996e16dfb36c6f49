"""Commands as processes of their own, each forked in milliseconds from one that has imported eqspec and started no
thread; and their ends: by themselves, or by a signal at a moment that is asked for.

The process that forks reads a line of JSON per command and answers with one: the exit code, or minus the signal. It
imports what a check needs before it forks: a library that is interrupted while it is imported fails in ways of its own
(numpy then names a module that is missing), and of that this harness would only see that something failed. `eqspec.cli`
keeps signals from that moment; `cli/stopping.py` says how.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

_OUT, _ERR = ".out", ".err"
_NEEDED = (
    "eqspec.cli.commands",
    "eqspec.cli.command",
    "eqspec.cli.check",
    "eqspec.api.cache_choice",
    "eqspec.run.result_cache",
)
"""What is imported before anything is forked."""
_LIMIT = 120.0
"""Seconds after which a command hangs, which is a finding."""


@dataclass(frozen=True)
class Kill:
    """A signal `after` so many seconds, or before or after the so-manyth step of bringing a file to disk (`at`)."""

    signal: int
    after: float | None = None
    at: int | None = None


@dataclass(frozen=True)
class Finished:
    """What a command ended with, and what it printed."""

    code: int
    out: str
    err: str


class Commands:
    """The process that forks; a context manager."""

    def __init__(self) -> None:
        tests = Path(__file__).parents[1]
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "model.commands"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **one, "PYTHONPATH": str(tests)},
            start_new_session=True,
        )

    def __enter__(self) -> Commands:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(
        self, arguments: Sequence[object], folder: Path, *, boxes: int | None = None, kill: Kill | None = None
    ) -> Finished:
        """`eqspec` with these arguments in a folder; at most so many boxes for each task."""
        job: dict[str, Any] = {"arguments": list(map(str, arguments)), "folder": str(folder), "boxes": boxes}
        job["kill"] = None if kill is None else asdict(kill)
        for name in (_OUT, _ERR):
            (folder / name).unlink(missing_ok=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return Finished(code, *(_text(folder / name) for name in (_OUT, _ERR)))


def _text(path: Path) -> str:
    """What was printed; nothing by a command that was killed before it began."""
    return path.read_text(errors="replace") if path.exists() else ""


def _serve() -> None:
    for needed in _NEEDED:
        import_module(needed)
    from eqspec.cli import main

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(job, main)
        print(_wait(child, job["kill"]), flush=True)


def _wait(child: int, kill: dict[str, Any] | None) -> int:
    """How it ended; a signal is sent on the way if one is due."""
    began = time.monotonic()
    due = kill["after"] if kill is not None and kill["after"] is not None else None
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - began
        if due is not None and seconds >= due:
            assert kill is not None
            os.kill(child, kill["signal"])
            due = None
        if seconds > _LIMIT:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return 999
        time.sleep(0.001)


def _become(job: dict[str, Any], main: Callable[[list[str]], int]) -> None:
    """The command: runs, and ends this process."""
    code = 4
    try:
        os.chdir(job["folder"])
        for descriptor, name in enumerate((os.devnull, _OUT, _ERR)):
            flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(name, flags, 0o600), descriptor)
        _hurry(job["boxes"])
        if job["kill"] is not None and job["kill"]["at"] is not None:
            _end_at(job["kill"]["signal"], job["kill"]["at"])
        code = main(job["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:  # before or after everything
        code = 130
    except BaseException:
        code = 999
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _hurry(boxes: int | None) -> None:
    """States are kept as often as can be; a command has no word for a limit on boxes."""
    from eqspec.api import cache_choice
    from eqspec.cli import check
    from eqspec.run.options import Options
    from eqspec.run.result_cache import ResultCache

    setattr(cache_choice, "ResultCache", partial(ResultCache, keep_every=0.0))  # noqa: B010 - mypy takes it for an assignment
    if boxes is not None:
        setattr(check, "Options", partial(Options, boxes=boxes))  # noqa: B010


def _end_at(number: int, at: int) -> None:
    """Send the signal to this process around the steps of bringing files to disk."""
    left = at

    def passed() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), number)
        left -= 1

    def around(step: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:
            passed()
            result = step(*arguments, **named)
            passed()
            return result

        return stepped

    for name in ("fsync", "replace", "link", "unlink"):
        setattr(os, name, around(getattr(os, name)))


if __name__ == "__main__":
    _serve()
