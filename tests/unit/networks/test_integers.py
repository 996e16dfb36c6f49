"""Integer constants in the type of the file: what wraps, what is refused, and casts between types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import model, node, run_onnxruntime, save

KINDS: dict[Any, int] = {
    np.int8: TensorProto.INT8, np.int16: TensorProto.INT16, np.int32: TensorProto.INT32, np.int64: TensorProto.INT64,
    np.uint8: TensorProto.UINT8, np.uint16: TensorProto.UINT16, np.uint32: TensorProto.UINT32,
    np.uint64: TensorProto.UINT64,
}  # fmt: skip
SIGNED, UNSIGNED = (tuple(k for k in KINDS if np.dtype(k).kind == kind) for kind in "iu")


def arithmetic(operator: str, *operands: NDArray[Any]) -> onnx.ModelProto:
    """A computed constant is the bias of a network."""
    constants = {f"c{i}": operand for i, operand in enumerate(operands)}
    nodes = [
        node(operator, [*constants], "i"), node("Cast", ["i"], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y"),
    ]  # fmt: skip
    return model(nodes, constants, (1, 1))


def bias(folder: Path, proto: onnx.ModelProto) -> list[float]:
    read: list[float] = read_network(save(folder, proto)).layers[0].bias.tolist()
    return read


def array(kind: Any, *numbers: int) -> NDArray[Any]:
    return np.array(numbers, kind)


@pytest.mark.parametrize("kind", UNSIGNED)
def test_unsigned_integers_wrap(kind: Any, tmp_path: Path) -> None:
    modulus = 1 << np.dtype(kind).itemsize * 8
    for operator, a, b, expected in (
        ("Add", modulus - 56, 200, 144),
        ("Sub", 3, 5, modulus - 2),
        ("Mul", modulus // 2 + 1, 6, 6),
        ("Div", modulus - 1, 2, modulus // 2 - 1),
    ):
        proto = arithmetic(operator, array(kind, a), array(kind, b))
        if expected < 2**53:
            assert bias(tmp_path, proto) == [float(np.float32(expected))], operator


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64])
def test_what_wraps_is_what_onnxruntime_computes(kind: Any, tmp_path: Path) -> None:
    modulus = 1 << np.dtype(kind).itemsize * 8
    proto = arithmetic("Add", array(kind, modulus - 56), array(kind, 200))
    assert bias(tmp_path, proto) == run_onnxruntime(proto, np.zeros((1, 1), np.float32)).ravel().tolist() == [144.0]


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize(
    ("operator", "a", "b"), [("Add", 0, 1), ("Sub", -1, 2), ("Mul", 0, 2), ("Div", -1, -1), ("Neg", -1, None)]
)
def test_signed_integers_that_overflow_are_refused(
    kind: Any, operator: str, a: int, b: int | None, tmp_path: Path
) -> None:
    limits = np.iinfo(kind)
    end = limits.min if a < 0 else limits.max
    operands = [array(kind, end)] if b is None else [array(kind, end), array(kind, b)]
    with pytest.raises(NetworkError, match=f"leaves the range of {np.dtype(kind)}") as caught:
        read_network(save(tmp_path, arithmetic(operator, *operands)))
    assert caught.value.operator == operator


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("operator", "inside", "outside", "expected"),
    [
        ("ReduceSum", (7, -9), (2, 0), -2),
        ("ReduceMean", (7, -9), (2, 0), -1),
        ("ReduceProd", (7, -9), (2, 1), -63),
        ("ReduceSumSquare", (3, -4), (1, 0), 25),
        ("ReduceL1", (3, -4), (1, 0), 7),
        ("ReduceL2", (3, -4), (1, 0), 5),
    ],
)
def test_reductions_of_integers(
    operator: str, inside: tuple[int, int], outside: tuple[int, int], expected: int, kind: Any, tmp_path: Path
) -> None:
    """Runtimes wrap, saturate or widen what leaves the type; nobody says which."""

    def proto(*numbers: int) -> onnx.ModelProto:
        made = arithmetic(operator, array(kind, *numbers))
        made.graph.node[0].attribute.append(onnx.helper.make_attribute("keepdims", 0))
        return made

    given = proto(*inside)
    assert bias(tmp_path, given) == [expected]
    assert run_onnxruntime(given, np.zeros((1, 1), np.float32)).item() == expected
    with pytest.raises(NetworkError, match=f"leaves the range of {np.dtype(kind)}"):
        read_network(save(tmp_path, proto(np.iinfo(kind).max, *outside)))


@pytest.mark.parametrize(
    ("operator", "kind", "a", "b"),
    [
        ("CumSum", np.int32, (2**31 - 1, 1), 0),
        ("CumSum", np.uint32, (2**32 - 1, 5), 0),
        ("Pow", np.int32, (10, 3), 10),
        ("Pow", np.int64, (10, 3), 19),
        ("Abs", np.int32, (-(2**31), 1), None),
    ],
)
def test_what_numpy_computes_in_a_wider_type_is_refused(
    operator: str, kind: Any, a: tuple[int, ...], b: int | None, tmp_path: Path
) -> None:
    operands = [array(kind, *a)] if b is None else [array(kind, *a), np.array(b, np.int32)]
    with pytest.raises(NetworkError, match=f"leaves the range of {np.dtype(kind)}"):
        read_network(save(tmp_path, arithmetic(operator, *operands)))


def test_a_remainder_by_zero(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="division by zero"):
        read_network(save(tmp_path, arithmetic("Mod", array(np.int32, 1), array(np.int32, 0))))


@pytest.mark.parametrize("kind", SIGNED)
def test_signed_integers_up_to_their_ends(kind: Any, tmp_path: Path) -> None:
    limits = np.iinfo(kind)
    narrow = limits.max < 2**53
    for operator, operands, expected in (
        ("Add", (limits.max - 1, 1), limits.max),
        ("Sub", (limits.min + 1, 1), limits.min),
        ("Mul", (limits.min // 2, 2), limits.min),
        ("Neg", (limits.max,), -limits.max),
    ):
        proto = arithmetic(operator, *(array(kind, n) for n in operands))
        if narrow:
            assert bias(tmp_path, proto) == [float(np.float32(expected))], operator
        elif operator != "Mul":  # read, but no float holds it; products near the end are refused
            with pytest.raises(NetworkError, match=r"beyond 2\^53"):
                read_network(save(tmp_path, proto))


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(-7, 2, -3), (7, -2, -3), (-7, -2, 3), (7, 2, 3), (-6, 3, -2), (0, 5, 0)]
)
@pytest.mark.parametrize("kind", SIGNED)
def test_quotients_are_cut_towards_zero(kind: Any, a: int, b: int, expected: int, tmp_path: Path) -> None:
    assert bias(tmp_path, arithmetic("Div", array(kind, a), array(kind, b))) == [expected]


def test_a_division_by_zero(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="division by zero"):
        read_network(save(tmp_path, arithmetic("Div", array(np.int32, 1), array(np.int32, 0))))


def test_large_products_of_int64_are_exact(tmp_path: Path) -> None:
    """3037000499 squared is the largest square below 2^63; taken back by a quotient."""
    nodes = [
        node("Mul", ["a", "a"], "s"), node("Div", ["s", "b"], "q"),
        node("Cast", ["q"], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y"),
    ]  # fmt: skip
    root = 3037000499
    proto = model(nodes, {"a": array(np.int64, root), "b": array(np.int64, root * 1000)}, (1, 1))
    assert bias(tmp_path, proto) == [root // 1000]
    proto = model(nodes, {"a": array(np.int64, root + 1), "b": array(np.int64, 1)}, (1, 1))
    with pytest.raises(NetworkError, match="leaves the range of int64"):
        read_network(save(tmp_path, proto))


def cast(constant: NDArray[Any], *kinds: int) -> onnx.ModelProto:
    names = ["c", *(f"k{i}" for i in range(len(kinds)))]
    nodes = [node("Cast", [a], b, to=k) for a, b, k in zip(names[:-1], names[1:], kinds, strict=True)]
    nodes += [node("Cast", [names[-1]], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y")]
    return model(nodes, {"c": constant}, (1, 1))


@pytest.mark.parametrize(
    ("number", "to", "expected"),
    [
        (200, np.int8, -56),
        (-1, np.uint8, 255),
        (2**40 + 3, np.int16, 3),
        (65535, np.int16, -1),
        (2**32 + 7, np.uint32, 7),
    ],
)
def test_integers_lose_their_upper_bits(number: int, to: Any, expected: int, tmp_path: Path) -> None:
    proto = cast(array(np.int64, number), KINDS[to])
    assert bias(tmp_path, proto) == [expected]
    assert run_onnxruntime(proto, np.zeros((1, 1), np.float32)).ravel().tolist() == [expected]


@pytest.mark.parametrize(("number", "to", "expected"), [(-2.75, np.int8, -2), (2.75, np.uint8, 2), (-0.5, np.uint8, 0)])
def test_floats_are_cut_towards_zero(number: float, to: Any, expected: int, tmp_path: Path) -> None:
    assert bias(tmp_path, cast(np.array([number], np.float32), KINDS[to])) == [expected]


@pytest.mark.parametrize(
    ("number", "to"), [(128.0, np.int8), (-129.0, np.int8), (256.0, np.uint8), (-1.0, np.uint64), (2.0**63, np.int64)]
)
def test_floats_beyond_the_range_of_integers_are_refused(number: float, to: Any, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=f"beyond the range of {np.dtype(to)}"):
        read_network(save(tmp_path, cast(np.array([number], np.float32), KINDS[to])))


def test_truth_values(tmp_path: Path) -> None:
    assert bias(tmp_path, cast(array(np.int64, 256), TensorProto.BOOL)) == [1.0]
    assert bias(tmp_path, cast(np.array([0.25], np.float32), TensorProto.BOOL)) == [1.0]
    assert bias(tmp_path, cast(np.array([0.0], np.float32), TensorProto.BOOL)) == [0.0]


def test_a_constant_that_a_runtime_rounds_is_not_cast_to_integers(tmp_path: Path) -> None:
    """2048 + 1 is 2048 in float16: a runtime takes another entry than the real number says."""
    nodes = [
        node("Add", ["a", "b"], "s"), node("Sub", ["s", "a"], "d"), node("Cast", ["d"], "i", to=TensorProto.INT64),
        node("Gather", ["x", "i"], "y", axis=1),
    ]  # fmt: skip
    constants = {"a": np.array([2048], np.float16), "b": np.array([1], np.float16)}
    with pytest.raises(NetworkError, match="may be rounded is cast to integers") as caught:
        read_network(save(tmp_path, model(nodes, constants, (1, 3))))
    assert caught.value.operator == "Cast"
    constants["a"] = np.array([2], np.float16)
    layer = read_network(save(tmp_path, model(nodes, constants, (1, 3)))).layers[0]
    assert layer.weight.tolist() == [[0, 1, 0]]


def test_casts_of_floats_round_to_nearest(tmp_path: Path) -> None:
    """A tie goes to the even one; where one rounding and two differ, or nothing finite comes out, it is refused."""
    tie = np.array([1 + 2.0**-11], np.float32)
    assert bias(tmp_path, cast(tie, TensorProto.FLOAT16)) == [1.0]
    twice = np.array([1 + 2.0**-11 + 2.0**-40], np.float64)
    for constant, words in ((twice, "by way of float"), (np.array([1e6], np.float32), "beyond the range of float16")):
        with pytest.raises(NetworkError, match=words):
            read_network(save(tmp_path, cast(constant, TensorProto.FLOAT16)))


def test_integers_keep_their_type_on_the_way(tmp_path: Path) -> None:
    """Through operators that only move them, and out of a constant of a shape."""
    nodes = [
        node("ConstantOfShape", ["two"], "a", value=onnx.numpy_helper.from_array(np.array([200], np.uint8))),
        node("Concat", ["a", "a"], "c", axis=0), node("Reshape", ["c", "square"], "r"), node("Transpose", ["r"], "t"),
        node("Gather", ["t", "one"], "g", axis=0), node("Add", ["g", "g"], "s"),
        node("Cast", ["s"], "f", to=TensorProto.FLOAT), node("Add", ["x", "f"], "y"),
    ]  # fmt: skip
    constants = {"two": array(np.int64, 2), "square": array(np.int64, 2, 2), "one": np.array(1)}
    assert bias(tmp_path, model(nodes, constants, (1, 2))) == [144.0, 144.0]
