"""The cache that the arguments `cache` and `resume` of the library mean, and what is kept in it beside results."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager

from eqspec.cache import ENVIRONMENT, Store, chosen_folder
from eqspec.errors import InputError
from eqspec.networks.agreed import kept_in
from eqspec.run.kept_agreements import KeptAgreements
from eqspec.run.result_cache import ResultCache


def open_cache(
    cache: bool | str | os.PathLike[str], *, resume: bool = False, tell: Callable[[str], None] | None = None
) -> ResultCache | None:
    """The cache to use: none for False, the usual folder for True unless EQSPEC_CACHE is off, or the given folder.

    `tell` hears of entries that cannot be used. InputError if a folder that was named cannot be written to, or if
    there is nothing to resume from.
    """
    folder = None if cache is False else chosen_folder(None if cache is True else cache)
    if folder is None:
        if resume:
            off = "cache = False" if cache is False else f"{ENVIRONMENT} is off"
            raise InputError(f"resume goes on from what is kept, and {off}; name a folder to keep it in")
        return None
    store = Store(folder, tell=tell)
    if cache is not True:
        store.require()
    return ResultCache(store, resume=resume)


def comparisons_kept(cache: ResultCache | None) -> AbstractContextManager[None]:
    """Within it, files that were compared with onnxruntime before and agreed are not compared again."""
    return kept_in(None if cache is None else KeptAgreements(cache.store))
