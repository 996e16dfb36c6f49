"""Random projects against the definition of their arithmetic: every number is that of ap_fixed, product by product."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from eqspec.networks.curves import Curves
from eqspec.networks.quantiser import Quantiser
from unit.networks.firmware.written import OVERFLOWS, ROUNDINGS, Activation, Dense, Fixed, Layer, Written

DENSE = Dense(
    2,
    [Fraction(n, 8) for n in (3, -5, 7, 1)],
    [Fraction(1, 4), Fraction(-1, 8)],
    Fixed(6, 2),
    Fixed(12, 5),
    Fixed(12, 5),
)


@st.composite
def types(draw: st.DrawFn, widest: int = 9) -> Fixed:
    width = draw(st.integers(2, widest))
    return Fixed(
        width,
        draw(st.integers(-2, width + 2)),
        draw(st.booleans()),
        draw(st.sampled_from(ROUNDINGS)),
        draw(st.sampled_from(OVERFLOWS)),
    )


@st.composite
def projects(draw: st.DrawFn) -> Written:
    of_input = draw(types(4))
    inputs = draw(st.integers(1, 2))
    layers, width = list[Layer](), inputs
    numbers = st.integers(-40, 40).map(lambda n: Fraction(n, 16))
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["dense", "dense", "dense", "relu", "linear", "leaky_relu", "relu1", "relu6"]))
        if kind == "dense":
            outputs = draw(st.integers(1, 3))
            weights = draw(st.lists(numbers, min_size=width * outputs, max_size=width * outputs))
            bias = draw(st.lists(numbers, min_size=outputs, max_size=outputs))
            layers.append(Dense(outputs, weights, bias, draw(types(6)), draw(types()), draw(types())))
            width = outputs
        else:
            layers.append(Activation(kind, draw(types()), draw(numbers), draw(types(5))))
    return Written(inputs, of_input, tuple(layers))


def _read(project: Written) -> Network:
    with TemporaryDirectory() as folder:
        return read_network(project.write(Path(folder) / "project"))


def _points(project: Written) -> list[tuple[Fraction, ...]]:
    """Everything that the input's type holds, halfway between, and beyond its ends."""
    unit = project.of_input.unit
    ends = 2**project.of_input.width
    step = 1 if project.inputs == 1 else 3
    values = [Fraction(k, 2) * unit for k in range(-ends, 2 * ends + 3, step)]
    return list(product(values, repeat=project.inputs))[:150]


@given(projects())
def test_a_project_is_what_its_types_make_of_it(project: Written) -> None:
    network = _read(project)
    points = _points(project)
    expected = [project(point) for point in points]
    found = network.evaluate(np.array([[float(x) for x in point] for point in points]))
    np.testing.assert_array_equal(found, [[float(y) for y in row] for row in expected])
    for point, wanted in list(zip(points, expected, strict=True))[::37]:
        assert network.evaluate_exact(point) == [(y, y) for y in wanted]
    assert all(cast.rows.stop <= network.steps[cast.step].rows for cast in network.casts)


def _project(accumulator: Fixed, result: Fixed | None = None) -> Written:
    layer = Dense(2, DENSE.weights, DENSE.bias, DENSE.of_weights, accumulator, result or accumulator)
    return Written(2, Fixed(6, 3), (layer, Activation("relu", Fixed(7, 3, False, "AP_RND", "AP_SAT"))))


def test_what_a_type_holds_costs_no_row() -> None:
    network = _read(_project(Fixed(20, 10)))
    assert [cast.name for cast in network.casts] == ["x.input_t", "act2.result_t"]
    assert [step.rows for step in network.steps] == [2, 2, 2]
    assert network.neurons == 4


def test_an_accumulator_that_may_wrap_has_a_row_for_each_sum_and_none_for_products() -> None:
    network = _read(_project(Fixed(9, 3)))
    (cast,) = [cast for cast in network.casts if cast.name == "fc1.accum_t"]
    assert cast.type == "ap_fixed<9,3>"
    function = network.steps[cast.step].function
    assert isinstance(function, Curves)
    assert any(Quantiser.of(kind).wraps for kind in function.kinds)
    assert network.neurons == 2 + 2 + 2


def test_products_that_are_rounded_have_rows_of_their_own_once_for_each_weight() -> None:
    same = Dense(3, [Fraction(3, 8)] * 3 + [Fraction(1)] * 3, [Fraction(0)] * 3, Fixed(6, 2), Fixed(9, 9), Fixed(9, 9))
    network = _read(Written(2, Fixed(6, 6), (same,)))
    # 3/8 x is rounded to integers, x is one already.
    assert [step.rows for step in network.steps] == [2, 1, 3]


def test_an_accumulator_that_saturates_in_the_middle_of_a_sum_is_cut_off_there() -> None:
    """2 x + 2 y - z up to 7.5: 7, then 14, which is 7.5, less 3.5."""
    of_sum = Fixed(5, 4, True, "AP_TRN", "AP_SAT")
    weights = [Fraction(2), Fraction(2), Fraction(-1)]
    network = _read(Written(3, Fixed(4, 3), (Dense(1, weights, [Fraction(0)], Fixed(4, 3), of_sum, Fixed(12, 8)),)))
    assert [cast.name for cast in network.casts] == ["x.input_t", *["fc1.accum_t of a partial sum"] * 2]
    assert network.evaluate_exact([Fraction(7, 2)] * 3) == [(4, 4)]


def test_too_many_rounded_products_are_refused_with_the_bits_that_they_need(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    weights = [Fraction(int(n), 4096) for n in random.integers(-4000, 4000, 150 * 150)]
    wide = Dense(150, weights, [Fraction(0)] * 150, Fixed(14, 2), Fixed(16, 8), Fixed(16, 8))
    with pytest.raises(NetworkError, match="rounds products: each of 2") as refused:
        read_network(Written(150, Fixed(8, 4), (wide,)).write(tmp_path / "project"))
    assert "give fc1.accum_t 16 bits behind the point, 8 more than now" in str(refused.value)


@pytest.mark.parametrize("width", [51, 52, 53, 60])
def test_a_wide_type_that_rounds_is_read_where_its_numbers_are_small(width: int) -> None:
    """As hls4ml chooses them for layers of adders; of sixteenths, beside products that have sixty-fourths."""
    result = Fixed(width, width - 4)
    project = Written(1, Fixed(6, 3), (Dense(1, [Fraction(3, 8)], [Fraction(1)], Fixed(6, 2), Fixed(60, 40), result),))
    network = _read(project)
    for k in range(-32, 32):
        point = [Fraction(k, 8)]
        assert [low for low, _ in network.evaluate_exact(point)] == project(point)


def test_a_wide_type_that_is_left_is_refused_by_its_name(tmp_path: Path) -> None:
    wide = Dense(1, [Fraction(1 << 20)], [Fraction(0)], Fixed(30, 30), Fixed(110, 90), Fixed(54, 50))
    with pytest.raises(NetworkError, match=r"line \d+: fc1 .*fc1.result_t is ap_fixed<54,50.*more than 51 bits leave"):
        read_network(Written(1, Fixed(50, 45), (wide,)).write(tmp_path / "project"))


def test_nothing_but_the_input_is_a_network_too() -> None:
    network = _read(Written(3, Fixed(4, 2), (Activation("linear", Fixed(4, 2)),)))
    assert [step.rows for step in network.steps] == [3, 3]
    np.testing.assert_array_equal(network.evaluate(np.array([[0.3, -0.3, 2.0]])), [[0.25, -0.5, -2.0]])
