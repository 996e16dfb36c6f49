"""What networks may take: the columns of a table as they are, or normalised in a usual way.

Every way is x = (raw - centre) / scale, column by column, with a name by which it can be chosen. Files of scalers
beside the networks and the table are ways, too, if they have a number for each of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.scalers import scaler_from_file
from eqspec.draft import drafted_numbers
from eqspec.draft.data import Data
from eqspec.draft.scaler_file import faults_of_input, normalisers_in
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.spec.ast import NOWHERE
from eqspec.spec.spaces import Names, Normaliser
from eqspec.spec.vocabulary import SCALER_KEYS

Floats = NDArray[np.float64]
NAMES = ("raw", "zscore", "minmax", "max", "column-max", "255")
"""The ways that need no file."""
_MOST_BYTES = 1 << 20
_MOST_FILES = 200
"""Files of a folder that are looked at."""
_ALIKE = 1e-3
"""Ways that take no number farther apart than this share of its column's range are one way."""


@dataclass(frozen=True)
class Scaling:
    """A way: the `option` that chooses it, what it does in words, and its numbers for each column, exact.

    For zscore they are mean and std, for minmax low and high, for none there are none. `file` is where they stand.
    """

    option: str
    words: str
    normaliser: Normaliser
    first: tuple[Fraction, ...] = ()
    second: tuple[Fraction, ...] = ()
    file: str | None = None

    def normalised(self, raw: Floats) -> Floats:
        """Rows (R, I) as the networks would take them."""
        if self.normaliser == "none":
            return raw
        first, second = (np.array([float(x) for x in row]) for row in (self.first, self.second))
        taken: Floats = np.ascontiguousarray(
            (raw - first) / (second if self.normaliser == "zscore" else second - first)
        )
        return taken

    def is_like(self, other: Scaling, data: Data) -> bool:
        """Whether both take nearly the same numbers from the rows of the table."""
        ends = np.stack([data.values.min(axis=0), data.values.max(axis=0)])
        mine, theirs = self.normalised(ends), other.normalised(ends)
        size = np.where(ends[0] == ends[1], 1 + np.abs(mine[0]), np.abs(mine[1] - mine[0]))
        return bool(np.all(np.abs(mine - theirs) <= _ALIKE * size))


def of_table(option: str, data: Data | None, inputs: int) -> Scaling:
    """The way of a name in NAMES for so many inputs. InputError where it needs a table and there is none."""
    if option == "raw":
        return Scaling("raw", "the columns as they are", "none")
    if option == "255":
        return Scaling("255", "the columns divided by 255", "minmax", _all(0, inputs), _all(255, inputs))
    if data is None:
        raise InputError(
            f"normalised by what? {option} takes its numbers from a table: give --data FILE, or --scaler FILE"
        )
    if option == "zscore":
        mean, std = standardisation(data)
        return Scaling("zscore", "the columns standardised by mean and std of the table", "zscore", mean, std)
    if option == "minmax":
        high = tuple(b if b > a else a + 1 for a, b in zip(data.lowest, data.highest, strict=True))
        return Scaling(
            "minmax",
            "the columns mapped to 0 .. 1 from their smallest to their largest number",
            "minmax",
            data.lowest,
            high,
        )
    largest = [max(abs(a), abs(b)) for a, b in zip(data.lowest, data.highest, strict=True)]
    if option == "max":
        greatest = max(largest) or Fraction(1)
        return Scaling(
            "max",
            "the columns divided by the largest number of the table",
            "minmax",
            _all(0, inputs),
            _all(greatest, inputs),
        )
    of_column = tuple(number or Fraction(1) for number in largest)
    return Scaling("column-max", "each column divided by its largest number", "minmax", _all(0, inputs), of_column)


def of_file(file: str, features: Names) -> list[Scaling]:
    """The ways whose numbers a file has: one, or two if it has mean and std as well as low and high.

    InputError where it has none for these columns.
    """
    found = []
    for kind in normalisers_in(file):
        with faults_of_input():
            scaler = scaler_from_file(Path(file), file, kind, features, NOWHERE)
        high = scaler.scale if kind == "zscore" else tuple(map(sum, zip(scaler.centre, scaler.scale, strict=True)))
        words = f"the columns normalised by {' and '.join(SCALER_KEYS[kind])} of {Path(file).name}"
        found.append(Scaling(file, words, kind, scaler.centre, tuple(map(Fraction, high)), file))
    return found


def beside(files: Sequence[str], features: Names, but: Sequence[str] = ()) -> tuple[list[Scaling], list[str]]:
    """The ways of scaler files beside some files, and what to say of files that are called like one and do not fit."""
    left_out = {Path(file).resolve() for file in (*files, *but)}
    found: list[Scaling] = []
    remarks: list[str] = []
    for folder in dict.fromkeys(Path(file).parent for file in files):
        for entry in _entries(folder):
            if entry.resolve() in left_out:
                continue
            left_out.add(entry.resolve())
            try:
                found += of_file(str(entry), features)
            except InputError as problem:
                if "scal" in entry.stem.lower() or "norm" in entry.stem.lower():
                    remarks.append(f"{entry.name}, which lies beside the files, is not used: {problem}")
    return found, remarks


def _entries(folder: Path) -> list[Path]:
    """Small files of a folder that may hold a scaler."""
    try:
        entries = sorted(e for e in folder.iterdir() if e.suffix.lower() in (".json", ".npz", ".csv"))[:_MOST_FILES]
        return [entry for entry in entries if entry.is_file() and entry.stat().st_size <= _MOST_BYTES]
    except OSError:
        return []


def standardisation(data: Data) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Mean and std, rounded to a millionth of std; a constant column is divided by 1, as scikit-learn does."""
    constant = set(data.constant)
    spread = [1.0 if i in constant else float(s) for i, s in enumerate(data.std)]
    mean = tuple(drafted_numbers.rounded(float(m), s * 1e-6) for m, s in zip(data.mean, spread, strict=True))
    std = tuple(drafted_numbers.rounded(s, s * 1e-6) for s in spread)
    return mean, std


def _all(number: int | Fraction, inputs: int) -> tuple[Fraction, ...]:
    return (Fraction(number),) * inputs
