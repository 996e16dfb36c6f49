"""What `eqspec cache` takes on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from eqspec.cache import ENVIRONMENT, KEY_ENVIRONMENT
from eqspec.cli.commands import Commands, command


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "cache",
        "`eqspec check` keeps what it found, so that the same question is not decided twice. "
        f"{ENVIRONMENT} names another folder, or is off. Every entry is sealed with a key that lies elsewhere, so that "
        "nobody who can write to the folder is able to change a verdict. The key is a file of yours, or what "
        f"{KEY_ENVIRONMENT} holds, which machines may share.",
    )
    made.formatter_class = argparse.HelpFormatter
    made.add_argument("action", nargs="?", choices=("info", "clear"), default="info", help="clear forgets everything")
    made.add_argument("--cache", type=Path, metavar="DIR", help="the folder (default: the one eqspec check takes)")
