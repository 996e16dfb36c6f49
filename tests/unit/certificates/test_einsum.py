"""Einsum as the auditor reads it, in rationals: against numpy; an ellipsis and a diagonal are refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eqspec.audit.rounding import Refused
from unit.certificates.graphs import read, trace
from unit.networks.models import model, node

CASES: list[tuple[str, list[tuple[int, ...] | None]]] = [
    ("bi,eio->beo", [None, (2, 6, 3)]), ("bi,oi->bo", [None, (3, 6)]), ("bi,bi->b", [None, None]), ("bi->i", [None]),
    ("bi,io,ok->bk", [None, (6, 2), (2, 3)]), ("io,bi->ob", [(6, 3), None]), ("bi,bj->bij", [None, None]),
    ("bi,i->bi", [None, (6,)]), ("ab,cb", [None, (2, 6)]), ("bi,bj,ij->b", [None, None, (6, 6)]), ("bi->", [None]),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_sums_of_products(equation: str, shapes: list[tuple[int, ...] | None]) -> None:
    random, names = np.random.default_rng(0), list[str]()
    constants: dict[str, Any] = {}
    for number, shape in enumerate(shapes):
        names.append("x" if shape is None else f"c{number}")
        if shape is not None:
            constants[names[-1]] = (random.integers(-4, 5, shape) / 4).astype(np.float32)
    point = [Fraction(int(n), 8) for n in random.integers(-9, 10, 6)]
    arrays = [np.array([[float(x) for x in point]]) if n == "x" else constants[n].astype(float) for n in names]
    expected = np.einsum(equation, *arrays)
    steps = read(model([node("Einsum", names, "y", equation=equation)], constants, [1, 6]), expected.size).steps()
    found = [float(value) for value in trace(steps, point)[-1]]
    assert np.allclose(found, expected.reshape(-1), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("equation", "other"), [("ii->i", ""), ("...i->i", ""), ("b->b", ""), ("bi->bk", ""), ("bi,ij->bj", "c")]
)
def test_what_is_refused(equation: str, other: str) -> None:
    """A diagonal, an ellipsis, axes of another number or size, and a result that nothing has."""
    constants: dict[str, Any] = {"c": np.ones((5, 2), np.float32)}
    names = ["x", other] if other else ["x"]
    with pytest.raises(Refused):
        read(model([node("Einsum", names, "y", equation=equation)], constants, [1, 6]), 6).steps()
