"""The commands: what each is for, in which module it is defined, and the parser of the command line.

What a command takes stands in a module of `options`, which is imported when the command is named, or when the options
of all commands are wanted, as by `eqspec completion`. These modules import next to nothing, so that `--help` and what
is wrong with a command line are shown at once. What runs the command is imported when its line is known to be right.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from eqspec import __version__
from eqspec.report.printable import harmless, use_what_there_is

if TYPE_CHECKING:
    from rich.console import Console

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_DESCRIPTION = (
    "Proves that two neural networks behave equivalently on a region of inputs, or shows an input where they do not."
)


class Listed(NamedTuple):
    """A command's line in the list of commands, and the module that has its `run`."""

    summary: str
    module: str

    @property
    def options(self) -> str:
        """The module that has its `add(commands)`, of the same name."""
        return f"eqspec.cli.options.{self.module.rpartition('.')[2]}"

    def run(self, arguments: argparse.Namespace, out: Console, err: Console) -> int:
        """Run the command with its arguments."""
        code: int = import_module(self.module).run(arguments, out, err)
        return code


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
    "counterexamples": Listed(
        "find many inputs that break a claim, far apart, to learn from", "eqspec.cli.tools.counterexamples"
    ),
    "audit": Listed("check certificates that 'eqspec check --certify' wrote", "eqspec.cli.tools.audit"),
    "report": Listed("show results from files, as a page or in another form", "eqspec.cli.tools.report"),
    "schema": Listed("print the JSON schema of tasks, results or findings", "eqspec.cli.tools.schema"),
    "import": Listed("write a VNN-LIB file as a spec", "eqspec.cli.tools.vnnlib_import"),
    "export": Listed(
        "write the tasks of a spec for other verifiers, or a network that it derives", "eqspec.cli.tools.export"
    ),
    "verify-vnnlib": Listed("answer a VNN-LIB file with sat, unsat or unknown", "eqspec.cli.tools.vnnlib_verify"),
    "doctor": Listed("look whether everything eqspec needs works on this machine", "eqspec.cli.tools.doctor"),
    "lsp": Listed("serve an editor: findings, completion and verdicts while a spec is written", "eqspec.cli.tools.lsp"),
    "completion": Listed(
        "print a script for your shell that completes commands, options and files", "eqspec.cli.tools.completion"
    ),
    "cache": Listed("where results are kept, and how many; or forget them", "eqspec.cli.tools.cache"),
}


class Fitted(argparse.HelpFormatter):
    """Folds paragraphs anew, and keeps the lines of tables and lists, which are indented or in columns.

    A line that does not fit goes on where its second column began, or at its indentation.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        for line in text.splitlines():
            if lines and all(re.fullmatch(r"\S+( \S+)*", each) for each in (lines[-1], line)):
                lines[-1] += f" {line}"
            else:
                lines.append(line)
        return "\n".join(self._fitted(indent + line, width) for line in lines)

    @staticmethod
    def _fitted(line: str, width: int) -> str:
        column = re.match(r"\s*(\S+( \S+)*\s{2,}(?=\S))?", line)
        further = " " * (column.end() if column is not None and column.end() <= width // 2 else 0)
        return textwrap.fill(line, width, subsequent_indent=further, break_on_hyphens=False, break_long_words=False)


_COMMAND_OF_FILE = {
    ".eqspec": "check",
    ".onnx": "inspect",
    ".nnet": "inspect",
    ".eqcert": "audit",
    ".json": "report",
    ".jsonl": "report",
    ".vnnlib": "import",
}
"""What a file is given to that stands where a command is expected."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that says what is wrong and suggests the word that was probably meant.

    Control characters of arguments are shown in its messages, instead of being sent.
    """

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(harmless(message) if message else message, file)

    def error(self, message: str) -> NoReturn:
        """End the process with a line on the standard error. Of a missing word it says which ones there are."""
        missing = message.rpartition(": ")[2].split(", ") if message.startswith("the following arguments") else []
        choices = [one.choices for one in self._actions if one.choices and one.dest in missing and one.metavar is None]
        listed = "".join(f", one of {', '.join(map(str, some))}" for some in choices)
        said = f"{self.prog}: error: {message}{listed}; see '{self.prog} --help'"
        if sys.stderr is not None and sys.stderr.isatty():
            width = shutil.get_terminal_size().columns
            said = textwrap.fill(said, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        self.exit(2, f"{said}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = [str(choice) for choice in action.choices or ()]
        if action.choices is None or value in action.choices:
            return
        if action.dest == "command":
            meant = _of_file(str(value)) or _meant(str(value), choices)
            raise argparse.ArgumentError(None, f"there is no command {value!r}{meant}")
        listed = f"; choose from {', '.join(choices)}"
        raise argparse.ArgumentError(action, f"there is no {value!r}{_meant(str(value), choices) or listed}")

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        """The value of an argument. What is no number is told in plain words."""
        if action.type in (int, float):
            try:
                return action.type(text)
            except ValueError:
                kind = "a whole number" if action.type is int else "a number"
                plain = re.match(r"[-+]?\d+(\.\d+)?", text)
                example = "" if plain is None or action.type is int else f"; give {plain[0]}"
                raise argparse.ArgumentError(action, f"{text!r} is not {kind}{example}") from None
        return super()._get_value(action, text)

    def refuse(self, left: Sequence[str]) -> NoReturn:
        """End the process over words that no option or argument takes, suggesting what was probably meant."""
        options = [name for action in self._actions for name in action.option_strings]
        word = next((word for word in left if word.startswith("-")), left[0])
        name = word.partition("=")[0]
        what = f"there is no option {name}{_meant(name, options)}" if word.startswith("-") else f"{word!r} is too much"
        self.error(what)


def _of_file(word: str) -> str:
    """, did you mean the command that takes such a file? Empty where the word is no name of one."""
    command = _COMMAND_OF_FILE.get(PurePath(word).suffix.lower())
    return "" if command is None else f", did you mean 'eqspec {command} {word}'?"


def _meant(word: str, known: Sequence[str]) -> str:
    """, did you mean this? Empty where nothing is near."""
    from eqspec.spec.suggest import closest, distance  # a command line without mistakes does not need the language

    near = closest(word, known)
    if near is None or 3 * distance(word, near) > max(len(word), len(near)):
        return ""  # every short word is two letters from another
    return f", did you mean {near}?"


def parser(version: str, chosen: Collection[str] = tuple(COMMANDS)) -> Parser:
    """The parser of `eqspec`. All commands are known to it, and those that are `chosen` have their options."""
    main = Parser("eqspec", description=_DESCRIPTION, allow_abbrev=False)
    main.add_argument("--version", action="version", version=f"eqspec {version}")
    commands = main.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, listed in COMMANDS.items():
        if name in chosen:
            import_module(listed.options).add(commands)
        else:
            commands.add_parser(name, help=listed.summary)
    return main


def read(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command that these words name, whose `run` runs it. SystemExit where argparse ends it all.

    `eqspec` itself has options without values, so the first word that is none names the command.
    """
    use_what_there_is()
    word = next((word for word in words if not word.startswith("-")), "")
    main = parser(__version__, [word])
    if not words:  # somebody who looks what there is
        main.print_help(sys.stderr)
        raise SystemExit(2)
    if not word and words[0] not in main._option_string_actions:
        main.refuse(words)
    arguments, left = main.parse_known_args(words)
    if left:
        of_command = next(action for action in main._actions if action.dest == "command")
        assert isinstance(of_command.choices, dict)
        of_command.choices[arguments.command].refuse(left)
    import_module(COMMANDS[arguments.command].module)  # here, where a signal ends it all at once
    return arguments


def command(commands: Commands, name: str, description: str | None = None) -> argparse.ArgumentParser:
    """A command with the option that all have; by default it is described as in the list of commands."""
    summary = COMMANDS[name].summary
    made = commands.add_parser(
        name,
        help=summary,
        description=description or summary[0].upper() + summary[1:] + ".",
        formatter_class=Fitted,
        allow_abbrev=False,
    )
    made.set_defaults(run=COMMANDS[name].run)
    made.add_argument("--debug", action="store_true", help="show where eqspec failed, if it does")
    return made
