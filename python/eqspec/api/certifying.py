"""Certificates of what is decided from Python, where a folder is named for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from eqspec.run.options import Options


@contextmanager
def certifying(options: Options, folder: str | os.PathLike[str] | None, *, by_claim: bool = False) -> Iterator[Options]:
    """The options, with what makes certificates in that folder, named `by_claim` where no spec names the claims.

    InputError if nothing can be written there.
    """
    if folder is None:
        yield options
        return
    from eqspec.certificates import Certifier  # with the auditor: a third of what a check would load

    with Certifier(Path(folder), by_claim=by_claim) as certifier:
        yield replace(options, certifier=certifier)
