"""The pairs of a run for the core, each made once.

Neurons that are alike may stand side by side (`networks.matching`). Quantised networks may be given as what they are in
the box of a task alone (`networks.unwrapping`): a proof covers what equals them there. Products are given with factors
that vary alike in the box (`balances`), and are the same functions.
"""

from __future__ import annotations

import pickle

from eqspec.networks import Network, match
from eqspec.networks.balancing import Balance, balanced
from eqspec.networks.unwrapping import Pattern, saturating, within_types
from eqspec.property import Decision
from eqspec.run import core
from eqspec.run.balances import balances_in
from eqspec.run.core_pairs import pair_of
from eqspec.tasks.task import Task

_MOST_BOXES = 16
"""The most networks simplified for one box, and pairs with products balanced for one box, that are kept."""


class Pairs:
    """Pairs for the core, aligned, each made once for as long as this lives."""

    def __init__(self) -> None:
        self._made: dict[tuple[Network, Network, bool, bytes], core.Pair] = {}
        self._matches: dict[tuple[Network, Network], tuple[Network, Network]] = {}
        self._balances: dict[tuple[Network, Network, bytes], tuple[Balance, Balance]] = {}
        self._in_boxes: dict[tuple[Network, Pattern], Network] = {}

    def of(self, task: Task, *, matched: bool = False) -> core.Pair:
        """The pair of a task, with its scores turned round where a decision is claimed and the smallest decides.

        With `matched`, quantised networks stand as what they are in the box, and neurons of the candidate where those
        of the reference stand that they are like (`networks.matching`).
        """
        negated = task.space.decide == "min" and isinstance(task.property, Decision)
        first, second = task.reference, task.candidate
        if matched:
            first, second = self._alike(self._in_box(first, task), self._in_box(second, task))
        balances = self._balanced(first, second, task)
        told = pickle.dumps([[k.tobytes() for k in one] for one in balances]) if any(balances) else b""
        key = (first, second, negated, told + bytes([matched]))  # networks compare by identity
        if key not in self._made:
            if told and len(self._made) >= _MOST_BOXES:
                self._made.clear()
            both = zip((first, second), balances, strict=True)
            first, second = (balanced(n, one, by_factors=matched) for n, one in both)
            self._made[key] = pair_of(first, second, negated=negated)
        return self._made[key]

    def _balanced(self, first: Network, second: Network, task: Task) -> tuple[Balance, Balance]:
        """How their products are balanced in the box of a task."""
        key = first, second, task.lower.tobytes() + task.upper.tobytes()
        if key not in self._balances:
            if len(self._balances) >= _MOST_BOXES:
                self._balances.clear()
            self._balances[key] = balances_in(task, first, second)
        return self._balances[key]

    def _alike(self, first: Network, second: Network) -> tuple[Network, Network]:
        """Both networks, with the neurons of the second in the order of those of the first that they match."""
        if (first, second) not in self._matches:
            self._matches[first, second] = match(first, second)[:2]
        return self._matches[first, second]

    def _in_box(self, network: Network, task: Task) -> Network:
        """A network simplified for the box of a task; the same network where no box makes a difference."""
        key = network, within_types(network.steps, (task.lower_exact, task.upper_exact))
        if key not in self._in_boxes:
            if len(self._in_boxes) >= _MOST_BOXES:
                self._in_boxes.clear()
                self._matches.clear()
                self._balances.clear()
                self._made.clear()
            self._in_boxes[key] = saturating(*key)
        return self._in_boxes[key]
