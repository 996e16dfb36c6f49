"""What `eqspec fmt` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command

_CODES = """\
exit codes: 0 done, or nothing to do; 1 with --check or --diff: a file would change; 2 a file cannot be read or has
errors, and is left as it is (the others are formatted all the same)"""


def add(commands: Commands) -> None:
    """Add the command."""
    fmt = command(commands, "fmt")
    fmt.epilog = _CODES
    fmt.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="spec files (*.eqspec), or folders of them; or - to read standard input and print",
    )
    how = fmt.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="write nothing, say which files would change")
    how.add_argument("--diff", action="store_true", help="write nothing, show what would change")
