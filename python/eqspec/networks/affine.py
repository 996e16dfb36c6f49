"""Affine functions of the units of a network: what every value of its graph is.

A value of `shape` is an `Affine`: bias + sum over parts of matrix . units, one row per entry in C order, with the forms
of `matrices`. A function of a value makes new units (`units`), and their selection is the value behind it. Values over
different units meet as sums of parts; nothing is carried through a layer.

Where a value would need another form than it has, a step with the identity stands between: its units are the value,
and a selection of them goes on (`as_units`). That is exact, and costs the engine nothing.

Soundness: every operation is one of `enclosure`, so errors only grow and stay None where nothing was rounded. Each
entry that is not exact has a name, if it can be told which function of its units it is: its whole row and its bias (see
`names`). Names of float32 values would say nothing, since two runs may round differently; there are none. Shapes are
checked before anything is allocated. `roundings` is the largest number of roundings between the units and an entry, as
a runtime computes it (see `roundoff`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import constants, names
from eqspec.networks import enclosure as en
from eqspec.networks import matrices as mx
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import Combine, Dense, Indices, Matrix, Selection, Tiled, check_size, check_value
from eqspec.networks.names import Names
from eqspec.networks.program import Function
from eqspec.networks.units import Units

_SIGN, _ROOT = Curves.all(Curve("sign")), Curves.all(Curve("sqrt"))
_RECIPROCAL = Curve("reciprocal")

MOST_WRITTEN_OUT = 1 << 20
"""A selection of plain units is written out as a matrix of up to so many entries, to stay in a chain of layers."""


@dataclass(frozen=True, eq=False)
class Part:
    """A matrix in front of the units of one source."""

    units: Units
    matrix: Matrix


@dataclass(frozen=True, eq=False)
class Affine:
    """bias + sum of matrix . units. `names` (of its shape) are kept where it is not exact.

    All rigid tiles among its parts have the same order.
    """

    parts: tuple[Part, ...]
    bias: Enclosure
    names: Names | None = None
    roundings: int = 0
    _units: list[Units] = field(default_factory=list, init=False, repr=False)
    """The step with the identity that it was made, if it was."""
    _origin: list[Any] = field(default_factory=list, init=False, repr=False)
    """The elementwise operator that gave it, if one did (see `unary`)."""
    _ordered: list[Any] = field(default_factory=list, init=False, repr=False)
    """Of what its entries are the largest, if they are (see `operators/peaks`)."""
    _held: set[float] = field(default_factory=set, init=False, repr=False)
    """Numbers that entries take on whole regions (see `operators/held_values`)."""
    _isolated: set[Any] = field(default_factory=set, init=False, repr=False)
    """What entries may be on whole regions, where their units do not show it (see `operators/isolated_values`)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self.bias.shape

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(self.bias.value.size)

    @property
    def unit(self) -> float:
        """How far what starts a sum may be off."""
        return self.parts[0].units.unit

    @property
    def exact(self) -> bool:
        """Whether nothing about it was rounded."""
        return self.bias.error is None and all(mx.is_exact(part.matrix) for part in self.parts)

    @property
    def matrix(self) -> Selection | Dense | None:
        """The matrix of a value over one source that is no tile."""
        if len(self.parts) > 1 or isinstance(self.parts[0].matrix, Tiled):
            return None
        return self.parts[0].matrix

    @property
    def rigid(self) -> Tiled | None:
        """One of the tiles that decide about the order of its rows."""
        return next((p.matrix for p in self.parts if isinstance(p.matrix, Tiled) and not p.matrix.loose), None)

    def over(self, matrix: Matrix, bias: Enclosure) -> Affine:
        """Another value over the only source of this one."""
        return Affine((Part(self.parts[0].units, matrix),), bias, roundings=self.roundings)


def names_of(value: Affine) -> Names | None:
    """The name of every entry, as a function of its units; None where that is not known."""
    if not value.exact:
        return value.names
    if value.unit or value.size > names.MOST:
        return None
    bias = names.of_floats(value.bias.value)
    if len(value.parts) == 1:
        return names.elementwise(*_named_rows(value.parts[0], value.shape), bias)
    rows = [names.elementwise(*_named_rows(part, value.shape)) for part in value.parts]
    return names.elementwise("sum of terms", value.shape, *(r for r in rows if r is not None), bias)


def _named_rows(part: Part, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The kind of rows and whose units they read, their shape and what defines each."""
    matrix, source = part.matrix, part.units.number
    match matrix:
        case Dense():
            return f"row of {source}", shape, names.of_rows(matrix.rows.value)
        case Selection():
            return f"unit of {source}", shape, _indices(matrix.index), names.of_floats(matrix.scale.value)
        case _:
            groups, outputs, taps = matrix.weight.shape
            positions = matrix.index.shape[1]
            kernels = names.of_rows(matrix.weight.value).reshape(groups, outputs, 1)
            flat = np.ascontiguousarray(matrix.index.reshape(-1, taps), "<i8").view(f"V{8 * taps}")
            index = names.listed(flat.ravel().tolist()).reshape(groups, 1, positions)
            full = (groups, outputs, positions)
            found = [np.broadcast_to(a, full).reshape(-1) for a in (kernels, index)]
            found = [(a if matrix.order is None else a[matrix.order]).reshape(shape) for a in found]
            return (f"tile of {source}", shape, *found)


def _indices(index: Indices) -> Names:
    return names.listed([int(i).to_bytes(8, "little", signed=True) for i in index.ravel()]).reshape(index.shape)


def named(result: Affine, operation: str, *operands: Affine | Enclosure | Names) -> Affine:
    """The result of an operation on operands that broadcast to it, with names where it is not exact."""
    if result.exact or result.unit:
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


def select(units: Units, index: Indices, *, started: bool = True) -> Affine:
    """Some units themselves. As the start of sums they are exact up to the relative `unit`; else they are exact."""
    scale = en.inflate(en.exactly(np.ones(index.shape)), units.unit if started else 0.0)
    return Affine((Part(units, Selection(index, scale)),), en.exactly(np.zeros(index.shape)))


def started(value: Affine) -> Affine:
    """An exact value as the start of sums."""
    if not value.unit:
        return value
    parts = tuple(Part(part.units, mx.inflated(part.matrix, value.unit)) for part in value.parts)
    return replace(value, parts=parts, bias=en.inflate(value.bias, value.unit))


def constant(units: Units, value: Enclosure) -> Affine:
    """A value that depends on no unit."""
    rows = Dense(en.exactly(np.zeros((*value.shape, 0))))
    made = Affine((Part(units, rows),), en.inflate(value, units.unit))
    return named(made, "constant", value)


def depends_on_nothing(value: Affine) -> bool:
    """Whether a value is written as a constant."""
    return all(isinstance(p.matrix, Dense) and p.matrix.rows.shape[-1] == 0 for p in value.parts)


def is_plain(value: Affine) -> bool:
    """Whether a value is of the kind that a chain of fully connected layers has."""
    matrix, units = value.matrix, value.parts[0].units
    if matrix is None or not units.plain:
        return False
    return isinstance(matrix, Dense) or value.size * units.size <= MOST_WRITTEN_OUT


def function_units(value: Affine, function: Function) -> tuple[Units, Indices]:
    """New units, function(value), and which of them each entry is: tiles keep the order of their rows."""
    rigid, reading = value.rigid, value.parts[0].units.reading
    dense = all(isinstance(p.matrix, Dense) or (p.units.plain and isinstance(p.matrix, Selection)) for p in value.parts)
    if function != "identity":
        reading.count_neurons(value.size)
    units = reading.new(value.size, function, [value], plain=dense and function != "identity")
    order = np.arange(value.size) if rigid is None or rigid.order is None else rigid.order
    return units, order.reshape(value.shape)


def as_units(value: Affine, *, started: bool = True) -> Affine:
    """The same value as a selection of units that are it, with a step of its own if it has none."""
    if value._units:
        units, rigid = value._units[0], value.rigid
        order = np.arange(value.size) if rigid is None or rigid.order is None else rigid.order
        index = order.reshape(value.shape)
    else:
        units, index = function_units(value, "identity")
        value._units.append(units)
    return replace(select(units, index, started=started), roundings=value.roundings)


def started_selection(value: Affine) -> Affine | None:
    """In a rounding arithmetic, the very units of which a value is an unchanged selection; else None."""
    matrix = value.matrix
    if not isinstance(matrix, Selection) or value.roundings or value.bias.error is not None or value.bias.value.any():
        return None
    exactly = select(value.parts[0].units, matrix.index, started=False)
    begun = en.inflate(exactly.parts[0].matrix.scale, value.unit)  # type: ignore[union-attr]
    same = (matrix.scale.value == begun.value).all() and (matrix.scale.radius == begun.radius).all()
    return exactly if same else None


def relu(value: Affine, *, started: bool = True) -> Affine:
    """relu(value), new units: rows of one step with those over the same plain units, else a step of their own."""
    if not is_plain(value):
        if (whole := whole_units(value)) is None:
            return select(*function_units(value, "relu"), started=started)
        below = value.parts[0].units  # all of them in their own order, so that relu may become their function
        units, _ = function_units(select(below, np.arange(below.size), started=False), "relu")
        return select(units, whole, started=started)
    below = value.parts[0].units
    if below.above is None:
        below.above = below.reading.new(0, "relu", [], plain=True)
    above = below.above
    check_size((value.size, below.size), (above.size + value.size,))
    below.reading.count_neurons(value.size)
    index = np.arange(above.size, above.size + value.size).reshape(value.shape)
    above.blocks.append(value)
    above.size += value.size
    return select(above, index, started=started)


def curve(value: Affine, curves: Curves, *, started: bool = True) -> Affine:
    """The functions of the entries of a value, `curves` by entry in C order: new units, a step of their own."""
    reading = value.parts[0].units.reading
    reading.structured = True
    if curves.uniform == _RECIPROCAL and (inner := _under_root(value)) is not None:
        value, curves = inner, Curves.all(Curve("power", (-0.5,)))
    if (whole := whole_units(value)) is not None:
        below = value.parts[0].units  # all of them in their own order, so that the functions may become theirs
        value = select(below, np.arange(below.size), started=False)
        placed = curves.taken(np.argsort(whole, axis=None))
        units, _ = function_units(value, placed)
        return select(units, whole, started=started)
    rigid = value.rigid
    order = None if rigid is None else rigid.order
    units, index = function_units(value, curves if order is None else curves.taken(np.argsort(order)))
    return select(units, index, started=started)


def _under_root(value: Affine) -> Affine | None:
    """The argument of a value that is all entries of a square root, over the reals: 1 / sqrt(x) is x^(-1/2)."""
    units = value.parts[0].units
    if units.unit or units.reading.missed or len(units.blocks) != 1 or (whole := whole_units(value, _ROOT)) is None:
        return None
    (argument,) = units.blocks
    rigid = argument.rigid
    places = whole if rigid is None or rigid.order is None else np.argsort(rigid.order)[whole]
    return rearrange(argument, lambda _: places)


def whole_units(value: Affine, function: Function = "identity") -> Indices | None:
    """The index of a value that is a permutation of all units of a step with this function; else None."""
    matrix = value.matrix
    units = value.parts[0].units
    if not isinstance(matrix, Selection) or not units.blocks or units.function != function:
        return None
    same = matrix.scale.error is None and bool((matrix.scale.value == 1).all())
    if not same or value.bias.error is not None or value.bias.value.any() or value.size != units.size:
        return None
    return matrix.index if (np.sort(matrix.index, axis=None) == np.arange(units.size)).all() else None


def rearrange(value: Affine, positions: Callable[[Indices], NDArray[Any]]) -> Affine:
    """Entries put elsewhere: `positions` maps the array of flat positions as it would map the value itself.

    Where it gives -1 there is a zero.
    """
    before = np.arange(value.size).reshape(value.shape)
    take = np.asarray(positions(before))
    check_value(take.shape)
    same = take.size == before.size and bool((take.ravel() == before.ravel()).all())
    permutes = take.size == value.size and bool((np.sort(take, axis=None) == before.ravel()).all())
    ordered = [one for found in value._ordered if (one := found.moved(take)) is not None]
    if not permutes and value.rigid is not None:
        value = as_units(value)
    where = None if same else take
    known = len(value.shape)

    def moved(a: en.Array) -> en.Array:
        return mx.gather(a, where, take.shape, known)

    parts = tuple(Part(p.units, mx.taken(p.matrix, where, value.shape, take.shape)) for p in value.parts)
    called = None if value.names is None else mx.gather(value.names, where, take.shape, known, None)
    made = Affine(parts, mx.moved(value.bias, moved), called, value.roundings)
    made._ordered.extend(ordered)
    if same:
        made._units.extend(value._units)
    return made


def broadcast(value: Affine, shape: tuple[int, ...]) -> Affine:
    """The value in a larger shape, by numpy's rules."""
    check_value(shape)
    return value if shape == value.shape else rearrange(value, lambda p: np.broadcast_to(p, shape))


def scale(value: Affine, factor: Enclosure, combine: Combine = en.multiply) -> Affine:
    """value * factor elementwise, broadcast; or value / factor with `combine` divide."""
    value = broadcast(value, _broadcast_shape(value.shape, factor.shape))
    found = [mx.scaled(part.matrix, factor, value.shape, combine) for part in value.parts]
    if any(matrix is None for matrix in found):
        value = as_units(value)
        found = [mx.scaled(part.matrix, factor, value.shape, combine) for part in value.parts]
    parts = tuple(Part(part.units, m) for part, m in zip(value.parts, found, strict=True) if m is not None)
    made = Affine(parts, combine(value.bias, factor), roundings=value.roundings)
    return named(made, f"scale, {combine.__name__}", value, factor)


def shift(value: Affine, offset: Enclosure, *, started: bool = True) -> Affine:
    """value + offset elementwise, broadcast; `started` as in `select`."""
    value = broadcast(value, _broadcast_shape(value.shape, offset.shape))
    bias = en.add(value.bias, en.inflate(offset, value.unit if started else 0.0))
    return named(Affine(value.parts, bias, roundings=value.roundings), "shift", value, offset)


def negate(value: Affine) -> Affine:
    """-value, exact."""
    parts = tuple(Part(part.units, mx.negated(part.matrix)) for part in value.parts)
    return named(Affine(parts, en.negate(value.bias), roundings=value.roundings), "negate", value)


def opposite(value: Affine) -> Affine:
    """1 - value, of a truth value."""
    return shift(negate(value), en.exactly(1.0))


def is_positive(value: Affine) -> Affine:
    """Whether value > 0, entry by entry: 0 or 1, new units."""
    return relu(curve(value, _SIGN))


def is_larger(first: Affine, second: Affine) -> Affine:
    """Whether first > second, entry by entry: 0 or 1, new units."""
    return is_positive(add(first, negate(second)))


def add(first: Affine, second: Affine) -> Affine:
    """first + second, broadcast: parts over the same units are added where they have a common form."""
    shape = _broadcast_shape(first.shape, second.shape)
    first, second = broadcast(first, shape), broadcast(second, shape)
    if not _same_order(first.rigid, second.rigid):
        second = as_units(second)
    parts = list(first.parts)
    for part in second.parts:
        written_out = part.units.plain and int(np.prod(shape)) * part.units.size <= MOST_WRITTEN_OUT
        _add_part(parts, part, shape, dense=written_out)
    kept = [part for part in parts if not _reads_nothing(part)] or parts[:1]
    rounded = max(first.roundings, second.roundings)
    return named(Affine(tuple(kept), en.add(first.bias, second.bias), None, rounded), "add", first, second)


def _add_part(parts: list[Part], part: Part, shape: tuple[int, ...], *, dense: bool) -> None:
    for place, other in enumerate(parts):
        if other.units is not part.units:
            continue
        if not dense and (_reads_nothing(part) or _reads_nothing(other)):
            parts[place] = other if _reads_nothing(part) else part
            return
        together = mx.merged(other.matrix, part.matrix, shape, part.units.size, dense)
        if together is not None:
            parts[place] = Part(part.units, together)
            return
    parts.append(part)


def _reads_nothing(part: Part) -> bool:
    return isinstance(part.matrix, Dense) and part.matrix.rows.shape[-1] == 0


def _same_order(a: Tiled | None, b: Tiled | None) -> bool:
    if a is None or b is None or a.order is b.order:
        return True
    size = a.size
    first, second = (np.arange(size) if t.order is None else t.order for t in (a, b))
    return bool((first == second).all())


def stack(values: Sequence[Affine]) -> Affine:
    """The entries of all values in one vector."""
    check_value((sum(value.size for value in values),))
    values = [rearrange(value, lambda p: p.reshape(-1)) for value in values]
    units = values[0].parts[0].units
    if not (all(v.matrix is not None and v.parts[0].units is units for v in values) and _written_out(units, values)):
        values = [v if depends_on_nothing(v) or _selects(v) else as_units(v) for v in values]
        return _joined(_parts_together(values), values)
    matrices = [value.matrix for value in values]
    selections = [m for m in matrices if isinstance(m, Selection)]
    if len(selections) == len(values):
        index = np.concatenate([m.index for m in selections])
        chosen = Selection(index, mx.concatenated([m.scale for m in selections]))
        return _joined([Part(units, chosen)], values)
    check_size((sum(value.size for value in values), units.size))
    rows = [mx.dense_rows(m, v.shape, units.size) for m, v in zip(matrices, values, strict=True) if m is not None]
    return _joined([Part(units, Dense(mx.concatenated(rows)))], values)


def _written_out(units: Units, values: Sequence[Affine]) -> bool:
    """Whether values over the same units are put together as one selection or as one matrix."""
    dense = [v for v in values if not _selects(v)]
    if not dense or len(dense) == len(values):
        return True
    small = sum(value.size for value in values) * units.size <= MOST_WRITTEN_OUT
    return units.plain and (small or not all(depends_on_nothing(v) for v in dense))


def _selects(value: Affine) -> bool:
    return all(isinstance(part.matrix, Selection) for part in value.parts)


def _joined(parts: Sequence[Part], values: Sequence[Affine]) -> Affine:
    bias = mx.concatenated([value.bias for value in values])
    return Affine(tuple(parts), bias, _names_together(values), max(value.roundings for value in values))


def _parts_together(values: Sequence[Affine]) -> list[Part]:
    """The parts of vectors one behind the other, each a selection or a constant."""
    total, at = sum(value.size for value in values), 0
    parts = list[Part]()
    for value in values:
        here = slice(at, at + value.size)
        at += value.size
        for part in value.parts:
            matrix = part.matrix
            if not isinstance(matrix, Selection):
                continue
            index = np.full(total, mx.NONE)
            index[here] = matrix.index
            scale = mx.moved(matrix.scale, partial(_placed, here=here, total=total))
            _add_part(parts, Part(part.units, Selection(index, scale)), (total,), dense=False)
    return parts or [Part(values[0].parts[0].units, Dense(en.exactly(np.zeros((total, 0)))))]


def _placed(a: en.Array, *, here: slice, total: int) -> en.Array:
    made = np.zeros(total)
    made[here] = a
    return made


def _names_together(values: Sequence[Affine]) -> Names | None:
    """The names of vectors one after the other; None for each entry of which none is known."""
    if all(value.exact for value in values):
        return None
    found = [(names_of(value), value.size) for value in values]
    return np.concatenate([names.listed([None] * size) if known is None else known for known, size in found])


def _broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError as error:
        raise ValueError(f"shapes {a} and {b} do not broadcast") from error
