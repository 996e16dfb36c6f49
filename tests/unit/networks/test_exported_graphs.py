"""Small forms that exporters leave in graphs: sizes that are computed, branches, casts, and composed operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from unit.networks.exported import FLOAT, read_and_compared, several, value
from unit.networks.models import node, save

RANDOM = np.random.default_rng(11)
W = RANDOM.normal(size=(6, 3)).astype(np.float32)
IMAGE = (1, 2, 3, 4)


def numbers(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


def whole(*given: int) -> Any:
    return np.array(given, np.int64)


def graph(
    nodes: Sequence[onnx.NodeProto], constants: dict[str, Any], shape: Sequence[Any], opset: int = 17
) -> onnx.ModelProto:
    return several(nodes, constants, [value("x", FLOAT, shape)], [value("y", FLOAT, None)], opset=opset)


def branch(name: str, nodes: Sequence[onnx.NodeProto], output: str) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [], [helper.make_empty_tensor_value_info(output)])


def squeezing(size: int) -> list[onnx.NodeProto]:
    """What torch.onnx writes for x.squeeze(1) where it did not know the size of axis 1."""
    then = node("Squeeze", ["x", "one"], "inner") if size == 1 else node("Neg", ["x"], "inner")
    squeeze = branch("then", [then], "inner")
    keep = branch("else", [node("Identity", ["x"], "inner")], "inner")
    return [
        node("Shape", ["x"], "shape"),
        node("Gather", ["shape", "index"], "size"),
        node("Equal", ["size", "wanted"], "is_one"),
        helper.make_node("If", ["is_one"], ["squeezed"], name="If", then_branch=squeeze, else_branch=keep),
        node("Flatten", ["squeezed"], "flat"),
        node("MatMul", ["flat", "w"], "y"),
    ]


CASES: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], tuple[Any, ...], int]] = {
    "a clip from the mean to the largest": (
        [
            node("ReduceMean", ["x"], "m", keepdims=0),
            node("ReduceMax", ["x"], "t", keepdims=0),
            node("MatMul", ["x", "w"], "h"),
            node("Clip", ["h", "m", "t"], "y"),
        ],
        {"w": W},
        (1, 6),
        17,
    ),
    "a clip of constants with ends that cross": (
        [
            node("ReduceMean", ["x"], "m", axes=[0, 1], keepdims=0),
            node("Clip", ["c", "m", "k"], "a"),
            node("Clip", ["c", "", "m"], "b"),
            node("Add", ["a", "b"], "y"),
        ],
        {"c": numbers(1, 3), "k": np.float32(0)},
        (1, 6),
        12,
    ),
    "weights of a convolution in parts": (
        [node("Concat", ["u", "v"], "w", axis=0), node("Conv", ["x", "w"], "c"), node("Relu", ["c"], "y")],
        {"u": numbers(2, 2, 2, 2), "v": numbers(1, 2, 2, 2)},
        IMAGE,
        17,
    ),
    "a flattened size of an open batch": (
        [
            node("Shape", ["x"], "s"),
            node("Gather", ["s", "zero"], "n"),
            node("Unsqueeze", ["n", "first"], "n1"),
            node("Concat", ["n1", "rest"], "target", axis=0),
            node("Reshape", ["x", "target"], "f"),
            node("MatMul", ["f", "w"], "y"),
        ],
        {"zero": np.array(0), "first": whole(0), "rest": whole(-1), "w": numbers(24, 3)},
        ("batch", 2, 3, 4),
        17,
    ),
    "attributes for axes": (
        [
            node("Unsqueeze", ["x"], "u", axes=[1]),
            node("Squeeze", ["u"], "v", axes=[1]),
            node("MatMul", ["v", "w"], "y"),
        ],
        {"w": W},
        (1, 6),
        11,
    ),
    "a size as a factor": (
        [node("Size", ["w"], "n"), node("Cast", ["n"], "f", to=FLOAT), node("Div", ["x", "f"], "y")],
        {"w": W},
        (1, 6),
        17,
    ),
    "a cast like another value": (
        [node("CastLike", ["k", "x"], "c"), node("Mul", ["x", "c"], "m"), node("CastLike", ["m", "w"], "y")],
        {"k": np.array(3), "w": W},
        (1, 6),
        17,
    ),
    "identities and casts in a row": (
        [
            node("Identity", ["x"], "a"),
            node("Dropout", ["a"], "b"),
            node("Cast", ["b"], "c", to=TensorProto.DOUBLE),
            node("Cast", ["c"], "d", to=FLOAT),
            node("Gemm", ["d", "w"], "y"),
        ],
        {"w": W},
        ("N", 6),
        13,
    ),
    "an If that squeezes": (
        squeezing(1),
        {"one": whole(1), "index": np.array(1), "wanted": np.array(1), "w": W},
        (1, 1, 6),
        17,
    ),
    "an If that does not": (
        squeezing(2),
        {"one": whole(1), "index": np.array(1), "wanted": np.array(1), "w": numbers(12, 3)},
        (1, 2, 6),
        17,
    ),
    "a mean of values": (
        [node("Neg", ["x"], "n"), node("Relu", ["x"], "r"), node("Mean", ["x", "n", "r"], "y")],
        {},
        (1, 6),
        13,
    ),
    "a sum of absolute values": ([node("ReduceL1", ["x"], "y", axes=[1])], {}, (1, 6), 11),
    "a sum of absolute values in opset 13": ([node("ReduceL1", ["x"], "y", axes=[1], keepdims=0)], {}, (1, 6, 2), 13),
    "a sum of absolute values in opset 18": (
        [node("ReduceL1", ["x", "axes"], "y")],
        {"axes": whole(-1)},
        (1, 6, 2),
        18,
    ),
    "entries put at constant places": (
        [node("ScatterND", ["x", "places", "updates"], "y")],
        {"places": np.array([[0, 1], [0, 4]]), "updates": numbers(2)},
        (1, 6),
        16,
    ),
    "entries of the value put into a constant": (
        [node("Reshape", ["x", "flat"], "f"), node("ScatterND", ["zeros", "places", "f"], "y")],
        {"flat": whole(6), "zeros": np.zeros(9, np.float32), "places": np.array([[8], [1], [3], [4], [0], [2]])},
        (1, 6),
        13,
    ),
    "entries put along an axis": (
        [node("ScatterElements", ["x", "places", "updates"], "y", axis=1)],
        {"places": np.array([[5, 0]]), "updates": numbers(1, 2)},
        (1, 6),
        13,
    ),
}  # fmt: skip

EQUATIONS: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "bi,io->bo": ((1, 6), (6, 3)),
    "bi,oi->bo": ((1, 6), (3, 6)),
    "abc,cd->abd": ((1, 4, 6), (6, 3)),
    "abc,cde->abde": ((1, 2, 6), (6, 3, 2)),
    "abcd,cde->abe": ((1, 2, 3, 4), (3, 4, 5)),
    "abcd,dce->eab": ((1, 2, 3, 4), (4, 3, 5)),
    "abc,bcd->abd": ((1, 2, 6), (2, 6, 3)),
    "bc,bcd->bd": ((2, 6), (2, 6, 3)),
    "bc,bc->b": ((2, 6), (2, 6)),
    "abc,c->ab": ((1, 2, 6), (6,)),
    "i,io->o": ((6,), (6, 3)),
}


@pytest.mark.parametrize("what", CASES)
def test_forms_of_exporters(what: str, tmp_path: Path) -> None:
    nodes, constants, shape, opset = CASES[what]
    fixed = tuple(d if isinstance(d, int) else 1 for d in shape)
    network = read_and_compared(graph(nodes, constants, shape, opset), tmp_path, [("x", np.float32, fixed)])
    assert in_float32(network).output_size == network.output_size


def test_weights_of_an_lstm_in_another_order(tmp_path: Path) -> None:
    """As torch.onnx writes them, for which gates stand in another order: parts of what is stored, joined again."""
    nodes = [node("Transpose", ["x"], "t", perm=[1, 0, 2])]
    for name in ("w", "r", "b"):
        ends = (("0", "2"), ("6", "8"), ("2", "6"))
        nodes += [node("Slice", [name, start, end, "0"], f"{name} {start}") for start, end in ends]
        nodes.append(node("Concat", [f"{name} {start}" for start, _ in ends], f"{name} joined", axis=0))
        nodes.append(node("Unsqueeze", [f"{name} joined", "0"], name.upper()))
    nodes.append(node("Concat", ["B", "B"], "BB", axis=1))
    nodes.append(helper.make_node("LSTM", ["t", "W", "R", "BB"], ["", "h"], hidden_size=2))
    nodes.append(node("Squeeze", ["h", "0"], "y"))
    constants = {"w": numbers(8, 3), "r": numbers(8, 2), "b": numbers(8)}
    constants |= {name: whole(int(name)) for name in ("0", "2", "6", "8")}
    read_and_compared(graph(nodes, constants, (1, 2, 3)), tmp_path, [("x", np.float32, (1, 2, 3))])


@pytest.mark.parametrize("kind", ["Acosh", "Asinh", "Atanh", "Cosh", "Mean", "Sinh", "Tan"])
def test_a_number_without_axes_stays_one(kind: str, tmp_path: Path) -> None:
    """Operators that are written out as others took it for a list of one number, which its shape told."""
    nodes = [
        node(kind, ["c"], "q"),
        node("Shape", ["q"], "s"),
        node("Concat", ["s", "k"], "sizes", axis=0),
        node("Size", ["sizes"], "many"),
        node("Cast", ["many"], "factor", to=FLOAT),
        node("Mul", ["x", "factor"], "y"),
    ]
    constants = {"c": np.array(1.5 if kind == "Acosh" else 0.5, np.float32), "k": whole(2, 3)}
    read_and_compared(graph(nodes, constants, (1, 3)), tmp_path, [("x", np.float32, (1, 3))])


def test_which_places_of_a_single_number_are_not_zero_is_not_said(tmp_path: Path) -> None:
    nodes = [node("NonZero", ["c"], "p"), node("Shape", ["p"], "s"), node("Expand", ["x", "s"], "y")]
    with pytest.raises(NetworkError, match="NonZero of a single number"):
        read_network(save(tmp_path, graph(nodes, {"c": np.array(5, np.int64)}, (1, 3))))


def test_joined_constants_are_constants(tmp_path: Path) -> None:
    """With the digits that no float holds: of a third, and of numbers that a float does."""
    nodes = [
        node("Div", ["one", "three"], "third"),
        node("Concat", ["third", "w"], "m", axis=0),
        node("MatMul", ["x", "m"], "p"),
        node("Relu", ["p"], "y"),
    ]
    constants = {"one": np.ones((1, 3), np.float32), "three": np.full((1, 3), 3, np.float32), "w": W[:5]}
    network = read_network(save(tmp_path, graph(nodes, constants, (1, 6))))
    assert len(network.steps) == 2
    for low, high in network.evaluate_exact([Fraction(1), *[Fraction(0)] * 5]):
        assert low <= Fraction(1, 3) <= high < low + Fraction(1, 2**50)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("kind", ["ScatterND", "ScatterElements"])
def test_messages_are_added_at_constant_places(kind: str, moved: bool, tmp_path: Path) -> None:
    """Several at one place, and none at others, as edges of a graph meet in its nodes; the updates or the data vary."""
    shape: tuple[int, ...]
    if kind == "ScatterND":
        places, shape = np.array([[0, 1], [0, 3], [0, 1], [0, -1], [0, 1]]), (5,)
    else:
        places, shape = np.array([[1, 3, 1, -1, 1]]), (1, 5)
    nodes = [node("Reshape", ["x", "sizes"], "u")]
    constants = {"sizes": np.array(shape), "places": places, "zeros": numbers(1, 7), "some": numbers(*shape)}
    names = ["zeros", "places", "u"] if moved else ["u", "places", "some"]
    axis = {} if kind == "ScatterND" else {"axis": 1}
    if not moved:
        constants["sizes"] = np.array([1, 5])
    nodes.append(node(kind, names, "y", reduction="add", **axis))
    read_and_compared(graph(nodes, constants, (1, 5), 18), tmp_path, [("x", np.float32, (1, 5))])


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("kind", ["ScatterND", "ScatterElements"])
def test_constants_that_are_scattered_enclose_what_no_float_holds(kind: str, reduction: str, tmp_path: Path) -> None:
    data = np.array([2.0**60, 1 + 2.0**-23, 0.75], np.float32)
    updates = np.array([1, 1 + 2.0**-22, 1 + 2.0**-21, -3], np.float32)
    places = [0, 1, 1, 0]
    nodes = [node(kind, ["data", "places", "updates"], "s", reduction=reduction), node("Mul", ["x", "s"], "y")]
    at = np.array(places) if kind == "ScatterElements" else np.array(places)[:, None]
    path = save(tmp_path, graph(nodes, {"data": data, "places": at, "updates": updates}, (1, 3), 18))
    true = [Fraction(float(a)) for a in data]
    kinds: dict[str, Callable[[Fraction, Fraction], Fraction]]
    kinds = {"add": operator.add, "mul": operator.mul, "max": max, "min": min}
    for place, update in zip(places, updates.tolist(), strict=True):
        true[place] = kinds[reduction](true[place], Fraction(update))
    found = read_network(path).evaluate_exact((Fraction(1),) * 3)
    assert all(low <= exact <= high for exact, (low, high) in zip(true, found, strict=True))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_sums_of_products_with_a_constant(equation: str, swapped: bool, tmp_path: Path) -> None:
    shape, constant = EQUATIONS[equation]
    inputs = ["x", "w"]
    if swapped:
        left, _, right = equation.partition("->")
        equation, inputs = f"{','.join(reversed(left.split(',')))}->{right}", ["w", "x"]
    nodes = [node("Einsum", inputs, "y", equation=equation)]
    read_and_compared(graph(nodes, {"w": numbers(*constant)}, shape), tmp_path, [("x", np.float32, shape)])


def test_a_transpose_by_an_equation(tmp_path: Path) -> None:
    nodes = [node("Einsum", ["x"], "y", equation="abcd -> adbc")]
    read_and_compared(graph(nodes, {}, IMAGE), tmp_path, [("x", np.float32, IMAGE)])


@pytest.mark.parametrize(
    ("nodes", "constants", "shape", "words"),
    [
        ([node("Einsum", ["x", "x"], "y", equation="ab,abc->a")], {}, (1, 6), "a value of 2 axes"),
        ([node("Einsum", ["x"], "y", equation="aa->a")], {}, (1, 6), "an axis of sizes 1 and 6"),
        ([node("Einsum", ["x"], "y", equation="ab->ac")], {}, (1, 6), "the equation"),
        (
            [node("ScatterND", ["x", "places", "u"], "y")],
            {"places": np.array([[0, 1], [0, 1]]), "u": numbers(2)},
            (1, 6),
            "two entries at one place",
        ),
        (
            [node("ScatterND", ["x", "places", "u"], "y", reduction="add")],
            {"places": np.array([[0, 7]]), "u": numbers(1)},
            (1, 6),
            "places beyond",
        ),
        (
            [node("ScatterND", ["x", "places", "u"], "y", reduction="add")],
            {"places": np.array([[0, 1]]), "u": numbers(2)},
            (1, 6),
            "updates of shape",
        ),
        ([node("MeanVarianceNormalization", ["x"], "y", axes=[4])], {}, IMAGE, "axes"),
        (
            [helper.make_node("TopK", ["x", "k"], ["y", "p"], sorted=0)],
            {"k": whole(2)},
            (1, 6),
            "the order of what it gives",
        ),
        (
            [helper.make_node("TopK", ["c", "k"], ["v", "p"], sorted=0), node("Add", ["x", "v"], "y")],
            {"c": numbers(4), "k": whole(2)},
            (1, 2),
            "the order of what it gives",
        ),
        ([node("GridSample", ["x", "x"], "y")], {}, (1, 2, 2, 2), "depends on the input"),
        (
            [node("GridSample", ["x", "g"], "y", mode="nearest")],
            {"g": np.zeros((1, 1, 1, 2), np.float32)},
            (1, 1, 2, 2),
            "may take either",
        ),
    ],
)  # fmt: skip
def test_forms_that_are_refused(nodes: Any, constants: Any, shape: Any, words: str, tmp_path: Path) -> None:
    proto = graph(nodes, constants, shape, 16)
    with pytest.raises(NetworkError, match=words) as caught:
        read_network(save(tmp_path, proto))
    assert caught.value.operator == nodes[0].op_type
    assert caught.value.fix


def test_a_branch_that_depends_on_the_input(tmp_path: Path) -> None:
    nodes = squeezing(1)
    nodes[2] = node("Greater", ["x", "level"], "is_one")
    proto = graph(nodes, {"one": whole(1), "level": numbers(1), "index": np.array(1), "w": W}, (1, 1, 6))
    with pytest.raises(NetworkError) as caught:
        read_network(save(tmp_path, proto))
    assert caught.value.operator in ("If", "Greater")


def test_two_branches_with_the_same_names(tmp_path: Path) -> None:
    first, second = squeezing(1)[:4], squeezing(1)[3]
    again = onnx.NodeProto()
    again.CopyFrom(second)
    again.output[0], again.name = "other", "If2"
    nodes = [
        *first,
        again,
        node("Sub", ["squeezed", "half"], "a"),
        node("Mul", ["other", "half"], "b"),
        node("Add", ["a", "b"], "y"),
    ]
    constants = {"one": whole(1), "index": np.array(1), "wanted": np.array(1), "half": np.array(0.5, np.float32)}
    read_and_compared(graph(nodes, constants, (1, 1, 6)), tmp_path, [("x", np.float32, (1, 1, 6))])  # fmt: skip


def test_a_convolution_of_tf2onnx_in_nhwc(tmp_path: Path) -> None:
    """Transposes around every convolution, and the last layer behind a Reshape of the image."""
    nodes = [
        node("Transpose", ["x"], "t", perm=[0, 3, 1, 2]),
        node("Conv", ["t", "k", "b"], "c", auto_pad="SAME_UPPER", strides=[2, 2]),
        node("Relu", ["c"], "r"),
        node("Transpose", ["r"], "back", perm=[0, 2, 3, 1]),
        node("Reshape", ["back", "flat"], "f"),
        node("MatMul", ["f", "w"], "m"),
        node("Add", ["m", "d"], "s"),
        node("Softmax", ["s"], "y", axis=-1),
    ]
    constants = {
        "k": numbers(3, 2, 3, 3),
        "b": numbers(3),
        "flat": whole(-1, 12),
        "w": numbers(12, 4),
        "d": numbers(4),
    }
    proto = graph(nodes, constants, ("unk__6", 4, 4, 2), 15)
    network = read_and_compared(proto, tmp_path, [("x", np.float32, (1, 4, 4, 2))])
    assert network.stripped == "softmax"


def half(keep: bool) -> onnx.ModelProto:
    """What the float16 converters of onnxconverter-common and onnxmltools make: casts at the ends, appended last."""
    kind = FLOAT if keep else TensorProto.FLOAT16
    nodes = [node("MatMul", ["c" if keep else "x", "w"], "m"), node("Relu", ["m"], "r" if keep else "y")]
    if keep:
        nodes += [node("Cast", ["r"], "y", to=FLOAT), node("Cast", ["x"], "c", to=TensorProto.FLOAT16)]
    weight = W.astype(np.float16)
    return several(nodes, {"w": weight}, [value("x", kind, ("n", 6))], [value("y", kind, None)])


@pytest.mark.parametrize("keep", [True, False])
def test_float16_is_read_as_real_numbers_and_said(keep: bool, tmp_path: Path) -> None:
    """The weights are what float16 holds; what a runtime rounds on the way is no part of the function."""
    network = read_network(save(tmp_path, half(keep)))
    assert np.array_equal(network.steps[0].terms[0].tile.weight[0], W.astype(np.float16).astype(np.float64).T)
    assert any("float16" in note and "on the way is not modelled" in note for note in network.notes)
    with pytest.raises(NetworkError, match="16 bits"):
        in_float32(network)


@pytest.mark.parametrize("stripped", [False, True])
def test_weights_beside_the_file(stripped: bool, tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w"], "s" if stripped else "y")]
    if stripped:
        nodes.append(node("Softmax", ["s"], "y"))
    proto = graph(nodes, {"w": numbers(6, 300)}, ("n", 6))
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=10)
    network = read_network(tmp_path / "m.onnx")
    assert network.output_size == 300
