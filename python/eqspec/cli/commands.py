"""The commands: what each is for, in which module it is defined, and the parser of the command line.

A module is imported when its command is run, or when the options of all commands are wanted, as by `eqspec completion`.
What all commands need is little, so `eqspec --help` lists them at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from eqspec import __version__
from eqspec.report.printable import shown, use_what_there_is

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_DESCRIPTION = "Proves that two neural networks behave equivalently on a region of inputs, or shows an input where not."


class Listed(NamedTuple):
    """What the list of commands says of one, and the module that has `add(commands)` and runs it."""

    summary: str
    module: str


COMMANDS = {
    "check": Listed("decide every claim of spec files", "eqspec.cli.check"),
    "verify": Listed("answer one question about two networks without a spec", "eqspec.cli.tools.verify"),
    "diff": Listed("show how two networks differ, by samples and layer by layer", "eqspec.cli.tools.diff"),
    "init": Listed("write a first spec for two networks", "eqspec.cli.tools.init"),
    "lint": Listed(
        "find what is wrong with spec files, their networks and their data, without proving anything",
        "eqspec.cli.tools.lint",
    ),
    "explain": Listed("say what a check claims, or what a finding such as E133 means", "eqspec.cli.tools.explain"),
    "fmt": Listed("write spec files in one style, comments kept", "eqspec.cli.tools.fmt"),
    "inspect": Listed("show what a network file holds, and whether it can be used", "eqspec.cli.tools.inspect"),
    "compile": Listed("write the tasks of spec files as JSON", "eqspec.cli.tools.compile"),
    "replay": Listed(
        "evaluate every witness of a results file again, exactly and in onnxruntime", "eqspec.cli.tools.replay"
    ),
    "audit": Listed("check certificates that 'eqspec check --certify' wrote", "eqspec.cli.tools.audit"),
    "report": Listed("show results from files, as a page or in another form", "eqspec.cli.tools.report"),
    "schema": Listed("print the JSON schema of tasks, results or findings", "eqspec.cli.tools.schema"),
    "import": Listed("write a VNN-LIB file as a spec", "eqspec.cli.tools.vnnlib_import"),
    "export": Listed("write the tasks of a spec for other verifiers", "eqspec.cli.tools.export"),
    "verify-vnnlib": Listed("answer a VNN-LIB file with sat, unsat or unknown", "eqspec.cli.tools.vnnlib_verify"),
    "doctor": Listed("look whether everything eqspec needs works on this machine", "eqspec.cli.tools.doctor"),
    "lsp": Listed("serve an editor: findings, completion and verdicts while a spec is written", "eqspec.cli.tools.lsp"),
    "completion": Listed(
        "print a script for your shell that completes commands, options and files", "eqspec.cli.tools.completion"
    ),
    "cache": Listed("where results are kept, and how many; or forget them", "eqspec.cli.tools.cache"),
}


class _Parser(argparse.ArgumentParser):
    """Shows control characters of arguments in its messages, instead of sending them."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(shown(message) if message else message, file)


def parser(version: str, chosen: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of `eqspec`. All commands are known to it, and those that are `chosen` have their options."""
    main: argparse.ArgumentParser = _Parser("eqspec", description=_DESCRIPTION, allow_abbrev=False)
    main.add_argument("--version", action="version", version=f"eqspec {version}")
    commands = main.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, listed in COMMANDS.items():
        if name in chosen:
            import_module(listed.module).add(commands)
        else:
            commands.add_parser(name, help=listed.summary)
    return main


def read(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command that these words name, whose `run` runs it. SystemExit where argparse ends it all.

    `eqspec` itself has options without values, so the first word that is none names the command.
    """
    use_what_there_is()
    word = next((word for word in words if not word.startswith("-")), "")
    return parser(__version__, [word]).parse_args(words)


def command(commands: Commands, name: str, description: str | None = None) -> argparse.ArgumentParser:
    """A command with the option that all have; by default it is described as in the list of commands."""
    summary = COMMANDS[name].summary
    made = commands.add_parser(
        name,
        help=summary,
        description=description or summary[0].upper() + summary[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--debug", action="store_true", help="show where eqspec failed, if it does")
    return made
