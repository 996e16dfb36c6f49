"""The command `eqspec`: arguments in, exit code out; everything else is done by the library.

This module imports next to nothing, so that a signal is heard while the rest is imported: first what reads the command
line, then the command that it names.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from eqspec.cli.stopping import ended_by_signals

if TYPE_CHECKING:
    from eqspec.cli.exit import ExitCode

__all__ = ["ExitCode", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `eqspec` with arguments (by default those of the process); its exit code, see `ExitCode`."""
    with ended_by_signals():
        from eqspec.cli import commands

        arguments = commands.read(sys.argv[1:] if argv is None else argv)
        from eqspec.cli.command import run
    return run(arguments)


def __getattr__(name: str) -> Any:
    if name != "ExitCode":
        raise AttributeError(f"module 'eqspec.cli' has no attribute {name!r}")
    return import_module("eqspec.cli.exit").ExitCode
