"""Operators of onnxruntime's own domain on packed weights and levels, against onnxruntime."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from eqspec.networks.readers import onnx_reader
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, agrees, build, exactly, grid, microsoft, running


def packed(levels: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """Rows of integers in bytes, the lowest bits first, the last byte of a row filled with zeros."""
    each = 8 // bits
    rows = np.pad(levels, ((0, 0), (0, -levels.shape[1] % each))).reshape(len(levels), -1, each)
    return np.asarray((rows << (bits * np.arange(each))).sum(axis=2), np.uint8)


def product(
    random: np.random.Generator, bits: int, rows: int, columns: int, block: int, zero: str, bias: bool
) -> tuple[list[NodeProto], Constants]:
    """A MatMulNBits with scales that are powers of two."""
    blocks = -(-rows // block)
    levels = random.integers(0, 2**bits, (columns, blocks * block))
    constants: Constants = {
        "w": packed(levels, bits).reshape(columns, blocks, -1),
        "s": (2.0 ** random.integers(-6, -2, (columns, blocks))).astype(np.float32),
    }
    names = ["x", "w", "s"]
    if zero == "packed":
        constants["z"] = packed(random.integers(0, 2**bits, (columns, blocks)), bits)
    elif zero == "real":
        constants["z"] = (random.integers(0, 2 ** (bits + 1), (columns, blocks)) / 2).astype(np.float32)
    names.append("z" if zero != "none" else "")
    if bias:
        constants["b"] = (random.integers(-8, 9, columns) / 4).astype(np.float32)
        names += ["", "b"]
    named = {"K": rows, "N": columns, "bits": bits, "block_size": block, "accuracy_level": 1}
    return [microsoft("MatMulNBits", names, "y", **named)], constants


@pytest.mark.part(16)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("zero", ["none", "packed", "real"])
@pytest.mark.parametrize(("rows", "block"), [(16, 16), (40, 16), (33, 32), (7, 16)])
@pytest.mark.parametrize("bits", [4, 8])
def test_weights_in_blocks(bits: int, rows: int, block: int, zero: str, bias: bool, tmp_path: Path) -> None:
    """Bit for bit: with powers of two as scales and inputs on a grid nothing is rounded."""
    if bits == 8 and zero == "real":
        pytest.skip("onnxruntime takes zero points of 8 bits as packed integers alone")
    random = np.random.default_rng(rows * bits)
    nodes, constants = product(random, bits, rows, 5, block, zero, bias)
    agrees(tmp_path, build(nodes, constants, [1, rows]), grid(random, [1, rows], 4, 16))


def test_no_accuracy_level_is_said(tmp_path: Path) -> None:
    nodes, constants = product(np.random.default_rng(0), 4, 16, 3, 16, "none", bias=False)
    del nodes[0].attribute[[a.name for a in nodes[0].attribute].index("accuracy_level")]
    network = read_network(save(tmp_path, build(nodes, constants, [1, 16])))
    assert any("no accuracy level" in note for note in network.notes)


def changed(**attributes: Any) -> list[NodeProto]:
    named = {"K": 16, "N": 3, "bits": 4, "block_size": 16, "accuracy_level": 1, **attributes}
    return [microsoft("MatMulNBits", ["x", "w", "s"], "y", **named)]


REFUSED: list[tuple[list[NodeProto], str]] = [
    (changed(accuracy_level=4), "rounded to 8 bits.*accuracy_level=1"),
    (changed(accuracy_level=2), "float16"),
    (changed(accuracy_level=7), "unknown precision"),
    (changed(bits=3), "3 bits"),
    (changed(K=17), "scales of 3 rows of 2 blocks|entries"),
    (changed(N=4), "entries|scales"),
    (changed(K=0), "'K' is 0"),
    (changed(N=10**12), "beyond the limit"),
    (changed(other=1), "'other'"),
    ([microsoft("MatMulNBits", ["x", "w", "s", "", "g"], "y", K=16, N=3, bits=4, block_size=16)], "act_order"),
    ([microsoft("MatMulNBits", ["x", "w", "t"], "y", K=16, N=3, bits=4, block_size=16)], "2 scales"),
    ([microsoft("MatMulNBits", ["x", "v", "s"], "y", K=16, N=3, bits=4, block_size=16)], "entries of int64"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "message"), REFUSED)
def test_what_is_refused(nodes: list[NodeProto], message: str, tmp_path: Path) -> None:
    constants: Constants = {
        "w": np.full((3, 1, 8), 0x31, np.uint8), "v": np.full((3, 1, 8), 0x31, np.int64),
        "s": np.ones((3, 1), np.float32), "t": np.ones(2, np.float32), "g": np.ones(16, np.int32),
    }  # fmt: skip
    with pytest.raises(NetworkError, match=message):
        read_network(save(tmp_path, build(nodes, constants, [1, 16])))


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("several", [False, True])
def test_integers_to_real_numbers(kind: str, several: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(several)
    columns = 3 if several else 1
    constants: Constants = {
        "s": np.float32(0.25), "z": np.array(3, kind), "w": random.integers(-64, 65, (6, 3)).astype(np.int8),
        "t": (2.0 ** random.integers(-5, -1, columns)).astype(np.float32),
        "u": random.integers(-9, 9, columns).astype(np.int8),
        "b": (random.integers(-8, 9, 3) / 4).astype(np.float32),
    }  # fmt: skip
    if not several:
        constants["t"], constants["u"] = constants["t"][0], constants["u"][0]
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        microsoft("MatMulIntegerToFloat", ["q", "w", "s", "t", "z", "u", "b"], "y"),
    ]
    agrees(tmp_path, build(nodes, constants, [1, 6]), grid(random, [1, 6]))


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("shape", [[1, 5], [1, 3, 4]])
def test_softmax_of_levels(kind: str, axis: int, shape: list[int], tmp_path: Path) -> None:
    """Within a level of what onnxruntime takes from its table of exponentials, and mostly equal."""
    if axis == len(shape):
        pytest.skip("no such axis")
    constants: Constants = {
        "s": np.float32(0.125), "z": np.array(3, kind), "t": np.float32(1 / 256),
        "u": np.array(-128 if kind == "int8" else 0, kind),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        microsoft("QLinearSoftmax", ["q", "s", "z", "t", "u"], "p", axis=axis, opset=13),
        node("DequantizeLinear", ["p", "t", "u"], "d"),
        node("Mul", ["d", "two"], "y"),
    ]
    constants["two"] = np.float32(2)
    proto = build(nodes, constants, shape)
    network, session = read_network(save(tmp_path, proto)), running(proto)
    same = every = 0
    for point in grid(np.random.default_rng(axis + 1), shape, 12):
        (expected,) = session.run(None, {"x": point})
        found = network.evaluate(point.reshape(1, -1).astype(float))[0]
        off = np.abs(found - expected.reshape(-1)) * 128
        assert off.max() <= 1
        same, every = same + int((off == 0).sum()), every + off.size
    assert same >= 0.95 * every


def test_other_steps_of_a_softmax_are_refused(tmp_path: Path) -> None:
    """onnxruntime takes 1/255 for 1/254: it rounds the inverse down."""
    constants: Constants = {"s": np.float32(0.125), "z": np.uint8(0), "t": np.float32(1 / 255)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        microsoft("QLinearSoftmax", ["q", "s", "z", "t", "z"], "p", axis=-1, opset=13),
        node("DequantizeLinear", ["p", "t", "z"], "y"),
    ]
    with pytest.raises(NetworkError, match=r"one over a whole number.*1/256"):
        read_network(save(tmp_path, build(nodes, constants, [1, 4])))


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_one_of_two_tensors_of_levels(kind: str, tmp_path: Path) -> None:
    constants: Constants = {
        "s": np.float32(0.25), "z": np.array(3, kind), "t": np.float32(0.5), "u": np.array(1, kind),
        "v": np.float32(0.125), "w": np.array(7, kind), "c": np.array([[True, False, True]]),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("QuantizeLinear", ["x", "t", "u"], "r"),
        microsoft("QLinearWhere", ["c", "q", "s", "z", "r", "t", "u", "v", "w"], "p"),
        node("DequantizeLinear", ["p", "v", "w"], "y"),
    ]
    agrees(tmp_path, build(nodes, constants, [1, 3]), grid(np.random.default_rng(0), [1, 3]))


def test_float32_is_refused_by_name(tmp_path: Path) -> None:
    nodes, constants = product(np.random.default_rng(0), 4, 16, 3, 16, "none", bias=False)
    path = Path(save(tmp_path, build(nodes, constants, [1, 16])))
    with pytest.raises(NetworkError, match=r"in several ways.*MatMulNBits"):
        onnx_reader.read(str(path), path.read_bytes(), "float32")


def test_exact_weights(tmp_path: Path) -> None:
    """By hand: 4 bits, low nibble first, the middle as zero point."""
    constants: Constants = {"w": np.array([[[0x90] + [0x88] * 7]], np.uint8), "s": np.array([[0.5]], np.float32)}
    nodes = [microsoft("MatMulNBits", ["x", "w", "s"], "y", K=16, N=1, bits=4, block_size=16, accuracy_level=1)]
    network = read_network(save(tmp_path, build(nodes, constants, [1, 16])))
    point = np.zeros(16)
    point[:2] = 3, 5
    assert exactly(network, point).tolist() == [float(Fraction(-8, 2) * 3 + Fraction(1, 2) * 5)]


def test_bytes_that_are_cut_off_in_pairs_are_said(tmp_path: Path) -> None:
    constants: Constants = {"s": np.float32(0.25), "z": np.uint8(3), "w": np.full((6, 3), 127, np.int8)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        microsoft("MatMulIntegerToFloat", ["q", "w", "s", "s", "z"], "y"),
    ]
    assert read_network(save(tmp_path, build(nodes, constants, [1, 6]))).in_pairs
