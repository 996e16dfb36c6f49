"""How products of two networks are balanced for a task (`networks.balancing`), from bounds that the core finds.

First from how much factors vary at some inputs, then from what the core bounds them by in the program that results,
where both networks have the same products. It is the same on every machine, but for the rounding of a bound.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from eqspec.networks import Network
from eqspec.networks.balancing import Balance, balance, balanced, certain, from_bounds, sums_of
from eqspec.networks.factors import products
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


def balances_in(task: Task, first: Network, second: Network) -> tuple[Balance, Balance]:
    """The balances of both networks in the box of a task."""
    one, other = balance((first, second), partial(corners_and_points, task, _POINTS))
    where = products(first.steps) if first.arithmetic == "real" else []
    if not where or not _alike(first, second) or where != products(second.steps):
        return one, other
    sure = [a and b for a, b in zip(certain(first.steps), certain(second.steps), strict=True)]
    first_tried = one or tuple(np.zeros(first.steps[s].rows, np.int32) for s, _ in where)
    for _ in range(_ROUNDS):
        pair = pair_of(balanced(first, one), balanced(second, one))
        bounds = core.factor_radii(pair, task.lower, task.upper, sums_of(first, one), _MEMORY)
        one = from_bounds(bounds, sure, one or tuple(np.zeros_like(k) for k in first_tried), first_tried)
    return one, one


def _alike(first: Network, second: Network) -> bool:
    """Whether both networks have the same steps in size and function, so that they pair up as they stand."""
    shapes = [[(step.rows, step.function) for step in network.steps] for network in (first, second)]
    return shapes[0] == shapes[1]
