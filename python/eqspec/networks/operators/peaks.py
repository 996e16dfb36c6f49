"""Entries that are compared with the largest of some among which they are: peaks of heat maps, the best few of a row.

    x_i >= the largest of G     if and only if   x_i >= max over G without i of x                     (i in G)
    x_i >= the k-th largest     if and only if   fewer than k entries of G are larger than x_i
    x_i >  the k-th largest     if and only if   fewer than k entries of G, itself among them, are at least x_i

Detectors without boxes keep the peaks of a map h so, as h * (h == max_pool(h)), and sparse layers their largest
entries, as where(x >= topk(x)[-1], x, 0). A difference of x_i and a largest entry that it is itself is 0, which no
rounded bound or float tells from a little more; what is compared here is in general apart from its threshold.
`remember` keeps of a value of what its entries are the largest, wherever they are put (`Ordered.moved`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks import products
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.operators import functions

_SIGN = Curves.all(Curve("sign"))


@dataclass(frozen=True, eq=False)
class Ordered:
    """What the entries of a value are: of another one (`of`), the largest but `place` of the group `row`.

    `groups` (m, n) are flat entries, -1 for none; `row` and `place` have the shape of the value.
    """

    of: Affine
    groups: Indices
    row: Indices
    place: Indices

    def moved(self, positions: Indices) -> Ordered | None:
        """Of a value whose entries are some of these."""
        if (positions == NONE).any():
            return None
        return replace(self, row=self.row.reshape(-1)[positions], place=self.place.reshape(-1)[positions])


def remember(made: Affine, of: Affine, groups: Indices, row: Indices, place: Indices | None = None) -> None:
    """Keep that each entry of a value is the largest of a row of `groups`, or the one at a place behind it."""
    row = row.reshape(made.shape)
    made._ordered.append(Ordered(of, groups, row, np.zeros_like(row) if place is None else place))


def reaches(x: Affine, y: Affine, *, strictly: bool) -> Affine | None:
    """Whether x >= y, or x > y, of the shape of x: 0 or 1; None where it is not known of what y is the largest."""
    found = next((one for one in y._ordered if one.of is x), None)
    if found is None:
        return None
    check_value((x.size, found.groups.shape[1]))
    try:
        row, place = (np.broadcast_to(a, x.shape).reshape(-1) for a in (found.row, found.place))
    except ValueError:
        return None
    groups = found.groups[row]
    own = groups == np.arange(x.size)[:, None]
    if not own.any(axis=1).all() or (np.where(own, NONE, groups) == NONE).all(axis=1).any():
        return None
    value = af.rearrange(functions.argument(x), lambda p: p.reshape(-1))
    if not strictly and not place.any():
        rest = functions.maximum_of(value, np.where(own, NONE, groups))
        made = af.opposite(af.is_larger(rest, value))
    elif (groups == NONE).any():
        return None
    else:
        made = _counted(value, groups[~own].reshape(x.size, -1), place, strictly=strictly)
    return af.rearrange(made, lambda p: p.reshape(x.shape))


def _counted(value: Affine, others: Indices, place: Indices, *, strictly: bool) -> Affine:
    """Whether at most so many entries as `place` says are larger, or at least as large (the entry itself is one)."""
    width = others.shape[1]
    beside = af.rearrange(value, lambda _: others)
    here = af.rearrange(value, lambda p: np.repeat(p[:, None], width, axis=1))
    counted = af.opposite(af.is_larger(here, beside)) if strictly else af.is_larger(beside, here)
    total = af.rearrange(products.matmul(counted, en.exactly(np.ones((width, 1)))), lambda p: p.reshape(-1))
    most = place.astype(np.float64) + (-0.5 if strictly else 0.5)
    return af.scale(af.opposite(af.curve(af.shift(total, en.exactly(-most)), _SIGN)), en.exactly(0.5))
