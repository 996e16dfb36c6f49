"""Weights of classes that a proof uses under a confidence, from the multipliers in a certificate.

The kernel is told in advance of which weighted groups it bounds the mean margin. The search chose weights anew in every
round; a few of them, far apart from each other, stand for all: mixtures of groups come close to what lies between.
Nothing of this is trusted: the kernel calculates the margin of every group by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqspec.audit.rounding import Array

from .questions import Group

WHOLE = 64
"""What weights are rounded to: parts of so many."""
MOST_SAMPLED = 2000
"""Vectors of weights, per class, of which some are chosen."""


def chosen(found: Sequence[tuple[int, Array]], outputs: int, most: int) -> list[Group]:
    """At most so many groups for every class that is first; `found` are such a class and weights (F, outputs)."""
    groups = list[Group]()
    for first in range(outputs):
        some = [weights for k, weights in found if k == first]
        if some:
            groups += [_group(row) for row in _far_apart(np.concatenate(some), most)]
    return [group for group in dict.fromkeys(groups) if len(group) > 1]


def _far_apart(weights: Array, most: int) -> Array:
    """Rows that stand for all: the mean, then always the one that is farthest from those before it."""
    total = weights.sum(1)
    rows = weights[np.isfinite(total) & (total > 0.0)]
    rows = rows[:: len(rows) // MOST_SAMPLED + 1]
    if not len(rows):
        return np.zeros((0, weights.shape[1]))
    rows = rows / rows.sum(1, keepdims=True)
    roots, mean = np.sqrt(rows), rows.mean(0)
    picked, distance = [mean], ((roots - np.sqrt(mean)) ** 2).sum(1)
    while len(picked) < most and distance.max() > 0.0:
        farthest = int(distance.argmax())
        picked.append(rows[farthest])
        distance = np.minimum(distance, ((roots - roots[farthest]) ** 2).sum(1))
    return np.array(picked)


def _group(row: Array) -> Group:
    """Whole weights; classes of next to none are left out."""
    parts = np.round(row * WHOLE).astype(int).tolist()
    return tuple((j, part) for j, part in enumerate(parts) if part)
