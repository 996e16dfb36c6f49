"""What a region made of the rows of a table is, and how many of the rows that were held out lie in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import ClassVar

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.binomial import CONFIDENCE, at_least
from eqspec.tasks.json_form import Form, JsonObject, as_json, count, exact_number, number, text


@dataclass(frozen=True)
class SeenData(JsonObject):
    """Principal components of half of the rows, a factor from a quarter, and a count of the last quarter.

    `factor` is how many standard deviations each component, and each distance from the plane of the components, may
    have. Of the `constraints` that this makes, `biting` cut off something of the box; the others are left out.
    `inside` of the `held_out` rows lie in the whole region, its box and other constraints included.
    """

    table: str = field(metadata=as_json(text("The table as the spec names it.")))
    rows: int = field(metadata=as_json(count("How many of its rows were used.")))
    components: int = field(metadata=as_json(count("How many principal components bound the region.")))
    explained: float = field(
        metadata=as_json(number("The share of the variance that these explain.", minimum=0, maximum=1))
    )
    share: Fraction = field(metadata=as_json(exact_number("The share of rows that was to be kept.")))
    factor: Fraction = field(metadata=as_json(exact_number("In standard deviations, in each of these directions.")))
    constraints: int = field(metadata=as_json(count("Linear constraints in all.")))
    biting: int = field(metadata=as_json(count("Of these, how many cut off something of the box.")))
    held_out: int = field(metadata=as_json(count("Rows that neither components nor factor were made from.")))
    inside: int = field(metadata=as_json(count("How many of them lie in the region.")))
    confidence: Fraction = field(default=CONFIDENCE, metadata=as_json(exact_number()))

    DERIVED: ClassVar[Mapping[str, Form]] = {
        "at_least": Form(
            {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "A lower bound of the share of events in the region, if rows are drawn like them.",
            },
            float,
        ),
    }

    @property
    def at_least(self) -> Fraction:
        """A lower bound (Clopper and Pearson) of the share of events that lie in the region, if drawn like the rows."""
        return at_least(self.inside, self.held_out, self.confidence)
