"""A search for the best value of a variable: what `find smallest eps in 1e-4 .. 1 to 1e-3` asks.

Truth is monotone in the variable: going from the hard end of the range to the easy one, the claim only gets weaker (a
larger distance, a larger guard) or the region only gets smaller, so once true it stays true. Provability need not be
monotone, so the answer is a bracket: the hardest value proved and the easiest value refuted.

Not so where the variable is a whole number that a network is made with, such as a number of bits: what one value shows
says nothing of another then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from fractions import Fraction

from eqspec.lazy_dataclass import dataclass
from eqspec.span import Span
from eqspec.tasks.bracket import Direction
from eqspec.tasks.task import Budget, Task


@dataclass(frozen=True, eq=False)
class Search:
    """One search.

    `task_at(value)` compiles the task for a value from `low` to `high`, exactly; it raises InputError outside of them.
    `width` is the bracket the user wishes for, None if none was given. `budget.timeout` is for the whole search.
    `whole` if the variable is a value of a network: whole numbers alone are asked for then, and the claim need not get
    weaker one way. `parameters` are the swept variables (and the row) this search is for, without its own variable.
    """

    id: str
    check: str
    variable: str
    direction: Direction
    low: Fraction
    high: Fraction
    width: Fraction | None
    task_at: Callable[[Fraction], Task]
    parameters: dict[str, Fraction] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    tags: tuple[str, ...] = ()
    source: Span | None = None
    whole: bool = False

    @property
    def easy(self) -> Fraction:
        """The end of the range where the claim is weakest: `high` for `smallest`, `low` for `largest`."""
        return self.high if self.direction == "smallest" else self.low

    @property
    def hard(self) -> Fraction:
        """The end of the range where the claim is strongest."""
        return self.low if self.direction == "smallest" else self.high
