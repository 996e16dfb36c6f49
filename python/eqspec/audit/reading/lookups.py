"""Entries of a table at integers that depend on the input, and rows in order: Gather, OneHot, ArgMax, TopK.

    entry at k = entry at a + sum over j from a + 1 to b of (entry at j - entry at j - 1) [k > j - 1/2]
    rank of i = how many entries go before it: x_j > x_i, or x_j = x_i and j < i
    place of rank r = sum over i of i ([rank of i > r - 1/2] - [rank of i > r + 1/2])

Entries are put in order by comparators, max(a, b) and min(a, b). Places below 0 count from the end, as ONNX says. Those
beyond a table, at which runtimes fail, stand for its nearest one, which is said.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..functions import BENT
from ..rounding import Array, Refused
from . import affine, statistics, truth, unary
from .counted import KINDS, Counted, kind_of, real
from .picking import cut
from .program import Given, Operand, Program
from .quantisers import TYPES, Levels
from .shape_operators import whole
from .value import Value, distinct

PLACES = {"Gather": 1, "GatherElements": 1, "GatherND": 1, "OneHot": 0}
"""Which of their operands are places."""
RANKING = {"ArgMax", "ArgMin", "TopK"}


def looked_up(program: Program, operator: str, operands: Any, given: Given) -> Operand | Counted | Levels:
    """The result of an operator of PLACES."""
    table, k = operands[2 if operator == "OneHot" else 0], operands[PLACES[operator]]
    kind = kind_of(table)
    if not isinstance(table, Value) and not (isinstance(table, np.ndarray) and kind.kind in "fOiu" and table.size):
        raise Refused(f"a {operator} of what are no numbers, at places that depend on the input")
    parts = (_one_hot if operator == "OneHot" else _gathered)(program, operator, operands, given)
    held = table if isinstance(table, Value) or kind.kind in "fO" else real(table)
    program.held.update(held.ravel() if isinstance(held, np.ndarray) and held.dtype == float else ())
    made = program.value(_entries(program, held, k.value, *parts))
    if isinstance(table, np.ndarray) and kind in KINDS:
        return Counted(made, int(table.min()), int(table.max()), kind)
    return Levels(made, np.zeros(made.shape), kind) if kind in TYPES else made


def _gathered(program: Program, operator: str, operands: Any, given: Given) -> tuple[Array, Array, Array]:
    """Integers in order, the entries (..., m) of the table at each of them, and which place counts for each result."""
    k, index = operands[1], np.arange(prod(operands[0].shape)).reshape(operands[0].shape)
    axis, last = given.get("axis", 0), operator == "GatherND"
    if not -index.ndim <= axis < index.ndim or given.get("batch_dims", 0) or (last and k.shape[-1:] != (1,)):
        raise Refused(f"a {operator} at places that depend on the input, along several axes or none")
    axis, shape = axis % index.ndim, k.shape[:-1] if last else k.shape
    size, of, beside = index.shape[axis], np.arange(prod(shape)).reshape(shape), operator == "GatherElements"
    numbers = np.arange(max(k.low, -size), min(k.high, size - 1) + 1)
    if not len(numbers):
        raise Refused(f"a {operator} at places beyond its table")
    if (k.low, k.high) != (numbers[0], numbers[-1]):
        program.said.append(f"a place beyond a table of {size} entries stands for the nearest one; there runtimes fail")
    at = np.moveaxis(np.take(cut(index, shape, axis) if beside else index, numbers % size, axis), axis, -1)
    if beside:
        return numbers, np.expand_dims(at, axis), of
    at = at.reshape(*at.shape[:axis], *[1] * len(shape), *at.shape[axis:])
    return numbers, at, of.reshape(*shape, *[1] * (index.ndim - axis - 1))


def _one_hot(program: Program, _: str, operands: Any, given: Given) -> tuple[Array, Array, Array]:
    """The same of OneHot, whose table is off and on; beyond its depth, nothing is on."""
    k, depth, axis = operands[0], int(operands[1].reshape(())), given.get("axis", -1)
    if operands[2].shape != (2,) or not -len(k.shape) <= axis + 1 <= len(k.shape) + 1 or depth < 1:
        raise Refused("a OneHot of another shape than the auditor reads")
    program.effort.name(*k.shape, depth, 2 * depth + 2)
    numbers, row = np.arange(max(k.low, -depth - 1), min(k.high, depth) + 1), np.arange(depth)[:, None]
    at = np.broadcast_to(((numbers == row) | (numbers + depth == row)).astype(int), (*k.shape, depth, len(numbers)))
    of, axis = np.broadcast_to(k.value.places[..., None], (*k.shape, depth)), axis % (len(k.shape) + 1)
    return numbers, np.moveaxis(at, -2, axis), np.moveaxis(of, -1, axis)


def _entries(program: Program, table: Operand, k: Value, numbers: Array, at: Array, of: Array) -> Operand:
    """Of the entries (..., m) of a table at these numbers those at the integers k."""
    shape = np.broadcast_shapes(at.shape[:-1], of.shape)
    program.effort.name(*shape, len(numbers))
    at, of = np.broadcast_to(at, (*shape, len(numbers))), np.broadcast_to(of, shape)
    first, later, before = at[..., 0], at[..., 1:], at[..., :-1]
    if isinstance(table, Value):
        rises = program.apart(program.taken(table, later), program.taken(table, before))
    if len(numbers) < 2:
        return program.taken(table, first) if isinstance(table, Value) else table.ravel()[first]
    above = truth.above(program, k.reshaped((k.size, 1)), numbers[1:] - 0.5)
    steps = above.places[of]
    if isinstance(table, Value):
        terms = unary.product(program, program.taken(above, steps), rises)
        return program.added(program.taken(table, first), statistics.total(program, terms, terms.places))
    rows, which = distinct(at.reshape(-1, len(numbers)))
    flat, rows = table.ravel(), at.reshape(-1, len(numbers))[rows]
    weights = program.effort.done(np.subtract, flat[rows[:, 1:]], flat[rows[:, :-1]])
    return program.added(program.sums(above, steps, which, weights), flat[first])


def ranked(program: Program, node: Any, operands: Any, given: Given) -> list[Any]:
    """The results of an operator of RANKING."""
    operator, x, top, last = node.op_type, operands[0], node.op_type == "TopK", bool(given.get("select_last_index"))
    axis, largest = given.get("axis", -1 if top else 0), given.get("largest", 1) if top else operator == "ArgMax"
    count = (whole(operands, 1) or [0])[0] if top else 1
    there = -len(x.shape) <= axis < len(x.shape) and 0 < count <= x.shape[axis]
    if program.kind.rounds or not there or (count > 1 and not given.get("sorted", 1)):
        raise Refused(f"the auditor does not read {operator} {node.name!r} in float32, or in this way")
    places = np.moveaxis(x.places, axis, -1)
    lead, size = places.shape[:-1], places.shape[-1]
    rows = program.settled(program.taken(x if largest else program.negative(x), places.reshape(-1, size)))
    ranks = _ranks(program, rows, count, last) if size > 1 else program.value(np.ones((rows.size, 1, 1)))
    found = affine.product(program, ranks, np.arange(size, dtype=float)).reshaped((*lead, count))  # type: ignore[union-attr]
    k = program.taken(found, np.moveaxis(found.places, -1, axis))
    if not top:
        return [Counted(k if given.get("keepdims", 1) else k.reshaped(lead), 0, size - 1, np.dtype(np.int64))]
    made = _in_order(program, rows)
    made = program.taken(made if largest else program.negative(made), made.places[:, :count].reshape(*lead, count))
    return [program.taken(made, np.moveaxis(made.places, -1, axis)), Counted(k, 0, size - 1, np.dtype(np.int64))]


def _ranks(program: Program, rows: Value, count: int, last: bool) -> Value:
    """Whether an entry of a row (m, n) has each of the first ranks: 0 or 1, (m, count, n). Of equals, the first goes
    before, or the last.
    """
    runs, size = rows.shape
    program.effort.name(runs, size, size, max(size, count))
    one, other = np.triu_indices(size, 1)[:: -1 if last else 1]
    behind = truth.above(program, *(program.taken(rows, rows.places[:, side]) for side in (other, one)))
    numbers = np.arange(size)[:, None]
    taps = np.broadcast_to(behind.places[:, None, :], (runs, size, len(one)))
    signs = np.where(numbers == one, 1.0, np.where(numbers == other, -1.0, 0.0))
    rank = program.sums(behind, taps, np.tile(numbers[:, 0], runs), signs)
    rank = program.added(rank, np.bincount(other, minlength=size).astype(float))
    beyond = truth.above(program, rank.reshaped((runs, 1, size)), np.arange(count)[:, None] + 0.5)
    at = np.concatenate([np.full((runs, 1, size), -1), beyond.places[:, :-1]], axis=1)
    up_to = program.added(program.taken(beyond, at), np.where(np.arange(count) == 0, 1.0, 0.0)[:, None])
    return program.apart(up_to, beyond)


def _in_order(program: Program, rows: Value) -> Value:
    """Rows (m, n), each with its largest entry first: n rounds of comparators between neighbours."""
    for start in range(rows.shape[1] - (rows.shape[1] < 3)):
        a, b = rows.places[:, start % 2 : -1 : 2], rows.places[:, start % 2 + 1 :: 2]
        first, second = program.taken(rows, a), program.taken(rows, b)
        more = program.step(program.apart(first, second), BENT)
        flat = program.stacked([rows, program.added(second, more), program.apart(first, more)])
        at = np.arange(rows.size)
        at[a.ravel()], at[b.ravel()] = rows.size + np.arange(a.size), rows.size + a.size + np.arange(b.size)
        rows = program.settled(program.taken(flat, at.reshape(rows.shape)))
    return rows
