"""A few cuts by which the auditor's enclosures exclude a violation that they narrowly do not exclude on the whole node.

A program of all facts of a node takes as long as the enclosures of a hundred nodes, so this is tried before one. A cut
halves an input, or tells the sign of a neuron. What a generator adds to the quantity that comes nearest to a
contradiction says how much may be gained by cutting where it comes from; the best few are tried side by side. Nothing
here is trusted: the auditor encloses whatever parts come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.audit.bounds import Reached
from eqspec.audit.proof import CUT, LEAF, Node
from eqspec.certificates.cached_proof import CachedProof

Array = NDArray[Any]
Tree = list[tuple[float, float, float]]

TRIED = 3
"""So many inputs are tried, and as many neurons."""
CUTS = 12
"""More cuts take longer than a program does."""
GAIN = 0.85
"""What is missing on a half, as a share of what was missing before: where more is left, cuts lead nowhere soon."""


def parts(proof: CachedProof, node: Node) -> Tree | None:
    """The records of a tree below a node under an assumption, every leaf of which is excluded; None if none is near."""
    o, tree, cuts = node.open[0], list[tuple[float, float, float]](), 0
    todo = [(node, float(missing(proof, proof.reach(node), o)[0]))]
    while todo:
        one, gap = todo.pop()
        if gap <= 0.0:
            tree.append((LEAF, 0, 0))
            continue
        found = _best(proof, one, o) if cuts < CUTS else None
        if found is None or not max(left for _, left in found[1]) < GAIN * gap:
            return None
        cuts += 1
        tree.append((CUT, *found[0]))
        todo += reversed(found[1])
    return tree


def missing(proof: CachedProof, reached: Reached, o: int) -> Array:
    """How much (B,) bounds still lack until they contradict a violation, positive unless they surely do."""
    one, (low, high) = proof.obligations[o], reached.last()
    if one.norm:
        size = np.maximum(-low[2], high[2])[list(one.rows)]
        total = np.sqrt((size * size).sum(0)) if one.norm == "l2" else size.sum(0)
        gap = total - float(one.limit)
    else:
        gap = np.min([(high - low)[kind, row] for kind, row, *_ in one.conditions], axis=0)
    tiny = np.finfo(float).tiny
    return np.where(proof.surely_excluded(reached, o), 0.0, np.where(np.isfinite(gap), np.maximum(gap, tiny), np.inf))


def _best(proof: CachedProof, node: Node, o: int) -> tuple[tuple[int, float], list[tuple[Node, float]]] | None:
    """The first cut if it suffices, which it mostly does, or else the one that leaves least on its worse half."""
    tried = list(_cuts(proof, node, o))
    first = _least(proof, node, o, tried[:1])
    if first is None or all(gap <= 0.0 for _, gap in first[1]):
        return first
    return _least(proof, node, o, tried)


def _least(
    proof: CachedProof, node: Node, o: int, tried: list[tuple[int, float]]
) -> tuple[tuple[int, float], list[tuple[Node, float]]] | None:
    """Of these cuts the one that leaves least on its worse half, with both halves and what is missing on them."""
    halves = [half for cut in tried for half in proof.halves(node, *cut)]
    if not halves:
        return None
    gaps, some = np.zeros(len(halves)), [k for k, half in enumerate(halves) if not half.infeasible]
    if some:
        # A leaf is bounded as the auditor bounds it, bounds alone and many at a time.
        gaps[some] = missing(proof, proof.reach(*(halves[k] for k in some), bounds_alone=len(some) > 1), o)
    pairs = gaps.reshape(-1, 2)
    best = min(range(len(tried)), key=lambda k: (pairs[k].max(), pairs[k].sum()))
    return tried[best], [(halves[2 * best + side], float(pairs[best, side])) for side in (0, 1)]


def _cuts(proof: CachedProof, node: Node, o: int) -> Iterator[tuple[int, float]]:
    """Quantities and places that promise most, of the inputs and of the neurons."""
    reached, one = proof.reach(node), proof.obligations[o]
    form, width = reached.before[len(proof.pair.steps) - 1].form, proof.pair.widths[-1]
    if one.norm:
        rows = [2 * width + row for row in one.rows]
    else:
        low, high = reached.last()
        nearest = min(one.conditions, key=lambda c: float((high - low)[c[0], c[1], 0]))
        rows = [nearest[0] * width + nearest[1]]
    share = np.abs(form.z[rows, 0, 1:]).sum(axis=0)
    origin = _origins(proof, reached)[: len(share)]
    for mine in (origin < proof.pair.inputs, origin >= proof.pair.inputs):
        chosen = np.flatnonzero(mine & (origin >= 0) & (share > 0.0))
        for quantity in origin[chosen[np.argsort(-share[chosen], kind="stable")][:TRIED]]:
            least, most = float(reached.low[quantity, 0]), float(reached.high[quantity, 0])
            place = 0.5 * least + 0.5 * most if quantity < proof.pair.inputs else 0.0
            if least < place < most:
                yield int(quantity), place


def _origins(proof: CachedProof, reached: Reached) -> Array:
    """The quantity that each generator comes from, -1 where that is not told (behind functions other than ReLU)."""
    n = proof.pair.inputs
    found = [np.flatnonzero(reached.high[:n, 0] > reached.low[:n, 0])]
    count = len(found[0])
    for number, (step, part) in enumerate(zip(proof.pair.steps, reached.parts, strict=True)):
        if not step.curves:
            continue
        low, high = (ends[part, 0].reshape(3, step.width) for ends in (reached.low, reached.high))
        open_ = (high[:2] > 0.0) & (low[:2] < 0.0)
        own = np.flatnonzero(open_[0] & open_[1])
        here = [k * step.width + np.flatnonzero(open_[k]) for k in (0, 1)] + [2 * step.width + own]
        places, new = part.start + np.concatenate(here), reached.after[number].form.z.shape[2] - 1 - count
        if step.curved or len(places) != new:
            places = np.full(max(new, 0), -1)
        found.append(places)
        count += len(places)
    return np.concatenate(found)
