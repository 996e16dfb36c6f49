"""The facts of the auditor by their names, and one function that gives their numbers.

A round of a certificate names facts by number. Per step of m rows come m of each `Fact`, in the order below; a step
without a ReLU, as the last one, has only those from `FIRST_LOWER` on. Behind all steps come the rows of an exact
confidence and the constraints of the region.

The auditor has a table of its own (`eqspec.audit.bounds.FACTS`), because it takes nothing from what it checks; a test
holds the two against each other. A wrong number here makes a certificate that the auditor refuses, never a wrong proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate


class Fact(Enum):
    """What is >= 0 (or, for the link, = 0) of one neuron: x, y, d = x - y before its ReLU, X, Y, D = X - Y behind it.

    The values are the names that the auditor gives them.
    """

    FIRST_POSITIVE = "X"
    SECOND_POSITIVE = "Y"
    FIRST_ABOVE_IDENTITY = "X - x"
    SECOND_ABOVE_IDENTITY = "Y - y"
    DIFFERENCE_ABOVE_CHORD = "D - chord"
    FIRST_LOWER = "x - low"
    SECOND_LOWER = "y - low"
    DIFFERENCE_LOWER = "d - low"
    FIRST_UPPER = "high - x"
    SECOND_UPPER = "high - y"
    DIFFERENCE_UPPER = "high - d"
    LINK = "X - Y - D"


POSITIVE = (Fact.FIRST_POSITIVE, Fact.SECOND_POSITIVE)
ABOVE_IDENTITY = (Fact.FIRST_ABOVE_IDENTITY, Fact.SECOND_ABOVE_IDENTITY)
LOWER = (Fact.FIRST_LOWER, Fact.SECOND_LOWER, Fact.DIFFERENCE_LOWER)
UPPER = (Fact.FIRST_UPPER, Fact.SECOND_UPPER, Fact.DIFFERENCE_UPPER)
"""By network: the first, the second, and their difference."""
OF_BENT = tuple(Fact)
OF_LINEAR = (*LOWER, *UPPER, Fact.LINK)


@dataclass(frozen=True)
class FactNumbers:
    """The numbers of the facts of networks with steps of these `widths`, the last one being the rows of the claim.

    `bent` are the steps with a ReLU. `exact` rows of a confidence and `constraints` of the region follow behind all.
    """

    widths: Sequence[int]
    bent: Sequence[bool]
    exact: int
    constraints: int

    @cached_property
    def _starts(self) -> list[int]:
        counts = (len(self.facts(step)) * width for step, width in enumerate(self.widths))
        return list(accumulate(counts, initial=0))

    def facts(self, step: int) -> tuple[Fact, ...]:
        """Those that a step has, in order."""
        return OF_BENT if self.bent[step] else OF_LINEAR

    def of(self, step: int, fact: Fact) -> slice:
        """The numbers of a fact of a step, one for each of its rows."""
        start = self._starts[step] + self.facts(step).index(fact) * self.widths[step]
        return slice(start, start + self.widths[step])

    @property
    def of_exact(self) -> slice:
        """The numbers of the rows of an exact confidence."""
        return slice(self._starts[-1], self._starts[-1] + self.exact)

    @property
    def of_region(self) -> slice:
        """The numbers of the constraints of the region, the last of all."""
        behind = self.of_exact.stop
        return slice(behind, behind + self.constraints)
