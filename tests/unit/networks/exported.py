"""Files in the style of an exporter, and what onnxruntime answers of them as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.networks import Network, read_network

POINTS = 20


def value(name: str, kind: int, shape: Sequence[int | str | None] | None) -> onnx.ValueInfoProto:
    """A declared input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def several(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, NDArray[Any]],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    *,
    opset: int = 17,
    ml: int | None = None,
    others: Sequence[tuple[str, int]] = (),
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """A model of any number of inputs and outputs."""
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), stored)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(*other) for other in others)]
    if ml is not None:
        imports.append(helper.make_opsetid("ai.onnx.ml", ml))
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=8)


def answers(path: Path, output: str, points: NDArray[Any], inputs: Sequence[tuple[str, Any, tuple[int, ...]]]) -> Any:
    """What onnxruntime answers for rows of `points`, which are cut into inputs of these names, types and shapes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    sizes = np.cumsum([int(np.prod(shape)) for _, _, shape in inputs])
    found = []
    for point in points:
        parts = np.split(point, sizes)
        fed = {n: p.astype(k).reshape(s) for p, (n, k, s) in zip(parts, inputs, strict=False)}
        fed |= {i.name: np.zeros([1 if not isinstance(d, int) else d for d in i.shape], np.float32)
                for i in session.get_inputs() if i.name not in fed}  # fmt: skip
        (answer,) = session.run([output], fed)
        if isinstance(answer, list):  # a dictionary of a classifier
            answer = np.array([list(row.values()) for row in answer])
        found.append(np.asarray(answer, np.float64).reshape(-1))
    return np.array(found)


def read_and_compared(
    proto: onnx.ModelProto,
    folder: Path,
    inputs: Sequence[tuple[str, Any, tuple[int, ...]]],
    *,
    output: str | None = None,
    asked: str | None = None,
    whole: bool = False,
    exact: float = 1e-5,
) -> Network:
    """The network of a model, which gives what onnxruntime does at random points; a softmax that it left out is put on.

    `output` is chosen, `asked` what onnxruntime is asked for.
    """
    path = folder / "exported.onnx"
    path.write_bytes(proto.SerializeToString())
    network = read_network(path) if output is None else read_network(path, output=output)
    points = np.random.default_rng(0).normal(size=(POINTS, network.input_size))
    points = np.rint(points * 20) if whole else points.astype(np.float32).astype(np.float64)
    found = network.evaluate(points)
    if network.stripped is not None:
        found = np.exp(found - found.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
    wanted = answers(path, asked or output or proto.graph.output[0].name, points, inputs)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= exact * max(1.0, np.abs(wanted).max())
    return network


FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
