"""Measured families as tables, and the targets that were set for them.

The clock inside the workers is a wall clock. On a busy machine their busy time exceeds the CPU time of the process, and
each part's time is then scaled down to what the process was granted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from benches.machine import Machine

Run = Mapping[str, Any]


def part_cpu(run: Run, *parts: str) -> float:
    """CPU seconds of parts of the work."""
    busy = sum(seconds for part, seconds in run["parts"].items() if part != "waiting")
    granted = min(1.0, run["cpu"] / busy) if busy else 0.0
    return float(granted * sum(run["parts"].get(part, 0.0) for part in parts))


def microseconds_a_box(run: Run, *parts: str) -> float:
    """CPU microseconds a box, of some parts or of everything."""
    seconds = part_cpu(run, *parts) if parts else run["cpu"]
    return float(seconds / run["boxes"] * 1e6) if run["boxes"] else float("nan")


def gigaflops(run: Run) -> float:
    """Rate of useful work while layers are computed: in propagation and backward bounds."""
    seconds = part_cpu(run, "propagation", "contraction")
    return float(run["flops"] / seconds / 1e9) if seconds else 0.0


def render(runs: Sequence[Run], machine: Machine) -> RenderableType:
    """Everything there is to say about these runs."""
    titled = {
        "Families": families(runs, machine),
        "Share of the workers' time": parts(runs),
        "Decided by stage": stages(runs),
        "Scaling": scaling(runs),
        "Targets": targets(runs, machine),
    }
    shown: list[RenderableType] = [Text(machine.describe())]
    for title, table in titled.items():
        shown += [Text(f"\n{title}\n", "bold"), table]
    return Group(*shown)


def wide_console() -> Console:
    """Standard output, wide enough for the tables where it is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=400)


def markdown(*headings: str) -> Table:
    """A table that can be pasted into a page."""
    table = Table(box=box.MARKDOWN, pad_edge=True)
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table


def families(runs: Sequence[Run], machine: Machine) -> Table:
    """One row per run: wall time of the whole family, and of its queries added up."""
    headings = ("family", "threads", "jobs", "decided", "wall s", "seconds", "CPU s", "boxes", "boxes/s/core", "µs/box")
    table = markdown(*headings, "GFLOP/s", "of dgemm", "MiB", "load")
    for run in runs:
        table.add_row(
            run["name"],
            str(run["threads"]),
            str(run["jobs"]),
            f"{run['decided']} of {run['queries']}",
            f"{run['wall']:.2f}",
            f"{run['seconds']:.2f}",
            f"{run['cpu']:.2f}",
            str(run["boxes"]),
            f"{run['boxes'] / run['cpu']:.0f}",
            f"{microseconds_a_box(run):.0f}",
            f"{gigaflops(run):.2f}",
            f"{gigaflops(run) / machine.peak:.0%}",
            f"{run['bytes'] / 2**20:.0f}",
            f"{run['load']:.1f}",
        )
    return table


def parts(runs: Sequence[Run]) -> Table:
    """Shares of the workers' busy time, and how long they waited for one second of work."""
    names = [part for part in runs[0]["parts"] if part != "waiting"] if runs else []
    table = markdown("family", "threads", *names, "waiting")
    for run in runs:
        busy = sum(run["parts"][name] for name in names) or 1.0
        shares = [f"{run['parts'][name] / busy:.1%}" for name in names]
        table.add_row(run["name"], str(run["threads"]), *shares, f"{run['parts'].get('waiting', 0.0) / busy:.2f}")
    return table


def stages(runs: Sequence[Run]) -> Table:
    """What each stage decided, and how many boxes needed the LP solver or were contracted."""
    names = list(runs[0]["stages"]) if runs else []
    headings = (*names, "asked HiGHS", "contracted", "open claims/box")
    table = markdown("family", "threads", *headings)
    for run in runs:
        boxes = run["boxes"] or 1
        table.add_row(
            run["name"],
            str(run["threads"]),
            *(str(run["stages"][name]) for name in names),
            f"{run['asked'] / boxes:.1%}",
            f"{run['contracted'] / boxes:.1%}",
            f"{run['obligations'] / boxes:.2f}",
        )
    return table


def scaling(runs: Sequence[Run]) -> Table:
    """Boxes a second with several threads against one, one query at a time."""
    table = markdown("family", "threads", "boxes/s, times one thread")
    alone = [run for run in runs if run["jobs"] == 1]
    single = {run["name"]: run for run in alone if run["threads"] == 1}
    for run in alone:
        one = single.get(run["name"])
        if run["threads"] > 1 and one is not None:
            rate = (run["boxes"] / run["seconds"]) / (one["boxes"] / one["seconds"])
            table.add_row(run["name"], str(run["threads"]), f"{rate:.2f}")
    return table


@dataclass(frozen=True)
class Target:
    """A number to stay below (or, with `least`, above) in one run."""

    name: str
    threads: int
    what: str
    limit: float
    value: Callable[[Run, Machine], float]
    least: bool = False

    def met(self, value: float) -> bool:
        """Whether a value is good enough."""
        return value >= self.limit if self.least else value <= self.limit


TARGETS = (
    Target("acas-0.05", 1, "µs of CPU a box", 64, lambda run, _: microseconds_a_box(run)),
    Target("lhc plain", 1, "µs a box, propagation", 40, lambda run, _: microseconds_a_box(run, "propagation")),
    Target("lhc plain", 1, "µs of CPU a box, everything", 300, lambda run, _: microseconds_a_box(run)),
    Target("mnist-eps plain", 1, "µs a box, propagation", 5000, lambda run, _: microseconds_a_box(run, "propagation")),
    Target("own wide plain", 1, "share of the dgemm rate", 0.5, lambda run, m: gigaflops(run) / m.peak, least=True),
    Target("acas-0.05", 2, "seconds, the family", 20, lambda run, _: run["seconds"]),
    Target("lhc", 2, "seconds, the family", 60, lambda run, _: run["seconds"]),
    Target("lhc", 2, "queries decided", 7, lambda run, _: run["decided"], least=True),
    Target("lhc", 2, "share of boxes that asked HiGHS", 0.05, lambda run, _: run["asked"] / (run["boxes"] or 1)),
)


def targets(runs: Sequence[Run], machine: Machine) -> Table:
    """Met or not, for what was measured. They are set for one query at a time, but for the memory."""
    table = markdown("family", "threads", "target", "limit", "measured", "")
    by_name = {(run["name"], run["threads"]): run for run in runs if run["jobs"] == 1}
    for target in TARGETS:
        run = by_name.get((target.name, target.threads))
        if run is not None:
            _row(table, target, target.value(run, machine))
    for run in runs:
        memory = Target(run["name"], run["threads"], "MiB at most", 1024, lambda run, _: run["bytes"] / 2**20)
        _row(table, memory, memory.value(run, machine))
    return table


def _row(table: Table, target: Target, value: float) -> None:
    limit = f"{'at least' if target.least else 'at most'} {target.limit:g}"
    met = Text("met", "green") if target.met(value) else Text("not met", "red")
    table.add_row(target.name, str(target.threads), target.what, limit, f"{value:.4g}", met)
