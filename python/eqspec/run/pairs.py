"""The pairs of a run for the core, each made once.

Neurons that are alike may stand side by side (`networks.matching`). Quantised networks may be given as what they are in
the box of a task alone (`networks.unwrapping`): a proof covers what equals them there. Products are given with factors
that vary alike in the box (`balances`), and are the same functions.

Each of this makes bounds better and changes no function, so it is left out where it would take more than half of the
time of a task.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TypeVar

from eqspec.networks import Network, match
from eqspec.networks.balancing import Balance, balanced
from eqspec.networks.unwrapping import Pattern, saturating, within_types
from eqspec.property import Decision
from eqspec.run import core
from eqspec.run.balances import balances_in
from eqspec.run.core_pairs import pair_of
from eqspec.run.options import Options
from eqspec.run.time_limits import Check, TooLateError, within
from eqspec.tasks.task import Task

T = TypeVar("T")

_MOST_BOXES = 16
"""The most networks simplified for one box, and pairs with products balanced for one box, that are kept."""
_SHARE = 0.5
"""The share of the time of a task that matching and balancing may take."""


def _never() -> None:
    """The check of what has no limit of time."""


class Pairs:
    """Pairs for the core, aligned, each made once for as long as this lives."""

    def __init__(self) -> None:
        self._made: dict[tuple[Network, Network, bool, bytes], core.Pair] = {}
        self._matches: dict[tuple[Network, Network], tuple[Network, Network]] = {}
        self._balances: dict[tuple[Network, Network, bytes], tuple[Balance, Balance]] = {}
        self._in_boxes: dict[tuple[Network, Pattern], Network] = {}
        self._late: dict[tuple[str, Network, Network], float] = {}

    def of(self, task: Task, options: Options | None = None, *, matched: bool = False) -> core.Pair:
        """The pair of a task, with its scores turned round where a decision is claimed and the smallest decides.

        With `matched`, quantised networks stand as what they are in the box, and neurons of the candidate where those
        of the reference stand that they are like (`networks.matching`). `options` say how much time is left.
        """
        options = options or Options()
        negated = task.space.decide == "min" and isinstance(task.property, Decision)
        first, second = task.reference, task.candidate
        seconds, check = options.seconds(task), within(task, options, _SHARE)
        if matched:
            both = self._in_box(first, task), self._in_box(second, task)
            first, second = self._in_time(("match", *both), seconds, lambda: self._alike(*both, check), both)
        # The writer of a certificate balances again, and must come to the same.
        ask = check if options.certifier is None else _never
        alone = first, second
        none: tuple[Balance, Balance] = (), ()
        balances = self._in_time(("balance", *alone), seconds, lambda: self._balanced(*alone, task, ask), none)
        told = pickle.dumps([[k.tobytes() for k in one] for one in balances]) if any(balances) else b""
        key = (first, second, negated, told + bytes([matched]))  # networks compare by identity
        if key not in self._made:
            if told and len(self._made) >= _MOST_BOXES:
                self._made.clear()
            with_own = zip((first, second), balances, strict=True)
            first, second = (balanced(n, one, by_factors=matched) for n, one in with_own)
            self._made[key] = pair_of(first, second, negated=negated, composing=matched)
        return self._made[key]

    def _in_time(self, key: tuple[str, Network, Network], seconds: float, make: Callable[[], T], nothing: T) -> T:
        """What is made, or nothing where it takes too long; and nothing again, so that a task has one pair."""
        if self._late.get(key, -1.0) >= seconds:
            return nothing
        try:
            return make()
        except TooLateError:
            self._late[key] = seconds
            return nothing

    def _balanced(self, first: Network, second: Network, task: Task, check: Check) -> tuple[Balance, Balance]:
        """How their products are balanced in the box of a task."""
        key = first, second, task.lower.tobytes() + task.upper.tobytes()
        if key not in self._balances:
            if len(self._balances) >= _MOST_BOXES:
                self._balances.clear()
            self._balances[key] = balances_in(task, first, second, check)
        return self._balances[key]

    def _alike(self, first: Network, second: Network, check: Check) -> tuple[Network, Network]:
        """Both networks, with the neurons of the second in the order of those of the first that they match."""
        if (first, second) not in self._matches:
            self._matches[first, second] = match(first, second, check)[:2]
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
