"""Each operator alone, at several opsets, against onnxruntime or onnx's reference evaluator.

Weights and inputs are small multiples of 1/8, for which float32 arithmetic is exact: so results must be equal, and no
error may be carried, except where an operator divides or takes a root.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.errors import NetworkError
from eqspec.networks import Network, read_network
from unit.networks.models import CURRENT, OPSETS, model, node, run_onnxruntime, run_other, save

Case = tuple[list[NodeProto], dict[str, NDArray[Any]], tuple[int, ...]]


def grid(*shape: int, seed: int = 0, kind: Any = np.float32) -> NDArray[Any]:
    """Random multiples of 1/8, none of them zero."""
    random = np.random.default_rng(seed + sum(shape))
    return np.asarray(random.integers(1, 17, shape) * random.choice([-1, 1], shape) / 8, kind)


def with_axes(kind: str, opset: int, axes: list[int]) -> tuple[list[NodeProto], dict[str, NDArray[Any]]]:
    """A node whose axes are an attribute, or an input since opset 13."""
    if opset < 13:
        return [node(kind, ["x"], "y", axes=axes)], {}
    return [node(kind, ["x", "axes"], "y")], {"axes": np.array(axes, dtype=np.int64)}


def legacy(opset: int, **attributes: int) -> dict[str, int]:
    """Attributes that only exist before opset 7."""
    return attributes if opset < 7 else {}


def gemm(**attributes: Any) -> Callable[[int], Case]:
    def case(opset: int) -> Case:
        b = grid(4, 3) if attributes.get("transB") else grid(3, 4)
        a = (3, 1) if attributes.get("transA") else (1, 3)
        return (
            [node("Gemm", ["x", "b", "c"], "y", **attributes, **legacy(opset, broadcast=1))],
            {"b": b, "c": grid(4)},
            a,
        )

    return case


def gemm_weight_first(opset: int) -> Case:
    constants = {"a": grid(4, 3), "c": grid(4, 1)}
    return [node("Gemm", ["a", "x", "c"], "y", alpha=0.5, transB=1, **legacy(opset, broadcast=1))], constants, (1, 3)


def gemm_scalar_bias(opset: int) -> Case:
    constants = {"b": grid(3, 4), "c": grid(1)}
    return [node("Gemm", ["x", "b", "c"], "y", **legacy(opset, broadcast=1))], constants, (1, 3)


def gemm_no_bias(opset: int) -> Case:
    constants = {"b": grid(3, 4)} | ({"c": np.zeros(4, np.float32)} if opset < 11 else {})
    return [node("Gemm", ["x", *sorted(constants)], "y", **legacy(opset, broadcast=1))], constants, (1, 3)


def matmul(
    left: tuple[int, ...] | None, right: tuple[int, ...] | None, shape: tuple[int, ...]
) -> Callable[[int], Case]:
    def case(opset: int) -> Case:
        constants = {n: grid(*s) for n, s in (("a", left), ("b", right)) if s}
        return [node("MatMul", ["a" if left else "x", "b" if right else "x"], "y")], constants, shape

    return case


def binary(kind: str, constant: tuple[int, ...], *, swapped: bool = False) -> Callable[[int], Case]:
    def case(opset: int) -> Case:
        c = grid(*constant) if kind != "Div" else np.float32(2) ** np.sign(grid(*constant))
        nodes = [node(kind, ["c", "x"] if swapped else ["x", "c"], "y", **legacy(opset, broadcast=1))]
        return nodes, {"c": np.asarray(c, np.float32)}, (1, 3, 2)

    return case


def squeeze(opset: int) -> Case:
    return *with_axes("Squeeze", opset, [1, -1] if opset >= 11 else [1, 3]), (1, 1, 3, 1)


def squeeze_all(opset: int) -> Case:
    return [node("Squeeze", ["x"], "y")], {}, (1, 1, 3, 1)


def unsqueeze(opset: int) -> Case:
    return *with_axes("Unsqueeze", opset, [0, 3]), (1, 3)


def reshape(*target: int) -> Callable[[int], Case]:
    return lambda opset: ([node("Reshape", ["x", "t"], "y")], {"t": np.array(target, np.int64)}, (1, 2, 3))


def dropout(opset: int) -> Case:
    if opset < 12:
        return [node("Dropout", ["x"], "y", ratio=0.5, **legacy(opset, is_test=1))], {}, (1, 3)
    return [node("Dropout", ["x", "r"], "y")], {"r": np.array(0.5, np.float32)}, (1, 3)


def slice_(opset: int) -> Case:
    if opset < 10:
        return [node("Slice", ["x"], "y", starts=[1, -2], ends=[9, 99], axes=[2, 1])], {}, (1, 4, 3)
    constants = {"s": [1, -1], "e": [9, -99], "a": [2, 1], "p": [1, -2]}
    return [node("Slice", ["x", *constants], "y")], {k: np.array(v, np.int64) for k, v in constants.items()}, (1, 4, 3)


def split(opset: int) -> Case:
    constants = {"n": np.array([1, 2], np.int64)} if opset >= 13 else {}
    attributes: dict[str, Any] = {} if opset >= 13 else {"split": [1, 2]}
    parts = helper.make_node("Split", ["x", *constants], ["p", "q"], axis=1, **attributes)
    return [parts, node("Concat", ["q", "p"], "y", axis=1)], constants, (1, 3)


def split_evenly(opset: int) -> Case:
    attributes: dict[str, Any] = {"num_outputs": 2} if opset >= 18 else {}
    parts = helper.make_node("Split", ["x"], ["p", "q"], axis=1, **attributes)
    return [parts, node("Sub", ["q", "p"], "y")], {}, (1, 4)


def dynamic_reshape(opset: int) -> Case:
    """What PyTorch writes for x.view(x.size(0), -1)."""
    constants = {"zero": np.array(0, np.int64), "rest": np.array([-1], np.int64), "s": np.array([0], np.int64)}
    if opset < 13:
        constants.pop("s")
    unsqueezed = node("Unsqueeze", ["n"], "m", axes=[0]) if opset < 13 else node("Unsqueeze", ["n", "s"], "m")
    nodes = [
        node("Shape", ["x"], "shape"),
        node("Gather", ["shape", "zero"], "n", axis=0),
        unsqueezed,
        node("Concat", ["m", "rest"], "target", axis=0),
        node("Reshape", ["x", "target"], "y"),
    ]
    return nodes, constants, (1, 2, 3)


def concat_with_constant(opset: int) -> Case:
    nodes = [node("MatMul", ["x", "w"], "h"), node("Concat", ["x", "c", "h"], "y", axis=-1 if opset >= 11 else 1)]
    return nodes, {"c": grid(1, 2), "w": grid(3, 2)}, (1, 3)


def residual(opset: int) -> Case:
    nodes = [
        node("MatMul", ["x", "w"], "h"),
        node("Relu", ["h"], "r"),
        node("MatMul", ["r", "w"], "k"),
        node("Relu", ["k"], "s"),
        node("Add", ["r", "s"], "t"),
        node("Add", ["t", "x"], "y"),
    ]
    return nodes, {"w": grid(3, 3)}, (1, 3)


def residual_of_shifted_values(opset: int) -> Case:
    """Residuals two levels up: of a shifted ReLU output, and of an affine map of one."""
    nodes = [
        node("Relu", ["x"], "r"),
        node("Add", ["r", "c"], "a"),
        node("MatMul", ["a", "w"], "h"),
        node("Relu", ["h"], "s"),
        node("MatMul", ["s", "w"], "k"),
        node("Relu", ["k"], "t"),
        node("Sub", ["t", "a"], "u"),
        node("Add", ["u", "h"], "v"),
        node("Sum", ["v", "c"] if opset >= 8 else ["v", "v"], "y"),
    ]
    return nodes, {"w": grid(3, 3), "c": grid(1, 3)}, (1, 3)


def branches(opset: int) -> Case:
    nodes = [
        node("MatMul", ["x", "w"], "h"),
        node("Relu", ["h"], "r"),
        node("Relu", ["x"], "s"),
        node("Sub", ["r", "s"], "y"),
    ]
    return nodes, {"w": grid(3, 3)}, (1, 3)


def constants_folded(opset: int) -> Case:
    value = numpy_helper.from_array(grid(3, 2), "v")
    nodes = [
        node("Constant", [], "k", value=value),
        node("Transpose", ["k"], "t", perm=[1, 0]),
        node("Mul", ["t", "t"], "m"),
        node("Neg", ["m"], "w"),
        node("Relu", ["t"], "u"),
        node("Sum", ["w", "u", "t"], "z"),
        node("MatMul", ["x", "z"], "y"),
    ]
    return nodes, {}, (1, 2)


CASES: dict[str, Callable[[int], Case]] = {
    "gemm": gemm(),
    "gemm_scaled_and_transposed": gemm(alpha=0.25, beta=-2.0, transA=1, transB=1),
    "gemm_transposed_input": gemm(transA=1),
    "gemm_without_beta": gemm(beta=0.0),
    "gemm_weight_first": gemm_weight_first,
    "gemm_scalar_bias": gemm_scalar_bias,
    "gemm_no_bias": gemm_no_bias,
    "matmul_right": matmul(None, (3, 4), (1, 3)),
    "matmul_right_vector": matmul(None, (3,), (1, 3)),
    "matmul_left": matmul((4, 3), None, (3, 1)),
    "matmul_left_vector": matmul((3,), None, (3, 1)),
    "matmul_rank_1": matmul((4, 3), None, (3,)),
    "matmul_rank_1_right": matmul(None, (3, 4), (3,)),
    "matmul_dot": matmul((3,), None, (3,)),
    "matmul_rows": matmul(None, (3, 4), (1, 2, 3)),
    "matmul_batched_weight": matmul(None, (2, 3, 4), (1, 1, 2, 3)),
    "matmul_more_axes_in_weight": matmul(None, (2, 3, 4), (1, 3)),
    "matmul_batched_weight_left": matmul((2, 4, 3), None, (1, 1, 3, 2)),
    "add": binary("Add", (2,)),
    "add_channels": binary("Add", (3, 1)),
    "sub": binary("Sub", (1, 3, 2)),
    "sub_swapped": binary("Sub", (1, 3, 2), swapped=True),
    "mul": binary("Mul", (2,)),
    "mul_swapped": binary("Mul", (1, 3, 2), swapped=True),
    "div": binary("Div", (3, 1)),
    "relu": lambda opset: ([node("Relu", ["x"], "y")], {}, (1, 3)),
    "identity": lambda opset: ([node("Identity", ["x"], "y")], {}, (1, 3)),
    "flatten": lambda opset: ([node("Flatten", ["x"], "y")], {}, (1, 2, 3)),
    "flatten_axis_0": lambda opset: ([node("Flatten", ["x"], "y", axis=0)], {}, (1, 2, 3)),
    "flatten_axis_2": lambda opset: ([node("Flatten", ["x"], "y", axis=2)], {}, (1, 2, 3)),
    "reshape": reshape(1, 3, 2),
    "reshape_infer": reshape(0, -1),
    "reshape_copy": reshape(-1, 2, 0),
    "squeeze": squeeze,
    "squeeze_all": squeeze_all,
    "unsqueeze": unsqueeze,
    "transpose": lambda opset: ([node("Transpose", ["x"], "y", perm=[2, 0, 3, 1])], {}, (1, 2, 3, 2)),
    "transpose_default": lambda opset: ([node("Transpose", ["x"], "y")], {}, (1, 2, 3)),
    "dropout": dropout,
    "cast": lambda opset: ([node("Cast", ["x"], "y", to=TensorProto.FLOAT)], {}, (1, 3)),
    "slice": slice_,
    "split": split,
    "split_evenly": split_evenly,
    "gather": lambda opset: ([node("Gather", ["x", "i"], "y", axis=1)], {"i": np.array([2, 0, 2])}, (1, 3)),
    "dynamic_reshape": dynamic_reshape,
    "concat_with_constant": concat_with_constant,
    "residual": residual,
    "residual_of_shifted_values": residual_of_shifted_values,
    "branches": branches,
    "constants_folded": constants_folded,
}

KNOWN_ELSEWHERE = [(name, opset) for name in CASES for opset in OPSETS if (name, opset) != ("dropout", 6)]
"""No other evaluator offers Dropout at opset 6."""


def points(shape: tuple[int, ...], count: int = 5) -> list[NDArray[Any]]:
    return [grid(*shape, seed=100 + i) for i in range(count)]


def check(network: Network, proto: onnx.ModelProto, shape: tuple[int, ...], tolerance: float = 0.0) -> None:
    """The network's float64 outputs equal the other evaluator's, in order."""
    for x in points(shape):
        expected = run_other(proto, x).ravel().astype(np.float64)
        actual = network.evaluate(x.reshape(1, -1).astype(np.float64))[0]
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.part(110)
@pytest.mark.parametrize(("name", "opset"), KNOWN_ELSEWHERE)
def test_operator_is_exact(name: str, opset: int, tmp_path: Path) -> None:
    nodes, constants, shape = CASES[name](opset)
    proto = model(nodes, constants, shape, opset=opset)
    network = read_network(save(tmp_path, proto))
    check(network, proto, shape)
    assert network.exact


def test_dropout_of_opset_6_is_the_identity(tmp_path: Path) -> None:
    network = read_network(save(tmp_path, model(*CASES["dropout"](6), opset=6)))
    assert np.array_equal(network.layers[0].weight, np.eye(3))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 2)])
def test_batch_normalization(opset: int, shape: tuple[int, ...], tmp_path: Path) -> None:
    attributes = {"epsilon": 1e-3, **legacy(opset, is_test=1)}
    nodes = [node("BatchNormalization", ["x", "s", "b", "m", "v"], "y", **attributes)]
    constants = {"s": grid(3), "b": grid(3, seed=1), "m": grid(3, seed=2), "v": np.abs(grid(3, seed=3))}
    proto = model(nodes, constants, shape, opset=opset)
    network = read_network(save(tmp_path, proto))
    check(network, proto, shape, tolerance=2e-6)
    weight_error = network.layers[0].weight_error
    assert weight_error is not None
    assert (weight_error <= np.abs(network.layers[0].weight) * 2.0**-50).all()


def test_normalisation_of_each_activation(tmp_path: Path) -> None:
    """spatial = 0 (opsets 7 and 8): statistics for every entry of a sample; variances that make the root exact."""
    constants = {
        "s": grid(3, 2),
        "b": grid(3, 2, seed=1),
        "m": grid(3, 2, seed=2),
        "v": np.full((3, 2), 3.75, np.float32),
    }
    nodes = [node("BatchNormalization", ["x", "s", "b", "m", "v"], "y", epsilon=0.25, spatial=0)]
    network = read_network(save(tmp_path, model(nodes, constants, (1, 3, 2), opset=7)))
    x = grid(1, 3, 2, seed=5).astype(np.float64)
    expected = constants["s"] * (x - constants["m"]) / 2 + constants["b"]
    assert np.array_equal(network.evaluate(x.reshape(1, -1)), expected.reshape(1, -1))
    assert all(layer.weight_error is None and layer.bias_error is None for layer in network.layers)


def test_a_normalisation_in_pieces_is_the_same_function(tmp_path: Path) -> None:
    constants = {"s": grid(3), "b": grid(3, seed=1), "m": grid(3, seed=2), "v": np.abs(grid(3, seed=3))}
    whole = [node("BatchNormalization", ["x", "s", "b", "m", "v"], "y", epsilon=0.125)]
    pieces = [
        node("Add", ["v", "epsilon"], "w"), node("Sqrt", ["w"], "d"), node("Sub", ["x", "m"], "c"),
        node("Div", ["c", "d"], "n"), node("Mul", ["s", "n"], "k"), node("Add", ["k", "b"], "y"),
    ]  # fmt: skip
    first = read_network(save(tmp_path, model(whole, constants, (1, 3))))
    second = read_network(save(tmp_path, model(pieces, constants | {"epsilon": np.array(0.125, np.float32)}, (1, 3))))
    for point in ([Fraction(1, 3), Fraction(-2, 7), Fraction(5)], [Fraction(0)] * 3):
        for (low, high), (other_low, other_high) in zip(
            first.evaluate_exact(point), second.evaluate_exact(point), strict=True
        ):
            assert low <= other_high
            assert other_low <= high
            assert 0 < high - low < Fraction(1, 10**14)


def test_shapes_may_be_computed_from_floats(tmp_path: Path) -> None:
    nodes = [
        node("Mul", ["half", "half"], "q"),
        node("Cast", ["q"], "i", to=TensorProto.INT64),
        node("Neg", ["three"], "n"),
        node("Div", ["n", "two"], "m"),  # -3 / 2 = -1, towards zero
        node("Div", ["i", "three"], "d"),
        node("Concat", ["one", "d", "m"], "t", axis=0),
        node("Reshape", ["x", "t"], "r"),
        node("Transpose", ["r"], "y", perm=[0, 2, 1]),
    ]
    constants = {"half": np.array([2.5], np.float32), "one": np.array([1]), "two": np.array([2])}
    constants["three"] = np.array([3])
    proto = model(nodes, constants, (1, 6))
    check(read_network(save(tmp_path, proto)), proto, (1, 6))


@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_weights_of_every_float_type(opset: int, kind: Any, tmp_path: Path) -> None:
    elements = {np.float16: TensorProto.FLOAT16, np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}
    nodes = [node("MatMul", ["x", "w"], "h"), node("Add", ["h", "b"], "y")]
    weight = (np.random.default_rng(1).normal(size=(3, 4))).astype(kind)
    proto = model(nodes, {"w": weight, "b": grid(4, kind=kind)}, (1, 3), opset=opset, kind=elements[kind])
    network = read_network(save(tmp_path, proto))
    assert np.array_equal(network.layers[0].weight, weight.astype(np.float64).T)
    assert network.layers[0].weight_error is None
    x = grid(1, 3, kind=kind)
    expected = run_onnxruntime(proto, x).ravel()
    actual = network.evaluate(x.astype(np.float64))[0]
    np.testing.assert_allclose(actual, expected, atol=40 * float(np.finfo(kind).eps))


def test_bfloat16_weights_are_read_bit_by_bit(tmp_path: Path) -> None:
    bits = np.array([0x3F80, 0xC049, 0x0001, 0x7F7F], dtype="<u2")
    exact = (bits.astype("<u4") << 16).view("<f4").astype(np.float64)
    proto = model([node("Mul", ["x", "w"], "y")], {}, (1, 4), opset=13, kind=TensorProto.BFLOAT16)
    proto.graph.initializer.append(helper.make_tensor("w", TensorProto.BFLOAT16, [4], bits.tobytes(), raw=True))
    assert np.array_equal(np.diag(read_network(save(tmp_path, proto)).layers[0].weight), exact)
    proto.graph.initializer[0].CopyFrom(
        TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[4], int32_data=bits.tolist())
    )
    assert np.array_equal(np.diag(read_network(save(tmp_path, proto)).layers[0].weight), exact)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_weights_in_typed_fields(kind: int, tmp_path: Path) -> None:
    proto = model([node("Mul", ["x", "w"], "y")], {}, (1, 3), kind=kind)
    proto.graph.initializer.append(helper.make_tensor("w", kind, [3], [0.5, -1.25, 3.0]))
    assert np.array_equal(read_network(save(tmp_path, proto)).layers[0].weight, np.diag([0.5, -1.25, 3.0]))


def test_cast_of_a_constant_rounds_it_as_it_does_at_run_time(tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["w"], "n", to=TensorProto.FLOAT16),
        node("Cast", ["n"], "f", to=TensorProto.FLOAT),
        node("Mul", ["x", "f"], "y"),
    ]
    proto = model(nodes, {"w": np.array([0.1, 1.0], np.float32)}, (1, 2))
    weight = read_network(save(tmp_path, proto)).layers[0].weight
    assert weight[0, 0] == float(np.float16(0.1)) != float(np.float32(0.1))


def test_cast_of_a_value_is_the_identity_and_noted(tmp_path: Path) -> None:
    nodes = [node("Cast", ["x"], "h", to=TensorProto.FLOAT16), node("Cast", ["h"], "y", to=TensorProto.FLOAT)]
    network = read_network(save(tmp_path, model(nodes, {}, (1, 2))))
    assert np.array_equal(network.layers[0].weight, np.eye(2))
    assert "float16" in network.notes[0]


@pytest.mark.parametrize("opset", [6, 9, 11, 13, CURRENT])
@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax"])
def test_trailing_softmax_is_stripped_and_reported(opset: int, kind: str, tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w"], "z"), node(kind, ["z"], "p", axis=1), node("Identity", ["p"], "y")]
    proto = model(nodes, {"w": grid(3, 4)}, (1, 3), opset=opset)
    network = read_network(save(tmp_path, proto))
    assert network.stripped == {"Softmax": "softmax", "LogSoftmax": "log_softmax"}[kind]
    assert any(kind in note for note in network.notes)
    x = grid(1, 3)
    z = network.evaluate(x.astype(np.float64))[0]
    log = z - np.log(np.exp(z - z.max()).sum()) - z.max()
    np.testing.assert_allclose(run_other(proto, x).ravel(), log if kind == "LogSoftmax" else np.exp(log), atol=1e-6)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([node("Softmax", ["x"], "y", axis=0)], "1 of 3"),
        ([node("Div", ["x", "zero"], "y")], "division by zero"),
        ([node("Mod", ["x", "x"], "y", fmod=1)], "a division by a value that depends on the input"),
        ([node("Mod", ["x", "zero"], "y", fmod=1)], "division by zero"),
        ([node("Reshape", ["x", "shape"], "y")], "cannot be reshaped"),
        ([node("Reshape", ["x", "zeros"], "y", allowzero=1)], "cannot be reshaped to [0, 3]"),
        ([node("MatMul", ["x", "w"], "y")], "do not multiply"),
        ([node("Add", ["x", "w"], "y")], "do not broadcast"),
        ([node("Transpose", ["x"], "y", perm=[0, 0])], "perm"),
        ([node("Gather", ["x", "shape"], "y", axis=1)], "beyond axis"),
        ([node("BatchNormalization", ["x", "c", "c", "c", "negative"], "y")], "not positive"),
        ([node("BatchNormalization", ["x", "c", "c", "c", "c"], "y", training_mode=1)], "training mode"),
        ([node("Cast", ["x"], "y", to=TensorProto.INT16)], "cast to integers"),
        ([node("Flatten", ["x"], "y", axis=7)], "axis 7"),
        ([node("Gemm", ["x", ""], "y")], "input 1 is missing"),
        ([node("Gemm", ["x"], "y")], "1 inputs, but opset 17 takes 2 to 3"),
        ([node("Relu", ["x", "c"], "y")], "2 inputs, but opset 17 takes 1 to 1"),
        ([node("Squeeze", ["x"], "y", axes=[0])], "no attribute 'axes'"),
        ([node("Gemm", ["x", "c"], "y")], "Gemm takes matrices"),
    ],
)
def test_what_is_refused_names_its_node(nodes: list[NodeProto], words: str, tmp_path: Path) -> None:
    constants = {
        "c": np.ones(3, np.float32), "zero": np.array([1, 0, 2], np.float32), "w": np.ones((2, 2), np.float32),
        "shape": np.array([2, 5]), "zeros": np.array([0, 3]), "negative": np.full(3, -1, np.float32),
    }  # fmt: skip
    path = save(tmp_path, model(nodes, constants, (1, 3)))
    with pytest.raises(NetworkError) as caught:
        read_network(path)
    error = caught.value
    assert words in error.message
    assert error.path == path
    assert error.operator == nodes[-1].op_type
    assert error.node == nodes[-1].name
    assert error.fix
    if "not supported" in words:
        assert "BatchNormalization" in error.fix
        assert "Gemm" in error.fix
