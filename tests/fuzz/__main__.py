"""Damaged files for every reader, as long as you like: `PYTHONPATH=python:tests python -m fuzz --cases 100000`.

A file that makes a reader fail with anything but an error of ours, take more than ten seconds, or need gigabytes is
kept, and the run ends with status 1.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic

from fuzz.limits import MOST_BYTES, limited
from fuzz.readers import READERS, prepare
from fuzz.trying import attempt


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000, help="for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", choices=list(READERS), action="append", help="only this one; may be repeated")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="where files that matter are kept")
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name, limited(MOST_BYTES):
        folder = Path(name)
        prepare(folder)
        for kind in given.reader or READERS:
            outcomes: Counter[str] = Counter()
            began = monotonic()
            for number in range(given.cases):
                outcome, path = attempt(kind, given.seed, number, folder)
                outcomes[outcome.split(":")[0]] += 1
                if outcome not in ("read", "refused"):
                    wrong += 1
                    given.keep.mkdir(exist_ok=True)
                    kept = given.keep / f"{kind.replace(' ', '-')}-{given.seed}-{number}{path.suffix}"
                    kept.write_bytes(path.read_bytes())
                    print(f"{kept}: {outcome}", flush=True)
            print(f"{kind}: {dict(outcomes)}, {monotonic() - began:.0f} s", flush=True)
    print(f"{wrong} findings; at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
