"""Certificates, checked while they are read: gzip of a JSON line with format, verdict and task, and for `equivalent`
arrays in numpy's format: the tree (N, 3) in preorder, then three for every round in it. A record of the tree is
`0`             leaf: everything open is excluded here by the enclosure, or nothing satisfies what is known;
`1 q place`     two nodes follow, where quantity q is below and above the place: together they cover what was cut;
`2`             a round: bounds of quantities under the assumption, from facts and multipliers; the node goes on;
`3 o`           a node follows on which only the open obligation o is left and assumed to fail; then the node goes on
                without it. What is found out under an assumption stays below that node.
Multipliers are hints: with any others the bounds are valid, and may prove nothing. Boxes and bounds are never stored.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from .bounds import Reached, distance
from .claim import Region, obligations
from .forms import Pair
from .networks import network
from .rounding import Array, Refused
from .witness import breaks

FORMAT = "eqspec-certificate/2"
LEAF, CUT, ROUND, ASSUME = range(4)


@dataclass(frozen=True)
class Audit:
    """What a certificate shows: the verdict, the claim in words, and how much was checked."""

    verdict: str
    claim: str
    leaves: int = 0
    rounds: int = 0


def audit(path: Path, folder: Path | None = None) -> Audit:
    """Check a certificate, with the networks where the task says, or in `folder`. Refused if it does not hold."""
    try:
        with np.errstate(all="ignore"), gzip.open(path, "rb") as file:
            return _audit(file, folder or path.parent)  # type: ignore[arg-type]
    except Refused:
        raise
    except Exception as problem:  # whatever went wrong, nothing is shown
        raise Refused(f"this is no certificate: {type(problem).__name__}: {problem}") from None


def _audit(file: BinaryIO, folder: Path) -> Audit:
    header = json.loads(file.readline(1 << 28))
    if header["format"] != FORMAT or header["task"]["schema"] != "eqspec-task/1":
        raise Refused("this is no certificate of a format that this auditor reads")
    if np.float64(2.0**-1074) == 0.0 or 1.0 + 2.0**-53 != 1.0 or np.float64(2.0**-1074) / 2.0 != 0.0:
        raise Refused("this processor does not round as binary64 asks")
    task, verdict = header["task"], header["verdict"]
    if task.get("arithmetic", "real") != "real":
        raise Refused("the auditor only knows exact arithmetic on the stored weights")
    first, second = network(task, "reference", folder), network(task, "candidate", folder)
    if verdict == "different":
        breaks(task, Region(task, first.inputs), first, second, header["witness"])
        found = Audit(verdict, task["claim"])
    elif verdict == "equivalent":
        found = Proof(task, Pair(first.layers(), second.layers())).check(file)
    else:
        raise Refused(f"{verdict!r} is nothing that can be certified")
    if file.read(1):  # at the end, gzip compares its sum
        raise Refused("it goes on after its end")
    return found


@dataclass
class Node:
    """What is known of the quantities, low <= q <= high (Q,), and the obligations that are open."""

    low: Array
    high: Array
    open: tuple[int, ...]
    assumed: bool = False
    over: bool = False
    reached: Reached | None = None


class Proof:
    """A proof under audit. Leaves are bounded many at a time."""

    def __init__(self, task: dict[str, Any], pair: Pair) -> None:
        self.pair, self.claim, self.region = pair, task["claim"], Region(task, pair.inputs)
        self.guards, self.obligations = obligations(task, pair.outputs)
        self.waiting: list[Node] = []
        self.batch = max(1, min(256, 3_000_000 // sum(layer.c.size for layer in pair.first)))
        self.leaves = self.rounds = 0

    def root(self) -> Node:
        """The region, with the obligations that the tree must prove."""
        low, high = (np.full(self.pair.inputs + 3 * sum(self.pair.widths), end) for end in (-np.inf, np.inf))
        low[: self.pair.inputs], high[: self.pair.inputs] = self.region.lower, self.region.upper
        nothing = any(a > b for a, b in zip(self.region.low, self.region.high, strict=True))
        open_ = tuple(o for o in range(len(self.obligations)) if not nothing and not self._settled(o))
        return self.within(Node(low, high, open_))

    def _settled(self, o: int) -> bool:
        """One function against itself, D = 0: the violation is v.f1 + v0, v = 0, or contradicts a guard -v.f1 + c."""
        one = self.obligations[o]
        if not self.pair.identical:
            return False
        v: Array = one.writings[0].reshape(3, -1)[:2].sum(0) if len(one.writings) else np.zeros(1)
        guard = self.guards[one.guard] if one.guard is not None else None
        against = guard is not None and ((guard.rows == -v).all(1) & (guard.constants <= 0.0)).any()
        excluded = bool(one.excluded_by(np.array(one.constant)))
        return (not v.any() and excluded) or (bool(against) and one.constant == 0.0 and not one.strict)

    def within(self, node: Node) -> Node:
        """The node, where the constraints of the region cut off what they can."""
        n = self.pair.inputs
        left = self.region.shrink(node.low[:n], node.high[:n])
        if left is None:
            return replace(node, over=True)
        low, high = (np.concatenate([new, old[n:]]) for new, old in zip(left, (node.low, node.high), strict=True))
        return replace(node, low=low, high=high, over=bool(node.over or (low > high).any()))

    def halves(self, node: Node, which: int, place: float) -> tuple[Node, Node]:
        """Where a quantity is at most, and where it is at least a number."""
        if not (0 <= which < len(node.low) and np.isfinite(place)):
            raise Refused("a cut that is none")
        low, high = node.low.copy(), node.high.copy()
        low[which], high[which] = max(low[which], place), min(high[which], place)
        lower, upper = replace(node, high=high, reached=None), replace(node, low=low, reached=None)
        return self.within(lower), self.within(upper)

    def reach(self, node: Node) -> Reached:
        """The node's enclosure."""
        return node.reached or Reached(self.pair, node.low[:, None], node.high[:, None])

    def round(self, node: Node, wanted: Array, rows: Array, multipliers: Array) -> Node:
        """The node with what these multipliers show under its assumption."""
        if not node.assumed or not len((failing := self.obligations[node.open[0]]).writings):
            raise Refused("a round that assumes nothing, or what is not linear")
        self.rounds += 1
        wanted, rows, multipliers = wanted.astype(np.int64), rows.astype(np.int64), multipliers.astype(np.float64)
        if wanted.ndim != 1 or multipliers.shape != (*wanted.shape, *rows.shape):
            raise Refused("multipliers do not fit what they prove")
        if node.over:
            return node
        reached = self.reach(node)
        guard = self.guards[failing.guard] if failing.guard is not None else None
        bounds = reached.least(wanted, rows, multipliers, failing, guard, self.region)
        low, high = reached.low[:, 0].copy(), reached.high[:, 0].copy()
        good = np.isfinite(bounds)
        for ends, sign in ((low, 1), (-high, -1)):
            chosen = good & (wanted * sign > 0)
            np.maximum.at(ends, np.abs(wanted[chosen]) - 1, bounds[chosen])
            if sign < 0:
                high = -ends
        over = bool(reached.empty[0] or (low > high).any() or (bounds[wanted == 0] > 0.0).any())
        same = np.array_equal(low, reached.low[:, 0]) and np.array_equal(high, reached.high[:, 0])
        return replace(node, low=low, high=high, over=over, reached=reached if same else None)

    def check(self, file: BinaryIO) -> Audit:
        """Read and check the tree."""
        tree, at, todo = npy.read_array(file, allow_pickle=False), 0, [self.root()]
        while todo:
            (kind, which, place), node, at = tree[at], todo.pop(), at + 1
            if kind == LEAF:
                self._wait(node)
            elif kind == CUT:
                todo += reversed(self.halves(node, int(which), float(place)))
            elif kind == ROUND:
                arrays = [npy.read_array(file, allow_pickle=False) for _ in range(3)]
                todo.append(self.round(node, *arrays))
            elif kind == ASSUME and int(which) in node.open:
                if tree[at][0] == ROUND and not node.over:
                    node.reached = self.reach(node)  # which both have
                rest = tuple(o for o in node.open if o != int(which))
                todo += [replace(node, open=rest), replace(node, open=(int(which),), assumed=True)]
            else:
                raise Refused("an unknown record, or a proof of something that is not open")
        if at != len(tree):
            raise Refused("the tree goes on after its end")
        self._flush()
        return Audit("equivalent", self.claim, self.leaves, self.rounds)

    def _wait(self, node: Node) -> None:
        self.leaves += 1
        if node.open and not node.over:
            self.waiting.append(replace(node, reached=None))
        if len(self.waiting) >= self.batch:
            self._flush()

    def _flush(self) -> None:
        """Raise Refused unless the enclosures exclude what is open on the leaves that wait."""
        nodes, self.waiting = self.waiting, []
        if nodes:
            done = self.excluded(
                Reached(self.pair, *(np.array([getattr(n, e) for n in nodes]).T for e in ("low", "high")))
            )
            for b, node in enumerate(nodes):
                for o in node.open:
                    if not done[o, b]:
                        raise Refused(f"obligation {o} is not proved on a leaf")

    def excluded(self, reached: Reached) -> Array:
        """Which obligations are excluded on which boxes: by a row, a norm, a guard, or because nothing is there."""
        last = reached.parts[-1]
        low, high = (ends[last].reshape(3, self.pair.outputs, -1)[2] for ends in (reached.low, reached.high))
        rows = [self._negative(reached, guard.rows, guard.constants) for guard in self.guards]
        done = []
        for one in self.obligations:
            found = reached.empty | (rows[one.guard] if one.guard is not None else False)
            upper = reached.most(one.writings, np.full(len(one.writings), one.constant))
            found = found | one.excluded_by(upper).any(axis=0)
            done.append(found | (distance(one, low, high) <= 0.0) if one.norm else found)
        return np.array(done)

    def _negative(self, reached: Reached, rows: Array, constants: Array) -> Array:
        """Where f1 cannot satisfy all rows."""
        over = np.pad(rows, ((0, 0), (0, 2 * self.pair.outputs)))
        return np.asarray((reached.most(over, constants) < 0.0).any(axis=0))
