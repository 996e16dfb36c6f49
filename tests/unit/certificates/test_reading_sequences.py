"""What the auditor reads of recurrent cells, of masks of minus infinity, and of integers that a file computes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.audit import Refused
from eqspec.audit.reading import Float32
from eqspec.audit.witness import values_at
from eqspec.networks import read_network
from eqspec.property import Epsilon
from small_tasks import task
from unit.certificates.proofs import certify, holds, unpack
from unit.certificates.test_reading import agrees, file, saved
from unit.networks.models import model, node, run_onnxruntime

Constants = dict[str, Any]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def cell(kind: str, seed: int) -> tuple[list[NodeProto], Constants, list[int]]:
    """A recurrent cell of random form over x (T, N, I), and which of its results is y."""
    rng = np.random.default_rng([sum(map(ord, kind)), seed])
    length, batch, size, hidden = (int(n) for n in rng.integers(1, 3, 4))
    count, gates = int(rng.integers(1, 3)), GATES[kind]
    direction = str(rng.choice(["forward", "reverse"])) if count == 1 else "bidirectional"
    shapes = {
        "w": (count, gates * hidden, size),
        "r": (count, gates * hidden, hidden),
        "b": (count, 2 * gates * hidden),
    }
    shapes |= {"h": (count, batch, hidden), "c": (count, batch, hidden)}
    constants: Constants = {n: (rng.integers(-8, 9, s) / 8).astype(np.float32) for n, s in shapes.items()}
    constants["l"] = np.full(batch, length, np.int32)
    names = ["x", "w", "r", *(n if rng.random() < 0.6 else "" for n in ("b", "l", "h"))]
    if kind == "LSTM":
        names += ["c" if rng.random() < 0.6 else ""]
    attributes: dict[str, Any] = {"direction": direction, "hidden_size": hidden}
    if kind == "GRU":
        attributes["linear_before_reset"] = int(rng.integers(2))
    if rng.random() < 0.5:
        some = ["Sigmoid", "Tanh", "Relu", "Softsign"]
        attributes["activations"] = [
            str(rng.choice(some)) for _ in range({"RNN": 1, "GRU": 2, "LSTM": 3}[kind] * count)
        ]
    read = int(rng.integers(3 if kind == "LSTM" else 2))
    results = ["y" if n == read else "" for n in range(read + 1)]
    made = helper.make_node(kind, names, results, **attributes)
    return [made], {n: v for n, v in constants.items() if n in names}, [length, batch, size]


@pytest.mark.parametrize("kind", GATES)
def test_recurrent_cells_are_those_of_onnxruntime_and_of_the_reader(kind: str, tmp_path: Path) -> None:
    for seed in range(8):
        nodes, constants, shape = cell(kind, seed)
        proto = model(nodes, constants, shape)
        x = (np.random.default_rng(seed).integers(-8, 9, shape) / 8).astype(np.float32)
        expected = run_onnxruntime(proto, x).ravel()
        path = saved(tmp_path, proto)
        values = values_at(file(path, x.size, expected.size), [Fraction(float(v)) for v in x.ravel()])
        np.testing.assert_allclose([float(low) for low, _ in values], expected, rtol=1e-5, atol=1e-6)
        assert all(high - low < 1e-9 for low, high in values)


SPOILED: dict[str, tuple[dict[str, Any], Constants, list[str]]] = {
    "a limit": ({"clip": 1.0}, {}, []),
    "coupled gates": ({"input_forget": 1}, {}, []),
    "parameters": ({"activations": ["LeakyRelu", "Tanh", "Tanh"], "activation_alpha": [0.5]}, {}, []),
    "another function": ({"activations": ["Sigmoid", "Tanh", "HardSigmoid"]}, {}, []),
    "too few functions": ({"activations": ["Sigmoid", "Tanh"]}, {}, []),
    "another direction": ({"direction": "sideways"}, {}, []),
    "another size": ({"hidden_size": 3}, {}, []),
    "shorter sequences": ({}, {"l": np.array([1], np.int32)}, ["", "l"]),
    "biases of another size": ({}, {"b": np.ones((1, 8), np.float32)}, ["b"]),
    "a state of more samples": ({}, {"h": np.ones((1, 3, 2), np.float32)}, ["", "", "h"]),
    "peepholes": ({}, {"p": np.ones((1, 6), np.float32)}, ["", "", "", "", "p"]),
    "samples in front": ({"layout": 1}, {}, []),
    "weights that vary": ({}, {}, ["x"]),
}


@pytest.mark.parametrize("name", SPOILED)
def test_cells_that_are_another_function_are_refused(name: str, tmp_path: Path) -> None:
    attributes, more, names = SPOILED[name]
    constants = {"w": np.ones((1, 8, 2), np.float32), "r": np.ones((1, 8, 2), np.float32), **more}
    made = helper.make_node("LSTM", ["x", "w", "r", *names], ["y"], **{"hidden_size": 2, **attributes})
    path = saved(tmp_path, model([made], constants, [2, 1, 2]))
    with pytest.raises(Refused, match=r"LSTM|recurrent|state of another|constant weights"):
        file(path, 4, 4).steps()


def test_attributes_that_are_written_with_their_defaults(tmp_path: Path) -> None:
    """As the exporter of torch writes them."""
    constants = {"w": np.ones((1, 8, 2), np.float32), "r": np.ones((1, 8, 2), np.float32)}
    said = {"direction": "forward", "hidden_size": 2, "input_forget": 0, "layout": 0}
    x, found = np.array([[[0.5, -1.0]]], np.float32), []
    for attributes in ({"hidden_size": 2}, said):
        proto = model([helper.make_node("LSTM", ["x", "w", "r"], ["y"], **attributes)], constants, [1, 1, 2])
        values = values_at(file(saved(tmp_path, proto), 2, 2), [Fraction(float(v)) for v in x.ravel()])
        np.testing.assert_allclose([float(low) for low, _ in values], run_onnxruntime(proto, x).ravel(), rtol=1e-5)
        found.append(values)
    assert found[0] == found[1]


def test_cells_in_float32_are_refused(tmp_path: Path) -> None:
    nodes, constants, shape = cell("RNN", 0)
    with pytest.raises(Refused, match="float32"):
        file(saved(tmp_path, model(nodes, constants, shape)), int(np.prod(shape)), 1, Float32).steps()


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_a_recurrent_pair_has_a_certificate_of_its_own_claim_alone(kind: str, tmp_path: Path) -> None:
    gates, rng = GATES[kind], np.random.default_rng(1)
    shapes = {"w": (2, gates * 2, 3), "r": (2, gates * 2, 2), "b": (2, gates * 4)}
    constants = {n: (rng.integers(-8, 9, s) / 8).astype(np.float32) for n, s in shapes.items()}
    attributes = {"direction": "bidirectional", "hidden_size": 2}
    again = [
        node(kind, ["x", "w", "r", "b"], "s", **attributes),
        node("ReduceMean", ["s"], "y", axes=[0, 1], keepdims=0),
    ]
    paths = []
    for number, scale in enumerate((1.0, 1.125)):
        (tmp_path / str(number)).mkdir()
        weights = {**constants, "w": constants["w"] * np.float32(scale)}
        paths.append(saved(tmp_path / str(number), model(again, weights, [2, 1, 3])))
    first, second = map(read_network, paths)
    made = task(first, second, Epsilon(Fraction(1)), [Fraction(-1, 16)] * 6, [Fraction(1, 16)] * 6)
    _, certificate = certify(made, tmp_path)
    assert certificate is not None
    assert certificate.reason is None
    parts = unpack(certificate.path)
    parts.header["task"]["property"]["eps"] = "1/1000"
    assert not holds(parts, tmp_path)


INF = np.array(-np.inf, np.float32)
SEEN = np.array([[True, False, True, True], [True, True, False, False]])
MASK = np.where(SEEN, np.float32(0.5), -np.inf).astype(np.float32)
LOWER = np.tril(np.ones((2, 4), bool))
SHARES = node("Softmax", ["s"], "p", axis=-1)
AFTER = node("Mul", ["p", "x"], "y")
MASKED: dict[str, tuple[list[NodeProto], Constants]] = {
    "added": ([node("Add", ["x", "m"], "s"), SHARES, AFTER], {"m": MASK}),
    "added in front": ([node("Add", ["m", "x"], "s"), SHARES, AFTER], {"m": MASK}),
    "added twice": ([node("Add", ["m", "x"], "t"), node("Add", ["t", "n"], "s"), SHARES, AFTER], {
        "m": MASK, "n": np.where(LOWER, 0.25, -np.inf).astype(np.float32),
    }),
    "one for all rows": ([node("Add", ["x", "m"], "s"), SHARES, AFTER], {"m": MASK[:1]}),
    "in place": ([node("Where", ["f", "x", "i"], "s"), SHARES, AFTER], {"f": SEEN, "i": INF}),
    "in place of hidden ones": ([node("Where", ["f", "i", "x"], "s"), SHARES, AFTER], {"f": ~SEEN, "i": INF}),
    "made of truth values": (
        [node("Where", ["f", "z", "i"], "m"), node("Add", ["x", "m"], "s"), SHARES, AFTER],
        {"f": SEEN, "i": INF, "z": np.array(0.0, np.float32)},
    ),
    "along the other axis of one sample": (
        [node("Unsqueeze", ["x", "a"], "u"), node("Add", ["u", "m"], "s"), node("Softmax", ["s"], "p", axis=1),
         node("Mul", ["p", "u"], "y")],
        {"m": np.where(np.array([[[True] * 4, [True, False, True, True]]]), 0.0, -np.inf).astype(np.float32),
         "a": np.array([0])},
    ),
    "places counted": (
        [node("Shape", ["x"], "n"), node("Gather", ["n", "one"], "k"), node("Range", ["zero", "k", "one"], "r"),
         node("Unsqueeze", ["r", "zero1"], "row"), node("Reshape", ["lengths", "column"], "l"),
         node("Less", ["row", "l"], "f"), node("Where", ["f", "x", "i"], "s"), SHARES, AFTER],
        {"one": np.array(1), "zero": np.array(0), "zero1": np.array([0]), "lengths": np.array([2, 4]),
         "column": np.array([2, 1]), "i": INF},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_what_a_mask_hides_has_no_share(name: str, tmp_path: Path) -> None:
    nodes, constants = MASKED[name]
    proto = model(nodes, constants, [2, 4])
    x = (np.arange(8).reshape(2, 4) % 5 / 4 - 0.5).astype(np.float32)
    expected = run_onnxruntime(proto, x).ravel()
    values = values_at(file(saved(tmp_path, proto), 8, 8), [Fraction(float(v)) for v in x.ravel()])
    np.testing.assert_allclose([float(low) for low, _ in values], expected, rtol=1e-5, atol=1e-7)


UNMASKED: dict[str, tuple[list[NodeProto], Constants]] = {
    "all of a row": ([node("Add", ["x", "m"], "s"), SHARES, AFTER], {"m": np.full((2, 4), INF)}),
    "in front of what is no Softmax": ([node("Add", ["x", "m"], "s"), node("Relu", ["s"], "y")], {"m": MASK}),
    "in front of a LogSoftmax": (
        [node("Add", ["x", "m"], "s"), node("LogSoftmax", ["s"], "p"), AFTER], {"m": MASK},
    ),
    "as a result": ([node("Add", ["x", "m"], "y")], {"m": MASK}),
    "multiplied": ([node("Mul", ["x", "m"], "s"), SHARES, AFTER], {"m": MASK}),
    "subtracted": ([node("Sub", ["x", "m"], "s"), SHARES, AFTER], {"m": MASK}),
    "plus infinity": ([node("Add", ["x", "m"], "s"), SHARES, AFTER], {"m": -MASK}),
    "no number": ([node("Add", ["x", "m"], "s"), SHARES, AFTER], {"m": np.full((2, 4), np.nan, np.float32)}),
    "by a condition that varies": (
        [node("Greater", ["x", "z"], "f"), node("Where", ["f", "x", "i"], "s"), SHARES, AFTER],
        {"i": INF, "z": np.array(0.0, np.float32)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNMASKED)
def test_other_numbers_that_are_not_finite_are_refused(name: str, tmp_path: Path) -> None:
    nodes, constants = UNMASKED[name]
    with pytest.raises(Refused):
        file(saved(tmp_path, model(nodes, constants, [2, 4])), 8, 8).steps()


def test_integers_of_two_operands_are_those_of_onnxruntime(tmp_path: Path) -> None:
    """Taken as numbers that are added to x; truth values become numbers by a Cast."""
    a, b = np.array([[7, -7, 0, 5]]), np.array([[2, 2, 3, -5]])
    for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        for dtype in (np.int32, np.int64):
            nodes = [node(kind, ["a", "b"], "c"), node("Cast", ["c"], "f", to=TensorProto.FLOAT)]
            proto = model([*nodes, node("Add", ["x", "f"], "y")], {"a": a.astype(dtype), "b": b.astype(dtype)}, [1, 4])
            expected = run_onnxruntime(proto, np.zeros((1, 4), np.float32)).ravel()
            path = saved(tmp_path, proto)
            assert [low for low, _ in values_at(file(path, 4, 4), [Fraction(0)] * 4)] == expected.tolist(), kind
            assert agrees(path, [Fraction(1, 2)] * 4)


WHOLE: dict[str, tuple[list[NodeProto], Constants]] = {
    "a remainder": ([node("Mod", ["a", "b"], "c")], {"a": np.array([[7, -7, 7, -7]]), "b": np.array([[3, 3, -3, -3]])}),
    "a negative": ([node("Neg", ["a"], "c")], {"a": np.array([[7, -7, 0, 1]])}),
    "a size": ([node("Abs", ["a"], "c")], {"a": np.array([[7, -7, 0, 1]])}),
    "a choice": ([node("Where", ["t", "a", "b"], "c")], {
        "t": np.array([[True, False, True, False]]), "a": np.arange(4), "b": np.array(-1),
    }),
    "a product of sizes": ([node("Shape", ["x"], "s"), node("ReduceProd", ["s"], "c", keepdims=0)], {}),
    "a range": ([node("Range", ["a", "b", "s"], "c")], {"a": np.array(7), "b": np.array(-1), "s": np.array(-2)}),
    "places": ([node("NonZero", ["t"], "c")], {"t": np.array([True, True, True, True])}),
    "truth": ([
        node("And", ["t", "u"], "v"), node("Or", ["v", "u"], "w"), node("Xor", ["w", "t"], "n"),
        node("Not", ["n"], "c"),
    ], {"t": np.array([[True, False, True, False]]), "u": np.array([[True, True, False, False]])}),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_other_integers_are_those_of_onnxruntime(name: str, tmp_path: Path) -> None:
    nodes, constants = WHOLE[name]
    nodes = [*nodes, node("Cast", ["c"], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y")]
    proto = model(nodes, constants, [1, 4])
    expected = run_onnxruntime(proto, np.zeros((1, 4), np.float32)).ravel()
    path = saved(tmp_path, proto)
    assert [low for low, _ in values_at(file(path, 4, 4), [Fraction(0)] * 4)] == expected.tolist()


WRAPPED: dict[str, tuple[list[NodeProto], Constants]] = {
    "a sum that wraps": ([node("Add", ["a", "a"], "c")], {"a": np.array([2**31 - 1], np.int32)}),
    "a product": ([node("Mul", ["a", "a"], "c")], {"a": np.array([2**20])}),
    "a product of sizes": ([node("ReduceProd", ["a"], "c")], {"a": np.array([2**20, 2**20, 2**20, 2**4])}),
    "a sum of no axes": ([node("ReduceSum", ["a"], "c", noop_with_empty_axes=1)], {"a": np.array([1, 2, 3, 4])}),
    "a sum of no axes, given": ([node("ReduceSum", ["a", "e"], "c")], {
        "a": np.array([1, 2]), "e": np.zeros(0, np.int64),
    }),
    "a sum along no axis": ([node("ReduceSum", ["a", "e"], "c")], {"a": np.array([1, 2]), "e": np.array([1])}),
    "numbers that are too large": ([node("Sub", ["a", "a"], "c")], {"a": np.array([2**40])}),
    "a quotient by zero": ([node("Div", ["a", "b"], "c")], {"a": np.array([1]), "b": np.array([0])}),
    "a remainder by zero": ([node("Mod", ["a", "b"], "c")], {"a": np.array([1]), "b": np.array([0])}),
    "fmod": ([node("Mod", ["a", "b"], "c", fmod=1)], {"a": np.array([-7]), "b": np.array([3])}),
    "bytes": ([node("Add", ["a", "a"], "c")], {"a": np.array([100], np.int8)}),
    "two types": ([node("Add", ["a", "b"], "c")], {"a": np.array([1], np.int32), "b": np.array([1])}),
    "truth values that are added": ([node("Add", ["a", "a"], "c")], {"a": np.array([True])}),
    "a range that is huge": ([node("Range", ["z", "a", "o"], "c")], {
        "z": np.array(0), "a": np.array(2**30), "o": np.array(1),
    }),
    "a range without a step": ([node("Range", ["z", "a", "z"], "c")], {"z": np.array(0), "a": np.array(3)}),
    "a cast to less": ([node("Cast", ["a"], "c", to=TensorProto.INT32)], {"a": np.array([2**31])}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPED)
def test_integers_on_which_runtimes_may_differ_are_refused(name: str, tmp_path: Path) -> None:
    nodes, constants = WRAPPED[name]
    nodes = [*nodes, node("Cast", ["c"], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y")]
    with pytest.raises(Refused):
        file(saved(tmp_path, model(nodes, constants, [1, 4])), 4, 4).steps()


def test_integers_of_quantisers_are_not_computed_with(tmp_path: Path) -> None:
    scale, zero = numpy_helper.to_array(numpy_helper.from_array(np.array(0.5, np.float32))), np.array(0, np.int8)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"), node("Add", ["q", "q"], "t"),
        node("DequantizeLinear", ["t", "s", "z"], "y"),
    ]  # fmt: skip
    with pytest.raises(Refused):
        file(saved(tmp_path, model(nodes, {"s": scale, "z": zero}, [1, 4])), 4, 4).steps()
