"""Runs that are kept: benches/baselines.csv, one line each, oldest first.

`python -m benches --keep` appends what it has just measured. Lines are never changed: where a number no longer holds,
a later line has the one that does, and the first ones end before the columns that came later. benches/BASELINES.md says
how to read them.
"""

from __future__ import annotations

import csv
import datetime
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benches import ROOT
from benches.machine import Machine

BASELINES = Path(__file__).with_name("baselines.csv")
COLUMNS = (
    *("date", "commit", "family", "setting", "threads", "queries", "decided", "boxes"),
    *("seconds", "cpu_seconds", "machine", "jobs", "wall_seconds"),
)
BUSY = 1.5
"""With more running processes than this, besides the threads of the queries, wall times are those of a busy machine."""


def kept(path: Path = BASELINES) -> list[dict[str, str]]:
    """Every line by column; of columns that it ends before it has no value."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, restval=""))


def line(run: Mapping[str, Any], machine: Machine, commit: str, date: str) -> dict[str, str]:
    """A run of benches/results/families.jsonl as a line."""
    without = f"without {', '.join(run['without'])}" if run["without"] else "default"
    limits = [f"timeout {run['timeout']:g} s"] if run["timeout"] else []
    limits += [f"{run['boxes_each']} boxes each"] if run["boxes_each"] else []
    jobs = run.get("jobs", 1)
    state = "busy" if run["load"] > run["threads"] * jobs + BUSY else "idle"
    return {
        "date": date,
        "commit": commit,
        "family": run["name"],
        "setting": "; ".join([without, *limits]),
        "threads": str(run["threads"]),
        "queries": str(run["queries"]),
        "decided": str(run["decided"]),
        "boxes": str(run["boxes"]),
        "seconds": f"{run['seconds']:.2f}",
        "cpu_seconds": f"{run['cpu']:.2f}",
        "machine": f"{machine.processor}, {machine.cores} cores, {state}",
        "jobs": str(jobs),
        "wall_seconds": f"{run['wall']:.2f}" if "wall" in run else "",
    }


def keep(runs: Iterable[Mapping[str, Any]], machine: Machine, path: Path = BASELINES) -> None:
    """Append runs of today on the commit that is checked out."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    commit, date = asked.stdout.strip() or "unknown", datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writerows(line(run, machine, commit, date) for run in runs)
