"""How far the outputs of a pair lie apart at random inputs of a region, for comparison with a proved bound.

The inputs are random and the arithmetic is that of floats: nothing here proves or refutes anything.
"""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from eqspec.property import Epsilon, Property, exact
from eqspec.run import core
from eqspec.tasks.phrasing import approximately
from eqspec.tasks.search_statistics import Sampled
from eqspec.tasks.task import Task

_WORK = 5e6
"""The most multiplications that are spent on this; they take some milliseconds."""
_FEWEST, _MOST = 16, 1024
_BINS = 24


def corners_and_points(task: Task, count: int) -> NDArray[np.float64]:
    """Inputs of the box (count, I), half of them corners, the same every time; constraints and grids are left out."""
    inputs = np.random.default_rng(0).uniform(size=(count, len(task.lower)))
    inputs[::2] = np.rint(inputs[::2])
    return np.clip(task.lower * (1.0 - inputs) + task.upper * inputs, task.lower, task.upper)


def inputs_of(task: Task) -> NDArray[np.float64]:
    """Inputs of the region (N, I), the same every time; fewer for large networks."""
    size = max(1, task.reference.products + task.candidate.products)
    points = int(np.clip(_WORK / size, _FEWEST, _MOST))
    inputs = np.random.default_rng(0).uniform(size=(points, len(task.lower)))
    # In this form nothing overflows, however wide the region.
    inputs = np.clip(task.lower * (1.0 - inputs) + task.upper * inputs, task.lower, task.upper)
    for i, lattice in enumerate(task.lattices):
        if lattice is not None:
            origin, step = approximately(lattice.origin), approximately(lattice.step)
            inputs[:, i] = origin + step * np.rint((inputs[:, i] - origin) / step)
    inputs = np.clip(inputs, task.lower, task.upper)
    with np.errstate(all="ignore"):
        for constraint in task.constraints:
            coefficients = np.array([approximately(a) for a in constraint.coefficients])
            inputs = inputs[inputs @ coefficients <= approximately(constraint.bound)]
    return np.ascontiguousarray(inputs)


def largest_output(task: Task, pair: core.Pair) -> float:
    """The largest absolute output of both at these inputs; 0 if none lies in the region."""
    outputs = core.evaluate(pair, inputs_of(task))
    return float(max((np.abs(part).max(initial=0.0) for part in outputs), default=0.0))


def sample(task: Task, pair: core.Pair) -> Sampled | None:
    """Differences of compared outputs at the same inputs every time; None if none that was drawn lies in the region."""
    with np.errstate(all="ignore"):
        reference, candidate = core.evaluate(pair, inputs_of(task))
        apart = np.abs(candidate - reference)
    if not len(apart):
        return None
    defined = np.isfinite(apart).all(axis=1)
    apart, undefined = apart[defined], int(np.count_nonzero(~defined))
    if not len(apart):
        return Sampled(0, {}, (), _limit(task.property), undefined)
    compared = _compared(task)
    apart = apart[:, compared]
    furthest = apart.max(axis=1)
    shares = furthest / (float(furthest.max()) or 1.0)  # np.histogram fails where the greatest is denormal
    counts = np.bincount(np.minimum((_BINS * shares).astype(np.intp), _BINS - 1), minlength=_BINS)
    names = [task.space.outputs[i] for i in compared]
    largest = dict(zip(names, apart.max(axis=0).tolist(), strict=True))
    return Sampled(len(apart), largest, tuple(counts.tolist()), _limit(task.property), undefined)


def _compared(task: Task) -> list[int]:
    """The outputs that the claim compares: those that it leaves out may differ by anything."""
    claim = task.property
    chosen = claim.outputs if isinstance(claim, Epsilon) else None
    return list(range(task.reference.output_size) if chosen is None else chosen)


def _limit(claim: Property) -> float | None:
    if not isinstance(claim, Epsilon) or claim.norm != "linf":
        return None
    nearest = approximately(exact(claim.eps))
    return nearest if isfinite(nearest) else None
