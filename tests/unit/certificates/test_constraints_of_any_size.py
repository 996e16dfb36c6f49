"""Constraints whose numbers no float holds are what they are, in the search and in the audit of its proof."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import eqspec
from eqspec.audit import audit
from eqspec.property import Epsilon
from unit.certificates.test_models_in_memory import small

SIZES = [Fraction(10) ** 400, Fraction(10) ** 305, Fraction(1, 10**400)]


@pytest.mark.parametrize("size", SIZES, ids=["1e400", "1e305", "1e-400"])
@pytest.mark.parametrize(
    ("bound", "eps", "verdict"), [(-3, "0", "equivalent"), (-1, "0.1", "equivalent"), (-1, "0.001", "different")]
)
def test_a_constraint_is_the_same_times_any_number(
    size: Fraction, bound: int, eps: str, verdict: str, tmp_path: Path
) -> None:
    """The bound -3 leaves nothing of the box."""
    rows = ([[str(size)] * 2], [str(bound * size)])
    found = eqspec.verify(
        small(), small(1.01), [-1, -1], [1, 1], Epsilon(eps), constraints=rows, timeout=20, certify=tmp_path
    )
    assert (str(found.verdict), found.vacuous, found.uncertified) == (verdict, bound == -3, None)
    assert found.certificate is not None
    assert audit(Path(found.certificate)).verdict == verdict


def test_a_bound_beyond_the_floats_is_no_bound(tmp_path: Path) -> None:
    rows = ([[1, 1]], ["1e400"])
    found = eqspec.verify(
        small(), small(1.01), [-1, -1], [1, 1], Epsilon(0.1), constraints=rows, timeout=20, certify=tmp_path
    )
    assert (str(found.verdict), found.uncertified) == ("equivalent", None)
