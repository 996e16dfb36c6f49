"""It is said of a file where onnxruntime often answers another level: in regions of ties, and not by chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from eqspec.networks import as_network, read_network
from eqspec.networks.agreement import OTHER_LEVELS
from eqspec.networks.curves import Curves
from unit.networks.function_cases import weights
from unit.networks.models import model, node, save


def between(name: str, behind: str, scale: str) -> list[onnx.NodeProto]:
    """A quantiser and back."""
    made = f"{behind}_levels"
    return [
        node("QuantizeLinear", [name, scale, "zero"], made),
        node("DequantizeLinear", [made, scale, "zero"], behind),
    ]


def pooled(scale: float, after: float) -> onnx.ModelProto:
    """The mean of four levels, of which every fourth lies in the middle between two where both scales are one."""
    nodes = [*between("x", "q", "s"), node("AveragePool", ["q"], "m", kernel_shape=[2, 2], strides=[2, 2])]
    nodes += [*between("m", "r", "t"), node("Reshape", ["r", "flat"], "f"), node("MatMul", ["f", "w"], "y")]
    constants: dict[str, Any] = {"s": np.float32(scale), "t": np.float32(after), "zero": np.int8(0)}
    return model(nodes, {**constants, "flat": np.array([1, 4]), "w": weights(4, 2)}, (1, 1, 4, 4))


@pytest.mark.parametrize(
    ("scale", "after", "said"),
    [(0.0072, 0.0072, True), (1 / 128, 1 / 128, False), (0.0072, 0.0081, False)],
    ids=["ties", "exact in float32", "other scales"],
)
def test_a_mean_of_levels(scale: float, after: float, said: bool, tmp_path: Path) -> None:
    proto = pooled(scale, after)
    assert (OTHER_LEVELS in read_network(save(tmp_path, proto)).notes) is said
    assert (OTHER_LEVELS in read_network(save(tmp_path, proto)).notes) is said  # it is not compared again
    assert (OTHER_LEVELS in as_network(proto).notes) is said


def test_a_smooth_network_may_be_off_by_rounding(tmp_path: Path) -> None:
    """Sin of numbers in the thousands loses digits in float32, and has no levels."""
    nodes = [node("MatMul", ["x", "w"], "h"), node("Mul", ["h", "many"], "k"), node("Sin", ["k"], "y")]
    proto = model(nodes, {"w": weights(3, 4), "many": np.array(3000, np.float32)}, (1, 3))
    assert not any(OTHER_LEVELS in note for note in read_network(save(tmp_path, proto)).notes)


def test_what_rounding_alone_explains_is_no_other_level(tmp_path: Path) -> None:
    """The same behind a gate that jumps, whose threshold no point is near to."""
    nodes = [node("MatMul", ["x", "w"], "h"), node("Mul", ["h", "many"], "k"), node("Sin", ["k"], "s")]
    nodes += [node("Sign", ["h"], "gate"), node("Mul", ["s", "gate"], "y")]
    proto = model(nodes, {"w": weights(3, 4), "many": np.array(3000, np.float32)}, (1, 3))
    network = read_network(save(tmp_path, proto))
    assert any(isinstance(s.function, Curves) and "sign" in {c.name for c in s.function.kinds} for s in network.steps)
    assert not any(OTHER_LEVELS in note for note in network.notes)
