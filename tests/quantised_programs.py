"""Small random programs with quantisers of all kinds, regions with lattices, and their values by definition.

Weights, scales and lattices are such that arguments often lie on thresholds, on ties and at the ends of a type.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from eqspec.networks.curves import Curve, Curves, clip, leaky, pieces
from eqspec.networks.exact_curves import on_interval
from eqspec.networks.grids import Region
from eqspec.networks.program import Function, Step, Term, Tile, without_unread
from eqspec.networks.quantiser import Quantiser, Rounding

Random = np.random.Generator
TENTH = float(np.float32(0.1))


def quantiser(random: Random) -> Quantiser:
    """Any quantiser: most have thresholds where sums of small dyadic numbers lie."""
    if random.integers(8) == 0:
        return Quantiser.bipolar(float(random.choice([1.0, 0.5, TENTH])))
    low, high = int(random.integers(-6, 1)), int(random.integers(0, 7))
    return Quantiser(
        float(random.choice([1.0, 0.5, 0.25, 2.0, TENTH])),
        low,
        high,
        Rounding(int(random.integers(9))),
        float(random.choice([0.0, 0.0, 0.0, 1.0, -2.0, 0.5, 0.25])),
        bool(random.integers(2)),
        None if random.integers(2) else float(random.choice([1.0, 0.5, 0.375])),
        None if random.integers(2) else float(random.choice([0.0, 0.5, -1.0])),
    )


def curve(random: Random) -> Curve:
    """Mostly a quantiser."""
    kind = random.integers(12)
    if kind == 0:
        return leaky(0.25)
    if kind == 1:
        return clip(float(random.integers(-4, 1)), float(random.choice([0.5, 1.0, 3.0])))
    if kind == 2:
        return pieces((-1.0, 0.5, 2.0), (1.0, -0.5, 2.0, 1.0), 0.25)
    if kind == 3:
        return Curve(str(random.choice(["floor", "sign"])))
    if kind == 4:
        return Curve("thresholded", (0.5,))
    return quantiser(random).curve


def function(random: Random, rows: int) -> Function:
    """Of the rows of a step."""
    kind = random.integers(6)
    if kind < 2:
        return "relu" if kind else "identity"
    if kind == 2:
        return Curves.of_rows([curve(random) for _ in range(rows)])
    return Curves.all(curve(random))


def _tile(random: Random, columns: int, rows: int) -> Tile:
    weights = np.array([-2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.0, 3.0, TENTH])
    kind = random.integers(3)
    if kind == 0:
        return Tile.dense(random.choice(weights, size=(rows, columns)))
    if kind == 1:
        return Tile.rearranged(random.integers(-1, columns, size=rows))
    taps = int(random.integers(1, 4))
    index = random.integers(-1, columns, size=(1, rows, taps)).astype(np.int32)
    return Tile(index, random.choice(weights, size=(1, 1, taps)))


def program(random: Random, inputs: int = 2, outputs: int = 2, steps: int = 4) -> tuple[Step, ...]:
    """A program of at most so many steps."""
    made: list[Step] = []
    sizes = [inputs]
    for number in range(steps):
        last = number == steps - 1
        rows = outputs if last else int(random.integers(1, 5))
        terms = [Term(number - 1, _tile(random, sizes[-1], rows))]
        if number and random.integers(3) == 0:
            source = int(random.integers(-1, number))
            terms.append(Term(source, _tile(random, sizes[source + 1], rows)))
        bias = random.choice([0.0, 0.0, 0.5, -0.25, 1.0, -3.0], size=rows)
        made.append(Step(tuple(terms), bias, None, "identity" if last else function(random, rows)))
        sizes.append(rows)
    return without_unread(made)


def region(random: Random, inputs: int = 2, *, lattices: bool = True) -> Region:
    """A box, with a lattice for every input or for none or for some."""
    lower, upper, given = [], [], []
    for _ in range(inputs):
        step = Fraction(1, int(random.choice([1, 2, 4, 10])))
        low = Fraction(int(random.integers(-20, 8)), 8)
        high = low + step + Fraction(int(random.integers(0, 20)), 8)
        lower.append(low)
        upper.append(high)
        given.append((Fraction(int(random.integers(-2, 3)), 8), step) if lattices else None)
    return Region(tuple(lower), tuple(upper), tuple(given))


def points(region: Region) -> Iterator[tuple[Fraction, ...]]:
    """All points of a region in which every input has a lattice."""
    axes = []
    for ends, lattice in zip(region.steps, region.lattices, strict=True):
        assert ends is not None
        assert lattice is not None
        axes.append([lattice[0] + k * lattice[1] for k in range(ends[0], ends[1] + 1)])
    return product(*axes)


def values(steps: tuple[Step, ...], point: tuple[Fraction, ...]) -> list[tuple[list[Fraction], list[Fraction]]]:
    """The sums of every step and what its function makes of them, row by row, of a program without errors."""
    known: list[list[Fraction]] = [list(point)]
    found = []
    for step in steps:
        now = [Fraction(b) for b in step.bias.tolist()]
        for term in step.terms:
            for row in range(step.rows):
                index, weight = term.tile.taps_of_row(row)
                for at, w in zip(index.tolist(), weight.tolist(), strict=True):
                    if at >= 0:
                        now[row] += Fraction(w) * known[term.source + 1][at]
        after = [applied(step.function, row, x) for row, x in enumerate(now)]
        found.append((now, after))
        known.append(after)
    return found


def applied(function: Function, row: int, x: Fraction) -> Fraction:
    """The function of a row at a number."""
    if isinstance(function, Curves):
        low, high = on_interval(function.at(row), (x, x))
        assert low == high
        return low
    return max(x, Fraction(0)) if function == "relu" else x


def outputs(steps: tuple[Step, ...], point: tuple[Fraction, ...]) -> list[Fraction]:
    """The outputs of a program without errors."""
    return values(steps, point)[-1][1]
