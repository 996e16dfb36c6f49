"""Runs a `find`: by bisection where the claim moves one way with the variable, else number by number."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.run.bisection import bisect
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.run.whole_numbers import try_whole_numbers
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search


def run_search(
    runner: Runner,
    search: Search,
    monitor: Monitor | None = None,
    *,
    stop: Callable[[], bool] | None = None,
    options: Options | None = None,
) -> tuple[Result, bool]:
    """The answer as a result with `find`, and whether it was interrupted. The budget is for the whole search."""
    answer = try_whole_numbers if search.whole else bisect
    return answer(runner, search, monitor, stop=stop, options=options)
