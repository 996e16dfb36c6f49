"""The answer to a `find` as a result: the bracket, and the time that all its tasks took together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eqspec.run.description import describe
from eqspec.run.options import Options
from eqspec.tasks import serialisation
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.verdict import Reason, Verdict

DEFAULT_SECONDS = 600.0
"""The limit for a search without a budget, which could otherwise spend all its time on one hard value."""


def search_result(
    search: Search,
    bracket: Bracket,
    verdict: Verdict,
    reason: Reason | None,
    results: Sequence[Result],
    seconds: float,
    options: Options,
) -> Result:
    """The result of a search that ran the tasks of `results`; it carries the task at the refuted value."""
    described = describe(
        search.task_at(search.easy if bracket.proved is None else bracket.proved),
        options,
        verdict,
        seconds,
        reason=reason,
        boxes=sum(r.boxes for r in results),
        splits=sum(r.splits for r in results),
        lps=sum(r.lps for r in results),
        milps=sum(r.milps for r in results),
        rests_on_solver=sum(r.rests_on_solver for r in results),
        initial_bound=results[0].initial_bound if results else None,
        certified_fraction=1.0 if bracket.proved is not None else 0.0,
        witness=bracket.witness if verdict is Verdict.DIFFERENT else None,
        find=bracket,
        uncertified="; ".join(f"{r.id}: {r.uncertified}" for r in results if r.uncertified) or None,
    )
    place = str(search.source) if search.source else None
    return replace(
        described,
        id=search.id,
        check=search.check,
        parameters=dict(search.parameters),
        tags=search.tags,
        source=place,
        task=None if bracket.refuted is None else serialisation.to_json(search.task_at(bracket.refuted)),
    )
