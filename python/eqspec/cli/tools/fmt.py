"""`eqspec fmt`: write specs in one style, or say which are not."""

from __future__ import annotations

import argparse
import os
import tempfile
from difflib import unified_diff
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.spec_files import spec_files
from eqspec.cli.tools.common import STDIN, read_text, show
from eqspec.errors import SpecError, unwritten
from eqspec.spec.formatting import formatted

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    code = ExitCode.AS_EXPECTED
    for file in spec_files(arguments.files):
        try:
            text, name = read_text(file)
            new = formatted(text, name)
        except SpecError as problem:
            show(problem, err)
            code = ExitCode.BAD_INPUT
            continue
        only_asked = arguments.check or arguments.diff
        if new != text and only_asked and code is ExitCode.AS_EXPECTED:
            code = ExitCode.NOT_AS_EXPECTED
        if arguments.check:
            if new != text:
                out.print(Text(f"{name} would change"), soft_wrap=True)
        elif arguments.diff:
            _show_diff(text, new, name, out)
        elif file == STDIN:
            out.file.write(new)
        elif new != text:
            _replace(Path(file), new)
            err.print(Text(f"formatted {name}"), soft_wrap=True)
    return code


def _show_diff(old: str, new: str, name: str, out: Console) -> None:
    for line in unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (formatted)", lineterm=""):
        out.print(Text(line, _STYLES.get(line[:1], ""), no_wrap=True), soft_wrap=True)


def _replace(path: Path, text: str) -> None:
    """Write all of it or nothing: a file beside it takes its place, with the same permissions."""
    target = path.resolve()  # a link stays a link
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).chmod(target.stat().st_mode)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritten(path, error) from None
