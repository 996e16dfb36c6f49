"""What is nearly an operator is read as what it is, and a reader that takes it for the operator is found."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from eqspec.networks import common_factors, known_functions
from hunt import near_patterns
from hunt.near_patterns import PATTERNS, drawn

FIRST = 7 * 10**9
SEEDS = range(FIRST, FIRST + 360)


@pytest.mark.part(36)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_pattern_is_read_wrongly(seed: int, tmp_path: Path) -> None:
    assert near_patterns.judge(seed, tmp_path)[1] is None


def test_cases_are_of_all_kinds() -> None:
    seen = Counter(drawn(seed)[0] for seed in SEEDS)
    assert all(seen[name] >= 10 for name in PATTERNS), seen


def _of(pattern: str, number: int) -> list[int]:
    return [seed for seed in SEEDS if drawn(seed)[0] == pattern][:number]


def test_constants_that_are_taken_for_those_of_a_function_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_functions, "_apart", lambda a, b: Fraction(0))
    assert any(near_patterns.judge(seed, tmp_path)[1] for seed in _of("gelu by tanh", 6))


def test_signs_that_are_lost_in_a_sum_of_products_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_factors._Term, "signed", lambda self, value: value)
    assert any(near_patterns.judge(seed, tmp_path)[1] for seed in _of("layer norm", 12))
