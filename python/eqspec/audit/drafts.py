"""Drafts of a proof: all leaves that show too little are told, and what one draft showed is not bounded in the next.

A leaf that shows all that is open on it, with room for what a sum may lose in another order, as beside other boxes, is
known by its digest. So is what a round led to from a node, all of whose numbers count: one box is bounded by itself,
and the same way each time. Drafts are asked for only while a certificate is written; where a proof is audited by
itself, every leaf and every round is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from .bounds import Reached
from .opening import Bounded, limits
from .proof import Node, Proof
from .rounding import Array

ROOM = 2.0**-40
"""Of a bound: more than what a sum loses in another order."""


class Draft(Proof):
    """A draft under audit, which is read on where a leaf shows too little, and refused at its end with all of these."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.shown, self._known = _shown(self.pair, tuple(self.obligations), bool(self.chains[0]))
        self._unproved: list[tuple[int, int]] = []
        self._last: tuple[bytes, Reached] | None = None

    def check(self, file: Bounded, part: tuple[int, int] | None = None) -> tuple[int, int]:
        """As of a proof; Refused with all leaves that show too little."""
        counts = super().check(file, part)
        if self._unproved:
            self.refuse(self._unproved)
        return counts

    def reach(self, *nodes: Node, bounds_alone: bool = False) -> Reached:
        """Their enclosures; of one node, the last one is kept, as a round may follow on what was asked of it."""
        if len(nodes) != 1 or bounds_alone:
            self._last = None  # its memory is wanted
            return super().reach(*nodes, bounds_alone=bounds_alone)
        key = _digest(nodes[0])
        if self._last is None or self._last[0] != key:
            self._last = None
            self._last = key, super().reach(*nodes)
        reached = copy(self._last[1])
        reached.low, reached.high = reached.low.copy(), reached.high.copy()  # a round improves them in place
        return reached

    def rest(self) -> None:
        """Keep no enclosure, as another proof is about to be audited."""
        self._last = None

    def thinned(self, node: Node) -> Node:
        """As of a proof, or as it was found before."""
        return self._found(_digest(node), lambda: super(Draft, self).thinned(node))

    def round(self, node: Node, wanted: Array, rows: Array, multipliers: Array) -> Node:
        """As of a proof, or as it was found before."""
        key, before = _digest(node, wanted, rows, multipliers, self.region.rows, self.region.bounds), self.rounds
        found = self._found(key, lambda: super(Draft, self).round(node, wanted, rows, multipliers))
        self.rounds = before + 1
        return found

    def _found(self, key: bytes, find: Callable[[], Node]) -> Node:
        if (found := self._known.get(key)) is None:
            found = find()
            if (len(self._known) + 1) * found.low.nbytes <= limits.KNOWN:
                self._known[key] = found
        return found

    def _wait(self, node: Node, shown: bool = False) -> None:
        super()._wait(node, shown or _digest(node) in self.shown)

    def _flush(self) -> None:
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        reached = self.reach(*(node for _, node in waiting), bounds_alone=True)
        wide = widened(*reached.last())
        every = {o for _, node in waiting for o in node.open}
        done = {o: self.excluded(reached, o) for o in every}
        surely = {o: self.contradicted(o, *wide) for o in every}
        for b, (leaf, node) in enumerate(waiting):
            self._unproved += [(leaf, o) for o in node.open if not done[o][b]]
            if len(self.shown) < limits.DIGESTS and all(surely[o][b] for o in node.open):
                self.shown.add(_digest(node))


def widened(low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds with that room."""
    room = ROOM * np.maximum(np.abs(low), np.abs(high))
    return low - room, high + room


@lru_cache(maxsize=4)
def _shown(*asked: Any) -> tuple[set[bytes], dict[bytes, Node]]:  # noqa: ARG001 - kept for each
    """Digests of leaves that drafts showed, and of rounds with the nodes that they led to: for a pair, obligations, and
    whether each network is bounded by itself."""
    return set(), {}


def _digest(node: Node, *more: Array) -> bytes:
    """Of all that it is, and of arrays with their types and shapes."""
    found = blake2b(np.append(node.low, node.high).tobytes(), digest_size=24)
    found.update(repr((node.open, node.assumed, [(array.dtype.str, array.shape) for array in more])).encode())
    for array in more:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()
