"""Comparisons of files with onnxruntime, kept in the cache of results.

A comparison is kept under everything that its answer depends on: the file and the steps that it was read as
(`networks/agreement`), eqspec itself, file by file, Python, numpy and onnx, and the files of onnxruntime by their
names, sizes and times. An entry is sealed like a result, so that only those who may write results can say
that a file agrees.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from platform import machine

from eqspec.cache import Store
from eqspec.run.cache_key import build

_NOTHING = b"agrees"


class KeptAgreements:
    """The comparisons that a store has."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def before(self, key: str) -> bool:
        """Whether the comparison was made before by the same program."""
        return (name := _named(key)) is not None and self._store.read("agreement", name) == _NOTHING

    def keep(self, key: str) -> None:
        """Keep that it was made."""
        if (name := _named(key)) is not None:
            self._store.write("agreement", name, _NOTHING)


def _named(key: str) -> str | None:
    """The key of an entry; None where the files of onnxruntime are not found."""
    if (runtime := runtime_files()) is None:
        return None
    return hashlib.sha256(f"agreement {build()} {runtime} {machine()} {key}".encode()).hexdigest()


@cache
def runtime_files() -> str | None:
    """A digest of which onnxruntime is installed, without loading it; None where that is not told by files."""
    spec = find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        return None
    digest = hashlib.sha256(spec.origin.encode())
    try:
        digest.update(Path(spec.origin).read_bytes())
        with os.scandir(Path(spec.origin).parent / "capi") as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_file():
                    stat = entry.stat()
                    digest.update(f"{entry.name} {stat.st_size} {stat.st_mtime_ns}\0".encode())
    except OSError:
        return None
    return digest.hexdigest()
