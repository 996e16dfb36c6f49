"""TopK: the largest or smallest entries along an axis, in their order, by a sorting network.

    larger = b + relu(a - b)      smaller = a - relu(a - b)

for each comparator, by which Batcher's odd-even merge sort (1968) puts n entries in order with some n log^2 n / 4 of
them, whatever the entries are; those that no result needs are left out. Entries that are equal make no difference to
the values. Where they came from does jump (see `places`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.matrices import NONE, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding, functions, peaks, places
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of

Layer = list[tuple[int, int]]
"""Comparators without a wire in common: the larger of two wires goes to the first, the smaller to the second."""


def top_k(call: OperatorCall) -> Sequence[Value]:
    """TopK: the values, and their places where these are asked for."""
    if call.opset >= 11 and not call.integer("sorted", 1) and _count(call) > 1:
        raise UnreadableError("the order of what it gives is left to the runtime", "export it with sorted=1")
    if folding.is_constant(call):
        return folding.fold(call)
    x = call.real_value(0)
    if not isinstance(x, Affine):
        raise UnreadableError("how many entries it gives depends on the input", "store the number")
    axis = axis_of(call.integer("axis", -1), len(x.shape))
    size, count = x.shape[axis], _count(call)
    if not 0 < count <= size:
        raise UnreadableError(f"{count} of {size} entries", "export the model again")
    largest = call.opset < 11 or bool(call.integer("largest", 1))
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    check_value(shape)
    given = functions.argument(x)
    rows = af.rearrange(given if largest else af.negate(given), lambda p: np.moveaxis(p, axis, -1).reshape(-1, size))
    made = sorted_down(rows, count)
    made = made if largest else af.negate(made)
    moved = (*shape[:axis], *shape[axis + 1 :], count)
    values = functions.result(af.rearrange(made, lambda p: np.moveaxis(p.reshape(moved), -1, axis)))
    if largest and isinstance(values, Affine):
        groups = np.moveaxis(np.arange(x.size).reshape(x.shape), axis, -1).reshape(-1, size)
        row = np.repeat(np.arange(len(groups)), count).reshape(moved)
        places_of = np.broadcast_to(np.arange(count), moved)
        peaks.remember(values, x, groups, *(np.moveaxis(a, -1, axis) for a in (row, places_of)))
    if not call.wants(1):
        return [values]
    found = places.places_of(places.ranked(call, rows, count))
    return [values, found.rearranged(lambda p: np.moveaxis(p.reshape(moved), -1, axis))]


def _count(call: OperatorCall) -> int:
    if call.opset < 10:
        return call.integer("k", 0)
    found = call.whole(1)
    if found.size != 1:
        raise UnreadableError(f"{found.size} numbers of entries", "export the model again")
    return int(found.reshape(()))


def sorted_down(rows: Affine, count: int) -> Affine:
    """The largest entries of each row (m, n), so many of them, in decreasing order."""
    runs, size = rows.shape
    flat = np.arange(runs * size).reshape(runs, size)
    for layer in comparators(size, count):
        first, second = ([pair[end] for pair in layer] for end in (0, 1))
        check_value((runs, len(layer)))
        a, b = (af.rearrange(rows, lambda _, at=flat[:, wires]: at) for wires in (first, second))  # type: ignore[misc]
        more = af.relu(af.add(a, af.negate(b)), started=False)
        crossed = np.arange(size)
        crossed[first], crossed[second] = second, first
        kept = af.rearrange(rows, lambda _, at=flat[:, crossed]: at)  # type: ignore[misc]
        rises, falls = np.full((runs, size), NONE), np.full((runs, size), NONE)
        rises[:, first] = falls[:, second] = np.arange(runs * len(layer)).reshape(runs, -1)
        added, taken = (af.rearrange(more, lambda _, at=at: at) for at in (rises, falls))  # type: ignore[misc]
        rows = af.add(kept, af.add(added, af.negate(taken)))
    return af.rearrange(rows, lambda p: p[:, :count])


def comparators(size: int, count: int) -> list[Layer]:
    """The layers of a network that puts the largest of so many entries, as many as wanted, first and in order."""
    layers, reach = list[Layer](), 1
    while reach < size:
        step = reach
        while step >= 1:
            starts = range(step % reach, size - step, 2 * step)
            wires = [start + i for start in starts for i in range(min(step, size - start - step))]
            layers.append([(i, i + step) for i in wires if i // (2 * reach) == (i + step) // (2 * reach)])
            step //= 2
        reach *= 2
    wanted, kept = set(range(count)), list[Layer]()
    for layer in reversed(layers):
        needed = [pair for pair in layer if wanted & set(pair)]
        wanted |= {wire for pair in needed for wire in pair}
        kept.append(needed)
    return [layer for layer in reversed(kept) if layer]


OPERATORS: dict[str, Operator] = {"TopK": top_k}
