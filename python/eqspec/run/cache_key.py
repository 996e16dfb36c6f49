"""The key of a task in the cache of results: a digest of everything its result depends on.

That is what the core sees (both networks with their errors, the region, the claim, the settings that its way depends
on), the exact task, and eqspec itself, file by file: the core, and the Python that reads networks and specs.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from io import FileIO
from pathlib import Path

import numpy as np
import onnx

from eqspec.run import core
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task


def key_of(task: Task, fingerprint: bytes) -> str:
    """The cache key of a task; `fingerprint` is the digest of what the core is given for it."""
    parts = ["task", build(), fingerprint.hex(), serialisation.digest(task)]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def build_id() -> str:
    """A short name of this version, for messages about entries that another version kept."""
    return hashlib.sha256(build().encode()).hexdigest()[:16]


@cache
def build() -> str:
    """A digest of every file of eqspec and of the libraries it computes with: results of other versions are not used.

    All files of the package count, the core among them, because a verdict also depends on how networks, specs and
    claims reach the core.
    """
    digest, files = hashlib.sha256(), _files(Path(__file__).parents[1])
    if str(core.FILE) not in files.values():
        files["_core"] = str(core.FILE)
    for name, path in sorted(files.items()):
        with FileIO(path) as file:
            digest.update(f"{name}\0{hashlib.sha256(file.readall()).hexdigest()}\0".encode())
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{core.__version__} python-{python} numpy-{np.__version__} onnx-{onnx.__version__} {digest.hexdigest()}"


def _files(package: Path) -> dict[str, str]:
    """Every file of a folder but bytecode, by its name below it; `Path.rglob` takes longer than the digests."""
    found = dict[str, str]()
    for folder, inner, names in os.walk(package):
        inner[:] = [name for name in inner if name != "__pycache__"]
        below = os.path.relpath(folder, package).replace(os.sep, "/")
        found |= {name if below == "." else f"{below}/{name}": f"{folder}{os.sep}{name}" for name in names}
    return found
