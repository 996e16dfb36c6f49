"""From the record of a search to the tree and the rounds of a certificate, in the auditor's format.

The nodes are followed with the auditor's own steps, because facts and their multipliers belong to its enclosures. What
comes out counts for nothing until the auditor has read it. What the search proved above a leaf is left to the leaf,
where it mostly holds as well and costs the auditor nothing. Where it does not hold there, it is in `proved_above`, and
is proved at the node where the search had proved it.

Rounds begin with what the enclosure of facts gives, although the search has thinner differences: to enclose a node both
ways takes the auditor half as long again. Where that loses a sign, slopes of the search fit no more, and each round is
weaker than the one it stands for. So an assumption whose rounds leave something open is followed once more, with rounds
that begin with the thinner bounds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from eqspec.audit.bounds import Reached
from eqspec.audit.proof import ASSUME, CUT, LEAF, ROUND, Node
from eqspec.certificates.cached_proof import CachedProof, with_room
from eqspec.certificates.deadline import ENDLESS, Deadline
from eqspec.certificates.exact_leaves import ExactLeaves
from eqspec.certificates.fact_multipliers import Found, ImpossibleHalf, LastLayerFacts, Round, Rounds, assumed, on_facts
from eqspec.certificates.halving import Tree, parts
from eqspec.certificates.record import ROOT, Contracted, IncompleteError, Record
from eqspec.certificates.settling import Settling
from eqspec.lazy_dataclass import dataclass
from eqspec.lp import HighsSolver

Array = NDArray[Any]
Signs = tuple[tuple[int, int, int, bool], ...]
Hints = dict[tuple[bytes, int], Array]
Step = Callable[[], None]
Doubts = Set[tuple[int, int]]

BITS = (15, 24, 53)
"""To how many bits multipliers are rounded: bounds to the first, a contradiction to the first that shows it."""
SETTLED, SETTLED_AT_JUMPS = 1024, 128
"""So many nodes of one certificate are settled by programs of our own; more would take longer than anybody waits.

Both sides of a cut have the place itself, and so both levels of a quantiser that jumps there: more seldom helps.
"""
NOTHING: Found = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 0)))
"""A round that bounds nothing by itself: where none is needed, or only what its enclosure knows."""


@dataclass(frozen=True)
class Start:
    """Where something was assumed: the records, the bytes of rounds and the steps that there were, and how to assume it
    again, with `thinner` rounds.
    """

    records: int
    written: int
    steps: int
    again: Step


class ProofConstruction:
    """`tree` is complete and the rounds are in the file once `build` has returned.

    `doubts` are obligations that leaves do not show, with the nodes of the search that these leaves come from, by their
    labels. Those that are known are proved where the search had proved them first, or else are settled on the leaf;
    those that are met on the way are added. `labels` are the nodes that leaves come from, by their place in the tree.
    """

    def __init__(
        self, events: Record, proof: CachedProof, rounds: BinaryIO, doubts: Doubts, deadline: Deadline = ENDLESS
    ) -> None:
        self.events, self.proof, self.rounds, self.deadline = events, proof, rounds, deadline
        self.known, self.doubts = frozenset(doubts), set(doubts)
        self.tree: list[tuple[float, float, float]] = []
        self.labels: dict[int, int] = {}
        self.todo: list[Step] = []
        self.free = np.flatnonzero(proof.region.lower < proof.region.upper)
        self.proved_above = self._find_proved_above()
        self.solver, self.settled = HighsSolver(), 0
        self.exact = ExactLeaves(proof)
        curves = {curve.name for step in proof.pair.steps for curve in (*step.curves, *step.others)}
        jumps = bool(curves & {"levels", "multiples"})
        self.most_settled = SETTLED_AT_JUMPS if jumps else SETTLED
        self.helped = bool(events.met & {b"M", b"G"}) or any(one.exact for one in proof.obligations)
        self.shown: dict[int, set[int]] = {}
        self.parts: dict[int, Tree] = {}
        self.thinner = False
        self.start: Start | None = None

    def build(self) -> Array:
        """The tree (N, 3); IncompleteError if the record lacks something, or the time is over."""
        root = self.proof.root()
        begun = bool(self.events.kinds(ROOT))  # else the search saw that both networks are the same
        if begun and self.helped:
            self._survey(root)
        elif begun and self.known:
            self._take_leaves_apart(root)
        self.todo = [lambda: self._node(ROOT, root, {}, ()) if begun else self._closed(ROOT, root, {})]
        while self.todo:
            self.deadline.keep()
            self.todo.pop()()
        return np.array(self.tree, np.float64).reshape(-1, 3)

    def _survey(self, root: Node) -> None:
        """What enclosures show on the leaves that assume nothing, by the labels of their nodes: many at a time."""
        leaves = iter(self._leaves(root))
        while waiting := list(islice(leaves, self.proof.batch)):
            self.deadline.keep()
            wide = with_room(self.proof.reach(*(one for _, one in waiting)))
            done = [self.proof.excluded(wide, o) for o in root.open]
            for b, (one, _) in enumerate(waiting):
                self.shown[one] = {o for o, excluded in zip(root.open, done, strict=True) if excluded[b]}

    def _take_leaves_apart(self, root: Node) -> None:
        """Trees for the leaves on which anything is in doubt, the parts of which exclude all that is open."""
        doubted = {label for label, _ in self.known}
        nodes = {label: node for label, node in self._leaves(root) if label in doubted}
        found = zip(nodes, parts(self.proof, list(nodes.values()), self.deadline), strict=True)
        self.parts = {label: tree for label, tree in found if tree is not None}

    def _leaves(self, root: Node) -> Iterator[tuple[int, Node]]:
        """The leaves of the search that assume nothing, where there may be something."""
        todo = [(ROOT, root)]
        while todo:
            label, node = todo.pop()
            if node.infeasible:
                continue
            if b"C" in self.events.kinds(label):
                cut, halves, _ = self.events.halved(label)
                index, place = struct.unpack("<Id", cut)
                todo += zip(halves, self.proof.halves(node, int(self.free[index]), place), strict=True)
            else:
                yield label, node

    def doubt(self, failed: Iterable[tuple[int, int]]) -> None:
        """Leaves, numbered in order, do not show obligations."""
        places = [place for place, (kind, *_) in enumerate(self.tree) if kind == LEAF]
        self.doubts |= {(self.labels[places[leaf]], o) for leaf, o in failed if places[leaf] in self.labels}

    def _find_proved_above(self) -> Set[tuple[int, int]]:
        """For what is in doubt, the highest node above at which the search had proved it."""
        above = self.events.above() if self.known else {}
        found = set()
        for label, o in self.known:
            highest = set()
            while label in above:
                label = above[label]
                if o not in self.events.halved(label)[2]:
                    highest = {(label, o)}
            found |= highest
        return found

    def _leaf(self, label: int | None = None) -> None:
        add_leaf(self.tree)
        if label is not None:
            self.labels[len(self.tree) - 1] = label

    def _began_again(self) -> bool:
        """Go back to the last assumption, if rounds followed it that were not thinner; whether that was done."""
        start = self.start
        if start is None or start.written == self.rounds.tell():
            return False
        del self.tree[start.records :], self.todo[start.steps :]
        self.rounds.truncate(start.written)
        self.rounds.seek(start.written)
        self._later(start.again)
        return True

    def _later(self, *steps: Step) -> None:
        """These come next, in this order."""
        self.todo += reversed(steps)

    def _node(self, label: int, node: Node, hints: Hints, signs: Signs) -> None:
        """A node of the search, on which what is open there is open."""
        if node.infeasible:
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

    def _under(self, o: int, node: Node, then: Callable[[Node], None], thinner: bool = False) -> None:
        """Assume that one obligation fails."""
        again = partial(self._under, o, node, then, thinner=True)
        self.thinner = thinner
        self.start = None if thinner else Start(len(self.tree), self.rounds.tell(), len(self.todo), again)
        self.tree.append((ASSUME, o, 0))
        then(self.proof.under(node, o))

    def _cut(self, label: int, node: Node, hints: Hints, signs: Signs) -> None:
        cut, labels, left = self.events.halved(label)
        index, place = struct.unpack("<Id", cut)
        steps: list[Step] = []
        here = [o for o in node.open if o not in left and (label, o) in self.proved_above]
        if here and not node.assumed:
            shown = {o: found for o, found in self._shown_by_hints(node, here, hints).items() if found is not None}
            for o, found in shown.items():
                steps.append(partial(self._under, o, node, partial(self._last, found)))
            node = replace(node, open=tuple(o for o in node.open if o not in shown))

        def halve() -> None:
            quantity = int(self.free[index])
            self.tree.append((CUT, quantity, place))
            halves = zip(labels, self.proof.halves(node, quantity, place), strict=True)
            self._later(*[lambda n=n, half=half: self._node(n, half, hints, signs) for n, half in halves])

        self._later(*steps, halve)

    def _contract(self, one: Contracted, node: Node, hints: Hints, signs: Signs) -> None:
        rounds = Rounds(self.proof, len(LastLayerFacts(self.proof, one.obligation).guard), one.rounds)
        self._chain(rounds.read(signs), one, node, hints, signs)

    def _chain(
        self, rest: Iterator[Round | ImpossibleHalf], one: Contracted, node: Node, hints: Hints, signs: Signs
    ) -> None:
        """What is left of a contraction, from here on."""
        for step in rest:
            if node.infeasible:
                break
            if isinstance(step, Round):
                node = self._round(node, step)
                continue
            self.tree.append((CUT, step.cut.quantity, step.cut.place))
            halves = self.proof.halves(node, step.cut.quantity, step.cut.place)
            shown = dict(zip((0, 1) if step.which == 2 else (step.which,), step.shown, strict=True))

            def on(half: int, step: ImpossibleHalf = step, halves: Any = halves, shown: Any = shown) -> None:
                if half in shown:
                    self._shown(halves[half], shown[half])
                else:
                    self._chain(rest, one, halves[half], hints, assumed(signs, step.cut, half))

            self._later(lambda: on(0), lambda: on(1))
            return
        if node.infeasible:
            self._leaf()
        elif not one.children:
            self._settle(node)
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
            if node.infeasible:
                break
            node = self._round(node, one)
        self._settle(node)

    def _round(self, node: Node, one: Round) -> Node:
        start = self._begins(node)
        if start.infeasible:
            return start
        reached = self.proof.reach(start)
        if reached.empty[0] and self._excluded(node):
            return replace(node, low=reached.low[:, 0], high=reached.high[:, 0])
        return self._bound(node, on_facts(self.proof, reached, LastLayerFacts(self.proof, node.open[0]), one))

    def _begins(self, node: Node) -> Node:
        """What a round on this node begins with."""
        return self.proof.thinned(node) if self.thinner else node

    def _bound(self, node: Node, found: Found) -> Node:
        found = *found[:2], shortened(found[2], BITS[0])
        self._write(found)
        return self.proof.round(self._begins(node), *found)

    def _write(self, found: Found) -> None:
        """A round with these multipliers as they are."""
        self.tree.append((ROUND, int(self.thinner), 0))
        for array in found:
            npy.write_array(self.rounds, np.ascontiguousarray(array), allow_pickle=False)

    def _closed(self, label: int, node: Node, hints: Hints) -> None:
        """A leaf; what the enclosure leaves open there is closed by multipliers that the search had on the way."""
        if node.assumed:
            self._settle(node, hints)
            return
        doubted = {o for o in node.open if (label, o) in self.known}
        if doubted and (tree := self.parts.get(label)) is not None:
            self.tree += tree
            return
        left = [o for o in node.open if o in doubted or o not in self.shown.get(label, ())]
        if node.infeasible or not left or not (doubted or self.helped):
            self._leaf(label)
            return
        steps: list[Step] = []
        # Where no multipliers were met, there is nothing to look for: what is in doubt the enclosure does not show.
        shown = self._shown_by_hints(node, left, hints) if self.helped else dict.fromkeys(sorted(doubted))
        for o, found in shown.items():
            if found is not None and len(found[0]):
                steps.append(partial(self._under, o, node, partial(self._last, found)))
            elif o in doubted:
                steps.append(partial(self._under, o, node, self._take_apart))
            elif found is None:
                self.doubts.add((label, o))
        self._later(*steps, lambda: self._leaf(label))

    def _shown_by_hints(self, node: Node, some: Iterable[int], hints: Hints) -> dict[int, Found | None]:
        """For obligations, the round that shows them (an empty one where the enclosure does), or None."""
        reached = self.proof.reach(node)
        return {
            o: NOTHING if self.proof.surely_excluded(reached, o)[0] else self._multiplied(node, reached, o, hints)
            for o in some
        }

    def _last(self, found: Found, _: Node) -> None:
        """A round that contradicts what is known of the node, if one is needed, and nothing after it."""
        if len(found[0]):
            self._write(found)
        self._leaf()

    def _excluded(self, node: Node) -> bool:
        """Whether the enclosure of a round contradicts an assumption. If that of a leaf does not, a round that bounds
        nothing by itself has the leaf know of it.
        """
        if node.infeasible:
            return True
        if not self.proof.surely_excluded(self.proof.reach(self._begins(node)), node.open[0])[0]:
            return False
        if not self.proof.surely_excluded(self.proof.reach(node, bounds_alone=True), node.open[0])[0]:
            self._write(NOTHING)
        return True

    def _settle(self, node: Node, hints: Hints | None = None) -> None:
        """A node under an assumption, which the enclosure contradicts, or multipliers, or else those of its parts."""
        if not self._excluded(node):
            found = self._multiplied(node, self.proof.reach(node), node.open[0], hints) if hints else None
            if found is None:
                self._take_apart(node)
                return
            self._write(found)
        self._leaf()

    def _take_apart(self, node: Node) -> None:
        """A few cuts, or else multipliers of our own; and if these do not suffice, the node is cut where they say."""
        if (tree := parts(self.proof, [node], self.deadline)[0]) is not None:
            self.tree += tree
            return
        if self._began_again():
            return
        self.settled += 1
        for again in range(2):
            start = self._begins(node)
            program = Settling(self.proof, start, self.proof.reach(start), self.solver, self.deadline)
            if (found := self._contradicting(node, program.contradiction())) is not None:
                self._last(found, node)
                return
            if again or (found := program.bounds()) is None:
                break
            node = self._bound(node, found)
            if self._excluded(node):
                self._leaf()
                return
        if self.exact.show(node):
            self.tree.append((LEAF, 1, 0))
            return
        if self.settled >= self.most_settled or (cut := program.cut()) is None:
            raise IncompleteError(f"obligation {node.open[0]} stays open in the enclosures of the auditor")
        self.tree.append((CUT, *cut))
        self._later(*[partial(self._settle, half) for half in self.proof.halves(node, *cut)])

    def _contradicting(self, node: Node, found: Found | None) -> Found | None:
        """Multipliers rounded to as few bits as still show that nothing satisfies what is known, if they do."""
        if found is None or not found[1].size:
            return None
        for bits in BITS:
            short = *found[:2], shortened(found[2], bits)
            if self.proof.round(self._begins(node), *short).infeasible:
                return short
        return None

    def _multiplied(self, node: Node, reached: Reached, o: int, hints: Hints) -> Found | None:
        """One round that contradicts a violation: with multipliers of programs, or with the weights of a softmax."""
        end = LastLayerFacts(self.proof, o)
        if not end.violation:
            return None
        rows, outputs, regions, tried = len(end.guard), end.outputs, len(end.region), []
        about_guard = (b"g", end.number)
        for key, violation in (((b"m", o), 1.0), (about_guard, 0.0), ((b"g", -1), 0.0)):
            if (y := hints.get(key)) is not None:
                missing = rows + outputs + regions - len(y)  # multipliers of the region alone know no guard
                lam, nu, mu = np.split(np.concatenate([np.zeros(missing), y]), [rows, rows + outputs])
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
            if (short := self._contradicting(node if node.assumed else self.proof.under(node, o), found)) is not None:
                return short
        return None


def _hint(event: tuple[bytes, bytes]) -> tuple[bytes, int, Array]:
    kind, data = event
    return kind, struct.unpack_from("<i", data)[0], np.frombuffer(data, "<f8", offset=4)


def add_leaf(tree: list[tuple[float, float, float]]) -> None:
    """What was assumed just before, and excluded without any round, the leaf excludes together with the rest."""
    while tree[-1:] == [(LEAF, 0, 0)] and [kind for kind, *_ in tree[-2:-1]] == [ASSUME]:
        del tree[-2:]
    tree.append((LEAF, 0, 0))


def shortened(multipliers: Array, bits: int) -> Array:
    """Rounded, because bits that end in zeros are stored short; what is not finite serves nothing."""
    part, power = np.frexp(np.where(np.isfinite(multipliers), multipliers, 0.0))
    rounded: Array = np.ldexp(np.rint(np.ldexp(part, bits)), power - bits)
    short: Array = rounded.astype(np.float32)
    return short if bits <= 24 and np.isfinite(short).all() else np.where(np.isfinite(rounded), rounded, 0.0)
