"""The cache of results on the command line: the one that its options choose, its notes, and the advice to go on."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import partial

from rich.console import Console
from rich.text import Text

from eqspec.api.cache_choice import open_cache
from eqspec.run.result_cache import ResultCache
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Reason


def cache_from_arguments(arguments: argparse.Namespace, err: Console) -> ResultCache | None:
    """The cache that the arguments of `add_cache_options` choose; a cache that cannot be used is reported on `err`."""
    folder = False if arguments.no_cache else arguments.cache or True
    return open_cache(folder, resume=arguments.resume, tell=partial(note, err))


def note(err: Console, message: str) -> None:
    """Say what a user should know."""
    err.print(Text.assemble(("note", "bold"), f": {message}"), highlight=False, soft_wrap=True)


def advise(cache: ResultCache | None, results: Iterable[Result], err: Console) -> None:
    """Say that undecided searches can go on."""
    if cache is not None and any(r.reason in (Reason.TIMEOUT, Reason.INTERRUPTED) and r.open_boxes for r in results):
        err.print("What is left of undecided searches is kept; --resume goes on with it.", soft_wrap=True)
