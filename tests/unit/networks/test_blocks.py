"""Files as onnxruntime saves them at its highest level of optimisation: channels in blocks, read as plain ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from eqspec import NetworkError, read_network
from eqspec.networks.expansion import blocks
from unit.networks.models import node

SHAPE = (1, 3, 6, 5)


def weights(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def plain(nodes: list[NodeProto], constants: dict[str, Any], opset: int = 17) -> ModelProto:
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", SHAPE), ("y", None))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def session(content: bytes, level: str, saved: Path | None = None) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    if saved is not None:
        options.optimized_model_filepath = str(saved)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


FIRST = node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1])
FEW, MANY = {"w": weights(20, 3, 3, 3), "b": weights(20, seed=1)}, {"v": weights(20, 20, 3, 2, seed=2)}
CASES: dict[str, tuple[list[NodeProto], dict[str, Any], int]] = {
    "a plain value": ([FIRST, node("Relu", ["c"], "y")], FEW, 17),
    "one in blocks": ([FIRST, node("Relu", ["c"], "r"), node("Conv", ["r", "v"], "y", strides=[2, 1])], FEW | MANY, 17),
    "channel by channel": (
        [FIRST, node("Clip", ["c", "l", "h"], "r"), node("Conv", ["r", "d"], "y", group=20, dilations=[2, 2])],
        FEW | {"d": weights(20, 1, 3, 2), "l": np.array(-1, np.float32), "h": np.array(6, np.float32)}, 17,
    ),
    "in groups": ([node("Conv", ["x", "w"], "c"), node("Conv", ["c", "g"], "y", group=2)],
                  {"w": weights(64, 3, 1, 1), "g": weights(32, 32, 2, 2)}, 17),
    "a sum": (
        [FIRST, node("Conv", ["c", "v"], "d", pads=[1, 0, 1, 1]), node("Add", ["d", "c"], "s"),
         node("Relu", ["s"], "y")],
        FEW | MANY, 17,
    ),
    "pools and a join": (
        [FIRST, node("MaxPool", ["c"], "m", kernel_shape=[2, 2]), node("AveragePool", ["c"], "a", kernel_shape=[2, 2]),
         node("Add", ["m", "a"], "s"), node("Conv", ["s", "e"], "t"), node("Conv", ["m", "e"], "u"),
         node("Concat", ["t", "u"], "j", axis=1), node("GlobalAveragePool", ["j"], "p"), node("Flatten", ["p"], "y")],
        FEW | {"e": weights(16, 20, 1, 1)}, 17,
    ),
    **{
        f"places enlarged, {mode}, {how}": (
            [FIRST, node("Resize", ["c", "", "s"], "r", mode=mode, coordinate_transformation_mode=how,
                         nearest_mode="floor"), node("Conv", ["r", "v"], "y")],
            FEW | MANY | {"s": np.array([1, 1, 2, 3], np.float32)}, 17,
        ) for mode, how in (
            ("nearest", "asymmetric"), ("linear", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners"),
        )
    },
    "places enlarged, opset 10": (
        [FIRST, node("Resize", ["c", "s"], "r", mode="nearest"), node("Conv", ["r", "v"], "y")],
        FEW | MANY | {"s": np.array([1, 1, 2, 2], np.float32)}, 10,
    ),
    "places enlarged, opset 9": (
        [FIRST, node("Upsample", ["c", "s"], "r", mode="linear"), node("Conv", ["r", "v"], "y")],
        FEW | MANY | {"s": np.array([1, 1, 2, 2], np.float32)}, 9,
    ),
    "channels last": ([FIRST, node("Sigmoid", ["c"], "r"), node("Transpose", ["r"], "y", perm=[0, 2, 3, 1])], FEW, 17),
    "a softmax behind": (
        [FIRST, node("GlobalMaxPool", ["c"], "p"), node("Flatten", ["p"], "f"), node("Softmax", ["f"], "y")], FEW, 17,
    ),
    "an older opset": ([FIRST, node("Tanh", ["c"], "r"), node("Conv", ["r", "v"], "y")], FEW | MANY, 9),
}  # fmt: skip


def saved(folder: Path, model: ModelProto) -> ModelProto:
    session(model.SerializeToString(), "ORT_ENABLE_ALL", folder / "net.onnx")
    written = onnx.load(folder / "net.onnx")
    if all(one.domain != blocks.DOMAIN for one in written.graph.node):
        pytest.skip("onnxruntime writes no blocks on this processor")
    return written


@pytest.mark.parametrize("name", CASES)
def test_blocks_are_read_as_the_plain_model(name: str, tmp_path: Path) -> None:
    model = plain(*CASES[name])
    saved(tmp_path, model)
    network = read_network(tmp_path / "net.onnx")
    assert "lie in blocks of" in " ".join(network.notes)
    there = session(model.SerializeToString(), "ORT_DISABLE_ALL")
    for seed in range(2):
        x = weights(*SHAPE, seed=10 + seed)
        found = network.evaluate(x.reshape(1, -1).astype(float))[0]
        if network.stripped:
            found = np.exp(found) / np.exp(found).sum()
        (wanted,) = there.run(None, {"x": x})
        rounded = 2e-6 * max(5.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found, wanted.ravel(), rtol=1e-4, atol=rounded)


def read_of(model: ModelProto, name: str) -> NodeProto:
    found: NodeProto = next(one for one in model.graph.node if one.op_type == name)
    return found


def gives_blocks(model: ModelProto) -> None:
    model.graph.output[0].name = read_of(model, "Conv").output[0]


def moves_blocks(model: ModelProto) -> None:
    last = read_of(model, "ReorderOutput")
    model.graph.node.insert(len(model.graph.node) - 1, node("Transpose", [last.input[0]], "t", perm=[0, 1, 3, 2]))
    last.input[0] = "t"


def of_other_blocks(model: ModelProto) -> None:
    read_of(model, "ReorderOutput").attribute[
        [a.name for a in read_of(model, "ReorderOutput").attribute].index("channels")
    ].i = 7


def of_a_plain_value(model: ModelProto) -> None:
    read_of(model, "ReorderOutput").input[0] = "x"


def of_odd_weights(model: ModelProto) -> None:
    name = read_of(model, "Conv").input[1]
    stored = next(one for one in model.graph.initializer if one.name == name)
    stored.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(stored)[:20], name))


def upsampled(**attributes: Any) -> Callable[[ModelProto], None]:
    def change(model: ModelProto) -> None:
        first = read_of(model, "Conv")
        made = helper.make_node("Upsample", [first.output[0]], ["u"], domain=blocks.DOMAIN, **attributes)
        model.graph.node.insert(1, made)
        read_of(model, "ReorderOutput").input[0] = "u"

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (gives_blocks, "the output of the model lies in blocks"),
        (moves_blocks, "reads a value whose channels lie in blocks"),
        (of_other_blocks, "7 channels in blocks of"),
        (of_a_plain_value, "a value without blocks"),
        (of_odd_weights, "do not lie in blocks"),
        (upsampled(), "places enlarged by "),
        (upsampled(scales=[1, 2, 2, 2]), "places enlarged by "),
        (upsampled(scales=[1, 1, 2, 0]), "places enlarged by "),
        (upsampled(scales=[1, 1, 2, 2], coordinate_transformation_mode="half_pixel"), "nearest and half_pixel"),
    ],
)
def test_blocks_that_onnxruntime_does_not_write_are_refused(
    change: Callable[[ModelProto], None], words: str, tmp_path: Path
) -> None:
    model = saved(tmp_path, plain(*CASES["a plain value"]))
    change(model)
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.raises(NetworkError, match=words):
        read_network(tmp_path / "net.onnx")
