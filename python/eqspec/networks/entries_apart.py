"""Is an open axis that of the samples? Asked of onnxruntime, which is given two entries along it.

A file that leaves one size open is read at one entry along it, since an open axis is mostly that of the samples. It may
be that of the steps of a sequence, of rows or of pixels as well: then the network of one step would be proved, which is
not what anybody compares. Where samples stand along an axis, two of them are answered as each by itself, wherever the
answers stand: p beside q and q beside p together give what p and q give alone, twice each. That is compared at some
pairs of points. A file is refused where no pair does so, as no rounding does that at all of them, and where one pair is
far off in a network without jumps: entries may meet at large values alone.

An axis that is called after a batch is believed: what its samples do to each other is part of a file that is read at a
batch of one. So are files whose scales follow from all samples together (`DynamicQuantizeLinear`). What onnxruntime
does not run at two entries has one there and no more. Files that it does not run at all are looked at by
`readers.batches`.

Shapes: points (2, I), answers (2 O,).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from eqspec.errors import OpenSizesError
from eqspec.networks.curves import Curves
from eqspec.networks.network import Array, Network
from eqspec.networks.readers import open_sizes
from eqspec.networks.session import CannotRunError, Session

_SCALES = (1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 4.0)
"""Of the numbers of each pair."""
_PAIRS = 4
"""So many are compared. Others are tried where there are no answers, as where a mask hides all that there is."""
_CLOSE, _COARSELY = 1e-3, 0.05
"""Of the largest answer: less than what entries that meet do to each other. Behind quantisers there may be a level here
and there."""
_ROUNDED = 16.0
"""Two entries may be summed up in another order than one: so many times what the file rounds at each alone, as far as
that is seen by evaluating the network, is no difference."""
_JUMPING = {"floor", "pieces", "quantiser", "sign", "thresholded"}
_TOGETHER = b"DynamicQuantize"


def check(network: Network, session: Session, content: bytes, *, short: bool = False) -> None:
    """OpenSizesError where entries along the open axis of a network meet, which was read at one of them.

    `short`: whether the file computes in 16 bits.
    """
    open_axes = [(port.name, size) for port in network.ports for size in port.shape if isinstance(size, str)]
    if (
        not open_axes
        or any(open_sizes.names_batch(size) for _, size in open_axes)
        or _TOGETHER in content
        or session.samples != 1
    ):
        return
    functions = [step.function for step in network.steps if isinstance(step.function, Curves)]
    jumps = any(curve.name in _JUMPING for function in functions for curve in function.kinds)
    coarse, random = jumps or short, np.random.default_rng(1)
    off = list[float]()
    for scale in _SCALES:
        given = scale * random.normal(size=(2, network.input_size))
        # Of integers below 0 some may be the same place in a table as others.
        pair = _runnable(session, np.abs(given) if session.takes_integers else given, random)
        if pair is None:
            continue
        try:
            found = _difference(network, session, pair)
        except CannotRunError:
            return
        if found is not None:
            off.append(found)
        if coarse and found is not None and found <= _COARSELY:
            return
        if len(off) == _PAIRS:
            break
    if not off or (not coarse and max(off) <= _COARSELY and min(off) <= _CLOSE):
        return
    name, size = open_axes[0]
    message = f"entries along the open axis {size!r} of input {name!r} meet, so it is not that of the samples"
    shapes = {port.name: port.shape for port in network.ports}
    raise OpenSizesError(network.source, message, fix=open_sizes.how(shapes, batch=False))


def _runnable(session: Session, pair: Array, random: np.random.Generator) -> Array | None:
    """Two points that are no more the same once the types of the inputs hold them, and are answered each by itself.

    Where integers are places in a table, few are: then it is 0 and 1 in each entry, either way round.
    """
    first = random.integers(0, 2, pair.shape[1]).astype(np.float64)
    for given in (pair, np.stack([first, 1.0 - first])):
        points = session.rounded(given)
        if (points[0] == points[1]).all():
            continue
        with suppress(CannotRunError):
            for point in points:
                session.answers(point)
            return points
    return None


def _difference(network: Network, session: Session, pair: Array) -> float | None:
    """How far two entries are answered from each alone, as a share of the largest answer; None if one is not finite."""
    first, second = session.side_by_side(pair), session.side_by_side(pair[::-1])
    # What has no open axis is the same for both: it is that of the first.
    points = np.concatenate([session.sharing(pair), session.sharing(pair[::-1])])
    found, wanted = np.concatenate([first, second]), np.concatenate([session.answers(point) for point in points])
    if found.size != wanted.size:
        return np.inf
    if not (np.isfinite(found).all() and np.isfinite(wanted).all()):
        return None
    apart = np.abs(np.sort(found) - np.sort(wanted)).max(initial=0.0)
    with np.errstate(all="ignore"):
        here = network.evaluate(points).ravel()
    rounded = np.nan_to_num(np.abs(here - wanted)).max(initial=0.0) if here.size == wanted.size else 0.0
    return 0.0 if apart <= _ROUNDED * rounded else float(apart / np.abs(wanted).max(initial=1e-300))
