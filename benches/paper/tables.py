"""The evaluation's tables: one CSV for each question the paper asks.

A speed-up is the naive way's time over another way's on a query that both decided, with the same verdict; the same of
boxes, which no other process on the machine disturbs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benches.paper import softmax
from benches.paper.queries import Asked
from benches.report import markdown, wide_console

KINDS = ("epsilon", "top1", "confidence")
OTHERS = ("paper", "shared")
"""Ways that are set against the naive one."""


@dataclass(frozen=True)
class Record:
    """What became of one query in one way."""

    data: str
    shape: str
    pair: str
    share: float
    retrained: bool
    weights: float
    kind: str
    sigma: float
    threshold: float | None
    query: str
    way: str
    verdict: str
    seconds: float
    boxes: int

    @classmethod
    def of(cls, asked: Asked, way: str, outcome: Mapping[str, Any]) -> Record:
        """From a line of the log."""
        pair = asked.pair
        return cls(
            data=pair.data,
            shape=pair.shape,
            pair=pair.name,
            share=pair.share,
            retrained=pair.retrained,
            weights=pair.weights,
            kind=asked.kind,
            sigma=asked.sigma,
            threshold=asked.threshold,
            query=asked.query.name,
            way=way,
            verdict=outcome["verdict"],
            seconds=outcome["seconds"],
            boxes=outcome["boxes"],
        )

    @property
    def decided(self) -> bool:
        """Whether it came to a verdict."""
        return self.verdict != "unknown"


@dataclass(frozen=True)
class SpeedUp:
    """A query that the naive way and another one decided alike: how many times the time and the boxes it took."""

    record: Record
    factor: float
    boxes: float


def speed_ups(records: Iterable[Record], way: str) -> list[SpeedUp]:
    """Of one way, on commonly solved queries."""
    decided = {(r.pair, r.query, r.way): r for r in records if r.decided}
    found = []
    for (pair, query, which), record in decided.items():
        naive = decided.get((pair, query, "naive"))
        if which == way and naive is not None and naive.verdict == record.verdict:
            times = naive.seconds / max(record.seconds, 1e-6)
            found.append(SpeedUp(record, times, max(naive.boxes, 1) / max(record.boxes, 1)))
    return found


def decided(records: Sequence[Record], key: Callable[[Record], tuple[Any, ...]], names: Sequence[str]) -> list[Any]:
    """Counts of verdicts by a key and the way."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault((*key(record), record.way), []).append(record)
    return [
        {
            **dict(zip((*names, "way"), group, strict=True)),
            "queries": len(found),
            "decided": sum(r.decided for r in found),
            "equivalent": sum(r.verdict == "equivalent" for r in found),
            "different": sum(r.verdict == "different" for r in found),
            "seconds": round(sum(r.seconds for r in found), 3),
            "boxes": sum(r.boxes for r in found),
        }
        for group, found in sorted(groups.items(), key=lambda item: str(item[0]))
    ]


def gains(records: Sequence[Record], key: Callable[[Record], tuple[Any, ...]], names: Sequence[str]) -> list[Any]:
    """Median and maximum speed-up by a key and the way, in time and in boxes."""
    rows = []
    for way in OTHERS:
        groups: dict[tuple[Any, ...], list[SpeedUp]] = {}
        for gain in speed_ups(records, way):
            groups.setdefault(key(gain.record), []).append(gain)
        for group, found in sorted(groups.items()):
            factors, boxes = [gain.factor for gain in found], [gain.boxes for gain in found]
            summary = {"median": round(median(factors), 3), "maximum": round(max(factors), 3)}
            of_boxes = {"median_boxes": round(median(boxes), 3), "maximum_boxes": round(max(boxes), 3)}
            named = dict(zip(names, group, strict=True))
            rows.append({**named, "way": way, "common": len(found), **summary, **of_boxes})
    return rows


def all_tables(records: Sequence[Record]) -> dict[str, list[dict[str, Any]]]:
    """Every table by name."""
    confident = [r for r in records if r.kind == "confidence" and r.threshold is not None]
    return {
        "queries": [asdict(r) for r in records],
        "decided": decided(records, lambda r: (r.kind,), ("kind",)),
        "decided_by_family": decided(records, lambda r: (r.kind, r.data, r.shape), ("kind", "data", "shape")),
        "decided_by_radius": decided(records, lambda r: (r.kind, r.sigma), ("kind", "sigma")),
        "speedup": gains(records, lambda r: (r.kind,), ("kind",)),
        "speedup_by_confidence": gains(confident, lambda r: (r.threshold,), ("delta",)),
        "speedup_by_weights": gains(records, lambda r: (r.data, r.shape, r.share, r.retrained, r.weights), _WEIGHTS),
        "softmax_error": [dict(row) for row in softmax.table(_DELTAS, [2, 3, 5, 10, 100])],
    }


_DELTAS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 0.999]
_WEIGHTS = ("data", "shape", "share", "retrained", "mean_weight_difference")


def write(records: Sequence[Record], folder: Path, *, single: bool = True) -> list[Path]:
    """One CSV per table; empty ones are left out, and without `single` that of all queries."""
    paths = []
    for name, rows in all_tables(records).items():
        if rows and (single or name != "queries"):
            path = folder / f"{name}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            paths.append(path)
    return paths


def show(records: Sequence[Record]) -> None:
    """The short tables on standard output."""
    console = wide_console()
    found = all_tables(records)
    for name in ("decided", "decided_by_radius", "speedup", "speedup_by_confidence", "softmax_error"):
        if rows := found[name]:
            table = markdown(*rows[0])
            for row in rows:
                table.add_row(*(f"{v:.10g}" if isinstance(v, float) else str(v) for v in row.values()))
            console.print(f"\n{name}\n", style="bold")
            console.print(table)
