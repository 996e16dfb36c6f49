"""Values that are read in another order than the tiles have that made them: residual sums behind transposes.

Exporters with channels last write a transpose before and behind each convolution; transformers move tokens to the front
and back. The rows of a tile then stand in another order than the entries of the value, and whatever is added to it has
to be brought into that order once. Random chains of such blocks, against onnxruntime.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from unit.networks.exported import FLOAT, read_and_compared, several, value
from unit.networks.models import node

PLACES, CHANNELS = 4, 6


def block(number: int, x: str, kind: str, constants: dict[str, Any], random: Any) -> tuple[list[onnx.NodeProto], str]:
    """Nodes from a value of this shape to another one."""
    made = f"b{number}"
    match kind:
        case "conv":
            constants[f"k{number}"] = random.normal(size=(CHANNELS, CHANNELS, 1)).astype(np.float32) / 2
            return [
                node("Transpose", [x], f"{made}t", perm=[0, 2, 1]),
                node("Conv", [f"{made}t", f"k{number}"], f"{made}c"),
                node("Transpose", [f"{made}c"], made, perm=[0, 2, 1]),
            ], made
        case "tokens first":
            constants[f"k{number}"] = random.normal(size=(CHANNELS, CHANNELS)).astype(np.float32) / 2
            return [
                node("Transpose", [x], f"{made}t", perm=[1, 0, 2]),
                node("MatMul", [f"{made}t", f"k{number}"], f"{made}c"),
                node("Transpose", [f"{made}c"], made, perm=[1, 0, 2]),
            ], made
        case "matmul":
            constants[f"k{number}"] = random.normal(size=(CHANNELS, CHANNELS)).astype(np.float32) / 2
            return [node("MatMul", [x, f"k{number}"], made)], made
        case _:
            return [node(kind, [x], made)], made


KINDS = ("conv", "tokens first", "matmul", "Relu", "Abs", "Tanh")


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", range(24))
def test_what_is_added_stands_in_the_order_of_what_it_is_added_to(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes, constants, values = list[onnx.NodeProto](), dict[str, Any](), ["x"]
    for number in range(7):
        made, last = block(number, values[-1], str(random.choice(KINDS)), constants, random)
        nodes += made
        if number and random.random() < 0.5:
            nodes.append(node("Add", [last, str(random.choice(values))], f"a{number}"))
            last = f"a{number}"
        values.append(last)
    nodes.append(node("Identity", [values[-1]], "y"))
    shape = (1, PLACES, CHANNELS)
    proto = several(nodes, constants, [value("x", FLOAT, shape)], [value("y", FLOAT, None)])
    read_and_compared(proto, tmp_path, [("x", np.float32, shape)], exact=1e-4)


@pytest.mark.parametrize("function", ["Relu", "Softplus"])
def test_a_convolution_between_transposes_is_read_twice(tmp_path: Path, function: str) -> None:
    """Once read with its rows moved twice where the second reader was a product: 1e0 beside the true values."""
    random, constants = np.random.default_rng(0), dict[str, Any]()
    first, behind = block(0, "x", "conv", constants, random)
    second, product = block(1, "r", "matmul", constants, random)
    nodes = [*first, node(function, [behind], "r"), *second, node("Add", ["r", product], "y")]
    shape = (1, PLACES, CHANNELS)
    proto = several(nodes, constants, [value("x", FLOAT, shape)], [value("y", FLOAT, None)])
    read_and_compared(proto, tmp_path, [("x", np.float32, shape)], exact=1e-5)
