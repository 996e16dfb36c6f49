"""Claims decided on cells that constraints cut through, of every kind, against many points of each region.

Programs quantise their inputs at once, or so that several rows read one input. An input is a single number, lies on a
lattice whose step is no multiple of the quantiser's, or is any real number; ends lie on ties and beside them. Points
are those of the lattices, and on, above and below the thresholds, the ends and the boundaries of the constraints. The
numbers in claims are attained at some point, so that the least change of a bound would break them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import quantised_programs as random_programs
from eqspec.networks.curves import Curves
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.property import Confidence, Epsilon, Guarded, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
from eqspec.replay.equations import Point
from eqspec.replay.holding import asks_nothing
from eqspec.replay.replay import Replay, contains
from eqspec.run.exactness import decide
from eqspec.run.options import Options
from eqspec.tasks.emptiness import empty
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.verdict import Verdict
from levels import cases
from quantised_programs import Random, Rows
from small_tasks import space, task

Steps = tuple[Step, ...]
_TINY = Fraction(1, 1 << 30)
_MOST_ON_AN_AXIS, _MOST_POINTS = 40, 800


@dataclass(frozen=True)
class Judged:
    """A pair on a region, and what each step of both programs gives at points of it."""

    given: Task
    values: list[tuple[Rows, Rows]]

    def broken(self, claim: Property) -> bool:
        """Whether the claim breaks at one of the points."""
        lowest, steps = self.given.space.decide == "min", self.given.candidate.steps
        return any(cases.breaks_with(claim, steps, f, g, lowest_wins=lowest) for f, g in self.values)

    def asked_something(self, claim: Property) -> bool:
        """Whether one of the points meets the guard of the claim; without a guard, whether there is one."""
        if not isinstance(claim, Guarded):
            return bool(self.values)
        lowest = self.given.space.decide == "min"
        outputs = ([(x, x) for x in f[-1][1]] for f, _ in self.values)
        return any(not asks_nothing(claim, f, lowest_wins=lowest) for f in outputs)


@pytest.mark.part(80)
@pytest.mark.parametrize("seed", range(240))
def test_no_point_contradicts_what_is_decided_on_cells(seed: int) -> None:
    random = np.random.default_rng(seed)
    judged = _pair(random)
    assert not (judged.values and empty(judged.given))
    for claim in _claims(random, judged.values):
        given = replace(judged.given, property=claim)
        result = decide(given, Options(timeout=10.0), Replay(given))
        if result is None:
            continue
        if result.witness is not None:
            assert contains(given, result.witness.normalised), claim
            assert cases.breaks(given, result.witness.normalised), claim
        assert result.verdict is Verdict.DIFFERENT or not judged.broken(claim), claim
        assert not (result.vacuous and judged.asked_something(claim)), claim


def _pair(random: Random) -> Judged:
    """Two programs that are the same, or differ in one place, or are one function written twice, or unrelated."""
    size, kind = int(random.integers(1, 4)), int(random.integers(4))
    first = _program(random, size)
    if kind == 0:
        second = first
    elif kind == 1:
        second = random_programs.changed(random, first)
    elif kind == 2:
        second = random_programs.written_otherwise(random, first)
    else:
        second = _program(random, size)
    lower, upper, lattices = zip(*(_axis(random) for _ in range(size)), strict=True)
    f, g = (Network(steps, size, "memory", name) for name, steps in (("0", first), ("1", second)))
    turned = {"decide": "min"} if random.integers(2) else {}
    given = task(
        f,
        g,
        Top1(),
        lower,
        upper,
        constraints=tuple(_constraints(random, lower, upper)),
        lattices=lattices if any(lattices) else (),
        space=space(size, 2, **turned),
    )
    points = sorted(_points(random, given))
    values = zip(*(random_programs.values_at(steps, points) for steps in (first, second)), strict=True)
    return Judged(given, list(values))


def _program(random: Random, size: int) -> Steps:
    """One that quantises inputs first; half of them give nothing but sums of these levels."""
    rows = size if random.integers(3) else int(random.integers(1, 4))
    index = random.permutation(size) if rows == size else random.integers(0, size, rows)
    tile = Tile(index.astype(np.int32).reshape(rows, 1, 1), random.choice([1.0, 1.0, -1.0, 0.5], size=(rows, 1, 1)))
    curves = Curves.of_rows([random_programs.quantiser(random).curve for _ in range(rows)])
    first = Step((Term(INPUTS, tile),), random.choice([0.0, 0.25], size=rows), None, curves)
    if random.integers(2):
        weights = Tile.dense(random.integers(-2, 3, (2, rows)).astype(float))
        return first, Step((Term(0, weights),), np.zeros(2), None, "identity")
    rest = random_programs.program(random, inputs=rows, steps=int(random.integers(1, 4)))
    moved = (replace(s, terms=tuple(Term(t.source + 1, t.tile) for t in s.terms)) for s in rest)
    return (first, *moved)


def _axis(random: Random) -> tuple[Fraction, Fraction, Lattice | None]:
    """The ends of an input, and its lattice, of which there is a point between them."""
    low, width = Fraction(int(random.integers(-24, 16)), 8), Fraction(int(random.integers(33)), 8)
    if random.integers(6) == 0:
        width = Fraction(0)
    if random.integers(4) == 0:
        low += _TINY * int(random.integers(-1, 2))
    if random.integers(2):
        return low, low + width, None
    step = Fraction(int(random.choice([1, 1, 2, 3])), int(random.choice([1, 2, 3, 4, 5, 8])))
    lattice = Lattice(Fraction(int(random.integers(8)), 8), step)
    point = lattice.at_least(low)
    return (low if width else point), max(low + width, point), lattice


def _constraints(random: Random, lower: Sequence[Fraction], upper: Sequence[Fraction]) -> Iterator[LinearConstraint]:
    """Through points of the box or a little beside them; some are equations."""
    for _ in range(int(random.choice([0, 1, 1, 1, 2, 2]))):
        row = tuple(Fraction(int(c)) for c in random.choice([-2, -1, 0, 1, 2, 3], size=len(lower)))
        point = [a + (b - a) * Fraction(int(random.integers(9)), 8) for a, b in zip(lower, upper, strict=True)]
        beside = Fraction(int(random.choice([0, 0, 0, 0, 1, -1, 3, -3])), 16)
        bound = sum((c * x for c, x in zip(row, point, strict=True)), beside)
        yield LinearConstraint(row, bound, strict=bool(random.integers(3) == 0))
        if random.integers(8) == 0:
            yield LinearConstraint(tuple(-c for c in row), -bound)


def _points(random: Random, given: Task) -> set[Point]:
    """Points of the region, those on and beside the boundaries of its constraints among them."""
    lattices = given.lattices or (None,) * len(given.lower_exact)
    ends = zip(given.lower_exact, given.upper_exact, lattices, strict=True)
    axes = [_numbers(random, low, high, lattice) for low, high, lattice in ends]
    every = list(product(*axes))
    if len(every) > _MOST_POINTS:
        every = [every[int(k)] for k in random.integers(0, len(every), _MOST_POINTS)]
    found = set(every)
    for constraint in given.constraints:
        free = [i for i, c in enumerate(constraint.coefficients) if c and lattices[i] is None]
        for point in every[:: max(1, len(every) // 100)] if free else ():
            i = free[int(random.integers(len(free)))]
            left = constraint.bound - sum(c * x for c, x in zip(constraint.coefficients, point, strict=True))
            on = point[i] + left / constraint.coefficients[i]
            found.update((*point[:i], on + off, *point[i + 1 :]) for off in (-_TINY, Fraction(0), _TINY))
    return {point for point in found if contains(given, point)}


def _numbers(random: Random, low: Fraction, high: Fraction, lattice: Lattice | None) -> list[Fraction]:
    if lattice is not None:
        return [lattice.at_least(low) + k * lattice.step for k in range(lattice.points(low, high))]
    tenth = Fraction(random_programs.TENTH)
    near = [low, high, *(Fraction(k, 16) for k in range(-64, 160)), *(k * tenth / 4 for k in range(-200, 200))]
    found = sorted({x for y in near for x in (y - _TINY, y, y + _TINY) if low <= x <= high})
    chosen = random.integers(0, len(found), _MOST_ON_AN_AXIS).tolist()
    return sorted({low, high, *(found[k] for k in chosen)})


def _claims(random: Random, values: list[tuple[Rows, Rows]]) -> list[Property]:
    """Some of each kind that knows a bound, at the largest number of any point, and what has none."""
    none = [Fraction(0)] * 2
    outputs = [(f[-1][1], g[-1][1]) for f, g in values] or [(none, none)]
    apart = [[abs(x - y) for x, y in zip(f, g, strict=True)] for f, g in outputs]
    most, lead = max(map(max, apart)), max(abs(f[0] - f[1]) for f, _ in outputs)
    bound = max(g[0] - g[1] - f[0] for f, g in outputs)
    every: list[Property] = [
        Epsilon(0),
        Epsilon(most),
        Epsilon(max(row[1] for row in apart), "linf", (1,)),
        Epsilon(max(row[0] + row[1] for row in apart), "l1"),
        Epsilon(max(row[0] for row in apart), "l2", (0,)),
        Epsilon(most * Fraction(5, 4), "l2"),
        Top1(),
        Margin(lead),
        Margin(lead + Fraction(1, 10**12)),
        Margin(lead / 2),
        Confidence("0.8"),
        Linear((1, -1), (-1, 0), bound),
        Linear((1, -1), (-1, 0), bound, strict=True),
    ]
    chosen = random.permutation(len(every))[:5].tolist()
    return [NeverWraps(), NeverSaturates(), *(every[k] for k in chosen)]
