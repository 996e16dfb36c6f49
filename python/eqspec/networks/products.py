"""Matrix products of values with constants, and tiles over them: convolutions, pools and sums.

A fully connected layer folds with what stands before it into one matrix. Anything with positions is a `Tiled`: its rows
gather entries of the value, and where these are selections of units, the index of the tile is composed with theirs, and
factors that are the same at every position of a tap go into the kernel. What has no such form becomes units first.
No matrix of a convolution is ever formed.
"""

from __future__ import annotations

from math import prod

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import constants, names
from eqspec.networks import enclosure as en
from eqspec.networks import matrices as mx
from eqspec.networks.affine import Affine, Part
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import Dense, Indices, Selection, check_size, check_value

_MOST_FOLDED = 1 << 22
"""A product over a plain vector is written out as a matrix of up to so many entries."""


def matmul(value: Affine, weight: Enclosure) -> Affine:
    """value @ weight, both of rank 2 or more, by numpy's rules."""
    batch = np.broadcast_shapes(value.shape[:-2], weight.shape[:-2])
    rows, inner, columns = value.shape[-2], value.shape[-1], weight.shape[-1]
    if inner != weight.shape[-2]:
        raise ValueError(f"shapes {value.shape} and {weight.shape} do not multiply")
    check_value((*batch, rows, columns))
    if not _folds(value, prod(batch) * rows, inner, columns):
        return _matmul_as_tile(value, weight, batch)
    (part,) = value.parts
    matrix, width = part.matrix, part.units.size
    assert not isinstance(matrix, mx.Tiled)
    check_size((*batch, rows, columns, width), (*batch, rows, inner, columns))
    bias = en.matmul(value.bias, weight)
    if isinstance(matrix, Selection) and (spread := _spread(matrix, weight, width)) is not None:
        return _named_product(value.over(Dense(spread), bias), value, weight)
    dense = mx.dense_rows(matrix, value.shape, width)
    units_first = mx.moved(dense, lambda a: np.moveaxis(a, -1, 0))  # (n, ..., rows, inner)
    if weight.value.ndim > value.bias.value.ndim:
        lead = (1,) * (weight.value.ndim - value.bias.value.ndim)
        units_first = mx.moved(units_first, lambda a: a.reshape(a.shape[0], *lead, *a.shape[1:]))
    product = en.matmul(units_first, weight)
    units_last = mx.moved(product, lambda a: np.ascontiguousarray(np.moveaxis(a, 0, -1)))
    return _named_product(value.over(Dense(units_last), bias), value, weight)


def _folds(value: Affine, positions: int, inner: int, columns: int) -> bool:
    """Whether a product is written out as one matrix over the units of the value."""
    matrix, units = value.matrix, value.parts[0].units
    if matrix is None:
        return False
    if units.plain:
        return positions == 1 or positions * columns * units.size <= _MOST_FOLDED
    if positions > 1:
        return False
    if isinstance(matrix, Selection):
        return True
    return columns * units.size <= (value.size * matrix.rows.shape[-1] + inner * columns)


def _named_product(product: Affine, value: Affine, weight: Enclosure) -> Affine:
    """Every entry is defined by a row of the value and a column of the weight."""
    if product.exact or (rows := af.names_of(value)) is None or (columns := constants.names_of(weight)) is None:
        return product
    left, right = names.joined(rows, -1)[..., :, None], names.joined(columns, -2)[..., None, :]
    return af.named(product, "matmul", left, right)


def _spread(matrix: Selection, weight: Enclosure, width: int) -> Enclosure | None:
    """Rows of value @ weight, each entry one product in its unit's column; None where a unit occurs twice in a row."""
    in_order = np.sort(matrix.index, axis=-1)
    if ((in_order[..., 1:] == in_order[..., :-1]) & (in_order[..., 1:] != mx.NONE)).any():
        return None
    terms = en.multiply(
        mx.moved(matrix.scale, lambda a: a[..., :, None]), mx.moved(weight, lambda a: a[..., None, :, :])
    )
    *lead, inner, columns = terms.shape  # (..., rows, inner, columns)
    nothing = bool((matrix.index == mx.NONE).any())
    index = np.broadcast_to(matrix.index[..., None, :], (*lead, columns, inner))

    def scatter(a: en.Array) -> en.Array:
        rows = np.zeros((*lead, columns, width + nothing))  # what reads nothing is written beside the units
        np.put_along_axis(rows, index, np.swapaxes(a, -1, -2), axis=-1)
        return np.ascontiguousarray(rows[..., :width]) if nothing else rows

    return mx.moved(terms, scatter)


def _matmul_as_tile(value: Affine, weight: Enclosure, batch: tuple[int, ...]) -> Affine:
    """value @ weight where each row of the value is a position."""
    rows, inner, columns = value.shape[-2], value.shape[-1], weight.shape[-1]
    shape = (*batch, rows, columns)
    places = np.arange(value.size).reshape(value.shape)
    kernel = mx.moved(weight, lambda a: np.swapaxes(a, -1, -2))
    if weight.value.ndim == 2:
        index, order = places.reshape(1, -1, inner), (0, prod(batch) * rows, columns)
    else:
        kernel = mx.moved(kernel, lambda a: np.broadcast_to(a, (*batch, columns, inner)))
        index = np.broadcast_to(places, (*batch, rows, inner)).reshape(-1, rows, inner)
        order = (index.shape[0], rows, columns)
    kernel = mx.moved(kernel, lambda a: np.ascontiguousarray(a.reshape(-1, columns, inner)))
    groups, positions = kernel.shape[0], order[1]
    by_row = np.arange(groups * columns * positions).reshape(groups, columns, positions)
    return tile(value, index, kernel, shape, np.swapaxes(by_row, 1, 2).reshape(-1))


def tile(
    value: Affine, index: Indices, weight: Enclosure, shape: tuple[int, ...], order: Indices | None = None
) -> Affine:
    """A tile over the entries of a value, -1 for nothing: entry i of the result is row order_i of the tile."""
    check_value(shape)
    check_size(index.shape, weight.shape)
    if (folded := _into_matrix(value, index, weight, shape, order)) is not None:
        return folded
    reading = value.parts[0].units.reading
    if not all(isinstance(part.matrix, Selection) for part in value.parts):
        value = af.as_units(value)
    composed = [_composed(part, index, weight) for part in value.parts]
    whole = weight.shape[1] * index.size
    found = [c for c in composed if c is not None]
    if len(found) < len(composed) or (len(found) > 1 and sum(m.size * m.index.shape[2] for m in found) > whole):
        value = af.as_units(value)
        made = _composed(value.parts[0], index, weight)
        assert made is not None
        found = [made]
    held = sum(m.index.size + 2 * prod(m.weight.shape) for m in found)
    reading.count_products(sum(m.size * m.index.shape[2] for m in found), held)
    bias = _bias(value, index, weight)
    in_order = mx.moved(bias, lambda a: (a.reshape(-1) if order is None else a.reshape(-1)[order]).reshape(shape))
    parts = tuple(
        Part(part.units, mx.tiled(m.index, m.weight, order)) for part, m in zip(value.parts, found, strict=True)
    )
    result = Affine(parts, in_order, roundings=value.roundings)
    return _named_tile(result, value, index, weight, order)


def _named_tile(result: Affine, value: Affine, index: Indices, weight: Enclosure, order: Indices | None) -> Affine:
    """Every row is defined by its kernel and by the entries that it reads."""
    if result.exact or result.unit or result.size * index.shape[2] > names.MOST * 8:
        return result
    if (entries := af.names_of(value)) is None or (kernel := constants.names_of(weight)) is None:
        return result
    with_nothing = np.append(entries.reshape(-1), [b"nothing"])
    read = names.joined(with_nothing[index], -1)  # (g, p)
    rows = names.elementwise("kernel", result.bias.shape, *_by_row(names.joined(kernel, -1), read, result.shape, order))
    return result if rows is None else af.named(result, "tile", rows)


def _by_row(
    kernels: names.Names, read: names.Names, shape: tuple[int, ...], order: Indices | None
) -> list[names.Names]:
    full = (*kernels.shape, read.shape[1])
    found = [np.broadcast_to(a, full).reshape(-1) for a in (kernels[:, :, None], read[:, None, :])]
    return [(a if order is None else a[order]).reshape(shape) for a in found]


def _composed(part: Part, index: Indices, weight: Enclosure) -> mx.Tiled | None:
    """The tile over the units of a selection of them; None where factors differ between positions of a tap."""
    matrix = part.matrix
    assert isinstance(matrix, Selection)
    flat = np.append(matrix.index.reshape(-1), mx.NONE)
    read = flat[index]
    used = read != mx.NONE
    index_of_first = np.take_along_axis(index, np.argmax(used, axis=1)[:, None, :], axis=1)
    kernel = weight
    if matrix.scale.error is not None or not (matrix.scale.value == 1).all():
        factors = []
        for a in (matrix.scale.value, matrix.scale.radius):
            full = np.append(a.reshape(-1), 0.0)
            chosen = full[index_of_first]
            if ((full[index] != chosen) & used).any():
                return None
            factors.append(chosen)
        kernel = en.multiply(weight, Enclosure(factors[0], factors[1] if factors[1].any() else None))
    needed = used.any(axis=1)  # (g, k)
    count = max(1, int(needed.sum(axis=1).max(initial=0)))
    if count < index.shape[2]:
        first = np.argsort(~needed, axis=1, kind="stable")[:, None, :count]
        read = np.take_along_axis(read, first, axis=2)
        kernel = mx.moved(kernel, lambda a: np.take_along_axis(a, first, axis=2))
    return mx.Tiled(read, kernel)


def _bias(value: Affine, index: Indices, weight: Enclosure) -> Enclosure:
    """What the tile makes of the value's constant: (g, o, p)."""
    groups, positions, _ = index.shape
    if value.bias.error is None and not value.bias.value.any():
        return en.exactly(np.zeros((groups, weight.shape[1], positions)))
    read = mx.moved(value.bias, lambda a: np.append(a.reshape(-1), 0.0)[np.swapaxes(index, 1, 2)])
    return en.matmul(weight, read)


def _into_matrix(
    value: Affine, index: Indices, weight: Enclosure, shape: tuple[int, ...], order: Indices | None
) -> Affine | None:
    """The tile as a product of matrices, where it folds with a matrix before it into a smaller one."""
    if not isinstance(value.matrix, Dense):
        return None
    rows, before = prod(shape), value.matrix.rows.shape[-1]
    if rows * before > value.size * before + weight.shape[1] * index.size or rows * value.size > _MOST_FOLDED:
        return None
    groups, positions, taps = index.shape
    outputs = weight.shape[1]

    def written(a: en.Array) -> en.Array:
        full = np.zeros((groups, outputs, positions, value.size + 1))
        at = np.where(index == mx.NONE, value.size, index)
        place = np.broadcast_to(at[:, None], (groups, outputs, positions, taps))
        spread = np.broadcast_to(a[:, :, None, :], place.shape)
        for tap in range(taps):
            one = place[..., tap : tap + 1]
            np.put_along_axis(full, one, spread[..., tap : tap + 1] + np.take_along_axis(full, one, -1), -1)
        made = full.reshape(rows, -1)[:, : value.size]
        return np.ascontiguousarray((made if order is None else made[order]).T)

    if any(_repeats(index[g]) for g in range(groups)):
        return None
    flat = af.rearrange(value, lambda p: p.reshape(1, -1))
    return af.rearrange(matmul(flat, mx.moved(weight, written)), lambda p: p.reshape(shape))


def _repeats(index: Indices) -> bool:
    """Whether some position reads an entry by two taps."""
    in_order = np.sort(index, axis=-1)
    return bool(((in_order[..., 1:] == in_order[..., :-1]) & (in_order[..., 1:] != mx.NONE)).any())


def tile_of_constant(value: Enclosure, index: Indices, weight: Enclosure, shape: tuple[int, ...]) -> Enclosure:
    """The same of a constant."""
    check_value(shape)
    check_size(index.shape, weight.shape)
    read = mx.moved(value, lambda a: np.append(a.reshape(-1), 0.0)[np.swapaxes(index, 1, 2)])
    made = en.matmul(weight, read)
    return mx.moved(made, lambda a: a.reshape(shape))
