"""The tree of a certificate, as commands for the kernel's prover.

Cuts and assumptions become records; a leaf becomes `P`, prove this node. Where several leaves follow, the prover first
tries to close the whole subtree (`Q`), since its bounds differ from those that the certificate was made with. Rounds of
multipliers are told as such (`M`); the weights of a confidence are read from them as well. Nothing of this is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eqspec.audit.opening import Bounded, array, limits
from eqspec.audit.proof import ASSUME, CUT, LEAF, ROUND
from eqspec.audit.rounding import Array, Refused
from eqspec.lazy_dataclass import dataclass

from .rounds import Facts, Places, round_of

KINDS = "xyd"
DEPTH = 40
"""How often the prover may split a leaf of the certificate."""


@dataclass(frozen=True)
class Guarded:
    """Where multipliers of a confidence are among those of a round, and what is found of them while a tree is read."""

    first_fact: int
    outputs: int
    found: list[tuple[int, Array]]  # the class that is first, and weights (F, outputs) of the others

    def read(self, obligation: int, rows: Array, multipliers: Array) -> None:
        """Take those of one round, under this obligation of the certificate."""
        k, others = obligation // (self.outputs - 1), self.outputs - 1
        behind = np.array([j for j in range(self.outputs) if j != k])
        some = (rows >= self.first_fact) & (rows < self.first_fact + others)
        if multipliers.shape[1:] == rows.shape and some.any():
            weights = np.zeros((len(multipliers), self.outputs))
            weights[:, behind[rows[some].astype(int) - self.first_fact]] = np.maximum(multipliers[:, some], 0.0)
            self.found.append((k, weights))


@dataclass(frozen=True)
class Quantities:
    """How a certificate numbers them: inputs, then x, y and d of every step; the last may be rows of the claim."""

    places: Places
    grain: int
    facts: Facts
    guarded: Guarded | None = None

    def cut(self, which: int, place: float) -> str:
        """The record of a cut."""
        at = round(Fraction(place) * self.grain)
        if which < self.places.inputs:
            return f"I {which} {at}"
        which -= self.places.inputs
        for step, width in enumerate(self.places.widths):
            if which < 3 * width:
                kind, row = divmod(which, width)
                layer, neuron = self.places.place(step, row)
                return f"C {layer} {neuron} {KINDS[kind]} {at}"
            which -= 3 * width
        raise Refused("a cut of a quantity that there is not")

    def round(self, open_: Sequence[int], arrays: tuple[Array, Array, Array]) -> str | None:
        """The command of a round, under what is open."""
        guard = None if self.guarded is None or len(open_) != 1 else open_[0] // (self.guarded.outputs - 1)
        return round_of(self.places, self.facts, guard, arrays)


def commands(file: Bounded, quantities: Quantities, obligations: Sequence[int]) -> list[str]:
    """The commands of a tree; `obligations` are the kernel's numbers of those of the certificate."""
    tree = array(file, 2, 3 * limits.RECORDS, 3)
    records, leaves = subtrees(tree[:, 0].astype(int))
    todo = [(tuple(obligations), 0)]
    found, tries = list[str](), list[tuple[int, int]]()  # where a try is among the commands, where its subtree ends
    for at, (kind, which, place) in enumerate(tree):
        _fill(found, tries, at)
        open_, tried = todo.pop()
        if leaves[at] > 1 and (not tried or 2 * leaves[at] <= tried) and kind != ROUND:
            tries.append((len(found), at + records[at]))
            found.append("Q")
            tried = leaves[at]
        if kind == LEAF:
            found.append(f"P {DEPTH}")
        elif kind == CUT:
            found.append(quantities.cut(int(which), float(place)))
            todo += [(open_, tried)] * 2
        elif kind == ROUND:
            wanted, rows, multipliers = (array(file, dimensions) for dimensions in (1, 1, 2))
            if quantities.guarded is not None and len(open_) == 1:
                quantities.guarded.read(open_[0], rows, multipliers)
            text = quantities.round(open_, (wanted, rows, multipliers))
            if text is not None:
                tries.append((len(found), at + records[at]))
                found.append(text)
            todo.append((open_, tried))
        elif kind == ASSUME and 0 <= which < len(obligations) and obligations[int(which)] in open_:
            o = obligations[int(which)]
            tries.append((len(found), at + 1 + records[at + 1]))
            found.append(f"O {o}")
            todo += [(tuple(p for p in open_ if p != o), tried), ((o,), tried)]
        else:
            raise Refused("an unknown record, or a proof of something that is not open")
    _fill(found, tries, len(tree))
    return found


def _fill(found: list[str], tries: list[tuple[int, int]], at: int) -> None:
    """Tries and assumptions whose subtrees are complete say how many commands these have."""
    while tries and tries[-1][1] <= at:
        place, _ = tries.pop()
        found[place] += f" {len(found) - place - 1}"


def subtrees(kinds: Array) -> tuple[list[int], list[int]]:
    """How many records each node of a tree in preorder has, with those below it, and how many leaves."""
    children = np.select([kinds == LEAF, kinds == ROUND], [0, 1], 2).tolist()
    records, leaves, stack = [1] * len(kinds), [1] * len(kinds), list[int]()
    for at in range(len(kinds) - 1, -1, -1):
        if len(stack) < children[at]:
            raise Refused("the tree ends before it is complete")
        below = [stack.pop() for _ in range(children[at])]
        if below:
            leaves[at] = sum(leaves[b] for b in below)
            records[at] += sum(records[b] for b in below)
        stack.append(at)
    if len(stack) != 1:
        raise Refused("the tree goes on after its end")
    return records, leaves
