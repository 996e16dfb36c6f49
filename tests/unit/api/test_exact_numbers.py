"""Numbers of Python and numpy in claims, boxes, constraints and grids: each is exactly what it was.

An integer of numpy wraps when it is computed with, also inside of a Fraction, which keeps it as it is.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import eqspec
from eqspec import Epsilon, InputError, Linear, Margin, Verdict
from eqspec.api.box_task import box_task
from eqspec.property import exact
from eqspec.tasks.task import Task
from small_tasks import identity, network

INTEGERS = (np.int8, np.uint8, np.int32, np.uint64)
FULL, MOVED = identity(2), network(([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.25]))


def made(lower: Any, upper: Any, claim: Any = None, **more: Any) -> Task:
    settings: dict[str, Any] = {
        "constraints": None,
        "grid": None,
        "decide": "max",
        "arithmetic": "real",
        "scores": None,
    }
    return box_task((FULL, MOVED), (lower, upper), claim or Epsilon(1), **{**settings, **more})


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_numpy_do_not_wrap(kind: Any) -> None:
    assert type(exact(kind(100)).numerator) is int
    assert exact(kind(100)) * 100 == 10_000
    hundred, nothing = (kind(100), kind(100)), (kind(0), kind(0))
    small = eqspec.verify(FULL, MOVED, [0, 0], [1, 1], Linear(hundred, nothing, kind(120)), timeout=20)
    assert small.verdict is Verdict.DIFFERENT
    assert small.witness is not None
    assert 100 * sum(small.witness.normalised) + 25 > 120
    assert eqspec.verify(FULL, MOVED, [0, 0], [1, 1], Margin(kind(100))).vacuous
    task = made(np.array([1, 2], kind), np.array([3, 100], kind), grid=kind(2))
    assert [type(x.numerator) for x in (*task.lower_exact, *task.upper_exact)] == [int] * 4
    assert (task.lower_exact, task.upper_exact) == ((2, 2), (2, 100))


def test_what_no_float_is_stays_exact() -> None:
    task = made([2**53 + 1, Decimal("0.3")], [2**53 + 3, "1/3"])
    assert (task.lower_exact, task.upper_exact) == ((2**53 + 1, Fraction(3, 10)), (2**53 + 3, Fraction(1, 3)))
    mixed = made([0.1, "0"], [0.1, "1/3"])  # a float is the number that it is, whatever stands beside it
    assert mixed.upper_exact == (Fraction(0.1), Fraction(1, 3))
    long = np.longdouble(1) / 3
    assert made([0, 0], np.array([long, 1])).upper_exact[0] == Fraction(*long.as_integer_ratio())
    bound = made([0, 0], [1, 1], constraints=([["1/3", True]], [Decimal("0.1")])).constraints[0]
    assert (bound.coefficients, bound.bound) == ((Fraction(1, 3), 1), Fraction(1, 10))


def test_claims_with_arrays_are_the_same_claims() -> None:
    plain = Linear((1, 0), (0, -1), 3, strict=True)
    arrays: Any = Linear(np.array([1, 0]), np.array([0, -1]), np.int64(3), strict=np.bool_(True))  # type: ignore[arg-type]
    chosen: Any = Epsilon(1, outputs=np.array([1]))  # type: ignore[arg-type]
    for given, meant in ((arrays, plain), (chosen, Epsilon(1, outputs=(1,)))):
        one, other = (eqspec.verify(FULL, MOVED, [0, 0], [1, 1], claim, timeout=20) for claim in (given, meant))
        assert json.dumps(one.to_json()["claim"]) == json.dumps(other.to_json()["claim"])
    for outputs in (1, (0.5,), ("0",)):
        with pytest.raises(InputError, match="sequences of numbers"):
            made([0, 0], [1, 1], Epsilon(1, outputs=outputs))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lower", "message"),
    [
        (np.ma.array([0, 0], mask=[True, False]), "masked entries"),
        ([0, Decimal("NaN")], r"lower\[1\] = NaN is not finite"),
        ([[0], [0, 1]], "lower is not an array of numbers"),
        ({0: 1}, r"shape \(\)"),
    ],
)
def test_what_is_no_number_is_refused(lower: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(lower, [1, 1])


@pytest.mark.parametrize("setting", [{"timeout": "10s"}, {"memory": "2GB"}, {"threads": 1.5}, {"boxes": "many"}])
def test_settings_of_another_type_are_refused_by_name(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(setting))):
        eqspec.Options(**setting)


def test_numbers_that_pandas_names_are_in_one_order() -> None:
    """They count by their places, so that two orders of the same names would be a box of other inputs."""
    pandas = pytest.importorskip("pandas")
    lower, upper = pandas.Series({"a": 0.0, "b": -1.0}), pandas.Series({"a": 1.0, "b": 2.0})
    rows = pandas.DataFrame([{"a": 1.0, "b": 1.0}])
    task = made(lower, upper, constraints=(rows, [2.0]))
    assert (task.lower_exact, task.upper_exact) == ((0, -1), (1, 2))
    assert made(lower, upper.to_numpy()).upper_exact == (1, 2)
    for other in ((lower, upper[["b", "a"]], None), (lower, [1, 2], (rows[["b", "a"]], [2.0]))):
        with pytest.raises(InputError, match="another order than lower"):
            made(*other[:2], constraints=other[2])
