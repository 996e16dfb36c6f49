"""Comparisons, choices by them, sums along an axis and interpolation, as exporters write them: against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from eqspec.networks.curves import Curves
from unit.networks.exported import FLOAT, read_and_compared, several, value
from unit.networks.models import model, node, save

C = np.array([[0.25, -0.5, 0.0]], np.float32)
MASK = np.array([[True, False, True]])
BOOL, FLOATS = onnx.TensorProto.BOOL, onnx.TensorProto.FLOAT


def of(nodes: list[onnx.NodeProto], constants: dict[str, Any], *shape: int, opset: int = 17) -> onnx.ModelProto:
    return several(nodes, constants, [value("x", FLOAT, shape)], [value("y", FLOAT, None)], opset=opset)


def flags(kind: str) -> list[onnx.NodeProto]:
    """An operator on two truth values that both depend on the input, as numbers."""
    return [
        node("Greater", ["x", "c"], "a"),
        node("Less", ["x", "zero"], "b"),
        node(kind, ["a", "b"] if kind != "Not" else ["a"], "f"),
        node("Cast", ["f"], "y", to=FLOATS),
    ]


CONSTANTS = {"c": C, "zero": np.zeros((1, 1), np.float32), "m": MASK}
CASES: dict[str, onnx.ModelProto] = {
    **{
        kind: of([node(kind, ["x", "c"], "f"), node("Cast", ["f"], "y", to=FLOATS)], CONSTANTS, 1, 3, opset=opset)
        for kind, opset in (("Equal", 13), ("Greater", 9), ("GreaterOrEqual", 16), ("Less", 9), ("LessOrEqual", 12))
    },
    **{kind: of(flags(kind), CONSTANTS, 1, 3) for kind in ("And", "Or", "Xor", "Not")},
    **{
        f"{kind} with a mask": of(
            [node("Less", ["x", "c"], "a"), node(kind, ["m", "a"], "f"), node("Cast", ["f"], "y", to=FLOATS)],
            CONSTANTS, 1, 3,
        )
        for kind in ("And", "Or", "Xor", "Equal")
    },
    "is not zero": of(
        [node("Relu", ["x"], "r"), node("Cast", ["r"], "b", to=BOOL), node("Cast", ["b"], "y", to=FLOATS)],
        CONSTANTS, 1, 3,
    ),
    **{
        f"a remainder of a division by {divisor}, opset {opset}": of(
            [node("Mod", ["x", "d"], "y", fmod=truncated)], {"d": np.array(divisor, np.float32)}, 1, 3, opset=opset
        )
        for divisor in (0.75, -0.5, 6.25)
        for opset, truncated in ((17, 1), (28, 0))
    },
    **{
        f"{kind} {chosen}": of(
            [node("Mul", ["x", "two"], "t"), node("Round", ["t"], "r"), node(kind, ["r"], "p", **chosen),
             node("Cast", ["p"], "q", to=FLOATS), node("Neg", ["q"], "y")],
            {"two": np.array(2, np.float32)}, 1, 2, 4,
        )
        for kind in ("ArgMax", "ArgMin")
        for chosen in ({"axis": 2}, {"axis": 1, "keepdims": 0}, {"axis": -1, "select_last_index": 1})
    },
    **{
        f"Hardmax {opset}": of(
            [node("Round", ["x"], "r"), node("Hardmax", ["r"], "h", axis=1), node("Neg", ["h"], "y")], {}, 1, 2, 3,
            opset=opset,
        )
        for opset in (11, 13)
    },
    "without what is behind the point": of(
        [node("Cast", ["x"], "i", to=onnx.TensorProto.INT64), node("Cast", ["i"], "y", to=FLOATS)], {}, 1, 3
    ),
    "rows at the largest": of(
        [node("ArgMax", ["x"], "p", axis=1, keepdims=0), node("Gather", ["rows", "p"], "y")],
        {"rows": np.arange(12, dtype=np.float32).reshape(4, 3)}, 1, 4,
    ),
    "a value at the largest": of(
        [node("ArgMax", ["x"], "p", axis=1, keepdims=0), node("Tanh", ["x"], "t"),
         node("Gather", ["t", "p"], "y", axis=1)], {}, 1, 4,
    ),
    **{
        f"what a TopK finds, {largest}": of(
            [helper.make_node("TopK", ["x", "k"], ["v", "p"], axis=1, largest=largest),
             node("GatherElements", ["x", "p"], "f", axis=1), node("Tanh", ["x"], "t"),
             node("GatherElements", ["t", "p"], "g", axis=1), node("Concat", ["v", "f", "g"], "y", axis=1)],
            {"k": np.array([3])}, 1, 5, 2,
        )
        for largest in (0, 1)
    },
    **{
        f"gates of the largest {count} along {axis}, {reduction}": of(
            [helper.make_node("TopK", ["x", "k"], ["v", "p"], axis=axis), node("Tanh", ["v"], "t"),
             node("Mul", ["x", "half"], "data"),
             node("ScatterElements", ["data", "p", "t"], "s", axis=axis, **reduction), node("Neg", ["s"], "y")],
            {"k": np.array([count]), "half": np.array(0.5, np.float32)}, 1, 4, 3, opset=16,
        )
        for count in (1, 2)
        for axis in (1, 2)
        for reduction in ({}, {"reduction": "add"})
    },
    **{
        f"one entry put at the {kind} of all, {reduction}": of(
            [node("Squeeze", ["x", "zero"], "r"), node(kind, ["r"], "p", axis=0, keepdims=0),
             node("Gather", ["x", "p"], "g", axis=1),
             node("Reshape", ["p", "one"], "at"), node("Slice", ["r", "first", "second"], "u"),
             node("ScatterND", ["stored", "at", "u"], "s", **reduction), node("Add", ["s", "g"], "y")],
            {"zero": np.array([0]), "one": np.array([1, 1]), "first": np.array([0]), "second": np.array([1]),
             "stored": np.arange(4, dtype=np.float32)}, 1, 4, opset=16,
        )
        for kind in ("ArgMax", "ArgMin")
        for reduction in ({}, {"reduction": "add"})
    },
    **{
        f"peaks of a map, {kind}": of(
            [node("Softplus", ["x"], "h"), node("MaxPool", ["h"], "m", kernel_shape=[3, 3], pads=[1] * 4),
             node(kind, ["h", "m"] if kind != "Greater" else ["m", "h"], "p"), node("Cast", ["p"], "c", to=FLOATS),
             node("Mul", ["h", "c"], "y")],
            {}, 1, 2, 4, 3,
        )
        for kind in ("Equal", "GreaterOrEqual", "Less", "Greater")
    },
    **{
        f"the best {count} of a row, {kind} {order}": of(
            [node("Round", ["x"], "r"), helper.make_node("TopK", ["r", "k"], ["v", "p"], axis=1),
             node("Slice", ["v", "last", "end", "one"], "m"),
             node(kind, ["r", "m"] if order else ["m", "r"], "b"), node("Cast", ["b"], "c", to=FLOATS),
             node("Mul", ["x", "c"], "y")],
            {"k": np.array([count]), "last": np.array([-1]), "end": np.array([9]), "one": np.array([1])}, 1, 4, 2,
        )
        for count in (1, 2, 4)
        for kind, order in (("Equal", 1), ("GreaterOrEqual", 1), ("Greater", 1), ("Greater", 0), ("LessOrEqual", 1))
    },
    "the second part of a split": of(
        [helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2), node("Greater", ["b", "a"], "g"),
         node("Cast", ["g"], "y", to=FLOATS)],
        {}, 1, 6, opset=18,
    ),
    "the best of a row": of(
        [node("Round", ["x"], "h"), node("ReduceMax", ["h"], "m", axes=[1], keepdims=1),
         node("Equal", ["m", "h"], "p"), node("Cast", ["p"], "y", to=FLOATS)],
        {}, 1, 5,
    ),
    "a choice of constants": of(
        [node("Greater", ["x", "c"], "a"), node("Where", ["a", "c", "zero"], "y")], CONSTANTS, 1, 3
    ),
    "a choice of values": of(
        [
            node("Slice", ["x", "p0", "p1", "p1"], "first"),
            node("Greater", ["first", "zero"], "a"),
            node("Neg", ["x"], "n"),
            node("Where", ["a", "n", "x"], "y"),
        ],
        CONSTANTS | {"p0": np.array([0]), "p1": np.array([1])}, 1, 3,
    ),
    "Hardshrink, which jumps": of(
        [node("Abs", ["x"], "s"), node("LessOrEqual", ["s", "h"], "a"), node("Where", ["a", "zero", "x"], "y")],
        CONSTANTS | {"h": np.array(0.5, np.float32)}, 1, 3,
    ),
    **{
        f"CumSum {axis} {exclusive} {reverse}": of(
            [node("CumSum", ["x", "i"], "y", exclusive=exclusive, reverse=reverse)], {"i": np.array(axis)}, 1, 3, 2
        )
        for axis, exclusive, reverse in ((1, 0, 0), (-1, 1, 0), (1, 0, 1), (2, 1, 1))
    },
    **{
        f"Resize {mode} {coordinates} {scale}": of(
            [node("Resize", ["x", "", "s"], "y", mode=mode, coordinate_transformation_mode=coordinates)],
            {"s": np.array([1, 1, scale, 1.5], np.float32)}, 1, 2, 4, 6,
        )
        for mode in ("linear", "cubic")
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
        for scale in (2.0, 0.75)
    },
    "Resize linear to sizes": of(
        [node("Resize", ["x", "", "", "s"], "y", mode="linear")], {"s": np.array([1, 2, 9, 4])}, 1, 2, 7, 7
    ),
    "a size whose product is rounded": of(  # tf.image.resize: 10 times the float32 next to 0.9 is 9 for every runtime
        [node("Resize", ["x", "", "s"], "y", mode="linear")], {"s": np.array([1, 1, 0.9, 1], np.float32)}, 1, 1, 10, 2
    ),
    "Upsample linear": of(
        [node("Upsample", ["x", "s"], "y", mode="linear")], {"s": np.array([1, 1, 2, 3], np.float32)}, 1, 2, 3, 2,
        opset=9,
    ),
    "a normalisation of layers by tf2onnx": of(
        [
            node("ReduceMean", ["x"], "mean", axes=[2], keepdims=1),
            node("Sub", ["x", "mean"], "apart"),
            node("Mul", ["apart", "apart"], "squares"),
            node("ReduceMean", ["squares"], "v", axes=[2], keepdims=0),
            node("Squeeze", ["mean", "last"], "flat_mean"),
            node("Reshape", ["flat_mean", "row"], "m1"),
            node("Reshape", ["v", "row"], "v1"),
            node("BatchNormalization", ["x", "ones", "zeros", "m1", "v1"], "y", epsilon=0.01),
        ],
        {"last": np.array([2]), "row": np.array([2]), "ones": np.ones(2, np.float32),
         "zeros": np.zeros(2, np.float32)},
        1, 2, 3,
    ),
    "ReduceLogSumExp": of([node("ReduceLogSumExp", ["x"], "y", axes=[1], keepdims=1)], {}, 1, 3),
    "ReduceLogSum": of([node("Exp", ["x"], "e"), node("ReduceLogSum", ["e"], "y", axes=[1])], {}, 1, 3, opset=13),
    "Asinh": of([node("Asinh", ["x"], "y")], {}, 1, 3),
    "a scale of attention": of(  # scaled_dot_product_attention of torch: a cast of what has that type already
        [
            node("Shape", ["x"], "shape"),
            node("Gather", ["shape", "last"], "size"),
            node("Cast", ["size"], "width", to=FLOATS),
            node("Sqrt", ["width"], "root"),
            node("Div", ["one", "root"], "scale"),
            node("Cast", ["scale"], "same", to=FLOATS),
            node("Mul", ["x", "same"], "y"),
        ],
        {"last": np.array([1]), "one": np.ones(1, np.float32)}, 1, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_graphs_are_read_as_onnxruntime_runs_them(tmp_path: Path, name: str) -> None:
    (given,) = CASES[name].graph.input
    shape = tuple(d.dim_value for d in given.type.tensor_type.shape.dim)
    read_and_compared(CASES[name], tmp_path, [("x", np.float32, shape)], exact=1e-5)


@pytest.mark.parametrize("kind", ["ArgMax", "Hardmax", "TopK", "ArgMax compared"])
def test_places_are_known_where_no_two_entries_change_their_order(tmp_path: Path, kind: str) -> None:
    """Once a rank was compared with a whole number, of which rounding left the sign open."""
    ends = {
        "ArgMax": [helper.make_node("ArgMax", ["z"], ["p"], axis=1), helper.make_node("Cast", ["p"], ["y"], to=FLOATS)],
        "Hardmax": [helper.make_node("Hardmax", ["z"], ["y"], axis=1)],
        "ArgMax compared": [
            helper.make_node("ArgMax", ["z"], ["p"], axis=1),
            helper.make_node("Neg", ["p"], ["n"]),
            helper.make_node("Equal", ["n", "last"], ["e"]),
            helper.make_node("Cast", ["e"], ["y"], to=FLOATS),
        ],
        "TopK": [
            helper.make_node("TopK", ["z", "k"], ["v", "p"], axis=1),
            helper.make_node("Cast", ["p"], ["y"], to=FLOATS),
        ],
    }
    nodes = [node("Mul", ["x", "factors"], "z"), *ends[kind]]
    found = []
    for name, factors in (("first", [0.1, 0.3, 0.7, 1.1]), ("second", [0.2, 0.4, 0.6, 1.2])):
        (tmp_path / name).mkdir()
        proto = of(nodes, {"factors": np.array([factors], np.float32), "k": np.array([2]), "last": np.array(-3)}, 1, 4)
        found.append(read_network(save(tmp_path / name, proto), output="y"))
    result = eqspec.verify(found[0], found[1], [0.9] * 4, [1.1] * 4, eqspec.Epsilon("0.001"), timeout=20)
    assert result.verdict == "equivalent"


def test_two_entries_that_may_be_put_at_one_place_are_refused(tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["x"], "p", to=onnx.TensorProto.INT64),
        node("Clip", ["p", "low", "high"], "at"),
        node("ScatterElements", ["x", "at", "x"], "y", axis=1),
    ]
    proto = of(nodes, {"low": np.array(0), "high": np.array(2)}, 1, 3, opset=16)
    with pytest.raises(NetworkError, match="two entries may be put at one place"):
        read_network(save(tmp_path, proto))


@pytest.mark.parametrize("kind", ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
def test_thresholds_belong_to_the_side_that_they_belong_to(tmp_path: Path, kind: str) -> None:
    network = read_network(save(tmp_path, CASES[kind]))
    wanted = getattr(np, {"Equal": "equal", "Greater": "greater", "GreaterOrEqual": "greater_equal", "Less": "less",
                          "LessOrEqual": "less_equal"}[kind])(C, C)  # fmt: skip
    assert np.array_equal(network.evaluate(C.astype(np.float64)), wanted.astype(np.float64))


RECOGNISED: dict[str, tuple[str, list[onnx.NodeProto]]] = {
    "softshrink of torch by its dynamo exporter": (
        "pieces",
        [
            node("Abs", ["x"], "s"),
            node("Greater", ["s", "half"], "a"),
            node("Sign", ["x"], "sign"),
            node("Mul", ["sign", "half"], "t"),
            node("Sub", ["x", "t"], "u"),
            node("Mul", ["x", "zero"], "nothing"),
            node("Where", ["a", "u", "nothing"], "y"),
        ],
    ),
    "a ReLU by a choice": ("pieces", [node("Less", ["x", "zero"], "a"), node("Where", ["a", "zero", "x"], "y")]),
    "a ReLU by a product": (
        "pieces",
        [node("Greater", ["x", "zero"], "a"), node("Cast", ["a"], "b", to=FLOATS), node("Mul", ["x", "b"], "y")],
    ),
    "softplus of torch by its dynamo exporter": (
        "softplus",
        [node("Softplus", ["x"], "s"), node("Greater", ["x", "twenty"], "a"), node("Where", ["a", "x", "s"], "y")],
    ),
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_choice_without_a_jump_is_one_function(tmp_path: Path, name: str) -> None:
    kind, nodes = RECOGNISED[name]
    constants = {"half": np.float32(0.5), "zero": np.float32(0), "twenty": np.float32(20)}
    used = {n for one in nodes for n in one.input}
    proto = of(nodes, {k: np.array(v, np.float32) for k, v in constants.items() if k in used}, 1, 3)
    network = read_and_compared(proto, tmp_path, [("x", np.float32, (1, 3))], exact=1e-6)
    found = [s.function for s in network.steps if s.function != "identity"]
    assert len(found) == 1
    assert isinstance(found[0], Curves)
    assert found[0].uniform is not None
    assert found[0].uniform.name == kind


def test_a_threshold_of_softplus_counts_as_an_error(tmp_path: Path) -> None:
    """x above c and ln(1 + e^x) below differ by at most e^-c, which both steps and values have to hold."""
    nodes = RECOGNISED["softplus of torch by its dynamo exporter"][1]
    network = read_network(save(tmp_path, of(nodes, {"twenty": np.array(1.0, np.float32)}, 1, 3)))
    points = np.linspace(-4, 4, 33)[:, None] * np.ones(3)
    for point in points:
        true = np.where(point > 1, point, np.logaddexp(0, point))
        for (low, high), wanted in zip(network.evaluate_exact(list(point)), true, strict=True):
            assert float(low) - 1e-12 <= wanted <= float(high) + 1e-12


def test_comparisons_are_refused_in_float32(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="at its threshold"):
        in_float32(read_network(save(tmp_path, CASES["Greater"])))


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_a_normalizer_is_read(tmp_path: Path, norm: str) -> None:
    nodes = [node("Normalizer", ["x"], "n", domain="ai.onnx.ml", norm=norm), node("MatMul", ["n", "w"], "y")]
    weight = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    proto = several(nodes, {"w": weight}, [value("x", FLOAT, (1, 3))], [value("y", FLOAT, None)], ml=1)
    read_and_compared(proto, tmp_path, [("x", np.float32, (1, 3))])


def test_a_file_of_trees_alone_is_refused_by_their_name(tmp_path: Path) -> None:
    """onnxmltools writes XGBoost without an opset of the standard operators."""
    proto = several([node("TreeEnsembleClassifier", ["x"], "y", domain="ai.onnx.ml")], {}, [value("x", FLOAT, (1, 3))],
                    [value("y", FLOAT, None)], ml=1)  # fmt: skip
    del proto.opset_import[0]
    with pytest.raises(NetworkError, match="a tree jumps") as found:
        read_network(save(tmp_path, proto))
    assert "hummingbird" in str(found.value.fix)


@pytest.mark.parametrize("hidden", [True, False])
def test_a_choice_of_a_huge_number_leaves_the_other_one_its_digits(hidden: bool, tmp_path: Path) -> None:
    """Masks of -1e9 that depend on the input: of a product with the difference no digit of the scores was left."""
    nodes = [
        node("Less", ["k", "half"], "b"),
        node("Where", ["b", "low", "x"] if hidden else ["b", "x", "low"], "m"),
        node("Softmax", ["m"], "s", axis=-1),
        node("Mul", ["s", "x"], "y"),
    ]
    constants: dict[str, Any] = {"half": np.array(0.5, np.float32), "low": np.array(-1e9, np.float32)}
    inputs = [value("x", FLOAT, (1, 4)), value("k", FLOAT, (1, 4))]
    network = read_network(save(tmp_path, several(nodes, constants, inputs, [value("y", FLOAT, None)])))
    x, shown = np.array([0.5, -0.25, 1.5, 2.0]), np.array([True, False, True, True])
    mask = np.where(shown == hidden, 1.0, 0.0)
    expected = np.where(shown, np.exp(x), 0) / np.exp(x)[shown].sum() * x
    assert np.allclose(network.evaluate(np.concatenate([x, mask])[None])[0], expected, rtol=0, atol=1e-12)


def test_inputs_that_are_truth_values(tmp_path: Path) -> None:
    """A point of a region stands for the nearer ones of 0 and 1, as onnxruntime is given them."""
    nodes = [
        node("Not", ["k"], "n"),
        node("Where", ["n", "x", "zero"], "w"),
        node("And", ["k", "mask"], "a"),
        node("Cast", ["a"], "f", to=FLOATS),
        node("Add", ["w", "f"], "y"),
    ]
    constants: dict[str, Any] = {"zero": np.zeros((1, 3), np.float32), "mask": MASK}
    inputs = [value("x", FLOAT, (1, 3)), value("k", BOOL, (1, 3))]
    model = several(nodes, constants, inputs, [value("y", FLOAT, None)])
    network = read_network(save(tmp_path, model))
    assert any("truth values" in note for note in network.notes)
    x = np.array([0.5, -2.0, 3.0])
    for k in ([0, 0, 0], [1, 0, 1], [1, 1, 1]):
        (answer,) = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, {"x": x[None].astype(np.float32), "k": np.array([k], bool)}
        )
        for off in (0.0, 0.25):
            near = np.abs(np.array(k, float) - off)
            assert np.allclose(network.evaluate(np.concatenate([x, near])[None])[0], answer.reshape(-1), atol=1e-12)


@pytest.mark.parametrize("kind", ["IsNaN", "IsInf"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 2.0])
def test_what_stands_for_no_number_is_left_out(kind: str, number: float, tmp_path: Path) -> None:
    """Where(IsNaN(a), c, a) is a for every real number, as JAX writes a sort; elsewhere no such c is read."""
    nodes = [node("MatMul", ["x", "w"], "a"), node(kind, ["a"], "none"), node("Where", ["none", "c", "a"], "y")]
    constants: dict[str, Any] = {"w": np.array([[1, -2], [0.5, 3]], np.float32), "c": np.array(number, np.float32)}
    proto = model(nodes, constants, ["N", 2])
    network = read_network(save(tmp_path, proto))
    x = np.array([[0.25, -1.5]], np.float32)
    (expected,) = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(network.evaluate(x.astype(float)), expected, rtol=1e-6)
    nodes[2] = node("Where", ["none", "a", "c"], "y")
    if not np.isneginf(number) and number != 2.0:
        with pytest.raises(NetworkError, match="not finite"):
            read_network(save(tmp_path, model(nodes, constants, ["N", 2]), "other.onnx"))
