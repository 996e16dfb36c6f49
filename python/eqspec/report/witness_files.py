"""Witnesses as files: everything about one as JSON, and the input alone as a numpy array."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from eqspec.report.atomic_file import write_bytes, write_file
from eqspec.report.printable import shown_in_json
from eqspec.tasks import file_names
from eqspec.tasks.result import Result
from eqspec.tasks.witness import Witness


def save_witnesses(results: Iterable[Result], folder: Path) -> list[Path]:
    """Write `<task>.json` and `<task>.npy` for each result with a witness; the paths of the former.

    The array has shape (I,), float64, in network units, as the files take it that do not say `takes raw`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for result in results:
        witness = result.witness or (result.find.witness if result.find else None)
        if witness is None:
            continue
        path = _free(folder, file_names.stem(result.id), written)
        document = {"id": result.id, "claim": result.claim, "witness": witness.to_json(), "task": result.task}
        write_file(path, shown_in_json(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)) + "\n")
        array = io.BytesIO()
        np.save(array, _array(witness))
        write_bytes(path.with_suffix(".npy"), array.getvalue())
        written.append(path)
    return written


def _array(witness: Witness) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([float(x) for x in witness.normalised], np.float64)


def _free(folder: Path, name: str, taken: list[Path]) -> Path:
    """A path that no other task of this run was given; ids that differ in odd characters only get a number."""
    path, number = folder / f"{name}.json", 2
    while path in taken:
        path, number = folder / f"{name}-{number}.json", number + 1
    return path
