"""Where(condition, a, NaN) with a condition of the file alone, as JAX writes variances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto

from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.models import node, save
from unit.networks.test_linear_quantisation import Constants, build

NOWHERE = np.array(np.nan, np.float32)
SPREAD = [node("Shape", ["a"], "s"), node("Expand", ["none", "s"], "e")]
SQUARES = node("Mul", ["x", "x"], "a")
COUNTED = [node("Cast", ["freedom"], "f", to=TensorProto.FLOAT), node("Sub", ["count", "f"], "n")]
ABOVE = [*COUNTED, node("Greater", ["n", "zero"], "c")]
BELOW = [*COUNTED, node("LessOrEqual", ["n", "zero"], "c")]
STORED: Constants = {"none": NOWHERE, "count": np.float32(3), "freedom": np.int32(1), "zero": np.float32(0)}

READ = {
    "spread": [SQUARES, *ABOVE, *SPREAD, node("Where", ["c", "a", "e"], "y")],
    "one number": [SQUARES, *ABOVE, node("Where", ["c", "a", "none"], "y")],
    "first": [SQUARES, *BELOW, *SPREAD, node("Where", ["c", "e", "a"], "y")],
    "behind it": [SQUARES, *ABOVE, *SPREAD, node("Where", ["c", "a", "e"], "v"), node("Sqrt", ["v"], "y")],
    "stored condition": [SQUARES, node("Where", ["always", "a", "none"], "y")],
    "of a size": [
        SQUARES, node("Size", ["a"], "k"), node("Greater", ["k", "one"], "c"), node("Where", ["c", "a", "none"], "y"),
    ],
}  # fmt: skip
CONDITIONS: Constants = {"always": np.array([True, True, True]), "one": np.array(1)}


@pytest.mark.parametrize("name", READ)
def test_the_other_one_is_read(tmp_path: Path, name: str) -> None:
    proto = build(READ[name], {**STORED, **CONDITIONS}, [1, 3], opset=17)
    network = read_network(save(tmp_path, proto))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    given = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    expected = [session.run(None, {"x": x[None]})[0][0] for x in given]
    assert np.allclose(network.evaluate(given.astype(float)), expected, rtol=1e-6, atol=1e-6)


SOMETIMES: Constants = {
    **STORED,
    "sometimes": np.array([True, False, True]),
    "never": np.array(False),
    "count": np.float32(1),
}
REFUSED: dict[str, list[NodeProto]] = {
    "chosen": [SQUARES, *ABOVE, *SPREAD, node("Where", ["c", "a", "e"], "y")],
    "chosen where it stands first": [SQUARES, *BELOW, *SPREAD, node("Where", ["c", "e", "a"], "y")],
    "chosen for an entry": [SQUARES, node("Where", ["sometimes", "a", "none"], "y")],
    "as the input says": [SQUARES, node("Greater", ["x", "zero"], "c"), node("Where", ["c", "a", "none"], "y")],
    "read elsewhere": [
        SQUARES, *SPREAD, node("Where", ["never", "e", "a"], "w"), node("Add", ["w", "e"], "y"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_nan_that_may_be_chosen_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(NetworkError, match="not finite"):
        read_network(save(tmp_path, build(REFUSED[name], SOMETIMES, [1, 3], opset=17)))
