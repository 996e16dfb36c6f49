"""Regions in network units: an exact box and exact linear constraints, one per row where a region goes over rows.

With raw = centre + scale * x and scale > 0, low <= raw <= high is (low - centre) / scale <= x <= (high - centre) /
scale, and k sigma around the mean is exactly -k <= x <= k. All of it is rational; the box of floats is the smallest
that contains it. A constraint on one input alone is a bound and becomes part of the box.

Where an input lies on a grid, its bounds are rounded to points of it, inward and exactly, so that no point comes in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.scalers import Scaler
from eqspec.compile.seen_region import SeenRegion, bites
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec.findings import Fault, error
from eqspec.spec.numbers import shown
from eqspec.spec.region_terms import BallAround, Bound, Maybe, RawConstraint, RowsOf, SigmaBound, Spacing, Terms
from eqspec.spec.spaces import SpaceFacts
from eqspec.spec.values import UNKNOWN
from eqspec.tasks.directed_rounding import float_above, float_below
from eqspec.tasks.lattice import Lattice, Lattices
from eqspec.tasks.task import LinearConstraint

Side: TypeAlias = tuple[Fraction, float]
"""A bound in network units, exact and rounded outward."""
Row: TypeAlias = tuple[int, tuple[Fraction, ...]]
"""The index of a row in its table, and its numbers in raw units."""


@dataclass(frozen=True, eq=False)
class RegionBox:
    """lower <= x <= upper and the constraints, in network units; `row` is the row of the table it lies around, and
    `around` are its numbers.

    `joint` are the constraints on several inputs as written, in raw units, each with those in network units it became.
    """

    row: int | None
    lower_exact: tuple[Fraction, ...]
    upper_exact: tuple[Fraction, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    constraints: tuple[LinearConstraint, ...]
    joint: tuple[RawConstraint, ...]
    around: tuple[Fraction, ...] | None = None
    lattices: Lattices = ()
    from_data: tuple[int, ...] = ()
    """For each table, how many constraints were made from its rows; they are the last of all constraints."""


class BoxBuilder:
    """The boxes of one region in one space."""

    def __init__(
        self,
        name: str,
        span: Span,
        terms: Terms,
        space: SpaceFacts,
        scaler: Scaler,
        seen: Sequence[SeenRegion] = (),
    ) -> None:
        self.name, self.span, self.space, self.scaler, self.seen = name, span, space, scaler, seen
        self.features = space.features or ()
        self.low: list[Fraction | None] = [None] * len(self.features)
        self.high: list[Fraction | None] = [None] * len(self.features)
        self.around_rows: BallAround | None = None
        if space.domain is not None:
            for i in range(len(self.features)):
                self._meet(i, self._normalised(i, space.domain[0]), self._normalised(i, space.domain[1]))
        for box in terms.boxes:
            for i, bound in box.items():
                self._meet(i, *self._bound(i, bound))
        for ball in terms.balls:
            if isinstance(ball.centre, RowsOf):
                self.around_rows = ball
            else:
                self._ball(ball)
        self.lattices: list[Lattice | None] = [None] * len(self.features)
        for grid in terms.grids:
            for i, spacing in grid.items():
                self._space(i, spacing)
        self.joint = tuple(c for c in terms.constraints if len(c.coefficients) > 1)
        for constraint in terms.constraints:
            if len(constraint.coefficients) <= 1:
                self._single(constraint)
        self.constraints = tuple(lowered for c in self.joint for lowered in self._lowered(c))
        self._of_data = [[(c, lowered) for c in one.constraints for lowered in self._lowered(c)] for one in seen]

    def build(self, rows: list[Row] | None) -> Iterator[RegionBox]:
        """The box, or the boxes around each of the rows. Fault E133 where one is empty."""
        if self.around_rows is None or rows is None:
            sides = [self._sides(i, self.low[i], self.high[i], None) for i in range(len(self.features))]
            yield self._box(None, sides)
            return
        ball = self.around_rows
        radius = [self._radius(i, ball) for i in range(len(self.features))]
        # Inputs that are normalised, limited and widened alike share their results: pixels are few different numbers.
        groups: dict[tuple[Fraction | Lattice | None, ...], int] = {}
        group = [
            groups.setdefault(
                (self.scaler.centre[i], self.scaler.scale[i], r, self.low[i], self.high[i], self.lattices[i]),
                len(groups),
            )
            for i, r in enumerate(radius)
        ]
        known: dict[tuple[Fraction, int], tuple[Fraction, tuple[Side, Side]]] = {}
        for index, numbers in rows:
            sides, around = list[tuple[Side, Side]](), list[Fraction]()
            for i, number in enumerate(numbers):
                key = (number, group[i])
                found = known.get(key)
                if found is None:
                    centre = self._normalised(i, number)
                    low, high = _later(self.low[i], centre - radius[i]), _earlier(self.high[i], centre + radius[i])
                    found = known[key] = (centre, self._sides(i, low, high, index))
                around.append(found[0])
                sides.append(found[1])
            yield self._box(index, sides, tuple(around))

    def _box(
        self, row: int | None, sides: list[tuple[Side, Side]], around: tuple[Fraction, ...] | None = None
    ) -> RegionBox:
        lower, upper = tuple(low[0] for low, _ in sides), tuple(high[0] for _, high in sides)
        counts = list[int]()
        cutting = list[tuple[RawConstraint, LinearConstraint]]()
        for constraints in self._of_data:
            here = [(raw, lowered) for raw, lowered in constraints if bites(lowered, lower, upper)]
            counts.append(len(here))
            cutting += here
        return RegionBox(
            row,
            lower,
            upper,
            np.array([low[1] for low, _ in sides], np.float64),
            np.array([high[1] for _, high in sides], np.float64),
            (*self.constraints, *(lowered for _, lowered in cutting)),
            (*self.joint, *(raw for raw, _ in cutting)),
            around,
            tuple(self.lattices) if any(self.lattices) else (),
            tuple(counts),
        )

    def held_out_inside(self, box: RegionBox, number: int) -> int:
        """How many held-out rows of a table, by its place among `seen`, certainly lie in the region with this box."""
        one = self.seen[number]
        others = [lowered for n, part in enumerate(self._of_data) if n != number for _, lowered in part]
        constraints = (*self.constraints, *others)
        found = 0
        for index in one.kept:
            x = [self._normalised(i, value) for i, value in enumerate(one.rows[index])]
            within = all(low <= v <= high for low, v, high in zip(box.lower_exact, x, box.upper_exact, strict=True))
            found += within and all(
                sum((a * v for a, v in zip(c.coefficients, x, strict=True) if a), Fraction(0)) <= c.bound
                for c in constraints
            )
        return found

    def _sides(self, i: int, low: Fraction | None, high: Fraction | None, row: int | None) -> tuple[Side, Side]:
        if low is None or high is None:  # the static check has said so
            raise Fault
        name, _ = self.features[i]
        if low > high:
            centre, scale = self.scaler.centre[i], self.scaler.scale[i]
            least, most = shown(centre + scale * low), shown(centre + scale * high)
            where = "" if row is None else f" around row {row}"
            message = f"region '{self.name}' is empty{where}: '{name}' would be at least {least} and at most {most}"
            raise Fault(error("E133", message, self.span, help="relax one of the bounds"))
        if (lattice := self.lattices[i]) is not None:
            low, high = self._on_grid(i, low, high, row, lattice)
        below, above = float_below(low), float_above(high)
        if not (isfinite(below) and isfinite(above)):
            raise Fault(error("E138", f"a bound of '{name}' is beyond the range of floats", self.span))
        return (low, below), (high, above)

    def _on_grid(
        self, i: int, low: Fraction, high: Fraction, row: int | None, lattice: Lattice
    ) -> tuple[Fraction, Fraction]:
        """The first and the last point of a grid within bounds; Fault E147 if there is none."""
        first, last = lattice.at_least(low), lattice.at_most(high)
        if first <= last:
            return first, last
        name, centre, scale = self.features[i][0], self.scaler.centre[i], self.scaler.scale[i]
        least, most, before, behind = (shown(centre + scale * x) for x in (low, high, last, first))
        where = "" if row is None else f" around row {row}"
        lies = f"is {least}" if low == high else f"lies between {least} and {most}"
        message = f"no grid point in the box of region '{self.name}'{where}: '{name}' {lies}"
        hint = f"the next ones are {before} and {behind}: widen the box, or choose another step or origin"
        raise Fault(error("E147", message, self.span, help=hint))

    def _space(self, i: int, spacing: Spacing) -> None:
        """One more grid of an input; Fault E147 if no point lies on it and on those before."""
        step, scale = _known(spacing.step), self.scaler.scale[i]
        if spacing.sigma:
            origin = Fraction(0) if spacing.origin is None else self._normalised(i, _known(spacing.origin))
            lattice = Lattice(origin, step)
        else:
            raw = Fraction(0) if spacing.origin is None else _known(spacing.origin)
            lattice = Lattice(self._normalised(i, raw), step / scale)
        known = self.lattices[i]
        met = lattice if known is None else known.meet(lattice)
        if met is None:
            message = f"no point of '{self.features[i][0]}' lies on two grids of region '{self.name}'"
            raise Fault(error("E147", message, spacing.span, help="choose their origins a common step apart"))
        self.lattices[i] = met

    def _meet(self, i: int, low: Fraction, high: Fraction) -> None:
        self.low[i], self.high[i] = _later(self.low[i], low), _earlier(self.high[i], high)

    def _normalised(self, i: int, raw: Fraction) -> Fraction:
        return (raw - self.scaler.centre[i]) / self.scaler.scale[i]

    def _bound(self, i: int, bound: Bound) -> tuple[Fraction, Fraction]:
        if isinstance(bound, SigmaBound):
            centre = Fraction(0) if bound.centre is None else self._normalised(i, _known(bound.centre))
            return centre - _known(bound.amount), centre + _known(bound.amount)
        return self._normalised(i, _known(bound.low)), self._normalised(i, _known(bound.high))

    def _radius(self, i: int, ball: BallAround) -> Fraction:
        radius = _known(ball.radius)
        return radius if ball.sigma else radius / self.scaler.scale[i]

    def _ball(self, ball: BallAround) -> None:
        if ball.centre is UNKNOWN or isinstance(ball.centre, RowsOf):
            raise Fault
        for i in range(len(self.features)):
            centre = Fraction(0) if ball.centre == "mean" else self._normalised(i, ball.centre[i])
            radius = self._radius(i, ball)
            self._meet(i, centre - radius, centre + radius)

    def _single(self, constraint: RawConstraint) -> None:
        """A constraint on at most one input: a bound, or a statement about numbers."""
        if not constraint.coefficients:
            true = constraint.bound == 0 if constraint.equality else constraint.bound >= 0
            if not true:
                message = f"region '{self.name}' is empty: '{written(constraint)}' is false"
                raise Fault(error("E133", message, constraint.span, help="leave it out"))
            return
        ((i, coefficient),) = constraint.coefficients.items()
        bound = self._normalised(i, constraint.bound / coefficient)
        if constraint.equality or coefficient > 0:
            self.high[i] = _earlier(self.high[i], bound)
        if constraint.equality or coefficient < 0:
            self.low[i] = _later(self.low[i], bound)

    def _lowered(self, constraint: RawConstraint) -> Iterator[LinearConstraint]:
        """sum a (centre + scale x) <= b is sum (a scale) x <= b - sum a centre; an equality is two of them."""
        row = [Fraction(0)] * len(self.features)
        bound = constraint.bound
        for i, coefficient in constraint.coefficients.items():
            row[i] = coefficient * self.scaler.scale[i]
            bound -= coefficient * self.scaler.centre[i]
        yield LinearConstraint(tuple(row), bound)
        if constraint.equality:
            yield LinearConstraint(tuple(-c for c in row), -bound)


def written(constraint: RawConstraint) -> str:
    """A constraint as the user wrote it, on one line."""
    return " ".join(constraint.span.text.split())


def _known(number: Maybe) -> Fraction:
    if number is UNKNOWN:
        raise Fault
    return number


def _later(a: Fraction | None, b: Fraction) -> Fraction:
    return b if a is None or b > a else a


def _earlier(a: Fraction | None, b: Fraction) -> Fraction:
    return b if a is None or b < a else a
