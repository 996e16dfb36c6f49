"""Files that may end the process in which onnxruntime runs them are read, and not run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eqspec.networks import read_network
from eqspec.networks.session import CannotRunError, Session
from unit.networks.exported import FLOAT, several, value
from unit.networks.models import node, save


@pytest.mark.parametrize("needed", [True, False])
def test_unique_numbers_of_none_along_an_axis(needed: bool, tmp_path: Path) -> None:
    nodes = [
        node("Unique", ["none"], "u", axis=0),
        node("Cast", ["u"], "c", to=FLOAT),
        node("MatMul", ["c", "w"], "s"),
        node("Add", ["x", "s"] if needed else ["x", "x"], "y"),
    ]
    model = several(
        nodes,
        {"none": np.zeros((3, 0), np.int64), "w": np.ones((0, 2), np.float32)},
        [value("x", FLOAT, (1, 2))],
        [value("y", FLOAT, (1, 2))],
    )
    network = read_network(save(tmp_path, model))
    assert network.evaluate(np.ones((1, 2))).tolist() == [[1.0, 1.0] if needed else [2.0, 2.0]]
    with pytest.raises(CannotRunError, match="which may end the process of onnxruntime"):
        Session(network)
