"""Trains networks, asks what is asked about them and prints how it went: `python -m benches.graphs`.

One row for each kind of question, one thread. A query is decided at the root if its first box settles it. Networks are
trained once, in a few minutes altogether, and kept below benches/results/graphs; public networks are asked about where
they stand beside the repository. CPU seconds are those of the search alone, reading comes before.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

from rich.console import Console

from acceptance.families import SHARED
from acceptance.published import Query
from benches import machine
from benches.baselines import keep
from benches.graphs import dense, digits, public, quantised, twins
from benches.report import markdown, wide_console
from convolutional_models import SMOOTH
from eqspec.errors import EqspecError
from eqspec.property import Epsilon
from eqspec.run.options import Options
from eqspec.run.runner import Runner


@dataclass(frozen=True)
class Row:
    """Queries that are reported together; `target` is what they should reach."""

    name: str
    queries: Callable[[], list[Query]]
    target: str
    timeout: float = 30


def rows() -> list[Row]:
    """All of them; those of public networks only where these are."""
    own = [
        Row("digits, exported", digits.exported, "root, < 50 ms"),
        Row("digits, permuted", digits.moved, "root, < 50 ms"),
        Row("digits, 8 bits, 3 x, .1", lambda: digits.gridded("3"), "> 90 % at the root"),
        Row("digits, 8 bits, 3 x, .02", lambda: digits.gridded("3", 0.02), "> 90 % at the root"),
        Row("digits, smooth, exported", lambda: digits.exported(SMOOTH), "root, < 100 ms"),
        Row("digits, smooth, 8 bits, 3 x, .1", lambda: digits.gridded("3", 0.1, SMOOTH), "> 90 % at the root"),
        Row("digits, smooth, 8 bits, 3 x, .02", lambda: digits.gridded("3", 0.02, SMOOTH), "> 90 % at the root"),
        Row("digits, 8 bits, 1.2 x", lambda: digits.gridded("1.2", 0.02), ""),
        Row("digits, 8 bits, Top-1", lambda: digits.same_class("grid", 0.05), ""),
        Row("digits, cut, Top-1", lambda: digits.same_class("cut", 0.02), ""),
        Row("dense, smooth controllers, 8 bits, 3 x, .01", dense.controllers, "all"),
        Row("dense, smooth classifiers, 8 bits, 3 x, .01", dense.classifiers, "all"),
    ]
    close = Fraction("0.6"), Fraction("0.3")
    beside = [
        Row("convSmall, 8 bits, .25", public.conv_small, "< 1 s"),
        Row("cifar_base_kw, 8 bits, .6", lambda: public.colours(public.BASE, 8, Epsilon(close[0]), 5), "< 5 s", 60),
        Row("resnet_2b, 8 bits, .3", lambda: public.colours(public.RESNET, 1, Epsilon(close[1]), 5), "< 5 s", 60),
        Row("resnet_2b, 8 bits, Top-1", public.resnet_classes, "most, < 60 s", 60),
        Row("conv1d, 8 bits, 3 x", lambda: public.tagger(0.05, "eps"), "as LHC"),
        Row("conv1d, 8 bits, sure of .9", lambda: public.tagger(0.05, "confidence"), "as LHC"),
        Row("two exporters", public.exporters, "proved, or the difference", 60),
        Row("jet, QKeras and clips", quantised.jet, "1 box; 10 s; 60 s; root", 60),
        Row("TFC, 2 bits and 1, 3/255", quantised.binary, "90 of 100 in 5 s", 5),
        Row("ACAS, 16 bits, .05", lambda: quantised.acas(16, "0.05"), "all, <= 10 s of two cores"),
        Row("ACAS prop_3, 8 bits, .5", lambda: quantised.acas(8, "0.5", "prop_3"), "60 s", 60),
        Row("MNIST 3_100, 8 bits, 1, 3/255", quantised.mnist, "90 % at the root"),
        Row("twins, 1e-6", lambda: twins.twins("eps"), "root"),
        Row("twins, Top-1", lambda: twins.twins("top1"), "root"),
    ]
    return own + (beside if SHARED.is_dir() else [])


def cpu() -> float:
    """Seconds of the processor that this process took so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def asked(query: Query) -> str:
    """The bound that is to be proved, where there is one."""
    claim = query.task.property
    return f" of {float(claim.eps):.3g}" if isinstance(claim, Epsilon) else ""


def measured(row: Row, most: int | None, say: Callable[[str], None]) -> dict[str, Any]:
    """One row; every query as it is decided to `say`."""
    before = cpu()
    queries = row.queries()
    read = cpu() - before
    runner = Runner(Options(threads=1, timeout=row.timeout, boxes=most, weaken=False))
    found = []
    for query in queries:
        began, before = perf_counter(), cpu()
        try:
            result = runner.run(query.task)
            verdict, boxes, why = result.verdict.value, result.boxes, str(result.reason or "")
            first = result.initial_bound  # none where integers decided, or an input was found before any box
            bound = ("no bound" if first is None else f"first bound {first:.3g}") + asked(query)
        except EqspecError as problem:
            verdict, boxes, why, bound = "refused", 0, str(problem), ""
        seconds, busy = perf_counter() - began, cpu() - before
        found.append((verdict, boxes, seconds, busy))
        answer = f"{verdict} ({why})" if why else verdict
        say(f"  {query.name}: {answer}, {bound}, {boxes} boxes, {seconds:.2f} s, CPU {busy:.3f} s")
    decided = [one for one in found if one[0] in ("equivalent", "different")]
    return {
        "name": f"graphs: {row.name}",
        "target": row.target,
        "threads": 1,
        "timeout": row.timeout,
        "boxes_each": most,
        "without": [],
        "load": machine.load(),
        "before": read,
        "queries": len(found),
        "decided": len(decided),
        "different": sum(one[0] == "different" for one in found),
        "root": sum(one[1] <= 1 for one in decided),
        "boxes": sum(one[1] for one in found),
        "seconds": sum(one[2] for one in found),
        "cpu": sum(one[3] for one in found),
        "median": statistics.median(one[3] for one in found),
        "largest": max(one[3] for one in found),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    names = [row.name for row in rows()]
    parser = argparse.ArgumentParser("python -m benches.graphs", description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", help=f"those whose names begin so; all by default: {'; '.join(names)}")
    parser.add_argument("--keep", action="store_true", help="append the rows to benches/baselines.csv")
    parser.add_argument("--boxes", type=int, help="stop each query after so many: with 1 only the root is asked")
    given = parser.parse_args(arguments)
    errors = Console(stderr=True, highlight=False)

    def say(line: str) -> None:
        errors.print(line, markup=False)

    chosen = [row for row in rows() if not given.rows or row.name.startswith(tuple(given.rows))]
    if not chosen:
        parser.error(f"no such row; there are {'; '.join(names)}")
    if any(row.name.startswith("digits") for row in chosen):
        digits.make(say)
    runs = []
    for row in chosen:
        say(row.name)
        runs.append(measured(row, given.boxes, say))
    table = markdown("row", "decided", "different", "root", "boxes", "seconds", "CPU s", "median", "largest", "target")
    for run in runs:
        counts = (f"{run['decided']} of {run['queries']}", *(str(run[k]) for k in ("different", "root", "boxes")))
        times = (f"{run[k]:.3f}" for k in ("seconds", "cpu", "median", "largest"))
        table.add_row(run["name"], *counts, *times, run["target"])
    wide_console().print(table)
    if given.keep:
        keep(runs, machine.measure())
    return 0


if __name__ == "__main__":
    sys.exit(main())
