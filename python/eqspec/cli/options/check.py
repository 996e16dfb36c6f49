"""What `eqspec check` takes on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_effort, add_params

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
  141  the program that reads the output ended before all was written
  143  as 130, by SIGTERM
If several apply, the first of 143, 130, 2, 4, 75, 1, 5, 3, 0 counts.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    check = command(
        commands,
        "check",
        "Decide every claim of spec files: prove it, or show an input where it does not hold.",
    )
    check.epilog = _CODES
    check.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="spec files (*.eqspec), or folders of them; without any, all below this folder",
    )
    check.add_argument(
        "--watch",
        action="store_true",
        help="go on: check again what a file that changes touches, until Ctrl-C, which ends with the last verdicts",
    )
    _selection(check.add_argument_group("what to run"))
    effort = check.add_argument_group("how to run")
    add_effort(effort)
    effort.add_argument(
        "--jobs", type=int, metavar="N", help="tasks at once (default: what the spec says, at most one per core)"
    )
    _output(check.add_argument_group("what to show"))


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


def _output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        choices=("human", "json", "jsonl"),
        help="a table, or a JSON object per task: in a list, or one to a line (default: what the ending of -o says, "
        "else a table)",
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
