"""`eqspec cache`: where results are kept, how much that is, and forgetting them."""

from __future__ import annotations

import argparse

from rich.console import Console

from eqspec.cache import ENVIRONMENT, Store, chosen_folder
from eqspec.cli.exit import ExitCode
from eqspec.errors import InputError
from eqspec.report.numbers import plural


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:  # noqa: ARG001
    """Say what is kept, or remove it."""
    folder = chosen_folder(arguments.cache)
    if folder is None:
        out.print(f"Nothing is kept: {ENVIRONMENT} is off.", soft_wrap=True)
        return ExitCode.AS_EXPECTED
    store = Store(folder)
    try:
        usage = store.usage()
        if arguments.action == "clear":
            store.clear()
    except OSError as error:
        raise InputError(f"cannot {arguments.action} {folder}: {error.strerror or error}") from None
    done = "Removed" if arguments.action == "clear" else "There are"
    what = f"{plural(usage.results, 'result')} and {plural(usage.searches, 'stopped search', 'stopped searches')}"
    others = f" and {plural(usage.foreign, 'entry', 'entries')} of another key or version" if usage.foreign else ""
    out.print(f"{done} {what}{others}, {_size(usage.bytes)}, in {folder}.", highlight=False, soft_wrap=True)
    return ExitCode.AS_EXPECTED


def _size(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
