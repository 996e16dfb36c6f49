"""Campaigns whose cases come from seeds, judged one by one: what was met is counted, what is wrong is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable


def run(judge: Callable[[int], tuple[str, str | None]], cases: int, first: int) -> int:
    """The exit code of a campaign, 1 if something was wrong.

    `judge` gives for a seed what its case was, and what is wrong with the answer; an exception is wrong, too. Seeds are
    those from 10^9 `first` on.
    """
    seen: Counter[str] = Counter()
    for seed in range(first * 10**9, first * 10**9 + cases):
        try:
            what, wrong = judge(seed)
        except Exception as error:  # nothing that a user could have done wrong
            what, wrong = "raised", f"{type(error).__name__}: {error}"
        seen[what] += 1
        if wrong is not None:
            seen["wrong"] += 1
            print(f"seed {seed}: {wrong}", flush=True)
    for trait, times in sorted(seen.items()):
        print(f"{times:9d}  {trait}")
    return 1 if seen["wrong"] else 0
