"""`eqspec replay`: whether the inputs in a results file really break their claims."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.errors import InputError
from eqspec.replay.recheck import Replayed, replay_all
from eqspec.report.numbers import plural
from eqspec.report.table import runtime_said
from eqspec.vnnlib.replaying import replay_assignment


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:  # noqa: ARG001
    """Run the command."""
    if arguments.assignment is not None:
        return _run_assignment(arguments.files, arguments.assignment, out)
    replayed: list[Replayed] = []
    for file in arguments.files:
        for one in replay_all(_content(file), file.parent):
            _show(one, out)
            replayed.append(one)
    wrong = sum(one.witness is None for one in replayed)
    if not replayed:
        out.print("no witnesses: nothing was found different", soft_wrap=True)
    else:
        good = len(replayed) - wrong
        out.print(Text(f"{plural(good, 'input')} confirmed, {wrong} not"), soft_wrap=True)
    return ExitCode.NOT_AS_EXPECTED if wrong else ExitCode.AS_EXPECTED


def _run_assignment(files: list[Path], answer: Path, out: Console) -> ExitCode:
    """One answer of another verifier to one task."""
    if len(files) != 1:
        raise InputError(f"an assignment belongs to one task; {len(files)} files are given")
    task = _content(files[0])
    if not isinstance(task, dict) or "schema" not in task:
        raise InputError(f"{files[0]} is not a task; give the .task.json that 'eqspec export' wrote")
    try:
        text = answer.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {answer}: {error}") from None
    found = replay_assignment(task, text, files[0].parent)
    if isinstance(found, str):
        out.print(Text.assemble((str(task["id"]), "bold"), "  ", ("not confirmed", "bold red"), f": {found}"))
        return ExitCode.NOT_AS_EXPECTED
    _show(found, out)
    return ExitCode.AS_EXPECTED


def _content(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"cannot read {file}: it is not JSON ({error})") from None


def _show(one: Replayed, out: Console) -> None:
    if one.witness is None:
        verdict = Text.assemble(("not confirmed", "bold red"), f": {one.reason}")
    else:
        verdict = Text.assemble(("confirmed", "bold green"), f": {one.witness.statement}")
    out.print(Text.assemble((one.id, "bold"), "  ", verdict), soft_wrap=True)
    if one.witness is None:
        return
    note = Text.assemble("  ", runtime_said(one.witness))
    if one.witness.onnxruntime_confirms is not one.recorded.onnxruntime_confirms:
        note.append(" (this is not what the file says)", "yellow")
    out.print(note, soft_wrap=True)
