"""What each part of the engine is worth: `python -m benches.ablation` runs the same queries with more and more of it.

The rows go from the published method to everything; the last rows take single parts away from everything. Queries
decided, boxes and seconds are counted per family, also where a part does not help. Every finished query is a line in
benches/results/ablation/, and a run goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from acceptance import families as acceptance
from acceptance.published import Query
from benches import RESULTS, ROOT
from benches.families import spec_queries
from benches.levers import Levers
from benches.measure import added
from benches.report import markdown, wide_console
from eqspec.tasks.task import Domain

ALL_OFF = frozenset(
    {
        "back_substitution",
        "corner_slopes",
        "contract",
        "singles",
        "stable_left_out",
        "selected",
        "root_bounds",
        "alone",
        "hulls",
        "attack",
        "link",
        "entropy",
        "phases",
    }
)


@dataclass(frozen=True)
class Row:
    """A way of searching."""

    name: str
    domain: Domain = "shared"
    without: frozenset[str] = frozenset()
    lp: bool = True

    def options(self, timeout: float, threads: int, boxes: int | None) -> Levers:
        """How to run it."""
        return Levers(
            timeout=timeout, threads=threads, boxes=boxes, domain=self.domain, lp=self.lp, without=self.without
        )

    @property
    def file(self) -> str:
        """Name of its log."""
        return "-".join(re.findall(r"\w+", self.name))


def rows() -> Iterator[Row]:
    """From the published method to everything, then everything but one part."""
    yield Row("naive", "naive", ALL_OFF)
    yield Row("paper", "paper", ALL_OFF)
    yield Row("shared domain", "shared", ALL_OFF)
    yield Row("+ back-substitution", "shared", ALL_OFF - {"back_substitution"})
    yield Row("+ slopes by corners", "shared", ALL_OFF - {"back_substitution", "corner_slopes"})
    yield Row(
        "+ contraction",
        "shared",
        frozenset({"singles", "stable_left_out", "selected", "alone", "hulls", "attack", "link", "entropy", "phases"}),
    )
    of_bounds = frozenset({"selected", "alone", "hulls", "attack", "link", "entropy", "phases"})
    yield Row("+ steps in singles", "shared", of_bounds | {"stable_left_out"})
    yield Row("+ stable neurons left out", "shared", of_bounds)
    yield Row(
        "+ selection", "shared", frozenset({"root_bounds", "alone", "hulls", "attack", "link", "entropy", "phases"})
    )
    yield Row("+ root bounds", "shared", frozenset({"alone", "hulls", "attack", "link", "entropy", "phases"}))
    yield Row("+ each network alone", "shared", frozenset({"hulls", "attack", "link", "entropy", "phases"}))
    yield Row("+ hulls of first ReLUs", "shared", frozenset({"attack", "link", "entropy", "phases"}))
    yield Row("+ link", "shared", frozenset({"attack", "entropy", "phases"}))
    yield Row("+ exact softmax", "shared", frozenset({"attack", "phases"}))
    yield Row("+ neuron splits", "shared", frozenset({"attack"}))
    yield Row("+ attack (everything)")
    parts = {
        "back_substitution": "back-substitution",
        "corner_slopes": "slopes by corners",
        "link": "link",
        "entropy": "exact softmax",
        "contract": "contraction",
        "singles": "steps in singles",
        "stable_left_out": "stable neurons left out",
        "selected": "selection",
        "root_bounds": "root bounds",
        "sign_trees": "splits at signs on the first box",
        "euclidean_norms": "Euclidean norms of the first box",
        "second_order": "forms of second order",
        "alone": "each network alone",
        "hulls": "hulls of first ReLUs",
    }
    for switch, words in parts.items():
        yield Row(f"everything but {words}", without=frozenset({switch}))
    yield Row("everything but linear programs", lp=False)


def families() -> dict[str, list[Query]]:
    """The queries by family; of the acceptance data only every so manieth, where it is present."""
    found = {f"own {name}": spec_queries(ROOT / "specs" / f"{name}.eqspec")() for name in ("lhc", "digits", "cells")}
    if acceptance.SHARED.is_dir():
        known = acceptance.FAMILIES
        found["lhc"] = known["lhc"].queries()
        found["acas-0.5"] = known["acas-0.5"].queries()[::7]
        found["mnist-eps"] = known["mnist-eps"].queries()[::5]
        found["mnist-top1"] = known["mnist-top1"].queries()[::5]
    return found


def outcomes(row: Row, name: str, queries: list[Query], options: Levers, folder: Path) -> list[dict[str, Any]]:
    """One cell: what became of each query, earlier runs taken over."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row.file}.jsonl"
    done = acceptance.read_log(path, options).get(name, {})
    with path.open("a", encoding="utf-8") as log:
        return acceptance.run(acceptance.Family(name, lambda: queries, None), options, done, log)


def cell(found: list[dict[str, Any]]) -> str:
    """What became of one family in one way."""
    total = added(found)
    counts = f"{total['decided']} ({total['equivalent']} + {total['different']}) of {total['queries']}"
    return f"{counts}, {total['boxes']} boxes, {total['seconds']:.1f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    chosen = families()
    parser = argparse.ArgumentParser("python -m benches.ablation", description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", help=f"which; all by default: {', '.join(chosen)}")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for each query")
    parser.add_argument(
        "--boxes", type=int, help="for each query; with a long timeout the counts repeat on any machine"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", nargs="+", choices=[row.name for row in rows()], help="only these")
    parser.add_argument("--folder", type=Path, default=RESULTS / "ablation")
    given = parser.parse_args(arguments)
    if unknown := set(given.families) - set(chosen):
        parser.error(f"no family {', '.join(sorted(unknown))}; there are {', '.join(chosen)}")
    errors = Console(stderr=True)
    # The runner of families tells runs apart by time, threads and domain.
    folder = given.folder / f"{given.boxes or 'any'}-boxes"
    names = [name for name in chosen if name in given.families or not given.families]
    table = markdown("decided (equivalent + different), boxes, seconds", *names)
    try:
        for row in (row for row in rows() if not given.rows or row.name in given.rows):
            errors.print(row.name, style="bold")
            options = row.options(given.timeout, given.threads, given.boxes)
            cells = [cell(outcomes(row, name, chosen[name], options, folder)) for name in names]
            table.add_row(row.name, *cells)
    except KeyboardInterrupt:
        errors.print("interrupted; the logs keep what is done, and the same command goes on")
    wide_console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
