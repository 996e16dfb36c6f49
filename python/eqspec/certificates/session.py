"""The auditor's process, asked about the nodes of a proof that is being written.

What it finds out for the writer it need not find out again when it audits the draft: so every round is computed once,
and not by the writer too. Where it does not answer, the writer computes by itself.
"""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import Any

from numpy.typing import NDArray

from eqspec.audit.opening import Balances
from eqspec.audit.proof import Node
from eqspec.audit.sessions import decoded, encoded
from eqspec.certificates.auditor import Auditor
from eqspec.errors import EqspecError

Array = NDArray[Any]
LARGEST = 1 << 24
"""Bytes of a round that is sent."""


class Session:
    """Of one proof. It is begun with the first question, and is over for good once a question finds no answer."""

    def __init__(self, auditor: Auditor, task: dict[str, Any], folder: Path, balances: Balances) -> None:
        self._auditor, self._name, self._over = auditor, token_hex(8), False
        told = {"balances": balances} if any(balances) else {}
        self._begin: dict[str, Any] | None = {"task": task, "folder": str(folder), **told}

    def enclosed(self, node: Node) -> tuple[Array, Array] | None:
        """Bounds (Q,) of all quantities on a node under an assumption, as its enclosure has them."""
        return self._asked(node)

    def thinned(self, node: Node) -> tuple[Array, Array] | None:
        """Bounds (Q,) of all quantities on it, as the enclosure of a leaf has them."""
        return self._asked(node, thinned=True)

    def round(self, node: Node, *found: Array) -> tuple[Array, Array] | None:
        """Bounds (Q,) of the node that a round leads to; one that is too large to be sent finds no answer."""
        if sum(array.nbytes for array in found) > LARGEST:
            return None
        return self._asked(node, round=[encoded(array) for array in found])

    def _asked(self, node: Node, **more: Any) -> tuple[Array, Array] | None:
        begin, self._begin = self._begin, None
        if begin is not None:
            self._over = not self._told(begin)
        if self._over:
            return None
        ends = [encoded(node.low), encoded(node.high)]
        answer = self._told({"node": ends, "open": node.open, **more})
        self._over = not answer
        return (decoded(answer["node"][0]), decoded(answer["node"][1])) if answer else None

    def _told(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._auditor.told({"session": self._name, **request})
        except EqspecError:  # its process ended
            return {}
