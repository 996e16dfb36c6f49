"""Whether a distance is too small to be proved because of what a network rounds away (see `networks.noise_floor`)."""

from __future__ import annotations

from dataclasses import replace

from eqspec.networks.containment import quantised
from eqspec.networks.noise_floor import distances, floors
from eqspec.property import Epsilon, exact
from eqspec.run.random_inputs import inputs_of
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason

_MOST_POINTS = 64
_MOST_PRODUCTS = 1 << 28
"""How many products all derivatives together may take, about a second: large networks are seen at fewer points."""
_OUT_OF_MEANS = (Reason.TIMEOUT, Reason.BOXES, Reason.MEMORY)


def noise_floor(task: Task) -> float | None:
    """The distance below which no search proves a claim because a network rounds; None where there is no such limit.

    Where both networks round, what one of them rounds to coarser levels than the other counts.
    """
    claim = task.property
    pair = task.reference, task.candidate
    if not isinstance(claim, Epsilon) or not any(map(quantised, pair)):
        return None
    outputs = range(task.reference.output_size) if claim.outputs is None else list(claim.outputs)
    inputs, most = inputs_of(task), 0.0
    for network, other in (pair, pair[::-1]):
        passes = max(1, _MOST_PRODUCTS // max(1, network.products))
        points = inputs[: max(1, min(_MOST_POINTS, passes // len(outputs)))]
        found = floors(network.steps, points, distances(other.steps), outputs[:passes])
        most = max(most, float(found.max(initial=0.0)))
    return most or None


def with_reason(task: Task, result: Result) -> Result:
    """The result, with the reason changed where the rounding inside of a network is why it is undecided."""
    claim = task.property
    if result.reason not in _OUT_OF_MEANS or not isinstance(claim, Epsilon):
        return result
    floor = noise_floor(task)
    if floor is None or floor <= exact(claim.eps):
        return result
    message = f"an output by {floor:.3g}"
    return replace(result, reason=Reason.ROUNDING, message=message)
