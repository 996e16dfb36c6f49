"""A reader that is wrong: what a Gemm gives is changed, as a mistake in its reading would."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from eqspec.networks import affine
from eqspec.networks import enclosure as en
from eqspec.networks.operators import OPERATORS
from eqspec.networks.operators.operator_call import OperatorCall


def misread_gemm(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[affine.Affine], affine.Affine] | None = None
) -> None:
    """Every Gemm is read as if it gave something else: by default 1/64 too much in its second output."""
    right = OPERATORS["Gemm"]

    def wrong(call: OperatorCall) -> list[affine.Affine]:
        (value,) = right(call)
        assert isinstance(value, affine.Affine)
        return [(change or _a_little_more)(value)]

    monkeypatch.setitem(OPERATORS, "Gemm", wrong)


def _a_little_more(value: affine.Affine) -> affine.Affine:
    return affine.shift(value, en.exactly(np.array([0.0, 2.0**-6])))
