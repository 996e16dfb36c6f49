"""The answer to a search for the best value: between which values the border lies.

Truth is monotone in the variable, from the hard end of its range to the easy one; what can be proved in a given
time need not be. So the answer is a bracket: the hardest value proved, and the easiest one refuted by an input. If the
variable is a whole number that a network is made with, truth need not be monotone either (`whole`).
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import Literal

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import (
    JsonObject,
    as_json,
    count,
    exact_number,
    flag,
    listed,
    number,
    one_of,
    optional_exact_number,
    optional_text,
    reference,
    text,
)
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness

Direction = Literal["smallest", "largest"]
Gap = Literal["closed", "budget"]


@dataclass(frozen=True)
class Probe(JsonObject):
    """One value that was tried; `seconds` 0 and no boxes if a known input refuted it at once."""

    value: Fraction = field(metadata=as_json(exact_number()))
    verdict: str = field(metadata=as_json(one_of(*Verdict)))
    reason: str | None = field(metadata=as_json(optional_text()))
    seconds: float = field(metadata=as_json(number(minimum=0)))
    boxes: int = field(metadata=as_json(count()))


@dataclass(frozen=True)
class Bracket(JsonObject):
    """Between `refuted` (None: no value was) and `proved` (None: no value was) lies the border.

    `gap` is closed if they are as close as wished (`width`; None: within one hundredth), or if one end of the range
    answers the question. `witness` breaks the claim at `refuted`.
    """

    variable: str = field(metadata=as_json(text()))
    direction: Direction = field(metadata=as_json(one_of("smallest", "largest")))
    low: Fraction = field(metadata=as_json(exact_number()))
    high: Fraction = field(metadata=as_json(exact_number()))
    width: Fraction | None = field(
        metadata=as_json(optional_exact_number("How close the two ends of the answer were wished to be."))
    )
    proved: Fraction | None = field(
        metadata=as_json(optional_exact_number("The hardest value at which the claim was proved."))
    )
    refuted: Fraction | None = field(
        metadata=as_json(optional_exact_number("The easiest value at which the claim was refuted."))
    )
    gap: Gap = field(
        metadata=as_json(
            one_of("closed", "budget", description="Whether they are as close as wished, or time ran out.")
        )
    )
    probes: tuple[Probe, ...] = field(
        default=(), metadata=as_json(listed(Probe.schema(), "", Probe.to_json, Probe.from_json))
    )
    witness: Witness | None = field(default=None, metadata=as_json(reference(Witness, "witness")))
    whole: bool = field(
        default=False,
        metadata=as_json(
            flag(
                "Whether the variable is a whole number that a network is made with. Nothing follows from one for "
                "another then: 'closed' means that every value better than 'proved' was refuted, and 'refuted' is the "
                "nearest of these.",
                required=False,
            )
        ),
    )

    @property
    def open_values(self) -> tuple[list[Fraction], list[Fraction]]:
        """The whole numbers that could still be better than the proved one: those tried in vain, those not tried."""
        end = self.proved
        if end is None:
            end = self.high + 1 if self.direction == "smallest" else self.low - 1
        every = range(int(self.low), int(self.high) + 1)
        better = [Fraction(v) for v in every if (v < end if self.direction == "smallest" else v > end)]
        refuted = {probe.value for probe in self.probes if probe.verdict == Verdict.DIFFERENT.value}
        tried = {probe.value for probe in self.probes}
        left = [value for value in better if value not in refuted]
        return [v for v in left if v in tried], [v for v in left if v not in tried]
