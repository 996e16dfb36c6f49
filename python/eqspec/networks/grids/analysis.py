"""Programs of steps on a region as affine forms over atoms: grids and intervals of all sums, and what is equal.

Every row of every step is a form (`forms`) over the atoms of the region (`atoms`): terms of a step are added exactly,
and its functions make new atoms only where they are no affine function of what they are given (`functions`). Programs
that are analysed over the same atoms share them, so two rows of two networks with the same form are the same function
on the region: D = 0, with no float anywhere.

A row whose weights or bias carry an error is known within an interval alone: it is an atom by itself, which equals
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from math import lcm

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.exact import IntegerStep
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.fixed_point import UndefinedError
from eqspec.networks.grids.atoms import Atoms, Grid
from eqspec.networks.grids.forms import MOST_ENTRIES, Forms, TooManyError, joined, sums
from eqspec.networks.grids.functions import Known, Single, known, valued
from eqspec.networks.program import INPUTS, Step

RELU = Curve("pieces", (1.0, 0.0, 0.0, 1.0, 0.0))
_BITS = 64
_programs = count()


class NotKnownError(Exception):
    """The region says too little: a function has no value everywhere, or exact forms would take too long."""


@dataclass(frozen=True)
class AnalysedStep:
    """The rows of a step: their sums, with grids, what their functions are there (None: the identity), the values."""

    forms: Forms
    sums: list[Grid]
    functions: list[Known] | None
    values: Forms


@dataclass(frozen=True)
class Analysis:
    """A program on a region."""

    steps: list[AnalysedStep]
    atoms: Atoms

    @property
    def outputs(self) -> Forms:
        """The forms of the outputs."""
        return self.steps[-1].values


def analyse(steps: Sequence[Step], atoms: Atoms, check: Callable[[], None] = lambda: None) -> Analysis:
    """The program on the region of the atoms. NotKnownError where that says too little.

    `check` is called before each step, and may raise.
    """
    program = next(_programs)
    inputs = Forms.of([(atom, a, b) for atom, a, b in atoms.inputs])
    made: list[AnalysedStep] = []
    try:
        for number, step in enumerate(steps):
            check()
            read = [inputs if source == INPUTS else made[source].values for source in step.sources]
            made.append(_analysed(step, _light(read, step, atoms), (program, number), atoms))
    except TooManyError:
        raise NotKnownError("exact forms of its sums would take too long") from None
    except (UndefinedError, OverflowError):
        raise NotKnownError("a function has no value somewhere in the region") from None
    return Analysis(made, atoms)


def _light(read: list[Forms], step: Step, atoms: Atoms) -> list[Forms]:
    """What a step reads, with sums of many atoms as atoms of their own where adding them up would take too long."""
    entries = 0
    for term, given in zip(step.terms, read, strict=True):
        readers = np.bincount(term.tile.index.reshape(-1) + 1, minlength=len(given) + 1)[1:]
        entries += int((readers * np.diff(given.starts)).sum()) * term.tile.outputs
    return read if entries <= MOST_ENTRIES else [_as_atoms(given, atoms) for given in read]


def _as_atoms(forms: Forms, atoms: Atoms) -> Forms:
    """Rows of several atoms as rows of one."""
    grids = forms.grids(atoms)
    parts: list[Forms | Single] = []
    for row, grid in enumerate(grids):
        part = forms.taken(np.array([row]))
        several = len(part.at) > 1
        parts.append(valued(("sum", part.key(0)), grid, atoms, None) if several else part)
    return in_rows(parts)


def _analysed(step: Step, read: list[Forms], name: tuple[int, int], atoms: Atoms) -> AnalysedStep:
    forms = sums([(term.tile, given) for term, given in zip(step.terms, read, strict=True)], step.bias)
    if not step.exact:
        forms = _with_errors(step, read, forms, name, atoms)
    grids = forms.grids(atoms)
    if step.function == "identity":
        return AnalysedStep(forms, grids, None, forms)
    curves = step.function if isinstance(step.function, Curves) else Curves.all(RELU)
    found = [known(curves.at(row), forms, row, grid, atoms) for row, grid in enumerate(grids)]
    return AnalysedStep(forms, grids, found, in_rows([one.form for one in found]))


def _with_errors(step: Step, read: list[Forms], forms: Forms, name: tuple[int, int], atoms: Atoms) -> Forms:
    """Rows with an error become atoms of their own."""
    ends = [_vector(given.grids(atoms)) for given in read]
    denominator = lcm(1, *(vector.denominator for vector in ends))
    same = [_over(vector, denominator) for vector in ends]
    within = IntegerStep(step).sums(same, denominator).fractions()
    uncertain = _uncertain(step)
    parts: list[Forms | Single] = []
    for row, (low, high) in enumerate(within):
        if uncertain[row]:
            parts.append(valued(("uncertain", *name, row), Grid(low, high, None), atoms, _BITS))
        else:
            parts.append(forms.taken(np.array([row])))
    return in_rows(parts)


def in_rows(parts: Sequence[Forms | Single]) -> Forms:
    """One row for each part."""
    singles = [place for place, part in enumerate(parts) if not isinstance(part, Forms)]
    several = [place for place, part in enumerate(parts) if isinstance(part, Forms)]
    made = joined(
        [
            Forms.of([part for part in parts if not isinstance(part, Forms)]),
            *(part for part in parts if isinstance(part, Forms)),
        ]
    )
    return made.taken(np.argsort([*singles, *several])) if several else made


def _uncertain(step: Step) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows carry an error."""
    found = np.zeros(step.rows, bool)
    if step.bias_error is not None:
        found |= step.bias_error > 0
    for term in step.terms:
        if term.tile.weight_error is not None:
            channels = term.tile.weight_error.any(axis=2).reshape(-1)
            found |= np.repeat(channels, term.tile.positions)
    return found


def _vector(grids: Sequence[Grid]) -> Vector:
    """The intervals as an exact vector."""
    denominator = lcm(1, *(end.denominator for grid in grids for end in (grid.low, grid.high)))
    low, high = (np.array([int(x * denominator) for x in ends] + [None], object)[:-1] for ends in
                 ([g.low for g in grids], [g.high for g in grids]))  # fmt: skip
    return Vector(low, low if (low == high).all() else high, 0, denominator)


def _over(vector: Vector, denominator: int) -> Vector:
    """The vector with another denominator, a multiple of its own."""
    times = denominator // vector.denominator
    low = vector.lower * times
    return Vector(low, low if vector.certain else vector.upper * times, vector.exponent, denominator)
