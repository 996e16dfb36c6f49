"""Witnesses are set apart from rows of a table where there is one: found by brute force over exact rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import examples
from eqspec.property import Epsilon
from eqspec.replay.ascent import Region
from eqspec.replay.improving import improve
from eqspec.replay.replay import Replay, contains
from eqspec.report.inputs import inputs, nearest_row, parts_moved, row_of, set_apart
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks import serialisation
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.observed import Observed
from eqspec.tasks.task import LinearConstraint, Task
from eqspec.tasks.witness import Witness
from small_tasks import identity, network, space, task

F = Fraction
SIZE = 12
CENTRE, SCALE = (F(1, 10),) * SIZE, (F(1, 3),) * SIZE


def rows(*raw: list[Fraction], table: str = "t.csv") -> Observed:
    return Observed(table, [(10 + i, tuple(row)) for i, row in enumerate(raw)], CENTRE, SCALE)


def in_raw(x: float) -> Fraction:
    """In raw units what is so much in network units."""
    return F(1, 10) + F(x).limit_denominator(1000) / 3


def only_third(observed: tuple[Observed, ...], **fields: Any) -> Task:
    """The candidate alone reads feature 3, and more than 1/2 of it breaks the claim."""
    other = np.zeros((1, SIZE))
    other[0, 3] = 1.0
    pair = (network((np.zeros((1, SIZE)), np.zeros(1))), network((other, np.zeros(1))))
    given = {"space": space(SIZE, 1, centre=CENTRE, scale=SCALE), "observed": observed, **fields}
    return task(*pair, Epsilon(F(1, 2)), **given)


def witness_of(asked: Task) -> Witness:
    witness = Runner(Options(timeout=20, threads=1)).run(asked).witness
    assert witness is not None
    assert contains(asked, witness.normalised)
    return witness


NEAR = [in_raw(0.3)] * SIZE
FAR = [in_raw(-0.4)] * SIZE
OUTSIDE = [in_raw(1.5)] * SIZE
BREAKS = [in_raw(-0.9), *[in_raw(0.2)] * 2, in_raw(0.55), *[in_raw(0.2)] * 8]


def test_features_go_back_to_the_nearest_row_in_the_region() -> None:
    witness = witness_of(only_third((rows(OUTSIDE, FAR, NEAR),)))
    assert (witness.base, witness.moved) == ("row", (3,))
    assert witness.base_row is not None
    assert (witness.base_row.table, witness.base_row.row) == ("t.csv", 12)
    assert [x for i, x in enumerate(witness.raw) if i != 3] == NEAR[1:]
    assert inputs(witness).others == "the other 11 are as in row 12 of t.csv"
    assert set_apart(witness) == "1 feature of 12 differs from row 12 of t.csv."
    assert Witness.from_json(witness.to_json()) == witness
    again = Replay(only_third((rows(OUTSIDE, FAR, NEAR),))).replay(witness.normalised)
    assert again is not None
    assert (again.base_row, again.moved) == (witness.base_row, witness.moved)
    region = serialisation.to_json(only_third(()))["region"]
    base = row_of(witness, region)
    assert base is not None
    assert [round(float(x), 9) for x in base] == [0.3] * SIZE
    assert [i for i, part in enumerate(parts_moved(witness, region)) if part > 1e-9] == [3]


def test_a_row_that_breaks_the_claim_is_the_witness() -> None:
    witness = witness_of(only_third((rows(NEAR, FAR), rows(OUTSIDE, BREAKS, table="u.csv"))))
    assert witness.raw == tuple(BREAKS)
    assert witness.moved == ()
    assert set_apart(witness) == "It is row 11 of u.csv itself."
    assert nearest_row(witness) == "the nearest row is 11 of u.csv, that row itself"


def test_a_distance_is_said_to_be_normalised_only_where_something_is() -> None:
    plain = Observed("t.csv", [(0, (F(1, 4),) * SIZE)], (F(0),) * SIZE, (F(1),) * SIZE)
    witness = witness_of(only_third((plain,), space=space(SIZE, 1)))
    assert witness.nearest is not None
    assert nearest_row(witness) == f"the nearest row is 0 of t.csv, {witness.nearest.distance:.3g} away"
    witness = witness_of(only_third((rows(NEAR),)))
    assert nearest_row(witness).endswith(" away, after normalisation")


@pytest.mark.parametrize("observed", [(), (rows(OUTSIDE),), (rows(),)], ids=["no table", "no row inside", "no row"])
def test_without_a_row_in_the_region_it_is_the_centre(observed: tuple[Observed, ...]) -> None:
    witness = witness_of(only_third(observed))
    assert (witness.base, witness.base_row, witness.moved) == ("centre", None, (3,))


def test_a_row_that_no_constraint_keeps_is_none() -> None:
    first_ones = LinearConstraint((F(1), F(1), *[F(0)] * 10), F(1, 4))
    witness = witness_of(only_third((rows(NEAR, FAR),), constraints=(first_ones,)))
    assert witness.base_row is not None
    assert (witness.base_row.row, witness.moved) == (11, (3,))


def test_on_a_grid_only_rows_of_the_grid_count() -> None:
    grid = (Lattice(F(0), F(1, 4)),) * SIZE
    on_it, beside = [F(1, 10) + F(1, 4) / 3] * SIZE, NEAR
    asked = only_third((rows(beside, on_it),), lattices=grid)
    first = Replay(asked).replay((F(-1, 2),) * 3 + (F(1),) + (F(-1, 4),) * 8)
    assert first is not None
    witness = improve(asked, Replay(asked), first, 0.0)
    assert contains(asked, witness.normalised)
    assert witness.base_row is not None
    assert (witness.base_row.row, witness.moved) == (11, (3,))


def test_a_row_beyond_all_floats_is_no_base() -> None:
    huge = [F(10) ** 400, *NEAR[1:]]
    observed = rows(huge)
    assert observed.most_alike((F(0), *[F(3, 10)] * 11)) is None
    assert observed.nearest((F(0),) * SIZE) is None


@settings(max_examples=examples(60))
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=3),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
)
def test_a_feature_goes_as_far_as_every_constraint_lets_it(
    sides: list[tuple[int, int, int]], point: tuple[int, int]
) -> None:
    """Against every step of a fine grid along each axis."""
    constraints = tuple(LinearConstraint((F(a), F(b)), F(c)) for a, b, c in sides)
    pair = (identity(2), identity(2))
    region = Region(task(*pair, Epsilon(1), (-2, -2), (2, 2), constraints=constraints))
    x = np.array(point, float)
    if any(a * point[0] + b * point[1] > c for a, b, c in sides):
        return
    low, high = region.ends(x, np.arange(2))
    for i in range(2):
        steps = [F(k, 8) for k in range(-16, 17)]
        moved = [tuple(step if j == i else F(point[j]) for j in range(2)) for step in steps]
        fine = [s for s, p in zip(steps, moved, strict=True) if all(a * p[0] + b * p[1] <= c for a, b, c in sides)]
        assert low[i] <= float(min(fine)) + 1e-9
        assert high[i] >= float(max(fine)) - 1e-9
        for end in (low[i], high[i]):
            at = [end if j == i else float(point[j]) for j in range(2)]
            assert all(a * at[0] + b * at[1] <= c + 1e-9 for a, b, c in sides)


@settings(max_examples=examples(40))
@given(st.lists(st.fractions(-5, 5, max_denominator=9), min_size=7, max_size=7), st.booleans())
def test_constraints_in_whole_numbers_say_what_fractions_say(numbers: list[Fraction], strict: bool) -> None:
    a, b, c, bound, *point = numbers
    constraint = LinearConstraint((a, b, c), bound, strict)
    pair = (identity(3), identity(3))
    asked = task(*pair, Epsilon(1), (-5,) * 3, (5,) * 3, constraints=(constraint,))
    value = a * point[0] + b * point[1] + c * point[2]
    assert contains(asked, point) is (value < bound if strict else value <= bound)
    edge = LinearConstraint((a, b, c), value, strict)
    assert contains(task(*pair, Epsilon(1), (-5,) * 3, (5,) * 3, constraints=(edge,)), point) is not strict
