"""Whether the constraints of a region leave nothing of its box and its grid: shown exactly, or not shown.

One constraint alone is decided on the box, since a linear function has its extremes at corners. For several together a
linear program suggests multipliers y >= 0, and only exact arithmetic on them counts: if y.A x > y.b everywhere on the
box, no point satisfies A x <= b (`separates`).

On a grid x_i = origin_i + k_i step_i a constraint becomes one of whole numbers, sum c_i k_i <= b, whose left side is
a multiple of the greatest common divisor g of the c_i, so that b is rounded down to one of g. Two opposite ones that
leave nothing between them, as of an equation that no point meets, show it at once. Else ranges of the k_i are narrowed
by each constraint and halved, up to a limit. Inputs without a grid enter with the end that allows most: what is empty
then is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.lattice import Lattices
from eqspec.tasks.task import LinearConstraint

MOST_PRODUCTS = 1 << 19
"""Products that it may take to look at parts of a grid, which is a quarter of a second."""
_ROUNDS = 20
"""How often the ranges of a part are narrowed, which may go on step by step."""
Ranges = list[tuple[int, int]]


class Region(Protocol):
    """A box in network units, exact and in floats around it, cut by constraints and left on grids."""

    @property
    def lower_exact(self) -> tuple[Fraction, ...]:
        """The lower corner."""

    @property
    def upper_exact(self) -> tuple[Fraction, ...]:
        """The upper corner."""

    @property
    def lower(self) -> NDArray[np.float64]:
        """The lower corner, rounded down."""

    @property
    def upper(self) -> NDArray[np.float64]:
        """The upper corner, rounded up."""

    @property
    def constraints(self) -> tuple[LinearConstraint, ...]:
        """What every point meets."""

    @property
    def lattices(self) -> Lattices:
        """The grid of each input."""


def empty(region: Region) -> bool:
    """Whether it is shown that no point of the box and its grid meets all constraints."""
    alone = any(separates([1.0], region, [constraint]) for constraint in region.constraints)
    return alone or off_grid(region) or (len(region.constraints) > 1 and contradict(region))


@dataclass(frozen=True)
class _Feasibility:
    """The program that asks for a point of the box, in the box's own coordinates from -1 to 1."""

    matrix: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    objectives: NDArray[np.float64]


def contradict(region: Region) -> bool:
    """Whether multipliers prove, exactly, that the constraints have no common point in the box."""
    radius, middle = (region.upper - region.lower) / 2, (region.upper + region.lower) / 2
    with np.errstate(all="ignore"):
        rows = np.array([[float(c) for c in constraint.coefficients] for constraint in region.constraints])
        upper = np.array([float(constraint.bound) for constraint in region.constraints]) - rows @ middle
        program = _Feasibility(rows * radius, np.full(len(rows), -np.inf), upper, np.zeros((1, len(radius))))
    from eqspec.lp import HighsSolver  # regions with several constraints are few, and HiGHS takes long to load

    _, _, ray = HighsSolver().answer([program])[0]
    return ray is not None and bool(np.isfinite(ray).all()) and separates(ray.tolist(), region, region.constraints)


def separates(multipliers: Sequence[float], region: Region, constraints: Sequence[LinearConstraint]) -> bool:
    """Exactly: whether, with negative multipliers dropped, y.A x > y.b at every x of the box."""
    used = [(Fraction(y), c) for y, c in zip(multipliers, constraints, strict=True) if y > 0]
    least = -sum((y * c.bound for y, c in used), Fraction(0))
    for i, (low, high) in enumerate(zip(region.lower_exact, region.upper_exact, strict=True)):
        slope = sum((y * c.coefficients[i] for y, c in used), Fraction(0))
        least += slope * (low if slope > 0 else high)
    return least > 0 or (least == 0 and any(c.strict for _, c in used))


@dataclass(frozen=True)
class _Whole:
    """sum of c k over some inputs is at most `bound`; `all` if no input without a grid has a part in it."""

    terms: tuple[tuple[int, int], ...]
    bound: int
    all: bool


def off_grid(region: Region) -> bool:
    """Whether it is shown that no point of the grid meets all constraints."""
    if not region.lattices or not region.constraints:
        return False
    rows = sorted((_in_steps(constraint, region) for constraint in region.constraints), key=lambda row: -row.bound)
    sharp = {row.terms: row.bound for row in rows if row.all}  # of equal ones the last, whose bound is the least
    if any(sharp.get(tuple((i, -c) for i, c in row.terms), -row.bound) < -row.bound for row in rows if row.all):
        return True
    read = {i for row in rows for i, _ in row.terms}
    counted = _counted(region)
    if any(first > last for first, last in counted):
        return True
    parts = [[ends if i in read else (0, 0) for i, ends in enumerate(counted)]]
    for _ in range(MOST_PRODUCTS // (_ROUNDS * sum(1 + len(row.terms) for row in rows))):
        if not parts:
            return True
        narrowed = _narrowed(parts.pop(), rows)
        if narrowed is None:
            continue
        place = max(range(len(narrowed)), key=lambda i: narrowed[i][1] - narrowed[i][0])
        first, last = narrowed[place]
        if first == last:
            return False  # a point that meets them, as far as inputs without a grid allow
        middle = (first + last) // 2
        parts += [[*narrowed[:place], half, *narrowed[place + 1 :]] for half in ((first, middle), (middle + 1, last))]
    return False


def _counted(region: Region) -> Ranges:
    """The first and the last k of every input; of one without a grid there is nothing to choose."""
    ends = zip(region.lattices, region.lower_exact, region.upper_exact, strict=True)
    return [
        (0, 0) if grid is None else (ceil((low - grid.origin) / grid.step), floor((high - grid.origin) / grid.step))
        for grid, low, high in ends
    ]


def _in_steps(constraint: LinearConstraint, region: Region) -> _Whole:
    """A constraint of whole numbers that is met wherever this one is."""
    bound, factors, every = constraint.bound, dict[int, Fraction](), True
    for i, a in enumerate(constraint.coefficients):
        grid = region.lattices[i]
        if grid is not None and a:
            bound, factors[i] = bound - a * grid.origin, a * grid.step
        elif a:
            low, high = region.lower_exact[i], region.upper_exact[i]
            bound, every = bound - min(a * low, a * high), every and low == high
    unit = lcm(*(c.denominator for c in factors.values()))
    whole = {i: int(c * unit) for i, c in factors.items()}
    step = gcd(*whole.values()) or 1
    most = bound * unit / step
    limit = ceil(most) - 1 if constraint.strict else floor(most)
    return _Whole(tuple((i, c // step) for i, c in whole.items()), limit, every)


def _narrowed(ranges: Ranges, rows: Sequence[_Whole]) -> Ranges | None:
    """What constraints leave of ranges; None if that is nothing."""
    ranges = list(ranges)
    for _ in range(_ROUNDS):
        before = list(ranges)
        for row in rows:
            least = sum(c * ranges[i][c < 0] for i, c in row.terms)
            if least > row.bound:
                return None
            for i, c in row.terms:
                first, last = ranges[i]
                left = row.bound - least + c * ranges[i][c < 0]  # what c k may be at most
                ranges[i] = (first, min(last, left // c)) if c > 0 else (max(first, -(left // -c)), last)
                if ranges[i][0] > ranges[i][1]:
                    return None
                least += c * (ranges[i][c < 0] - (first, last)[c < 0])
        if ranges == before:
            break
    return ranges
