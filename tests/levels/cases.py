"""Cases for what integers decide: a pair of small random programs on a small grid, with a claim, and the truth of it.

The truth is what the definitions say at every point of the grid, in rationals. Many claims are asked of one pair, since
running the points costs more than asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

import quantised_programs as random_programs
from eqspec.networks.grids import Region
from eqspec.networks.network import Network
from eqspec.networks.program import Step
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.replay.equations import Point
from eqspec.replay.violation import violation
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.task import Task
from quantised_programs import Rows
from small_tasks import space, task

Steps = tuple[Step, ...]
CLAIMS: tuple[Property, ...] = (
    Epsilon(0),
    Epsilon("0.5"),
    Epsilon("0.75", "l1"),
    Epsilon("0.5", "l2", (1,)),
    Top1(),
    Margin("0.5"),
    Confidence("0.8"),
    Linear((1, -1), (0, "0.5"), 1),
    Linear((1, 0), (-1, 0), 0, strict=True),
    NeverWraps(),
    NeverSaturates(),
)
_WIDEST = 8


@dataclass(frozen=True)
class Pair:
    """Two programs on a grid, and what each of their steps gives at every point of it."""

    first: Steps
    second: Steps
    lattices: tuple[Lattice, ...]
    points: tuple[Point, ...]
    values: tuple[tuple[Rows, Rows], ...]
    lowest_wins: bool

    def asked(self, claim: Property) -> Task:
        """The task that asks this claim of the pair."""
        lower, upper = ([end(axis) for axis in zip(*self.points, strict=True)] for end in (min, max))
        turned = {"decide": "min"} if self.lowest_wins else {}
        return task(*self._networks, claim, lower, upper, lattices=self.lattices, space=space(2, 2, **turned))

    @cached_property
    def _networks(self) -> tuple[Network, Network]:
        return Network(self.first, 2, "memory", "0"), Network(self.second, 2, "memory", "1")

    def broken(self, claim: Property) -> bool:
        """Whether the claim breaks at some point."""
        values = self.values if isinstance(claim, NeverWraps | NeverSaturates) else self._different
        return any(breaks_with(claim, self.second, f, g, lowest_wins=self.lowest_wins) for f, g in values)

    @cached_property
    def _different(self) -> list[tuple[Rows, Rows]]:
        """One for each pair of outputs."""
        return list({(*f[-1][1], *g[-1][1]): (f, g) for f, g in self.values}.values())

    def breaks_at(self, claim: Property, point: Point) -> bool:
        """Whether it breaks at this one, which is one of the grid."""
        if point not in self.points:
            return False
        f, g = self.values[self.points.index(point)]
        return breaks_with(claim, self.second, f, g, lowest_wins=self.lowest_wins)


def breaks(given: Task, point: Point) -> bool:
    """Whether the claim of a task breaks at a point, by the definitions."""
    f, g = (random_programs.values(network.steps, point) for network in (given.reference, given.candidate))
    return breaks_with(given.property, given.candidate.steps, f, g, lowest_wins=given.space.decide == "min")


def breaks_with(claim: Property, candidate: Steps, f: Rows, g: Rows, *, lowest_wins: bool) -> bool:
    """Whether the claim breaks where the programs have these values."""
    match claim:
        case NeverWraps() | NeverSaturates():
            wraps = isinstance(claim, NeverWraps)
            return any(
                random_programs.leaves(step.function, row, x, wraps=wraps)
                for step, (sums, _) in zip(candidate, g, strict=True)
                for row, x in enumerate(sums)
            )
        case _:
            outputs = ([(x, x) for x in rows[-1][1]] for rows in (f, g))
            return violation(claim, *outputs, lowest_wins=lowest_wins) is not None


def pair(random: np.random.Generator) -> Pair:
    """Two programs that have nothing in common, or differ in one place, or are one function written twice."""
    first, kind = random_programs.program(random), random.integers(4)
    if kind == 0:
        second = random_programs.program(random)
    elif kind == 1:
        second = random_programs.written_otherwise(random, first)
    else:
        second = random_programs.changed(random, first)
    region = random_programs.region(random, widest=_WIDEST)
    return on(first, second, region, lowest_wins=bool(random.integers(2)))


def on(first: Steps, second: Steps, region: Region, *, lowest_wins: bool = False) -> Pair:
    """Two programs on the grid of a region."""
    lattices = tuple(Lattice(*given) for given in region.lattices if given is not None)
    points = tuple(random_programs.points(region))
    values = tuple(zip(*(random_programs.values_at(steps, points) for steps in (first, second)), strict=True))
    return Pair(first, second, lattices, points, values, lowest_wins)


def claims(random: np.random.Generator, given: Pair) -> Sequence[Property]:
    """All kinds of claims, and distances that are attained at some point, where the least change would break them."""
    f, g = given.values[int(random.integers(len(given.values)))]
    apart = [abs(x - y) for x, y in zip(f[-1][1], g[-1][1], strict=True)]
    return (*CLAIMS, Epsilon(max(apart)), Epsilon(sum(apart, Fraction(0)), "l1"))
