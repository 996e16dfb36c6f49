"""What regions are made of, as frozen dataclasses: boxes, balls, constraints, grids, data, and how they are declared.

`eqspec.spec.ast` has them, with everything else that a file can say.
"""

from __future__ import annotations

from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.spec.expression_tree import Comparison, Expression, Name, Node, QualifiedName, Range


@dataclass(frozen=True)
class Within(Node):
    """feature within amount sigma of centre; `feature` None means all; `sigma` False is an error found later."""

    feature: Name | None
    amount: Expression
    sigma: bool = True
    centre: Expression | None = None


@dataclass(frozen=True)
class Ranged(Node):
    """feature: lower .. upper, in raw units; `feature` None means all."""

    feature: Name | None
    range: Range


@dataclass(frozen=True)
class Fixed(Node):
    """feature = value; a range with two ends is an error found later."""

    feature: Name | None
    value: Range


Bound: TypeAlias = Within | Ranged | Fixed


@dataclass(frozen=True)
class Box(Node):
    """box { bounds }."""

    bounds: tuple[Bound, ...]


@dataclass(frozen=True)
class Mean(Node):
    """around mean."""


@dataclass(frozen=True)
class Point(Node):
    """around point [..], in raw units."""

    values: Expression


@dataclass(frozen=True)
class Rows(Node):
    """around rows 0..99 of "table.csv" columns 1..784 sample 20 seed 1, in raw units: one region per row.

    Without `rows` all of the table; with `sample` so many of these, drawn by the seed.
    """

    rows: tuple[Range, ...]
    path: Expression
    columns: Range | None = None
    sample: Expression | None = None
    seed: Expression | None = None


@dataclass(frozen=True)
class Ball(Node):
    """ball norm radius [sigma] around centre."""

    norm: Name
    radius: Expression
    sigma: bool
    centre: Mean | Point | Rows


@dataclass(frozen=True)
class Where(Node):
    """where { comparisons }: linear constraints on raw inputs."""

    constraints: tuple[Comparison, ...]


@dataclass(frozen=True)
class Spacing(Node):
    """feature step amount sigma from origin; `feature` None means all, without `sigma` all is in raw units."""

    feature: Name | None
    step: Expression
    sigma: bool = False
    origin: Expression | None = None


@dataclass(frozen=True)
class Grid(Node):
    """grid { spacings }."""

    spacings: tuple[Spacing, ...]


@dataclass(frozen=True)
class Data(Node):
    """data "table.csv" columns 1..16 keeping 0.99 with 8 components; without `components` as many as are needed."""

    path: Expression
    share: Expression
    columns: Range | None = None
    components: Expression | None = None


@dataclass(frozen=True)
class Use(Node):
    """A region with values for its formal parameters."""

    region: QualifiedName
    arguments: tuple[Expression, ...] = ()


Term: TypeAlias = Box | Ball | Where | Grid | Data | Use


@dataclass(frozen=True)
class Region(Node):
    """region name(formals) in space = term and term."""

    name: Name
    formals: tuple[Name, ...]
    space: QualifiedName
    terms: tuple[Term, ...]
    doc: str | None = None
