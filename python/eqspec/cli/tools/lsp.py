"""`eqspec lsp`: the language server, for editors that start one."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
from importlib.util import find_spec

from rich.console import Console

from eqspec.cli.cache_options import cache_from_arguments
from eqspec.cli.exit import ExitCode
from eqspec.errors import InputError
from eqspec.run.runner import Runner

_MISSING = """\
the language server needs pygls, which is not installed; install it beside eqspec: pip install 'pygls>=2,<3'
or all that the server needs: pip install 'eqspec[lsp]'"""


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:  # noqa: ARG001
    """Run the command."""
    if find_spec("pygls") is None:
        raise InputError(_MISSING)
    from eqspec.language_server.server import serve  # needs pygls

    cache = cache_from_arguments(arguments, err)
    # The editor reads standard output; what anything else prints there goes to the log instead.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _end_on_signals()
    serve(Runner(cache=cache), sys.stdin.buffer, answers)
    return ExitCode.AS_EXPECTED


_CODES = {signal.SIGTERM: ExitCode.TERMINATED, signal.SIGINT: ExitCode.INTERRUPTED}


def _end_on_signals() -> None:
    """End at once when a signal comes: what the cache keeps is always whole.

    The main thread waits for the editor in a call of the system. A signal that comes just before that call wakes
    nobody, so a thread of its own waits for what is written whenever one comes.
    """
    heard, written = socket.socketpair()
    written.setblocking(False)
    signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        while number := heard.recv(1):
            _leave(number[0])
        written.close()  # named here, so that it stays open as long as this thread waits

    threading.Thread(target=wait, daemon=True).start()
    for number in _CODES:
        signal.signal(number, _leave)


def _leave(number: int, *_: object) -> None:
    if number in _CODES:
        os._exit(int(_CODES[signal.Signals(number)]))
