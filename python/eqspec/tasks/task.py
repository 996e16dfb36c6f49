"""A task: one claim about one pair on one region, with everything exact that a verdict depends on.

x is a point in *network units* (after normalisation), shape (I,). raw_i = centre_i + scale_i * x_i.
`lower_exact`/`upper_exact` and `constraints` are the region itself; `lower`/`upper` are the same box rounded
outward to float64, which is what gets proved. A witness must lie in the exact region, and on its grid.
"""

from __future__ import annotations

import builtins
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.network import Arithmetic, Network
from eqspec.property import Property
from eqspec.span import Span
from eqspec.tasks.lattice import Lattices
from eqspec.tasks.observed import Observed
from eqspec.tasks.row_source import RowSource
from eqspec.tasks.seen_data import SeenData

Expectation = Literal["equivalent", "different", "unknown", "vacuous"]
Domain = Literal["paper", "naive", "shared"]


@dataclass(frozen=True)
class Space:
    """Names and units of inputs and outputs, and the normalisation, exact: raw = centre + scale * x."""

    features: tuple[str, ...]
    units: tuple[str | None, ...]
    outputs: tuple[str, ...]
    centre: tuple[Fraction, ...]
    scale: tuple[Fraction, ...]
    decide: Literal["max", "min"] = "max"


@dataclass(frozen=True)
class LinearConstraint:
    """coefficients . x <= bound (< if strict), in network units."""

    coefficients: tuple[Fraction, ...]
    bound: Fraction
    strict: bool = False

    @cached_property
    def whole(self) -> tuple[tuple[int, ...], int]:
        """The same with whole numbers: coefficients and bound times their least common denominator."""
        unit = lcm(self.bound.denominator, *(a.denominator for a in self.coefficients))
        return tuple(int(a * unit) for a in self.coefficients), int(self.bound * unit)


@dataclass(frozen=True)
class Budget:
    """What a task may cost. `threads` None: one per core; `memory` in bytes; `timeout` in seconds, None: no limit."""

    timeout: float | None = None
    memory: int | None = None
    threads: int | None = None
    jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """One claim to decide.

    Both networks read x in network units (a `takes raw` file has the normalisation composed in front of it). With
    `decide` min the outputs stay as the file gives them; whoever runs the task turns the scores round.
    """

    id: str
    check: str
    parameters: dict[str, Fraction]
    reference: Network
    candidate: Network
    reference_name: str
    candidate_name: str
    reference_takes_raw: bool
    candidate_takes_raw: bool
    space: Space
    lower_exact: tuple[Fraction, ...]
    upper_exact: tuple[Fraction, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    property: Property
    constraints: tuple[LinearConstraint, ...] = ()
    budget: Budget = field(default_factory=Budget)
    expected: Expectation | None = None
    tags: tuple[str, ...] = ()
    source: Span | None = None
    written: str = ""
    """The texts of the region and of the check, for people; no verdict depends on them."""
    row_source: RowSource | None = None
    """The table and the number of the row; no verdict depends on it."""
    seen: tuple[SeenData, ...] = ()
    """What the last of the constraints were made of: rows of tables. Nothing depends on it."""
    observed: tuple[Observed, ...] = ()
    """The rows that the region was made from, for distances to them; no verdict depends on it."""
    around: tuple[Fraction, ...] | None = None
    """The row of a table that the region lies around, in network units."""
    lattices: Lattices = ()
    """The grids that the inputs lie on, in network units; the ends of the box then do too. Empty: there is none.

    The search proves the claim on the whole box, which is more; a witness must lie on the grids.
    """

    @builtins.property  # `property` is a field here
    def arithmetic(self) -> Arithmetic:
        """float32 where the networks carry what float32 runtimes may round; both do, or none."""
        return self.reference.arithmetic
