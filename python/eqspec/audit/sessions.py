"""What the writer of a proof asks on the way: bounds of a node (Q,), and those of the node that a round leads to.

Nothing is shown by these answers. But what a round led to here is known when the draft with that round is audited by
this process, and is not computed twice (`drafts`). Arrays travel as their numpy type and base64 of their bytes.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import numpy as np

from .drafts import Draft
from .opening import balances, question
from .proof import Node
from .rounding import Array


class Sessions:
    """One at a time: the last that was begun."""

    def __init__(self) -> None:
        self._name = ""
        self._proof: Draft | None = None

    @np.errstate(all="ignore")
    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """To {"session", "task", ...}, which begins one, or {"session", "node", ...}; empty if it is not known."""
        if "task" in asked:
            self._name, self._proof = asked["session"], None
            self._proof = Draft(question(asked["task"]), Path(asked["folder"]), np.inf, balances(asked))
            return {"begun": True}
        if self._proof is None or asked["session"] != self._name:
            return {}
        low, high = map(decoded, asked["node"])
        node = Node(low, high, tuple(asked["open"]), assumed=True)
        if "round" in asked:
            after = self._proof.round(node, *map(decoded, asked["round"]))
            return {"node": [encoded(after.low), encoded(after.high)]}
        if "thinned" in asked:
            after = self._proof.thinned(node)
            return {"node": [encoded(after.low), encoded(after.high)]}
        reached = self._proof.reach(node)
        return {"node": [encoded(reached.low[:, 0]), encoded(reached.high[:, 0])]}

    def rest(self) -> None:
        """Give memory back while a certificate is audited."""
        if self._proof is not None:
            self._proof.rest()


def encoded(array: Array) -> list[Any]:
    """As it travels."""
    return [array.dtype.str, array.shape, b64encode(np.ascontiguousarray(array).tobytes()).decode()]


def decoded(parts: list[Any]) -> Array:
    """What travelled."""
    kind, shape, text = parts
    return np.frombuffer(b64decode(text), kind).reshape(shape).copy()
