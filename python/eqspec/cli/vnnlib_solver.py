"""`eqspec-vnnlib`: the command line of solvers that chapter 5 of the VNN-LIB 2.0 standard lays down.

    eqspec-vnnlib verify QUERY.vnnlib --network f=a.onnx --network g=b.onnx --timeout 60
    eqspec-vnnlib supports --onnx-element-types
    eqspec-vnnlib --name

Answers go to the standard output, and everything else, reasons and errors among it, to the standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eqspec import __version__
from eqspec.cli.stopping import ended_by_signals

if TYPE_CHECKING:
    from rich.console import Console

    from eqspec.cli.exit import ExitCode

NAME = "eqspec"
_EPILOG = """\
'verify' prints sat, unsat, unknown or timed-out, and an assignment behind sat.

exit codes: 0 answered, whatever the answer; 2 error: a file or an argument cannot be used; 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `eqspec-vnnlib` with arguments (by default those of the process); its exit code."""
    with ended_by_signals():
        from eqspec.cli.command import run

        arguments = _read(sys.argv[1:] if argv is None else argv)
    return run(arguments)


def _read(words: Sequence[str]) -> argparse.Namespace:
    from eqspec.cli.commands import Fitted, Parser
    from eqspec.cli.options.vnnlib_import import add_networks
    from eqspec.report.printable import use_what_there_is
    from eqspec.vnnlib.capabilities import ALSO, CAPABILITIES

    use_what_there_is()
    main = Parser("eqspec-vnnlib", description="Answers VNN-LIB queries.", epilog=_EPILOG, formatter_class=Fitted)
    main.allow_abbrev = False
    main.add_argument("--name", action="version", version=NAME, help="print the name of the solver, and end")
    main.add_argument("--version", action="version", version=__version__, help="print its version, and end")
    commands = main.add_subparsers(dest="command", metavar="COMMAND", required=True)

    verify = commands.add_parser("verify", help="answer a query", description="Answer a query.", allow_abbrev=False)
    verify.add_argument("query", type=Path, metavar="QUERY", help="a VNN-LIB file, 1.0 or 2.0")
    add_networks(verify)
    verify.add_argument("--timeout", type=float, metavar="S", help="seconds, reading included (default: no limit)")
    verify.add_argument("--threads", type=int, metavar="N", help="threads (default: one per core)")
    verify.add_argument("--serialise-assignments", metavar="DIR", help="not supported: assignments are printed")
    verify.add_argument("--debug", action="store_true", help="show where it failed, if it does")
    verify.set_defaults(run=_verify)

    about = "Say what is supported, a line for each."
    supports = commands.add_parser("supports", help="say what is supported", description=about, allow_abbrev=False)
    one = supports.add_mutually_exclusive_group()
    for name, summary in CAPABILITIES.items():
        also = [f"--{other}" for other, meant in ALSO.items() if meant == name]
        one.add_argument(f"--{name}", *also, dest="capability", action="store_const", const=name, help=summary)
    supports.set_defaults(run=_supports, debug=False)

    arguments, left = main.parse_known_args(words)
    if left:
        {"verify": verify, "supports": supports}[arguments.command].refuse(left)
    if arguments.command == "supports" and arguments.capability is None:
        supports.error("name a capability, such as --onnx-element-types")
    return arguments


def _supports(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    from eqspec.cli.exit import ExitCode
    from eqspec.vnnlib.capabilities import supported

    out.file.write("".join(f"{line}\n" for line in supported(arguments.capability)))
    if arguments.capability == "multiple-network-theories":
        err.print("note: of two networks at most", soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _verify(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Answer the query. InputError, or SpecError as a message, for what cannot be used."""
    from rich.text import Text

    from eqspec.cli.exit import ExitCode
    from eqspec.cli.tools.common import show, show_warnings
    from eqspec.cli.tools.vnnlib_import import networks
    from eqspec.errors import InputError, SpecError
    from eqspec.vnnlib.answering import Answer, answer

    timeout: float | None = arguments.timeout
    if timeout is not None and not timeout >= 0:
        raise InputError(f"--timeout {timeout} is not a time; give seconds, 0 or more")
    if arguments.serialise_assignments is not None:
        err.print("note: --serialise-assignments is not supported; an assignment is printed", soft_wrap=True)
    try:
        found = answer(arguments.query, networks(arguments), timeout=timeout, threads=arguments.threads)
    except SpecError as problem:
        show(problem, err)
        return ExitCode.BAD_INPUT
    show_warnings(found.warnings, err)
    word = "timed-out" if found.answer is Answer.TIMEOUT else found.answer.value
    out.file.write(word + "\n" if found.assignment is None else f"{word}\n{found.assignment.written()}\n")
    if found.reason is not None:
        err.print(Text(f"{word}: {found.reason}"), soft_wrap=True)
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.AS_EXPECTED
