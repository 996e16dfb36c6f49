"""Tasks whose networks are files, because a certificate names files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from eqspec.networks import Network, in_float32, read_network
from eqspec.tasks.task import Task

Layers = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]


def write(path: Path, layers: Layers) -> Network:
    """A network of Gemm and Relu in double precision, written and read again."""
    nodes, constants, now = [], [], "x"
    for number, (weight, bias) in enumerate(layers):
        names = [f"w{number}", f"b{number}"]
        constants += [
            numpy_helper.from_array(np.ascontiguousarray(a), n) for a, n in zip((weight, bias), names, strict=True)
        ]
        nodes.append(helper.make_node("Gemm", [now, *names], [f"z{number}"], transB=1))
        now = f"z{number}"
        if number + 1 < len(layers):
            nodes.append(helper.make_node("Relu", [now], [f"y{number}"]))
            now = f"y{number}"
    value = helper.make_tensor_value_info
    given, got = (
        value("x", TensorProto.DOUBLE, [1, len(layers[0][0][0])]),
        value(now, TensorProto.DOUBLE, [1, len(layers[-1][1])]),
    )
    graph = helper.make_graph(nodes, "g", [given], [got], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    network: Network = read_network(path)
    return network


def in_files(task: Task, folder: Path, write: Callable[[Path, Layers], Network] = write) -> Task:
    """The same task, with its networks in files."""
    kept = in_float32 if task.arithmetic == "float32" else lambda network: network
    reference, candidate = (
        kept(write(folder / f"{role}.onnx", [(layer.weight, layer.bias) for layer in network.layers]))
        for role, network in (("reference", task.reference), ("candidate", task.candidate))
    )
    return replace(task, reference=reference, candidate=candidate)
