"""Leaves that the auditor may decide in exact rationals, as bounds in floats round: asked where nothing else helped.

It is the auditor's own function that is asked, so a leaf that it shows here it shows in the audit.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

from eqspec.audit import Refused
from eqspec.audit.grids import exactly
from eqspec.audit.proof import Node, Proof

WEIGHTS, TRIES, SECONDS = 1024, 8, 0.5
"""Networks with more weights are too large for exact rationals; of smaller ones so many leaves are tried in vain."""


class ExactLeaves:
    """Of one proof."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._tries = TRIES if proof.pair.entries <= WEIGHTS else 0

    def show(self, node: Node) -> bool:
        """Whether exact rationals show what is open on a node."""
        if not self._tries:
            return False
        with suppress(Refused):
            if exactly(self._proof.asked, node.low, node.high, node.open, monotonic() + SECONDS):
                return True
        self._tries -= 1
        return False
