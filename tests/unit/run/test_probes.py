"""Queries of a dozen inputs and more are halved as long as that closes boxes, before they are contracted."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_tasks import network, task

SHORT = 288 + 4096
"""So many boxes are bounded before it counts how many of them close."""


def twins(shape: tuple[int, ...], eps: str) -> Task:
    """A random network and its twin in 8 bits, whose outputs are claimed to differ by so much at most."""
    rng = np.random.default_rng(1)
    weights = [rng.normal(scale=np.sqrt(2 / n), size=(m, n)) for n, m in pairwise(shape)]
    steps = [np.abs(w).max() / 127 for w in weights]
    layers = [(w, np.zeros(len(w))) for w in weights]
    twin = [(np.round(w / step) * step, np.zeros(len(w))) for w, step in zip(weights, steps, strict=True)]
    ends = [Fraction(2, 5)] * shape[0], [Fraction(3, 5)] * shape[0]
    return task(network(*layers), network(*twin), Epsilon(eps), *ends)


def between() -> Task:
    """Twelve thousand boxes close it, and of contractions hundreds do not."""
    # Three times the largest difference at 20,000 random points.
    return twins((16, 64, 64, 5), "0.0861477")


def test_the_first_probe_takes_the_same_boxes_whatever_workers_there_are() -> None:
    """How many boxes are open after so many depends on their order, and so would what comes after the probe."""
    one, four, again = (Runner(Options(threads=n)).run(twins((12, 24, 24, 3), "0.03")) for n in (1, 4, 4))
    assert one.verdict is Verdict.EQUIVALENT
    assert 256 < one.boxes < 1024
    assert (one.boxes, one.splits) == (four.boxes, four.splits) == (again.boxes, again.splits)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_halving_decides_in_thousands_of_boxes_is_not_contracted(threads: int) -> None:
    result = Runner(Options(threads=threads)).run(between())
    assert result.verdict is Verdict.EQUIVALENT
    assert result.boxes > SHORT
    assert result.effort["contracted"] == 0
    assert result.certified_fraction == 1


@pytest.mark.parametrize("boxes", [290, SHORT + 2, SHORT + 4096 + 2])
def test_the_limit_on_boxes_counts_all_probes(boxes: int) -> None:
    result = Runner(Options(threads=1, boxes=boxes)).run(between())
    assert (result.verdict, result.reason, result.boxes) == (Verdict.UNKNOWN, Reason.BOXES, boxes)
    assert 0 <= result.certified_fraction < 1
