"""Sigmoid and Tanh as the kernel reads them: foot + rise sigmoid(v / stretch), and a piecewise linear function near it.

The kernel calculates by itself how near that is (kernel/Smooth.v), so nothing of it is trusted but rise, stretch and
foot. Kinks stand closest where the function may bend the most, and slopes are integers: each reaches the value at the
next kink as nearly as one can.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil, exp, inf, sqrt

from eqspec.lazy_dataclass import dataclass

SCALE = 2**16
"""A neuron gives so many times its value, so that slopes are integers."""
HALF = 31
"""Kinks on either side of 0."""
FARTHEST = 12.0
NAMES = ("sigmoid", "tanh")


@dataclass(frozen=True)
class Logistic:
    """One of them by its name."""

    name: str

    @property
    def slopes(self) -> Fraction:
        """It is multiplied by so much."""
        return Fraction(SCALE)

    def finest(self, _: Fraction) -> int:
        """The denominator of its stretch."""
        return 2

    def text(self, _: Fraction, grain: int) -> str:
        """So many times the function, as the kernel reads it."""
        if self.name == "tanh":
            return written(2 * SCALE * grain, grain // 2, -SCALE * grain)
        return written(SCALE * grain, grain, 0)


@cache
def places() -> tuple[float, ...]:
    """Arguments of sigmoid between which a chord is about as far off everywhere, as far as the kernel can tell."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if len(_chords(middle)) <= HALF else (middle, high)
    positive = _chords(high)
    return (*(-t for t in reversed(positive)), 0.0, *positive)


def _chords(off: float) -> list[float]:
    """The ends of chords from 0 on of which each is off by so much; no more than one too many."""
    at = [0.0]
    while at[-1] < FARTHEST and len(at) <= HALF + 1:
        at.append(min(FARTHEST, at[-1] + sqrt(8.0 * off / bend(at[-1], inf))))
    return at[1:]


def sigmoid(t: float) -> float:
    """1 / (1 + exp(-t))."""
    return 1.0 / (1.0 + exp(-t))


def bend(a: float, b: float) -> float:
    """What the kernel takes for the largest second derivative of sigmoid between a and b."""
    return min(0.1, 1.0 - sigmoid(a), sigmoid(b))


@cache
def written(rise: int, stretch: int, foot: int) -> str:
    """The function with its follower, and how far that may be off."""
    at = [round(Fraction(t) * stretch) for t in places()]
    wanted = [foot + round(rise * Fraction(sigmoid(place / stretch))) for place in at]
    slopes, values = list[int](), [wanted[0]]
    for (a, b), value in zip(pairwise(at), wanted[1:], strict=True):
        slopes.append(round(Fraction(value - values[-1], b - a)))
        values.append(values[-1] + slopes[-1] * (b - a))
    far = [abs(one - other) for one, other in zip(wanted, values, strict=True)]
    bow = [Fraction(bend(a / stretch, b / stretch)) * rise * (b - a) ** 2 / (8 * stretch**2) for a, b in pairwise(at)]
    astray = max(max(pair) + ceil(more) for pair, more in zip(pairwise(far), bow, strict=True))
    astray = max(astray, abs(values[0] - foot), abs(foot + rise - values[-1])) + (rise >> 30) + 4
    kinks = [f"{place} {after - before}" for place, before, after in zip(at, [0, *slopes], [*slopes, 0], strict=True)]
    return f"sigmoid {rise} {stretch} {foot} {astray} 0 {values[0]} {len(kinks)} {' '.join(kinks)}"
