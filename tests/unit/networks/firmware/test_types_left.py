"""Which numbers leave their types in a project, against the definition: the whole sum of a layer in its accumulator,
and what is assigned to a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import eqspec
from breadth import examples
from eqspec.networks import read_network
from eqspec.networks.containment import first_outside
from unit.networks.firmware.written import Activation, Dense, Fixed, Layer, Written

ROUNDINGS = ("AP_TRN", "AP_RND", "AP_RND_CONV")
EIGHTHS = st.integers(-16, 16).map(lambda n: Fraction(n, 8))
WIDE = 64


@st.composite
def types(draw: st.DrawFn, overflows: Sequence[str] = ("AP_WRAP",)) -> Fixed:
    width = draw(st.integers(4, 9))
    rounding, overflow = draw(st.sampled_from(ROUNDINGS)), draw(st.sampled_from(overflows))
    return Fixed(width, draw(st.integers(2, width)), rounding=rounding, overflow=overflow)


@st.composite
def projects(draw: st.DrawFn, results: Sequence[str] = ("AP_WRAP",)) -> Written:
    """Two inputs, and layers whose types all wrap, or have results that end so; weights that their type holds."""
    layers, width = list[Layer](), 2
    for outputs in draw(st.lists(st.integers(1, 2), min_size=1, max_size=2)):
        weights = draw(st.lists(EIGHTHS, min_size=width * outputs, max_size=width * outputs))
        bias = draw(st.lists(EIGHTHS, min_size=outputs, max_size=outputs))
        layers.append(Dense(outputs, weights, bias, Fixed(8, 4), draw(types()), draw(types(results))))
        layers.append(Activation(draw(st.sampled_from(["relu", "linear"])), draw(types(results))))
        width = outputs
    return Written(2, Fixed(3, 2), tuple(layers))


def unlimited(of: Fixed) -> Fixed:
    """The same rounding, and so much room that nothing here wraps."""
    return Fixed(of.width + WIDE, of.integer + WIDE, rounding=of.rounding)


def leaves(project: Written, point: tuple[Fraction, ...], overflow: str = "AP_WRAP") -> bool:
    """Whether some sum or result in a type that overflows so is not what it would be with that much room."""

    def cut(of: Fixed, x: Fraction) -> bool:
        return of.overflow == overflow and of(x) != unlimited(of)(x)

    now = [project.of_input(x) for x in point]
    for layer in project.layers:
        if isinstance(layer, Dense):
            room = unlimited(layer.accumulator)
            for j in range(layer.outputs):
                factors = [layer.of_weights(layer.weights[i * layer.outputs + j]) for i in range(len(now))]
                total = room(layer.of_weights(layer.bias[j])) + sum(
                    room(x * w) for x, w in zip(now, factors, strict=True)
                )
                if cut(layer.accumulator, total) or cut(layer.result, layer.accumulator(total)):
                    return True
        else:
            for x in now:
                if cut(layer.result, max(x, Fraction(0)) if layer.kind == "relu" else x):
                    return True
        now = layer(now)
    return False


@settings(max_examples=examples(25))
@given(projects())
def test_what_wraps_is_what_the_types_cannot_hold(project: Written) -> None:
    with TemporaryDirectory() as folder:
        network = read_network(project.write(Path(folder) / "project"))
    values = [Fraction(k, 2) for k in range(-4, 4)]
    for point in product(values, repeat=2):
        found = first_outside(network, point, wraps=True)
        assert (found is not None) == leaves(project, point)
        if found is not None:
            assert found.cast(network) is not None


@settings(max_examples=examples(25))
@given(projects(("AP_WRAP", "AP_SAT")))
def test_what_saturates_is_what_a_type_that_saturates_cannot_hold(project: Written) -> None:
    """What a ReLU makes 0 is nothing that a type with a sign cuts off, and a type that wraps never saturates."""
    with TemporaryDirectory() as folder:
        network = read_network(project.write(Path(folder) / "project"))
    for point in product([Fraction(k, 2) for k in range(-4, 4)], repeat=2):
        found = first_outside(network, point, wraps=False)
        assert (found is not None) == leaves(project, point, "AP_SAT")


def test_what_goes_into_zeros_alone_is_stored_all_the_same(tmp_path: Path) -> None:
    """Weights that a coarse type makes 0: the output is a constant, and sums in front of it leave their type."""
    first = Dense(1, [Fraction(4)], [Fraction(0)], Fixed(8, 4), Fixed(8, 4), Fixed(20, 10))
    last = Dense(1, [Fraction(1, 4)], [Fraction(1)], Fixed(4, 4), Fixed(20, 10), Fixed(20, 10))
    network = read_network(Written(1, Fixed(12, 8), (first, last)).write(tmp_path / "project"))
    assert network.evaluate_exact([Fraction(3)]) == [(1, 1)]
    assert first_outside(network, [Fraction(1)], wraps=True) is None
    for value, name in ((3, "fc1.accum_t[0]"), (200, "x.input_t[0]")):
        found = first_outside(network, [Fraction(value)], wraps=True)
        assert found is not None
        assert found.name(network) == name


SPEC = """eqspec 1
space sensor {{ features a, b  outputs y }}
network firmware = "{project}" in sensor
region adc(k) in sensor = box {{ all: -k .. k }} and grid {{ all step 1/4 }}
check wraps {{ prove firmware never wraps  on adc(2)  expect different }}
check holds {{ prove firmware never wraps  on adc(1)  expect equivalent }}
"""


def test_a_spec_names_the_accumulator(tmp_path: Path) -> None:
    """y = 3 a + 3 b in an accumulator that ends at 8."""
    accumulator = Fixed(8, 4)
    layer = Dense(1, [Fraction(3), Fraction(3)], [Fraction(0)], Fixed(6, 4), accumulator, Fixed(16, 8))
    path = Written(2, Fixed(6, 4), (layer,)).write(tmp_path / "project")
    report = eqspec.loads(SPEC.format(project=path)).check(threads=1)
    assert report.ok
    witness = report["wraps"].witness
    assert witness is not None
    assert witness.out_of_type is not None
    assert (witness.out_of_type.name, witness.out_of_type.type) == ("fc1.accum_t[0]", "ap_fixed<8,4>")
    total = 3 * (witness.raw[0] + witness.raw[1])
    assert (witness.out_of_type.meant, witness.out_of_type.stored) == (total, accumulator(total))
