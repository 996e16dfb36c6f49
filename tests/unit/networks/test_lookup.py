"""Embeddings: stored rows that are looked up at integer inputs, against onnxruntime at all integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper

import eqspec
from eqspec.errors import NetworkError
from eqspec.networks import in_float32, read_network
from eqspec.property import Epsilon
from eqspec.tasks.verdict import Verdict
from unit.networks.function_cases import weights
from unit.networks.models import model, node, run_onnxruntime, save

ROWS = 5
FLOAT = TensorProto.FLOAT


def embedding(
    nodes: list[NodeProto], tables: dict[str, tuple[int, ...]], places: int, seed: int = 0
) -> onnx.ModelProto:
    """A model of int64 `i` (1, places) whose last node gives `y`."""
    stored = [
        onnx.numpy_helper.from_array(weights(*s, seed=n + seed), name) for n, (name, s) in enumerate(tables.items())
    ]
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, [1, places])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def split() -> list[NodeProto]:
    halves = helper.make_node("Split", ["i"], ["a", "b"], axis=1)
    looked = [node("Gather", ["t", "a"], "u"), node("Gather", ["s", "b"], "v")]
    return [halves, *looked, node("Add", ["u", "v"], "w"), node("Tanh", ["w"], "y")]


CASES: dict[str, tuple[list[NodeProto], dict[str, tuple[int, ...]]]] = {
    "rows": ([node("Gather", ["t", "i"], "y")], {"t": (ROWS, 3)}),
    "columns": ([node("Gather", ["t", "i"], "y", axis=1)], {"t": (2, ROWS, 3)}),
    "numbers": ([node("Gather", ["t", "i"], "y")], {"t": (ROWS,)}),
    "two tables": (split(), {"t": (ROWS, 3), "s": (ROWS + 2, 3)}),
    "a network behind": (
        [node("Gather", ["t", "i"], "e"), node("MatMul", ["e", "w"], "h"), node("Relu", ["h"], "y")],
        {"t": (ROWS, 3), "w": (3, 4)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_integer_is_looked_up_as_onnxruntime_does(name: str, tmp_path: Path) -> None:
    proto = embedding(*CASES[name], places=2)
    network = read_network(save(tmp_path, proto))
    assert any("in a table" in note for note in network.notes)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    for first in range(-ROWS, ROWS):
        for second in range(-ROWS, ROWS):
            point = np.array([[first, second]])
            (expected,) = session.run(None, {"i": point})
            near = point + 0.25 * np.array([[1, -1]])  # stands for the same integers
            for x in (point.astype(float), near):
                np.testing.assert_allclose(network.evaluate(x)[0], expected.ravel(), rtol=1e-6, atol=1e-6)


USES: dict[str, tuple[list[NodeProto], dict[str, np.ndarray]]] = {
    "categories": (
        [
            node("OneHot", ["i", "depth", "ends"], "h"),
            node("Squeeze", ["h", "first"], "s"),
            node("MatMul", ["s", "w"], "y"),
        ],
        {"depth": np.array(4), "ends": np.array([-0.5, 2], np.float32), "w": weights(4, 2), "first": np.array([0])},
    ),
    "categories first": (
        [node("OneHot", ["i", "depth", "ends"], "y", axis=0)],
        {"depth": np.array([3]), "ends": np.array([0.0, 1.0], np.float32)},
    ),
    "whole categories": (
        [node("OneHot", ["i", "depth", "ends"], "h"), node("Cast", ["h"], "y", to=1)],
        {"depth": np.array(5), "ends": np.array([-1, 3])},
    ),
    "equal": (
        [node("Unsqueeze", ["i", "last"], "u"), node("Equal", ["u", "all"], "e"), node("Cast", ["e"], "y", to=1)],
        {"last": np.array([2]), "all": np.arange(-2, 3)},
    ),
    "as many as there are": (
        [
            node("Shape", ["i"], "n"),
            node("Concat", ["n", "five"], "sizes", axis=0),
            node("Unsqueeze", ["i", "last"], "u"),
            node("Expand", ["u", "sizes"], "wide"),
            node("Equal", ["wide", "all"], "e"),
            node("Cast", ["e"], "y", to=1),
        ],
        {"five": np.array([5]), "last": np.array([2]), "all": np.arange(-2, 3)},
    ),
    "a mask beside places": (
        [
            node("Gather", ["t", "i"], "g"),
            node("Equal", ["i", "none"], "e"),
            node("Not", ["e"], "n"),
            node("Cast", ["n"], "c", to=1),
            node("Unsqueeze", ["c", "last"], "m"),
            node("Mul", ["g", "m"], "y"),
        ],
        {"t": weights(7, 2), "none": np.array(0), "last": np.array([2])},
    ),
    "counted": (
        [
            node("Mul", ["i", "two"], "d"),
            node("Sub", ["d", "one"], "a"),
            node("Unsqueeze", ["a", "last"], "u"),
            node("Greater", ["u", "all"], "b"),
            node("Cast", ["b"], "k", to=7),
            node("ReduceSum", ["k", "last"], "n", keepdims=0),
            node("Gather", ["t", "n"], "y"),
        ],
        {
            "two": np.array(2),
            "one": np.array(1),
            "last": np.array([2]),
            "all": np.array([-3, 0, 4]),
            "t": weights(4, 3),
        },
    ),
    "columns apart": (
        [
            helper.make_node("Constant", [], ["zero"], value_int=0),
            helper.make_node("Constant", [], ["one"], value_int=1),
            node("Gather", ["i", "zero"], "a", axis=1),
            node("Gather", ["i", "one"], "b", axis=1),
            node("Gather", ["t", "a"], "u"),
            node("Gather", ["s", "b"], "v"),
            node("Concat", ["u", "v"], "y", axis=1),
        ],
        {"t": weights(7, 2), "s": weights(9, 3)},
    ),
    "as truth values": (
        [node("Cast", ["i"], "b", to=9), node("Not", ["b"], "n"), node("Cast", ["n"], "y", to=1)],
        {},
    ),
    "columns of one table": (
        [node("Clip", ["i", "none", "two"], "c"), node("Add", ["c", "begins"], "p"), node("Gather", ["t", "p"], "y")],
        {"begins": np.array([0, 3]), "t": weights(6, 3), "none": np.array(0), "two": np.array(2)},
    ),
    "in 32 bits": (
        [node("Cast", ["i"], "s", to=6), node("Equal", ["s", "one"], "e"), node("Cast", ["e"], "y", to=1)],
        {"one": np.array(1, np.int32)},
    ),
    "moved and cast": (
        [node("Unsqueeze", ["i", "last"], "u"), node("Cast", ["u"], "c", to=1), node("Tanh", ["c"], "y")],
        {"last": np.array([1])},
    ),
}


@pytest.mark.parametrize("name", USES)
def test_integers_are_compared_counted_and_told_apart(name: str, tmp_path: Path) -> None:
    nodes, constants = USES[name]
    proto = embedding(nodes, {}, places=2)
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items())
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    for first in range(-6, 7):
        point = np.array([[first, 3 - first if abs(3 - first) < 7 else 2]])
        (expected,) = session.run(None, {"i": point})
        np.testing.assert_allclose(network.evaluate(point.astype(float))[0], expected.ravel(), rtol=1e-6, atol=1e-6)


def bucketed(kind: str, change: float = 0.0) -> onnx.ModelProto:
    """The bucket of real numbers, looked up, as torch.bucketize is exported."""
    nodes = [node("Unsqueeze", ["x", "last"], "u"), node(kind, ["u", "ends"], "b"), node("Cast", ["b"], "c", to=7)]
    nodes += [node("ReduceSum", ["c", "last"], "n", keepdims=0), node("Gather", ["t", "n"], "y")]
    constants = {"last": np.array([2]), "ends": np.array([-1.0, 0.25, 2.0], np.float32)}
    return model(nodes, constants | {"t": weights(4, 2) + np.float32(change)}, (1, 3))


@pytest.mark.parametrize("kind", ["Greater", "GreaterOrEqual", "Less"])
def test_buckets_of_real_numbers(kind: str, tmp_path: Path) -> None:
    a, b = (save(tmp_path, bucketed(kind, change), f"{change}.onnx") for change in (0.0, 0.125))
    network = read_network(a)
    points = np.concatenate([np.random.default_rng(0).normal(size=(40, 3)) * 2, [[-1.0, 0.25, 2.0]]]).astype(np.float32)
    found = np.array([run_onnxruntime(bucketed(kind), point[None]).ravel() for point in points])
    np.testing.assert_allclose(network.evaluate(points.astype(float)), found, rtol=1e-6)
    lower, upper = [-2.0, 0.0, 0.5], [0.0, 1.0, 1.5]
    assert eqspec.verify(a, b, lower, upper, Epsilon("0.126"), timeout=20).verdict is Verdict.EQUIVALENT
    assert eqspec.verify(a, b, lower, upper, Epsilon("0.12"), timeout=20).verdict is Verdict.DIFFERENT


def test_counts_that_may_leave_their_type_are_refused(tmp_path: Path) -> None:
    nodes = [node("Mul", ["i", "i"], "a"), node("Equal", ["a", "i"], "e"), node("Cast", ["e"], "y", to=1)]
    with pytest.raises(NetworkError, match="may leave their type"):
        read_network(save(tmp_path, embedding(nodes, {}, places=2)))


def test_joined_places_are_within_all_of_their_ends(tmp_path: Path) -> None:
    """Places that a Clip keeps below 2, beside a constant one beyond: the row of 1 stood for that of 3."""
    nodes = [node("Clip", ["x", "zero", "one"], "c"), node("Cast", ["c"], "k", to=7)]
    nodes += [node("Concat", ["k", "three"], "j", axis=1), node("Gather", ["t", "j"], "y")]
    constants = {
        "zero": np.array(0, np.float32),
        "one": np.array(1, np.float32),
        "three": np.array([[3]]),
        "t": weights(4, 2),
    }
    proto = model(nodes, constants, (1, 2))
    network = read_network(save(tmp_path, proto))
    point = np.array([[0.0, 1.0]], np.float32)
    np.testing.assert_allclose(network.evaluate(point.astype(float))[0], run_onnxruntime(proto, point).ravel())


def turned_round(more: int, kind: int = TensorProto.INT64) -> onnx.ModelProto:
    """Rows at where(i < 0, i + more, i), as tf2onnx writes the embeddings of Keras."""
    proto = embedding([], {"t": (ROWS, 3)}, places=2)
    nodes = [node("Cast", ["i"], "f", to=1), node("Less", ["f", "zero"], "b"), node("Add", ["i", "n"], "a")]
    nodes += [node("Not", ["b"], "c"), node("Cast", ["b"], "p", to=7), node("Cast", ["c"], "q", to=7)]
    nodes += [node("Mul", ["p", "a"], "r"), node("Mul", ["i", "q"], "s"), node("Add", ["r", "s"], "k")]
    if kind == TensorProto.INT32:
        for one in nodes:
            for attribute in one.attribute:
                attribute.i = kind if attribute.i == TensorProto.INT64 else attribute.i
        proto.graph.input[0].type.tensor_type.elem_type = kind
    if kind == FLOAT:
        nodes = [node("Cast", ["x"], "i", to=7), *nodes]
        proto.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", FLOAT, [1, 2]))
    proto.graph.node.extend([*nodes, node("Gather", ["t", "k"], "y")])
    for name, number in (
        ("zero", np.float32(0)),
        ("n", np.array(more, np.int32 if kind == TensorProto.INT32 else np.int64)),
    ):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(number), name))
    return proto


@pytest.mark.parametrize("kind", [TensorProto.INT32, TensorProto.INT64])
def test_places_that_are_turned_round_once_more_than_gather_does(kind: int, tmp_path: Path) -> None:
    """Integers below -n are turned round twice: runtimes find a row for all from -2 n to n - 1, and for no others."""
    proto = turned_round(ROWS, kind)
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    for first in range(-2 * ROWS, ROWS):
        point = np.array([[first, -first - 1 - ROWS]], helper.tensor_dtype_to_np_dtype(kind))
        (expected,) = session.run(None, {"i": point})
        np.testing.assert_allclose(network.evaluate(point.astype(float))[0], expected.ravel(), rtol=1e-6, atol=1e-6)
    beyond, ends = np.array([[-2 * ROWS - 1, ROWS]]), np.array([[-2 * ROWS, ROWS - 1]])
    np.testing.assert_array_equal(network.evaluate(beyond.astype(float)), network.evaluate(ends.astype(float)))


@pytest.mark.parametrize(
    ("more", "kind"), [(ROWS - 1, TensorProto.INT64), (ROWS + 1, TensorProto.INT64), (ROWS, FLOAT)]
)
def test_places_that_leave_their_table_stand_for_the_nearest(more: int, kind: int, tmp_path: Path) -> None:
    proto = turned_round(more, kind)
    network = read_network(save(tmp_path, proto))
    session, compared = onnxruntime.InferenceSession(proto.SerializeToString()), 0
    for first in range(-ROWS - 1, ROWS + 1):
        point = np.array([[first, 0]], np.float32 if kind == FLOAT else np.int64)
        try:
            (expected,) = session.run(None, {session.get_inputs()[0].name: point})
        except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
            continue
        compared += 1
        np.testing.assert_allclose(network.evaluate(point.astype(float))[0], expected.ravel(), rtol=1e-6, atol=1e-6)
    assert compared >= 2 * ROWS - 1
    assert any("stand for the nearest one" in note for note in network.notes)


def test_pairs_are_decided_over_all_integers(tmp_path: Path) -> None:
    first, second = (embedding(*CASES["a network behind"], places=2) for _ in "ab")
    moved = weights(ROWS, 3)
    moved[3] += np.float32(0.25)
    second.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(moved, "t"))
    a, b = (save(tmp_path, proto, name) for proto, name in ((first, "a.onnx"), (second, "b.onnx")))
    found = eqspec.verify(a, b, [0, 0], [4, 4], Epsilon("0.01"), timeout=20)
    assert found.verdict is Verdict.DIFFERENT
    assert found.witness is not None
    assert 3 in np.rint([float(v) for v in found.witness.raw]).tolist()
    assert eqspec.verify(a, b, [0, 0], [2, 2], Epsilon("1e-6"), timeout=20).verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("nodes", "tables", "words"),
    [
        ([node("Gather", ["t", "i"], "y")], {"t": (30_000, 2)}, "comparisons"),
    ],
)
def test_what_is_refused(
    nodes: list[NodeProto], tables: dict[str, tuple[int, ...]], words: str, tmp_path: Path
) -> None:
    with pytest.raises(NetworkError, match=words):
        read_network(save(tmp_path, embedding(nodes, tables, 2)))


def test_in_float32_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="jumps"):
        in_float32(read_network(save(tmp_path, embedding(*CASES["rows"], places=2))))


@pytest.mark.parametrize(("low", "high", "floored"), [(0, 7, True), (0, 7.5, False), (-8, 0, False), (-8.0, -1, False)])
def test_a_table_at_places_that_a_clip_keeps_in_it(low: float, high: float, floored: bool, tmp_path: Path) -> None:
    """clamp(floor(4 x + 2), 0, 7).long() as a place in a table: cast towards zero, as onnxruntime does."""
    nodes = [node("Mul", ["x", "four"], "a"), node("Add", ["a", "two"], "b")]
    nodes += [node("Floor", ["b"], "f")] if floored else [node("Identity", ["b"], "f")]
    nodes += [node("Clip", ["f", "low", "high"], "c"), node("Cast", ["c"], "k", to=7), node("Gather", ["t", "k"], "g")]
    nodes += [node("Add", ["g", "g"], "y")]
    constants = {
        "four": np.array(4, np.float32), "two": np.array(2, np.float32), "low": np.array(low, np.float32),
        "high": np.array(high, np.float32), "t": np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32),
    }  # fmt: skip
    proto = model(nodes, constants, [1, 2])
    network = read_network(save(tmp_path, proto))
    for x in np.random.default_rng(1).uniform(-4, 4, (40, 1, 2)).astype(np.float32):
        expected = run_onnxruntime(proto, x).reshape(-1)
        assert np.allclose(network.evaluate(x.reshape(1, -1).astype(float))[0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("batches", [0, 1])
def test_rows_of_a_table_by_several_axes_at_once(batches: int, tmp_path: Path) -> None:
    """GatherND with one place a row, as torch's dynamo exporter writes table[k]."""
    nodes = [
        node("Clip", ["x", "low", "high"], "c"), node("Cast", ["c"], "k", to=7), node("Unsqueeze", ["k", "last"], "u"),
        node("GatherND", ["t", "u"], "g", batch_dims=batches), node("Add", ["g", "g"], "y"),
    ]  # fmt: skip
    constants = {
        "low": np.array(0, np.float32), "high": np.array(7, np.float32), "last": np.array([-1]),
        "t": np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32),
    }  # fmt: skip
    proto = model(nodes, constants, [1, 2])
    if batches:
        with pytest.raises(NetworkError, match=r"GatherND|batch"):
            read_network(save(tmp_path, proto))
        return
    network = read_network(save(tmp_path, proto))
    for x in np.random.default_rng(1).uniform(-2, 9, (40, 1, 2)).astype(np.float32):
        expected = run_onnxruntime(proto, x).reshape(-1)
        assert np.allclose(network.evaluate(x.reshape(1, -1).astype(float))[0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("ends", [("low", "high"), ("low", ""), ("", "high"), ("", "")])
def test_places_that_are_known_to_leave_a_table_are_refused(ends: tuple[str, str], tmp_path: Path) -> None:
    """Those that any integers may be are read as in the table; a limit that is too high is a mistake."""
    nodes = [node("Clip", ["x", *ends], "c"), node("Cast", ["c"], "k", to=7), node("Gather", ["t", "k"], "y")]
    constants = {"low": np.array(0, np.float32), "high": np.array(8, np.float32), "t": weights(8, 3)}
    path = save(tmp_path, model(nodes, constants, [1, 2]))
    if ends == ("low", "high"):
        with pytest.raises(NetworkError, match="places from 0 to 8 in a table of 8 rows"):
            read_network(path)
        return
    table = constants["t"].astype(float)
    for x in ([0.9, 7.9], [3.5, 2.0], [0.0, 100.0]):
        expected = table[np.minimum(np.array(x).astype(int), 7)]
        np.testing.assert_allclose(read_network(path).evaluate(np.array([x]))[0], expected.reshape(-1), atol=1e-6)


@pytest.mark.parametrize("looked_up", ["where", "sum"])
def test_a_tree_written_with_tensors(looked_up: str, tmp_path: Path) -> None:
    """Nodes are walked down by tables of integers, as hummingbird writes them: the leaves that onnxruntime comes to."""
    tables = {
        "root": np.array([[0]]), "column": np.array([2, 0, 1, 0, 0, 0, 0]), "left": np.array([1, 3, 5, 3, 4, 5, 6]),
        "right": np.array([2, 4, 6, 3, 4, 5, 6]), "ahead": np.array([1, 1, 1, 0, 0, 0, 0]), "one": np.array(1),
        "at": np.array([0.5, -1, 2, 0, 0, 0, 0], np.float32), "leaf": np.array([0, 0, 0, 1, -2, 3, 5, 9], np.float32),
    }  # fmt: skip
    nodes, place = list[NodeProto](), "root"
    for depth in range(2):
        made = {kind: f"{kind}{depth}" for kind in ("column", "left", "right", "ahead", "at")}
        nodes += [node("Gather", [kind, place], name) for kind, name in made.items()]
        nodes.append(node("GatherElements", ["x", made["column"]], f"x{depth}", axis=1))
        nodes.append(node("Less", [f"x{depth}", made["at"]], f"less{depth}"))
        if looked_up == "where":
            nodes.append(node("Where", [f"less{depth}", made["left"], made["right"]], place := f"place{depth}"))
        else:  # the nodes of a full tree lie side by side: left of k is 2 k + 1, and the leaves stay
            nodes.append(node("Where", [f"less{depth}", "zero", made["ahead"]], f"aside{depth}"))
            nodes.append(node("Add", [made["left"], f"aside{depth}"], place := f"place{depth}"))
    nodes.append(node("Gather", ["leaf", place], "y"))
    tables["zero"] = np.array([[0]])
    used = {name for one in nodes for name in one.input}
    proto = model(nodes, {k: v for k, v in tables.items() if k in used}, [1, 3])
    network = read_network(save(tmp_path, proto))
    ends = np.array([[-1.5, -1, 0.25], [1.5, 2, 2.5], [0.25, 0.5, 0.75]])
    inputs = np.stack(np.meshgrid(*ends), axis=-1).reshape(-1, 3)
    expected = [run_onnxruntime(proto, x[None].astype(np.float32)).item() for x in inputs]
    assert network.evaluate(inputs).ravel().tolist() == expected
    assert set(expected) == {1, -2, 3, 5}


def test_a_table_of_integers_that_no_float_holds_is_refused(tmp_path: Path) -> None:
    nodes = [node("Gather", ["t", "i"], "h"), node("Cast", ["h"], "y", to=1)]
    proto = embedding(nodes, {}, places=1)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0, 2**53 + 1]), "t"))
    with pytest.raises(NetworkError, match="beyond 2\\^53"):
        read_network(save(tmp_path, proto))


@pytest.mark.parametrize(("size", "read"), [("batch", True), ("places", False)])
def test_an_integer_for_each_sample(size: str, read: bool, tmp_path: Path) -> None:
    """As torch exports `forward(x, category)`: an axis that is the samples' by its name, and one that may be any."""
    nodes = [node("Gather", ["t", "i"], "e"), node("Concat", ["x", "e"], "h", axis=1), node("Tanh", ["h"], "y")]
    x = helper.make_tensor_value_info("x", FLOAT, ["batch", 2])
    i = helper.make_tensor_value_info("i", TensorProto.INT64, [size])
    ends = [x, i], [helper.make_tensor_value_info("y", FLOAT, None)]
    graph = helper.make_graph(nodes, "g", *ends, [onnx.numpy_helper.from_array(weights(ROWS, 3), "t")])
    path = save(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))
    if not read:
        with pytest.raises(NetworkError, match="the number of features is not fixed"):
            read_network(path)
        return
    session = onnxruntime.InferenceSession(path)
    (expected,) = session.run(None, {"x": np.array([[0.5, -1]], np.float32), "i": np.array([3])})
    np.testing.assert_allclose(read_network(path).evaluate(np.array([[0.5, -1, 3]]))[0], expected[0], rtol=1e-6)
