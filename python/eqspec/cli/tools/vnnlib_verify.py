"""`eqspec verify-vnnlib`: answer a VNN-LIB file, on the command line of the competitions or of the standard."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import show, show_warnings
from eqspec.cli.tools.vnnlib_import import networks
from eqspec.errors import EqspecError, InputError, SpecError
from eqspec.report.atomic_file import write_file
from eqspec.vnnlib.answering import Answer, Answered, answer


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    results: Path | None = arguments.output
    words: list[str] = arguments.words
    if len(words) in (4, 6):
        results = Path(words[-2])
    try:
        query, files, timeout = _asked(arguments)
        found = answer(
            query, files, timeout=timeout, threads=arguments.threads, memory=arguments.memory, as_real=arguments.as_real
        )
        show_warnings(found.warnings, err)
    except SpecError as problem:
        show(problem, err)
        found = Answered(Answer.ERROR)
    except EqspecError as problem:
        err.print(Text.assemble(("error", "bold red"), f": {problem}"), soft_wrap=True)
        found = Answered(Answer.ERROR)
    except Exception:
        _write("error", results, out)
        raise
    word: str = found.answer
    if found.answer is Answer.TIMEOUT and len(words) == 1:
        word = "timed-out"
    _write(word if found.assignment is None else f"{word}\n{found.assignment.written()}", results, out)
    if found.reason is not None:
        err.print(Text(f"{word}: {found.reason}"), soft_wrap=True)
    if found.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.BAD_INPUT if found.answer is Answer.ERROR else ExitCode.AS_EXPECTED


def _write(text: str, results: Path | None, out: Console) -> None:
    out.file.write(text + "\n")
    out.file.flush()
    if results is not None:
        write_file(results, text + "\n")


def _asked(arguments: argparse.Namespace) -> tuple[Path, dict[str, Path], float | None]:
    """The query, its networks and the seconds. InputError where they cannot be told from the arguments."""
    words: list[str] = arguments.words
    given = networks(arguments)
    timeout: float | None = arguments.timeout
    if len(words) == 1:
        query = Path(words[0])
    elif len(words) in (4, 6):
        if given:
            raise InputError("the competition's arguments name the network; leave --network out")
        if len(words) == 6 and words[0] != "v1":
            raise InputError(f"version {words[0]!r} of the competition's command line is not known; v1 is")
        network, path, _, seconds = words[-4:]
        query, given = Path(path), _pair(network)
        try:
            timeout = float(seconds)
        except ValueError:
            raise InputError(f"{seconds!r} is not a number of seconds") from None
    else:
        raise InputError(
            f"{len(words)} arguments: give the query alone, or [v1 CATEGORY] NETWORK QUERY RESULTS SECONDS"
        )
    if timeout is not None and not timeout >= 0:
        raise InputError(f"--timeout {timeout} is not a time; give seconds, 0 or more")
    return query, given, timeout


def _pair(word: str) -> dict[str, Path]:
    """The networks of an instance: a file, or a list of names and files."""
    if not word.lstrip().startswith("["):
        return {"f": Path(word)}
    try:
        listed = [(str(name), Path(path)) for name, path in ast.literal_eval(word)]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise InputError(f"{word!r} is not a list of networks; write [('f','a.onnx'),('g','b.onnx')]") from None
    found = dict(listed)
    if len(found) < len(listed):
        raise InputError(f"{word!r} has two networks of one name")
    return found
