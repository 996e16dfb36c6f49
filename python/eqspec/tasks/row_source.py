"""Where the rows come from that a check goes over one by one: what a count of them can be a count of."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.json_form import Form, JsonObject, as_json, count, one_of, text

Choice: TypeAlias = Literal["listed", "all", "sampled"]


@dataclass(frozen=True)
class RowSource(JsonObject):
    """A table as the spec names it, with so many rows; the check goes over as many as are `taken`.

    They are `listed` in the spec, `all` of the table, or `sampled`: drawn by the `seed`, uniformly and without
    repetition. `unusable` rows were passed over because they hold a cell that is no number.
    """

    table: str = field(metadata=as_json(text("The table as the spec names it.")))
    in_table: int = field(metadata=as_json(count("How many rows it has.")))
    taken: int = field(metadata=as_json(count("How many of them the check goes over.")))
    choice: Choice = field(metadata=as_json(one_of("listed", "all", "sampled", description="How these were chosen.")))
    seed: int | None = field(
        default=None, metadata=as_json(Form({"type": ["integer", "null"], "description": "What a sample is drawn by."}))
    )
    unusable: int = field(default=0, metadata=as_json(count("Rows that were passed over: a cell is not a number.")))
