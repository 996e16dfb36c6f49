"""Windows of convolutions and poolings: at which places of a value each of their entries looks.

Places are numbers (..., *spatial) of the entries of a value; what lies in the padding is -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..opening import limits
from ..rounding import Array, Refused

AROUND = {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}
"""The attributes that are read here."""


def windows(places: Array, kernel: Sequence[int], attributes: Mapping[str, Any], pooling: bool) -> tuple[Array, Array]:
    """(..., *positions, *kernel), and which of these windows (*positions,) reach beyond the padding."""
    axes, around = len(kernel), attributes.get("auto_pad", b"NOTSET")
    size = places.shape[places.ndim - axes :]
    strides, dilations = (list(attributes.get(name) or [1] * axes) for name in ("strides", "dilations"))
    pads = list(attributes.get("pads") or [0] * (2 * axes))
    if not (len(size) == len(strides) == len(dilations) == axes and len(pads) == 2 * axes and axes):
        raise Refused("a window of other axes than its value")
    if min(*kernel, *strides, *dilations) < 1 or min(pads) < 0 or max(*pads, *dilations, *strides) > limits.INPUTS:
        raise Refused("a window with a negative or a huge size")
    span = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    if around in (b"SAME_UPPER", b"SAME_LOWER"):
        if any(pads) or (pooling and max(dilations) > 1) or attributes.get("ceil_mode"):
            raise Refused("a window that is padded in two ways")
        missing = [(-(-n // s) - 1) * s + w - n for n, s, w in zip(size, strides, span, strict=True)]
        if pooling and min(missing) < 0:
            raise Refused("windows further apart than wide, which runtimes pad in different ways")
        missing = [max(0, m) for m in missing]
        more = [m // 2 if around == b"SAME_UPPER" else m - m // 2 for m in missing]
        pads = [*more, *(m - a for m, a in zip(missing, more, strict=True))]
    elif around not in (b"NOTSET", b"VALID") or (around == b"VALID" and (any(pads) or attributes.get("ceil_mode"))):
        raise Refused("a window whose padding is said in two ways")
    ends, beyond = [], []
    for n, s, w, a, b in zip(size, strides, span, pads[:axes], pads[axes:], strict=True):
        left = n + a + b - w
        if left < 0 and (left <= -s or not attributes.get("ceil_mode")):
            raise Refused("a window that is larger than its value")
        count = -(-left // s) + 1 if attributes.get("ceil_mode") else left // s + 1
        if attributes.get("ceil_mode") and (count - 1) * s >= n + a:  # then no window begins in the padding at the end
            count -= 1
        ends.append(max(0, (count - 1) * s + w - n - a))
        beyond.append(np.arange(count) * s + w > n + a + b)
    if np.prod([n + a + b for n, a, b in zip(size, pads, ends, strict=False)]) > limits.UNITS:
        raise Refused("a padding that is larger than the auditor allows for")
    rest = [(0, 0)] * (places.ndim - axes)
    padded = np.pad(places, [*rest, *zip(pads[:axes], ends, strict=True)], constant_values=-1)
    view = np.lib.stride_tricks.sliding_window_view(padded, span, tuple(range(places.ndim - axes, places.ndim)))
    chosen = [slice(None)] * len(rest) + [slice(0, len(b) * s, s) for b, s in zip(beyond, strides, strict=True)]
    reach = reduce(np.logical_or.outer, beyond)
    return view[(*chosen, *(slice(None, None, d) for d in dilations))], reach
