"""The facts of the auditor by their names, and one function that gives their numbers.

A round of a certificate names facts by number. Per layer of m neurons come m of each `Fact`, in the order below; the
last layer, which has no ReLU, has only those from `FIRST_LOWER` on. Behind all layers come the rows of an exact
confidence and the constraints of the region.

The auditor has a table of its own (`eqspec.audit.bounds.FACTS`), because it takes nothing from what it checks; a test
holds the two against each other. A wrong number here makes a certificate that the auditor refuses, never a wrong proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


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
OF_HIDDEN = tuple(Fact)
OF_LAST = (*LOWER, *UPPER, Fact.LINK)


@dataclass(frozen=True)
class FactNumbers:
    """The numbers of the facts of networks with layers of these `widths`, the last one being the rows of the claim.

    `exact` rows of a confidence and `constraints` of the region follow behind the layers.
    """

    widths: Sequence[int]
    exact: int
    constraints: int

    def of(self, layer: int, fact: Fact) -> slice:
        """The numbers of a fact of a layer, one for each of its neurons."""
        last = layer == len(self.widths) - 1
        start = len(OF_HIDDEN) * sum(self.widths[:layer])
        start += (OF_LAST if last else OF_HIDDEN).index(fact) * self.widths[layer]
        return slice(start, start + self.widths[layer])

    @property
    def of_exact(self) -> slice:
        """The numbers of the rows of an exact confidence."""
        behind = self.of(len(self.widths) - 1, Fact.LINK).stop
        return slice(behind, behind + self.exact)

    @property
    def of_region(self) -> slice:
        """The numbers of the constraints of the region, the last of all."""
        behind = self.of_exact.stop
        return slice(behind, behind + self.constraints)
