"""Certificates of what is decided from Python, where a folder is named for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from eqspec.errors import InputError
from eqspec.run.options import Options


@contextmanager
def certifying(options: Options, folder: str | os.PathLike[str] | None, *, by_claim: bool = False) -> Iterator[Options]:
    """The options, with what makes certificates in that folder, named `by_claim` where no spec names the claims.

    InputError if nothing can be written there, or if it is no path.
    """
    if folder is None:
        yield options
        return
    if not isinstance(folder, str | os.PathLike) or not isinstance(name := os.fspath(folder), str):
        raise InputError(f"certify = {folder!r} is not a path; name a folder")
    if not name or "\0" in name:
        raise InputError(f"certify = {name!r} names no folder; '.' is the current one")
    from eqspec.certificates import Certifier  # with the auditor: a third of what a check would load

    with Certifier(Path(folder), by_claim=by_claim) as certifier:
        yield replace(options, certifier=certifier)
