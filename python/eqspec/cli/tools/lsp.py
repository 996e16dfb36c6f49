"""`eqspec lsp`: the language server, for editors that start one."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from functools import partial
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
    for number, code in ((signal.SIGTERM, ExitCode.TERMINATED), (signal.SIGINT, ExitCode.INTERRUPTED)):
        signal.signal(number, partial(_leave, code))
    serve(Runner(cache=cache), sys.stdin.buffer, answers)
    return ExitCode.AS_EXPECTED


def _leave(code: ExitCode, *_: object) -> None:
    """End at once: the thread that waits for the editor cannot be woken, and what the cache keeps is always whole."""
    os._exit(int(code))
