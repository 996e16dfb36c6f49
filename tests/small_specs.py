"""Specs on disk with tiny networks whose answers are plain: f the identity on two inputs, g = f + (0, 1/4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks.curves import Curve, Curves
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, Term, Tile

HEADER = """eqspec 1
space plane {
  features  left [m], right
  normalise zscore mean [10, 20] std [2, 4]
  outputs   a, b
}
network full   = "full.onnx"   in plane
network pruned = "pruned.onnx" in plane
region near(r) in plane = box { all within r sigma }
"""

CHECKS = """
check close {
  prove  pruned stays within eps of full
  on     near(1)
  for    eps in [0.2, 0.3]
  expect different  if eps <= 0.2
  expect equivalent if eps >= 0.3
  tags   quick
}
check same { prove pruned keeps top1 of full when margin >= 0.5  on near(1) }
"""


def write_onnx(path: Path, weight: ArrayLike, bias: ArrayLike, shape: Sequence[int | str] = ("batch", 2)) -> Path:
    """x -> W x + b as a file."""
    stored = np.asarray(weight, np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)],
        "affine",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [shape[0], len(stored)])],
        [numpy_helper.from_array(stored, "w"), numpy_helper.from_array(np.asarray(bias, np.float32), "b")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def write_spec(folder: Path, checks: str = CHECKS, name: str = "pair.eqspec", header: str = HEADER) -> Path:
    """The spec and its networks."""
    write_onnx(folder / "full.onnx", np.eye(2), [0.0, 0.0])
    write_onnx(folder / "pruned.onnx", np.eye(2), [0.0, 0.25])
    path = folder / name
    path.write_text(header + checks, encoding="utf-8")
    return path


def ending_in(function: str, path: Path) -> Network:
    """Three inputs, three outputs, each of them a value of this function."""
    first = Step((Term(INPUTS, Tile.dense(np.ones((3, 3)))),), np.zeros(3), None, Curves.all(Curve(function)))
    last = Step((Term(0, Tile.dense(np.eye(3))),), np.zeros(3), None, "identity")
    return Network((first, last), 3, str(path), path.stem)
