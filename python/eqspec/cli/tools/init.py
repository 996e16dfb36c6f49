"""`eqspec init`: a first spec for two networks, to be read, corrected and kept beside them."""

from __future__ import annotations

import argparse
import shlex
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.pair_arguments import read, write_new
from eqspec.draft.first_spec import first_spec
from eqspec.errors import InputError


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    if not arguments.probe >= 0:
        raise InputError(f"--probe {arguments.probe}; give seconds, 0 or more")
    _refuse_unfit(arguments.output)
    pair, known = read(arguments, err, to_keep=True)
    path = arguments.output or Path(f"{pair.candidate_name}.eqspec")
    _refuse_unfit(path)
    with err.status("trying how far the claim holds ...") if err.is_terminal else nullcontext():
        text = first_spec(pair, known, path, arguments.probe)
    write_new(path, text)
    out.print(Text(f"wrote {path}"), soft_wrap=True)
    err.print(Text(f"next: read it, then run  eqspec check {shlex.quote(str(path))}", no_wrap=True), soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _refuse_unfit(path: Path | None) -> None:
    if path is not None and path.exists():
        raise InputError(f"{path} is there already and is left as it is; give another name with -o")
    if path is not None and not path.parent.is_dir():  # networks and tables are named by their paths from there
        where = f"there is no folder {path.parent}"
        raise InputError(f"cannot write to {path}: {where}; make it, or give another name with -o")
