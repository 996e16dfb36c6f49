"""How products of two networks are balanced for a task (`networks.balancing`), from bounds that the core finds.

First from how much factors vary at some inputs, then from what the core bounds them by in the program that results:
in the pair where both networks have the same products, else in each network by itself. It is the same on every machine,
but for the rounding of a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from eqspec.networks import Network
from eqspec.networks.balancing import Balance, balance, balanced, certain, from_bounds, radii_at, sums_of
from eqspec.networks.factors import products
from eqspec.networks.program import Array
from eqspec.run import core
from eqspec.run.core_pairs import pair_of
from eqspec.run.random_inputs import corners_and_points
from eqspec.tasks.task import Task

_POINTS = 32
"""How many inputs of a box are sampled to see how much the factors of products vary."""
_ROUNDS = 2
"""How often bounds are asked for: those of a product depend on the balance of the products before it."""
_MEMORY = 1 << 28
"""The most bytes of affine forms that this may use for a pair."""


def balances_in(
    task: Task, first: Network, second: Network, check: Callable[[], None] = lambda: None
) -> tuple[Balance, Balance]:
    """The balances of both networks in the box of a task; `check` may raise where that takes too long."""
    seen = radii_at((first, second), partial(corners_and_points, task, _POINTS), check)
    chosen = balance((first, second), seen)
    if seen[0] and _alike(first, second) and products(first.steps) == products(second.steps):
        one = _by_bounds(task, (first, second), chosen[0], seen[0], check)
        return one, one
    alone = zip((first, second), chosen, seen, strict=True)
    one, other = (
        _by_bounds(task, (network, network), start, at, check) if at else start for network, start, at in alone
    )
    return one, other


def _by_bounds(
    task: Task,
    networks: tuple[Network, Network],
    start: Balance,
    seen: Sequence[Array],
    check: Callable[[], None],
) -> Balance:
    """The balance that two networks with the same products share, by bounds of the pair."""
    first, second = networks
    sure = [a and b for a, b in zip(certain(first.steps), certain(second.steps), strict=True)]
    nothing = tuple(np.zeros(radii.shape[1], np.int32) for radii in seen)
    found = start
    for _ in range(_ROUNDS):
        check()
        pair = pair_of(balanced(first, found), balanced(second, found))
        bounds = core.factor_radii(pair, task.lower, task.upper, sums_of(first, found), _MEMORY)
        found = from_bounds(bounds, sure, found or nothing, seen)
    return found


def _alike(first: Network, second: Network) -> bool:
    """Whether both networks have the same steps in size and function, so that they pair up as they stand."""
    shapes = [[(step.rows, step.function) for step in network.steps] for network in (first, second)]
    return shapes[0] == shapes[1]
