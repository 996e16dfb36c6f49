"""The paper's tables and figures on our own families: `python -m benches.paper`, or `--quick` for a small version.

Makes the networks, asks every query in the naive, the published and our own way, and writes tables (CSV) and plots
(PNG, with the extra `bench`) to benches/results/paper. Every finished query is a line in a log at once, and a run goes
on where the last one stopped. Ctrl-C stops, and the tables then show what is there. With `--keep` tables and plots are
written to where they are under version control, and docs/comparison.md shows them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from acceptance import families as acceptance
from acceptance.published import Query
from benches import RESULTS, ROOT
from benches.levers import Levers
from benches.paper import figures, tables
from benches.paper.networks import SHARES, pairs
from benches.paper.queries import Asked, asked
from benches.paper.tables import Record
from eqspec.tasks.task import Domain

KEPT = ROOT / "benches" / "paper" / "kept"
PICTURES = ROOT / "docs" / "pictures"
PUBLISHED = frozenset({"back_substitution", "contract", "singles", "attack", "link", "entropy", "phases"})
"""What the paper does not have."""
WAYS: tuple[tuple[Domain, frozenset[str]], ...] = (("naive", PUBLISHED), ("paper", PUBLISHED), ("shared", frozenset()))
"""Domains, with what is left out in each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.paper", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one shape of each data set, three shares, fewer queries")
    parser.add_argument("--timeout", type=float, default=None, help="seconds for each query: 10, or 1 with --quick")
    parser.add_argument("--shapes", type=int, default=None, help="only the first so many shapes of each data set")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=RESULTS / "paper")
    parser.add_argument("--tables-only", action="store_true", help="run nothing; tables and plots of what is there")
    parser.add_argument(
        "--keep",
        nargs="?",
        const="",
        metavar="NAME",
        help="also write tables to benches/paper/kept, plots to docs; with a name, below it, so that both are kept",
    )
    given = parser.parse_args(arguments)
    folder = given.folder / ("quick" if given.quick else "full")
    folder.mkdir(parents=True, exist_ok=True)
    errors = Console(stderr=True)
    records: list[Record] = []
    try:
        collect(records, folder, given, errors)
    except KeyboardInterrupt:
        errors.print("interrupted; the logs keep what is done, and the same command goes on")
    written = tables.write(records, folder)
    if given.keep is not None:
        (KEPT / given.keep).mkdir(exist_ok=True)
        written += tables.write(records, KEPT / given.keep, single=False)
    tables.show(records)
    try:
        written += figures.draw(records, folder)
        if given.keep is not None:
            written += figures.draw(records, PICTURES, f"paper-{given.keep}-" if given.keep else "paper-")
    except ModuleNotFoundError as missing:
        errors.print(f"no plots without {missing.name}: pip install 'eqspec[bench]'")
    for path in written:
        errors.print(f"wrote {path}", soft_wrap=True)
    return 0


def limit(given: argparse.Namespace) -> float:
    """Seconds for each query."""
    return float(given.timeout if given.timeout is not None else 1.0 if given.quick else 10.0)


def collect(into: list[Record], folder: Path, given: argparse.Namespace, errors: Console) -> None:
    """Every query of every pair in every way; `into` gets them as they come, so that nothing is lost on Ctrl-C."""
    size = "quick" if given.quick else "full"
    timeout = limit(given)
    shapes, shares = (1, SHARES[::2]) if given.quick else (given.shapes, SHARES)
    for pair in pairs(folder, shapes, shares):
        questions = asked(pair, folder, size)
        for way, without in WAYS:
            options = Levers(timeout=timeout, threads=given.threads, domain=way, without=without)
            log = folder / f"{way}.jsonl"
            done = acceptance.read_log(log, options).get(pair.name, {})
            if given.tables_only:
                outcomes: list[dict[str, Any]] = [done[q.query.name] for q in questions if q.query.name in done]
            else:
                errors.print(f"{pair.name}, {way}", style="bold")
                family = acceptance.Family(pair.name, partial(_queries, questions), None)
                with log.open("a", encoding="utf-8") as file:
                    outcomes = acceptance.run(family, options, done, file)
            by_name = {q.query.name: q for q in questions}
            into.extend(Record.of(by_name[outcome["name"]], way, outcome) for outcome in outcomes)


def _queries(questions: Sequence[Asked]) -> list[Query]:
    return [q.query for q in questions]


if __name__ == "__main__":
    sys.exit(main())
