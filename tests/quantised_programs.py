"""Small random programs with quantisers of all kinds, regions with lattices, and their values by definition.

Weights, scales and lattices are such that arguments often lie on thresholds, on ties and at the ends of a type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from eqspec.networks.curves import Curve, Curves, clip, leaky, pieces
from eqspec.networks.exact_curves import on_interval
from eqspec.networks.grids import Region
from eqspec.networks.program import Function, Step, Term, Tile, renumbered
from eqspec.networks.quantiser import Quantiser, Rounding, rounded
from programs import taps_of_row, without_unread

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


def region(random: Random, inputs: int = 2, *, lattices: bool = True, widest: int = 20) -> Region:
    """A box, with a lattice for every input or for none."""
    lower, upper, given = [], [], []
    for _ in range(inputs):
        step = Fraction(1, int(random.choice([1, 2, 4, 10])))
        low = Fraction(int(random.integers(-20, 8)), 8)
        high = low + step + Fraction(int(random.integers(0, widest)), 8)
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


Rows = list[tuple[list[Fraction], list[Fraction]]]
"""The sums of every step and what its function makes of them."""


def values(steps: tuple[Step, ...], point: tuple[Fraction, ...]) -> Rows:
    """The sums of every step and what its function makes of them, row by row, of a program without errors."""
    return values_at(steps, [point])[0]


def values_at(steps: tuple[Step, ...], points: Sequence[tuple[Fraction, ...]]) -> list[Rows]:
    """The same at many points; the value of a function at a number is worked out once."""
    taps = [
        [(term.source + 1, [taps_of_row(term.tile, row) for row in range(step.rows)]) for term in step.terms]
        for step in steps
    ]
    functions: list[list[dict[Fraction, Fraction]]] = [[{} for _ in range(step.rows)] for step in steps]
    found = []
    for point in points:
        known: list[list[Fraction]] = [list(point)]
        rows: Rows = []
        for step, read, applied_before in zip(steps, taps, functions, strict=True):
            now = [Fraction(b) for b in step.bias.tolist()]
            for source, of_rows in read:
                for row, taken in enumerate(of_rows):
                    for at, weight in taken:
                        now[row] += weight * known[source][at]
            after = []
            for row, (x, seen) in enumerate(zip(now, applied_before, strict=True)):
                if x not in seen:
                    seen[x] = applied(step.function, row, x)
                after.append(seen[x])
            rows.append((now, after))
            known.append(after)
        found.append(rows)
    return found


def applied(function: Function, row: int, x: Fraction) -> Fraction:
    """The function of a row at a number."""
    if not isinstance(function, Curves):
        return max(x, Fraction(0)) if function == "relu" else x
    curve = function.at(row)
    if curve.name == "quantiser":
        q = Quantiser.of(curve)
        assert q.unit is not None
        assert q.base is not None
        level = _level(q, x)
        if q.wraps:
            level = q.low + (level - q.low) % (q.high - q.low + 1)
        return Fraction(q.unit) * (min(max(level, q.low), q.high) - Fraction(q.base))
    low, high = on_interval(curve, (x, x))
    assert low == high
    return low


def leaves(function: Function, row: int, x: Fraction, *, wraps: bool) -> bool:
    """Whether a sum leaves the type of a row that wraps, or saturates."""
    if not isinstance(function, Curves) or function.at(row).name != "quantiser":
        return False
    q = Quantiser.of(function.at(row))
    return q.wraps == wraps and not q.low <= _level(q, x) <= q.high


def _level(q: Quantiser, x: Fraction) -> int:
    return rounded(x / Fraction(q.scale) + Fraction(q.zero), q.rounding)


def outputs(steps: tuple[Step, ...], point: tuple[Fraction, ...]) -> list[Fraction]:
    """The outputs of a program without errors."""
    return values(steps, point)[-1][1]


def changed(random: Random, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The program with something changed in one step, which often changes nothing on a region."""
    place = int(random.integers(len(steps)))
    step = steps[place]
    made = list(steps)
    kind = random.integers(3)
    if kind == 0 and place < len(steps) - 1:
        made[place] = replace(step, function=_other_function(random, step.function, step.rows))
    elif kind == 1 and step.terms:
        term, *others = step.terms
        weight = term.tile.weight.copy()
        weight.flat[int(random.integers(weight.size))] += float(random.choice([0.25, -1.0]))
        made[place] = replace(step, terms=(Term(term.source, Tile(term.tile.index, weight)), *others))
    else:
        bias = step.bias.copy()
        bias[int(random.integers(len(bias)))] += float(random.choice([0.125, -0.5, 2.0**-30]))
        made[place] = replace(step, bias=bias)
    return tuple(made)


def _other_function(random: Random, function: Function, rows: int) -> Function:
    """A function that often agrees with it: another rounding, type or overflow, or none of its curves."""
    if not isinstance(function, Curves) or random.integers(6) == 0:
        return "relu" if random.integers(2) else "identity"
    curves = [function.at(row) for row in range(rows)]
    for row, given in enumerate(curves):
        if given.name != "quantiser":
            continue
        q, kind = Quantiser.of(given), random.integers(4)
        if kind == 0:
            q = replace(q, rounding=Rounding(int(random.integers(9))))
        elif kind == 1:
            q = replace(q, low=q.low - int(random.integers(3)), high=q.high + int(random.integers(3)))
        elif kind == 2:
            q = replace(q, wraps=not q.wraps)
        else:
            q = replace(q, zero=q.zero + 1.0, low=q.low + 1, high=q.high + 1, base=(q.base or 0.0) + 1.0)
        curves[row] = q.curve
    return Curves.of_rows(curves)


def written_otherwise(random: Random, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The same function: neurons in another order, other units between steps, casts that change nothing."""
    made = steps
    for place in range(len(steps) - 1):
        kind = random.integers(3)
        if kind == 0:
            made = _in_other_order(random, made, place)
        elif kind == 1 and isinstance(made[place].function, Curves):
            made = _in_other_units(made, place, float(random.choice([0.5, 4.0])))
    return made


def _in_other_order(random: Random, steps: tuple[Step, ...], place: int) -> tuple[Step, ...]:
    """The rows of a step in another order, through a step that copies them and one that puts them back."""
    order = random.permutation(steps[place].rows)
    shuffle = Step((Term(place, Tile.rearranged(order)),), np.zeros(len(order)), None, "identity")
    back = Step((Term(place + 1, Tile.rearranged(np.argsort(order))),), np.zeros(len(order)), None, "identity")
    numbers = {n: n if n < place else n + 2 for n in range(-1, len(steps))}
    return (*steps[: place + 1], shuffle, back, *(renumbered(step, numbers) for step in steps[place + 1 :]))


def _in_other_units(steps: tuple[Step, ...], place: int, factor: float) -> tuple[Step, ...]:
    """The results of quantisers in other units, which the weights behind them undo; powers of two round nothing."""
    step = steps[place]
    assert isinstance(step.function, Curves)
    curves = [step.function.at(row) for row in range(step.rows)]
    if any(c.name != "quantiser" for c in curves):
        return steps
    other = []
    for c in curves:
        q = Quantiser.of(c)
        assert q.unit is not None
        other.append(replace(q, unit=q.unit * factor).curve)
    made = [replace(step, function=Curves.of_rows(other)) if n == place else given for n, given in enumerate(steps)]
    for number in range(place + 1, len(made)):
        terms = [
            Term(t.source, Tile(t.tile.index, t.tile.weight / factor)) if t.source == place else t
            for t in made[number].terms
        ]
        made[number] = replace(made[number], terms=tuple(terms))
    return tuple(made)
