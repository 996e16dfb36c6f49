"""Measures whole families of queries: `python -m benches` from the repository's root.

Each family runs in a process of its own, with one and with two threads, and its queries as `eqspec check` runs tasks:
`--threads 1 --jobs 2` asks two at once, each with one thread. Every finished run is kept in
benches/results/families.jsonl at once, and a run with --resume goes on where the last one stopped. Wall times mean
something only on an idle machine; CPU time per box is the number to compare, and the load is printed beside it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from benches import RESULTS, ROOT, machine
from benches.baselines import keep
from benches.families import measurements
from benches.report import render, wide_console


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit code 1 if a verdict contradicts a published one."""
    names = [m.name for m in measurements()]
    parser = argparse.ArgumentParser("python -m benches", description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", help=f"which; all by default: {', '.join(names)}")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="one run for each number")
    parser.add_argument("--jobs", type=int, default=1, help="queries at once, each with so many threads")
    parser.add_argument("--resume", action="store_true", help="keep the runs of families that the log already has")
    parser.add_argument("--log", type=Path, default=RESULTS / "families.jsonl", help="JSON lines")
    parser.add_argument("--keep", action="store_true", help="append the runs to benches/baselines.csv")
    parser.add_argument("--list", action="store_true", help="only name the families")
    given = parser.parse_args(arguments)
    if given.list:
        print("\n".join(names))
        return 0
    if unknown := set(given.families) - set(names):
        parser.error(f"no family {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if given.jobs < 1:
        parser.error(f"--jobs {given.jobs}; give 1 or more")
    chosen = [name for name in names if name in given.families or not given.families]
    errors = Console(stderr=True)
    here = machine.measure()
    errors.print(here.describe())
    given.log.parent.mkdir(parents=True, exist_ok=True)
    runs = read_log(given.log) if given.resume else []
    done = {(run["name"], run["threads"], run["jobs"]) for run in runs}
    with given.log.open("a" if given.resume else "w", encoding="utf-8") as log:
        try:
            for name, threads in product(chosen, given.threads):
                if (name, threads, given.jobs) not in done:
                    at_once = f", {given.jobs} jobs" if given.jobs > 1 else ""
                    errors.print(f"{name}, {threads} thread{'s' * (threads > 1)}{at_once}")
                    runs.append(measured(name, threads, given.jobs, log))
        except KeyboardInterrupt:
            errors.print("interrupted; --resume goes on from here")
    asked = set(product(chosen, given.threads, [given.jobs]))
    runs = [run for run in runs if (run["name"], run["threads"], run["jobs"]) in asked]
    wide_console().print(render(runs, here))
    if given.keep:
        keep(runs, here)
    return 1 if any(run["contradictions"] for run in runs) else 0


def measured(name: str, threads: int, jobs: int, log: Any) -> dict[str, Any]:
    """One run in a process of its own, written to the log."""
    command = [sys.executable, "-m", "benches.measure", name, str(threads), str(jobs)]
    answer = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    run: dict[str, Any] = {**json.loads(answer.stdout), "load": machine.load()}
    log.write(json.dumps(run) + "\n")
    log.flush()
    return run


def read_log(path: Path) -> list[dict[str, Any]]:
    """Runs of earlier calls; a last line that was cut off is left out. Lines without `jobs` are of one at a time."""
    runs = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            runs.append({"jobs": 1, **json.loads(line)})
        except json.JSONDecodeError:
            continue
    return runs


if __name__ == "__main__":
    sys.exit(main())
