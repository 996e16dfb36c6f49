"""What is shown of tasks while they run: how long the rest takes, once enough is known to tell."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from eqspec.report.live import time_left


@dataclass
class State:
    certified: float
    seconds: float
    boxes: int = 100
    open_boxes: int = 10


@pytest.mark.parametrize(
    ("certified", "seconds", "said"),
    [
        (0.5, 2.0, ""),
        (0.01, 100.0, ""),
        (1.0, 100.0, ""),
        (float("nan"), 100.0, ""),
        (0.5, 10.0, "~10 s left"),
        (0.999, 10.0, "~1 s left"),
        (0.1, 60.0, "~9 min left"),
        (0.02, 200.0, "~3 h left"),
        (0.02, 36000.0, "days left"),
    ],
)
def test_time_left(certified: float, seconds: float, said: str) -> None:
    assert time_left(State(certified, seconds)) == said
