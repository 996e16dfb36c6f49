"""Large enclosures are computed in blocks, and float32 products without a look at their digits: against rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.networks import enclosure as en

Array = NDArray[np.float64]
SHAPES = [((7, 9), (7, 9)), ((7, 9), (9,)), ((7, 9), (7, 1)), ((3, 4, 5), (4, 1)), ((), (6, 7))]


def numbers(rng: np.random.Generator, shape: tuple[int, ...], *, most: int) -> Array:
    """Of all sizes, zeros and numbers below the normal range among them."""
    made = rng.standard_normal(shape) * 2.0 ** rng.integers(-most, most, shape)
    return np.where(rng.random(shape) < 0.1, 0.0, made)


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_products_lie_within_their_error(
    first: tuple[int, ...], second: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of eight entries, which no shape is a multiple of; an error is zero only where nothing is rounded."""
    monkeypatch.setattr(en, "_BLOCK", 8)
    rng = np.random.default_rng(len(first))
    for most in (20, 500):
        a, b = numbers(rng, first, most=most), numbers(rng, second, most=most)
        found = en.multiply(en.exactly(a), en.exactly(b))
        x, y = np.broadcast_arrays(a, b)
        for one, other, value, error in zip(
            *(part.ravel().tolist() for part in (x, y, found.value, found.radius)), strict=True
        ):
            rounding = abs(Fraction(one) * Fraction(other) - Fraction(value))
            assert rounding <= Fraction(error)
            assert rounding > 0 or error == 0


def test_products_of_float32_are_exact_to_the_ends_of_the_type() -> None:
    ends = [2.0**-149, 3 * 2.0**-149, 2.0**-126, 1 + 2.0**-23, 2.0**24 - 1, (2 - 2.0**-23) * 2.0**127, 0.0]
    a = np.array([*ends, *(-x for x in ends)])
    found = en.multiply(en.exactly(a[:, None]), en.exactly(a[None, :]))
    assert found.error is None
    for i, one in enumerate(a.tolist()):
        for j, other in enumerate(a.tolist()):
            assert Fraction(one) * Fraction(other) == Fraction(found.value[i, j])
    assert en.multiply(en.exactly(a[:, None]), en.exactly(np.array([[0.1]]))).error is not None


@pytest.mark.parametrize("shape", [(5, 7), (2, 30), (3, 4, 5), (1, 40)])
def test_sums_of_whole_multiples_are_known_to_be_exact(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of matrices in which every entry is a small multiple of a power of two round nothing, others do."""
    monkeypatch.setattr(en, "_BLOCK", 8)
    rng = np.random.default_rng(sum(shape))
    a: Array = rng.integers(-9, 9, shape) * np.array(2.0**-3)
    b: Array = rng.integers(-9, 9, (*shape[:-2], shape[-1], 3)) * np.array(2.0**-40)
    assert en.matmul(en.exactly(a), en.exactly(b)).error is None
    b[..., -1, 1] = 0.1
    a[..., -1] = 1.0
    error = en.matmul(en.exactly(a), en.exactly(b)).error
    assert error is not None
    assert (error[..., 1] > 0).all()
    assert not error[..., [0, 2]].any()
