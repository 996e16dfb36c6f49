"""Where the cache lies: the folder somebody names, that of EQSPEC_CACHE, or the system's place for caches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = "EQSPEC_CACHE"
_OFF = ("off", "no", "false", "0")


def chosen_folder(named: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The named folder, else that of EQSPEC_CACHE (None where it says `off`), else `eqspec` in the user's cache."""
    if named is not None:
        return Path(named).expanduser()
    said = environ.get(ENVIRONMENT, "").strip()
    if said.lower() in _OFF:
        return None
    if said:
        return Path(said).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("eqspec")
