"""Entries that are compared with the largest of some among which they are: peaks of heat maps, the best of a row.

    x_i = max over G of x   if and only if   x_i >= max over G without i of x        (i in G)

Detectors without boxes keep the peaks of a map h so, as h * (h == max_pool(h)). A difference of x_i and a largest entry
that it is itself is 0, which no rounded bound or float tells from a little more; the right side is in general apart
from its threshold. `remember` keeps of a value of what its entries are the largest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.matrices import NONE, Indices, check_value
from eqspec.networks.operators import functions


@dataclass(frozen=True, eq=False)
class _Largest:
    """A value whose entries (m) are the largest of groups (m, n) of flat entries of another one, -1 for none."""

    of: Affine
    groups: Callable[[], Indices]


def remember(made: Affine, of: Affine, groups: Callable[[], Indices]) -> None:
    """Keep that the entries of a value are the largest of groups of another one."""
    made._largest.append(_Largest(of, groups))


def apart_from_the_others(x: Affine, largest: Affine) -> Affine | None:
    """x - max without x, of the shape of x, at least 0 just where x equals `largest`; None where that is unknown."""
    found = next((one for one in largest._largest if one.of is x), None)
    if found is None:
        return None
    groups = found.groups()
    check_value((x.size, groups.shape[1]))
    try:
        wide = np.broadcast_to(groups.reshape(*largest.shape, -1), (*x.shape, groups.shape[1])).reshape(x.size, -1)
    except ValueError:
        return None
    own = wide == np.arange(x.size)[:, None]
    others = np.where(own, NONE, wide)
    if not own.any(axis=1).all() or (others == NONE).all(axis=1).any():
        return None
    rest = functions.maximum_of(functions.argument(x), others)
    return af.add(x, af.negate(af.rearrange(rest, lambda p: p.reshape(x.shape))))
