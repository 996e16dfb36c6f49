"""What stands before the units of one source in a value of a graph: a selection, a matrix, or a tile.

A value of `shape` has one row per entry, in C order. Three forms hold its rows over n units:
- `Selection`: entry i is scale_i times unit index_i, or nothing where the index is -1. Inputs, what functions give,
  their reshapes, transposes, slices and normalisations are selections, without a matrix and exactly;
- `Dense`: one row of n' <= n numbers per entry: fully connected layers;
- `Tiled`: rows gathered by an index, times a small matrix that positions share (see `program`): convolutions, pools,
  sums. Tile rows are ordered (group, output, position); entry i is tile row order_i, which is how a value is permuted
  while the tile stays what it is. A tile of one group and output is kept in the value's own order: it is *loose*, its
  rows can be taken one by one like those of a selection. Any other tile is rigid.

Every operation is one of `enclosure`, so errors only grow, and stay None where nothing was rounded. An error is how far
a number may be off wherever it is used: at each position by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import enclosure as en
from eqspec.networks.enclosure import Enclosure

Indices = NDArray[np.intp]
Combine: TypeAlias = Callable[[Enclosure, Enclosure], Enclosure]

NONE = -1
"""The index of an entry or a tap that reads nothing."""

MAX_ENTRIES = 1 << 26
"""Largest array that is formed: half a GiB of float64."""

MAX_VALUE = 1 << 22
"""Largest value of a graph: it consists of several arrays, and being put elsewhere takes as many again."""


class TooLargeError(ValueError):
    """An array would exceed MAX_ENTRIES, a value MAX_VALUE, or a network what can be decided."""


def check_size(*shapes: Sequence[int]) -> None:
    """Refuse shapes whose arrays would be absurdly large, before they are allocated."""
    for shape in shapes:
        if prod(shape) > MAX_ENTRIES:
            raise TooLargeError(f"an array of shape {tuple(shape)} is beyond the limit of {MAX_ENTRIES} numbers")


def check_value(shape: Sequence[int]) -> None:
    """Refuse a value that could never be used, before anything of it is allocated."""
    if prod(shape) > MAX_VALUE:
        raise TooLargeError(f"a value of shape {tuple(shape)} is beyond the limit of {MAX_VALUE} numbers")


@dataclass(frozen=True, eq=False)
class Selection:
    """Entry i is scale_i times unit index_i, nothing where that is -1; both have the value's shape."""

    index: Indices
    scale: Enclosure


@dataclass(frozen=True, eq=False)
class Dense:
    """Entry i is row i times the units; rows has shape (*shape, n'), n' at most the number of units."""

    rows: Enclosure


@dataclass(frozen=True, eq=False)
class Tiled:
    """Entry i is row order_i (None: i) of the tile with index (g, p, k) and weight (g, o, k)."""

    index: Indices
    weight: Enclosure
    order: Indices | None = None

    @property
    def loose(self) -> bool:
        """Whether its rows can be taken one by one."""
        return self.weight.shape[:2] == (1, 1)

    @property
    def size(self) -> int:
        """How many rows it has."""
        return int(prod(self.weight.shape[:2]) * self.index.shape[1])


Matrix: TypeAlias = Selection | Dense | Tiled


def tiled(index: Indices, weight: Enclosure, order: Indices | None = None) -> Tiled:
    """A tile; a loose one is brought into the value's own order."""
    made = Tiled(index, weight, order)
    if order is not None and made.loose:
        return Tiled(index[:, order], weight)
    return made


def moved(a: Enclosure, f: Callable[[en.Array], en.Array]) -> Enclosure:
    """A rearrangement applied to value and error alike."""
    return Enclosure(f(a.value), None if a.error is None else f(a.error))


def concatenated(parts: Sequence[Enclosure]) -> Enclosure:
    """Vectors, or arrays, one behind the other."""
    value = np.concatenate([part.value for part in parts])
    exact = all(part.error is None for part in parts)
    return Enclosure(value, None if exact else np.concatenate([part.radius for part in parts]))


def is_exact(matrix: Matrix) -> bool:
    """Whether nothing about it was rounded."""
    return numbers(matrix).error is None


def numbers(matrix: Matrix) -> Enclosure:
    """The real numbers that it consists of."""
    match matrix:
        case Selection():
            return matrix.scale
        case Dense():
            return matrix.rows
        case _:
            return matrix.weight


def gather(a: NDArray[Any], take: Indices | None, shape: tuple[int, ...], lead: int, nothing: Any = 0) -> NDArray[Any]:
    """Entries along the flattened first `lead` axes: those of `take` (None: all in their order), `nothing` for -1."""
    flat = a.reshape((prod(a.shape[:lead]), *a.shape[lead:]))
    if take is None:
        return flat.reshape((*shape, *flat.shape[1:]))
    absent = take.ravel() == NONE
    if absent.all():  # perhaps because there are no entries
        return np.full((*shape, *flat.shape[1:]), nothing, flat.dtype)
    found = flat[take.ravel()]
    if absent.any():
        found[absent] = nothing
    return found.reshape((*shape, *flat.shape[1:]))


def taken(matrix: Matrix, take: Indices | None, before: tuple[int, ...], shape: tuple[int, ...]) -> Matrix:
    """Entries put elsewhere: those of `take`, -1 for an entry of zeros; a rigid tile only by a permutation."""
    lead = len(before)
    match matrix:
        case Selection():
            index = gather(matrix.index, take, shape, lead, NONE)
            return Selection(index, moved(matrix.scale, lambda a: gather(a, take, shape, lead)))
        case Dense():
            check_size((*shape, matrix.rows.shape[-1]))
            return Dense(moved(matrix.rows, lambda a: gather(a, take, shape, lead)))
        case _ if take is None:
            return matrix
        case _ if matrix.loose:
            check_size((take.size, matrix.index.shape[2]))
            return Tiled(gather(matrix.index[0], take, (take.size,), 1, NONE)[None], matrix.weight)
        case _:
            order = take.ravel() if matrix.order is None else matrix.order[take.ravel()]
            return Tiled(matrix.index, matrix.weight, order)


def negated(matrix: Matrix) -> Matrix:
    """-matrix, exact."""
    return with_numbers(matrix, en.negate(numbers(matrix)))


def inflated(matrix: Matrix, factor: float) -> Matrix:
    """The matrix with an error of `factor` times its size on each number."""
    return with_numbers(matrix, en.inflate(numbers(matrix), factor))


def with_numbers(matrix: Matrix, found: Enclosure) -> Matrix:
    """A matrix of the same form with other numbers."""
    match matrix:
        case Selection():
            return Selection(matrix.index, found)
        case Dense():
            return Dense(found)
        case _:
            return Tiled(matrix.index, found, matrix.order)


def scaled(matrix: Matrix, factor: Enclosure, shape: tuple[int, ...], combine: Combine) -> Matrix | None:
    """Every row times the factor of its entry, which is broadcast; None where positions of a tile differ in it."""
    match matrix:
        case Selection():
            return Selection(matrix.index, combine(matrix.scale, factor))
        case Dense():
            return Dense(combine(matrix.rows, moved(factor, lambda a: a[..., None])))
        case _:
            shared = per_channel(matrix, moved(factor, lambda a: np.broadcast_to(a, shape)))
            if shared is None:
                return None
            columns = moved(shared, lambda a: a[..., None])
            return Tiled(matrix.index, combine(matrix.weight, columns), matrix.order)


def per_channel(matrix: Tiled, numbers: Enclosure) -> Enclosure | None:
    """Numbers of a value's entries as those of the tile's channels (g, o); None where positions differ in them."""
    groups, outputs, _ = matrix.weight.shape

    def by_row(a: en.Array) -> en.Array:
        return in_tile_order(a.reshape(-1), matrix.order).reshape(groups, outputs, -1)

    rows = moved(numbers, by_row)
    if any((a != a[..., :1]).any() for a in (rows.value, rows.radius)):
        return None
    return moved(rows, lambda a: a[..., 0])


def in_tile_order(a: NDArray[Any], order: Indices | None) -> NDArray[Any]:
    """Entries of a value (rows, ...) as the rows of its tile."""
    if order is None:
        return a
    made = np.empty_like(a)
    made[order] = a
    return made


def dense_rows(matrix: Selection | Dense, shape: tuple[int, ...], width: int) -> Enclosure:
    """The rows as an array (*shape, width)."""
    check_size((*shape, width))
    if isinstance(matrix, Dense):
        missing = width - matrix.rows.shape[-1]
        return matrix.rows if missing == 0 else moved(matrix.rows, lambda a: _pad_columns(a, missing))
    index = matrix.index[..., None]

    def scatter(a: en.Array) -> en.Array:
        rows = np.zeros((*shape, width))
        np.put_along_axis(rows, index, a[..., None], axis=-1)  # index -1 writes a zero among zeros
        return rows

    return moved(matrix.scale, scatter)


def _pad_columns(a: en.Array, count: int) -> en.Array:
    return np.concatenate([a, np.zeros((*a.shape[:-1], count))], axis=-1)


def as_tile(matrix: Selection, order: Indices | None = None) -> Tiled:
    """A selection as a tile of one tap whose rows stand in this order, with as few groups as its factors allow."""
    shape = matrix.index.shape
    index = in_tile_order(matrix.index.reshape(-1), order)
    used = index != NONE
    value = in_tile_order(matrix.scale.value.reshape(-1), order)
    radius = in_tile_order(matrix.scale.radius.reshape(-1), order)
    sizes = [prod(shape[axis:]) for axis in range(len(shape))] if order is None else [len(index)]
    for positions in dict.fromkeys([len(index), *sizes, 1]):
        grid = (len(index) // positions, positions)
        first = np.argmax(used.reshape(grid), axis=1)[:, None]
        factors = []
        for a in (value, radius):
            chosen = np.take_along_axis(a.reshape(grid), first, axis=1)
            if ((a.reshape(grid) != chosen) & used.reshape(grid)).any():
                break
            factors.append(chosen[:, :, None])
        if len(factors) == 2:
            weight = Enclosure(factors[0], factors[1] if factors[1].any() else None)
            return Tiled(index.reshape(*grid, 1), weight)
    raise AssertionError("one position per group always fits")


def merged(a: Matrix, b: Matrix, shape: tuple[int, ...], width: int, dense: bool) -> Matrix | None:
    """The sum of two matrices over the same units, None where it has no such form and stays two terms.

    `dense` says that selections may be written out.
    """
    if not isinstance(a, Tiled) and not isinstance(b, Tiled):
        if dense or isinstance(a, Dense) or isinstance(b, Dense):
            return Dense(en.add(dense_rows(a, shape, width), dense_rows(b, shape, width)))
        if (a.index == b.index).all():
            return Selection(a.index, en.add(a.scale, b.scale))
        apart = (a.index == NONE) | (b.index == NONE)
        if apart.all():
            index = np.maximum(a.index, b.index)
            return Selection(index, en.add(a.scale, b.scale))
    first, second = (as_tile(m) if isinstance(m, Selection) else m for m in (a, b))
    if not (isinstance(first, Tiled) and isinstance(second, Tiled)):
        return None
    if first.loose and second.loose:
        index = np.concatenate([first.index, second.index], axis=2)
        weight = moved_together(first.weight, second.weight)
        check_size(index.shape)
        return Tiled(index, weight)
    return None


def moved_together(a: Enclosure, b: Enclosure) -> Enclosure:
    """Two arrays side by side along the last axis."""
    value = np.concatenate([a.value, b.value], axis=-1)
    exact = a.error is None and b.error is None
    return Enclosure(value, None if exact else np.concatenate([a.radius, b.radius], axis=-1))
