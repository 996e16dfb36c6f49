"""What `eqspec report` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command

FORMATS = ("html", "json", "jsonl", "junit", "sarif", "github", "table")
"""The forms of `eqspec.report.formats`."""
_FORMATS = """\
forms:
  html    one page that needs no network, script or installation
  json    a list with one object per task ('eqspec schema result')
  jsonl   the same, one object per line
  junit   XML for CI servers
  sarif   for code scanning
  github  annotations of GitHub Actions
  table   what 'eqspec check' shows on a terminal
With --against: html, json, junit, github and table, of what changed. The exit code is 1 if a verdict got worse.
A file's ending says the form: .html, .json, .jsonl, .xml (junit), .sarif, .txt (table).
"""


def add(commands: Commands) -> None:
    """Add the command."""
    report = command(
        commands,
        "report",
        "Show results that 'eqspec check' wrote as JSON or JSON Lines: as a page, or in another form. Several files\n"
        "are joined in order. Nothing is run, and the networks are not needed. With --against two runs are compared.",
    )
    report.add_argument("files", nargs="+", metavar="RESULTS", help="results as JSON or JSON Lines; - for the input")
    report.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to this file")
    report.add_argument(
        "--format", choices=FORMATS, help="the form (default: what the file's ending says, else a table)"
    )
    report.add_argument(
        "--against", metavar="OLD", help="compare with the results of an earlier run: what got worse, better or slower"
    )
    report.add_argument("--title", help="title of the page (default: the names of the specs)")
    report.epilog = _FORMATS
