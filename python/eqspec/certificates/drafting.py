"""From the record of a search to the tree and the rounds of a certificate, in the auditor's format.

The nodes are followed with the auditor's own steps, because facts and their multipliers belong to its enclosures. What
comes out counts for nothing until the auditor has read it. What the search proved on the way down is left to the
leaves, where it mostly holds as well and costs the auditor nothing; what is `early` is proved where the search had it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.audit.bounds import Reached
from eqspec.audit.proof import ASSUME, CUT, LEAF, ROUND, Node, Proof
from eqspec.certificates.multipliers import Ending, Excluded, Round, Rounds, assumed, on_facts
from eqspec.certificates.record import ROOT, Contracted, IncompleteError, Record

Array = NDArray[Any]
Signs = tuple[tuple[int, int, int, bool], ...]
Hints = dict[tuple[bytes, int], Array]
Step = Callable[[], None]
Early = Set[tuple[int, int]]


class Draft:
    """`tree` is complete and the rounds are in the file once it is `drawn`.

    `early` are nodes of the search, by their labels, and obligations that are proved there before the node is halved;
    None for all that the search proved so. `labels` are the nodes that leaves come from, by their place in the tree.
    """

    def __init__(self, events: Record, proof: Proof, rounds: BinaryIO, bits: int, early: Early | None) -> None:
        self.events, self.proof, self.rounds, self.bits, self.early = events, proof, rounds, bits, early
        self.tree: list[tuple[float, float, float]] = []
        self.labels: dict[int, int] = {}
        self.above: dict[int, int] = {}
        self.todo: list[Step] = []
        self.free = np.flatnonzero(proof.region.lower < proof.region.upper)

    def drawn(self) -> Array:
        """The tree (N, 3)."""
        root = self.proof.root()
        begun = bool(self.events.kinds(ROOT))  # else the search saw that both networks are the same
        self.todo = [(lambda: self._node(ROOT, root, {}, ())) if begun else self._leaf]
        while self.todo:
            self.todo.pop()()
        return np.array(self.tree, np.float64).reshape(-1, 3)

    def proved_above(self, failed: Iterable[tuple[int, int]]) -> Early:
        """For leaves, numbered in order, and obligations: the highest node above at which the search had proved it."""
        places, found = [place for place, (kind, *_) in enumerate(self.tree) if kind == LEAF], set()
        for leaf, o in failed:
            label, highest = self.labels[places[leaf]], set()
            while label in self.above:
                label = self.above[label]
                if o not in self.events.halved(label)[2]:
                    highest = {(label, o)}
            found |= highest
        return found

    def _leaf(self, label: int = ROOT) -> None:
        add_leaf(self.tree)
        self.labels[len(self.tree) - 1] = label

    def _later(self, *steps: Step) -> None:
        """These come next, in this order."""
        self.todo += reversed(steps)

    def _node(self, label: int, node: Node, hints: Hints, signs: Signs) -> None:
        """A node of the search, on which what is open there is open."""
        if node.over:
            self._leaf()
            return
        hints = {**hints, **{(k, n): v for k, n, v in map(_hint, self.events.hints(label))}}
        kinds = self.events.kinds(label)
        if b"X" in kinds:
            found = self.events.contracted(label)
            if node.assumed:
                self._contract(found[node.open[0]], node, hints, signs)
            else:
                ours = [o for o in node.open if o in found]
                rest = replace(node, open=tuple(o for o in node.open if o not in found))
                under = [
                    lambda o=o: self._under(o, node, lambda n: self._contract(found[o], n, hints, signs)) for o in ours
                ]
                self._later(*under, lambda: self._closed(label, rest, hints))
        elif b"L" in kinds:
            self._closed(label, node, hints)
        elif b"C" in kinds:
            self._cut(label, node, hints, signs)
        else:
            raise IncompleteError("the record of the proof lacks a part of the tree")

    def _under(self, o: int, node: Node, then: Callable[[Node], None]) -> None:
        """Assume that one obligation fails."""
        self.tree.append((ASSUME, o, 0))
        then(self.proof.under(node, o))

    def _cut(self, label: int, node: Node, hints: Hints, signs: Signs) -> None:
        cut, labels, left = self.events.halved(label)
        index, place = struct.unpack("<Id", cut)
        steps: list[Step] = []
        self.above |= dict.fromkeys(labels, label)
        if not node.assumed:
            whole, here = node, [o for o in node.open if o not in left]
            if self.early is not None:
                here = [o for o in here if (label, o) in self.early]
            steps += [partial(self._under, o, whole, lambda n: self._closed(label, n, hints)) for o in here]
            node = replace(node, open=tuple(o for o in node.open if o not in here))

        def halve() -> None:
            quantity = int(self.free[index])
            self.tree.append((CUT, quantity, place))
            halves = zip(labels, self.proof.halves(node, quantity, place), strict=True)
            self._later(*[lambda n=n, half=half: self._node(n, half, hints, signs) for n, half in halves])

        self._later(*steps, halve)

    def _contract(self, one: Contracted, node: Node, hints: Hints, signs: Signs) -> None:
        rounds = Rounds(self.proof, len(Ending(self.proof, one.obligation).guard), one.rounds)
        self._chain(rounds.read(signs), one, node, hints, signs)

    def _chain(self, rest: Iterator[Round | Excluded], one: Contracted, node: Node, hints: Hints, signs: Signs) -> None:
        """What is left of a contraction, from here on."""
        for step in rest:
            if node.over:
                break
            if isinstance(step, Round):
                node = self._round(node, step)
                continue
            self.tree.append((CUT, step.cut.quantity, step.cut.place))
            halves = self.proof.halves(node, step.cut.quantity, step.cut.place)
            shown = dict(zip((0, 1) if step.which == 2 else (step.which,), step.shown, strict=True))

            def on(half: int, step: Excluded = step, halves: Any = halves, shown: Any = shown) -> None:
                if half in shown:
                    self._shown(halves[half], shown[half])
                else:
                    self._chain(rest, one, halves[half], hints, assumed(signs, step.cut, half))

            self._later(lambda: on(0), lambda: on(1))
            return
        if node.over or not one.children:
            self._leaf()
        elif len(one.children) == 1:
            self._node(one.children[0], node, hints, signs)
        else:
            reader = Rounds(self.proof, 0, one.outcome[1:])
            cut = reader.cut()
            self.tree.append((CUT, cut.quantity, cut.place))
            halves = self.proof.halves(node, cut.quantity, cut.place)
            self._later(
                *[
                    lambda n=n, half=half, k=k: self._node(n, half, hints, assumed(signs, cut, k))
                    for k, (n, half) in enumerate(zip(one.children, halves, strict=True))
                ]
            )

    def _shown(self, node: Node, rounds: tuple[Round, ...]) -> None:
        for one in rounds:
            if node.over:
                break
            node = self._round(node, one)
        self._leaf()

    def _round(self, node: Node, one: Round) -> Node:
        reached = self.proof.reach(node)
        if reached.empty[0]:
            return replace(node, low=reached.low[:, 0], high=reached.high[:, 0])
        return self._conclude(node, *on_facts(self.proof, reached, Ending(self.proof, node.open[0]), one))

    def _conclude(self, node: Node, wanted: Array, rows: Array, multipliers: Array) -> Node:
        multipliers = shortened(multipliers, self.bits)
        self.tree.append((ROUND, 0, 0))
        for array in (wanted, rows, multipliers):
            npy.write_array(self.rounds, np.ascontiguousarray(array), allow_pickle=False)
        return self.proof.round(node, wanted, rows, multipliers)

    def _closed(self, label: int, node: Node, hints: Hints) -> None:
        """A leaf; what the enclosure leaves open there is closed by multipliers that the search had on the way."""
        if node.over or not node.open or not (hints or any(one.exact for one in self.proof.obligations)):
            self._leaf(label)
            return
        reached = self.proof.reach(node)
        done = self.proof.excluded(reached)[:, 0]
        steps: list[Step] = []
        for o in (o for o in node.open if not done[o]):
            found = self._multiplied(node, reached, o, hints)
            if found is not None and node.assumed:
                self._conclude(node, *found)
            elif found is not None:
                steps.append(lambda o=o, found=found: self._under(o, node, lambda n: self._last(n, found)))  # type: ignore[misc]
        self._later(*steps, lambda: self._leaf(label))

    def _last(self, node: Node, found: tuple[Array, ...]) -> None:
        self._conclude(node, *found)
        self._leaf()

    def _multiplied(self, node: Node, reached: Reached, o: int, hints: Hints) -> tuple[Array, ...] | None:
        """One round that contradicts a violation: with multipliers of programs, or with the weights of a softmax."""
        end = Ending(self.proof, o)
        if not end.violation:
            return None
        rows, outputs, regions, tried = len(end.guard), end.outputs, len(end.region), []
        about_guard = (b"g", end.number)
        for key, violation in (((b"m", o), 1.0), (about_guard, 0.0), ((b"g", -1), 0.0)):
            if (y := hints.get(key)) is not None:
                short = rows + outputs + regions - len(y)  # multipliers of the region alone know no guard
                lam, nu, mu = np.split(np.concatenate([np.zeros(short), y]), [rows, rows + outputs])
                tried.append(np.concatenate([nu, np.maximum(lam, 0.0), [violation], np.maximum(mu, 0.0)]))
        if exact := self.proof.obligations[o].exact:
            upper = reached.last()[1][0, list(exact), 0]
            weights = np.exp(-(upper - upper.min()))
            lam = np.concatenate([np.zeros(rows - len(exact)), weights / weights.sum()])
            tried.append(np.concatenate([np.zeros(outputs), lam, np.zeros(1 + regions)]))
        places = np.array([*end.links, *end.guard, *end.violation, *end.region])
        for row in tried:
            used = np.flatnonzero(row)
            used = used[np.argsort(places[used])]
            found = np.zeros(1, np.int32), places[used].astype(np.int32), row[None, used]
            under = self.proof.under(node, o)
            if used.size and self.proof.round(under, *found[:2], shortened(found[2], self.bits)).over:
                return found
        return None


def _hint(event: tuple[bytes, bytes]) -> tuple[bytes, int, Array]:
    kind, data = event
    return kind, struct.unpack_from("<i", data)[0], np.frombuffer(data, "<f8", offset=4)


def add_leaf(tree: list[tuple[float, float, float]]) -> None:
    """What was assumed just before, and excluded without any round, the leaf excludes together with the rest."""
    while [kind for kind, *_ in tree[-2:]] == [ASSUME, LEAF]:
        del tree[-2:]
    tree.append((LEAF, 0, 0))


def shortened(multipliers: Array, bits: int) -> Array:
    """Rounded, because bits that end in zeros are stored short; what is not finite serves nothing."""
    part, power = np.frexp(np.where(np.isfinite(multipliers), multipliers, 0.0))
    rounded: Array = np.ldexp(np.rint(np.ldexp(part, bits)), power - bits)
    short: Array = rounded.astype(np.float32)
    return short if bits <= 24 and np.isfinite(short).all() else np.where(np.isfinite(rounded), rounded, 0.0)
