"""A few cuts by which the auditor's enclosures exclude violations that they narrowly do not exclude on a whole node.

A program of all facts of a node takes as long as the enclosures of a hundred nodes, so this is tried before one. A cut
halves an input, or tells the sign of a neuron. What a generator adds to the quantity that comes nearest to a
contradiction says how much may be gained by cutting where it comes from; the best few are tried side by side. Nothing
here is trusted: the auditor encloses whatever parts come out.

One enclosure by itself takes ten times as long as beside others, so many nodes are taken apart side by side: what is
to be enclosed for any of them is asked for, and answered for all together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.audit.bounds import Reached
from eqspec.audit.proof import CUT, LEAF, Node, Proof
from eqspec.certificates.cached_proof import CachedProof, with_room
from eqspec.certificates.deadline import ENDLESS, Deadline
from eqspec.lazy_dataclass import dataclass

Array = NDArray[Any]
Tree = list[tuple[float, float, float]]
Cut = tuple[int, float]

TRIED = 3
"""So many inputs are tried, and as many neurons."""
CUTS = 12
"""More cuts take longer than a program does."""
GAIN = 0.85
"""What is missing on a half, as a share of what was missing before: where more is left, cuts lead nowhere soon."""
ENOUGH = 0.7
"""The same: where the first cut leaves less, the halves are cut sooner than others are tried."""


@dataclass(frozen=True)
class Enclosed:
    """A node, how much is missing until all that is open on it is excluded, and what tells the most promising cuts."""

    node: Node
    gap: float
    cuts: Callable[[], Sequence[Cut]]


Asking = Generator[list[Node], list[Enclosed], Any]
"""Asks for enclosures of nodes, is given them in the same order, and ends with an answer."""


def parts(proof: CachedProof, nodes: Sequence[Node], deadline: Deadline = ENDLESS) -> list[Tree | None]:
    """For each node the records of a tree below it whose leaves all exclude what is open; None if none is near.

    IncompleteError if that takes longer than there is time.
    """
    found: list[Tree | None] = [None] * len(nodes)
    running = dict(enumerate(_parts(proof, node) for node in nodes))
    asked = {number: next(one) for number, one in running.items()}
    while asked:
        deadline.keep()
        answers = iter(_enclosed(proof, [node for some in asked.values() for node in some]))
        for number, some in list(asked.items()):
            try:
                asked[number] = running[number].send([next(answers) for _ in some])
            except StopIteration as end:
                found[number] = end.value
                del asked[number]
    return found


def _parts(proof: CachedProof, node: Node) -> Asking:
    """The records of one tree."""
    tree, cuts, todo = Tree(), 0, (yield [node])
    while todo:
        one = todo.pop()
        if one.gap <= 0.0:
            tree.append((LEAF, 0, 0))
            continue
        found = (yield from _best(proof, one)) if cuts < CUTS else None
        if found is None or not max(half.gap for half in found[1]) < GAIN * one.gap:
            return None
        cuts += 1
        tree.append((CUT, *found[0]))
        todo += reversed(found[1])
    return tree


def _best(proof: CachedProof, one: Enclosed) -> Asking:
    """The first cut if it does much, which it mostly does, or else the one that leaves least on its worse half."""
    best, cuts = None, one.cuts()
    for tried in (cuts[:1], cuts[1:]):
        halves = yield [half for cut in tried for half in proof.halves(one.node, *cut)]
        for cut, low, high in zip(tried, halves[::2], halves[1::2], strict=True):
            if best is None or _left([low, high]) < _left(best[1]):
                best = cut, [low, high]
        if best is not None and _left(best[1])[0] <= ENOUGH * one.gap:
            break
    return best


def _left(halves: Sequence[Enclosed]) -> tuple[float, float]:
    gaps = [half.gap for half in halves]
    return max(gaps), sum(gaps)


def _enclosed(proof: CachedProof, nodes: Sequence[Node]) -> list[Enclosed]:
    """Many at a time."""
    found, some = (
        [Enclosed(node, 0.0, list) for node in nodes],
        [k for k, node in enumerate(nodes) if not node.infeasible],
    )
    for start in range(0, len(some), proof.batch):
        batch = some[start : start + proof.batch]
        reached = Proof.reach(proof, *(nodes[k] for k in batch), bounds_alone=True)
        wide = with_room(reached)
        gaps = {o: missing(proof, wide, o) for o in {o for k in batch for o in nodes[k].open}}
        for b, k in enumerate(batch):
            gap, o = max(((float(gaps[o][b]), o) for o in nodes[k].open), default=(0.0, 0))
            found[k] = Enclosed(nodes[k], gap, partial(_cuts, proof, reached, o, b))
    return found


def missing(proof: CachedProof, wide: Reached, o: int) -> Array:
    """How much (B,) bounds, with room for rounding, still lack until they contradict a violation, positive unless they
    do."""
    one, (low, high) = proof.obligations[o], _violating(proof, wide, o)
    if one.norm:
        size = np.maximum(-low[2], high[2])[list(one.rows)]
        total = np.sqrt((size * size).sum(0)) if one.norm == "l2" else size.sum(0)
        gap = total - float(one.limit)
    else:
        gap = np.min([(high - low)[kind, row] for kind, row, *_ in one.conditions], axis=0)
    tiny = np.finfo(float).tiny
    return np.where(proof.excluded(wide, o), 0.0, np.where(np.isfinite(gap), np.maximum(gap, tiny), np.inf))


def _violating(proof: CachedProof, reached: Reached, o: int) -> tuple[Array, Array]:
    """Bounds (3, R, B) of the rows of the claim where it is violated."""
    (low, high), (least, most) = reached.last(), proof.boxes[o]
    return np.maximum(low, least), np.minimum(high, most)


def _cuts(proof: CachedProof, reached: Reached, o: int, b: int) -> list[Cut]:
    """Quantities and places that promise most on a box, of the inputs and of the neurons."""
    one, found, width = proof.obligations[o], list[Cut](), proof.pair.widths[-1]
    form = reached.before[len(proof.pair.steps) - 1].form
    if one.norm:
        rows = [2 * width + row for row in one.rows]
    else:
        low, high = _violating(proof, reached, o)
        nearest = min(one.conditions, key=lambda c: float((high - low)[c[0], c[1], b]))
        rows = [nearest[0] * width + nearest[1]]
    share = np.abs(form.z[rows, b, 1:]).sum(axis=0)
    origin = _origins(proof, reached, b)[: len(share)]
    for mine in (origin < proof.pair.inputs, origin >= proof.pair.inputs):
        chosen = np.flatnonzero(mine & (origin >= 0) & (share > 0.0))
        for quantity in origin[chosen[np.argsort(-share[chosen], kind="stable")][:TRIED]]:
            least, most = float(reached.low[quantity, b]), float(reached.high[quantity, b])
            place = 0.5 * least + 0.5 * most if quantity < proof.pair.inputs else 0.0
            if least < place < most:
                found.append((int(quantity), place))
    return found


def _origins(proof: CachedProof, reached: Reached, b: int) -> Array:
    """The quantity that each generator comes from on a box; -1 where that is not told, behind other than ReLU and of D.

    Which D have a generator is chosen by the enclosure.
    """
    n = proof.pair.inputs
    found = [np.flatnonzero((reached.high[:n] > reached.low[:n]).any(axis=1))]
    count = len(found[0])
    for number, (step, part) in enumerate(zip(proof.pair.steps, reached.parts, strict=True)):
        if not step.curves:
            continue
        low, high = (ends[part].reshape(3, step.width, -1)[:2] for ends in (reached.low, reached.high))
        open_ = (high > 0.0) & (low < 0.0)
        places, at = np.full(reached.spans[number] - 1 - count, -1), 0
        for kind in () if step.curved else (0, 1):
            mine = np.flatnonzero(open_[kind, :, b])
            places[at : at + len(mine)] = part.start + kind * step.width + mine
            at += int(open_[kind].sum(axis=0).max(initial=0))
        found.append(places)
        count += len(places)
    return np.concatenate(found)
