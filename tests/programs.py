"""Random programs of steps: branches, sums of several terms, convolutions, dense matrices, sparse rows, errors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eqspec.networks.network import Array, Network
from eqspec.networks.program import INPUTS, Step, Term, Tile, needed, renumbered

Random = np.random.Generator


def convolution(
    random: Random, channels: int, side: int, outputs: int, *, kernel: int = 3, stride: int = 1, groups: int = 1
) -> Tile:
    """A convolution of an image (channels, side, side), padded by zeros, with random weights."""
    pad, inner = kernel // 2, channels // groups
    rows = np.pad(np.arange(channels * side * side).reshape(channels, side, side), ((0, 0), (pad, pad), (pad, pad)))
    there = np.pad(np.ones((channels, side, side), bool), ((0, 0), (pad, pad), (pad, pad)))
    rows[~there] = -1
    across = range(0, rows.shape[1] - kernel + 1, stride)
    index = [
        [rows[g * inner : (g + 1) * inner, i : i + kernel, j : j + kernel].ravel() for i in across for j in across]
        for g in range(groups)
    ]
    weight = random.normal(size=(groups, outputs // groups, inner * kernel * kernel))
    return Tile(np.array(index, np.int32), weight)


def sparse(random: Random, columns: int, rows: int) -> Tile:
    """Every row reads a few rows, some of them nothing."""
    taps = int(random.integers(1, 4))
    index = random.integers(-1, columns, size=(rows, 1, taps)).astype(np.int32)
    return Tile(index, random.normal(size=(rows, 1, taps)))


def tile(random: Random, columns: int, rows: int) -> Tile:
    """Some tile of so many columns and rows."""
    kind = random.integers(4)
    if kind == 0:
        return sparse(random, columns, rows)
    if kind == 1:
        return Tile.rearranged(random.integers(-1, columns, size=rows))
    positions = int(random.choice([p for p in range(1, rows + 1) if rows % p == 0]))
    if kind == 2:
        groups = int(random.choice([g for g in range(1, rows // positions + 1) if rows // positions % g == 0]))
        taps = int(random.integers(1, 5))
        index = random.integers(-1, columns, size=(groups, positions, taps)).astype(np.int32)
        return Tile(index, random.normal(size=(groups, rows // positions // groups, taps)))
    return Tile.dense(random.normal(size=(rows, columns)))


def with_error(random: Random, made: Tile) -> Tile:
    """The tile with an error beside some of its weights."""
    return Tile(made.index, made.weight, 1e-6 * random.uniform(size=made.weight.shape) * random.integers(0, 2))


def program(random: Random, *, inputs: int = 4, outputs: int = 3, steps: int = 5, errors: bool = False) -> Network:
    """A network of at most so many steps."""
    made: list[Step] = []
    sizes = [inputs]
    for number in range(steps):
        last = number == steps - 1
        rows = outputs if last else int(random.integers(1, 13))
        count = 1 if number == 0 else int(random.integers(0 if random.uniform() < 0.1 else 1, 4))
        terms = []
        for place in range(count):
            source = number - 1 if place == 0 else int(random.integers(INPUTS, number))
            given = tile(random, sizes[source + 1], rows)
            terms.append(Term(source, with_error(random, given) if errors else given))
        bias = random.normal(size=rows)
        error = 1e-6 * random.uniform(size=rows) if errors and random.integers(2) else None
        relu = not last and random.uniform() < 0.7
        made.append(Step(tuple(terms), bias, error, "relu" if relu else "identity"))
        sizes.append(rows)
    return Network(without_unread(made), inputs, "random", f"{random.integers(1 << 30)}")


def within_errors(random: Random, steps: Sequence[Step]) -> tuple[Step, ...]:
    """A program whose numbers lie within the errors of another one's, some of them nearly at an end."""
    return tuple(
        Step(
            tuple(Term(term.source, _within(random, term.tile)) for term in step.terms),
            step.bias if step.bias_error is None else step.bias + _shares(random, step.bias) * step.bias_error,
            None,
            step.function,
        )
        for step in steps
    )


def _within(random: Random, tile: Tile) -> Tile:
    if tile.weight_error is None:
        return tile
    return Tile(tile.index, tile.weight + _shares(random, tile.weight) * tile.weight_error)


def _shares(random: Random, like: Array) -> Array:
    return random.choice([-0.999, 0.0, 0.5, 0.999], size=like.shape)


def without_unread(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that the last one depends on, with their sources renumbered."""
    kept = [number for number, there in enumerate(needed(steps)) if there]
    place = {INPUTS: INPUTS} | {old: new for new, old in enumerate(kept)}
    return tuple(renumbered(steps[number], place) for number in kept)


def taps_of_row(tile: Tile, row: int) -> list[tuple[int, Fraction]]:
    """What one row of a tile reads, and with which weight: the definition, entry by entry."""
    channel, position = divmod(row, tile.positions)
    group, output = divmod(channel, tile.outputs)
    taps = zip(tile.index[group, position].tolist(), tile.weight[group, output].tolist(), strict=True)
    return [(at, Fraction(weight)) for at, weight in taps if at >= 0]


def sums(step: Step, values: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """The sums of a step, given the inputs and what earlier steps gave, row by row, as rationals."""
    found = [Fraction(b) for b in step.bias.tolist()]
    for term in step.terms:
        for row in range(step.rows):
            found[row] += sum(weight * values[term.source + 1][at] for at, weight in taps_of_row(term.tile, row))
    return found


def naive(network: Network, point: list[Fraction]) -> list[Fraction]:
    """The outputs of a program without errors, row by row, as rationals."""
    values = [point]
    for step in network.steps:
        now = sums(step, values)
        values.append([max(x, Fraction(0)) for x in now] if step.function == "relu" else now)
    return values[-1]


def point(random: Random, size: int) -> list[Fraction]:
    """A rational point."""
    return [
        Fraction(int(n), int(d))
        for n, d in zip(random.integers(-9, 10, size), random.integers(1, 8, size), strict=True)
    ]


def floats(exact: list[Fraction]) -> Array:
    """The same in floats."""
    return np.array([float(x) for x in exact])
