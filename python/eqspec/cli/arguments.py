"""The command line: what can be asked, and how it is explained."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from eqspec.api.settings import SETTINGS
from eqspec.cli.cache_options import add_cache_options
from eqspec.report.terminal import shown
from eqspec.run.certifier import Certifier
from eqspec.run.options import Options

_DESCRIPTION = "Proves that two neural networks behave equivalently on a region of inputs, or shows an input where not."
_CODES = """\
exit codes:
  0    everything as expected: where a check says 'expect', that; else the claim holds, and not vacuously
  1    something decided, and not as expected
  2    a spec, a network or an argument cannot be used (other files are run all the same)
  3    something left undecided, nothing else wrong
  4    eqspec itself failed
  5    a certificate is missing that --certify asked for, the verdicts being as expected or undecided
  75   the machine did not give what was needed: threads, memory, room on a disk; trying again may help
  130  interrupted by Ctrl-C; what was known by then is printed, and kept
  143  the same by SIGTERM
If several apply, the first of 143, 130, 2, 4, 75, 1, 5, 3, 0 counts.
"""


class Command(Protocol):
    """A command with its own module: `add` puts it into the parser, with its function as `run`."""

    def add(self, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None: ...  # noqa: D102


class _Parser(argparse.ArgumentParser):
    """Shows control characters of arguments in its messages, instead of sending them."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(shown(message) if message else message, file)


def parser(version: str, tools: Iterable[Command] = ()) -> argparse.ArgumentParser:
    """The parser of `eqspec`: `check`, and other commands."""
    main: argparse.ArgumentParser = _Parser("eqspec", description=_DESCRIPTION, allow_abbrev=False)
    main.add_argument("--version", action="version", version=f"eqspec {version}")
    commands = main.add_subparsers(dest="command", metavar="COMMAND", required=True)
    check = commands.add_parser(
        "check",
        help="decide every claim of spec files",
        description="Decide every claim of spec files: prove it, or show an input where it does not hold.",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    check.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="spec files (*.eqspec), or folders of them; without any, all below this folder",
    )
    _selection(check.add_argument_group("what to run"))
    effort = check.add_argument_group("how to run")
    add_effort(effort)
    effort.add_argument(
        "--jobs", type=int, metavar="N", help="tasks at once (default: what the spec says, at most one per core)"
    )
    _output(check.add_argument_group("what to show"))
    for tool in tools:
        tool.add(commands)
    return main


def _selection(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--select",
        action="append",
        metavar="PATTERN",
        help="only tasks whose id, as near[delta=0.9], or check matches; * and ? stand for anything; repeatable",
    )
    group.add_argument("-c", "--check", action="append", metavar="NAME", help="only this check; repeatable")
    group.add_argument("-t", "--tag", action="append", metavar="TAG", help="only checks with this tag; repeatable")
    add_params(group)


def add_params(group: argparse._ActionsContainer) -> None:
    """The option that gives a `param` of a spec a value."""
    group.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        type=parameter,
        metavar="NAME=VALUE",
        help="give a 'param' a value",
    )


def add_effort(group: argparse._ArgumentGroup) -> None:
    """What a task may cost and how it is decided: the table of settings as options."""
    for setting in SETTINGS:
        default = getattr(Options, setting.name)
        group.add_argument(setting.option, dest=setting.name, default=default, help=setting.help, **setting.argument)
    add_cache_options(group)


def options_of(arguments: argparse.Namespace, certifier: Certifier | None = None) -> Options:
    """How to run, as the command line says. InputError for a value that makes no sense."""
    chosen = {setting.name: getattr(arguments, setting.name) for setting in SETTINGS}
    return Options(**chosen, certifier=certifier)


def _output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        choices=("human", "json", "jsonl"),
        default="human",
        help="a table, or a JSON object per task: in a list, or one to a line",
    )
    group.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write it to a file; the terminal still shows the table"
    )
    group.add_argument(
        "--report",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="also write a report; the ending says which: .html, .json, .jsonl, .xml (JUnit), .sarif, .txt; repeatable",
    )
    group.add_argument(
        "--github",
        action=argparse.BooleanOptionalAction,
        help="mark what is not as expected in GitHub Actions (default: where GITHUB_ACTIONS is true)",
    )
    group.add_argument(
        "--save-witness", type=Path, metavar="DIR", help="write every input that breaks a claim, as .json and .npy"
    )
    group.add_argument(
        "--explain-search", action="store_true", help="show where each search went and what it left open"
    )
    group.add_argument(
        "--certify", type=Path, metavar="DIR", help="write a certificate of every verdict, which 'eqspec audit' checks"
    )
    group.add_argument("--debug", action="store_true", help="show where eqspec failed, if it does")


def parameter(text: str) -> tuple[str, str]:
    """NAME=VALUE as a pair."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name.strip(), value.strip()
