"""The published tool's own figures, and the tasks of the acceptance specs they belong to."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from eqspec.api import Spec, load
from eqspec.tasks.task import Task

LHC_CANDIDATE = "2_80-1-0.1"
LHC_CHECKS = {"near": "0.1", "far": "0.5"}
"""The checks of lhc.eqspec by the width of their box in sigma."""


@dataclass(frozen=True)
class Published:
    """One row of a table: what the published tool said, in how many seconds and boxes."""

    verdict: str
    seconds: float
    boxes: int
    initial_bound: float


@dataclass(frozen=True)
class Query:
    """A task beside what was published about it, if anything was."""

    name: str
    task: Task
    published: Published | None


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _published(row: dict[str, str]) -> Published:
    return Published(row["verdict"], float(row["seconds"]), int(row["boxes"]), float(row["initial_bound"]))


def _task(spec: Spec, identity: str) -> Task:
    (task,) = [t for t in spec.tasks if t.id == identity]
    return task


def acas(shared: Path) -> list[Query]:
    """All ACAS queries of the table, in its order."""
    specs: dict[str, Spec] = {}
    queries = []
    for row in _rows(shared / "data" / "published" / "acas.csv"):
        net = row["net"]
        if net not in specs:
            specs[net] = load(shared / "acceptance" / "acas" / f"{net}.eqspec")
        identity = f"{row['property']}[eps={row['epsilon']}]"
        queries.append(Query(f"{net} {identity}", _task(specs[net], identity), _published(row)))
    return queries


def lhc(shared: Path) -> list[Query]:
    """The eight queries of the LHC pair."""
    spec = load(shared / "acceptance" / "lhc.eqspec")
    rows = {
        (row["sigma"], row["delta"]): row
        for row in _rows(shared / "data" / "published" / "lhc.csv")
        if row["candidate"] == LHC_CANDIDATE
    }
    queries = []
    for check, sigma in LHC_CHECKS.items():
        for delta in ("0.8", "0.9", "0.99", "0.999"):
            task = _task(spec, f"{check}[delta={delta}]")
            queries.append(Query(task.id, task, _published(rows[sigma, delta])))
    return queries


def mnist(shared: Path, check: str, rows: int) -> list[Query]:
    """The tasks of one check of mnist.eqspec around the first images. Only totals over all of them were published."""
    spec = load(shared / "acceptance" / "mnist.eqspec", checks=check)
    return [Query(task.id, task, None) for task in spec.tasks if task.parameters["row"] < rows]
