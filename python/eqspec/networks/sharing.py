"""Which rows of two aligned networks are the same real numbers, although no float holds them.

A folded row is known up to an error. The errors of two rows of one name are not independent, since both stand for the
same numbers (see `names`): whatever a bound says of W1 - W2 and b1 - b2 there, they are zero. So the second network is
given the first one's enclosure of such a row, and the core is told that it is shared. A weight of a tile serves all
positions of a channel, so rows are shared where all of their channel are, and where terms read the same rows of the
same steps.

Only over the reals: in float32 the errors are what runtimes may round, and two runs may round differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Array, Network
from eqspec.networks.program import Step, Term, Tile

Rows = list[list[bool]]
_Chosen = NDArray[np.bool_]


def share(first: Network, second: Network) -> tuple[Network, Rows]:
    """The second of two aligned networks with what it shares as the first has it; and per step, which rows."""
    if "float32" in (first.arithmetic, second.arithmetic):
        return second, [[False] * step.rows for step in first.steps]
    pairs = list(zip(first.steps, second.steps, strict=True))
    found = [_shared(a, b) for a, b in pairs]
    steps = tuple(_taken(a, b, rows) for (a, b), rows in zip(pairs, found, strict=True))
    return replace(second, steps=steps), [rows.tolist() for rows in found]


def _shared(a: Step, b: Step) -> _Chosen:
    rows = np.zeros(a.rows, bool)
    if a.names is None or b.names is None or not read_alike(a.terms, b.terms):
        return rows
    rows[:] = [x is not None and x == y for x, y in zip(a.names, b.names, strict=True)]
    while True:
        whole = rows.copy()
        for term in a.terms:
            np.logical_and(whole, np.repeat(_channels(term.tile, whole), term.tile.positions), out=whole)
        if np.array_equal(whole, rows):
            return rows
        rows = whole


def read_alike(a: Sequence[Term], b: Sequence[Term]) -> bool:
    """Whether terms read the same rows of the same steps in the same order, with as many weights."""
    return len(a) == len(b) and all(
        x.source == y.source
        and np.array_equal(x.tile.index, y.tile.index)
        and x.tile.weight.shape == y.tile.weight.shape
        for x, y in zip(a, b, strict=True)
    )


def _channels(tile: Tile, rows: _Chosen) -> _Chosen:
    """The channels (G O) of which all rows are chosen."""
    return np.asarray(rows.reshape(tile.channels, tile.positions).all(axis=1))


def _taken(a: Step, b: Step, rows: _Chosen) -> Step:
    """Step b, in these rows with the numbers and errors of step a."""
    if not rows.any():
        return b
    terms = []
    for one, other in zip(a.terms, b.terms, strict=True):
        x, y = one.tile, other.tile
        chosen = _channels(x, rows).reshape(x.groups, x.outputs, 1)
        weight, error = _merged(chosen, (x.weight, x.weight_error), (y.weight, y.weight_error))
        terms.append(Term(other.source, Tile(y.index, weight, error)))
    bias, error = _merged(rows, (a.bias, a.bias_error), (b.bias, b.bias_error))
    return Step(tuple(terms), bias, error, b.function, b.names)


def _merged(
    chosen: _Chosen, one: tuple[Array, Array | None], other: tuple[Array, Array | None]
) -> tuple[Array, Array | None]:
    """Numbers and errors of the one where chosen, of the other elsewhere."""
    (x, e), (y, f) = one, other
    value = np.ascontiguousarray(np.where(chosen, x, y))
    if e is None and f is None:
        return value, None
    errors = (np.zeros_like(value) if error is None else error for error in (e, f))
    return value, np.ascontiguousarray(np.where(chosen, *errors))
