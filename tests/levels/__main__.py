"""Random quantised networks against all points of their grids: `PYTHONPATH=python:tests python -m levels`.

Every case is a claim about two small programs with quantisers of all roundings, whose arguments often lie on ties. The
run ends with what was seen, and with status 1 if anything was wrong; with `--keep` that is written to a file, too.
"""

from __future__ import annotations

import argparse
import sys
from math import ceil
from multiprocessing import Pool
from pathlib import Path
from time import monotonic

from levels.cases import CLAIMS
from levels.deciding import Tally, judged

_TOGETHER = 50
_CLAIMS = len(CLAIMS) + 2
"""Of each pair."""


def _some(given: tuple[int, int]) -> Tally:
    seed, start = given
    tally = Tally()
    for number in range(start, start + _TOGETHER):
        tally.add(judged(seed, number))
    return tally


def summary(total: Tally, seed: int) -> str:
    """What was seen, in words."""
    lines = [f"{total.cases} cases of seed {seed}, {len(total.wrong)} wrong", *total.wrong]
    lines += [f"{times:9d}  {answer}" for answer, times in sorted(total.answers.items())]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m levels", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="another number makes other cases")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", type=Path, help="a file for what was seen, written again every half minute")
    given = parser.parse_args()
    total, began, said = Tally(), monotonic(), monotonic()
    with Pool(given.jobs) as pool:
        parts = ((given.seed, _TOGETHER * k) for k in range(ceil(given.cases / (_TOGETHER * _CLAIMS))))
        for tally in pool.imap_unordered(_some, parts):
            total.add(tally)
            for complaint in tally.wrong:
                print(complaint, flush=True)
            if monotonic() - said > 30:
                said = monotonic()
                print(f"{total.cases} of {given.cases}, {total.cases / (said - began):.0f} a second", flush=True)
                if given.keep:
                    given.keep.write_text(summary(total, given.seed))
    print(summary(total, given.seed), end="")
    if given.keep:
        given.keep.write_text(summary(total, given.seed))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
