"""The facts of the auditor by their names, and one function that gives their numbers.

A round of a certificate names facts by number. Per step of m rows come m of each fact that it has, in the order below:
`OF_BENT` behind a ReLU, `OF_CURVED` behind other functions, `OF_LINEAR` where there is none, as in the last step.
Behind all steps come the rows of an exact confidence and the constraints of the region.

The auditor has a table of its own (`eqspec.audit.bounds`), because it takes nothing from what it checks; a test
holds the two against each other. A wrong number here makes a certificate that the auditor refuses, never a wrong proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from itertools import accumulate

from eqspec.audit.reading import Both
from eqspec.lazy_dataclass import dataclass


class Fact(Enum):
    """What is >= 0 (or, for the link, = 0) of one neuron: x, y, d = x - y before its function, X, Y, D = X - Y behind.

    The values are the names that the auditor gives them. Lines of a function touch it at the left or the right end.
    """

    FIRST_POSITIVE = "X"
    SECOND_POSITIVE = "Y"
    FIRST_ABOVE_IDENTITY = "X - x"
    SECOND_ABOVE_IDENTITY = "Y - y"
    DIFFERENCE_ABOVE_CHORD = "D - chord"
    FIRST_ABOVE_LEFT = "X - left"
    FIRST_ABOVE_RIGHT = "X - right"
    FIRST_BELOW_LEFT = "left - X"
    FIRST_BELOW_RIGHT = "right - X"
    SECOND_ABOVE_LEFT = "Y - left"
    SECOND_ABOVE_RIGHT = "Y - right"
    SECOND_BELOW_LEFT = "left - Y"
    SECOND_BELOW_RIGHT = "right - Y"
    DIFFERENCE_ABOVE_LINE = "D - below"
    DIFFERENCE_BELOW_LINE = "above - D"
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
ABOVE_LINES = (
    (Fact.FIRST_ABOVE_LEFT, Fact.FIRST_ABOVE_RIGHT),
    (Fact.SECOND_ABOVE_LEFT, Fact.SECOND_ABOVE_RIGHT),
)
BELOW_LINES = (
    (Fact.FIRST_BELOW_LEFT, Fact.FIRST_BELOW_RIGHT),
    (Fact.SECOND_BELOW_LEFT, Fact.SECOND_BELOW_RIGHT),
)
"""By network, and by the end that a line touches."""
OF_LINEAR = (*LOWER, *UPPER, Fact.LINK)
OF_BENT = (*POSITIVE, *ABOVE_IDENTITY, Fact.DIFFERENCE_ABOVE_CHORD, *OF_LINEAR)
OF_CURVED = (
    *(fact for k in (0, 1) for fact in (*ABOVE_LINES[k], *BELOW_LINES[k])),
    Fact.DIFFERENCE_ABOVE_LINE,
    Fact.DIFFERENCE_BELOW_LINE,
    *OF_LINEAR,
)


class Behind(Enum):
    """What follows the rows of a step."""

    NOTHING = OF_LINEAR
    RELU = OF_BENT
    CURVES = OF_CURVED

    @classmethod
    def of(cls, step: Both) -> Behind:
        """A step of the auditor."""
        return cls.CURVES if step.curved else cls.RELU if step.curves else cls.NOTHING


@dataclass(frozen=True)
class FactNumbers:
    """The numbers of the facts of networks with steps of these `widths`, the last one being the rows of the claim.

    `behind` says what follows each of them. `exact` rows of a confidence and `constraints` of the region come last.
    """

    widths: Sequence[int]
    behind: Sequence[Behind]
    exact: int
    constraints: int

    @cached_property
    def _starts(self) -> list[int]:
        counts = (len(self.facts(step)) * width for step, width in enumerate(self.widths))
        return list(accumulate(counts, initial=0))

    def facts(self, step: int) -> tuple[Fact, ...]:
        """Those that a step has, in order."""
        found: tuple[Fact, ...] = self.behind[step].value
        return found

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
