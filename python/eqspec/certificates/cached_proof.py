"""The auditor's proof as the writer of a certificate uses it: enclosures are kept, and survive being looked at twice.

A draft asks for the enclosure of a node to derive multipliers, and then again to see what they prove. And it asks for
that of one box once for every obligation that is assumed to fail there: this is one enclosure, since no step before the
rows of the claim reads what is assumed of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from eqspec.audit.bounds import Reached, exchange
from eqspec.audit.drafts import widened
from eqspec.audit.opening import Balances
from eqspec.audit.proof import Node, Proof
from eqspec.audit.rounding import Array, Refused
from eqspec.certificates.session import Session

FORMS = ("before", "after", "spans", "wide")
NO_NEURONS = -1
"""Stands for a step of the search that has no function."""


class CachedProof(Proof):
    """A proof that is being written."""

    def __init__(
        self,
        task: dict[str, Any],
        folder: Path,
        bent: Sequence[bool] | None = None,
        balances: Balances = ((), ()),
        session: Session | None = None,
    ) -> None:
        """`bent` says which steps of the search have a function; all but the last one if it is not told."""
        super().__init__(task, folder, balances=balances)
        self._bent, self._session = bent, session
        self._last: tuple[Node, Reached] | None = None
        self._thin: tuple[Node, Node] | None = None
        self._box: tuple[bytes, Reached] | None = None

    @property
    def searched(self) -> list[int]:
        """The steps of the auditor by those of the search.

        Both have steps without a function where they like, and should agree on the others in their order. Where they do
        not, what the search noted of its neurons cannot be used; if it is used wrongly, the auditor refuses it.
        """
        ours = [number for number, step in enumerate(self.pair.steps) if step.curves]
        theirs = [True] * len(ours) + [False] if self._bent is None else self._bent
        if sum(theirs) != len(ours) or theirs[-1]:
            raise Refused(
                "the search and the auditor write these networks with another number of steps with a function"
            )
        left = iter(ours)
        return [next(left) if one else NO_NEURONS for one in theirs[:-1]] + [len(self.pair.steps) - 1]

    def reach(self, *nodes: Node, bounds_alone: bool = False) -> Reached:
        """Their enclosures; of one node, the last one is kept, if its forms are."""
        if len(nodes) != 1 or bounds_alone:
            return super().reach(*nodes, bounds_alone=bounds_alone)
        if self._last is None or self._last[0] is not nodes[0]:
            self._last = nodes[0], self._one(nodes[0])
        reached = copy(self._last[1])
        reached.low, reached.high = reached.low.copy(), reached.high.copy()  # a round improves them in place
        return reached

    def _one(self, node: Node) -> Reached:
        """That of a node: where nothing is known of hidden neurons, from that of its box, of which the last is kept."""
        first, last = self.pair.inputs, len(node.low) - 3 * self.pair.widths[-1]
        known = np.isfinite(node.low[first:last]).any() or np.isfinite(node.high[first:last]).any()
        if known and node.assumed and self._session and (ends := self._session.enclosed(node)) is not None:
            return Told(node, *ends, self)
        if known or self.batch == 1:  # of large networks one enclosure at a time is held
            return super().reach(node)
        box = node.low[:first].tobytes() + node.high[:first].tobytes()
        if self._box is None or self._box[0] != box:
            low, high = node.low.copy(), node.high.copy()
            low[last:], high[last:] = -np.inf, np.inf
            self._box = box, super().reach(Node(low, high, node.open))
        return assuming(self._box[1], node)

    def thinned(self, node: Node) -> Node:
        """The node with bounds of a leaf's enclosure, of the auditor's process if there is one; the last is kept."""
        if self._thin is None or self._thin[0] is not node:
            ends = self._session.thinned(node) if self._session is not None and node.assumed else None
            found = super().thinned(node) if ends is None else replace(node, low=ends[0], high=ends[1])
            self._thin = node, found
        return self._thin[1]

    def round(self, node: Node, wanted: Array, rows: Array, multipliers: Array) -> Node:
        """The node that a round leads to, as the auditor's process finds it if there is one."""
        if self._session is not None and node.assumed and not node.infeasible:
            ends = self._session.round(node, wanted, rows, multipliers)
            if ends is not None:
                return replace(node, low=ends[0], high=ends[1])
        return super().round(node, wanted, rows, multipliers)

    def surely_excluded(self, reached: Reached, o: int) -> Array:
        """On which boxes (B,) an obligation contradicts what is known, with some room for rounding."""
        return self.excluded(with_room(reached), o)


class Told(Reached):
    """An enclosure of one node whose bounds (Q,) are known; its forms are made when they are asked for."""

    def __init__(self, node: Node, low: Array, high: Array, proof: Proof) -> None:
        self.pair, self.low, self.high = proof.pair, low[:, None], high[:, None]
        starts = accumulate((3 * width for width in proof.pair.widths), initial=proof.pair.inputs)
        self.parts = [slice(a, b) for a, b in pairwise(starts)]
        self.empty = np.asarray((self.low > self.high).any(axis=0))
        self._stated = {}
        self._made = proof, node

    def __getattr__(self, name: str) -> Any:
        if name not in FORMS:
            raise AttributeError(name)
        whole = Proof.reach(*self._made)
        vars(self).update({one: getattr(whole, one) for one in FORMS})
        return vars(self)[name]


def assuming(reached: Reached, node: Node) -> Reached:
    """The same box, where it is known as well what a node assumes of the rows of the claim."""
    found, part = copy(reached), reached.parts[-1]
    ends = np.maximum(reached.low[part, 0], node.low[part]), np.minimum(reached.high[part, 0], node.high[part])
    found.low, found.high = reached.low.copy(), reached.high.copy()
    better = exchange(*(one.reshape(3, -1, 1) for one in ends))
    found.low[part], found.high[part] = (one.reshape(-1, 1) for one in better)
    found.empty = np.asarray((found.low > found.high).any(axis=0))
    found._stated = {}  # the facts of the rows follow from these bounds
    return found


def with_room(reached: Reached) -> Reached:
    """The same with bounds that are a little wider: beside other boxes the auditor may round otherwise."""
    wide = copy(reached)
    wide.low, wide.high = widened(reached.low, reached.high)
    wide.empty = np.asarray((wide.low > wide.high).any(axis=0))
    return wide
