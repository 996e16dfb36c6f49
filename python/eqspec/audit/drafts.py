"""Drafts of a proof: all leaves that show too little are told, and what one draft showed is not bounded in the next.

A leaf that shows all that is open on it, with room for what a sum may lose in another order, as beside other boxes, is
known by its digest. Only who writes a certificate asks for drafts; of a proof that is audited by itself every leaf is
bounded.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from .opening import Bounded, limits
from .proof import Node, Proof
from .reading import Pair
from .rounding import Array

ROOM = 2.0**-40
"""Of a bound: more than what a sum loses in another order."""


class Draft(Proof):
    """A draft under audit, which is read on where a leaf shows too little, and refused at its end with all of these."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.shown = _shown(self.pair, tuple(self.obligations))
        self._unproved: list[tuple[int, int]] = []

    def check(self, file: Bounded, part: tuple[int, int] | None = None) -> tuple[int, int]:
        """As of a proof; Refused with all leaves that show too little."""
        counts = super().check(file, part)
        if self._unproved:
            self.refuse(self._unproved)
        return counts

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
def _shown(pair: Pair, obligations: tuple[Any, ...]) -> set[bytes]:  # noqa: ARG001 - kept for each
    """Digests of leaves that drafts of a proof of these obligations about a pair showed."""
    return set()


def _digest(node: Node) -> bytes:
    """Of all that it is."""
    whole = np.append(node.low, node.high).tobytes() + repr((node.open, node.assumed)).encode()
    return blake2b(whole, digest_size=24).digest()
