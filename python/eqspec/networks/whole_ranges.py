"""Whether whole numbers stay between the ends up to which a program has those of its file, everywhere in a box.

A Cast to integers is read up to 2^31, and an integer input of 32 or 64 bits up to the ends of its quantiser: beyond
them a program holds its last number, where a file goes on, wraps around or has another number in every runtime. Where
intervals do not show that this is never so, the program is not the file there, and nothing may be said of it.
"""

from __future__ import annotations

import numpy as np

from eqspec.networks.curves import Curve, Curves, clip
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS
from eqspec.networks.value_ranges import Interval, before, behind

MOST_WHOLE = 2.0**31
"""What is cast to integers lies below this."""
CAST = clip(0.5, MOST_WHOLE - 1.0)
"""What stands in front of what a cast makes of x, and of -x (`operators/casting`)."""


def beyond(network: Network, box: Interval) -> str | None:
    """Which whole numbers might lie beyond what is read of them in a box, the ends of the inputs; None if none do."""
    if not any(_most(kind) for step in network.steps for kind in _kinds(step.function)):
        return None
    ranges = {INPUTS: box}
    for number, step in enumerate(network.steps):
        with np.errstate(all="ignore"):
            low, high = before(step, ranges)
            ranges[number] = behind(step.function, (low, high))
        if not isinstance(step.function, Curves):
            continue
        for kind, rows in step.function.groups(len(low)):
            least, most = _most(kind) or (-np.inf, np.inf)
            if not ((low[rows] >= least) & (high[rows] <= most)).all():
                size = max(np.abs(low[rows]).max(), np.abs(high[rows]).max())
                what = "a value that it casts to integers" if kind == CAST else "an integer that it is given"
                return f"{what} may reach {size:.3g}, and is read up to {min(-least, most):.10g} alone"
    return None


def _kinds(function: object) -> tuple[Curve, ...]:
    return tuple(function.kinds) if isinstance(function, Curves) else ()


def _most(kind: Curve) -> Interval | None:
    """Between which numbers the argument of a function has to lie, where whole numbers are cut off beside them."""
    if kind == CAST:
        return np.array(-np.inf), np.array(MOST_WHOLE)
    if kind.name == "quantiser" and kind.parameters[0] == 1.0 and kind.parameters[3] >= MOST_WHOLE - 1.0:
        return np.array(kind.parameters[2] - 0.5), np.array(kind.parameters[3] + 0.5)
    return None
