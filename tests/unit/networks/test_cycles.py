"""Nodes that read what depends on them: refused by both readers, and by nothing that walks along a graph before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from conformance.judging import audited
from eqspec.audit import Refused
from eqspec.errors import NetworkError
from eqspec.networks import read_network
from unit.networks.exported import FLOAT, several, value
from unit.networks.models import node, save

SHAPE = {"s": np.array([1, 2], np.int64)}
ONE = {"one": np.ones((), np.float32)}
KEPT = {
    "Identity": (node("Identity", ["{}"], "{}"), {}),
    "Cast": (node("Cast", ["{}"], "{}", to=FLOAT), {}),
    "Reshape": (node("Reshape", ["{}", "s"], "{}"), SHAPE),
    "Transpose": (node("Transpose", ["{}"], "{}"), {}),
    "Relu": (node("Relu", ["{}"], "{}"), {}),
    "Add": (node("Add", ["{}", "one"], "{}"), ONE),
    "Softmax": (node("Softmax", ["{}"], "{}"), {}),
}
BEHIND = {
    "alone": [],
    "a Concat": [node("Sigmoid", ["y"], "p"), node("Sub", ["one", "p"], "q"), node("Concat", ["q", "p"], "z", axis=1)],
    "a product": [
    onnx.helper.make_node("DynamicQuantizeLinear", ["y"], ["q", "scale", "zero"]),
        node("MatMulInteger", ["q", "w", "zero"], "i"),
        node("Cast", ["i"], "z", to=FLOAT),
    ],
    "a Softmax": [node("Exp", ["y"], "e"), node("ReduceSum", ["e"], "t"), node("Div", ["e", "t"], "z")],
}  # fmt: skip


def between(kind: str, read: str, made: str) -> onnx.NodeProto:
    found = onnx.NodeProto()
    found.CopyFrom(KEPT[kind][0])
    found.input[0], found.output[0], found.name = read, made, f"to {made}"
    return found


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("kind", KEPT)
def test_what_depends_on_itself_is_refused_at_once(kind: str, length: int, behind: str, tmp_path: Path) -> None:
    names = ["y", "v"][:length]
    nodes = [between(kind, names[(place + 1) % length], name) for place, name in enumerate(names)]
    nodes += [node("Add", ["x", "x"], "unread"), *BEHIND[behind]]
    constants: dict[str, Any] = {**SHAPE, **ONE, "w": np.ones((2, 2), np.uint8)}
    model = several(nodes, constants, [value("x", FLOAT, (1, 2))], [value("z" if BEHIND[behind] else "y", FLOAT, None)])
    with pytest.raises(NetworkError, match="which depends on it"):
        read_network(save(tmp_path, model))
    with pytest.raises(Refused):
        audited(model.SerializeToString(), 2, 2).steps()
