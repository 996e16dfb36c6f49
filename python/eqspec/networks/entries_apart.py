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

import numpy as np

from eqspec.errors import OpenSizesError
from eqspec.networks.curves import Curves
from eqspec.networks.network import Array, Network
from eqspec.networks.readers import open_sizes
from eqspec.networks.session import CannotRunError, Session

_SCALES = (1.0, 1.0, 1.0, 4.0)
"""Of the numbers of each pair."""
_CLOSE, _COARSELY = 1e-3, 0.05
"""Of the largest answer: far more than what float32 rounds, and less than what entries that meet do to each other. Two
entries may be summed up in another order than one, which is more in 16 bits, and behind quantisers a level here and
there."""
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
        pair = session.rounded(scale * random.normal(size=(2, network.input_size)))
        try:
            off.append(_difference(session, pair))
        except CannotRunError:
            return
        if coarse and off[-1] <= _COARSELY:
            return
    if not coarse and max(off) <= _COARSELY and min(off) <= _CLOSE:
        return
    name, size = open_axes[0]
    message = f"entries along the open axis {size!r} of input {name!r} meet, so it is not that of the samples"
    shapes = {port.name: port.shape for port in network.ports}
    raise OpenSizesError(network.source, message, fix=open_sizes.how(shapes, batch=False))


def _difference(session: Session, pair: Array) -> float:
    """How far two entries are answered from each alone, as a share of the largest answer; 0 where one is not finite."""
    first, second = session.side_by_side(pair), session.side_by_side(pair[::-1])
    # What has no open axis is the same for both: it is that of the first.
    alone = np.concatenate([session.answers(point) for point in session.sharing(pair)])
    other = np.concatenate([session.answers(point) for point in session.sharing(pair[::-1])])
    found, wanted = np.concatenate([first, second]), np.concatenate([alone, other])
    if found.size != wanted.size:
        return np.inf
    if not (np.isfinite(found).all() and np.isfinite(wanted).all()):
        return 0.0
    apart = np.abs(np.sort(found) - np.sort(wanted)).max(initial=0.0)
    return float(apart / (1.0 + np.abs(wanted).max(initial=0.0)))
