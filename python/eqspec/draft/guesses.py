"""What a first spec can only guess, each guess with its reason: it stands as a comment where the guess was used.

- A scaler file beside the networks or the table that is called like one.
- The classes, from the column beside the inputs.
- Whether the networks take the columns as they are or standardised: by which of them the reference answers what that
  column says, else by whether the columns look standardised already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.scalers import normaliser_of
from eqspec.draft.data import Data
from eqspec.draft.pair import Pair, identifier
from eqspec.draft.space import Takes
from eqspec.networks import Network
from eqspec.spec.findings import Fault

_MOST_BYTES = 1 << 20
_CLEARLY = 0.05
"""So much better must one reading explain the labels."""


@dataclass(frozen=True)
class Classes:
    """The class of each row as the number of an output, and names of the outputs if the table has texts."""

    rows: NDArray[np.int64]
    names: tuple[str, ...] | None


@dataclass(frozen=True)
class Guess:
    """What the networks take, and why."""

    takes: Takes
    reason: str


def nearby_scaler(files: Sequence[str]) -> str | None:
    """The one file beside these that is called like a scaler and holds numbers of one; None if there are more."""
    folders = dict.fromkeys(Path(file).parent for file in files)
    found = [
        entry
        for folder in folders
        for entry in sorted(folder.iterdir())
        if entry.suffix.lower() in (".json", ".npz") and ("scal" in entry.stem.lower() or "norm" in entry.stem.lower())
    ]
    usable = [str(entry) for entry in found if _holds_a_scaler(entry)]
    return usable[0] if len(usable) == 1 else None


def _holds_a_scaler(file: Path) -> bool:
    try:
        return file.is_file() and file.stat().st_size <= _MOST_BYTES and normaliser_of(file) is not None
    except (Fault, OSError):
        return False


def classes(data: Data, outputs: int) -> Classes | None:
    """The classes of the rows, if the column beside the inputs tells them; texts count in alphabetic order."""
    if data.labels is None or outputs < 2:
        return None
    texts = sorted(set(data.labels))
    if all(text.isdecimal() for text in texts):
        rows = np.array([int(text) for text in data.labels], np.int64)
        return Classes(rows, None) if rows.max() < outputs else None
    names = tuple(identifier(text) for text in texts)
    if len(texts) != outputs or len(set(names)) < outputs or any(_is_number(text) for text in texts):
        return None
    place = {text: i for i, text in enumerate(texts)}
    return Classes(np.array([place[label] for label in data.labels], np.int64), names)


def has_quantities(data: Data) -> bool:
    """Whether the column beside the inputs holds numbers that are no classes."""
    return data.labels is not None and all(map(_is_number, data.labels)) and not all(map(str.isdecimal, data.labels))


def takes(pair: Pair, data: Data, known: Classes | None, *, lowest: bool) -> Guess:
    """Whether the networks take the columns as they are or standardised."""
    if known is not None:
        raw = accuracy(pair.reference, data.values, known, lowest=lowest)
        standardised = accuracy(pair.reference, standard(data), known, lowest=lowest)
        better: Takes = "raw" if raw > standardised else "normalised"
        if abs(raw - standardised) >= _CLEARLY:
            return Guess(
                better,
                f"with standardised columns {pair.reference_name} answers the class in {standardised:.0%} of the rows, "
                f"with the columns as they are in {raw:.0%}",
            )
    if np.all(data.values >= 0) and np.all(data.values <= 1):
        return Guess("raw", "a guess: all columns lie between 0 and 1 already")
    if np.all(np.abs(data.mean) <= 0.5) and np.all(data.std <= 2):
        return Guess("raw", "a guess: the columns look standardised already")
    return Guess("normalised", "a guess: the columns have different scales, so training has probably standardised them")


def standard(data: Data) -> NDArray[np.float64]:
    """The rows (R, I) standardised by themselves; constant columns become 0."""
    spread = np.where(data.values.min(axis=0) == data.values.max(axis=0), 1.0, data.std)
    rows: NDArray[np.float64] = np.ascontiguousarray((data.values - data.mean) / spread)
    return rows


def accuracy(network: Network, rows: NDArray[np.float64], known: Classes, *, lowest: bool) -> float:
    """The share of rows whose class the network answers."""
    scores = network.evaluate(rows)
    decided = np.argmin(scores, axis=1) if lowest else np.argmax(scores, axis=1)
    return float(np.mean(decided == known.rows))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
