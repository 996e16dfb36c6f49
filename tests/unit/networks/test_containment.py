"""Numbers that leave their types, against the definition written out in rationals for every row by itself."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eqspec.networks.containment import can_overflow, first_outside, quantised
from eqspec.networks.curves import Curves
from eqspec.networks.network import Cast, Network
from eqspec.networks.program import INPUTS, Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.networks.transform import compose_affine
from small_tasks import identity

F = Fraction


def program(weights: np.ndarray, quantisers: list[Quantiser], casts: tuple[Cast, ...] = ()) -> Network:
    """x -> Q(W x), each row with its own quantiser, and the sum of the rows."""
    rows = len(weights)
    curves = Curves.of_rows([q.curve for q in quantisers])
    first = Step((Term(INPUTS, Tile.dense(weights)),), np.zeros(rows), None, curves)
    last = Step((Term(0, Tile.dense(np.ones((1, rows)))),), np.zeros(1), None, "identity")
    return Network((first, last), weights.shape[1], "<memory>", "0", casts=casts)


def level(number: Fraction, rounding: Rounding) -> int:
    """Rounding as its names say, with half and sign written out."""
    down, up = floor(number), ceil(number)
    toward, away = (down, up) if number >= 0 else (up, down)
    half = {
        Rounding.HALF_EVEN: down if down % 2 == 0 else up,
        Rounding.HALF_AWAY: away,
        Rounding.HALF_UP: up,
        Rounding.HALF_DOWN: down,
        Rounding.HALF_ZERO: toward,
    }
    if rounding in half:
        if number - down == up - number:
            return half[rounding]
        return down if number - down < up - number else up
    return {Rounding.FLOOR: down, Rounding.CEIL: up, Rounding.ZERO: toward, Rounding.AWAY: away}[rounding]


QUANTISERS = st.builds(
    Quantiser,
    scale=st.sampled_from([0.25, 0.5, 1.0, 0.75]),
    low=st.integers(-8, 0),
    high=st.integers(0, 7),
    rounding=st.sampled_from(Rounding),
    zero=st.sampled_from([0.0, 0.5, -1.0]),
    wraps=st.booleans(),
)
QUARTERS = st.integers(-40, 40).map(lambda n: n / 4)


@given(st.lists(st.tuples(QUARTERS, QUARTERS, QUANTISERS), min_size=1, max_size=4), QUARTERS, QUARTERS, st.booleans())
def test_what_leaves_its_type_is_found_and_nothing_else(
    rows: list[tuple[float, float, Quantiser]], x: float, y: float, wraps: bool
) -> None:
    network = program(np.array([[a, b] for a, b, _ in rows]), [q for *_, q in rows])
    outside: dict[int, int] = {}
    for number, (a, b, q) in enumerate(rows):
        k = level((F(a) * F(x) + F(b) * F(y)) / F(q.scale) + F(q.zero), q.rounding)
        if q.wraps == wraps and not q.low <= k <= q.high:
            outside[number] = k
    found = first_outside(network, [F(x), F(y)], wraps=wraps)
    assert (found is None) == (not outside)
    assert can_overflow(network, wraps=wraps) == any(q.wraps == wraps for *_, q in rows)
    if found is None:
        return
    q = rows[found.row][2]
    assert (found.step, found.level) == (0, outside[found.row])
    assert found.meant == F(q.scale) * (found.level - F(q.zero))
    assert found.limits[0] <= found.stored <= found.limits[1]
    turned = (found.level - q.low) % (q.high - q.low + 1) + q.low
    kept = turned if wraps else min(max(found.level, q.low), q.high)
    assert found.stored == F(q.scale) * (kept - F(q.zero))
    assert found.beyond == max(max(k - rows[n][2].high, rows[n][2].low - k) for n, k in outside.items())


def test_the_first_step_is_named_and_its_assignment() -> None:
    types = [Quantiser(0.5, -4, 3, Rounding.FLOOR, wraps=True)] * 3
    casts = (Cast(0, slice(0, 1), "layer2.accum_t", "ap_fixed<3,2>"), Cast(0, slice(1, 3), "layer2.result_t", "odd"))
    network = program(np.array([[1.0], [0.0], [2.0]]), types, casts)
    found = first_outside(network, [F(9, 5)], wraps=True)
    assert found is not None
    assert (found.row, found.level, found.meant, found.stored) == (2, 7, F(7, 2), F(-1, 2))
    assert found.name(network) == "layer2.result_t[1]"
    assert found.name(program(np.array([[1.0], [0.0], [2.0]]), types)) == "row 2 of step 0"


def test_assignments_stay_where_they_are_behind_a_normalisation() -> None:
    """Inputs that one tile copies, scaled differently, are scaled by a step in front of all others."""
    type_ = Quantiser(0.5, -4, 3, Rounding.FLOOR, wraps=True)
    copied = Step((Term(INPUTS, Tile.rearranged(np.arange(2))),), np.zeros(2), None, Curves.all(type_.curve))
    last = Step((Term(0, Tile.dense(np.ones((1, 2)))),), np.zeros(1), None, "identity")
    plain = Network((copied, last), 2, "<memory>", "0", casts=(Cast(0, slice(0, 2), "x.input_t", "odd"),))
    moved = compose_affine(plain, [F(1, 2), F(4)], [F(0), F(1)])
    assert len(moved.steps) == 3
    found = first_outside(moved, [F(1), F(1)], wraps=True)
    assert found is not None
    assert (found.name(moved), found.meant) == ("x.input_t[1]", F(5))
    alike = compose_affine(plain, [F(4), F(4)], [F(0), F(1)])
    assert len(alike.steps) == 2
    again = first_outside(alike, [F(0), F(1)], wraps=True)
    assert again is not None
    assert (again.name(alike), again.meant) == ("x.input_t[1]", F(5))


def test_an_interval_counts_only_if_it_lies_outside_with_all_that_is_in_it() -> None:
    """x = 2 times a weight of 1 that is off by up to an eighth or by up to a half, in a type that ends at 1.5."""
    stored = Curves.all(Quantiser(0.5, -4, 3, Rounding.FLOOR, wraps=True).curve)

    def network(error: float) -> Network:
        tile = Tile.dense(np.ones((1, 1)), np.full((1, 1), error))
        last = Step((Term(0, Tile.dense(np.ones((1, 1)))),), np.zeros(1), None, "identity")
        return Network((Step((Term(INPUTS, tile),), np.zeros(1), None, stored), last), 1, "<memory>", "0")

    found = first_outside(network(0.125), [F(9, 4)], wraps=True)  # 1.96.. to 2.53.., whose lower end is at level 3
    assert found is None
    found = first_outside(network(0.0625), [F(9, 4)], wraps=True)  # from 2.1 on
    assert found is not None
    assert found.level == 4


def test_a_network_without_types() -> None:
    assert not quantised(identity(2))
    assert first_outside(identity(2), [F(1), F(2)], wraps=True) is None
    assert not can_overflow(identity(2), wraps=False)
