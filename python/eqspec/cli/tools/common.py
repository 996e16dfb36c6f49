"""What the commands share: how specs are read, and how findings are shown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from eqspec import compile as compiler
from eqspec.errors import Diagnostic, SpecError
from eqspec.report import diagnostics
from eqspec.spec.findings import Fault, error
from eqspec.spec.source_files import read_spec

STDIN = "-"


def read_text(file: str) -> tuple[str, str]:
    """The text of a spec, or of the standard input for `-`, and what to call it. SpecError if it cannot be read."""
    if file == STDIN:
        try:
            return sys.stdin.read(), "<stdin>"
        except UnicodeDecodeError:
            message, fix = "cannot read '<stdin>': it is not text in the encoding of this terminal", "give it as a file"
            raise SpecError([error("E111", message, None, help=fix)]) from None
    try:
        return read_spec(Path(file), file), file
    except Fault as fault:
        raise SpecError([fault.diagnostic] if fault.diagnostic else []) from None


def load(subject: str, params: Sequence[tuple[str, str]], err: Console) -> compiler.Compiled | None:
    """A spec, or one check of it behind a colon, compiled; None if it cannot be used. `err` is told what is wrong."""
    file, colon, check = subject.rpartition(":")
    whole = not colon or Path(subject).exists()
    try:
        compiled = compiler.load(subject if whole else file, dict(params), only=None if whole else [check])
    except SpecError as problem:
        show(problem, err)
        return None
    show_warnings(compiled.diagnostics, err)
    return compiled


def show(problem: SpecError, err: Console) -> None:
    """Everything that is wrong with a spec."""
    err.print(diagnostics.of_error(problem, err.width), soft_wrap=True)


def show_warnings(warnings: tuple[Diagnostic, ...], err: Console) -> None:
    """What was noticed on the way."""
    if warnings:
        err.print(diagnostics.text(warnings, width=err.width), soft_wrap=True)
