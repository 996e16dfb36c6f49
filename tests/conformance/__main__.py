"""Random ONNX graphs against other implementations: `PYTHONPATH=python:tests python -m conformance --graphs 100000`.

Graphs that are read wrong are made smaller and written to `tests/conformance/kept/`, which the test suite replays. The
run ends with what was seen, and with status 1 if anything was wrong or an operator or opset hardly occurred.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from time import monotonic

from conformance.coverage import missing
from conformance.running import Catch, run

KEPT = Path(__file__).resolve().parent / "kept"


def keep(folder: Path, content: bytes, spoiled: str | None) -> Path:
    """Write a graph where the tests find it; its name says how it was spoiled."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{spoiled or 'whole'}-{hashlib.sha256(content).hexdigest()[:10]}.onnx"
    path.write_bytes(content)
    return path


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--graphs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="another number makes other graphs")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", type=Path, default=KEPT, help="where graphs that go wrong are written")
    given = parser.parse_args()
    total, began, said = Catch(), monotonic(), 0.0
    for catch in run(given.seed, given.graphs, given.jobs):
        total.add(catch)
        for number, complaint, content, spoiled in catch.wrong:
            print(f"graph {number}: {complaint}\n  {keep(given.keep, content, spoiled)}", flush=True)
        if monotonic() - said > 10:
            said = monotonic()
            rate = total.graphs / (said - began)
            print(f"{total.graphs} of {given.graphs}, {rate:.0f} a second, {len(total.wrong)} wrong", flush=True)
    for trait, times in sorted(total.seen.items()):
        print(f"{times:9d}  {trait}")
    lacking = missing(total.seen, total.graphs)
    for trait in lacking:
        print(f"hardly exercised: {trait}")
    print(f"{total.graphs} graphs in {monotonic() - began:.0f} s, {len(total.wrong)} wrong")
    return 1 if total.wrong or lacking else 0


if __name__ == "__main__":
    sys.exit(main())
