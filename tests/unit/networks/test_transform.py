"""Networks from networks: an affine map in front, the outputs turned round; both enclose the exact function."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.errors import InputError, NetworkError
from eqspec.networks import (
    AffineLayer,
    Network,
    compose_affine,
    in_float32,
    negate_outputs,
    overflow,
    read_network,
)
from eqspec.networks.program import Step, Term
from programs import convolution, point, program


def network(error: float = 0.0) -> Network:
    random = np.random.default_rng(5)
    w, b = random.normal(size=(4, 2)), random.normal(size=4)
    first = AffineLayer(w, b, np.abs(w) * error, np.abs(b) * error) if error else AffineLayer(w, b)
    return Network.of_layers((first, AffineLayer(random.normal(size=(3, 4)), random.normal(size=3))), "memory", "")


SCALE = [Fraction(1, 60261), Fraction(-(10**6), 7)]
SHIFT = [Fraction(-19791091, 60261000), Fraction(1, 3)]
POINT = [Fraction(12345), Fraction(2, 9)]


@pytest.mark.parametrize("error", [0.0, 2.0**-40])
def test_the_exact_composition_is_enclosed(error: float) -> None:
    net = network(error)
    composed = compose_affine(net, SCALE, SHIFT)
    expected = net.evaluate_exact([s * x + t for s, x, t in zip(SCALE, POINT, SHIFT, strict=True)])
    actual = composed.evaluate_exact(POINT)
    for (low, high), (inner_low, inner_high) in zip(actual, expected, strict=True):
        assert low <= inner_low <= inner_high <= high
        assert (high - low) <= (inner_high - inner_low) * Fraction(3, 2) + Fraction(1, 10**9)
    assert composed.layers[0].weight_error is not None


def test_powers_of_two_stay_exact() -> None:
    net = network()
    composed = compose_affine(net, [Fraction(1, 8), Fraction(4)], [Fraction(0), Fraction(0)])
    assert composed.layers[0].weight_error is None
    assert composed.layers[0].bias_error is None
    assert composed.evaluate_exact(POINT) == net.evaluate_exact([POINT[0] / 8, POINT[1] * 4])


def test_the_identity_changes_nothing() -> None:
    net = network()
    assert compose_affine(net, [Fraction(1)] * 2, [Fraction(0)] * 2) is net


@pytest.mark.parametrize(("scale", "shift", "name"), [([1], [0, 0], "scale"), ([1, 1], [0] * 3, "shift")])
def test_lengths_are_checked(scale: list[int], shift: list[int], name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: .* 2 are accepted"):
        compose_affine(network(), [Fraction(s) for s in scale], [Fraction(s) for s in shift])


@pytest.mark.parametrize(("scale", "shift"), [(10**400, 0), (1, 10**400)])
def test_numbers_beyond_float64_are_refused(scale: int, shift: int) -> None:
    with pytest.raises(NetworkError, match="range of float64") as caught:
        compose_affine(network(), [Fraction(scale)] * 2, [Fraction(shift)] * 2)
    assert "normalisation" in str(caught.value.fix)


@pytest.mark.parametrize("error", [0.0, 2.0**-40])
def test_negated_outputs(error: float) -> None:
    net = network(error)
    turned = negate_outputs(net).evaluate_exact(POINT)
    assert turned == [(-high, -low) for low, high in net.evaluate_exact(POINT)]


def scaled_input(scale: list[Fraction], shift: list[Fraction], at: list[Fraction]) -> list[Fraction]:
    return [s * x + t for s, t, x in zip(scale, shift, at, strict=True)]


@pytest.mark.part(24)
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("alike", [True, False])
def test_a_program_is_composed(seed: int, alike: bool) -> None:
    random = np.random.default_rng(seed)
    net = program(random, errors=seed % 2 == 1)
    scale = [Fraction(1, 3)] * 4 if alike else [Fraction(n, 7) for n in range(1, 5)]
    shift = [Fraction(n, 3) for n in range(4)]
    at = point(random, 4)
    composed = compose_affine(net, scale, shift)
    if alike:
        assert len(composed.steps) == len(net.steps)
    for (low, high), (inner_low, inner_high) in zip(
        composed.evaluate_exact(at), net.evaluate_exact(scaled_input(scale, shift, at)), strict=True
    ):
        assert low <= inner_low <= inner_high <= high
        assert not net.exact or high - low <= Fraction(1, 10**9)
    turned = negate_outputs(net).evaluate_exact(at)
    assert turned == [(-high, -low) for low, high in net.evaluate_exact(at)]


def test_pixels_of_different_scales_are_scaled_in_front() -> None:
    random = np.random.default_rng(0)
    made = convolution(random, 1, 4, 2)
    net = Network((Step((Term(-1, made),), np.zeros(32), function="identity"),), 16, "conv", "0")
    by_pixel = compose_affine(net, [Fraction(1 + n) for n in range(16)], [Fraction(0)] * 16)
    assert [step.function for step in by_pixel.steps] == ["identity", "identity"]
    at = point(random, 16)
    expected = net.evaluate_exact([(1 + n) * x for n, x in enumerate(at)])
    assert by_pixel.evaluate_exact(at) == expected


def test_in_float32_too_pixels_are_scaled_in_front(tmp_path: Path) -> None:
    """Bounds of what a file computes are those of its own layers, one step further behind the normalisation."""
    kernel = numpy_helper.from_array(np.ones((1, 1, 2, 2), np.float32), "w")
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]
    nodes += [helper.make_node("Flatten", ["z"], ["scores"])]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 3, 3])
    result = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph(nodes, "conv", [given], [result], [kernel])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "conv.onnx")
    plain = in_float32(read_network(tmp_path / "conv.onnx"))
    size = np.arange(1.0, 10.0)
    moved = compose_affine(plain, [Fraction(int(s)) for s in size], [Fraction(0)] * 9)
    assert len(moved.steps) == len(plain.steps) + 1
    for largest in (1.0, 1e37, 2e37, 1e38):
        raw = largest * size
        without = overflow(plain, raw, raw)
        assert (overflow(moved, np.full(9, largest), raw) is None) == (without is None)
    assert without is not None
