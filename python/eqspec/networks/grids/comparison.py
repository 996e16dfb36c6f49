"""Two programs on one region, over the same atoms: the exact ranges of linear combinations of all their outputs.

A combination of outputs is a form like any other. Where what the programs compute in front of their last steps is the
same, its atoms cancel: the difference of equal outputs is the constant 0, and that of outputs that only the last layer
tells apart lies in an interval that is attained by integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from eqspec.networks.grids.atoms import Atoms, Grid
from eqspec.networks.grids.forms import Forms, combined


def differences(first: Forms, second: Forms, atoms: Atoms) -> list[Grid]:
    """What is known of first - second, row by row."""
    return [combination([(first, row, Fraction(1)), (second, row, Fraction(-1))], atoms) for row in range(len(first))]


def equal(first: Forms, second: Forms) -> bool:
    """Whether the rows of both are the same functions of the inputs, all over the region."""
    return len(first) == len(second) and all(first.key(row) == second.key(row) for row in range(len(first)))


def combination(rows: Sequence[tuple[Forms, int, Fraction]], atoms: Atoms) -> Grid:
    """What is known of the sum of factor times row, over (forms, row, factor)."""
    return combined(rows).grids(atoms)[0]
