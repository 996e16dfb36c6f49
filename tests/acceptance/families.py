"""Runs whole families of published queries and sets the outcome beside the published one.

    PYTHONPATH=tests python -m acceptance.families acas-0.05 lhc --threads 1 --jobs 2 --timeout 120 --log outcome.jsonl

Not a test: it takes minutes to hours and reports times. Every finished task is a line of the log at once, and a run
with the same log and settings goes on where the last one stopped. Exit code 1 if a verdict contradicts a published one.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from acceptance import mnist, published
from acceptance.published import Query
from eqspec.run.batch import run_all
from eqspec.run.monitor import Monitor
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@dataclass(frozen=True)
class Family:
    """Queries that are reported together. `seconds` is the published total; None if there is none for these queries."""

    name: str
    queries: Callable[[], list[Query]]
    seconds: float | None


def _acas(eps: str) -> Callable[[], list[Query]]:
    return lambda: [query for query in published.acas(SHARED) if f"eps={eps}]" in query.name]


FAMILIES = {
    family.name: family
    for family in (
        Family("acas-0.05", _acas("0.05"), 227.0),
        Family("acas-0.5", _acas("0.5"), 1457.0),
        Family("lhc", lambda: published.lhc(SHARED), 614.0),
        Family("mnist-eps", lambda: published.mnist(SHARED, "close", rows=10), None),
        Family("mnist-tenth", lambda: mnist.queries(SHARED, every=10), None),
        Family("mnist-all", lambda: mnist.queries(SHARED), None),
        Family("mnist-top1", lambda: published.mnist(SHARED, "same", rows=10), None),
    )
}


def contradicts(verdict: str, known: str) -> bool:
    """Whether both are verdicts and they differ."""
    return {verdict, known} == {"equivalent", "different"}


def run(
    family: Family, options: Options, done: dict[str, dict[str, Any]], log: TextIO | None, jobs: int = 1
) -> list[dict[str, Any]]:
    """The outcome of every query of a family in its order, those already `done` taken over.

    Queries run as `eqspec check` runs tasks: `jobs` at once, and with one job the rest of a result is made while the
    next search runs. So the CPU time of one query cannot be told from that of others. Raises KeyboardInterrupt if it
    was interrupted, and the error of the first query that ended in one, when all the others are in the log.
    """
    queries = family.queries()
    known = [query for query in queries if query.name in done]
    left = [query for query in queries if query.name not in done]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[at]}"), console=Console(stderr=True)) as display:
        record = _Record(family, left, settings_of(options, jobs), log, display, len(queries))
        for query in known:
            record.add(query.name, done[query.name])
        ended = run_all(Runner(options), [query.task for query in left], record, jobs)
    if ended.interrupted:
        raise KeyboardInterrupt
    for identity, failure in ended.failures:
        failure.add_note(f"in {identity} of {family.name}")
        raise failure
    return [record.outcomes[query.name] for query in queries]


class _Record(Monitor):
    """Keeps the outcome of every query, as a line of the log at once. Several threads may tell it of their queries.

    A query that was interrupted, or ended in an error, has none: it is asked again by the next run.
    """

    def __init__(
        self,
        family: Family,
        queries: Sequence[Query],
        settings: dict[str, Any],
        log: TextIO | None,
        display: Progress,
        total: int,
    ) -> None:
        self.outcomes: dict[str, dict[str, Any]] = {}
        self._family, self._settings, self._log, self._display = family.name, settings, log, display
        self._queries = {id(query.task): query for query in queries}
        self._line = display.add_task(family.name, total=total, at="")
        self._one_at_a_time = threading.Lock()

    def started(self, task: Task) -> None:
        """Show which query is asked."""
        self._display.update(self._line, at=self._queries[id(task)].name)

    def finished(self, task: Task, result: Result) -> None:
        """Write the log's line."""
        if result.reason in (Reason.INTERRUPTED, Reason.ERROR):
            return
        query = self._queries[id(task)]
        outcome = {
            "family": self._family,
            "name": query.name,
            "verdict": result.verdict.value,
            "reason": result.reason.value if result.reason else None,
            "seconds": result.seconds,
            "boxes": result.boxes,
            "lps": result.lps,
            "stages": dict(result.stages),
            "effort": dict(result.effort),
            "certified_fraction": result.certified_fraction,
            "published": query.published.verdict if query.published else None,
            "settings": self._settings,
        }
        with self._one_at_a_time:
            if self._log:
                self._log.write(json.dumps(outcome) + "\n")
                self._log.flush()
            self.add(query.name, outcome)

    def add(self, name: str, outcome: dict[str, Any]) -> None:
        """Count an outcome, and show it if it contradicts the published one."""
        self.outcomes[name] = outcome
        if outcome["published"] and contradicts(outcome["verdict"], outcome["published"]):
            self._display.console.print(f"[bold red]{name}: {outcome['verdict']}, published {outcome['published']}")
        self._display.advance(self._line)


def settings_of(options: Options, jobs: int = 1) -> dict[str, Any]:
    """What outcomes must agree in to be reported together."""
    settings = {"timeout": options.timeout, "threads": options.threads, "domain": options.domain, "lp": options.lp}
    return settings | {"jobs": jobs}


def read_log(path: Path, options: Options, jobs: int = 1) -> dict[str, dict[str, dict[str, Any]]]:
    """Outcomes of an earlier run by family and name; a last line that was cut off is left out."""
    done: dict[str, dict[str, dict[str, Any]]] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            outcome = json.loads(line)
        except json.JSONDecodeError:
            continue
        if outcome["settings"] == settings_of(options, jobs):
            done.setdefault(outcome["family"], {})[outcome["name"]] = outcome
    return done


def report(outcomes: dict[str, list[dict[str, Any]]]) -> tuple[Table, int]:
    """A column per family, and the number of contradictions."""
    table = Table("", *outcomes)
    columns = [_figures(FAMILIES[name], found) for name, found in outcomes.items()]
    for row in zip(*(column.items() for column in columns), strict=True):
        table.add_row(row[0][0], *(figure for _, figure in row))
    return table, sum(_contradictions(found) for found in outcomes.values())


def _contradictions(found: list[dict[str, Any]]) -> int:
    return sum(contradicts(o["verdict"], o["published"]) for o in found if o["published"])


def _figures(family: Family, found: list[dict[str, Any]]) -> dict[str, str]:
    verdicts = [outcome["verdict"] for outcome in found]
    return {
        "decided": f"{len(found) - verdicts.count('unknown')} of {len(found)}",
        "equivalent": str(verdicts.count("equivalent")),
        "different": str(verdicts.count("different")),
        "unknown": str(verdicts.count("unknown")),
        "against a published verdict": str(_contradictions(found)) if any(o["published"] for o in found) else "-",
        "seconds": f"{sum(outcome['seconds'] for outcome in found):.1f}",
        "seconds published": f"{family.seconds:.0f}" if family.seconds else "-",
        "boxes": str(sum(outcome["boxes"] for outcome in found)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="acceptance.families", description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="+", choices=list(FAMILIES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="queries at once, each with so many threads")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each task")
    parser.add_argument("--domain", choices=["shared", "paper", "naive"], default="shared")
    parser.add_argument("--no-lp", action="store_true")
    parser.add_argument("--log", type=Path, help="JSON lines; an existing log is continued")
    given = parser.parse_args(arguments)
    if given.jobs < 1:
        parser.error(f"--jobs {given.jobs}; give 1 or more")
    options = Options(timeout=given.timeout, threads=given.threads, domain=given.domain, lp=not given.no_lp)
    done = read_log(given.log, options, given.jobs) if given.log else {}
    outcomes: dict[str, list[dict[str, Any]]] = {}
    log = given.log.open("a") if given.log else None
    try:
        for name in dict.fromkeys(given.families):
            outcomes[name] = run(FAMILIES[name], options, done.get(name, {}), log, given.jobs)
    except KeyboardInterrupt:
        print(
            "interrupted; " + ("the log keeps what is done" if log else "without --log nothing is kept"),
            file=sys.stderr,
        )
    finally:
        if log:
            log.close()
    table, contradictions = report(outcomes)
    Console().print(table)
    return 1 if contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
