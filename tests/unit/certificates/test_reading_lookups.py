"""What the auditor reads of integers that depend on the input: casts, tables, and places of the largest entries."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from eqspec.audit import Refused
from eqspec.audit.reading import Float32
from eqspec.audit.witness import values_at
from eqspec.networks import read_network
from eqspec.property import Epsilon
from small_tasks import task
from unit.certificates.proofs import certified, holds, holds_within
from unit.certificates.test_reading import file, saved
from unit.networks.models import model, node, run_onnxruntime

Constants = dict[str, Any]
RNG = np.random.default_rng(17)
TABLE = (RNG.integers(-64, 65, (7, 3)) / 8).astype(np.float32)
WHOLE = node("Cast", ["x"], "k", to=TensorProto.INT64)
BACK = node("Cast", ["i"], "y", to=TensorProto.FLOAT)
PLACES = node("Clip", ["k", "low", "high"], "p")
ENDS = {"low": np.array(-7), "high": np.array(6)}
READ: dict[str, tuple[list[NodeProto], Constants]] = {
    "towards zero": ([WHOLE, node("Cast", ["k"], "y", to=TensorProto.FLOAT)], {}),
    "to 32 bits and then to 64": (
        [
            node("Cast", ["x"], "j", to=TensorProto.INT32),
            node("Cast", ["j"], "i", to=TensorProto.INT64),
            BACK,
        ],
        {},
    ),
    "rounded before": ([node("Floor", ["x"], "f"), node("Cast", ["f"], "i", to=TensorProto.INT64), BACK], {}),
    "truth values that are counted": (
        [
            node("Greater", ["x", "t"], "g"),
            node("Unsqueeze", ["g", "at"], "u"),
            node("Cast", ["u"], "k", to=TensorProto.INT64),
            node("ReduceSum", ["k", "all"], "i", keepdims=0),
            BACK,
        ],
        {"t": np.array([[0.5, -1.0, 2.0, 0.0]], np.float32), "at": np.array([0]), "all": np.array([0, 2])},
    ),
    "not zero": (
        [node("Floor", ["x"], "f"), node("Cast", ["f"], "b", to=TensorProto.BOOL), node("Cast", ["b"], "y", to=1)],
        {},
    ),
    "sums and products": (
        [
            WHOLE,
            PLACES,
            node("Mul", ["p", "c"], "m"),
            node("Sub", ["c", "m"], "s"),
            node("Add", ["s", "p"], "i"),
            BACK,
        ],
        {**ENDS, "c": np.array([3, -2, 1, 0])},
    ),
    "rounded beside what is not": (
        [
            node("Floor", ["x"], "f"),
            node("Concat", ["f", "x"], "b", axis=1),
            node("Cast", ["b"], "i", to=TensorProto.INT64),
            BACK,
        ],
        {},
    ),
    "rounded and padded": (
        [node("Floor", ["x"], "f"), node("Pad", ["f", "p", "v"], "b"), node("Cast", ["b"], "i", to=7), BACK],
        {"p": np.array([0, 0, 0, 2]), "v": np.array(2.75, np.float32)},
    ),
    "compared": (
        [WHOLE, node("Equal", ["k", "c"], "e"), node("Cast", ["e"], "y", to=1)],
        {"c": np.array([1, 0, 2, -1])},
    ),
    "moved": (
        [
            WHOLE,
            node("Gather", ["k", "at"], "g", axis=1),
            node("Reshape", ["g", "form"], "r"),
            node("Transpose", ["r"], "i"),
            BACK,
        ],
        {"at": np.array([2, 0]), "form": np.array([2, 1])},
    ),
    "rows": ([WHOLE, PLACES, node("Gather", ["t", "p"], "y", axis=0)], {**ENDS, "t": TABLE}),
    "columns": ([WHOLE, PLACES, node("Gather", ["t", "p"], "y", axis=-1)], {**ENDS, "t": TABLE.T.copy()}),
    "rows of integers": (
        [WHOLE, PLACES, node("Gather", ["t", "p"], "i"), BACK],
        {**ENDS, "t": np.array([3, -1, 4, 1, -5, 9, 2])},
    ),
    "rows of levels": (
        [WHOLE, PLACES, node("Gather", ["t", "p"], "l"), node("DequantizeLinear", ["l", "s"], "y")],
        {**ENDS, "t": np.array([3, -1, 4, 1, -5, 9, 2], np.int8), "s": np.array(0.5, np.float32)},
    ),
    "rows of one axis": (
        [WHOLE, PLACES, node("Unsqueeze", ["p", "at"], "q"), node("GatherND", ["t", "q"], "y")],
        {**ENDS, "t": TABLE, "at": np.array([-1])},
    ),
    "entries beside": (
        [
            WHOLE,
            node("Clip", ["k", "low", "high"], "p"),
            node("Reshape", ["p", "form"], "q"),
            node("GatherElements", ["t", "q"], "y", axis=0),
        ],
        {**ENDS, "t": TABLE, "form": np.array([2, 2])},
    ),
    "one hot": (
        [WHOLE, node("OneHot", ["k", "d", "v"], "h", axis=1), node("Mul", ["h", "x1"], "y")],
        {"d": np.array(3), "v": np.array([0.25, 2.0], np.float32), "x1": np.array([1.5], np.float32)},
    ),
    "one hot of integers": (
        [WHOLE, node("OneHot", ["k", "d", "v"], "i"), BACK],
        {"d": np.array([2]), "v": np.array([0, 1])},
    ),
    "the largest": ([node("ArgMax", ["x"], "i", axis=1), BACK], {}),
    "the last of the largest": ([node("ArgMax", ["x"], "i", axis=1, select_last_index=1, keepdims=0), BACK], {}),
    "the smallest": ([node("ArgMin", ["x"], "i", axis=-1), BACK], {}),
    "the last of the smallest": ([node("ArgMin", ["x"], "i", axis=-1, select_last_index=1), BACK], {}),
    "the largest of one": (
        [node("Reshape", ["x", "form"], "c"), node("ArgMax", ["c"], "i", axis=1), BACK],
        {"form": np.array([4, 1])},
    ),
    "one entry in order": (
        [
            node("Reshape", ["x", "form"], "c"),
            helper.make_node("TopK", ["c", "one"], ["v", "k"]),
            node("Cast", ["k"], "f", to=TensorProto.FLOAT),
            node("Add", ["v", "f"], "y"),
        ],
        {"form": np.array([4, 1]), "one": np.array([1])},
    ),
    "an expert": (
        [
            node("ArgMax", ["x"], "k", axis=1, keepdims=0),
            node("MatMul", ["x", "w"], "e"),
            node("Reshape", ["e", "form"], "t"),
            node("Gather", ["t", "k"], "y"),
        ],
        {"w": RNG.integers(-8, 9, (4, 8)).astype(np.float32) / 8, "form": np.array([4, 2])},
    ),
}
TOP: dict[str, dict[str, Any]] = {
    "the largest two": {"k": 2}, "all in order": {"k": 4}, "the smallest three": {"k": 3, "largest": 0},
    "the largest alone": {"k": 1, "sorted": 0},
}  # fmt: skip


def points(count: int) -> list[np.ndarray[Any, Any]]:
    """Inputs, many of whose entries are equal, whole, or just beside that."""
    rng, few = np.random.default_rng(5), [-7.5, -3.0, -1.0, -0.25, 0.0, 0.5, 0.875, 1.0, 2.0, 2.125, 5.5, 9.0]
    return [rng.choice(few, (1, 4)).astype(np.float32) for _ in range(count)]


def agree(proto: ModelProto, folder: Path, count: int = 24) -> None:
    """What the auditor reads is exactly what onnxruntime computes, as no number here is rounded."""
    path = saved(folder, proto)
    for x in points(count):
        expected = run_onnxruntime(proto, x).ravel()
        found = values_at(file(path, x.size, expected.size), [Fraction(float(v)) for v in x.ravel()])
        assert [(Fraction(float(v)),) * 2 for v in expected] == found, x


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_what_onnxruntime_computes(name: str, tmp_path: Path) -> None:
    nodes, constants = READ[name]
    agree(model(nodes, constants, [1, 4]), tmp_path)


@pytest.mark.parametrize("name", TOP)
@pytest.mark.parametrize("output", ["values", "places"])
def test_entries_in_order_are_those_of_onnxruntime(name: str, output: str, tmp_path: Path) -> None:
    given = dict(TOP[name])
    made = helper.make_node("TopK", ["x", "k"], ["v", "i"], **{n: v for n, v in given.items() if n != "k"})
    last = node("Identity", ["v"], "y") if output == "values" else BACK
    agree(model([made, last], {"k": np.array([given["k"]])}, [1, 4]), tmp_path)


EMBEDDED = {"t": TABLE, "w": (RNG.integers(-8, 9, (6, 2)) / 8).astype(np.float32)}


def embedding(scale: float = 1.0, form: str = "float32") -> ModelProto:
    """Rows of a table at two integers, and a layer: what models of categories begin with."""
    nodes = [
        node("Gather", ["t", "x"], "e"),
        node("Reshape", ["e", "form"], "r"),
        node("Relu", ["r"], "a"),
        node("MatMul", ["a", "w"], "y"),
    ]
    constants = {**EMBEDDED, "form": np.array([1, 6])}
    constants["w"] = constants["w"] * np.float32(scale)
    proto = model(nodes, constants, [2])
    proto.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return proto


def test_integer_inputs_are_the_nearest_integers(tmp_path: Path) -> None:
    proto = embedding()
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    read = file(saved(tmp_path, proto), 2, 2)
    for a, b in ((0, 6), (3, 3), (-7, -1), (5, 2)):
        expected = [Fraction(float(v)) for v in session.run(None, {"x": np.array([a, b], np.int64)})[0].ravel()]
        for off in (Fraction(0), Fraction(1, 3), Fraction(-1, 2) if a % 2 == 0 else Fraction(2, 5)):
            found = values_at(read, [a + off, b + abs(off) / 2])
            assert [value for value, _ in found] == expected, (a, b, off)
    far = values_at(read, [Fraction(100), Fraction(-100)])
    assert far == values_at(read, [Fraction(6), Fraction(-7)])
    assert [said for said in read.said if "nearest" in said and ("ties to even" in said or "beyond a table" in said)]
    assert len(read.said) == 2


REFUSED: dict[str, tuple[list[NodeProto], Constants, str]] = {
    "a quotient": ([WHOLE, node("Div", ["k", "c"], "i"), BACK], {"c": np.array([2])}, "does not read Div"),
    "a remainder": ([WHOLE, node("Mod", ["k", "c"], "i"), BACK], {"c": np.array([2])}, "does not read Mod"),
    "a sum that may wrap": ([WHOLE, node("Add", ["k", "k"], "i"), BACK], {}, "beyond 2\\^31"),
    "a total that may wrap": ([WHOLE, node("ReduceSum", ["k"], "i", keepdims=0), BACK], {}, "beyond 2\\^31"),
    "with truth values": (
        [WHOLE, node("Greater", ["x", "z"], "b"), node("Equal", ["k", "b"], "e"), node("Cast", ["e"], "y", to=1)],
        {"z": np.array([0.0], np.float32)},
        "beside what is no integer",
    ),
    "taken for truth values": (
        [WHOLE, node("Not", ["k"], "n"), node("Cast", ["n"], "y", to=1)],
        {},
        "does not read Not",
    ),
    "a hot one of many": (
        [WHOLE, node("OneHot", ["k", "d", "v"], "y")],
        {"d": np.array(1 << 29), "v": np.array([0.0, 1.0], np.float32)},
        "more arithmetic than",
    ),
    "the largest of many": (
        [node("Expand", ["x", "f"], "e"), node("ArgMax", ["e"], "i", axis=0), BACK],
        {"f": np.array([4000, 4])},
        "more arithmetic than",
    ),
    "to 8 bits": ([node("Cast", ["x"], "i", to=TensorProto.INT8), BACK], {}, "other types"),
    "of integers to truth values": (
        [WHOLE, node("Cast", ["k"], "b", to=TensorProto.BOOL), node("Cast", ["b"], "y", to=1)],
        {},
        "does not read Cast",
    ),
    "joined": (
        [WHOLE, node("Concat", ["k", "c"], "i", axis=1), BACK],
        {"c": np.array([[1]])},
        "does not read Concat",
    ),
    "padded": ([WHOLE, node("Pad", ["k", "p"], "i"), BACK], {"p": np.array([0, 1, 0, 0])}, "does not read Pad"),
    "along several axes": (
        [WHOLE, PLACES, node("Reshape", ["p", "f"], "q"), node("GatherND", ["t", "q"], "y")],
        {**ENDS, "t": TABLE, "f": np.array([2, 2])},
        "along several axes",
    ),
    "more beside than there is": (
        [WHOLE, PLACES, node("Reshape", ["p", "f"], "q"), node("GatherElements", ["t", "q"], "y", axis=0)],
        {**ENDS, "t": TABLE, "f": np.array([1, 4])},
        "more places beside an axis",
    ),
    "beyond the table": (
        [WHOLE, PLACES, node("Gather", ["t", "p"], "y")],
        {"low": np.array(9), "high": np.array(12), "t": TABLE},
        "beyond its table",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_integers_might_do_otherwise_is_refused(name: str, tmp_path: Path) -> None:
    nodes, constants, words = REFUSED[name]
    with pytest.raises(Refused, match=words):
        file(saved(tmp_path, model(nodes, constants, [1, 4])), 4, 4).steps()


@pytest.mark.parametrize(
    "nodes",
    [READ["towards zero"][0], READ["the largest"][0], [helper.make_node("TopK", ["x", "c"], ["y", "i"])]],
)
def test_in_float32_they_are_refused(nodes: list[NodeProto], tmp_path: Path) -> None:
    path = saved(tmp_path, model(nodes, {"c": np.array([2])}, [1, 4]))
    with pytest.raises(Refused, match="in float32"):
        file(path, 4, 2, Float32).steps()


def test_entries_without_an_order_are_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("TopK", ["x", "c"], ["y", "i"], sorted=0)]
    with pytest.raises(Refused, match="in this way"):
        file(saved(tmp_path, model(nodes, {"c": np.array([2])}, [1, 4])), 4, 2).steps()


def experts(scale: float) -> ModelProto:
    """A layer of the expert whose score is the largest, and the two best scores in order."""
    rng = np.random.default_rng(3)
    w = rng.integers(-8, 9, (4, 8)).astype(np.float32) / 8 * np.float32(scale)
    nodes, constants = READ["an expert"]
    best = helper.make_node("TopK", ["x", "two"], ["v", "i"])
    nodes = [*nodes[:-1], node("Gather", ["t", "k"], "g"), best, node("Add", ["g", "v"], "y")]
    return model(nodes, {**constants, "w": w, "two": np.array([2])}, [1, 4])


def steps_of_a_table(scale: float) -> ModelProto:
    """A table at an integer that a value is cast to, and a layer."""
    weight = np.array([[1.0, -0.5], [0.25, 0.5], [0.5, 0.5], [-1.0, 2.0]], np.float32) * np.float32(scale)
    nodes = [
        node("Slice", ["x", "one", "two", "one"], "s"),
        node("Cast", ["s"], "c", to=TensorProto.INT64),
        node("Clip", ["c", "zero", "last"], "p"),
        node("Gather", ["t", "p"], "g"),
        node("Reshape", ["g", "form"], "r"),
        node("MatMul", ["x", "w"], "m"),
        node("Add", ["r", "m"], "y"),
    ]
    constants = {"one": np.array([1]), "two": np.array([2]), "zero": np.array(0), "last": np.array(6), "w": weight}
    return model(nodes, {**constants, "t": TABLE[:, :2].copy(), "form": np.array([1, 2])}, [1, 4])


PAIRS = {"an embedding": embedding, "experts": experts, "a table": steps_of_a_table}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_has_a_certificate_of_its_own_claim_alone(name: str, tmp_path: Path) -> None:
    paths = []
    for number, scale in enumerate((1.0, 1.0625)):
        (tmp_path / str(number)).mkdir()
        paths.append(saved(tmp_path / str(number), PAIRS[name](scale)))
    first, second = map(read_network, paths)
    middle = [Fraction(2), Fraction(9, 4), Fraction(-1), Fraction(1, 2)][: first.input_size]
    ends = [[x + off for x in middle] for off in (Fraction(-1, 64), Fraction(1, 64))]
    parts = certified(task(first, second, Epsilon(Fraction(1)), *ends), tmp_path)
    assert not holds_within(parts, "1/1000", tmp_path)
    wide = parts.copy()
    for end, far in (("lo_exact", -4), ("hi_exact", 4)):
        wide.header["task"]["region"][end] = [str(far)] * first.input_size
    wide.header["task"]["property"]["eps"] = "1/8"
    assert not holds(wide, tmp_path)
