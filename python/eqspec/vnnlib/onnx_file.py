"""Exact layers as an ONNX file: Gemm and Relu in one chain, which every tool reads.

The numbers are stored as float32 where all of them are float32, else as float64, so nothing is rounded. Layers
that are known up to an error cannot be given: the type has no place for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks import ExactLayer

Array = NDArray[np.float64]
OPSET, IR_VERSION = 13, 8


def write_layers(
    layers: Sequence[ExactLayer], path: Path, comment: str, rows: Array | None = None, shift: Array | None = None
) -> int:
    """Write layers over an input X of shape [1, I] with an output Y of shape [1, O].

    With `rows` (O, outputs of the last layer), rows y + shift (O,) stands behind them; without `shift` that is 0.

    Returns O. OSError where the file cannot be written.
    """
    chain = [(layer.weight, layer.bias) for layer in layers]
    if rows is not None:
        chain.append((rows, np.zeros(len(rows)) if shift is None else shift))
    kind = np.float32 if all(_is_short(a) for pair in chain for a in pair) else np.float64
    element = TensorProto.FLOAT if kind is np.float32 else TensorProto.DOUBLE
    nodes, stored, value = [], [], "X"
    for number, (weight, bias) in enumerate(chain):
        names = (f"W_{number}", f"b_{number}")
        stored += [numpy_helper.from_array(a.astype(kind), n) for a, n in zip((weight, bias), names, strict=True)]
        result = "Y" if number == len(chain) - 1 else f"sum_{number}"
        nodes.append(helper.make_node("Gemm", [value, *names], [result], f"gemm_{number}", transB=1))
        value = result
        if number < len(layers) - 1:
            value = f"relu_{number}"
            nodes.append(helper.make_node("Relu", [result], [value], value))
    sizes = (chain[0][0].shape[1], chain[-1][0].shape[0])
    tensors = [helper.make_tensor_value_info(n, element, [1, s]) for n, s in zip("XY", sizes, strict=True)]
    graph = helper.make_graph(nodes, "eqspec", tensors[:1], tensors[1:], stored, comment)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    path.write_bytes(model.SerializeToString())
    return int(sizes[1])


def _is_short(numbers: Array) -> bool:
    with np.errstate(over="ignore"):
        return bool((numbers.astype(np.float32).astype(np.float64) == numbers).all())
