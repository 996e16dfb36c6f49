"""Programs of steps rewritten so that they compute what they did: channels moved, added, rescaled; taps reordered.

Shapes: the rows of a step are channels times positions, channel-major, and whole channels are moved. A tile
(G, O, P, K) whose rows have other positions is first written in another form, at worst with every row by itself.

Every function here gives steps that compute what they were given computes, as real numbers, with the rounding of scales
in the errors. Where a tile's weight comes to stand at several places its error does too, and means the same there: an
error bounds the exact number at each position by itself (`program`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eqspec.errors import InternalError
from eqspec.networks import enclosure as en
from eqspec.networks.curve_definitions import domain_point, homogeneous
from eqspec.networks.curves import Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.program import NONE, Array, Function, Index, Step, Term, Tile

MOST = 1 << 22
"""Entries of an index beyond which a tile is not written out row by row."""

Steps = list[Step]
Rows = NDArray[np.intp]


class TooLargeError(Exception):
    """A tile would have to be written out, and has too many entries for that."""


def by_rows(tile: Tile) -> Tile:
    """The tile with every row as a group of its own. TooLargeError where it has too many products."""
    if tile.products > MOST:
        raise TooLargeError

    def spread(a: Array) -> Array:
        return np.repeat(a[:, :, None], tile.positions, axis=2).reshape(tile.rows, 1, tile.taps)

    index = np.repeat(tile.index[:, None], tile.outputs, axis=1).reshape(tile.rows, 1, tile.taps)
    return _like(tile, index, spread)


def by_channels(tile: Tile, positions: int) -> Tile:
    """The tile with one channel of so many positions in each group. TooLargeError as above."""
    channels = tile.rows // positions
    if tile.positions == positions:
        if tile.outputs == 1:
            return tile
        if tile.products > MOST:
            raise TooLargeError
        index = np.repeat(tile.index, tile.outputs, axis=0)
        return _like(tile, index, lambda a: a.reshape(channels, 1, tile.taps))
    if tile.groups == tile.outputs == 1:
        index = tile.index.reshape(channels, positions, tile.taps)
        return _like(tile, index, lambda a: np.repeat(a, channels, axis=0))
    return by_rows(tile)


def _like(tile: Tile, index: Index, move: object) -> Tile:
    assert callable(move)
    error = None if tile.weight_error is None else np.ascontiguousarray(move(tile.weight_error))
    return Tile(np.ascontiguousarray(index), np.ascontiguousarray(move(tile.weight)), error)


def _chosen(a: Array, rows: Rows, axis: int) -> Array:
    """Entries along an axis, 0 where the row is -1."""
    there = np.expand_dims(rows >= 0, tuple(range(1, a.ndim - axis))) if a.ndim - axis > 1 else rows >= 0
    return np.ascontiguousarray(np.where(there, np.take(a, rows, axis=axis, mode="wrap"), 0.0))


def _with_channels(tile: Tile, order: Rows, positions: int) -> Tile:
    """The tile with these channels, zero rows for -1."""
    if tile.positions == positions and tile.groups == 1:
        return _like(tile, tile.index, lambda a: _chosen(a, order, 1))
    if tile.groups == tile.outputs == 1 and tile.positions != positions:
        rows = _rows_of(order, positions)
        return Tile(np.where((rows >= 0)[None, :, None], tile.index[:, rows], NONE).astype(np.int32), *_weights(tile))
    made = by_channels(tile, positions)
    taken = order if made.positions == positions else _rows_of(order, positions)
    index = np.where((taken >= 0)[:, None, None], made.index[taken], NONE).astype(np.int32)
    return _like(made, index, lambda a: _chosen(a, taken, 0))


def _weights(tile: Tile) -> tuple[Array, Array | None]:
    return tile.weight, tile.weight_error


def _rows_of(order: Rows, positions: int) -> Rows:
    """The rows of channels, -1 for those of channel -1."""
    rows: Rows = np.where(order[:, None] < 0, -1, order[:, None] * positions + np.arange(positions)).reshape(-1)
    return rows


def placed(steps: Steps, at: int, order: Sequence[int | None], positions: int) -> Steps:
    """Step `at` with these of its channels, every one of them once, and channels of zeros for None; readers follow.

    Raises TooLargeError where that would write out too large a tile.
    """
    step = steps[at]
    channels = np.array([-1 if c is None else c for c in order], np.intp)
    if sorted(channels[channels >= 0].tolist()) != list(range(step.rows // positions)):
        raise InternalError("channels are not all there once; this is a defect of eqspec, please report it")
    rows = _rows_of(channels, positions)
    if np.array_equal(rows, np.arange(step.rows)):
        return steps
    place = np.full(step.rows + 1, NONE, np.int32)
    place[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    stays = bool((place[:-1] == np.arange(step.rows)).all())
    error = None if step.bias_error is None else _chosen(step.bias_error, rows, 0)
    names = None if step.names is None else tuple(None if r < 0 else step.names[r] for r in rows.tolist())
    terms = tuple(Term(t.source, _with_channels(t.tile, channels, positions)) for t in step.terms)
    function, bias = step.function, _chosen(step.bias, rows, 0)
    if isinstance(function, Curves):
        function = function.taken(rows)
        bias = np.where(rows < 0, idle_bias(function, len(rows)), bias)
    changed = list(steps)
    changed[at] = Step(terms, bias, error, function, names)
    for number in range(at + 1, len(steps)):
        reader = changed[number]
        if at in reader.sources:
            moved = tuple(_reading(t, place, len(rows)) if t.source == at else t for t in reader.terms)
            changed[number] = replace(reader, terms=moved, names=reader.names if stays else None)
    return changed


def idle_bias(function: Function, rows: int) -> Array:
    """A bias for rows that read nothing, at which their functions have a value."""
    bias = np.zeros(rows)
    if isinstance(function, Curves):
        for curve, chosen in function.groups(rows):
            bias[chosen] = domain_point(curve)
    return bias


def longer(function: Function, rows: int, more: int) -> Function:
    """The function of a step that is given rows behind its own."""
    if not isinstance(function, Curves):
        return function
    return function.taken(np.where(np.arange(more) < rows, np.arange(more), -1))


def may_be_scaled(function: Function) -> bool:
    """Whether f(c x) = c f(x) for all c > 0, of every row."""
    if not isinstance(function, Curves):
        return True
    return all(homogeneous(curve) for curve in function.kinds)


def _reading(term: Term, place: Index, rows: int) -> Term:
    """The term with the rows that it reads at other places."""
    tile = term.tile
    moved = Tile(place[tile.index], *_weights(tile))
    return Term(term.source, matrix_in_order(moved, rows))


def matrix_in_order(tile: Tile, columns: int) -> Tile:
    """A matrix that reads some rows, each once, as one that reads all rows in their order, with zeros."""
    if tile.groups != 1 or tile.positions != 1 or tile.outputs == 1 or tile.is_dense(columns):
        return tile
    index = tile.index.reshape(-1)
    read = index[index >= 0]
    if len(np.unique(read)) < len(read) or columns > 4 * len(read):
        return tile

    def spread(a: Array) -> Array:
        made = np.zeros((1, tile.outputs, columns))
        made[:, :, read] = a[:, :, index >= 0]
        return made

    return _like(tile, np.arange(columns, dtype=np.int32).reshape(1, 1, -1), spread)


def rescaled(steps: Steps, at: int, factors: Array, positions: int) -> Steps:
    """Channels of step `at` times positive factors, and what reads them divided by the same.

    Raises TooLargeError as above, OverflowError where a number leaves the range of floats.
    """
    step = steps[at]
    if not may_be_scaled(step.function):
        raise InternalError("this function may not be rescaled; this is a defect of eqspec, please report it")
    of_rows = np.repeat(factors, positions)
    bias = en.multiply(Enclosure(step.bias, step.bias_error), en.exactly(of_rows))
    terms = tuple(Term(t.source, _times(t.tile, factors, positions)) for t in step.terms)
    names = step.names and tuple(n if f == 1.0 else None for n, f in zip(step.names, of_rows.tolist(), strict=True))
    changed = list(steps)
    changed[at] = Step(terms, bias.value, bias.error, step.function, names)
    for number in range(at + 1, len(steps)):
        reader = changed[number]
        if at in reader.sources:
            divided = tuple(_divided(t, of_rows, positions) if t.source == at else t for t in reader.terms)
            changed[number] = replace(reader, terms=divided, names=None)
    return changed


def _times(tile: Tile, factors: Array, positions: int) -> Tile:
    if tile.positions != positions:
        tile = by_channels(tile, positions)
    if tile.positions != positions:  # every row by itself
        factors = np.repeat(factors, positions)
    by_channel = en.exactly(factors.reshape(tile.groups, tile.outputs, 1))
    weight = en.multiply(Enclosure(*_weights(tile)), by_channel)
    return Tile(tile.index, weight.value, weight.error)


def _divided(term: Term, of_rows: Array, positions: int) -> Term:
    tile = term.tile
    given = np.append(of_rows, np.nan)
    for wanted in (positions, tile.rows * positions // len(of_rows), 1):  # channels kept, each pooled, or single rows
        if _uniform(given[tile.index]) is not None:
            break
        if wanted and tile.rows % wanted == 0:
            tile = by_channels(term.tile, wanted)
    of_taps = _uniform(given[tile.index])
    assert of_taps is not None
    weight = en.divide(Enclosure(*_weights(tile)), en.exactly(of_taps[:, None]))
    return Term(term.source, Tile(tile.index, weight.value, weight.error))


def _uniform(factors: Array) -> Array | None:
    """The factor of each tap (G, K), 1 where it reads nothing (NaN); None where positions (axis 1) differ."""
    read = ~np.isnan(factors)
    largest: Array = np.where(read, factors, 0.0).max(axis=1)
    if (read & (factors != largest[:, None])).any():
        return None
    return np.where(largest > 0.0, largest, 1.0)


def same_taps(a: Tile, b: Tile) -> tuple[Tile, Tile]:
    """Both tiles with one index, if they have the same groups and positions, or can be given them.

    Taps of a tile that the other does not have get the weight 0 there. Where that would make the tiles much larger,
    they come back as they are.
    """
    if (a.groups, a.positions) != (b.groups, b.positions):
        if a.groups * a.outputs == 1 and b.outputs == 1 and a.rows % b.positions == 0:
            a = by_channels(a, b.positions)
        elif b.groups * b.outputs == 1 and a.outputs == 1 and b.rows % a.positions == 0:
            b = by_channels(b, a.positions)
    if (a.groups, a.positions) != (b.groups, b.positions):
        return a, b
    if np.array_equal(a.index, b.index):
        return (a, b) if a.index is b.index else (a, Tile(a.index, *_weights(b)))
    taps, places = [], []
    for of_a, of_b in zip(a.index, b.index, strict=True):
        known = {key: number for number, key in enumerate(_columns(of_a))}
        columns = list(of_a.T)
        place = []
        for key, column in zip(_columns(of_b), of_b.T, strict=True):
            if key not in known:
                known[key] = len(columns)
                columns.append(column)
            place.append(known[key])
        taps.append(columns)
        places.append(place)
    most = max(map(len, taps))
    if most > 1.5 * max(a.taps, b.taps):
        return a, b
    index = np.full((a.groups, a.positions, most), NONE, np.int32)
    for group, columns in enumerate(taps):
        index[group, :, : len(columns)] = np.array(columns).T
    where = np.array(places)[:, None]

    def spread(weights: Array) -> Array:
        made = np.zeros((*weights.shape[:2], most))
        np.put_along_axis(made, np.broadcast_to(where, weights.shape), weights, axis=2)
        return made

    def widened(weights: Array) -> Array:
        return np.pad(weights, ((0, 0), (0, 0), (0, most - a.taps)))

    return _like(a, index, widened), _like(b, index, spread)


def _columns(index: Index) -> list[tuple[bytes, int]]:
    """What identifies the taps of a group (P, K): the rows that they read, and how often these came before."""
    seen: Counter[bytes] = Counter()
    keys = []
    for column in np.ascontiguousarray(index.T):
        read = column.tobytes()
        keys.append((read, seen[read]))
        seen[read] += 1
    return keys
