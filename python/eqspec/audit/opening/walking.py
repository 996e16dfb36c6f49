"""The tree of a proof, walked through: refused unless it is one tree, and once the time is up."""

from __future__ import annotations

from time import monotonic

import numpy as np

from ..rounding import Array, Refused


def below(tree: Array, children: tuple[int, ...]) -> tuple[Array, Array]:
    """How many records and how many leaves (N,) each record of a tree in preorder stands for, itself included.

    `children` has the number of nodes that follow a record, by its kind. Refused if this is not one tree.
    """
    counted: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    for kind in tree[::-1, 0].tolist():  # a record comes after all that it stands for
        if kind not in range(len(children)):
            raise Refused("an unknown record, or a proof of something that is not open")
        parts = [waiting.pop() for _ in range(min(children[int(kind)], len(waiting)))]
        if len(parts) < children[int(kind)]:
            raise Refused("the tree ends early: records are missing")
        waiting.append((1 + sum(size for size, _ in parts), sum(few for _, few in parts) if parts else 1))
        counted.append(waiting[-1])
    if len(waiting) != 1:
        raise Refused("the tree goes on after its end" if waiting else "the tree ends early: records are missing")
    sizes, leaves = np.array(counted[::-1], np.int64).T
    return sizes, leaves


def go_on(left: int, waiting: int, most: int, until: float) -> None:
    """Refused if no record is left, if too many nodes wait to be looked at, or if the time is over."""
    if not left:
        raise Refused("the tree ends early: records are missing")
    if waiting > most:
        raise Refused(f"the tree is too deep: more than {most} nodes of it wait to be looked at")
    refuse_if_late(until)


def refuse_if_late(until: float) -> None:
    """Refused if the time is over."""
    if monotonic() > until:
        raise Refused("checking it takes longer than the auditor may; `eqspec audit --timeout` gives it more seconds")
