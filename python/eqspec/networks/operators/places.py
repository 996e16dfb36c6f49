"""ArgMax, ArgMin, Hardmax and the places of a TopK: which entries are the largest, as integers and as truth values.

    entry i goes before entry j of x:   x_i > x_j, or x_i = x_j and i < j (for the smallest: x_i < x_j)
    rank(j) = how many entries go before j          place(r) = sum over j of j [rank(j) = r]
    [rank = r] = (sgn(rank - r + 1/2) - sgn(rank - r - 1/2)) / 2

for each pair one comparison, and for each place one for each entry. A rank is a whole number, at least
1/2 away from every threshold, so what is rounded where it is bounded makes no difference. Exact over the real numbers,
ties included; where two entries are near each other in a box, nothing is known of what is looked up there. Where
float32 counts they are refused, as all comparisons are (`comparisons`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Computed, Levels
from eqspec.networks.matrices import NONE, check_value
from eqspec.networks.operators import folding, pooling
from eqspec.networks.operators.matrix_products import multiply_matrices
from eqspec.networks.operators.operator_call import IN_REAL, Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import axis_of

_SIGN = Curves.all(Curve("sign"))


def ranked(call: OperatorCall, rows: Affine, count: int, *, last: bool = False) -> Affine:
    """Whether an entry of a row (m, n) has a rank below `count`: (m, count, n), largest first, 0 or 1.

    Of equal entries the first one goes before, or the `last`.
    """
    jump = "which entries are the largest jumps where two are equal"
    call.refuse_rounded_jump(jump, f"{IN_REAL}, or end the model before it, at the scores")
    runs, size = rows.shape
    check_value((runs, size, max(count, size)))
    first, second = np.triu_indices(size, 1)
    flat = np.arange(runs * size).reshape(runs, size)
    if last:
        first, second = second, first
    a, b = (af.rearrange(rows, lambda _, at=flat[:, side]: at) for side in (first, second))  # type: ignore[misc]
    # Behind the other of a pair, the one that goes before where they are equal is only if the other is larger.
    behind = af.is_larger(b, a)
    if not len(first):
        return af.constant(call.given, en.exactly(np.ones((runs, count, size))))
    found = np.bincount(second, minlength=size).astype(np.float64)
    # An entry's rank is how many it is behind: those of its pairs in which it is first, and not those in which second.
    pairs, order = len(first), np.argsort(np.concatenate([first, second]), kind="stable").reshape(size, size - 1)
    turned = np.arange(runs)[:, None, None] * pairs + order % pairs + runs * pairs * (order >= pairs)
    signed = af.stack([behind, af.negate(behind)])
    total = pooling.mean(signed, turned.reshape(runs * size, -1), np.ones(runs * size, int), (runs, size))
    assert isinstance(total, Affine)
    ranks = af.shift(total, en.exactly(found))
    apart = af.rearrange(ranks, lambda p: np.repeat(p[:, None, :], count, axis=1))
    halves = np.arange(count, dtype=np.float64)[:, None] + np.full(size, 0.5)
    beyond = af.curve(af.shift(apart, en.exactly(-halves)), _SIGN)
    up_to = af.rearrange(beyond, lambda p: np.concatenate([np.full((runs, 1, size), NONE), p[:, :-1]], axis=1))
    up_to = af.shift(up_to, en.exactly((halves < 1).astype(np.float64)))  # every rank is 0 or more
    return af.scale(af.add(up_to, af.negate(beyond)), en.exactly(0.5))


def places_of(indicated: Affine) -> Levels:
    """The place of the only entry of each row (m, count, n) that is 1, another one in each row: integers (m, count)."""
    runs, count, size = indicated.shape
    found = multiply_matrices(indicated, en.exactly(np.arange(size, dtype=np.float64)[:, None]))
    assert isinstance(found, Affine)
    integers = Computed(af.rearrange(found, lambda p: p.reshape(runs, count)), np.arange(runs).repeat(count))
    return Levels.of(integers, (runs, count), 0, size - 1)


def _rows(x: Affine, axis: int) -> Affine:
    return af.rearrange(x, lambda p: np.moveaxis(p, axis, -1).reshape(-1, x.shape[axis]))


def _value(call: OperatorCall) -> Affine:
    x = call.real_value(0)
    assert not isinstance(x, Enclosure)  # constants are folded
    return x


def _extreme(*, largest: bool) -> Operator:
    def operator(call: OperatorCall) -> Sequence[Value]:
        if folding.is_constant(call):
            return folding.fold(call)
        x = _value(call)
        axis = axis_of(call.integer("axis", 0), len(x.shape))
        given = x if largest else af.negate(x)
        last = bool(call.integer("select_last_index", 0))
        found = places_of(ranked(call, _rows(given, axis), 1, last=last))
        kept = bool(call.integer("keepdims", 1))
        shape = (*x.shape[:axis], *((1,) if kept else ()), *x.shape[axis + 1 :])
        return [found.rearranged(lambda p: p.reshape(shape))]

    return operator


def hardmax(call: OperatorCall) -> Sequence[Value]:
    """Hardmax: 1 at the first of the largest entries, over all axes from one on before opset 13."""
    if folding.is_constant(call):
        return folding.fold(call)
    x = _value(call)
    axis = axis_of(call.integer("axis", 1 if call.opset < 13 else -1), len(x.shape))
    if call.opset < 13:
        rows = af.rearrange(x, lambda p: p.reshape(int(np.prod(x.shape[:axis])), -1))
        return [af.rearrange(ranked(call, rows, 1), lambda p: p.reshape(x.shape))]
    made = ranked(call, _rows(x, axis), 1)
    moved = (*x.shape[:axis], *x.shape[axis + 1 :], x.shape[axis])
    return [af.rearrange(made, lambda p: np.moveaxis(p.reshape(moved), -1, axis))]


OPERATORS: dict[str, Operator] = {
    "ArgMax": _extreme(largest=True),
    "ArgMin": _extreme(largest=False),
    "Hardmax": hardmax,
}
