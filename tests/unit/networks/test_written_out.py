"""Operators that others stand in place of once shapes are known: against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from unit.networks.exported import several, value
from unit.networks.function_cases import weights
from unit.networks.models import node, save
from unit.networks.test_graph_operators import others

FLOAT = TensorProto.FLOAT
MICROSOFT = ("com.microsoft", 1)


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def of(nodes: list[NodeProto], constants: dict[str, Any], *shape: int, opset: int = 17) -> onnx.ModelProto:
    stored = {name: np.asarray(array) for name, array in constants.items()}
    given = [value("x", FLOAT, shape)]
    return several(nodes, stored, given, [value("y", FLOAT, None)], opset=opset, others=[MICROSOFT])


def ms(kind: str, inputs: list[str], *outputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(kind, inputs, list(outputs), name=kind, domain="com.microsoft", **attributes)


ANGLES = np.arange(4)[:, None] * np.array([[1.0, 0.25]])
HEADS = {"s": whole(1, 3, 2, 4), "w": weights(8, 8), "v": weights(8, 8, seed=1)}
QKV = [node("MatMul", ["x", "w"], "q"), node("MatMul", ["x", "v"], "k"), node("Tanh", ["x"], "u")]
APART = [
    step
    for name in "qku"
    for step in (
        node("Reshape", [name, "s"], f"{name}r"),
        node("Transpose", [f"{name}r"], f"{name}h", perm=[0, 2, 1, 3]),
    )
]
MASK = np.array([[True, False, True], [True, True, False], [False, True, True]])
TABLES = {name: table(ANGLES).astype(np.float32) for name, table in (("cos", np.cos), ("sin", np.sin))}
TABLES |= {"at": whole(0, 3, 1)[None]}
PACKED = {"w": weights(4, 24), "b": weights(24), "one": np.ones((1, 3), np.int32), "first": np.array([2], np.int32)}
PACKED |= {"most": np.array([[1, 0, 1]], np.int32)}
NORM = {"g": weights(4), "b": weights(4, seed=2), "z": weights(3, 4, seed=3)[None], "e": weights(4, seed=4)}

CASES: dict[str, onnx.ModelProto] = {
    **{
        f"attention of heads {name}": of(
            [*QKV, *APART, node("Attention", ["qh", "kh", "uh", *given], "y", **chosen)], {**HEADS, "m": mask}, 1, 3, 8,
            opset=opset,
        )
        for name, opset, given, mask, chosen in (
            ("as they are", 23, [], MASK, {}),
            ("causal", 23, [], MASK, {"is_causal": 1}),
            ("scaled and capped", 24, [], MASK, {"scale": 0.3, "softcap": 2.0}),
            ("with flags", 23, ["m"], MASK, {}),
            ("with numbers", 24, ["m"], np.where(MASK, 0, -2).astype(np.float32), {}),
        )
    },
    "attention with shared keys": of(
        [*QKV, node("Slice", ["k", "zero", "half", "two"], "ks"), node("Slice", ["u", "zero", "half", "two"], "us"),
         node("Attention", ["q", "ks", "us"], "y", q_num_heads=2, kv_num_heads=1)],
        {**HEADS, "zero": whole(0), "half": whole(4), "two": whole(2)}, 1, 3, 8, opset=23,
    ),
    **{
        f"rotary positions of onnxruntime, {name}": of(
            [ms("RotaryEmbedding", ["x", at, "cos", "sin"], "y", **chosen)], {**TABLES, "first": whole(1)}, *shape
        )
        for name, at, shape, chosen in (
            ("listed", "at", (1, 3, 8), {"interleaved": 1}),
            ("from one on", "first", (1, 3, 8), {"num_heads": 2}),
            ("of heads", "at", (1, 2, 3, 4), {}),
        )
    },
    **{
        f"distances {metric} opset {opset}": of(
            [ms("CDist", ["x", "rows"], "y", metric=metric)], {"rows": weights(3, 4)}, 1, 4, opset=opset
        )
        for metric, opset in (("euclidean", 17), ("sqeuclidean", 18))
    },
    "rotary positions": of(
        [node("RotaryEmbedding", ["x", "cos", "sin", "at"], "y", num_heads=2, interleaved=1)], TABLES, 1, 3, 8, opset=23
    ),
    "rotary positions of a part": of(
        [node("RotaryEmbedding", ["x", "c", "s"], "y", num_heads=1, rotary_embedding_dim=4)],
        {"c": TABLES["cos"][None, :3], "s": TABLES["sin"][None, :3]}, 1, 3, 8, opset=23,
    ),
    "packed attention": of([ms("Attention", ["x", "w", "b"], "y", num_heads=2)], PACKED, 1, 3, 4),
    "packed attention with a mask": of([ms("Attention", ["x", "w", "b", "most"], "y", num_heads=2)], PACKED, 1, 3, 4),
    "packed attention to the first": of([ms("Attention", ["x", "w", "b", "first"], "y", num_heads=2)], PACKED, 1, 3, 4),
    "attention of several heads": of(
        [*QKV, ms("MultiHeadAttention", ["q", "k", "u", "bias"], "y", num_heads=2)],
        {**HEADS, "bias": weights(24)}, 1, 3, 8,
    ),
    "a skipped sum, normalised": of(
        [ms("SkipLayerNormalization", ["x", "z", "g", "b", "e"], "a", "", "", "s", epsilon=1e-3),
         node("Add", ["a", "s"], "y")],
        NORM, 1, 3, 4,
    ),
    "a skipped sum by its squares": of(
        [ms("SkipSimplifiedLayerNormalization", ["x", "z", "g"], "y", epsilon=1e-3)], NORM, 1, 3, 4
    ),
    "by its squares": of([node("SimplifiedLayerNormalization", ["x", "g"], "y", epsilon=1e-3)], NORM, 1, 3, 4),
    "of an older opset": of([node("LayerNormalization", ["x", "g", "b"], "y")], NORM, 1, 3, 4, opset=13),
    "mean and variance": of([node("MeanVarianceNormalization", ["x"], "y", axes=[1, 2])], {}, 1, 3, 4, opset=13),
    "the middle": of([node("CenterCropPad", ["x", "n"], "y", axes=[1, 2])], {"n": whole(2, 7)}, 1, 3, 4, opset=18),
    **{
        f"a product, {chosen}": of([ms("FusedMatMul", given, "y", **chosen)], {"w": weights(2, 4, 3)}, 2, 3, 4)
        for given, chosen in (
            (["x", "w"], {"alpha": 0.5}), (["x", "x"], {"transB": 1}), (["x", "x"], {"transA": 1}),
            (["w", "x"], {"transA": 1, "transB": 1}), (["x", "x"], {"transBatchA": 1, "transBatchB": 1, "transB": 1}),
        )
    },
    "Selu behind a product": of(
        [node("Reshape", ["x", "n"], "f"),
         ms("FusedGemm", ["f", "v"], "y", activation="Selu", activation_alpha=1.5, activation_gamma=1.1)],
        {"n": whole(1, 8), "v": weights(8, 3)}, 1, 8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_stands_in_place_is_what_others_compute(name: str, tmp_path: Path) -> None:
    network = read_network(save(tmp_path, CASES[name]))
    shape = [d.dim_value for d in CASES[name].graph.input[0].type.tensor_type.shape.dim]
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
        found = network.evaluate(
            x.reshape(-1, network.input_size).astype(float)
        )  # of samples that do not meet, one is read
        np.testing.assert_allclose(found.ravel(), others(CASES[name], x).ravel(), rtol=2e-5, atol=2e-6)


def test_in_which_order_a_fused_operator_rounds_is_not_known(tmp_path: Path) -> None:
    network = read_network(save(tmp_path, CASES["packed attention"]))
    with pytest.raises(NetworkError, match="differs from runtime to runtime"):
        in_float32(network)


@pytest.mark.parametrize(
    ("attributes", "more", "words"),
    [
        ({"q_num_heads": 3, "kv_num_heads": 1}, [], "3 heads of 8 entries"),
        ({"q_num_heads": 2, "kv_num_heads": 1, "softcap": 1.0}, ["m"], "capped beside a mask"),
        ({"q_num_heads": 2, "kv_num_heads": 2}, ["short"], "a mask of shape"),
    ],
)
def test_attention_that_is_refused(attributes: Any, more: list[str], words: str, tmp_path: Path) -> None:
    nodes = [*QKV, node("Attention", ["q", "k", "u", *more], "y", **attributes)]
    proto = of(nodes, {**HEADS, "m": MASK, "short": MASK[:, :2]}, 1, 3, 8, opset=23)
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, proto))


def scan(behind: list[NodeProto], *, opset: int = 17, rows: int = 4, **attributes: Any) -> onnx.ModelProto:
    """A state that starts as `z` and goes over x; an If inside of the body reads a value of the body."""
    branches = [
        helper.make_graph([node(kind, ["t"], f"{kind} of t")], kind, [], [value(f"{kind} of t", FLOAT, None)])
        for kind in ("Neg", "Relu")
    ]
    inner = [node("Add", ["state", "entry"], "t"), node("MatMul", ["t", "w"], "m"), node("Tanh", ["m"], "next")]
    inner += [helper.make_node("If", ["flag"], ["seen"], then_branch=branches[0], else_branch=branches[1])]
    given, seen = ([value(n, FLOAT, None) for n in names] for names in (("state", "entry"), ("next", "seen")))
    body = helper.make_graph(inner, "body", given, seen)
    ends_of_all = ["last", "all"]
    made = helper.make_node("Scan", ["z", "x"], ends_of_all, name="scan", body=body, num_scan_inputs=1, **attributes)
    constants = {"z": weights(rows, 3), "w": weights(3, 3, seed=1), "flag": np.array(True), "row": whole(1, -1)}
    return of([made, node("Reshape", ["all", "row"], "f"), *behind], constants, 2, 4, 3, opset=opset)


SCANS = {
    "forwards": scan([node("Identity", ["f"], "y")]),
    "backwards": scan([node("Identity", ["f"], "y")], scan_input_directions=[1], scan_output_directions=[1]),
    "along another axis": scan(
        [node("Identity", ["f"], "y")], scan_input_axes=[1], scan_output_axes=[-1], opset=12, rows=2
    ),
    "the last state": scan([node("Identity", ["last"], "y")], opset=11),
}


@pytest.mark.parametrize("name", SCANS)
def test_scans_are_read_as_others_run_them(name: str, tmp_path: Path) -> None:
    network = read_network(save(tmp_path, SCANS[name]))
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(2, 4, 3)).astype(np.float32)
        found = network.evaluate(x.reshape(1, -1).astype(float))[0]
        np.testing.assert_allclose(found, others(SCANS[name], x).ravel(), rtol=1e-5, atol=1e-6)


SPLIT = node("SplitToSequence", ["x"], "l", axis=1)
LISTS = {
    "entries": [SPLIT, node("SequenceAt", ["l", "last"], "y")],
    "entries alone": [node("SplitToSequence", ["x"], "l", axis=1, keepdims=0), node("SequenceAt", ["l", "one"], "y")],
    "pieces of a size": [node("SplitToSequence", ["x", "three"], "l", axis=1), node("SequenceAt", ["l", "one"], "y")],
    "pieces of sizes": [node("SplitToSequence", ["x", "sizes"], "l", axis=1), node("SequenceAt", ["l", "one"], "y")],
    "joined": [SPLIT, node("ConcatFromSequence", ["l"], "y", axis=0)],
    "stacked": [node("Neg", ["x"], "n"), node("SequenceConstruct", ["x", "n"], "l"),
                node("ConcatFromSequence", ["l"], "y", axis=-1, new_axis=1)],
    "filled": [node("SequenceEmpty", [], "e"), node("SequenceInsert", ["e", "x"], "f"), node("Neg", ["x"], "n"),
               node("SequenceInsert", ["f", "n", "zero"], "i"), node("Identity", ["i"], "l"),
               node("ConcatFromSequence", ["l"], "y", axis=1)],
    "counted and shortened": [SPLIT, node("SequenceErase", ["l", "one"], "s"), node("SequenceLength", ["s"], "c"),
                              node("Cast", ["c"], "r", to=FLOAT), node("SequenceAt", ["s", "one"], "a"),
                              node("Mul", ["a", "r"], "y")],
}  # fmt: skip
PLACES = {"last": np.array(-1), "one": np.array(1), "zero": np.array(0), "three": np.array(3), "sizes": whole(1, 3)}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_tensors_are_the_tensors(name: str, tmp_path: Path) -> None:
    proto = of(LISTS[name], PLACES, 1, 4)
    x = np.random.default_rng(0).normal(size=(1, 4)).astype(np.float32)
    network = read_network(save(tmp_path, proto))
    np.testing.assert_allclose(network.evaluate(x.astype(float))[0], others(proto, x).ravel(), rtol=1e-6)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([SPLIT, node("Relu", ["l"], "y")], "list of tensors"),
        ([SPLIT, node("SequenceAt", ["l", "four"], "y")], "place 4 in a list of 4"),
        ([node("SequenceAt", ["x", "one"], "y")], "not a list of known tensors"),
    ],
)  # fmt: skip
def test_lists_that_are_refused(nodes: list[NodeProto], words: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, of(nodes, PLACES | {"four": np.array(4)}, 1, 4)))
