"""Arrays, or a table, as a file: whole, or not there."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InputError
from eqspec.report.atomic_file import write_bytes, write_file

SUFFIXES = (".npz", ".csv")


def refuse_suffix(path: Path) -> None:
    """InputError unless the ending says how to write it."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the ending says how it is written: {' or '.join(SUFFIXES)}")


def write(
    path: Path,
    arrays: Callable[[], Mapping[str, NDArray[Any]]],
    rows: Callable[[], Iterable[Sequence[object]]],
) -> None:
    """Write the arrays as npz, or the rows as csv. InputError for another ending, or if it cannot be written.

    Floats in a table have all their digits.
    """
    refuse_suffix(path)
    if path.suffix.lower() == ".csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows())
        write_file(path, text.getvalue())
        return
    file = io.BytesIO()
    named: dict[str, Any] = dict(arrays())
    np.savez_compressed(file, **named)
    write_bytes(path, file.getvalue())
