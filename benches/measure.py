"""Runs one measurement in a process of its own, so that its CPU time and its largest memory are its own.

`python -m benches.measure NAME THREADS JOBS` prints one line of JSON; progress goes to the error stream.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

from acceptance import families as acceptance
from benches.families import Measurement, measurements
from benches.levers import Levers


def run(measurement: Measurement, threads: int, jobs: int = 1) -> dict[str, Any]:
    """Outcomes added up: what was decided, and what it took.

    `jobs` queries run at once with `threads` each. `wall` is the wall time of the whole family and `seconds` the sum of
    those of its queries, which overlap; `cpu` is the CPU time of the whole process in between, `bytes` the most memory
    the process ever had; `parts` are seconds by part of the work, over all threads.
    """
    options = Levers(timeout=measurement.timeout, threads=threads, boxes=measurement.boxes, without=measurement.without)
    queries = measurement.chosen()
    family = acceptance.Family(measurement.name, lambda: queries, measurement.family.seconds)
    before, began = _cpu(), perf_counter()
    outcomes = acceptance.run(family, options, {}, None, jobs)
    return {
        "name": measurement.name,
        "threads": threads,
        "jobs": jobs,
        "timeout": measurement.timeout,
        "boxes_each": measurement.boxes,
        "without": sorted(measurement.without),
        "wall": perf_counter() - began,
        "cpu": _cpu() - before,
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        **added(outcomes),
    }


def added(outcomes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts over many outcomes of the runner of families."""
    found = list(outcomes)
    verdicts = Counter(outcome["verdict"] for outcome in found)
    parts: Counter[str] = Counter()
    stages: Counter[str] = Counter()
    effort: Counter[str] = Counter()
    for outcome in found:
        parts.update(outcome["effort"]["seconds"])
        stages.update(outcome["stages"])
        effort.update({name: outcome["effort"][name] for name in ("flops", "obligations", "asked", "contracted")})
    contradictions = sum(acceptance.contradicts(o["verdict"], o["published"]) for o in found if o["published"])
    return {
        "queries": len(found),
        "decided": verdicts["equivalent"] + verdicts["different"],
        "equivalent": verdicts["equivalent"],
        "different": verdicts["different"],
        "contradictions": contradictions,
        "seconds": sum(outcome["seconds"] for outcome in found),
        "boxes": sum(outcome["boxes"] for outcome in found),
        "lps": sum(outcome["lps"] for outcome in found),
        "parts": dict(parts),
        "stages": dict(stages),
        **effort,
    }


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """The command."""
    name, threads, jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    (chosen,) = [m for m in measurements() if m.name == name]
    print(json.dumps(run(chosen, threads, jobs)))


if __name__ == "__main__":
    main()
