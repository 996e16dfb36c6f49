"""Affine functions of one vector of ReLU outputs: what every value inside a ReLU network is.

A `ReluLayer` is a vector of units: layer 0 the network's inputs, layer k + 1 the ReLU outputs whose arguments are
affine in layer k. A value of `shape` is an `Affine`: bias + matrix . units, one row per entry. Two matrix forms:
`Selection`, one scaled unit per entry, holds inputs, their reshapes, transposes and normalisations without a dense
identity (and exactly); `Dense` has shape (*shape, n) over the first n units.

Soundness: every operation is one of `enclosure`, so errors only grow and stay None where nothing was rounded. Each
entry that is not exact has a name, if it can be told which function of the units it is: its whole row and its bias (see
`names`). Names of float32 values would say nothing, since two runs may round differently; there are none. Values of
different layers meet (a residual branch) by carrying the lower one up exactly: x = relu(x) - relu(-x). Shapes are
checked before anything is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.networks import constants, names
from eqspec.networks import enclosure as en
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.names import Names

Indices = NDArray[np.intp]

MAX_ENTRIES = 1 << 26
"""Largest array that is formed: half a GiB of float64."""

MAX_VALUE = 1 << 22
"""Largest value of a graph: it consists of several arrays, and being put elsewhere takes as many again."""


class TooLargeError(ValueError):
    """An array would exceed MAX_ENTRIES, or a value MAX_VALUE."""


def check_size(*shapes: Sequence[int]) -> None:
    """Refuse shapes whose arrays would be absurdly large, before they are allocated."""
    for shape in shapes:
        if prod(shape) > MAX_ENTRIES:
            raise TooLargeError(f"an array of shape {tuple(shape)} is beyond the limit of {MAX_ENTRIES} numbers")


def check_value(shape: Sequence[int]) -> None:
    """Refuse a value that could never be used, before anything of it is allocated."""
    if prod(shape) > MAX_VALUE:
        raise TooLargeError(f"a value of shape {tuple(shape)} is beyond the limit of {MAX_VALUE} numbers")


@dataclass(eq=False)
class ReluLayer:
    """A vector of units: `blocks` are the arguments of its ReLUs, in order (none for the inputs).

    `unit` is how far, relative to its size, what starts a sum over this layer may be off (see `roundoff`).
    """

    depth: int
    size: int
    blocks: list[Affine] = field(default_factory=list)
    above: ReluLayer | None = None
    unit: float = 0.0

    def relu(self, value: Affine) -> Affine:
        """relu(value) for a value over this layer: new units one layer up."""
        self.above = self.above or ReluLayer(self.depth + 1, 0, unit=self.unit)
        check_size((value.size, self.size), (self.above.size + value.size,))
        units = np.arange(self.above.size, self.above.size + value.size).reshape(value.shape)
        self.above.blocks.append(value)
        self.above.size += value.size
        return select(self.above, units)


@dataclass(frozen=True, eq=False)
class Selection:
    """Entry i is scale_i times unit index_i; both have the value's shape."""

    index: Indices
    scale: Enclosure


@dataclass(frozen=True, eq=False)
class Dense:
    """Entry i is row i times the units; rows has shape (*shape, n), n at most the size of the layer."""

    rows: Enclosure


@dataclass(frozen=True, eq=False)
class Affine:
    """bias + matrix . units of `layer`. `names` (of its shape) are kept where it is not exact."""

    layer: ReluLayer
    matrix: Selection | Dense
    bias: Enclosure
    names: Names | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self.bias.shape

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(self.bias.value.size)

    @property
    def exact(self) -> bool:
        """Whether nothing about it was rounded."""
        coefficients = self.matrix.scale if isinstance(self.matrix, Selection) else self.matrix.rows
        return coefficients.error is None and self.bias.error is None


Combine: TypeAlias = Callable[[Enclosure, Enclosure], Enclosure]


def names_of(value: Affine) -> Names | None:
    """The name of every entry, as a function of its layer's units; None where that is not known."""
    if not value.exact:
        return value.names
    if value.layer.unit or value.size > names.MOST:
        return None
    bias = names.of_floats(value.bias.value)
    if isinstance(value.matrix, Dense):
        return names.elementwise("row", value.shape, names.of_rows(value.matrix.rows.value), bias)
    index = names.listed([int(i).to_bytes(8, "little") for i in value.matrix.index.ravel()]).reshape(value.shape)
    return names.elementwise("unit", value.shape, index, names.of_floats(value.matrix.scale.value), bias)


def _named(result: Affine, operation: str, *operands: Affine | Enclosure | Names) -> Affine:
    """The result of an operation on operands that broadcast to it, with names where it is not exact."""
    if result.exact or result.layer.unit:
        return result
    known = list[Names]()
    for operand in operands:
        found: Names | None
        match operand:
            case Affine():
                found = names_of(operand)
            case Enclosure():
                found = constants.names_of(operand)
            case _:
                found = operand
        if found is None:
            return result
        known.append(found)
    return replace(result, names=names.elementwise(operation, result.shape, *known))


def select(layer: ReluLayer, index: Indices) -> Affine:
    """Some units themselves, exact up to the layer's unit."""
    scale = en.inflate(en.exactly(np.ones(index.shape)), layer.unit)
    return Affine(layer, Selection(index, scale), en.exactly(np.zeros(index.shape)))


def constant(layer: ReluLayer, value: Enclosure) -> Affine:
    """A value that depends on no unit."""
    made = Affine(layer, Dense(en.exactly(np.zeros((*value.shape, 0)))), en.inflate(value, layer.unit))
    return _named(made, "constant", value)


def dense(value: Affine, width: int | None = None) -> Enclosure:
    """The rows as an array (*shape, width), by default as wide as the layer is now."""
    width = value.layer.size if width is None else width
    check_size((*value.shape, width))
    if isinstance(value.matrix, Dense):
        missing = width - value.matrix.rows.shape[-1]
        return value.matrix.rows if missing == 0 else _map(value.matrix.rows, lambda a: _pad_columns(a, missing))
    index = value.matrix.index[..., None]

    def scatter(a: en.Array) -> en.Array:
        rows = np.zeros((*value.shape, width))
        np.put_along_axis(rows, index, a[..., None], axis=-1)
        return rows

    return _map(value.matrix.scale, scatter)


def rearrange(value: Affine, positions: Callable[[Indices], NDArray[Any]]) -> Affine:
    """Entries put elsewhere: `positions` maps the array of flat positions as it would map the value itself."""
    before = np.arange(value.size).reshape(value.shape)
    take = np.asarray(positions(before))
    check_value(take.shape)
    return _take(value, take, same=take.size == before.size and bool((take.ravel() == before.ravel()).all()))


def _take(value: Affine, take: Indices, *, same: bool) -> Affine:
    def gather(a: NDArray[Any]) -> NDArray[Any]:
        flat = a.reshape((value.size, *a.shape[len(value.shape) :]))
        return (flat if same else flat[take.ravel()]).reshape((*take.shape, *flat.shape[1:]))

    bias, moved = _map(value.bias, gather), None if value.names is None else gather(value.names)
    if isinstance(value.matrix, Selection):
        index = gather(value.matrix.index)
        return Affine(value.layer, Selection(index, _map(value.matrix.scale, gather)), bias, moved)
    check_size((*take.shape, value.matrix.rows.shape[-1]))
    return Affine(value.layer, Dense(_map(value.matrix.rows, gather)), bias, moved)


def broadcast(value: Affine, shape: tuple[int, ...]) -> Affine:
    """The value in a larger shape, by numpy's rules."""
    check_value(shape)
    return value if shape == value.shape else rearrange(value, lambda p: np.broadcast_to(p, shape))


def scale(value: Affine, factor: Enclosure, combine: Combine = en.multiply) -> Affine:
    """value * factor elementwise, broadcast; or value / factor with `combine` divide."""
    value = broadcast(value, _broadcast_shape(value.shape, factor.shape))
    bias = combine(value.bias, factor)
    if isinstance(value.matrix, Selection):
        made = Affine(value.layer, Selection(value.matrix.index, combine(value.matrix.scale, factor)), bias)
    else:
        columns = _map(factor, lambda a: a[..., None])
        made = Affine(value.layer, Dense(combine(value.matrix.rows, columns)), bias)
    return _named(made, f"scale, {combine.__name__}", value, factor)


def shift(value: Affine, offset: Enclosure) -> Affine:
    """value + offset elementwise, broadcast."""
    value = broadcast(value, _broadcast_shape(value.shape, offset.shape))
    made = Affine(value.layer, value.matrix, en.add(value.bias, en.inflate(offset, value.layer.unit)))
    return _named(made, "shift", value, offset)


def negate(value: Affine) -> Affine:
    """-value, exact."""
    matrix = value.matrix
    negative: Selection | Dense
    if isinstance(matrix, Selection):
        negative = Selection(matrix.index, en.negate(matrix.scale))
    else:
        negative = Dense(en.negate(matrix.rows))
    return _named(Affine(value.layer, negative, en.negate(value.bias)), "negate", value)


def add(first: Affine, second: Affine) -> Affine:
    """first + second, broadcast; the lower one is carried up to the layer of the other."""
    first, second = lift_together([first, second])
    shape = _broadcast_shape(first.shape, second.shape)
    first, second = broadcast(first, shape), broadcast(second, shape)
    rows = en.add(dense(first), dense(second))
    return _named(Affine(first.layer, Dense(rows), en.add(first.bias, second.bias)), "add", first, second)


def lift_together(values: Sequence[Affine]) -> list[Affine]:
    """The same values, all over the highest of their layers."""
    highest = max((value.layer for value in values), key=lambda layer: layer.depth)
    return [_lift(value, highest) for value in values]


def _lift(value: Affine, highest: ReluLayer) -> Affine:
    """Carry a value up to a layer: by its units where they are ReLU outputs, else by x = relu(x) - relu(-x)."""
    while value.layer.depth < highest.depth:
        if isinstance(value.matrix, Dense) and not value.matrix.rows.value.any() and value.matrix.rows.error is None:
            return _named(constant(highest, value.bias), "lifted constant", value)
        if value.layer.depth > 0:
            value = _lift_units(value)
            continue
        positive, negative = value.layer.relu(value), value.layer.relu(negate(value))
        rows = en.add(dense(positive), en.negate(dense(negative)))
        value = Affine(positive.layer, Dense(rows), positive.bias)
    return value


def _lift_units(value: Affine) -> Affine:
    """The value one layer up, where relu(u) = u stands for each of its units u."""
    matrix = value.matrix
    if isinstance(matrix, Selection):
        lifted = value.layer.relu(select(value.layer, matrix.index))
        assert isinstance(lifted.matrix, Selection)
        made = Affine(lifted.layer, Selection(lifted.matrix.index, matrix.scale), value.bias)
        index = names.listed([int(i).to_bytes(8, "little") for i in lifted.matrix.index.ravel()])
        return _named(made, "lifted unit", value, index.reshape(value.shape))
    used = np.flatnonzero((np.abs(matrix.rows.value) + matrix.rows.radius).any(axis=tuple(range(len(value.shape)))))
    lifted = value.layer.relu(select(value.layer, used))
    check_size((*value.shape, lifted.layer.size))
    first = lifted.layer.size - used.size

    def move(a: en.Array) -> en.Array:
        return np.concatenate([np.zeros((*value.shape, first)), a[..., used]], axis=-1)

    places = np.array(used.astype("<i8").tobytes() + first.to_bytes(8, "little"), object)
    return _named(Affine(lifted.layer, Dense(_map(matrix.rows, move)), value.bias), "lifted units", value, places)


def stack(values: Sequence[Affine]) -> Affine:
    """The entries of all values in one vector, over one layer."""
    check_value((sum(value.size for value in values),))
    values = [rearrange(value, lambda p: p.reshape(-1)) for value in lift_together(values)]
    bias = _concatenate([value.bias for value in values])
    together = _names_together(values)
    selections = [value.matrix for value in values if isinstance(value.matrix, Selection)]
    layer = values[0].layer
    if len(selections) == len(values):
        return Affine(
            layer,
            Selection(np.concatenate([m.index for m in selections]), _concatenate([m.scale for m in selections])),
            bias,
            together,
        )
    check_size((bias.shape[0], layer.size))
    return Affine(layer, Dense(_concatenate([dense(value) for value in values])), bias, together)


def _names_together(values: Sequence[Affine]) -> Names | None:
    """The names of vectors one after the other; None for each entry of which none is known."""
    if all(value.exact for value in values):
        return None
    found = [(names_of(value), value.size) for value in values]
    return np.concatenate([names.listed([None] * size) if known is None else known for known, size in found])


def matmul(value: Affine, weight: Enclosure) -> Affine:
    """value @ weight, both of rank 2 or more, by numpy's rules."""
    batch = np.broadcast_shapes(value.shape[:-2], weight.shape[:-2])
    rows, inner, columns = value.shape[-2], value.shape[-1], weight.shape[-1]
    if inner != weight.shape[-2]:
        raise ValueError(f"shapes {value.shape} and {weight.shape} do not multiply")
    check_value((*batch, rows, columns))
    check_size((*batch, rows, columns, value.layer.size), (*batch, rows, inner, columns))
    bias = en.matmul(value.bias, weight)
    if isinstance(value.matrix, Selection) and (spread := _spread(value.matrix, weight, value.layer.size)) is not None:
        return _named_product(Affine(value.layer, Dense(spread), bias), value, weight)
    units_first = _map(dense(value), lambda a: np.moveaxis(a, -1, 0))  # (n, ..., rows, inner)
    if weight.value.ndim > value.bias.value.ndim:
        lead = (1,) * (weight.value.ndim - value.bias.value.ndim)
        units_first = _map(units_first, lambda a: a.reshape(a.shape[0], *lead, *a.shape[1:]))
    product = en.matmul(units_first, weight)
    units_last = _map(product, lambda a: np.ascontiguousarray(np.moveaxis(a, 0, -1)))
    return _named_product(Affine(value.layer, Dense(units_last), bias), value, weight)


def _named_product(product: Affine, value: Affine, weight: Enclosure) -> Affine:
    """Every entry is defined by a row of the value and a column of the weight."""
    if product.exact or (rows := names_of(value)) is None or (columns := constants.names_of(weight)) is None:
        return product
    left, right = names.joined(rows, -1)[..., :, None], names.joined(columns, -2)[..., None, :]
    return _named(product, "matmul", left, right)


def _spread(matrix: Selection, weight: Enclosure, width: int) -> Enclosure | None:
    """Rows of value @ weight, each entry one product in its unit's column; None where a unit occurs twice in a row."""
    in_order = np.sort(matrix.index, axis=-1)
    if (in_order[..., 1:] == in_order[..., :-1]).any():
        return None
    terms = en.multiply(_map(matrix.scale, lambda a: a[..., :, None]), _map(weight, lambda a: a[..., None, :, :]))
    *lead, inner, columns = terms.shape  # (..., rows, inner, columns)
    index = np.broadcast_to(matrix.index[..., None, :], (*lead, columns, inner))

    def scatter(a: en.Array) -> en.Array:
        rows = np.zeros((*lead, columns, width))
        np.put_along_axis(rows, index, np.swapaxes(a, -1, -2), axis=-1)
        return rows

    return _map(terms, scatter)


def _map(a: Enclosure, f: Callable[[en.Array], en.Array]) -> Enclosure:
    """A rearrangement applied to value and error alike."""
    return Enclosure(f(a.value), None if a.error is None else f(a.error))


def _concatenate(parts: Sequence[Enclosure]) -> Enclosure:
    value = np.concatenate([part.value for part in parts])
    exact = all(part.error is None for part in parts)
    return Enclosure(value, None if exact else np.concatenate([part.radius for part in parts]))


def _pad_columns(a: en.Array, count: int) -> en.Array:
    return np.concatenate([a, np.zeros((*a.shape[:-1], count))], axis=-1)


def _broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError as error:
        raise ValueError(f"shapes {a} and {b} do not broadcast") from error
