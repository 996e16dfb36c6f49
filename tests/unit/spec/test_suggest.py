"""Suggestions: near enough to be meant, never far-fetched."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from eqspec.spec.suggest import closest, distance, enumerate_names

words = st.text("abc", max_size=6)


def reference(a: str, b: str) -> int:
    """The definition, by recursion: optimal string alignment."""

    @cache
    def cost(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        best = min(cost(i - 1, j) + 1, cost(i, j - 1) + 1, cost(i - 1, j - 1) + (a[i - 1] != b[j - 1]))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            best = min(best, cost(i - 2, j - 2) + 1)
        return best

    return cost(len(a), len(b))


@given(words, words)
def test_distance_is_the_distance_up_to_its_limit(a: str, b: str) -> None:
    assert distance(a, b) == min(reference(a, b), 3)


def test_the_nearest_is_suggested() -> None:
    assert closest("netwrok", ["space", "network", "networks"]) == "network"
    assert closest("PRUNED", ["pruned"]) == "pruned"
    assert closest("completely", ["network"]) is None


def test_short_words_are_near_to_everything_and_suggest_nothing() -> None:
    assert closest("l3", ["l1", "l2"]) is None
    assert closest("L1", ["l1", "l2"]) == "l1"


def test_long_lists_are_cut() -> None:
    assert enumerate_names("ab") == "a, b"
    assert enumerate_names(map(str, range(20)), 3) == "0, 1, 2, ... (20 in all)"
