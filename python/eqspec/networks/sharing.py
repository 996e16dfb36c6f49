"""Which rows of two aligned networks are the same real numbers, although no float holds them.

A folded row is known up to an error. The errors of two rows of one name are not independent, since both stand for the
same numbers (see `names`): whatever a bound says of W1 - W2 and b1 - b2 there, they are zero. So the second network is
given the first one's enclosure of such a row, and the core is told that it is shared.

Only over the reals: in float32 the errors are what runtimes may round, and two runs may round differently.
"""

from __future__ import annotations

import numpy as np

from eqspec.networks.network import AffineLayer, Array, Network

Rows = list[list[bool]]


def share(first: Network, second: Network) -> tuple[Network, Rows]:
    """The second of two aligned networks with what it shares as the first has it; and per layer, which rows (m)."""
    if "float32" in (first.arithmetic, second.arithmetic):
        return second, [[False] * len(layer.bias) for layer in first.layers]
    found = [_shared(a, b) for a, b in zip(first.layers, second.layers, strict=True)]
    taken = zip(first.layers, second.layers, found, strict=True)
    return second.with_layers([_taken(a, b, rows) for a, b, rows in taken]), found


def _shared(a: AffineLayer, b: AffineLayer) -> list[bool]:
    if a.names is None or b.names is None:
        return [False] * len(a.bias)
    return [x is not None and x == y for x, y in zip(a.names, b.names, strict=True)]


def _taken(a: AffineLayer, b: AffineLayer, rows: list[bool]) -> AffineLayer:
    """Layer b, in these rows with the numbers and errors of layer a."""
    if not any(rows):
        return b

    def merged(one: Array, other: Array) -> Array:
        chosen = np.array(rows).reshape(-1, *[1] * (one.ndim - 1))
        return np.ascontiguousarray(np.where(chosen, one, other))

    def merged_errors(one: Array | None, other: Array | None, like: Array) -> Array | None:
        if one is None and other is None:
            return None
        return merged(*(np.zeros_like(like) if error is None else error for error in (one, other)))

    return AffineLayer(
        merged(a.weight, b.weight),
        merged(a.bias, b.bias),
        merged_errors(a.weight_error, b.weight_error, a.weight),
        merged_errors(a.bias_error, b.bias_error, a.bias),
        b.names,
    )
