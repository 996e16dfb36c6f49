"""Slices and splits at the edges of an axis, by ONNX's own words and by onnxruntime; and in the auditor."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from eqspec.audit import Refused
from eqspec.audit.witness import values_at
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import model, node, run_onnxruntime, save
from unit.networks.test_ambiguous_files import audited

LEAST, MOST = -(2**63), 2**63 - 1


def sliced(start: int, end: int, step: int, opset: int = 17, axis: int = 1) -> onnx.ModelProto:
    if opset < 10:
        return model([node("Slice", ["x"], "y", starts=[start], ends=[end], axes=[axis])], {}, (1, 3), opset=opset)
    constants = {k: np.array([v], np.int64) for k, v in (("s", start), ("e", end), ("a", axis), ("p", step))}
    return model([node("Slice", ["x", *constants], "y")], constants, (1, 3), opset=opset)


def places(start: int, end: int, step: int, size: int = 3) -> list[int]:
    """ONNX: negative ones count from the end; then starts lie in [0, n], ends too, or in [0, n - 1] and [-1, n - 1]."""
    start, end = (i + size if i < 0 else i for i in (start, end))
    if step > 0:
        return list(range(min(max(start, 0), size), min(max(end, 0), size), step))
    return list(range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step))


ENDS = (LEAST, -5, -4, -3, -1, 0, 1, 2, 3, 4, 9, MOST)


@pytest.mark.part(4)
@pytest.mark.parametrize("step", [1, 2, 5, MOST, -1, -2, -5, LEAST + 1])
def test_starts_and_ends_anywhere(step: int, tmp_path: Path) -> None:
    x = np.array([[1.0, 2.0, 4.0]])
    for start in ENDS:
        for end in ENDS:
            if step < 0 and end == MOST:
                continue
            expected = places(start, end, step)
            proto = sliced(start, end, step)
            path = Path(save(tmp_path, proto))
            if not expected:
                with pytest.raises(NetworkError, match="the output is empty"):
                    read_network(path)
                continue
            answer = read_network(path).evaluate(x)[0].tolist()
            assert answer == x[0, expected].tolist(), (start, end)
            if len(expected) == 3:
                given = [Fraction(v) for v in x[0].tolist()]
                assert values_at(audited(path), given) == [(given[i],) * 2 for i in expected], (start, end)


@pytest.mark.parametrize(
    ("start", "end", "step"), [(-5, -9, -1), (-4, LEAST, -2), (9, -9, -2), (LEAST, MOST, 1), (MOST, LEAST, -1)]
)
def test_onnxruntime_clamps_alike(start: int, end: int, step: int, tmp_path: Path) -> None:
    x = np.array([[1.0, 2.0, 4.0]], np.float32)
    proto = sliced(start, end, step)
    expected = run_onnxruntime(proto, x)
    assert np.array_equal(read_network(save(tmp_path, proto)).evaluate(x.astype(np.float64)), expected)


@pytest.mark.parametrize("end", [2**31 - 1, MOST])
def test_backwards_to_the_largest_integer_is_refused(end: int, tmp_path: Path) -> None:
    """onnxruntime takes that end for 'as far as there is' in both directions, ONNX for the end of the axis."""
    path = Path(save(tmp_path, sliced(2, end, -1)))
    with pytest.raises(NetworkError, match="it runs backwards to the largest integer"):
        read_network(path)
    with pytest.raises(Refused, match="two ways"):
        audited(path).steps()


def test_a_slice_of_an_empty_axis_is_refused(tmp_path: Path) -> None:
    """onnxruntime 1.32 ends the process on some of them with a failed assertion, and we would ask it at once."""
    constants = {"s": np.array([0]), "z": np.array([0]), "a": np.array([1]), "e": np.array([3]), "p": np.array([-1])}
    nodes = [
        node("Slice", ["x", "s", "z", "a"], "none"),
        node("Slice", ["none", "e", "s", "a", "p"], "nothing"),
        node("Concat", ["x", "nothing"], "y", axis=1),
    ]
    with pytest.raises(NetworkError, match="it slices an empty axis"):
        read_network(save(tmp_path, model(nodes, constants, (1, 3))))


@pytest.mark.parametrize("opset", [6, 7, 9])
def test_starts_and_ends_as_attributes(opset: int, tmp_path: Path) -> None:
    x = np.array([[1.0, 2.0, 4.0]])
    for start, end in ((-9, 2), (1, MOST), (LEAST, -1)):
        answer = read_network(save(tmp_path, sliced(start, end, 1, opset))).evaluate(x)
        assert answer[0].tolist() == x[0, places(start, end, 1)].tolist()


def test_axes_that_repeat(tmp_path: Path) -> None:
    constants = {"s": np.array([0, 1]), "e": np.array([2, 3]), "a": np.array([1, -1])}
    with pytest.raises(NetworkError, match="repeat"):
        read_network(save(tmp_path, model([node("Slice", ["x", *constants], "y")], constants, (1, 3))))


def parts(opset: int, outputs: int, size: int = 5, sizes: list[int] | None = None, **given: Any) -> onnx.ModelProto:
    names = [f"p{i}" for i in range(outputs)]
    constants = {} if sizes is None else {"n": np.array(sizes, np.int64)}
    cut = helper.make_node("Split", ["x", *constants], names, name="cut", axis=1, **given)
    return model([cut, node("Concat", names[::-1], "y", axis=1)], constants, (1, size), opset=opset)


def test_the_last_part_may_be_smaller_since_opset_18(tmp_path: Path) -> None:
    x = np.array([[1.0, 2.0, 4.0, 8.0, 16.0]])
    answer = read_network(save(tmp_path, parts(18, 3, num_outputs=3))).evaluate(x)
    assert answer[0].tolist() == [16, 4, 8, 1, 2]


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (parts(17, 3), "5 entries cannot be split into 3 parts"),
        (parts(9, 2), "5 entries cannot be split into 2 parts"),
        (parts(18, 4, num_outputs=4), "cannot be split into 4 parts"),
        (parts(18, 3, num_outputs=2), "2 parts for 3 outputs"),
        (parts(18, 2), "neither sizes nor a number of parts"),
        (parts(18, 2, sizes=[2, 3], num_outputs=2), "both sizes and a number of parts"),
        (parts(17, 2, sizes=[2, 4]), "cannot be split into [2, 4]"),
        (parts(17, 2, sizes=[7, -2]), "cannot be split into [7, -2]"),
    ],
)
def test_parts_that_do_not_fit(proto: onnx.ModelProto, words: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError) as caught:
        read_network(save(tmp_path, proto))
    assert words in caught.value.message
    assert caught.value.node == "cut"


@pytest.mark.parametrize("opset", [11, 13])
def test_a_squeeze_of_no_axes_is_refused(opset: int, tmp_path: Path) -> None:
    """onnxruntime removes all axes of size 1, onnx none."""
    one = node("Squeeze", ["x", "a"], "y") if opset >= 13 else node("Squeeze", ["x"], "y")
    if opset < 13:
        one.attribute.append(helper.make_attribute("axes", [], attr_type=onnx.AttributeProto.INTS))
    proto = model([one], {"a": np.zeros(0, np.int64)} if opset >= 13 else {}, (1, 3), opset=opset)
    with pytest.raises(NetworkError, match="no axes"):
        read_network(save(tmp_path, proto))


def test_constants_without_axes_are_divided(tmp_path: Path) -> None:
    nodes = [node("Div", ["a", "b"], "c"), node("Mul", ["x", "c"], "y")]
    proto = model(nodes, {"a": np.array(3, np.float32), "b": np.array(-2, np.float32)}, (2, 3), output_shape=(2, 3))
    assert read_network(save(tmp_path, proto)).layers[0].weight.tolist() == (-1.5 * np.eye(3)).tolist()
