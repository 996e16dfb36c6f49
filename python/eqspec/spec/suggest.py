"""What a misspelt word was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

FARTHEST = 2
"""The most typing errors by which a suggestion may differ."""
SHORTEST = 4
"""Shorter words get no suggestion but for case: too many others are close."""


def distance(a: str, b: str) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours turn a into b; at most `FARTHEST` + 1."""
    if abs(len(a) - len(b)) > FARTHEST:
        return FARTHEST + 1
    older, old, row = [0] * (len(b) + 1), [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a):
        older, old, row = old, row, [i + 1]
        for j, y in enumerate(b):
            cost = min(old[j + 1] + 1, row[j] + 1, old[j] + (x != y))
            if i and j and x == b[j - 1] and a[i - 1] == y:
                cost = min(cost, older[j - 1] + 1)
            row.append(cost)
        if min(row) > FARTHEST:
            return FARTHEST + 1
    return min(row[-1], FARTHEST + 1)


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to the word, if it is near enough; case does not count."""
    if len(word) < SHORTEST:
        folded = word.casefold()
        return next((c for c in candidates if c.casefold() == folded and c != word), None)
    lowered = word.casefold()
    ranked = [(distance(lowered, c.casefold()), c) for c in candidates if c != word]
    best = min(ranked, default=(FARTHEST + 1, ""))
    return best[1] if best[0] <= FARTHEST else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """`did you mean 'x'?`, or None."""
    meant = closest(word, candidates)
    return None if meant is None else f"did you mean '{meant}'?"


def enumerate_names(names: Iterable[str], most: int = 12) -> str:
    """`a, b, c`, cut short when there are many."""
    listed = list(names)
    return ", ".join(listed) if len(listed) <= most else ", ".join(listed[:most]) + f", ... ({len(listed)} in all)"
