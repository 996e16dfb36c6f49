"""What can be claimed of a pair: f is the reference, g the candidate, x ranges over the region.

Numbers are exact. A Python float is read as the shortest decimal that denotes it, as in a spec: 0.1 is one tenth.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Number: TypeAlias = int | float | str | Fraction
Norm = Literal["linf", "l1", "l2"]


def exact(number: Number) -> Fraction:
    """The rational a number stands for."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True)
class Epsilon:
    """||(g - f)(x)|_outputs||_norm <= eps at every x; `outputs` None means all."""

    eps: Number
    norm: Norm = "linf"
    outputs: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Top1:
    """Every class that is a maximum of f(x) is a maximum of g(x)."""


@dataclass(frozen=True)
class Margin:
    """Top-1 wherever the best class of f leads every other by at least `margin`."""

    margin: Number


@dataclass(frozen=True)
class Confidence:
    """Top-1 wherever the softmax of f gives some class at least `delta`."""

    delta: Number


@dataclass(frozen=True)
class Linear:
    """candidate . g(x) + reference . f(x) <= bound (strictly below if `strict`) at every x."""

    candidate: tuple[Number, ...]
    reference: tuple[Number, ...]
    bound: Number
    strict: bool = False


Property: TypeAlias = Epsilon | Top1 | Margin | Confidence | Linear
