"""`eqspec completion`: a script that teaches a shell the commands, options and files of eqspec; made by shtab."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from re import search

import shtab
from rich.console import Console

from eqspec.cli.commands import parser
from eqspec.cli.exit import ExitCode

_SPECS = shtab.glob("*.eqspec")
_NETWORKS = shtab.glob("*.onnx", "*.nnet")
_BY_METAVAR = {"NETWORK": _NETWORKS, "REFERENCE": _NETWORKS, "CANDIDATE": _NETWORKS, "DIR": shtab.DIRECTORY}


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:  # noqa: ARG001
    """Run the command."""
    out.file.write(script(arguments.shell) + "\n")
    return ExitCode.AS_EXPECTED


def script(shell: str) -> str:
    """The script for one of `SHELLS`."""
    main = parser("")
    for action in _actions(main):
        if (completed := _completed(action)) is not None:
            action.complete = completed  # type: ignore[attr-defined]
    text: str = shtab.complete(main, shell=shell)
    return text


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
        else:
            yield action


def _completed(action: argparse.Action) -> object:
    """Which kind of file an argument takes: specs, networks, folders, or any file."""
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar in _BY_METAVAR:
        return _BY_METAVAR[metavar]
    if not metavar.startswith("FILE"):
        return None
    takes_specs = not action.option_strings and search(r"\bspecs?\b", action.help or "") is not None
    return _SPECS if takes_specs else shtab.FILE
