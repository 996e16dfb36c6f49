"""Gather and OneHot of stored rows at places that depend on the input: embeddings and categories of integers.

    row(k) = row(low) + sum over j from low + 1 to high of (row(j) - row(j - 1)) [k > j - 1/2]

for the integer k that an input stands for. Negative places count from the end, as ONNX says. Each comparison is a step
from 0 to 1, constant on every box in which the input stands for one integer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from onnx import helper

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Levels, limited
from eqspec.networks.matrices import check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import comparisons, integer_arithmetic, pooling, rearranging, selection, shapes
from eqspec.networks.operators.elementwise import add, multiply
from eqspec.networks.operators.matrix_products import multiply_matrices
from eqspec.networks.operators.operator_call import OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]
_ANY = 2**30
"""What may be so large is limited by nothing but its type."""
_JUMP = "what is looked up jumps from entry to entry"
_MOST = 20_000
"""Comparisons, one for each row of the table and place that is looked up."""


def gather(call: OperatorCall) -> Sequence[Value]:
    """Gather of levels by constant places, or of stored numbers by places that are levels."""
    places = call.value(1)
    if not isinstance(places, Levels):
        return selection.gather(call)
    call.refuse_rounded_jump(_JUMP)
    whole = _whole(call.value(0))
    table = call.real_value(0) if whole is None else Enclosure(whole)
    axis = axis_of(call.integer("axis", 0), len(table.shape))
    size = table.shape[axis]
    if places.low < -size or places.high >= size:
        places = within(call, places, size)
    numbers = np.arange(places.low, places.high + 1)
    check_count(places, size)
    made = rows_at(places, _moved(table, lambda a: np.moveaxis(a, axis, 0).reshape(size, -1)[numbers % size]))
    before, behind = prod(table.shape[:axis]), prod(table.shape[axis + 1 :])
    shape = (*table.shape[:axis], *places.shape, *table.shape[axis + 1 :])

    def put(a: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        return np.moveaxis(a.reshape(places.size, before, behind), 0, 1).reshape(shape)

    result = af.rearrange(made, put) if isinstance(made, Affine) else made.rearranged(put)
    return [result if whole is None else integer_arithmetic.counted(call, result, whole)]


def _whole(stored: Value) -> en.Array | None:
    """A table of integers as floats, which hold them; None of other numbers."""
    if not isinstance(stored, np.ndarray) or stored.dtype.kind not in "iu" or not stored.size:
        return None
    if max(-int(stored.min()), int(stored.max())) > 2**53:
        raise UnreadableError(
            "a table with an integer beyond 2^53", "store smaller integers, or floating-point numbers"
        )
    return stored.astype(np.float64)


def within(call: OperatorCall, places: Levels, size: int) -> Levels:
    """Places that may be any integers, as those of the table. What is known to leave it is refused."""
    if size < 1 or -_ANY < places.low < -size or size <= places.high < _ANY:
        message = f"places from {places.low} to {places.high} in a table of {size} rows"
        raise UnreadableError(message, "store the places, or limit them to the table")
    message = f"{call.node.output[0]!r} is looked up in a table of {size} rows: places beyond it, at which"
    call.notes.append(f"{message} runtimes fail, stand for the nearest one")
    least, most = max(places.low, -size), min(places.high, size - 1)
    return replace(limited(places, least, most), low=least, high=most)


def check_count(places: Levels, size: int) -> None:
    """UnreadableError where so many places in a table of `size` rows take too many comparisons."""
    if places.size * (places.high - places.low + 1) > _MOST:
        message = f"{places.size} places in a table of {size} rows take more than {_MOST} comparisons"
        raise UnreadableError(message, "export the model with what is looked up as its input")


def _moved(table: Affine | Enclosure, f: Callable[[Array], Array]) -> Affine | Enclosure:
    return af.rearrange(table, f) if isinstance(table, Affine) else table.rearranged(f)


def rows_at(places: Levels, table: Affine | Enclosure) -> Affine | Enclosure:
    """The row of each place, (places, width), of a table (n, width) for the integers from places.low to places.high."""
    check_value((places.size, table.shape[1]))
    first = _moved(table, lambda a: a[:1])
    if table.shape[0] == 1:
        return _moved(first, lambda a: np.repeat(a, places.size, axis=0))
    rises = add(_moved(table, lambda a: a[1:]), comparisons.negated(_moved(table, lambda a: a[:-1])))
    thresholds = np.arange(places.low + 1, places.high + 1).astype(np.float64) - 0.5
    return add(multiply_matrices(_above(places, thresholds), rises), first)


def gather_elements(call: OperatorCall) -> Sequence[Value]:
    """GatherElements at places along an axis that depend on the input: each of one of the entries beside it."""
    places = call.value(1)
    if not isinstance(places, Levels):
        return rearranging.OPERATORS["GatherElements"](call)
    call.refuse_rounded_jump(_JUMP)
    whole = _whole(call.value(0))
    table = call.real_value(0) if whole is None else Enclosure(whole)
    rank = len(table.shape)
    axis = axis_of(call.integer("axis", 0), rank)
    size = table.shape[axis]
    wrong = len(places.shape) != rank or any(
        p > t for i, (p, t) in enumerate(zip(places.shape, table.shape, strict=True)) if i != axis
    )
    if wrong:
        raise UnreadableError(f"places of shape {places.shape} in {table.shape}", "export the model again")
    if places.low < -size or places.high >= size:
        places = within(call, places, size)
    check_count(places, size)
    numbers = np.arange(places.low, places.high + 1) % size
    check_value((places.size, len(numbers)))
    cut = tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(places.shape))

    def beside(a: Array) -> Array:
        """For each place the entries that it may be of, (places, numbers)."""
        kept = np.take(a[cut], numbers, axis=axis)
        wide = np.broadcast_to(
            np.moveaxis(kept, axis, -1)[..., None, :],
            (*np.delete(places.shape, axis), places.shape[axis], len(numbers)),
        )
        return np.moveaxis(wide, -2, axis).reshape(places.size, -1)

    rows = _moved(table, beside)
    chosen = _moved(rows, lambda a: a[:, :1])
    if len(numbers) > 1:
        rises = add(_moved(rows, lambda a: a[:, 1:]), comparisons.negated(_moved(rows, lambda a: a[:, :-1])))
        thresholds = np.arange(places.low + 1, places.high + 1).astype(np.float64) - 0.5
        steps = multiply(_above(places, thresholds), rises)
        assert isinstance(steps, Affine)
        groups = np.arange(steps.size).reshape(places.size, -1)
        total = pooling.mean(steps, groups, np.ones(len(groups), int), (places.size, 1))
        chosen = add(chosen, total)
    result = _moved(chosen, lambda a: a.reshape(places.shape))
    return [result if whole is None else integer_arithmetic.counted(call, result, whole)]


def one_hot(call: OperatorCall) -> Sequence[Value]:
    """OneHot of levels; integers beyond the depth have no place, and those below 0 count from its end."""
    places = call.value(0)
    if not isinstance(places, Levels):
        raise UnreadableError("its depth or its values are integers that depend on the input", "store them")
    call.refuse_rounded_jump(_JUMP)
    depth, ends = _depth(call), call.value(2)
    whole = isinstance(ends, np.ndarray)
    values = Enclosure(ends.astype(np.float64)) if isinstance(ends, np.ndarray) else call.number(2)
    if values.shape != (2,) or depth < 1:
        raise UnreadableError(f"values of shape {values.shape} and a depth of {depth}", "export the model again")
    low, high = -depth - 1, depth  # neither has a place, nor has anything beyond them
    if places.low < low or places.high > high:
        places = replace(limited(places, low, high), low=max(places.low, low), high=min(places.high, high))
    check_count(places, depth)
    numbers = np.arange(places.low, places.high + 1)[:, None]
    there = (numbers == np.arange(depth)) | (numbers + depth == np.arange(depth))
    made = rows_at(places, values.rearranged(lambda a: np.where(there, a[1], a[0])))
    axis = call.integer("axis", -1)
    rank = len(places.shape)
    if not -rank - 1 <= axis <= rank:
        raise UnreadableError(f"axis {axis} of a result of rank {rank + 1}", "export the model again")

    def put(a: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        return np.moveaxis(a.reshape(*places.shape, depth), -1, axis)

    result = af.rearrange(made, put) if isinstance(made, Affine) else made.rearranged(put)
    return [integer_arithmetic.counted(call, result, values.value) if whole else result]


def _depth(call: OperatorCall) -> int:
    found = call.value(1)
    numbers = found if isinstance(found, np.ndarray) else call.number(1).value
    if np.asarray(numbers).size != 1:
        raise UnreadableError("a depth that is not one number", "export the model again")
    return int(np.asarray(numbers).reshape(()))


def gather_many(call: OperatorCall) -> Sequence[Value]:
    """GatherND of levels by constant places, or by places that are levels along one axis, all before it of one entry.

    So is x[arange(batch), place] of one sample, the token that a classifier of sentences looks at.
    """
    table, places = call.value(0), call.value(1)
    if not isinstance(places, Levels):
        return rearranging.OPERATORS["GatherND"](call)
    shape = shapes.shape_of_value(table)
    count = places.shape[-1] if places.shape else 0
    wide = [axis for axis, size in enumerate(shape[:count]) if size != 1]
    if call.integer("batch_dims", 0) or not 0 < count <= len(shape) or len(wide) > 1:
        message = f"places along {places.shape[-1:] or (0,)} axes, or of batches, that depend on the input"
        raise UnreadableError(message, "write it with Gather along one axis")
    axis = wide[0] if wide else 0
    rows = places.rearranged(lambda index: index[..., axis])
    beside = shapes.apply(table, lambda a: a.reshape(shape[axis], *shape[count:]))
    node = helper.make_node("Gather", list(call.node.input), list(call.node.output), name=call.node.name)
    return gather(replace(call, node=node, inputs=[beside, rows]))


def _above(places: Levels, thresholds: en.Array) -> Affine:
    """Whether each of the integers is above each threshold: 0 or 1, (places, thresholds)."""
    count = len(thresholds)
    whole = af.rearrange(places.meaning(1.0, 0.0), lambda p: np.repeat(p.reshape(-1), count).reshape(-1, count))
    apart = af.shift(whole, en.exactly(-np.broadcast_to(thresholds, whole.shape)))
    return af.relu(af.curve(apart, Curves.all(Curve("sign"))))
