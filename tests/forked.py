"""Commands of eqspec in processes of their own, each forked in milliseconds from one that has imported what they need.

A Python that starts spends half a second on imports, and the tests run hundreds of commands and auditors. What they
call is the client: it sends its arguments, folder, environment and streams over a socket, and ends as the command does;
a command whose client is killed is killed as well.

    with Forking(folder / "socket", COMMANDS) as forking:
        script.write_text(forking.script("eqspec"))

What imports do is therefore not tried here; contracts/test_loaded_modules.py and unit/cli/test_starting.py start
processes from nothing. The process that forks has one thread: a fork has no others.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from runpy import run_module, run_path
from types import ModuleType
from typing import Any

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What eqspec sets for itself before it imports numpy."""
STARTS_A_THREAD = "onnxruntime"
"""What imports it is imported in the child."""
COMMANDS, AUDITOR = "commands", "auditor"
"""What a process is for: `eqspec`, `eqspec-vnnlib`, `pytest` and Python, or the auditor, with nothing of eqspec."""
RARE = ("eqspec.networks.frameworks", "eqspec.cluster", "eqspec.plots", "eqspec.language_server")
"""They import libraries that few commands need."""


class Forking:
    """The process that forks, listening on a socket at a path; a context manager."""

    def __init__(self, path: Path, use: str) -> None:
        self._path, self._use = path, use

    def __enter__(self) -> Forking:
        import eqspec  # not by the client

        paths = [str(Path(eqspec.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, __file__, "serve", str(self._path), self._use],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def command(self, *words: str) -> list[str]:
        """What to start for this command, with these words before its own."""
        return [sys.executable, "-I", "-S", __file__, "call", str(self._path), *words]

    def script(self, *words: str) -> str:
        """The text of an executable that is this command, with these words before its own."""
        return f'#!/bin/sh\nexec {shlex.join(self.command(*words))} "$@"\n'


def _call(path: str, *words: str) -> int:
    """The client: the exit code of the command, as a shell gives it."""
    job = {"words": words, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [b"."], [0, 1, 2])
        connection.sendall(json.dumps(job).encode() + b"\n")
        code = int(connection.recv(100) or -signal.SIGKILL)  # of what forks where there is no answer
    return code if code >= 0 else 128 - code


def _serve(path: str, use: str) -> int:
    """Fork for every call; returns, in the process of a command, what this ends with."""
    _import_the_auditor() if use == AUDITOR else _import_eqspec()
    gc.freeze()
    threads = list(Path("/proc/self/task").glob("*"))  # none where there is no /proc
    assert len(threads) <= 1, "a fork would lose threads"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while True:
            asked, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in asked:  # closed, as the tests have ended
                sys.exit()
            connection, _ = listening.accept()
            if os.fork() == 0:
                break
            connection.close()
            _forget_the_dead()
    return _attend(connection)


def _import_the_auditor() -> None:
    """As its folder imports itself (eqspec/audit/__main__.py)."""
    from importlib.util import find_spec

    found = find_spec("eqspec")  # which does not import it
    assert found is not None
    assert found.origin is not None
    sys.path.insert(0, str(Path(found.origin).parent))
    from importlib import import_module

    for name in ("audit", "audit.opening.process", "audit.proof"):
        import_module(name)


def _import_eqspec() -> None:
    from importlib import import_module
    from pkgutil import walk_packages

    import eqspec

    sys.modules[STARTS_A_THREAD] = None  # type: ignore[assignment] # an import of it fails
    for module in walk_packages(eqspec.__path__, "eqspec.", onerror=lambda _: None):
        if not module.name.startswith(RARE) and not module.name.endswith("__main__"):
            with suppress(ImportError):
                import_module(module.name)
    del sys.modules[STARTS_A_THREAD]


def _forget_the_dead() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _attend(connection: socket.socket) -> int:
    """In a process for each call: start the command, wait, and tell the client how it ended."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    job = json.loads(connection.makefile("rb").readline())
    child = os.fork()
    if child == 0:
        connection.close()
        return _become(job, streams)
    for stream in streams:
        os.close(stream)
    if hasattr(os, "pidfd_open"):  # on Linux
        ended = os.pidfd_open(child)
        waiting: list[Any] = [ended, connection]
        ready, _, _ = select.select(waiting, [], [])
        if ended not in ready:  # the client is gone
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with suppress(BrokenPipeError, ConnectionResetError):  # to a client that is gone
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(job: dict[str, Any], streams: list[int]) -> int:
    """The command, as its entry point starts it."""
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
        os.close(stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    command, *words = job["words"]
    sys.argv = words if command == "audit" else [command, *words]
    if command == "pytest":
        # What was imported before cannot be rewritten, and need not be: it is not the reader's.
        sys.argv[1:1] = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        sys.path.insert(0, job["folder"])
        run_module("pytest", run_name="__main__", alter_sys=True)  # which exits
    if command == "audit":
        run_path(words[0], run_name="__main__")  # which exits
    if command == "python":
        return _program(*words)
    from eqspec import __main__

    if command == "eqspec":
        return __main__.start()
    # What it imports first is a part of this package, of which all parts but those with onnxruntime are there already,
    # so that the package would come after its part.
    import eqspec.networks  # noqa: F401

    return __main__.start_solver()


def _program(text: str) -> int:
    """As `python -W error -c text`; its warnings, and those of what it imports first, are errors."""
    sys.argv = ["-c"]
    sys.path.insert(0, "")
    warnings.simplefilter("error")
    sys.modules["__main__"] = main = ModuleType("__main__")
    exec(compile(text, "<string>", "exec"), vars(main))
    return 0


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of the tests
    _, task, *arguments = sys.argv
    if task == "call":
        sys.exit(_call(*arguments))
    sys.exit(_serve(*arguments))
