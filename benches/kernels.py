"""The kernels' benchmarks and what each lever is worth, as tables: `python -m benches.kernels`.

Runs `cargo bench` unless told to use the results of an earlier run, and reads what criterion keeps below the target
folder: medians of CPU-bound loops. Levers whose effect is not one loop are measured elsewhere, as the table says.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from benches import ROOT
from benches.report import markdown, wide_console

ELSEWHERE = {
    "lever 8": "not in the engine, which bounds box by box: the rows above say what it could gain in the product",
    "lever 10": "`open claims/box` of `python -m benches`, against all claims of the property",
}


@dataclass(frozen=True)
class Result:
    """One benchmark: group, function, parameter as criterion names them, median in seconds."""

    group: str
    function: str
    parameter: str
    seconds: float
    flops: int | None


def results(folder: Path) -> Iterator[Result]:
    """All results that criterion left below `folder`."""
    for path in sorted(folder.rglob("new/benchmark.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        estimates = json.loads((path.parent / "estimates.json").read_text(encoding="utf-8"))
        throughput = about.get("throughput") or {}
        yield Result(
            about["group_id"],
            about.get("function_id") or "",
            about.get("value_str") or "",
            estimates["median"]["point_estimate"] * 1e-9,
            throughput.get("Elements"),
        )


def levers(found: Sequence[Result]) -> Table:
    """With and without, side by side."""
    table = markdown("lever", "shape", "with, µs", "without, µs", "times as fast")
    seconds = {(r.group, r.parameter, r.function): r.seconds for r in found}
    for group, parameter in dict.fromkeys((r.group, r.parameter) for r in found if r.group.startswith("lever")):
        having, lacking = (seconds.get((group, parameter, word)) for word in ("with", "without"))
        if having and lacking:
            numbers = (f"{having * 1e6:.3g}", f"{lacking * 1e6:.3g}", f"{lacking / having:.2f}")
            table.add_row(group.removeprefix("lever "), parameter, *numbers)
    for lever, words in ELSEWHERE.items():
        table.add_row(lever.removeprefix("lever "), "", "", "", words)
    return table


def products(found: Sequence[Result]) -> Table:
    """GFLOP/s of each library."""
    rates = {(r.parameter, r.function): r.flops / r.seconds / 1e9 for r in found if r.group == "product" and r.flops}
    libraries = ("faer", "matrixmultiply", "gemm")
    table = markdown("product, GFLOP/s", *libraries)
    for shape in dict.fromkeys(shape for shape, _ in rates):
        table.add_row(shape, *(f"{rates[shape, library]:.1f}" for library in libraries if (shape, library) in rates))
    return table


def tiles(found: Sequence[Result]) -> Table:
    """Convolutions of forms and back: times as fast as the dense product with a matrix that is gathered already."""
    seconds = {(r.group, r.parameter, r.function): r.seconds for r in found if r.group.startswith("tile")}
    table = markdown("share of the dense product", "columns", "forward", "transposed")
    for group, name in dict.fromkeys((group, name) for group, name, _ in seconds):
        dense, *ways = (seconds.get((group, name, word)) for word in ("dense", "product", "transposed"))
        shares = (f"{dense / way:.2f}" if dense and way else "" for way in ways)
        table.add_row(name, group.removeprefix("tile, ").removesuffix(" columns"), *shares)
    return table


def others(found: Sequence[Result]) -> Table:
    """The other kernels."""
    table = markdown("kernel", "µs")
    for r in found:
        if r.group != "product" and not r.group.startswith(("lever", "tile")):
            name = " ".join(part for part in (r.group, r.function, r.parameter) if part)
            table.add_row(name, f"{r.seconds * 1e6:.3g}")
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.kernels", description=__doc__.split("\n")[0])
    parser.add_argument("--no-run", action="store_true", help="only show the results of the last run")
    parser.add_argument("--filter", default="", help="only benchmarks with this in their name")
    given = parser.parse_args(arguments)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if not given.no_run:
        command = ["cargo", "bench", "--bench", "core", "--", *([given.filter] if given.filter else [])]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
    found = list(results(target / "criterion"))
    if not found:
        print("no results; run without --no-run", file=sys.stderr)
        return 1
    console = wide_console()
    for table in (products(found), tiles(found), others(found), levers(found)):
        console.print(table)
        console.print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
