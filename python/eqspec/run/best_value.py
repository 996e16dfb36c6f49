"""Runs a `find`: by bisection where the claim moves one way with the variable, else number by number."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.run.bisection import Bisection
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.run.value_search import ValueSearch
from eqspec.run.whole_numbers import WholeNumbers
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
    """The answer of a search as a result with `find`, and whether it was interrupted. One budget covers it all."""
    values = ValueSearch(runner, search, monitor, stop=stop, options=options)
    answer = (WholeNumbers if search.whole else Bisection)(values)
    return answer.run(), values.interrupted
