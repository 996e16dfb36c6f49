"""The auditor on graphs: what it reads, against onnx's reference and onnxruntime, and what its enclosures contain."""

from __future__ import annotations

import gzip
import hashlib
import json
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.lib import format as npy
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from eqspec.audit import Refused, audit
from eqspec.audit.bounds import Reached
from eqspec.audit.certificate import FORMAT
from eqspec.audit.claim import Rows
from eqspec.audit.reading import Float32, Pair
from eqspec.audit.witness import values_at
from eqspec.certificates.cached_proof import CachedProof
from eqspec.certificates.proof_construction import ProofConstruction
from eqspec.certificates.record import Record
from unit.certificates.graphs import Graph, nudged, random_graph, read, task_of, trace
from unit.certificates.proofs import Parts, pack
from unit.networks.models import model, node

OUTPUTS = 3


def point_of(rng: np.random.Generator, model: onnx.ModelProto) -> np.ndarray[Any, Any]:
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    return np.asarray(rng.integers(-8, 9, shape) / 8, np.float32)


def in_onnxruntime(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Without optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return np.asarray(onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]).ravel()


def in_double(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """By onnx's reference implementation, with constants of float64."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for tensor in wide.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(onnx.numpy_helper.from_array(array.astype(np.float64), tensor.name))
    wide.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    (found,) = ReferenceEvaluator(wide).run(None, {"x": x.astype(np.float64)})
    return np.asarray(found).ravel()


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", range(30))
def test_what_is_read_of_a_graph_is_what_others_compute(seed: int) -> None:
    rng = np.random.default_rng(seed)
    proto = random_graph(rng, size=int(rng.integers(4, 7)), blocks=int(rng.integers(1, 5)))
    x = point_of(rng, proto)
    values = values_at(read(proto, OUTPUTS), [Fraction(float(v)) for v in x.ravel()])
    exact = np.array([float(low) for low, _ in values])
    assert all(0 <= high - low < Fraction(1, 2**100) for low, high in values)
    scale = 1e-9 * (1 + np.abs(exact).max())
    np.testing.assert_allclose(in_double(proto, x), exact, rtol=1e-9, atol=scale)
    np.testing.assert_allclose(in_onnxruntime(proto, x), exact, rtol=1e-3, atol=1e4 * scale)


def windows(rng: np.random.Generator, axes: int) -> dict[str, Any]:
    """Attributes of a window."""
    kernel = rng.integers(1, 4, axes)
    found: dict[str, Any] = {"kernel_shape": kernel.tolist(), "strides": rng.integers(1, 4, axes).tolist()}
    if rng.random() < 0.3:  # SAME is refused of pools whose windows are further apart than wide
        found["strides"] = np.minimum(found["strides"], kernel).tolist()
        found["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif rng.random() < 0.7:
        found["pads"] = [int(rng.integers(0, k)) for k in (*kernel, *kernel)]
    return found


@pytest.mark.part(60)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kind", ["Conv", "MaxPool", "AveragePool"])
def test_windows_are_where_others_have_them(kind: str, seed: int) -> None:
    """Of one, two or three axes, on whole numbers, for which all of them are exact."""
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 4))
    groups, each = (int(rng.integers(1, 3)) for _ in "12")
    shape = (1, groups * each, *rng.integers(4, 8, axes).tolist())
    attributes, constants, given = windows(rng, axes), {}, ["x"]
    if kind == "Conv":
        constants["w"] = rng.integers(-3, 4, (groups * 2, each, *attributes["kernel_shape"])).astype(np.float32)
        given, attributes["group"] = ["x", "w"], groups
    elif "auto_pad" not in attributes and rng.random() < 0.5:
        attributes["ceil_mode"] = 1
    if kind == "AveragePool" and not attributes.get("ceil_mode"):
        attributes["count_include_pad"] = int(rng.integers(0, 2))
    if kind == "Conv" and "auto_pad" not in attributes:
        attributes["dilations"] = rng.integers(1, 3, axes).tolist()
    proto = model([node(kind, given, "y", **attributes)], constants, shape, opset=19)
    x = rng.integers(-5, 6, shape).astype(np.float32)
    try:
        expected = in_onnxruntime(proto, x)
    except Exception:
        pytest.skip("onnxruntime has no result")
    found = values_at(read(proto, expected.size), [Fraction(float(v)) for v in x.ravel()])
    np.testing.assert_allclose([float(low) for low, _ in found], expected, rtol=1e-6, atol=1e-6)
    if kind == "Conv":
        np.testing.assert_allclose(in_double(proto, x), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(("size", "kernel", "stride"), [(2, 3, 2), (1, 3, 3), (2, 5, 4), (3, 4, 2)])
def test_one_window_may_reach_beyond_all_that_there_is(kind: str, size: int, kernel: int, stride: int) -> None:
    shape = (1, 2, size, 7)
    attributes = {"kernel_shape": [kernel, kernel], "strides": [stride, stride], "ceil_mode": 1}
    proto = model([node(kind, ["x"], "y", **attributes)], {}, shape, opset=19)
    x = np.random.default_rng(0).integers(-5, 6, shape).astype(np.float32)
    expected = in_onnxruntime(proto, x)
    found = values_at(read(proto, expected.size), [Fraction(float(v)) for v in x.ravel()])
    np.testing.assert_allclose([float(low) for low, _ in found], expected, rtol=1e-6, atol=1e-6)


ONE: dict[str, tuple[str, dict[str, Any], dict[str, Any], int]] = {
    "global average": ("GlobalAveragePool", {}, {}, 17),
    "global largest": ("GlobalMaxPool", {}, {}, 17),
    "mean": ("ReduceMean", {}, {"axes": [1, -1], "keepdims": 0}, 17),
    "mean of all": ("ReduceMean", {}, {}, 17),
    "mean since 18": ("ReduceMean", {"axes": np.array([2])}, {}, 18),
    "sum": ("ReduceSum", {"axes": np.array([3, 1])}, {"keepdims": 0}, 13),
    "largest": ("ReduceMax", {}, {"axes": [2], "keepdims": 1}, 13),
    "smallest": ("ReduceMin", {"axes": np.array([-2])}, {}, 18),
    "relu6": ("Clip", {"low": np.array(0.0, np.float32), "high": np.array(0.5, np.float32)}, {}, 13),
    "clip below": ("Clip", {"low": np.array(-0.25, np.float32)}, {}, 13),
    "clip of attributes": ("Clip", {}, {"max": 0.25}, 7),
    "hard sigmoid": ("HardSigmoid", {}, {"alpha": 1.5, "beta": 0.25}, 13),
    "leaky": ("LeakyRelu", {}, {}, 13),
    "slopes": ("PRelu", {"s": np.array([[[-0.5]], [[2.0]]], np.float32)}, {}, 13),
    "size": ("Abs", {}, {}, 13),
    "larger than a constant": ("Max", {"c": np.array(0.125, np.float32)}, {}, 13),
    "smaller than constants": ("Min", {"c": np.array([0.5, -0.25, 0.0], np.float32)}, {}, 13),
    "padded": ("Pad", {"p": np.array([0, 0, 1, 0, 0, 0, 2, 1])}, {}, 13),
    "padded with": ("Pad", {"p": np.array([0, 0, 1, 0, 0, 0, 2, 1]), "v": np.array(1.5, np.float32)}, {}, 13),
    "padded by attributes": ("Pad", {}, {"pads": [0, 0, 1, 0, 0, 0, 0, 1], "value": -1.0}, 9),
    "padded at an edge": ("Pad", {"p": np.array([0, 0, 1, 2, 0, 0, 2, 1])}, {"mode": "edge"}, 13),
    "reflected": ("Pad", {"p": np.array([0, 0, 1, 2, 0, 0, 2, 1])}, {"mode": "reflect"}, 13),
    "stack of matrices": ("MatMul", {"w": np.array([[1, -2], [0.5, 3], [2, 0.25]], np.float32)}, {}, 13),
    "larger": (
        "Resize",
        {"r": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 3], np.float32)},
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        13,
    ),
    "larger by halves": (
        "Resize", {"r": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 1], np.float32)}, {"mode": "nearest"}, 13,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_single_operators(name: str) -> None:
    kind, constants, attributes, opset = ONE[name]
    proto = model([node(kind, ["x", *constants], "y", **attributes)], constants, (1, 2, 4, 3), opset=opset)
    x = point_of(np.random.default_rng(3), proto)
    expected = in_onnxruntime(proto, x)
    found = values_at(read(proto, expected.size), [Fraction(float(v)) for v in x.ravel()])
    np.testing.assert_allclose([float(low) for low, _ in found], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["Max", "Min"])
def test_the_largest_of_several_values(kind: str) -> None:
    nodes = [node("MatMul", ["x", "w"], "a"), node("Relu", ["x"], "b"), node(kind, ["c", "a", "x", "b"], "y")]
    constants = {"w": np.eye(4, k=1, dtype=np.float32), "c": np.full((1, 4), 0.25, np.float32)}
    proto = model(nodes, constants, (1, 4), opset=13)
    for seed in range(5):
        x = point_of(np.random.default_rng(seed), proto)
        found = values_at(read(proto, 4), [Fraction(float(v)) for v in x.ravel()])
        assert [float(low) for low, _ in found] == in_onnxruntime(proto, x).tolist()


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("MaxPool", {"kernel_shape": [5, 5]}),
        ("MaxPool", {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]}),
        ("AveragePool", {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1, "count_include_pad": 1}),
        ("Resize", {"mode": "linear"}),
        ("TopK", {}),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(kind: str, attributes: dict[str, Any]) -> None:
    proto = model([node(kind, ["x"], "y", **attributes)], {}, (1, 1, 4, 4), opset=13)
    with pytest.raises(Refused):
        read(proto, 4).steps()


def test_sizes_are_looked_at_before_anything_is_made() -> None:
    """A thousand megabytes of padding, and windows of windows."""
    wide = model([node("Pad", ["x", "p"], "y")], {"p": np.array([0, 0, 0, 0, 0, 0, 60000, 60000])}, (1, 1, 4, 4))
    pools = [
        node("AveragePool", ["x" if not n else f"h{n}"], f"h{n + 1}", kernel_shape=[30, 30], pads=[29] * 4)
        for n in range(9)
    ]
    deep = model([*pools, node("Flatten", ["h9"], "y")], {}, (1, 1, 30, 30), opset=13)
    for proto in (wide, deep):
        with pytest.raises(Refused, match=r"more arithmetic|larger"):
            read(proto, 4).steps()


IDENTITY: Rows = [{o: Fraction(1)} for o in range(OUTPUTS)]
MARGINS: Rows = [*IDENTITY, {0: Fraction(1), 1: Fraction(-1)}]


def quantities(pair: Pair, points: list[list[Fraction]], traces: list[list[Any]], rows: Rows) -> list[Fraction]:
    """Of steps that go together one by one."""
    found, ends = list(points[0]), []
    for one in traces:
        last = [sum((c * one[-1][o] for o, c in row.items()), Fraction(0)) for row in rows]
        ends.append([*one, last] if len(rows) > OUTPUTS else one)
    for step, (x, y) in enumerate(zip(*ends, strict=True)):
        assert len(x) == pair.widths[step]
        found += [*x, *y, *(a - b for a, b in zip(x, y, strict=True))]
    return found


@pytest.mark.part(6)
@pytest.mark.parametrize("seed", range(16))
def test_enclosures_of_graphs_contain_what_happens(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph(rng, (1, 2, 4, 4))
    for kind in (
        "conv",
        str(rng.choice(["residual", "joined", "pool"])),
        "bend",
        str(rng.choice(["residual", "conv"])),
    ):
        getattr(graph, kind)()
    first = graph.model(OUTPUTS)
    second = nudged(first, rng, float(rng.choice([0.0, 1e-6, 0.05])))
    steps = [read(proto, OUTPUTS).steps() for proto in (first, second)]
    rows = MARGINS if seed % 2 else IDENTITY
    pair = Pair(steps[0], steps[1], 32, (rows, rows))
    lower = rng.normal(size=(32, 2))
    upper = lower + rng.choice([0.0, 0.02, 0.5], size=(32, 2))
    rest = np.full((3 * sum(pair.widths), 2), np.inf)
    for bounds_alone in (False, True):
        reached = Reached(pair, np.concatenate([lower, -rest]), np.concatenate([upper, rest]), bounds_alone)
        assert not reached.empty.any()
        for b in range(2):
            for share in (rng.random(32), rng.integers(0, 2, 32)):
                point = [
                    Fraction(v) for v in np.clip(lower[:, b] + share * (upper - lower)[:, b], lower[:, b], upper[:, b])
                ]
                values = quantities(pair, [point], [trace(one, point) for one in steps], rows)
                for low, value, high in zip(reached.low[:, b], values, reached.high[:, b], strict=True):
                    assert Fraction(low) <= value <= Fraction(high)


def chain(rng: np.random.Generator, depth: int) -> onnx.ModelProto:
    """Fully connected layers with biases, ReLU between them."""
    sizes = [3, *rng.integers(1, 5, depth - 1).tolist(), OUTPUTS]
    nodes, constants, value = [], dict[str, Any](), "x"
    for layer, (columns, rows) in enumerate(pairwise(sizes)):
        constants |= {f"w{layer}": rng.normal(size=(rows, columns)).astype(np.float32)}
        constants |= {f"b{layer}": rng.normal(size=rows).astype(np.float32)}
        last = layer == depth - 1
        made = "y" if last else f"s{layer}"
        nodes.append(node("Gemm", [value, f"w{layer}", f"b{layer}"], made, transB=1))
        if not last:
            nodes.append(node("Relu", [made], f"h{layer}"))
        value = f"h{layer}"
    return model(nodes, constants, (1, 3))


@pytest.mark.part(18)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("depths", [(1, 2), (2, 1), (1, 4), (2, 4), (4, 3), (1, 1)], ids=str)
def test_chains_of_other_depths_stay_what_they_are_in_step(depths: tuple[int, int], seed: int) -> None:
    """At a point the enclosures are the outputs of both and their difference: nothing is lost where one is deepened."""
    rng = np.random.default_rng(seed)
    steps = [read(chain(rng, depth), OUTPUTS).steps() for depth in depths]
    rows = MARGINS if seed % 2 else IDENTITY
    pair = Pair(steps[0], steps[1], 3, (rows, rows))
    point = [Fraction(int(n), 8) for n in rng.integers(-16, 17, 3)]
    inputs = np.array([[float(v)] for v in point])
    rest = np.full((3 * sum(pair.widths), 1), np.inf)
    reached = Reached(pair, np.concatenate([inputs, -rest]), np.concatenate([inputs, rest]))
    outputs = [trace(one, point)[-1] for one in steps]
    x, y = ([sum((c * one[o] for o, c in row.items()), Fraction(0)) for row in rows] for one in outputs)
    values = [*x, *y, *(a - b for a, b in zip(x, y, strict=True))]
    for low, value, high in zip(reached.low[-len(values) :, 0], values, reached.high[-len(values) :, 0], strict=True):
        assert Fraction(low) <= value <= Fraction(high)
        assert high - low < 1e-9 * (1 + abs(float(value)))


def test_the_same_graph_differs_nowhere() -> None:
    proto = random_graph(np.random.default_rng(11))
    steps = read(proto, OUTPUTS).steps()
    pair = Pair(steps, list(steps), prod((2, 5, 5)), (MARGINS, MARGINS))
    rest = np.full((3 * sum(pair.widths), 1), np.inf)
    side = np.ones((50, 1))
    reached = Reached(pair, np.concatenate([-side, -rest]), np.concatenate([side, rest]))
    assert not reached.last()[0][2].any()
    assert not reached.last()[1][2].any()


@pytest.mark.parametrize("seed", range(4))
def test_float32_radii_of_graphs_hold_onnxruntime(seed: int) -> None:
    rng = np.random.default_rng(seed)
    proto = random_graph(rng, size=4, blocks=2)
    own = read(proto, OUTPUTS, Float32)
    for _ in range(3):
        x = point_of(rng, proto)
        values = values_at(own, [Fraction(float(v)) for v in x.ravel()])
        for (low, high), found in zip(values, in_onnxruntime(proto, x), strict=True):
            assert low <= Fraction(float(found)) <= high
            assert high - low < 1


def certificate(folder: Path, asked: Any, **more: Any) -> Parts:
    """A proof by the enclosure of the whole region alone, or a witness."""
    verdict = "different" if "witness" in more else "equivalent"
    header = {"format": FORMAT, "verdict": verdict, "task": asked} | more
    return Parts(header, np.zeros((1, 3)))


def stored(folder: Path, parts: Parts) -> Path:
    return pack(folder / "graph.eqcert", parts)


def test_certificates_of_graphs_hold_until_anything_is_changed(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    first = random_graph(rng, size=4, blocks=2)
    second = nudged(first, rng, 1e-6)
    radius, eps = Fraction(1, 8), Fraction(1, 1000)
    parts = certificate(tmp_path, task_of(tmp_path, first, second, radius, eps))
    assert audit(stored(tmp_path, parts)).verdict == "equivalent"
    closer = parts.copy()
    closer.header["task"]["property"]["eps"] = "1/1000000000"
    with pytest.raises(Refused, match="not proved"):
        audit(stored(tmp_path, closer))
    wrong = parts.copy()
    wrong.tree = np.array([[1.0, 10**6, 0.0], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(Refused, match="a cut that is none"):
        audit(stored(tmp_path, wrong))
    content = (tmp_path / "candidate.onnx").read_bytes()
    (tmp_path / "candidate.onnx").write_bytes(nudged(second, rng, 0.5).SerializeToString())
    with pytest.raises(Refused, match="is not the file"):
        audit(stored(tmp_path, parts))
    digest = hashlib.sha256((tmp_path / "candidate.onnx").read_bytes()).hexdigest()
    other = parts.copy()
    other.header["task"]["candidate"]["sha256"] = digest
    with pytest.raises(Refused, match="not proved"):
        audit(stored(tmp_path, other))
    (tmp_path / "candidate.onnx").write_bytes(content)
    assert audit(stored(tmp_path, parts)).verdict == "equivalent"


@pytest.mark.part(3)
@pytest.mark.parametrize("seed", range(6))
def test_wherever_steps_are_cut_what_is_false_is_not_proved(seed: int, tmp_path: Path) -> None:
    """Trees of random cuts in any quantity, identity steps included; the claim is broken at a corner."""
    rng = np.random.default_rng(seed)
    first = random_graph(rng, size=4, blocks=2)
    second = nudged(first, rng, 0.05)
    asked = task_of(tmp_path, first, second, Fraction(1, 4), Fraction(1))
    point = [Fraction(int(s), 4) for s in rng.choice([-1, 1], size=len(asked["space"]["features"]))]
    ends = [values_at(read(proto, OUTPUTS), point) for proto in (first, second)]
    apart = max(min(abs(a - d), abs(b - c)) for (a, b), (c, d) in zip(*ends, strict=True))
    asked["property"]["eps"] = str(apart * Fraction(999, 1000))
    programs = [read(proto, OUTPUTS).steps() for proto in (first, second)]
    size = len(point) + 3 * sum(Pair(programs[0], programs[1], len(point), (IDENTITY, IDENTITY)).widths)
    for _ in range(3):
        cuts = [[1.0, float(rng.integers(size)), float(rng.normal() / 4)] for _ in range(6)]
        parts = certificate(tmp_path, asked)
        parts.tree = np.array([row for cut in cuts for row in (cut, [0.0, 0.0, 0.0])] + [[0.0, 0.0, 0.0]])
        with pytest.raises(Refused, match="not proved"):
            audit(stored(tmp_path, parts))
    witness = certificate(tmp_path, asked, witness=[str(x) for x in point])
    assert audit(stored(tmp_path, witness)).verdict == "different"
    asked["property"]["eps"] = str(apart * Fraction(1001, 1000))
    if all(max(b - c, d - a) <= apart * Fraction(1001, 1000) for (a, b), (c, d) in zip(*ends, strict=True)):
        with pytest.raises(Refused, match=r"holds at this input|cannot show that the claim breaks"):
            audit(stored(tmp_path, witness))


def test_steps_without_partners_stand_beside_nothing(tmp_path: Path) -> None:
    """One network has a block more: enclosures of both are right, and a claim that holds is proved."""
    rng = np.random.default_rng(2)
    nodes = [node("Relu", ["x"], "a"), node("MatMul", ["a", "w"], "b"), node("Add", ["b", "x"], "c")]
    constants = {
        "w": 0.01 * rng.normal(size=(6, 6)).astype(np.float32),
        "v": rng.normal(size=(6, 3)).astype(np.float32),
    }
    constants["o"] = np.zeros(3, np.float32)
    first = model([*nodes, node("Gemm", ["c", "v", "o"], "y")], constants, (1, 6))
    second = model([node("Gemm", ["x", "v", "o"], "y")], {n: constants[n] for n in "vo"}, (1, 6))
    steps = [read(proto, 3).steps() for proto in (first, second)]
    pair = Pair(steps[0], steps[1], 6, (IDENTITY, IDENTITY))
    assert len(pair.steps) == len(steps[0]) > len(steps[1])
    rest = np.full((3 * sum(pair.widths), 1), np.inf)
    reached = Reached(pair, np.concatenate([-np.ones((6, 1)), -rest]), np.concatenate([np.ones((6, 1)), rest]))
    for _ in range(20):
        point = [Fraction(v) for v in rng.uniform(-1, 1, 6)]
        x, y = (trace(one, point)[-1] for one in steps)
        for o in range(3):
            assert Fraction(reached.last()[0][2, o, 0]) <= x[o] - y[o] <= Fraction(reached.last()[1][2, o, 0])
    parts = certificate(tmp_path, task_of(tmp_path, first, second, Fraction(1), Fraction(1, 2)))
    assert audit(stored(tmp_path, parts)).verdict == "equivalent"


def test_a_record_of_a_graph_becomes_a_certificate(tmp_path: Path) -> None:
    """The search closed the first box, or said nothing useful: then the writer asks for multipliers of its own."""
    rng = np.random.default_rng(5)
    first = random_graph(rng, size=4, blocks=2)
    second = nudged(first, rng, 1e-4)
    asked = task_of(tmp_path, first, second, Fraction(1, 8), Fraction(1, 2))
    (tmp_path / "record").write_bytes(b"L" + bytes(8) + b"Z")
    proof = CachedProof(asked, tmp_path)
    reached = proof.reach(proof.root())
    apart = np.abs([ends[2, :, 0] for ends in reached.last()]).max()
    for eps, doubts in ((1.5 * apart, set()), (0.9 * apart, {(0, o) for o in range(2 * OUTPUTS)})):
        asked["property"]["eps"] = str(Fraction(float(eps)))
        with Record(tmp_path / "record") as events, (tmp_path / "rounds").open("w+b") as rounds:
            tree = ProofConstruction(events, CachedProof(asked, tmp_path), rounds, doubts).build()
            rounds.seek(0)
            content = json.dumps(certificate(tmp_path, asked).header).encode() + b"\n"
            with gzip.open(tmp_path / "made.eqcert", "wb") as file:
                file.write(content)
                npy.write_array(file, tree)
                file.write(rounds.read())
        found = audit(tmp_path / "made.eqcert")
        assert found.verdict == "equivalent"
        assert bool(found.rounds) is bool(doubts)


def test_steps_of_a_search_are_those_with_a_relu_in_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    first = random_graph(rng, size=4, blocks=2)
    asked = task_of(tmp_path, first, first, Fraction(1, 8), Fraction(1, 2))
    own = [bool(step.curves) for step in CachedProof(asked, tmp_path).pair.steps]
    bent = [n for n, one in enumerate(own) if one]
    assert CachedProof(asked, tmp_path).searched == [*bent, len(own) - 1]
    theirs = [False, *[True] * len(bent), False]
    assert CachedProof(asked, tmp_path, theirs).searched == [-1, *bent, len(own) - 1]
    with pytest.raises(Refused, match="another number of steps"):
        _ = CachedProof(asked, tmp_path, [*theirs[1:-2], False]).searched


def test_a_row_more_costs_nothing_of_the_difference() -> None:
    """A network and the same with a neuron without effect: d of the outputs is 0, as where both have as many."""
    rng = np.random.default_rng(1)
    w, v = rng.normal(size=(5, 4)).astype(np.float32), rng.normal(size=(3, 5)).astype(np.float32)
    more, read_by = np.concatenate([w, w[:1]]), np.concatenate([v, np.zeros((3, 1), np.float32)], axis=1)
    nodes = [node("MatMul", ["x", "w"], "a"), node("Relu", ["a"], "b"), node("MatMul", ["b", "v"], "y")]
    steps = [
        read(model(nodes, {"w": np.ascontiguousarray(a.T), "v": np.ascontiguousarray(b.T)}, (1, 4)), 3).steps()
        for a, b in ((w, v), (more, read_by))
    ]
    for first, second in (steps, steps[::-1]):
        pair = Pair(first, second, 4, (IDENTITY, IDENTITY))
        rest = np.full((3 * sum(pair.widths), 1), np.inf)
        reached = Reached(pair, np.concatenate([-np.ones((4, 1)), -rest]), np.concatenate([np.ones((4, 1)), rest]))
        assert not np.abs([ends[2] for ends in reached.last()]).any()
