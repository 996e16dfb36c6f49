"""Of many points those that lie far apart, and which of them hang together.

Shapes: points (N, I), scaled so that every coordinate counts alike; distances are the largest of any coordinate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Array

_NEIGHBOURS = 6
_BETWEEN = 16
"""Points of a segment that are looked at."""
_AT_ONCE = 1 << 22

Indices = NDArray[np.intp]


def farthest_points(points: Array, first: int, count: int) -> Indices:
    """So many points, each as far as possible from all before it, from the `first` on (farthest-point selection).

    (T. F. Gonzalez, Clustering to minimize the maximum intercluster distance, 1985.) Fewer where points repeat.
    """
    columns = np.ascontiguousarray(points.T, np.float32)  # distances are compared, never concluded from

    def distances(one: int) -> NDArray[np.float32]:
        apart: NDArray[np.float32] = np.abs(columns - columns[:, one, None]).max(axis=0)
        return apart

    chosen = [first]
    nearest = distances(first)
    while len(chosen) < min(count, len(points)):
        best = int(nearest.argmax())
        if nearest[best] <= 0.0:
            break
        chosen.append(best)
        np.minimum(nearest, distances(best), out=nearest)
    return np.array(chosen, np.intp)


def islands(points: Array, breaks: Callable[[Array], NDArray[np.bool_]]) -> Indices:
    """The group (N,) of each point: points joined by breaking segments share a number, 0 is the largest group.

    Two points are joined if one is among the nearest neighbours of the other and the claim `breaks` all along the
    segment between them, as far as it is sampled. A connected part of the region may so become several groups.
    """
    count = len(points)
    parent = list(range(count))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    shares = (np.arange(_BETWEEN) + 1.0) / (_BETWEEN + 1.0)
    for i, j in sorted(_neighbours(points)):
        if root(i) != root(j):
            segment = points[i] + shares[:, None] * (points[j] - points[i])
            if breaks(segment).all():
                parent[root(i)] = root(j)
    roots = np.array([root(i) for i in range(count)], np.intp)
    names, members = np.unique(roots, return_inverse=True)
    order = np.argsort(-np.bincount(members, minlength=len(names)), kind="stable")
    rank = np.empty(len(names), np.intp)
    rank[order] = np.arange(len(names))
    return rank[members.reshape(-1)]


def _neighbours(points: Array) -> set[tuple[int, int]]:
    """Pairs of a point and one of its nearest, the smaller number first."""
    some = max(1, _AT_ONCE // max(1, points.size))
    found: set[tuple[int, int]] = set()
    for start in range(0, len(points), some):
        apart = np.abs(points[start : start + some, None] - points[None]).max(axis=2)
        apart[np.arange(len(apart)), start + np.arange(len(apart))] = np.inf
        near = np.argsort(apart, axis=1, kind="stable")[:, :_NEIGHBOURS]
        for i, row in enumerate(near, start=start):
            found |= {(min(i, int(j)), max(i, int(j))) for j in row if int(j) != i}
    return found
