"""The spec files that a command is about: those that are named, those of named folders, or those below this folder.

In folders, all files whose names end in .eqspec count, in the order of their paths; hidden folders are left out, and
links to folders are followed, into each folder once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from eqspec.errors import InputError

ENDING = ".eqspec"


def spec_files(named: Sequence[str]) -> list[str]:
    """The files, each once. InputError where a folder has none, or cannot be read; a named file need not exist."""
    found: dict[str, None] = {}
    for name in named or (".",):
        if os.path.isdir(name):  # noqa: PTH112 - which is False where one may not look
            below = _below(name)
            if not below:
                where = "this folder" if name == "." else name
                raise InputError(
                    f"no spec below {where}: no file ends in {ENDING}; name a file, or make one: eqspec init"
                )
            found.update(dict.fromkeys(below))
        else:
            found[name] = None
    return list(found)


def _below(folder: str) -> list[str]:
    """All specs below a folder, as the user would write them."""
    found: list[str] = []

    def refuse(problem: OSError) -> None:
        raise InputError(f"cannot read {problem.filename}: {problem.strerror}; name the files instead") from None

    seen = {os.path.realpath(folder)}
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        real = {os.path.realpath(Path(place) / name): name for name in reversed(folders)}
        folders[:] = sorted(name for path, name in real.items() if path not in seen)
        seen.update(real)
        found += [os.path.normpath(Path(place) / name) for name in sorted(names) if name.endswith(ENDING)]
    return sorted(found)
