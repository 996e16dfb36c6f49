"""What a region says once it is evaluated: bounds, grids, balls and constraints, exact and in raw units.

Numbers are UNKNOWN where they depend on formal parameters that have no value yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Literal, TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.spec import ast, values
from eqspec.spec.program import Module

Maybe: TypeAlias = Fraction | Literal[values.Unknown.UNKNOWN]


@dataclass(frozen=True)
class SigmaBound:
    """|x - centre| <= amount * sigma, the centre None for the mean."""

    amount: Maybe
    centre: Maybe | None
    span: Span


@dataclass(frozen=True)
class RawBound:
    """low <= x <= high in raw units."""

    low: Maybe
    high: Maybe
    span: Span


Bound: TypeAlias = SigmaBound | RawBound


@dataclass(frozen=True)
class RowsOf:
    """Rows of a table, one region each; the path is relative to the module's folder.

    `rows` None stands for all of them. With `sample` so many of these are meant, drawn by the `seed`.
    """

    rows: tuple[int, ...] | None
    path: str
    columns: tuple[int, int] | None
    module: Module
    clause: ast.Rows | ast.Data
    sample: int | None = None
    seed: int = 1


@dataclass(frozen=True)
class DataOf:
    """Where the rows of a table lie, a share of them kept, in so many principal components, or in as many as needed."""

    path: str
    columns: tuple[int, int] | None
    share: Maybe
    components: int | None
    module: Module
    clause: ast.Data


@dataclass(frozen=True)
class BallAround:
    """|x_i - centre_i| <= radius, or radius * sigma_i, for all i."""

    radius: Maybe
    sigma: bool
    centre: Literal["mean"] | tuple[Fraction, ...] | RowsOf | Literal[values.Unknown.UNKNOWN]
    span: Span


@dataclass(frozen=True)
class RawConstraint:
    """sum of coefficient * x <= bound in raw units, or == with `equality`.

    As written it compares the same sum, turned round for >=, plus `offset`; that is for messages alone. `table` is the
    one whose rows it was made of, None if it was written.
    """

    coefficients: Mapping[int, Fraction]
    bound: Fraction
    equality: bool
    operator: str
    offset: Fraction
    span: Span
    table: str | None = None


@dataclass(frozen=True)
class Spacing:
    """The points origin + k step for whole k; the origin None for 0, or in sigma for the mean."""

    step: Maybe
    sigma: bool
    origin: Maybe | None
    span: Span


@dataclass
class Terms:
    """The terms whose intersection a region is; a box is a bound per feature, and a grid a spacing for some; not
    `complete` if something is missing.
    """

    boxes: list[dict[int, Bound]] = field(default_factory=list)
    grids: list[dict[int, Spacing]] = field(default_factory=list)
    balls: list[BallAround] = field(default_factory=list)
    constraints: list[RawConstraint] = field(default_factory=list)
    data: list[DataOf] = field(default_factory=list)
    complete: bool = True
    first_box: Span | None = None

    def bounded(self) -> set[int]:
        """The features that some box, or constraints on that feature alone, bound on both sides."""
        found = {i for box in self.boxes for i in box}
        sides: dict[int, set[bool]] = {}
        for constraint in self.constraints:
            if len(constraint.coefficients) == 1:
                ((i, c),) = constraint.coefficients.items()
                sides.setdefault(i, set()).update({True, False} if constraint.equality else {c > 0})
        return found | {i for i, both in sides.items() if len(both) == 2}
