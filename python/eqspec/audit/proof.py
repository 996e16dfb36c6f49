"""Proofs, checked while they are read: the tree (N, 3) in preorder, then three arrays for every round in it, all in
numpy's format. A record of the tree is
`0`             leaf: everything open is excluded here by the enclosure, or nothing satisfies what is known;
`0 1`           leaf that `grids` may show in exact rationals: of very small networks, where bounds in floats do not;
`1 q place`     two nodes follow, where quantity q is below and above the place: together they cover what was cut;
`2`             a round: bounds of quantities under the assumption, from facts and multipliers; the node goes on;
`2 1`           the same, where bounds from the enclosure of a leaf are taken first: its differences may be thinner;
`3 o`           a node follows on which only the open obligation o is left and assumed to fail; then the node goes on
                without it. What is found out under an assumption stays below that node.
Multipliers are hints: with any others the bounds are valid, and may prove nothing. Boxes and bounds are never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .alone import FEW, chains
from .bounds import Reached, exchange
from .claim import Region, claim
from .grids import exactly
from .opening import Balances, Bounded, array, below, go_on, limits
from .reading import Pair, network
from .rounding import Array, Refused

LEAF, CUT, ROUND, ASSUME = range(4)
_CHILDREN = (0, 2, 1, 2)
_ROUND = (1, 1, 2)
"""Dimensions of the arrays of a round: what it bounds, from which facts, by which multipliers."""


@dataclass(frozen=True)
class Node:
    """What is known of the quantities, low <= q <= high (Q,), and the obligations that are open."""

    low: Array
    high: Array
    open: tuple[int, ...]
    assumed: bool = False

    @property
    def infeasible(self) -> bool:
        """Whether nothing satisfies what is known."""
        return bool((self.low > self.high).any())


class Proof:
    """A proof under audit, refused if that takes longer than `until`. Leaves are bounded many at a time."""

    def __init__(
        self, task: dict[str, Any], folder: Path, until: float = np.inf, balances: Balances = ((), ())
    ) -> None:
        self.until = until
        self.files = first, second = [network(task, role, folder) for role in ("reference", "candidate")]
        *rows, self.obligations = claim(task, first.outputs)
        self.pair = Pair.of(first, second, (rows[0], rows[1]), balances)
        self.region = Region(task, self.pair.inputs)
        self.asked = task, self.files, self.region
        self.chains = chains(self.pair) if np.count_nonzero(self.region.lower < self.region.upper) <= FEW else ((), ())
        self.boxes = [one.box(self.pair.widths[-1]) for one in self.obligations]
        self.batch = max(1, min(256, 2_000_000 // max(1, self.pair.entries), limits.FORM // (4 * self._form())))
        self.waiting: list[tuple[int, Node]] = []
        self.leaves = self.rounds = 0

    def _form(self) -> int:
        """Numbers in the largest enclosure, where every neuron has its generators."""
        wide = self.pair.inputs + sum(3 * step.width for step in self.pair.steps if step.curved)
        return max(1, 3 * wide * max(self.pair.widths))

    def root(self) -> Node:
        """The region, with the obligations that the tree must prove."""
        low, high = (np.full(self.pair.inputs + 3 * sum(self.pair.widths), end) for end in (-np.inf, np.inf))
        low[: self.pair.inputs], high[: self.pair.inputs] = self.region.lower, self.region.upper
        nothing = any(a > b for a, b in zip(self.region.low, self.region.high, strict=True))
        return self.within(Node(low, high, () if nothing else tuple(range(len(self.obligations)))))

    def within(self, node: Node) -> Node:
        """The node, where the constraints of the region cut off what they can."""
        if not len(self.region.rows):
            return node
        n = self.pair.inputs
        left = self.region.shrink(node.low[:n], node.high[:n])
        low, high = (np.concatenate([new, old[n:]]) for new, old in zip(left, (node.low, node.high), strict=True))
        return replace(node, low=low, high=high)

    def halves(self, node: Node, which: int, place: float) -> tuple[Node, Node]:
        """Where a quantity is at most, and where it is at least a number."""
        if not (0 <= which < len(node.low) and np.isfinite(place)):
            raise Refused("a cut that is none")
        low, high = node.low.copy(), node.high.copy()
        low[which], high[which] = max(low[which], place), min(high[which], place)
        return self.within(replace(node, high=high)), self.within(replace(node, low=low))

    def under(self, node: Node, o: int) -> Node:
        """Where the open obligation o fails."""
        low, high, last = node.low.copy(), node.high.copy(), slice(-3 * self.pair.widths[-1], None)
        np.maximum(low[last], self.boxes[o][0].ravel(), out=low[last])
        np.minimum(high[last], self.boxes[o][1].ravel(), out=high[last])
        return Node(low, high, (o,), assumed=True)

    def reach(self, *nodes: Node, bounds_alone: bool = False) -> Reached:
        """Their enclosures."""
        low, high = (np.stack(ends, 1) for ends in ([n.low for n in nodes], [n.high for n in nodes]))
        return Reached(self.pair, low, high, bounds_alone, self.chains)

    def thinned(self, node: Node) -> Node:
        """The node with the bounds of the enclosure that leaves have."""
        reached = self.reach(node, bounds_alone=True)
        return replace(node, low=reached.low[:, 0], high=reached.high[:, 0])

    def round(self, node: Node, wanted: Array, rows: Array, multipliers: Array) -> Node:
        """The node with what these multipliers show under its assumption."""
        if not node.assumed:
            raise Refused("a round that assumes nothing")
        self.rounds += 1
        wanted, rows, multipliers = wanted.astype(np.int64), rows.astype(np.int64), multipliers.astype(np.float64)
        if wanted.ndim != 1 or multipliers.shape != (*wanted.shape, *rows.shape):
            raise Refused("multipliers do not fit what they prove")
        if node.infeasible or not node.open:  # nothing is left to be shown
            return node
        reached = self.reach(node)
        if (len(wanted) + len(rows)) * max(len(wanted), reached.wide) > limits.ROUND:
            raise Refused("a round bounds more quantities, or uses more facts, than the auditor takes at once")
        bounds = reached.least(wanted, rows, multipliers, self.obligations[node.open[0]], self.region)
        low, high, good = reached.low[:, 0], -reached.high[:, 0], np.isfinite(bounds)
        for ends, chosen in ((low, good & (wanted > 0)), (high, good & (wanted < 0))):
            np.maximum.at(ends, np.abs(wanted[chosen]) - 1, bounds[chosen])
        low[0] = np.inf if (bounds[wanted == 0] > 0.0).any() else low[0]
        return replace(node, low=low, high=-high)

    def check(self, file: Bounded, part: tuple[int, int] | None = None) -> tuple[int, int]:
        """Read and check the tree: how many leaves and rounds it has. With a part, the leaves from its first number up
        to its last alone are checked, with what they rest on; a round is counted with the first leaf that rests on it.
        """
        tree, at, todo = array(file, 2, 3 * limits.RECORDS, 3), 0, [self.root()]
        most = max(2, limits.WAITING // (todo[0].low.nbytes + 400))  # and what Python needs for a node
        (first, last), (sizes, leaves) = part or (0, 0), below(tree, _CHILDREN) if part else (tree, tree)
        while todo:
            go_on(len(tree) - at, len(todo), most, self.until)
            if part and not (self.leaves < last and self.leaves + leaves[at] > first):
                todo.pop()
                for dimensions in _ROUND * int((tree[at : at + sizes[at], 0] == ROUND).sum()):
                    array(file, dimensions)
                self.leaves, at = self.leaves + int(leaves[at]), at + int(sizes[at])
                continue
            (kind, which, place), node, at = tree[at], todo.pop(), at + 1
            if kind == LEAF:
                self._wait(node, which == 1 and exactly(self.asked, node.low, node.high, node.open, self.until))
            elif kind == CUT:
                todo += reversed(self.halves(node, int(which), float(place)))
            elif kind == ROUND:
                todo.append(self.round(self.thinned(node) if which == 1 else node, *(array(file, d) for d in _ROUND)))
                self.rounds -= self.leaves < first
            elif kind == ASSUME and int(which) in node.open:
                todo += [replace(node, open=tuple(o for o in node.open if o != which)), self.under(node, int(which))]
            else:
                raise Refused("an unknown record, or a proof of something that is not open")
        if at != len(tree):
            raise Refused("the tree goes on after its end")
        self._flush()
        return self.leaves, self.rounds

    def _wait(self, node: Node, shown: bool = False) -> None:
        if node.open and not (shown or node.infeasible):
            self.waiting.append((self.leaves, node))
        self.leaves += 1
        if len(self.waiting) >= self.batch:
            self._flush()

    def _flush(self) -> None:
        """The enclosures of the leaves that wait must exclude what is open on them."""
        waiting, self.waiting = self.waiting, []
        if waiting:
            reached = self.reach(*(node for _, node in waiting), bounds_alone=True)
            done = {o: self.excluded(reached, o) for o in {o for _, node in waiting for o in node.open}}
        for b, (leaf, node) in enumerate(waiting):
            if left := [(leaf, o) for o in node.open if not done[o][b]]:
                self.refuse(left)

    def refuse(self, unproved: Sequence[tuple[int, int]]) -> NoReturn:
        """What leaves do not show ends the audit."""
        raise Refused("obligation {1} is not proved on leaf {0}".format(*unproved[0]), unproved)

    def excluded(self, reached: Reached, o: int) -> Array:
        """On which boxes (B,) an obligation contradicts what is known."""
        return np.asarray(reached.empty | self.contradicted(o, *reached.last()))

    def contradicted(self, o: int, low: Array, high: Array) -> Array:
        """On which boxes (B,) an obligation contradicts these bounds of the outputs; most rows it says nothing of."""
        (least, most), low, high = self.boxes[o], low.copy(), high.copy()
        rows = np.flatnonzero(((least > -np.inf) | (most < np.inf)).any(axis=(0, 2)))
        ends = np.maximum(low[:, rows], least[:, rows]), np.minimum(high[:, rows], most[:, rows])
        low[:, rows], high[:, rows] = exchange(*ends)
        return np.asarray(self.obligations[o].excluded(low, high))
