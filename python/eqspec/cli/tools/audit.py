"""`eqspec audit`: do certificates hold?"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.certificates import SUFFIX, Auditor
from eqspec.cli.exit import ExitCode
from eqspec.cli.tools.common import Commands, command
from eqspec.errors import InputError
from eqspec.report.numbers import count, plural


def add(commands: Commands) -> None:
    """Add the command."""
    audit = command(
        commands,
        "audit",
        "check certificates that 'eqspec check --certify' wrote",
        "Check certificates: every step of a proof, every input that breaks a claim, on the network files as they are\n"
        "now. The auditor is small, shares nothing with the search, and runs in a process of its own; it also runs\n"
        "where the compiled core does not: python path/to/eqspec/audit CERTIFICATE.",
    )
    audit.add_argument("files", nargs="+", type=Path, metavar="CERTIFICATE", help=f"*{SUFFIX} files, or folders")
    audit.add_argument("--networks", type=Path, metavar="DIR", help="where the network files are, if they were moved")
    audit.epilog = "exit codes: 0 every certificate holds; 1 one does not; 2 there is none, or a file cannot be used"
    audit.set_defaults(run=run)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:  # noqa: ARG001
    """Run the command."""
    refused = 0
    files = [file for given in arguments.files for file in _files(given)]
    with Auditor() as auditor:
        for file in files:
            answer = auditor.ask(file, arguments.networks)
            if answer.refused is not None:
                refused += 1
                text = Text.assemble((str(file), "bold"), "  ", ("refused", "bold red"), f": {answer.refused}")
            else:
                what = f" ({count(answer.leaves)} leaves, {count(answer.rounds)} rounds)"
                checked = what if answer.verdict == "equivalent" else ""
                good = (answer.verdict, "bold green")
                text = Text.assemble((str(file), "bold"), "  ", good, f": {answer.claim}{checked}")
            out.print(text, soft_wrap=True)
    out.print(f"{plural(len(files) - refused, 'certificate')} hold, {refused} refused", soft_wrap=True)
    return ExitCode.NOT_AS_EXPECTED if refused else ExitCode.AS_EXPECTED


def _files(given: Path) -> list[Path]:
    files = sorted(given.glob("*" + SUFFIX)) if given.is_dir() else [given]
    if not files or not all(file.is_file() for file in files):
        raise InputError(f"there is no certificate at {given}; 'eqspec check --certify DIR' writes them")
    return files
