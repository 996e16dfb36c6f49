"""Networks derived in fixed point, against C++'s arithmetic in fractions, one operation after the other.

The fractions follow the loops of hls4ml's `nnet::dense` and know nothing of what may be left out. That hls4ml itself
makes the same firmware of an exported configuration is compared in `test_hls4ml.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from eqspec.errors import DerivationError, InputError
from eqspec.networks import AffineLayer, Network, as_network
from eqspec.networks.deriving import FixedPointFormat, Integers, derive
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from unit.networks.firmware.written import Fixed

Array = NDArray[np.float64]


def chain(seed: int, *sizes: int) -> Network:
    """Dense layers of random weights in float32."""
    random = np.random.default_rng(seed)

    def drawn(*shape: int) -> Array:
        return np.asarray(random.normal(size=shape).astype(np.float32), np.float64)

    layers = [AffineLayer(drawn(n, m), drawn(n)) for m, n in pairwise(sizes)]
    return Network.of_layers(layers, "chain", f"{seed:064d}")


def _type(of: Fixed) -> FixedPoint:
    return FixedPoint.of(of.width, of.integer, signed=of.signed, rounding=of.rounding, overflow=of.overflow)


def _written(numbers: Array, of: Fixed) -> list[Fraction]:
    """Weights in the files of a project: decimals with as many digits as there are bits behind the point."""
    digits = max(0, of.width - of.integer)
    return [of(Fraction(f"{number:.{digits}f}")) for number in numbers.reshape(-1).tolist()]


def _computed(network: Network, of: dict[str, Fixed], point: Sequence[Fraction]) -> list[Fraction]:
    values = [of["inputs"](x) for x in point]
    for number, layer in enumerate(network.layers):
        outputs = []
        weights = _written(layer.weight, of["weights"])
        for row, bias in enumerate(_written(layer.bias, of["biases"])):
            total = of["accumulators"](bias)
            for column, value in enumerate(values):
                product = of["accumulators"](value * weights[row * len(values) + column])
                total = of["accumulators"](total + product)
            result = of["results"](total)
            if number < len(network.layers) - 1:
                result = of["results"](max(result, Fraction(0)))
            outputs.append(result)
        values = outputs
    return values


@st.composite
def _types(draw: st.DrawFn, overflows: Sequence[str] = ("AP_WRAP", "AP_SAT", "AP_SAT_SYM")) -> Fixed:
    roundings = ("AP_TRN", "AP_TRN_ZERO", "AP_RND", "AP_RND_ZERO", "AP_RND_MIN_INF", "AP_RND_INF", "AP_RND_CONV")
    return Fixed(
        draw(st.integers(3, 14)), draw(st.integers(0, 6)), rounding=draw(st.sampled_from(roundings)),
        overflow=draw(st.sampled_from(overflows)),
    )  # fmt: skip


@given(
    st.integers(0, 1000),
    st.fixed_dictionaries({
        "inputs": _types(), "weights": _types(), "biases": _types(), "accumulators": _types(),
        "results": _types(),
    }),
    st.lists(st.tuples(*[st.integers(-300, 300)] * 3, st.integers(0, 7)), min_size=1, max_size=4),
)  # fmt: skip
def test_every_output_is_that_of_the_loops(
    seed: int, of: dict[str, Fixed], points: list[tuple[int, int, int, int]]
) -> None:
    network = chain(seed, 3, 4, 2)
    value = _type(of["inputs"])
    derived = derive(network, FixedPointFormat(value, **{role: _type(one) for role, one in of.items()}))
    for *numbers, bits in points:
        point = [Fraction(number, 2**bits) for number in numbers]
        expected = _computed(network, of, point)
        assert derived.evaluate_exact(point) == [(y, y) for y in expected]
        np.testing.assert_array_equal(derived.evaluate(np.array([point], float))[0], np.array(expected, float))


def test_one_type_is_that_of_everything() -> None:
    network, usual = chain(1, 3, 4, 2), FixedPoint.of(10, 4)
    same = FixedPointFormat(usual, usual, usual, usual, usual, usual)
    points = np.random.default_rng(0).normal(size=(200, 3)) * 4
    one, other = derive(network, FixedPointFormat(usual)), derive(network, same)
    np.testing.assert_array_equal(one.evaluate(points), other.evaluate(points))
    wide = derive(network, FixedPointFormat(FixedPoint.of(40, 12)))
    np.testing.assert_allclose(wide.evaluate(points), network.evaluate(points), atol=1e-6)


def test_a_type_may_have_its_point_outside_of_its_bits() -> None:
    network, points = chain(1, 2, 3, 1), np.array([[100.0, -3.0], [0.25, 7.0]])
    for width, integer in ((4, 6), (3, -1), (1, 1)):
        of = Fixed(width, integer)
        derived = derive(network, FixedPointFormat(_type(of)))
        roles = dict.fromkeys(("inputs", "weights", "biases", "accumulators", "results"), of)
        for point in points:
            exact = [Fraction(x) for x in point]
            assert [low for low, _ in derived.evaluate_exact(exact)] == _computed(network, roles, exact)


def test_a_layer_whose_matrix_is_the_identity_is_a_layer() -> None:
    first = chain(1, 2, 3).layers[0]
    network = Network.of_layers([first, AffineLayer(np.eye(3), np.zeros(3))], "identity", "0" * 64)
    of, narrow = Fixed(12, 5), Fixed(6, 3)
    derived = derive(network, FixedPointFormat(_type(of), accumulators=_type(narrow)))
    roles = dict.fromkeys(("inputs", "weights", "biases", "results"), of) | {"accumulators": narrow}
    for numbers in np.random.default_rng(0).integers(-100, 100, size=(20, 2)):
        point = [Fraction(int(n), 16) for n in numbers]
        assert [low for low, _ in derived.evaluate_exact(point)] == _computed(network, roles, point)


def test_precisions_are_said_as_the_language_says_them() -> None:
    usual, wide = FixedPoint.of(16, 6), FixedPoint.of(24, 10, rounding="AP_RND")
    assert FixedPointFormat(usual).text == "fixed<16,6>"
    text = "fixed<16,6> { input fixed<16,6>, accum fixed<24,10,AP_RND,AP_WRAP> }"
    assert FixedPointFormat(usual, inputs=usual, accumulators=wide).text == text
    assert [Integers(8).text, Integers(12, True).text] == ["int8", "int12 per channel"]
    derived = derive(chain(1, 2, 2), FixedPointFormat(usual))
    assert derived.source == "chain as fixed<16,6>"


def test_digests_tell_networks_and_types_apart() -> None:
    types = [FixedPointFormat(FixedPoint.of(width, 4)) for width in (9, 10)]
    types.append(FixedPointFormat(FixedPoint.of(9, 4), accumulators=FixedPoint.of(20, 10)))
    found = {derive(network, of).sha256 for network in (chain(1, 2, 2), chain(2, 2, 2)) for of in types}
    assert len(found) == 6
    assert derive(chain(1, 2, 2), types[0]).sha256 in found


def _image() -> tuple[onnx.ModelProto, Array, Array]:
    random = np.random.default_rng(3)
    kernel, bias = random.normal(size=(2, 2, 3, 3)).astype(np.float32), random.normal(size=2).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "k", "b"], ["c"], pads=[1, 1, 0, 0], strides=[2, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Transpose", ["r"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Flatten", ["t"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 2, 4, 4]), ("y", [1, 12]))]
    tensors = [numpy_helper.from_array(kernel, "k"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "image", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return model, kernel.astype(float), bias.astype(float)


def test_a_convolution_is_a_dense_layer_at_each_position() -> None:
    model, kernel, bias = _image()
    of = Fixed(11, 4)
    derived = derive(as_network(model), FixedPointFormat(_type(of)))
    weights, biases = np.array(_written(kernel, of)).reshape(kernel.shape), _written(bias, of)
    for numbers in np.random.default_rng(0).integers(-200, 200, size=(5, 2, 4, 4)):
        padded = np.full((2, 6, 5), Fraction(0), dtype=object)
        for place in np.ndindex(2, 4, 4):
            channel, row, column = place
            padded[channel, row + 1, column + 1] = of(Fraction(int(numbers[place]), 16))
        expected = []
        for row, column in np.ndindex(2, 3):
            window = padded[:, 2 * row : 2 * row + 3, column : column + 3]
            for output in range(2):
                products = [of(x * w) for x, w in zip(window.reshape(-1), weights[output].reshape(-1), strict=True)]
                expected.append(of(max(of(of(sum(products, of(biases[output])))), Fraction(0))))
        point = [Fraction(int(n), 16) for n in numbers.reshape(-1)]
        assert [low for low, _ in derived.evaluate_exact(point)] == expected


def test_several_inputs_are_refused_by_their_names() -> None:
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("state", "goal")]
    made = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])]
    graph = helper.make_graph([helper.make_node("Concat", ["state", "goal"], ["y"], axis=1)], "g", given, made)
    network = as_network(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))
    with pytest.raises(DerivationError, match="it takes 2 inputs, 'state' and 'goal', and fixed point"):
        derive(network, FixedPointFormat(FixedPoint.of(16, 6)))


def test_what_hls4ml_computes_in_another_way_is_refused() -> None:
    usual = FixedPointFormat(FixedPoint.of(16, 6))
    for behind, message in (
        (helper.make_node("Add", ["y", "x"], ["z"]), "it is not quantised to fixed point .operator 'Add'"),
        (helper.make_node("Sigmoid", ["y"], ["z"]), "it is not quantised to fixed point .operator 'Sigmoid'"),
        (helper.make_node("Gemm", ["y", "w"], ["z"]), "it has 2 layers, and some follow one another without a ReLU"),
        (helper.make_node("Gemm", ["y", "w"], ["z"], alpha=0.5), "a Gemm with alpha or beta"),
    ):
        with pytest.raises(DerivationError, match=message):
            derive(_with(behind), usual)
    derived = derive(chain(1, 2, 3, 1), usual)
    for precision in (usual, Integers(8)):
        with pytest.raises(DerivationError, match="the network is quantised already"):
            derive(derived, precision)
    narrow = FixedPointFormat(FixedPoint.of(16, 6), accumulators=FixedPoint.of(8, 2, overflow="AP_SAT"))
    with pytest.raises(DerivationError, match=r"layer1.accum_t is ap_fixed<8,2,AP_TRN,AP_SAT>, and a partial sum"):
        derive(as_network(_image()[0]), narrow)


def _with(node: onnx.NodeProto) -> Network:
    """A dense layer with a node behind it."""
    weight = np.array([[0.5, 1.0], [-2.0, 0.25]], np.float32)  # of which products are exact
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xz"]
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"]), node]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [numpy_helper.from_array(weight, "w")])
    return as_network(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))


def test_a_relu_of_the_inputs_is_not_counted_as_a_layer() -> None:
    """Two layers that are read as one and a ReLU are two steps; hls4ml rounds behind each of the layers."""
    first, second = (np.array(rows, np.float32) for rows in ([[0.5, 1.0], [-2.0, 0.25]], [[1.5, -1.0], [0.75, 2.0]]))
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("MatMul", ["r", "a"], ["h"]),
        helper.make_node("MatMul", ["h", "b"], ["z"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xz"]
    tensors = [numpy_helper.from_array(first, "a"), numpy_helper.from_array(second, "b")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    network = as_network(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))
    assert len(network.steps) == 2
    with pytest.raises(DerivationError, match="it has 2 layers, and some follow one another without a ReLU"):
        derive(network, FixedPointFormat(FixedPoint.of(16, 6)))


def test_a_relu_of_a_relu_is_refused_by_its_name() -> None:
    """It is read as another function than a ReLU, and what was said of it named ReLU among what is quantised."""
    nodes = [helper.make_node("Relu", [given], [found]) for given, found in ("xr", "rz")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xz"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    network = as_network(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))
    with pytest.raises(DerivationError, match=r"a ReLU of a ReLU .*leave the second out"):
        derive(network, FixedPointFormat(FixedPoint.of(16, 6)))


def test_types_that_there_are_not_are_refused() -> None:
    for width, integer in ((0, 0), (1025, 2), (8, 2000)):
        with pytest.raises(InputError, match=f"ap_fixed<{width},{integer}>: a type has 1 to 1024 bits"):
            FixedPoint.of(width, integer)
    with pytest.raises(InputError, match="AP_UP is not a rounding mode"):
        FixedPoint.of(8, 2, rounding="AP_UP")
    with pytest.raises(InputError, match="AP_SAT_ZERO is not an overflow mode"):
        FixedPoint.of(8, 2, overflow="AP_SAT_ZERO")
    assert FixedPoint.of(8, 2, signed=False).text == "ap_ufixed<8,2>"
    for bits in (1, 17, 8.0, True):
        with pytest.raises(InputError, match="bits = "):
            Integers(bits)  # type: ignore[arg-type]
