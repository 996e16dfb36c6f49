"""`eqspec doctor`: does everything work here, and what to do where it does not."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqspec.cli.exit import ExitCode
from eqspec.doctor import Finding, examine
from eqspec.report.numbers import plural
from eqspec.report.printable import shown_in_json

_MARKS = {"ok": Text("ok", "green"), "note": Text("note", "yellow"), "problem": Text("problem", "bold red")}


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    findings = [*examine(), *_terminal(err)]
    problems = sum(finding.state == "problem" for finding in findings)
    if arguments.format == "json":
        whole = json.dumps([asdict(f) for f in findings], indent=2, ensure_ascii=False)
        out.file.write(shown_in_json(whole) + "\n")
    else:
        out.print(_table(findings))
        last = f"{plural(problems, 'problem')}" if problems else "All that is needed works"
        out.print(Text(f"\n{last}", "bold red" if problems else "bold green"), soft_wrap=True)
    return ExitCode.NOT_AS_EXPECTED if problems else ExitCode.AS_EXPECTED


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        table.add_row(_MARKS[finding.state], Text(finding.name), Text(finding.value))
        if finding.advice:
            table.add_row("", "", Text(f"-> {finding.advice}", "yellow"))
    return table


def _terminal(err: Console) -> Iterator[Finding]:
    """Progress is drawn on the terminal behind standard error."""
    encoding = err.encoding.lower().replace("-", "")
    if encoding != "utf8":
        advice = "set PYTHONUTF8=1, or a locale such as C.UTF-8"
        yield Finding("terminal", "note", f"writes {err.encoding}, so some signs of formulas may fail", advice)
    elif not err.is_terminal:
        yield Finding("terminal", "ok", "none: a line for each finished task instead of live progress")
    elif err.width < 60:
        yield Finding("terminal", "note", f"{err.width} columns", "tables read better with 80 or more")
    else:
        colours = err.color_system or "no colours"
        yield Finding("terminal", "ok", f"{err.width} columns, {colours}")
