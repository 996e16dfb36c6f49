"""Pairs whose candidate has moved a little, as when a model learns on: for proofs that start from earlier ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from eqspec.api import load
from eqspec.networks.network import Network
from eqspec.property import Epsilon, Property
from eqspec.tasks.task import Task
from small_tasks import network, task

SPECS = Path(__file__).parents[1] / "specs"


def pair(change: float, *, inputs: int = 3, hidden: int = 8) -> tuple[Network, Network]:
    """A network and a copy that has moved a little; the larger the change, the further."""
    rng = np.random.default_rng(4)
    layers = [
        (rng.normal(size=(m, n)) / np.sqrt(n / 3), rng.normal(size=m))
        for m, n in ((hidden, inputs), (hidden, hidden), (2, hidden))
    ]
    other = [(w + 0.05 * rng.normal(size=w.shape), b) for w, b in layers]
    moved = [(w + change * rng.normal(size=w.shape), b) for w, b in other]
    return network(*layers), network(*moved)


def claimed(change: float, claim: Property | None = None, **shape: int) -> Task:
    return task(*pair(change, **shape), claim or Epsilon("0.6"), id="slow")


@cache
def _jets() -> Task:
    (found,) = load(SPECS / "lhc.eqspec").select("confident[sigma=0.2]")
    assert isinstance(found, Task)
    return found


def wide(change: float) -> Task:
    """A pair that contraction is for: halving its inputs takes far longer."""
    rng, last = np.random.default_rng(5), _jets()
    layers = [
        (one.weight * (1 + change * rng.normal(size=one.weight.shape)), one.bias) for one in last.candidate.layers
    ]
    return replace(last, candidate=network(*layers))
