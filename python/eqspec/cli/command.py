"""A run of the command: what was asked for runs, and what goes wrong becomes a message and a code."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection
from typing import IO, Any, cast

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode, of_error
from eqspec.cli.stopping import stopped_by_signals
from eqspec.errors import FULL, EqspecError, explained
from eqspec.report.terminal import Terminal

_WIDTH_OF_FILES = 120
"""Columns where the output is no terminal and COLUMNS does not say."""


def run(arguments: argparse.Namespace) -> int:
    """Run the command that the arguments name; its exit code.

    Cycles are searched for from here on, where `__main__` has left that until everything is imported.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    with stopped_by_signals() as heard:
        try:
            code = _run(arguments, heard)
        except KeyboardInterrupt:  # before there was anything to stop
            code = int(ExitCode.INTERRUPTED)
    return int(ExitCode.TERMINATED if code == ExitCode.INTERRUPTED and signal.SIGTERM in heard else code)


def _run(arguments: argparse.Namespace, heard: Collection[int]) -> int:
    out, err = _console(stderr=False), _console(stderr=True)
    try:
        code = int(arguments.run(arguments, out, err))
        sys.stdout.flush()  # here, where it is known what to say of a pipe that is closed
    except BrokenPipeError:  # the program that reads the output has ended
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return int(ExitCode.NOT_READ)
    except KeyboardInterrupt:
        err.print("Interrupted.", soft_wrap=True)
        return int(ExitCode.INTERRUPTED)
    except Exception as error:
        if heard and isinstance(error, ImportError):  # a library that was interrupted while it was imported
            err.print("Interrupted.", soft_wrap=True)
            return int(ExitCode.INTERRUPTED)
        if (what := explained(error)) is not None:
            err.print(Text.assemble(("error", "bold red"), f": {what}"), soft_wrap=True)
            if arguments.debug and not isinstance(error, EqspecError):
                err.print(traceback.format_exc(), highlight=False, markup=False, soft_wrap=True)
            return int(of_error(error))
        err.print(Text.assemble(("eqspec failed", "bold red"), f": {type(error).__name__}: {error}"), soft_wrap=True)
        if arguments.debug:
            err.print(traceback.format_exc(), highlight=False, markup=False, soft_wrap=True)
        advice = "please report it" if arguments.debug else "run again with --debug and report it"
        err.print(f"This is a defect of eqspec; {advice}.", soft_wrap=True)
        return int(ExitCode.INTERNAL)
    return code


def _console(*, stderr: bool) -> Console:
    console = Terminal(stderr=True, file=cast(IO[str], _Unheard(sys.stderr))) if stderr else Terminal()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_FILES
    return console


class _Unheard:
    """The standard error, where a disk that is full stops nothing: progress and notes are lost, and no verdict."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._tried(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        self._tried(self._stream.flush)

    def _tried(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as error:
            if error.errno not in FULL:
                raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
