"""The MNIST queries of the paper: eps 1.0 around 100 images, on balls of four radii and with 15 to 24 pixels free.

The paper counts 701 of these 800: those that the pair already violates at the centre of the box are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from acceptance.published import Query
from eqspec.api import load
from eqspec.tasks.task import Task

FREE_PIXELS = (15, 18, 21, 24)
EPSILON = 1
WHITE = 255


def queries(shared: Path, *, every: int = 1) -> list[Query]:
    """All queries that count, those of every so manieth image only, image by image."""
    spec = load(shared / "acceptance" / "mnist.eqspec", checks="close")
    balls: dict[int, list[Task]] = {}
    for task in spec.tasks:
        balls.setdefault(int(task.parameters["row"]), []).append(task)
    images = _numbers(shared / "data" / "mnist" / "ref_images_100x784.csv")
    attacked = _numbers(shared / "data" / "mnist" / "pixel_attack_lists_100x30.csv")
    chosen = []
    for row in range(0, len(images), every):
        freed = (_freed(balls[row][0], images[row], attacked[row][:count], row) for count in FREE_PIXELS)
        chosen += [Query(task.id, task, None) for task in (*balls[row], *freed) if not _violated_at_the_centre(task)]
    return chosen


def _numbers(path: Path) -> list[list[int]]:
    with path.open(newline="") as file:
        return [[int(cell) for cell in row] for row in csv.reader(file)]


def _freed(ball: Task, image: list[int], pixels: list[int], row: int) -> Task:
    """The image with some pixels anywhere in [0, 1]."""
    lower = [Fraction(0) if i in pixels else Fraction(v, WHITE) for i, v in enumerate(image)]
    upper = [Fraction(1) if i in pixels else Fraction(v, WHITE) for i, v in enumerate(image)]
    # Of the two numbers next to a fraction the box takes the outer one.
    return replace(
        ball,
        id=f"close[pixels={len(pixels)},row={row}]",
        parameters={"pixels": Fraction(len(pixels)), "row": Fraction(row)},
        lower_exact=tuple(lower),
        upper_exact=tuple(upper),
        lower=np.array(list(_outward(lower, -np.inf))),
        upper=np.array(list(_outward(upper, np.inf))),
    )


def _outward(exact: list[Fraction], towards: float) -> Iterator[float]:
    for value in exact:
        nearest = float(value)
        inside = Fraction(nearest) > value if towards < 0 else Fraction(nearest) < value
        yield float(np.nextafter(nearest, towards)) if inside else nearest


def _violated_at_the_centre(task: Task) -> bool:
    centre = (task.lower + task.upper)[np.newaxis] / 2
    difference = task.reference.evaluate(centre) - task.candidate.evaluate(centre)
    return bool(np.abs(difference).max() > EPSILON)
