"""A question for the best value of a variable: what `find smallest eps in 1e-4 .. 1 to 1e-3` asks.

The claim is monotone in the variable: what holds at one value holds at every easier one. Not so where the variable is a
whole number that a network is made with, such as a number of bits: what one value shows says nothing of another then.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from eqspec.span import Span
from eqspec.tasks.bracket import Direction
from eqspec.tasks.task import Budget, Task


class Search(Protocol):
    """A search for the best value; `easy` and `hard` are the ends of its range where the claim says least and most."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def check(self) -> str: ...  # noqa: D102
    @property
    def variable(self) -> str: ...  # noqa: D102
    @property
    def direction(self) -> Direction: ...  # noqa: D102
    @property
    def low(self) -> Fraction: ...  # noqa: D102
    @property
    def high(self) -> Fraction: ...  # noqa: D102
    @property
    def width(self) -> Fraction | None: ...  # noqa: D102
    @property
    def whole(self) -> bool: ...  # noqa: D102
    @property
    def task_at(self) -> Callable[[Fraction], Task]: ...  # noqa: D102
    @property
    def parameters(self) -> dict[str, Fraction]: ...  # noqa: D102
    @property
    def budget(self) -> Budget: ...  # noqa: D102
    @property
    def tags(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def source(self) -> Span | None: ...  # noqa: D102
    @property
    def easy(self) -> Fraction: ...  # noqa: D102
    @property
    def hard(self) -> Fraction: ...  # noqa: D102
