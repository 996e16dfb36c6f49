"""The input of a witness in words: the features that differ from the region's centre, and that all others equal it."""

from __future__ import annotations

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import count, plural, value
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.witness import Witness


@dataclass(frozen=True)
class Inputs:
    """Features by name, value and unit, in raw units; and where the others are, "" where all are listed."""

    named: tuple[tuple[str, str, str], ...]
    others: str = ""

    @property
    def parts(self) -> list[str]:
        """As a list of words: a = 1 GeV, b = 2."""
        return [f"{name} = {number}{f' {unit}' if unit else ''}" for name, number, unit in self.named]


def inputs(witness: Witness) -> Inputs:
    """Those features that are away from the base, where that is known and leaves some out; else all of them."""
    every = [
        (name, value(approximately(x)), unit or "")
        for name, x, unit in zip(witness.features, witness.raw, witness.units, strict=True)
    ]
    moved = witness.moved
    if not moved or len(moved) == len(every):
        return Inputs(tuple(every))
    rest = len(every) - len(moved)
    others = f"the other {count(rest)} are" if rest > 1 else "the other one is"
    return Inputs(tuple(every[i] for i in moved), f"{others} {_base(witness)}")


def set_apart(witness: Witness) -> str:
    """How many features are away from the base, as a sentence; "" where that is not known."""
    if witness.moved is None:
        return ""
    apart, features = len(witness.moved), count(len(witness.features))
    return f"{plural(apart, 'feature')} of {features} {'differs' if apart == 1 else 'differ'} {_from(witness)}."


def nearest_row(witness: Witness) -> str:
    """How far it is from the nearest row of the table that the region was made from; "" where there is none."""
    near = witness.nearest
    if near is None:
        return ""
    far = f"{near.distance:.3g} away, after normalisation" if near.distance else "that row itself"
    return f"the nearest row is {near.row} of {near.table}, {far}"


def _base(witness: Witness) -> str:
    return "at the centre of the region" if witness.base == "centre" else "as in the row"


def _from(witness: Witness) -> str:
    return "from the centre of the region" if witness.base == "centre" else "from the row"
