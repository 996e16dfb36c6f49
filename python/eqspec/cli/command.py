"""A run of the command: what was asked for runs, and what goes wrong becomes a message and a code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode, of_error
from eqspec.cli.stopping import stopped_by_sigterm
from eqspec.errors import EqspecError
from eqspec.report.terminal import Terminal

_WIDTH_OF_FILES = 120
"""Columns where the output is no terminal and COLUMNS does not say."""


def run(arguments: argparse.Namespace) -> int:
    """Run the command that the arguments name; its exit code."""
    with stopped_by_sigterm() as terminated:
        try:
            code = _run(arguments)
        except KeyboardInterrupt:  # before there was anything to stop
            code = int(ExitCode.INTERRUPTED)
    return int(ExitCode.TERMINATED if code == ExitCode.INTERRUPTED and terminated() else code)


def _run(arguments: argparse.Namespace) -> int:
    out, err = _console(stderr=False), _console(stderr=True)
    try:
        code = int(arguments.run(arguments, out, err))
        sys.stdout.flush()  # here, where it is known what to say of a pipe that is closed
    except BrokenPipeError:  # the program that reads the output has ended
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return int(ExitCode.NOT_READ)
    except EqspecError as problem:
        err.print(Text.assemble(("error", "bold red"), f": {problem}"), soft_wrap=True)
        return int(of_error(problem))
    except KeyboardInterrupt:
        err.print("Interrupted.", soft_wrap=True)
        return int(ExitCode.INTERRUPTED)
    except Exception as error:
        if (code := of_error(error)) is ExitCode.RESOURCES:
            what = f"cannot write: {error.strerror}" if isinstance(error, OSError) else "there is no memory left for it"
            err.print(Text.assemble(("error", "bold red"), f": {what}"), soft_wrap=True)
            return int(code)
        err.print(Text.assemble(("eqspec failed", "bold red"), f": {type(error).__name__}: {error}"), soft_wrap=True)
        if arguments.debug:
            err.print(traceback.format_exc(), highlight=False, markup=False, soft_wrap=True)
        advice = "please report it" if arguments.debug else "run again with --debug and report it"
        err.print(f"This is a defect of eqspec; {advice}.", soft_wrap=True)
        return int(ExitCode.INTERNAL)
    return code


def _console(*, stderr: bool) -> Console:
    console = Terminal(stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_FILES
    return console
