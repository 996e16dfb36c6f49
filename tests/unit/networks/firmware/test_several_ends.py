"""Projects with several inputs and outputs: as hls4ml converts them, against its C simulation, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec import Epsilon, verify
from eqspec.errors import NetworkError, OutputChoiceError
from eqspec.networks import Network, read_network
from unit.networks.firmware.converted import converted
from unit.networks.firmware.test_simulation import check_projects

TYPES = {"MatMul": {"accum": "ap_fixed<15,6>", "result": "ap_fixed<12,5>"}}


def two_of_each() -> onnx.ModelProto:
    """Of x and z: scores of both, and a sum that z alone decides. The weights are sixteenths."""
    random = np.random.default_rng(3)
    shapes = {"w": (3, 4), "c": (4,), "u": (6, 3), "v": (2, 2)}
    stored = [
        numpy_helper.from_array((random.integers(-24, 25, shape) / 16).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["t"], name="matmul0"),
        helper.make_node("Add", ["t", "c"], ["s"], name="add0"),
        helper.make_node("Relu", ["s"], ["h"], name="relu0"),
        helper.make_node("Concat", ["h", "z"], ["j"], name="concat0", axis=1),
        helper.make_node("MatMul", ["j", "u"], ["scores"], name="matmul1"),
        helper.make_node("MatMul", ["z", "v"], ["m"], name="matmul2"),
        helper.make_node("Relu", ["m"], ["side"], name="relu1"),
    ]
    given, made = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in ends]
        for ends in ((("x", 3), ("z", 2)), (("scores", 3), ("side", 2)))
    )
    graph = helper.make_graph(nodes, "g", given, made, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def read_both(place: Path) -> tuple[Network, Network]:
    """The scores, and the sum that z alone decides: hls4ml has an order and names of its own for them."""
    with pytest.raises(OutputChoiceError, match=r"has 2 outputs \(.*say which one is meant") as refused:
        read_network(place)
    found = [read_network(place, output=name) for name in re.findall(r"'(layer\d+_out)' of ", refused.value.message)]
    scores, side = sorted(found, key=lambda network: -network.output_size)
    return scores, side


@pytest.mark.parametrize("io_type", ["io_parallel", "io_stream"])
def test_each_output_is_that_of_the_simulation(io_type: str, tmp_path: Path) -> None:
    place = converted(tmp_path / "prj", two_of_each(), of_layers=TYPES, io_type=io_type)
    with pytest.raises(OutputChoiceError, match="has no output 'scores'; it gives 'layer"):
        read_network(place, output="scores")
    scores, side = read_both(place)
    assert [(port.name, port.size) for port in scores.ports] == [("global_in", 3), ("global_in_1", 2)]
    assert (scores.input_size, scores.output_size, scores.input_name) == (5, 3, "global_in, global_in_1")
    assert [(port.name, port.size) for port in side.ports] == [("global_in_1", 2)]
    assert (side.input_size, side.output_size, side.unread) == (2, 2, ("global_in",))
    assert scores.sha256 == side.sha256
    assert scores.identity != side.identity
    projects = {"scores": (place, scores)} if io_type == "io_stream" else {"a": (place, scores), "b": (place, side)}
    check_projects(tmp_path, projects)


def test_it_is_compared_with_the_file_it_was_made_of(tmp_path: Path) -> None:
    """Both take x and z one behind the other; with types that hold everything they are equal, with others not."""
    model = two_of_each()
    onnx.save(model, tmp_path / "m.onnx")
    wide = {name: {"accum": "ap_fixed<30,12>", "result": "ap_fixed<30,12>"} for name in ("MatMul", "Relu", "Concat")}
    for folder, types, verdict in (("wide", wide, "equivalent"), ("narrow", TYPES, "different")):
        place = converted(tmp_path / folder, model, precision="ap_fixed<22,8>", of_layers=types)
        for output, network in zip(("scores", "side"), read_both(place), strict=True):
            reference = read_network(tmp_path / "m.onnx", output=output)
            found = verify(reference, network, -8, 8, Epsilon(0), grid=1 / 16, timeout=20)
            assert found.verdict == verdict, (folder, output)


def test_what_stands_behind_a_softmax_is_refused_and_what_stands_beside_it_is_read(tmp_path: Path) -> None:
    place = converted(tmp_path / "prj", two_of_each(), of_layers=TYPES)
    code = place / "firmware/myproject.cpp"
    text = code.read_text()
    scores, side = read_both(place)
    calls = [line for line in text.splitlines() if "nnet::relu<" in line]
    last = next(line for line in calls if f", {side.output_name})" in line)
    (inner,) = (line for line in calls if line is not last)
    code.write_text(text.replace(inner, inner.replace("nnet::relu<", "nnet::softmax<")))
    with pytest.raises(NetworkError, match="stands behind a Softmax"):  # a concatenation reads it
        read_network(place, output=side.output_name)
    code.write_text(text.replace(last, last.replace("nnet::relu<", "nnet::softmax<")))
    beside, left_out = read_both(place)
    points = np.random.default_rng(0).normal(size=(50, 5))
    np.testing.assert_array_equal(beside.evaluate(points), scores.evaluate(points))
    assert not any("Softmax" in note for note in beside.notes)
    assert any("Softmax" in note for note in left_out.notes)
    assert (left_out.evaluate(points[:, 3:]) != side.evaluate(points[:, 3:])).any()
