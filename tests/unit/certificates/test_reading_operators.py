"""The operators that the auditor reads beside products and sums: casts, parts and joins, and constants that are made.

Expected results are those of onnxruntime, on numbers for which float32 is exact, or are written here by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.audit import Refused
from eqspec.audit.reading import Float32, Number
from eqspec.audit.witness import values_at
from unit.certificates.dense import layers
from unit.certificates.test_reading import agrees, file, saved
from unit.networks.models import model, node, run_onnxruntime

POINT = [0.5, -1.25, 2.0, 0.375]
WEIGHT = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.125], [3.0, 1.0]], np.float32)
Constants = dict[str, NDArray[Any]]


def whole(*numbers: int) -> NDArray[Any]:
    return np.array(numbers, np.int64)


def parts(names: Sequence[str], given: Sequence[str] = (), **attributes: Any) -> NodeProto:
    return helper.make_node("Split", ["x", *given], list(names), axis=1, **attributes)


def turned(names: Sequence[str]) -> NodeProto:
    """The parts in the other order."""
    return node("Concat", names[::-1], "y", axis=1)


MADE = numpy_helper.from_array(np.array([0.75], np.float32))
CASES: dict[str, tuple[list[NodeProto], Constants, int]] = {
    "neg": ([node("Neg", ["x"], "y")], {}, 7),
    "sum": ([node("Sum", ["x", "c", "x", "x"], "y")], {"c": WEIGHT[:, 0].reshape(1, 4)}, 7),
    "sum of one": ([node("Sum", ["x"], "y")], {}, 13),
    "sum broadcast": ([node("Sum", ["c", "x"], "y")], {"c": WEIGHT[:1, :1]}, 13),
    "split by attribute": ([parts("pqr", split=[1, 0, 3]), turned("pqr")], {}, 7),
    "split by input": ([parts("pqr", ["s"]), turned("pqr")], {"s": whole(2, 1, 1)}, 13),
    "split evenly": ([parts("pq"), node("Sub", ["q", "p"], "y")], {}, 11),
    "split evenly by count": ([parts("pq", num_outputs=2), turned("pq")], {}, 18),
    "split with a smaller last": (
        [parts("pq", num_outputs=2), node("Add", ["p", "p"], "h"), node("Concat", ["q", "h"], "y", axis=1)],
        {},
        18,
    ),
    "split by input since 18": ([parts("pq", ["s"]), turned("pq")], {"s": whole(3, 1)}, 18),
    "split of a constant": (
        [
            helper.make_node("Split", ["w"], ["a", "b"], axis=1),
            node("Sub", ["b", "a"], "v"),
            node("MatMul", ["x", "v"], "y"),
        ],
        {"w": WEIGHT},
        13,
    ),
    "concat with constants": ([node("Concat", ["c", "x", "x"], "y", axis=1)], {"c": WEIGHT[:1]}, 9),
    "expand": (
        [node("Expand", ["c", "s"], "e"), node("Mul", ["x", "e"], "y")],
        {"c": WEIGHT[3:, :1], "s": whole(4)},
        9,
    ),
    "expand to less": ([node("Expand", ["x", "s"], "y")], {"s": whole(1)}, 13),
    "constant of shape": (
        [node("ConstantOfShape", ["s"], "c", value=MADE), node("Add", ["x", "c"], "y")],
        {"s": whole(1, 4)},
        9,
    ),
    "zeros": ([node("ConstantOfShape", ["s"], "c"), node("Concat", ["x", "c"], "y", axis=1)], {"s": whole(1, 2)}, 17),
    "a float": ([node("Constant", [], "c", value_float=0.1), node("Add", ["x", "c"], "y")], {}, 13),
    "floats": ([node("Constant", [], "c", value_floats=[1.5, 2, 3, 4]), node("Mul", ["x", "c"], "y")], {}, 13),
    "an integer": ([node("Constant", [], "c", value_int=2), node("Gather", ["x", "c"], "y", axis=1)], {}, 13),
    "integers": ([node("Constant", [], "c", value_ints=[2, 2]), node("Reshape", ["x", "c"], "y")], {}, 13),
    "shape": ([node("Shape", ["x"], "s", start=-1), node("Reshape", ["x", "s"], "y")], {}, 15),
    "root": (
        [node("Sqrt", ["q"], "r"), node("Div", ["x", "r"], "y")],
        {"q": np.array([4.0, 0.25, 16.0, 1.0], np.float32)},
        13,
    ),
    "reciprocal of a constant": (
        [node("Reciprocal", ["q"], "r"), node("Mul", ["x", "r"], "y")],
        {"q": np.array([4.0, 0.25, 16.0, -1.0], np.float32)},
        13,
    ),
    "blocks by channels": (
        [
            node("Concat", ["x", "c"], "v", axis=1),
            node("Reshape", ["v", "s"], "i"),
            node("SpaceToDepth", ["i"], "y", blocksize=2, mode="CRD"),
        ],
        {"c": WEIGHT.reshape(1, -1)[:, :4], "s": whole(1, 2, 2, 2)},
        28,
    ),
    "scatter of old": (
        [node("Scatter", ["c", "i", "x"], "y", axis=1)],
        {"c": np.zeros((1, 6), np.float32), "i": np.array([[4, 0, 5, 1]])},
        9,
    ),
    "a scatter that adds": (
        [node("ScatterND", ["c", "i", "x"], "y", reduction="add")],
        {"c": WEIGHT[:3, :1] @ np.ones((1, 4), np.float32), "i": whole(1).reshape(1, 1)},
        18,
    ),
    "a scatter that adds where it was": (
        [node("ScatterElements", ["x", "i", "u"], "y", axis=1, reduction="add")],
        {"i": whole(2, 0, 2, -2).reshape(1, 4), "u": WEIGHT.reshape(2, 4)[:1]},
        18,
    ),
    "a scatter of the largest": (
        [node("ScatterElements", ["c", "i", "x"], "y", axis=1, reduction="max")],
        {"i": whole(2, 0, 2, 2).reshape(1, 4), "c": WEIGHT.reshape(2, 4)[:1]},
        18,
    ),
    "a scatter of the smallest": (
        [node("ScatterElements", ["x", "i", "u"], "y", axis=1, reduction="min")],
        {"i": whole(1, 1).reshape(1, 2), "u": WEIGHT.reshape(4, 2)[:1]},
        18,
    ),
    "entries of fewer rows": (
        [node("Reshape", ["x", "s"], "h"), node("GatherElements", ["h", "i"], "y", axis=1)],
        {"s": whole(2, 2), "i": whole(1, 0).reshape(1, 2)},
        13,
    ),
    "updates of fewer rows": (
        [node("Reshape", ["x", "s"], "h"), node("ScatterElements", ["h", "i", "u"], "y", axis=1)],
        {"s": whole(2, 2), "i": whole(1).reshape(1, 1), "u": WEIGHT[:1, :1]},
        13,
    ),
    "a single constant of 8 bits": (
        [node("DequantizeLinear", ["q", "half", "z"], "d"), node("Sub", ["x", "d"], "y")],
        {"q": np.array(7, np.int8), "half": np.array(0.5, np.float32), "z": np.array(2, np.int8)},
        13,
    ),
    "cast to double and back": (
        [
            node("Cast", ["x"], "d", to=TensorProto.DOUBLE),
            node("MatMul", ["d", "w"], "h"),
            node("Cast", ["h"], "y", to=TensorProto.FLOAT),
        ],
        {"w": WEIGHT.astype(np.float64)},
        13,
    ),
    "cast of short weights": (
        [node("Cast", ["w"], "v", to=TensorProto.FLOAT), node("MatMul", ["x", "v"], "y")],
        {"w": WEIGHT.astype(np.float16)},
        9,
    ),
    "clip of weights of 8 bits": (
        [
            node("Clip", ["w8", "low", "high"], "c"),
            node("DequantizeLinear", ["c", "half"], "d"),
            node("Add", ["x", "d"], "y"),
        ],
        {
            "w8": np.array([[-128, -127, 5, 127]], np.int8),
            "low": np.array(-127, np.int8),
            "high": np.array(126, np.int8),
            "half": np.array(0.5, np.float32),
        },
        13,
    ),
    "clip of integers between ends that cross": (
        [
            node("Clip", ["i", "low", "high"], "c"),
            node("Cast", ["c"], "d", to=TensorProto.FLOAT),
            node("Add", ["x", "d"], "y"),
        ],
        {"i": whole(-3, 0, 2, 7), "low": np.array(4), "high": np.array(1)},
        13,
    ),
    "cast of integers": (
        [node("Cast", ["i"], "c", to=TensorProto.FLOAT), node("Mul", ["x", "c"], "y")],
        {"i": whole(1, -2, 1 << 40, 0)},
        13,
    ),
    "cast of sizes": (
        [node("Cast", ["s"], "t", to=TensorProto.INT64), node("Reshape", ["x", "t"], "y")],
        {"s": np.array([4, 1], np.int32)},
        13,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_onnxruntime_computes(name: str, tmp_path: Path) -> None:
    nodes, constants, opset = CASES[name]
    proto = model(nodes, constants, [1, 4], opset=opset)
    path = saved(tmp_path, proto)
    expected = run_onnxruntime(proto, np.array([POINT], np.float32)).ravel()
    own = file(path, 4, expected.size)
    values = values_at(own, [Fraction(v) for v in POINT])
    assert all(low == high for low, high in values)
    np.testing.assert_allclose([float(v) for v, _ in values], expected, rtol=1e-6)
    assert agrees(path, [Fraction(v) for v in POINT])


def refused(nodes: list[NodeProto], constants: Constants, folder: Path, words: str, **others: Any) -> None:
    shape, kind = others.pop("shape", [1, 4]), others.pop("read", Number)
    path = saved(folder, model(nodes, constants, shape, **others))
    with pytest.raises(Refused, match=words):
        layers(file(path, 4, 4, kind))


@pytest.mark.parametrize(
    ("value", "to", "words"),
    [
        (0.1, TensorProto.FLOAT, "type that does not hold it"),
        (1e300, TensorProto.FLOAT, "type that does not hold it"),
        (2.0**-160, TensorProto.FLOAT, "type that does not hold it"),
        (0.5, TensorProto.FLOAT16, "other types"),
        (0.5, TensorProto.BFLOAT16, "other types"),
        (2.0, TensorProto.INT64, "other types"),
        ((1 << 24) + 1, TensorProto.FLOAT, "type that does not hold it"),
        ((1 << 53) + 1, TensorProto.DOUBLE, "type that does not hold it"),
        (3, TensorProto.BOOL, "integers are only"),
    ],
)
@pytest.mark.parametrize("read", [Number, Float32])
def test_a_cast_that_changes_a_constant_is_refused(
    value: float, to: int, words: str, read: type[Number], tmp_path: Path
) -> None:
    if isinstance(value, float) and abs(value) > 2.0**125 and read is Float32:
        words = "overflow"
    nodes = [node("Cast", ["c"], "d", to=to), node("Mul", ["x", "d"], "y")]
    refused(nodes, {"c": np.array(value)}, tmp_path, words, read=read)


def test_a_cast_of_a_root_is_refused(tmp_path: Path) -> None:
    nodes = [node("Sqrt", ["c"], "r"), node("Cast", ["r"], "d", to=TensorProto.FLOAT), node("Mul", ["x", "d"], "y")]
    refused(nodes, {"c": np.array(2.0)}, tmp_path, "type that does not hold it")


def test_a_cast_of_a_value_may_round_in_float32_and_nowhere_else(tmp_path: Path) -> None:
    """At least one rounding more than without the cast, and what an underflow may lose."""
    plain = [node("Mul", ["x", "c"], "y")]
    cast = [node("Mul", ["x", "c"], "h"), node("Cast", ["h"], "y", to=TensorProto.FLOAT)]
    constants = {"c": np.array([1.5, -0.1, 3.0, 0.0], np.float32)}
    found = {}
    for kind in (Number, Float32):
        for name, nodes in (("plain", plain), ("cast", cast)):
            (found[kind, name],) = layers(file(saved(tmp_path, model(nodes, constants, [1, 4])), 4, 4, kind))
    assert (found[Number, "plain"] == found[Number, "cast"]).all()
    assert not found[Number, "cast"][1].any()
    (exact, off), (same, more) = found[Float32, "plain"], found[Float32, "cast"]
    assert (exact == same).all()
    for i in range(3):
        assert more[i, i] >= off[i, i] + abs(exact[i, i]) * Fraction(1, 2**24)


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for nodes, constants, opset in (
        ([parts("pqr")], {}, 13),
        ([parts("pq", split=[1, 2])], {}, 11),
        ([parts("pq", split=[5, -1])], {}, 11),
        ([parts("pq", ["s"])], {"s": whole(1, 1, 2)}, 13),
        ([parts("pq", ["s"], num_outputs=2)], {"s": whole(2, 2)}, 18),
        ([parts("pq")], {}, 18),
        ([parts("pq", num_outputs=3)], {}, 18),
        ([parts("pqrst", num_outputs=5)], {}, 18),
    ):
        refused([*nodes, turned("pq")], constants, tmp_path, "a Split", opset=opset)


def test_numbers_and_integers_are_not_joined(tmp_path: Path) -> None:
    refused([node("Concat", ["x", "i"], "y", axis=1)], {"i": np.ones((1, 1), np.int64)}, tmp_path, "a Concat")
    refused([node("Sum", ["x", "i"], "y")], {"i": whole(1)}, tmp_path, "integers are only")


def test_a_root_of_what_is_negative_is_refused(tmp_path: Path) -> None:
    nodes = [node("Sqrt", ["c"], "r"), node("Mul", ["x", "r"], "y")]
    refused(nodes, {"c": np.array(-1.0, np.float32)}, tmp_path, "may not be positive")


def test_what_would_be_huge_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """Doubled forty times, four entries are 2^42."""
    doubled = [node("Concat", [f"x{n}" if n else "x"] * 2, f"x{n + 1}" if n < 39 else "y", axis=1) for n in range(40)]
    refused(doubled, {}, tmp_path, "more arithmetic than the auditor allows for")
    constants = {"s": whole(1 << 20, 1 << 20), "i": whole(0), "c": WEIGHT[:1, :1]}
    for made in (node("ConstantOfShape", ["s"], "e"), node("Expand", ["c", "s"], "e")):
        refused([made, node("Gather", ["e", "i"], "y")], constants, tmp_path, "more arithmetic than the auditor")


def test_the_size_of_a_batch_is_not_read(tmp_path: Path) -> None:
    """The file multiplies with the size of the batch: one sample by itself is another function."""
    nodes = [
        node("Shape", ["x"], "s", end=1),
        node("Cast", ["s"], "n", to=TensorProto.FLOAT),
        node("Mul", ["x", "n"], "y"),
    ]
    refused(nodes, {}, tmp_path, "it takes 12 numbers, the task 4", shape=[3, 4])


def test_inputs_that_are_no_floats_are_refused(tmp_path: Path) -> None:
    nodes = [node("Cast", ["x"], "y", to=TensorProto.FLOAT)]
    refused(nodes, {}, tmp_path, "inputs are of a type", kind=TensorProto.COMPLEX64)
    refused(nodes, {}, tmp_path, "inputs are of a type", kind=TensorProto.FLOAT16, read=Float32)
    path = saved(tmp_path, model(nodes, {}, [1, 4], kind=TensorProto.FLOAT16))
    assert len(layers(file(path, 4, 4))) == 1


def halves(raw: bool, kind: int) -> onnx.ModelProto:
    """A product with numbers of 16 bits, in raw bytes or as integers that have their bits."""
    numbers = np.array([1.0, -0.40625, 3.5, 2.0**-20], np.float32)
    bits = numbers.astype(np.float16).view(np.uint16) if kind == TensorProto.FLOAT16 else numbers.view(np.uint32) >> 16
    data = bits.astype("<u2").tobytes() if raw else bits.tolist()
    proto = model([node("Cast", ["w"], "v", to=TensorProto.FLOAT), node("Mul", ["x", "v"], "y")], {}, [1, 4])
    stored = TensorProto(name="w", data_type=kind, dims=[4])
    if raw:
        stored.raw_data = data
    else:
        stored.int32_data.extend(data)
    proto.graph.initializer.append(stored)
    return proto


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
@pytest.mark.parametrize("raw", [True, False])
def test_numbers_of_sixteen_bits_are_those_of_onnxruntime(raw: bool, kind: int, tmp_path: Path) -> None:
    proto = halves(raw, kind)
    path = saved(tmp_path, proto)
    expected = run_onnxruntime(proto, np.array([POINT], np.float32)).ravel()
    values = values_at(file(path, 4, 4), [Fraction(v) for v in POINT])
    assert values == [(Fraction(float(v)),) * 2 for v in expected]
    with pytest.raises(Refused, match="in float32"):
        layers(file(path, 4, 4, Float32))


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
def test_numbers_of_sixteen_bits_with_more_of_them_are_refused(kind: int, tmp_path: Path) -> None:
    for spoiled in (1 << 16, -1):
        proto = halves(False, kind)
        proto.graph.initializer[0].int32_data[1] = spoiled
        with pytest.raises(Refused, match="beyond its type"):
            layers(file(saved(tmp_path, proto), 4, 4))
    proto = halves(True, kind)
    proto.graph.initializer[0].raw_data += b"\0\0"
    with pytest.raises(Refused, match="does not hold what its sizes ask for"):
        layers(file(saved(tmp_path, proto), 4, 4))


def test_more_places_than_entries_are_refused(tmp_path: Path) -> None:
    two = [node("Reshape", ["x", "s"], "h"), node("GatherElements", ["h", "i"], "y", axis=1)]
    constants = {"s": whole(2, 2), "i": whole(0, 1, 0).reshape(3, 1)}
    refused(two, constants, tmp_path, "more places beside an axis than entries")
    one = [node("GatherElements", ["x", "i"], "y", axis=1)]
    refused(one, {"i": whole(0, 1).reshape(2, 1)}, tmp_path, "more places beside an axis than entries")
    many = [node("ScatterElements", ["x", "i", "u"], "y", axis=1, reduction="mul")]
    refused(many, {"i": whole(0).reshape(1, 1), "u": WEIGHT[:1, :1]}, tmp_path, "multiplies", opset=18)
    twice = [node("ScatterElements", ["x", "i", "u"], "y", axis=1)]
    refused(twice, {"i": whole(1, -3).reshape(1, 2), "u": WEIGHT[:1]}, tmp_path, "two updates at one place", opset=18)


def test_a_constant_on_either_side_of_a_threshold_has_no_level(tmp_path: Path) -> None:
    """A root is known to 200 bits: 2 sqrt(2) is one level of step 1, and sqrt(9/4) an exact tie, read exactly."""
    nodes = [
        node("Sqrt", ["c"], "r"),
        node("QuantizeLinear", ["r", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "d"),
        node("Mul", ["x", "d"], "y"),
    ]
    constants: Constants = {"s": np.array(1.0, np.float32), "z": np.array(0, np.int8)}
    for square, level in ((8.0, 3), (2.25, 2), (6.25, 2), (5.0, 2)):
        proto = model(nodes, {**constants, "c": np.array(square, np.float32)}, [1, 4])
        values = values_at(file(saved(tmp_path, proto), 4, 4), [Fraction(v) for v in POINT])
        assert values == [(level * Fraction(v),) * 2 for v in POINT]


FUNCTIONS = (
    "Atan",
    "Cos",
    "Erf",
    "Exp",
    "Floor",
    "Log",
    "Mish",
    "Sigmoid",
    "Sign",
    "Sin",
    "Softplus",
    "Softsign",
    "Tanh",
)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_functions_of_constants_are_those_of_onnxruntime(kind: str, tmp_path: Path) -> None:
    constants = {"c": np.array([0.5, 2.25, 1.0, 3.75], np.float32)}
    nodes = [node(kind, ["c"], "f"), node("Mul", ["x", "f"], "y")]
    proto = model(nodes, constants, [1, 4], opset=18)
    path = saved(tmp_path, proto)
    values = values_at(file(path, 4, 4), [Fraction(v) for v in POINT])
    expected = run_onnxruntime(proto, np.array([POINT], np.float32)).ravel()
    assert all(high - low < Fraction(1, 2**40) for low, high in values)
    np.testing.assert_allclose([float(low) for low, _ in values], expected, rtol=1e-5, atol=1e-30)
    with pytest.raises(Refused, match="in float32"):
        layers(file(path, 4, 4, Float32))


def test_what_lies_between_two_numbers_is_covered_by_one() -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        low = Fraction(float(rng.normal() * 10.0 ** rng.integers(-12, 6)))
        high = low + abs(low) * Fraction(float(rng.random() * 2.0 ** -rng.integers(30, 60)))
        one = Number.between(low, high)
        assert one.c - one.missing <= low <= high <= one.c + one.missing
        assert one.missing <= (high - low) / 2 * Fraction(5, 4) + abs(low) / 2**190
        assert one.a >= abs(one.c)


@pytest.mark.parametrize("base", [2.0, 0.375, 1.0])
def test_powers_of_constants_are_those_of_onnxruntime(base: float, tmp_path: Path) -> None:
    proto = model([node("Pow", ["c", "x"], "y")], {"c": np.array(base, np.float32)}, [1, 4])
    values = values_at(file(saved(tmp_path, proto), 4, 4), [Fraction(v) for v in POINT])
    expected = run_onnxruntime(proto, np.array([POINT], np.float32)).ravel()
    np.testing.assert_allclose([float(low) for low, _ in values], expected, rtol=1e-5)
    assert all(low <= Fraction(base) ** 2 <= high for low, high in values[2:3])


@pytest.mark.parametrize("base", [0.0, -2.0])
def test_powers_of_constants_that_are_not_positive_are_refused(base: float, tmp_path: Path) -> None:
    refused([node("Pow", ["c", "x"], "y")], {"c": np.array(base, np.float32)}, tmp_path, "log is not defined")
