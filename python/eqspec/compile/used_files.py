"""The files that decide what a spec asks: its own, those it includes, and all that any of them names.

A spec that cannot be read whole names what its readable declarations name. Every text of a spec counts as a path, also
one that names something else, such as an output of a network: a path at which there is nothing costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import is_network_folder, weight_files
from eqspec.span import Source
from eqspec.spec import ast
from eqspec.spec.findings import Findings
from eqspec.spec.program import load_program
from eqspec.spec.source_files import read_spec


@dataclass(frozen=True)
class UsedFiles:
    """Files by their absolute paths, whether they exist or not; `complete` unless part of a spec could not be read."""

    paths: frozenset[Path]
    complete: bool


def used_files(spec: str | os.PathLike[str]) -> UsedFiles:
    """The files behind a spec: those that are named, all in folders that are networks, and external weights."""
    root = Path(spec)
    findings = Findings()
    found = {_absolute(root)}
    with findings.collecting():
        source = Source(str(root), read_spec(root, str(root)))
        for module in load_program(source, root.parent, findings, path=root).modules:
            for text in _texts(module.file.declarations):
                found.update(_behind(module.directory / text.value))
    return UsedFiles(frozenset(found), complete=not findings.errors)


def _texts(value: object) -> Iterator[ast.Text]:
    if isinstance(value, ast.Text):
        yield value
    elif isinstance(value, ast.Node):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)


def _behind(path: Path) -> Iterator[Path]:
    """A file with what it is read from beside it; of a folder that is a network all files, of another one nothing."""
    try:
        if is_network_folder(path):
            yield from (_absolute(file) for file in path.rglob("*") if file.is_file())
        elif not path.is_dir():
            yield _absolute(path)
            yield from map(_absolute, weight_files(path))
    except (OSError, ValueError):  # no path that this system knows
        return


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay, so that a link that is set anew is seen
