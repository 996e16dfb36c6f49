"""The input of a witness in words: the features that differ from its base, and that all others equal it.

The base is the row of a table that the region lies around or that the input was made from, or the region's centre.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import count, plural, value
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.witness import Witness


@dataclass(frozen=True)
class Inputs:
    """Features by name, value and unit, in raw units; and where the others are, "" where all are listed."""

    named: tuple[tuple[str, str, str], ...]
    others: str = ""
    more: int = 0
    """How many features that differ are not among the named ones."""

    @property
    def parts(self) -> list[str]:
        """As a list of words: a = 1 GeV, b = 2, and input 3 = 1 where inputs are named by their numbers."""
        return [
            f"{'input ' if name.isdecimal() else ''}{name} = {number}{f' {unit}' if unit else ''}"
            for name, number, unit in self.named
        ]


def inputs(witness: Witness, region: Mapping[str, Any] | None = None, most: int | None = None) -> Inputs:
    """Those features that are away from the base, where that is known and leaves some out; else all of them.

    Of more than `most` those that moved furthest in the region, in the order of the inputs.
    """
    every = [
        (name, value(approximately(x)), unit or "")
        for name, x, unit in zip(witness.features, witness.raw, witness.units, strict=True)
    ]
    moved, others = witness.moved, ""
    if moved and len(moved) < len(every):
        rest = len(every) - len(moved)
        others = f"{f'the other {count(rest)} are' if rest > 1 else 'the other one is'} {_base(witness)}"
    else:
        moved = tuple(range(len(every)))
    kept = moved
    if most is not None and len(moved) > most:
        far = parts_moved(witness, region)
        kept = tuple(sorted(sorted(moved, key=lambda i: -far[i])[:most]))
    return Inputs(tuple(every[i] for i in kept), others, len(moved) - len(kept))


def parts_moved(witness: Witness, region: Mapping[str, Any] | None) -> list[float]:
    """How far each feature is from the base, as a part of how far it may be; -1 where the region fixes it, 0 where the
    region, as a task has it in JSON, is not known.
    """
    size = len(witness.features)
    if region is None or len(region["lo"]) != size:
        return [0.0] * size
    row = row_of(witness, region)
    base = [None] * size if row is None else row
    found = []
    for point, low, high, centre in zip(witness.normalised, region["lo"], region["hi"], base, strict=True):
        bottom, top = Fraction(low), Fraction(high)
        middle = (bottom + top) / 2 if centre is None else centre
        room = max(top - middle, middle - bottom)
        found.append(approximately(abs(point - middle) / room) if bottom < top else -1.0)
    return found


def row_of(witness: Witness, region: Mapping[str, Any]) -> list[Fraction] | None:
    """The row that the features of a witness are set apart from, in network units; None where it is the centre."""
    size, around = len(witness.features), region.get("around")
    if around is not None and len(around) == size:
        return [Fraction(x) for x in around]
    if witness.base_row is None or len(witness.base_row.normalised) != size:
        return None
    # The numbers of a row are floats here, so a feature that did not move is where the witness has it.
    row = [Fraction(x) for x in witness.base_row.normalised]
    moved = set(witness.moved or ())
    return [x if i in moved else here for i, (x, here) in enumerate(zip(row, witness.normalised, strict=True))]


def set_apart(witness: Witness) -> str:
    """How many features are away from the base, as a sentence; "" where that is not known."""
    if witness.moved is None:
        return ""
    if not witness.moved and witness.base_row is not None:
        return f"It is {base_in_words(witness)} itself."
    apart, features = len(witness.moved), count(len(witness.features))
    return f"{plural(apart, 'feature')} of {features} {'differs' if apart == 1 else 'differ'} {_from(witness)}."


def nearest_row(witness: Witness) -> str:
    """How far it is from the nearest row of the table that the region was made from; "" where there is none."""
    near = witness.nearest
    if near is None:
        return ""
    if not near.distance:
        far = "that row itself"
    else:
        far = f"{near.distance:.3g} away{'' if witness.normalised == witness.raw else ', after normalisation'}"
    return f"the nearest row is {near.row} of {near.table}, {far}"


def base_in_words(witness: Witness) -> str:
    """A row by its number and its table, where the region lies around none."""
    row = witness.base_row
    return "the row" if row is None else f"row {row.row} of {row.table}"


def _base(witness: Witness) -> str:
    return "at the centre of the region" if witness.base == "centre" else f"as in {base_in_words(witness)}"


def _from(witness: Witness) -> str:
    return f"from {'the centre of the region' if witness.base == 'centre' else base_in_words(witness)}"
