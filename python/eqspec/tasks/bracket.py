"""The answer to a search for the best value: between which values the border lies.

Truth is monotone in the variable, from the hard end of its range to the easy one; what can be proved in a given
time need not be. So the answer is a bracket: the hardest value proved, and the easiest one refuted by an input.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from eqspec.tasks.json_form import (
    JsonObject,
    count,
    exact_number,
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

    value: Annotated[Fraction, exact_number()]
    verdict: Annotated[str, one_of(*Verdict)]
    reason: Annotated[str | None, optional_text()]
    seconds: Annotated[float, number(minimum=0)]
    boxes: Annotated[int, count()]


@dataclass(frozen=True)
class Bracket(JsonObject):
    """Between `refuted` (None: no value was) and `proved` (None: no value was) lies the border.

    `gap` is closed if they are as close as wished (`width`; None: within one hundredth), or if one end of the range
    answers the question. `witness` breaks the claim at `refuted`.
    """

    variable: Annotated[str, text()]
    direction: Annotated[Direction, one_of("smallest", "largest")]
    low: Annotated[Fraction, exact_number()]
    high: Annotated[Fraction, exact_number()]
    width: Annotated[Fraction | None, optional_exact_number("How close the two ends of the answer were wished to be.")]
    proved: Annotated[Fraction | None, optional_exact_number("The hardest value at which the claim was proved.")]
    refuted: Annotated[Fraction | None, optional_exact_number("The easiest value at which the claim was refuted.")]
    gap: Annotated[Gap, one_of("closed", "budget", description="Whether they are as close as wished, or time ran out.")]
    probes: Annotated[tuple[Probe, ...], listed(Probe.schema(), "", Probe.to_json, Probe.from_json)] = ()
    witness: Annotated[Witness | None, reference(Witness, "witness")] = None
