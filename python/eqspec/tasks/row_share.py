"""A check over the rows of a table, summed up: at how many rows it is proved, refuted or neither, and what that says
about events that are drawn as these rows were.

May be said: "96 of 100 sampled rows proved: at least 91 % of such events, 95 % confidence, if drawn alike". The bound
is that of Clopper and Pearson (`binomial`), about the share of events around which the claim would be proved in the
same time; around those it holds. It rests on the rows being drawn independently and like the events, and on neither
the claim nor the region having been chosen by looking at them. It says nothing about a share of the volume, nor about
any single event, and the bounds of a sweep hold one at a time.

Whatever is not proved counts against the claim, also rows that were never run, so an interrupted run says less, not
more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import ClassVar

from eqspec.lazy_dataclass import dataclass
from eqspec.tasks.binomial import CONFIDENCE, at_least
from eqspec.tasks.json_form import Form, JsonObject, as_json, count, exact_number, reference
from eqspec.tasks.row_source import RowSource

_SHARE = {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True)
class RowShare(JsonObject):
    """What became of all rows at one value of everything else: numbers of rows.

    `vacuous` rows are proved of nothing, so they are apart; `not_run` are those that failed or were never started.
    `source` None: the results do not say which rows there were to be, and nothing is concluded from them.
    """

    source: RowSource | None = field(metadata=as_json(reference(RowSource, "rows", "Which rows they are.")))
    rows: int = field(metadata=as_json(count("How many rows there are in all.")))
    proved: int = field(metadata=as_json(count()))
    refuted: int = field(metadata=as_json(count()))
    vacuous: int = field(metadata=as_json(count("Nothing near these rows meets the condition of the claim.")))
    undecided: int = field(metadata=as_json(count()))
    not_run: int = field(metadata=as_json(count("Failed, or never started.")))
    confidence: Fraction = field(default=CONFIDENCE, metadata=as_json(exact_number("Of each bound by itself.")))

    DERIVED: ClassVar[Mapping[str, Form]] = {
        "at_least": Form(
            {
                **_SHARE,
                "type": ["number", "null"],
                "description": "A lower bound of the share of events around which the claim is proved, if the rows "
                "were drawn like them; null where it is not known which rows there were to be.",
            },
            lambda bound: None if bound is None else float(bound),
        ),
        "at_least_where_met": Form(
            {
                **_SHARE,
                "type": ["number", "null"],
                "description": "The same of those events that are not vacuous; null where none was.",
            },
            lambda bound: None if bound is None else float(bound),
        ),
    }

    @property
    def at_least(self) -> Fraction | None:
        """A lower bound of the share of events around which the claim is proved, if they are drawn like the rows."""
        return None if self.source is None else at_least(self.proved, self.rows, self.confidence)

    @property
    def at_least_where_met(self) -> Fraction | None:
        """The same, of the events near which something may meet the condition of the claim; None where all do."""
        if self.source is None or not self.vacuous or self.rows == self.vacuous:
            return None
        return at_least(self.proved, self.rows - self.vacuous, self.confidence)
