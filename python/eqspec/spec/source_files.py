"""Finds the files a spec names; a file that is not there costs one finding, with the near ones.

Paths are relative to the file that contains them.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from eqspec.errors import Fix
from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.spec.suggest import FARTHEST, distance

_MOST_ENTRIES = 2000


def locate(
    written: str, directory: Path, container: str, span: Span, accepted: Callable[[Path], bool] | None = None
) -> Path:
    """The file that `written` names, seen from `directory`, where `container` lies; Fault E110 if there is none.

    `accepted` says of a folder whether it will do as well.
    """
    try:
        path = directory / written
        if path.is_file() or (accepted is not None and accepted(path)):
            return path
        folder = path.is_dir()
        similar = None if folder else _with_slashes(written, directory) or near(path, directory)
    except (OSError, ValueError) as problem:
        raise Fault(error("E110", f"cannot read '{_cut(written)}': {_reason(problem)}", span)) from None
    if folder:
        hint = "name a file in it"
        if accepted is not None:
            hint += ", or the folder of a project that hls4ml (firmware/defines.h) or da4ml (model/comb.json) wrote"
        raise Fault(error("E110", f"cannot read '{written}': it is a folder", span, help=hint))
    looked_in = os.path.normpath(path.parent)
    message = f"cannot read '{_cut(written)}': no such file (looked in {looked_in})"
    help_text = f"paths are relative to {os.path.basename(container)}"  # noqa: PTH119 (a name to show, not a path)
    fixes: tuple[Fix, ...] = ()
    if similar is not None:
        help_text += f"; did you mean '{similar}'?"
        if span.text == f'"{written}"':
            fixes = (Fix(span, f'"{similar}"'),)
    raise Fault(error("E110", message, span, help=help_text, fixes=fixes))


def _with_slashes(written: str, directory: Path) -> str | None:
    """A path of Windows as every system reads it, if there is such a file."""
    path = written.replace("\\", "/")
    return path if path != written and (directory / path).is_file() else None


def read_spec(path: Path, written: str) -> str:
    """The text of a spec that was named outside of any file; Fault E110 or E111 if it cannot be read."""
    try:
        missing = not path.exists()
        similar = near(path, path.parent) if missing else None
    except (OSError, ValueError) as problem:
        raise Fault(error("E110", f"cannot read '{_cut(written)}': {_reason(problem)}", None)) from None
    if missing:
        hint = None if similar is None else f"did you mean '{Path(written).parent / similar}'?"
        file, colon, check = written.rpartition(":")
        if colon and Path(file).is_file():
            hint = f"the file is '{file}'; 'eqspec check' takes a check of it as --check {check}"
        raise Fault(error("E110", f"cannot read '{_cut(written)}': no such file", None, help=hint))
    return read_text(path, written, None)


def read_text(path: Path, written: str, span: Span | None) -> str:
    """The text of a file; Fault E111 if it is not text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        message, help_text = f"cannot read '{written}': it is not UTF-8 text", _encoded(path)
    except (OSError, ValueError) as problem:
        message, help_text = f"cannot read '{written}': {_reason(problem)}", "check the path and its permissions"
    raise Fault(error("E111", message, span, help=help_text))


def _encoded(path: Path) -> str:
    """Advice about a file that is not UTF-8, by its first bytes."""
    with path.open("rb") as file:
        start = file.read(512)
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return f"it is UTF-16, as some spreadsheets write; save it as UTF-8: iconv -f UTF-16 -t UTF-8 {path.name}"
    if path.suffix.lower() == ".onnx":
        return f"it is a network: 'eqspec inspect {path.name}' shows it, 'eqspec init' makes a spec of two"
    if b"\0" in start or path.suffix.lower() in (".xlsx", ".parquet", ".h5"):
        return "it holds no text; give a file of text"
    return "save it as UTF-8"


def near(path: Path, directory: Path) -> str | None:
    """A file that was probably meant, as seen from `directory`: a similar name there, or the same name close by."""
    name = path.name
    similar = ((distance(name.casefold(), other.name.casefold()), other) for other in _files(path.parent))
    best = min(similar, default=(FARTHEST + 1, path), key=lambda pair: pair[0])
    if best[0] <= FARTHEST:
        return _seen_from(directory, best[1])
    parents = [directory, *list(directory.absolute().parents)[:3]]
    parts = (path.relative_to(directory), name) if path.is_relative_to(directory) else ()
    places = [parent / part for parent in parents for part in parts]
    places += [folder / name for parent in parents[:2] for folder in _folders(parent)]
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else _seen_from(directory, found)


def _files(folder: Path) -> Iterator[Path]:
    yield from (entry for entry in _entries(folder) if entry.is_file())


def _folders(folder: Path) -> Iterator[Path]:
    yield from (entry for entry in _entries(folder) if entry.is_dir())


def _entries(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= _MOST_ENTRIES:
                return
            yield Path(entry.path)


def _seen_from(directory: Path, file: Path) -> str:
    return Path(os.path.relpath(file, directory)).as_posix()


def _reason(problem: Exception) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)


def _cut(written: str) -> str:
    return written if len(written) <= 80 else written[:77] + "..."
