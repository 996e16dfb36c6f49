"""Types that a program may leave on a region, and inputs that may bring it about.

A quantiser leaves its type where a level in front of what wraps or saturates it is none of the type's. The levels of a
row are between those of the ends of its interval, so if these lie in the type, all do. What a first layer adds up is
largest at a corner of the region, where it is exactly the end of the interval: that corner is a witness. Further on the
interval need not be attained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curves
from eqspec.networks.grids.analysis import Analysis
from eqspec.networks.grids.atoms import Atoms
from eqspec.networks.grids.forms import Forms
from eqspec.networks.program import Step
from eqspec.networks.quantiser import Quantiser


@dataclass(frozen=True)
class Leaving:
    """Row `row` of step `step` may leave its type: its levels may go from `least` to `most`."""

    step: int
    row: int
    quantiser: Quantiser
    least: int
    most: int

    @property
    def beyond(self) -> int:
        """By how many levels the type may be left, at most."""
        return max(self.most - self.quantiser.high, self.quantiser.low - self.least)


def leaving(steps: Sequence[Step], known: Analysis, *, wraps: bool) -> list[Leaving]:
    """The rows that may leave a type that wraps (or saturates): none is a proof that none does."""
    found = []
    for number, (step, analysed) in enumerate(zip(steps, known.steps, strict=True)):
        for row, function in enumerate(analysed.functions or []):
            if function.levels is None:
                continue
            assert isinstance(step.function, Curves)
            quantiser = Quantiser.of(step.function.at(row))
            least, most = function.levels
            if quantiser.wraps == wraps and not quantiser.low <= least <= most <= quantiser.high:
                found.append(Leaving(number, row, quantiser, least, most))
    return found


def corners(one: Leaving, known: Analysis) -> Iterator[tuple[Fraction, ...]]:
    """The points of the region where the inputs that the sum of a row reads bring it to its ends, outside first."""
    forms, atoms = known.steps[one.step].forms, known.atoms
    ends = [one.most > one.quantiser.high, False] if one.most > one.quantiser.high else [False]
    for high in ends:
        if high or one.least < one.quantiser.low:
            yield _corner(forms, one.row, atoms, high=high)


def _corner(forms: Forms, row: int, atoms: Atoms, *, high: bool) -> tuple[Fraction, ...]:
    part = forms.entries(row)
    signs = dict(zip(forms.at[part].tolist(), forms.coefficients[part].tolist(), strict=True))
    return tuple(
        b if atom is None else a * (atoms[atom].high if (signs.get(atom, 0) > 0) == high else atoms[atom].low) + b
        for atom, a, b in atoms.inputs
    )
