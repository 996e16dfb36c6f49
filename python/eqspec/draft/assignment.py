"""Which output stands for which class: the one-to-one matching of classes to outputs that most rows agree with.

counts[k, o] says in how many rows of class k output o decides. The best matching is an assignment problem, solved here
by the Hungarian method with potentials (Kuhn 1955, Munkres 1957): one class after the other is added by a shortest
augmenting path, in K steps of O(K M) each. It is optimal: at the end u[k] + v[o] <= cost[k, o] everywhere, with
equality on the matched pairs, and v <= 0 with v = 0 where no class is matched, so no other matching costs less.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z = 1.96
"""Intervals hold 95 % of the time."""


def best_matching(counts: NDArray[np.int64]) -> list[int]:
    """For each class (K of them) its output, no output twice, with the largest sum of counts; K <= M outputs."""
    classes, outputs = counts.shape
    if classes > outputs:
        raise ValueError(f"{classes} classes cannot be matched with {outputs} outputs one to one")
    cost = float(counts.max(initial=0)) - counts.astype(np.float64)
    u, v = np.zeros(classes + 1), np.zeros(outputs + 1)
    owner = np.zeros(outputs + 1, np.int64)
    """owner[o] is the class of output o, both counted from 1, 0 if it has none; output 0 is where paths begin."""
    for k in range(1, classes + 1):
        owner[0], at = k, 0
        distance, before = np.full(outputs + 1, np.inf), np.zeros(outputs + 1, np.int64)
        done = np.zeros(outputs + 1, np.bool_)
        while owner[at]:
            done[at] = True
            row = cost[owner[at] - 1] - u[owner[at]] - v[1:]
            closer = ~done[1:] & (row < distance[1:])
            distance[1:][closer] = row[closer]
            before[1:][closer] = at
            following = int(np.argmin(np.where(done[1:], np.inf, distance[1:]))) + 1
            step = distance[following]
            u[owner[done]] += step
            v[done] -= step
            distance[1:][~done[1:]] -= step
            at = following
        while at:
            owner[at] = owner[before[at]]
            at = int(before[at])
    found = [0] * classes
    for o in range(1, outputs + 1):
        if owner[o]:
            found[owner[o] - 1] = o - 1
    return found


def interval(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's interval for a share that was seen so many times."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    middle = share + Z**2 / (2 * trials)
    spread = Z * sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2))
    scale = 1 + Z**2 / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def unclear(counts: NDArray[np.int64], matching: list[int]) -> list[int]:
    """The classes whose output is in doubt: those of which not surely more than half the rows are decided by it.

    Where no class is unclear, every other matching agrees with fewer rows of each class that it moves.
    """
    found = []
    for k, output in enumerate(matching):
        if interval(int(counts[k, output]), int(counts[k].sum()))[0] <= 0.5:
            found.append(k)
    return found
