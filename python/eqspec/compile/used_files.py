"""The files that decide what a spec asks: its own, those it includes, and all that any of them names.

A spec that cannot be read whole names what its readable declarations name. Every text of a spec counts as a path, also
one that names something else, such as an output of a network: a path at which there is nothing costs nothing. So does
what a path amounts to that is written as an expression, `models + "/pruned.onnx"`, with the params that are given, and
what a formal parameter of a region is given, which its path may be.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import is_network_folder, weight_files
from eqspec.span import Source
from eqspec.spec import ast, values
from eqspec.spec.findings import Fault, Findings
from eqspec.spec.program import load_program
from eqspec.spec.scope import Override, Scope, Values
from eqspec.spec.source_files import read_spec


@dataclass(frozen=True)
class UsedFiles:
    """Files by their absolute paths, whether they exist or not; `complete` unless part of a spec could not be read."""

    paths: frozenset[Path]
    complete: bool


def used_files(spec: str | os.PathLike[str], params: Mapping[str, Override] | None = None) -> UsedFiles:
    """The files behind a spec: those that are named, all in folders that are networks, and external weights.

    `params` overrides its params, which paths may be made of.
    """
    root = Path(spec)
    findings = Findings()
    found = {_absolute(root)}
    with findings.collecting():
        source = Source(str(root), read_spec(root, str(root)))
        program = load_program(source, root.parent, findings, path=root)
        known = Values(program, params or {}, findings)
        for module in program.modules:
            for text in _texts(module.file.declarations, Scope(module, known)):
                found.update(_behind(module.directory / text))
    return UsedFiles(frozenset(found), complete=not findings.errors)


def _texts(value: object, scope: Scope) -> Iterator[str]:
    """All texts in a part of a spec, and all that its paths amount to."""
    if isinstance(value, ast.Text):
        yield value.value
    elif isinstance(value, ast.Node):
        for field in fields(value):
            inner = getattr(value, field.name)
            yield from _texts(inner, scope)
            written = (inner,) if field.name == "path" else inner if field.name == "arguments" else ()
            yield from (path for one in written if (path := _path(one, scope)) is not None)
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item, scope)


def _path(written: ast.Expression, scope: Scope) -> str | None:
    """What a path amounts to; None where that is no text, or is a formal parameter."""
    try:
        found = values.text(written, scope)
    except Fault:
        return None
    return found if isinstance(found, str) else None


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
