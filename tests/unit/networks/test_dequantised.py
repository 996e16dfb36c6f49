"""Files with integers at their ends, as networks of the real numbers that these stand for.

The oracle quantises in rationals, runs the file as it is in onnxruntime, and dequantises in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from eqspec.audit import Refused
from eqspec.audit.reading import network as audited_file
from eqspec.audit.witness import values_at
from eqspec.errors import InputError, IntegerEndsError, NetworkError
from eqspec.networks import Dequantised, Network, ScaleAndZero, in_float32, read_network
from eqspec.networks.dequantised import nearest_scale
from eqspec.networks.session import Session
from eqspec.property import Epsilon
from eqspec.tasks import serialisation
from small_tasks import task
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import running, tensor

INT8, UINT8, INT16, FLOAT = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.FLOAT
RANGES = {INT8: (-128, 127), UINT8: (0, 255), INT16: (-(2**15), 2**15 - 1)}
WEIGHT = np.array([[1, -2], [0.5, 1], [-0.25, 0.75]], np.float32)
X, Y = ScaleAndZero(0.25, 3), ScaleAndZero(0.5, -5)


def zero(value: int, kind: str = "int8") -> Any:
    return np.array(value, kind)


def build(
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, Any],
    *,
    inputs: Sequence[tuple[str, int, tuple[int, ...]]] = (("x", INT8, (1, 3)),),
    made: int = INT8,
    opset: int = 17,
) -> onnx.ModelProto:
    given = [helper.make_tensor_value_info(*one) for one in inputs]
    result = helper.make_tensor_value_info("y", made, None)
    stored = [tensor(name, value) for name, value in constants.items()]
    graph = helper.make_graph(list(nodes), "g", given, [result], stored)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


SCALES = {"s": np.float32(0.25), "z": zero(3), "t": np.float32(0.5), "u": zero(-5), "w": WEIGHT}
CASES: dict[str, tuple[onnx.ModelProto, Dequantised]] = {
    "qdq": (
        build(
            [
                node("DequantizeLinear", ["x", "s", "z"], "r"),
                node("MatMul", ["r", "w"], "h"),
                node("QuantizeLinear", ["h", "t", "u"], "y"),
            ],
            SCALES,
        ),
        Dequantised((("x", X),), Y),
    ),
    "moved": (
        build(
            [
                node("Transpose", ["x"], "m", perm=[1, 0]),
                node("DequantizeLinear", ["m", "s", "z"], "r"),
                node("MatMul", ["r", "w"], "h"),
                node("QuantizeLinear", ["h", "t", "u"], "q"),
                node("Reshape", ["q", "shape"], "y"),
            ],
            {**SCALES, "shape": np.array([2], np.int64)},
            inputs=(("x", INT8, (3, 1)),),
        ),
        Dequantised((("x", X),), Y),
    ),
    "operators of integers": (
        build(
            [node("QLinearMatMul", ["x", "s", "z", "v", "t", "v0", "t", "u"], "y")],
            {**SCALES, "v": np.array([[3, -2], [1, 7], [-4, 0]], np.int8), "v0": zero(0)},
        ),
        Dequantised((("x", X),), Y),
    ),
    "16 bits": (
        build(
            [
                helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"], domain="com.microsoft"),
                node("MatMul", ["r", "w"], "h"),
                helper.make_node("QuantizeLinear", ["h", "t", "u"], ["y"], domain="com.microsoft"),
            ],
            {**SCALES, "z": zero(3, "int16"), "u": zero(-5, "int16")},
            inputs=(("x", INT16, (1, 3)),),
            made=INT16,
        ),
        Dequantised((("x", X),), Y),
    ),
    "input alone": (
        build([node("DequantizeLinear", ["x", "s", "z"], "r"), node("MatMul", ["r", "w"], "y")], SCALES, made=FLOAT),
        Dequantised((("x", X),)),
    ),
    "output alone": (
        build(
            [node("MatMul", ["x", "w"], "h"), node("QuantizeLinear", ["h", "t"], "y")],
            SCALES,
            inputs=(("x", FLOAT, (1, 3)),),
            made=UINT8,
        ),
        Dequantised((), ScaleAndZero(0.5, 0)),
    ),
    "two inputs": (
        build(
            [
                node("DequantizeLinear", ["x", "s", "z"], "r"),
                node("DequantizeLinear", ["b", "t", "b0"], "o"),
                node("MatMul", ["r", "w"], "h"),
                node("Add", ["h", "o"], "y"),
            ],
            {**SCALES, "b0": zero(100, "uint8")},
            inputs=(("x", INT8, (1, 3)), ("b", UINT8, (1, 2))),
            made=FLOAT,
        ),
        Dequantised((("x", X), ("b", ScaleAndZero(0.5, 100)))),
    ),
}
GIVEN: dict[str, tuple[onnx.ModelProto, Dequantised, Dequantised]] = {
    "cast": (
        build(
            [node("Cast", ["x"], "r", to=FLOAT), node("MatMul", ["r", "w"], "y")],
            SCALES,
            inputs=(("x", UINT8, (1, 3)),),
            made=FLOAT,
        ),
        Dequantised((("", ScaleAndZero(2.0**-8)),)),
        Dequantised((("x", ScaleAndZero(2.0**-8)),)),
    ),
    "sums of integers": (
        build(
            [node("MatMulInteger", ["x", "v", "z"], "y")],
            {**SCALES, "v": np.array([[3, -2], [1, 7], [-4, 0]], np.int8)},
            made=TensorProto.INT32,
        ),
        Dequantised((("x", X),), ScaleAndZero(0.125)),
        Dequantised((("x", X),), ScaleAndZero(0.125)),
    ),
    "in place of the file's": (CASES["qdq"][0], Dequantised((), X), Dequantised((("x", X),), X)),
}


def dequantised_by_hand(proto: onnx.ModelProto, ends: Dequantised, point: NDArray[np.float64]) -> list[Fraction]:
    """The file as it is between a quantiser and a dequantiser in rationals."""
    fed, begin = {}, 0
    for value in proto.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        part = [Fraction(x) for x in point[begin : begin + prod(shape)]]
        begin += prod(shape)
        one = ends.of_input(value.name)
        if one is not None:
            low, high = RANGES[kind.elem_type]
            quotients = [round(x / Fraction(one.scale)) for x in part]  # ties to even
            part = [Fraction(min(max(q + one.zero, low), high)) for q in quotients]
        stored = np.array([float(x) for x in part]).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        fed[value.name] = stored.reshape(shape)
    (answer,) = running(proto).run(None, fed)
    made = [Fraction(float(y)) for y in np.asarray(answer).reshape(-1)]
    return made if ends.output is None else [(y - ends.output.zero) * Fraction(ends.output.scale) for y in made]


def points(size: int) -> NDArray[np.float64]:
    """On a grid, ties among them, and far beyond the ends of 8 bits."""
    rng = np.random.default_rng(3)
    return np.concatenate([rng.integers(-400, 400, (12, size)) / 8.0, rng.integers(-99, 99, (2, size)) * 1000.0])


ALL = [(name, proto, Dequantised(), ends) for name, (proto, ends) in CASES.items()]
ALL += [(name, proto, asked, ends) for name, (proto, asked, ends) in GIVEN.items()]


@pytest.mark.parametrize(("proto", "asked", "ends"), [one[1:] for one in ALL], ids=[one[0] for one in ALL])
def test_a_file_between_a_quantiser_and_a_dequantiser(
    tmp_path: Path, proto: onnx.ModelProto, asked: Dequantised, ends: Dequantised
) -> None:
    network = read_network(save(tmp_path, proto), dequantised=asked)
    assert network.dequantised == ends
    session = Session(network)
    for point in points(network.input_size):
        expected = dequantised_by_hand(proto, ends, point)
        assert network.evaluate_exact([Fraction(x) for x in point]) == [(y, y) for y in expected]
        assert session.run(point).tolist() == [float(y) for y in expected]
    again = read_network(network.source, dequantised=network.dequantised)
    assert again.identity == network.identity


def test_scales_of_any_kind_in_rationals(tmp_path: Path) -> None:
    """No scale is a power of two, and all of it is computed in rationals: points on ties and beside them."""
    rng = np.random.default_rng(11)
    for _ in range(6):
        s, t = (np.float32(x) for x in rng.uniform(0.01, 2.0, 2))
        z, u = (int(x) for x in rng.integers(-128, 128, 2))
        proto = build(list(CASES["qdq"][0].graph.node), {**SCALES, "s": s, "z": zero(z), "t": t, "u": zero(u)})
        network = read_network(save(tmp_path, proto), dequantised=Dequantised())
        assert network.dequantised == Dequantised((("x", ScaleAndZero(float(s), z)),), ScaleAndZero(float(t), u))
        unit, made = Fraction(float(s)), Fraction(float(t))
        for levels in rng.integers(-300, 300, (8, 3)).tolist():
            point = [unit * Fraction(k, 2) for k in levels]  # every other one is a tie
            held = [unit * (min(max(round(x / unit) + z, -128), 127) - z) for x in point]
            sums = [
                sum((Fraction(float(w)) * x for w, x in zip(row, held, strict=True)), Fraction(0)) for row in WEIGHT.T
            ]
            expected = [made * (min(max(round(y / made) + u, -128), 127) - u) for y in sums]
            assert network.evaluate_exact(point) == [(y, y) for y in expected]


@pytest.mark.parametrize("name", ["qdq", "16 bits", "input alone", "two inputs"])
def test_the_auditor_reads_the_same(tmp_path: Path, name: str) -> None:
    proto, _ = CASES[name]
    if name == "16 bits":
        proto = build(list(proto.graph.node), SCALES | {"z": zero(3, "int16"), "u": zero(-5, "int16")}, opset=21,
                      inputs=(("x", INT16, (1, 3)),), made=INT16)  # fmt: skip
        for one in proto.graph.node:
            one.domain = ""
    network = read_network(save(tmp_path, proto), dequantised=Dequantised())
    data = serialisation.to_json(task(network, network, Epsilon(1)))
    read = audited_file(data, "candidate", tmp_path)
    for point in points(network.input_size)[::3]:
        exact = [Fraction(x) for x in point]
        assert values_at(read, exact) == network.evaluate_exact(exact)
    assert read.ends is not None
    missing = replace(read, ends=replace(read.ends, inputs=(*read.ends.inputs, ("other", 1.0, 0))))
    with pytest.raises(Refused, match="no input whose integers"):
        missing.steps()


def test_a_task_keeps_what_integers_stand_for(tmp_path: Path) -> None:
    path = save(tmp_path, CASES["qdq"][0])
    whole = read_network(path, dequantised=Dequantised())
    other = read_network(path, dequantised=Dequantised((), ScaleAndZero(0.5, -6)))
    tasks = [task(network, network, Epsilon(1)) for network in (whole, other, read_network(path))]
    assert len({serialisation.digest(one) for one in tasks}) == 3
    again = serialisation.from_json(serialisation.to_json(tasks[1]))
    assert again.candidate.dequantised == other.dequantised
    assert serialisation.digest(again) == serialisation.digest(tasks[1])


def test_float32_keeps_both_ends(tmp_path: Path) -> None:
    network = in_float32(read_network(save(tmp_path, CASES["qdq"][0]), dequantised=Dequantised()))
    assert network.arithmetic == "float32"
    for point in points(3):
        found = network.evaluate_exact([Fraction(x) for x in point])
        expected = dequantised_by_hand(*CASES["qdq"], point)
        assert all(low <= y <= high for (low, high), y in zip(found, expected, strict=True))


def refusal(folder: Path, proto: onnx.ModelProto, asked: Dequantised | None = None) -> NetworkError:
    with pytest.raises(IntegerEndsError) as caught:
        read_network(save(folder, proto), dequantised=asked or Dequantised())
    return caught.value


def test_what_is_not_known_is_asked_for(tmp_path: Path) -> None:
    real = build([node("MatMul", ["x", "w"], "y")], SCALES, inputs=(("x", FLOAT, (1, 3)),), made=FLOAT)
    assert "real numbers already" in str(refusal(tmp_path, real))
    assert "no input 'a'" in str(refusal(tmp_path, CASES["qdq"][0], Dequantised((("a", X),))))
    assert "zero point 200" in str(refusal(tmp_path, CASES["qdq"][0], Dequantised((), ScaleAndZero(0.5, 200))))
    problem = refusal(tmp_path, GIVEN["cast"][0])
    assert "'x' stand for is not said by Cast 'Cast_r'" in str(problem)
    assert "dequantised { input scale 0.1 zero 0 }" in str(problem)
    both = [
        node("DequantizeLinear", ["x", "s", "z"], "a"),
        node("DequantizeLinear", ["x", "t", "u"], "b"),
        node("Add", ["a", "b"], "y"),
    ]
    message = str(refusal(tmp_path, build(both, SCALES, made=FLOAT)))
    assert "0.25 (k - 3) and 0.5 (k + 5), by what reads it" in message
    assert "holds no integers" in str(refusal(tmp_path, CASES["input alone"][0], Dequantised((), Y)))
    sums = GIVEN["sums of integers"][0]
    assert "output 'y' stand for" in str(refusal(tmp_path, sums, Dequantised((("x", X),))))
    old = build([node("Cast", ["x"], "y", to=FLOAT)], {}, inputs=(("x", UINT8, (1, 3)),), made=FLOAT, opset=9)
    assert "opset 9 has no QuantizeLinear" in str(refusal(tmp_path, old, Dequantised((("", X),))))


def test_scales_are_float32() -> None:
    assert nearest_scale(Fraction("0.58")) == float(np.float32(0.58))
    tie = Fraction(1) + Fraction(1, 2**24)
    assert nearest_scale(tie) == 1.0
    assert nearest_scale(tie + Fraction(1, 10**30)) == 1.0 + 2.0**-23
    for wrong in (Fraction(0), Fraction(-1), Fraction(10) ** 40):
        with pytest.raises(InputError):
            nearest_scale(wrong)


def test_no_other_network_is_derived_from_one(tmp_path: Path) -> None:
    import eqspec

    network: Network = read_network(save(tmp_path, CASES["qdq"][0]), dequantised=Dequantised())
    with pytest.raises(NetworkError, match="quantised already"):
        eqspec.quantised(network, "int8", calibration=np.zeros((2, 3)))
