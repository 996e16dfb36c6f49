"""Small ONNX models, and what others say they mean: onnxruntime, onnx's reference evaluator, exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

CURRENT = onnx.defs.onnx_opset_version()
OPSETS = (6, 9, 11, 13, 17, CURRENT)


def node(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> NodeProto:
    """A node with one output."""
    return helper.make_node(kind, list(inputs), [output], name=f"{kind}_{output}", **attributes)


def model(
    nodes: Sequence[NodeProto],
    constants: dict[str, NDArray[Any]],
    shape: Sequence[int | str | None],
    *,
    opset: int = 17,
    kind: int = TensorProto.FLOAT,
    listed: bool = False,
    output_shape: Sequence[int | str] | None = None,
) -> onnx.ModelProto:
    """A model from input x to output y; `listed` repeats the initialisers among the inputs."""
    initializers = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    inputs = [helper.make_tensor_value_info("x", kind, shape)]
    if listed:
        inputs += [helper.make_tensor_value_info(i.name, i.data_type, i.dims) for i in initializers]
    graph = helper.make_graph(
        nodes, "g", inputs, [helper.make_tensor_value_info("y", kind, output_shape)], initializers
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def save(folder: Path, proto: onnx.ModelProto, name: str = "m.onnx") -> str:
    """Write a model; its path."""
    (folder / name).write_bytes(proto.SerializeToString())
    return str(folder / name)


def run_onnxruntime(proto: onnx.ModelProto | str, inputs: NDArray[Any]) -> NDArray[Any]:
    """The first output of a model (or file) at one input of the declared shape."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    source = proto if isinstance(proto, str) else proto.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    result: NDArray[Any] = session.run(None, {session.get_inputs()[0].name: inputs})[0]
    return result


def run_other(proto: onnx.ModelProto, inputs: NDArray[Any]) -> NDArray[Any]:
    """onnxruntime where it knows the opset, else onnx's reference evaluator."""
    if 7 <= proto.opset_import[0].version <= 21:
        return run_onnxruntime(proto, inputs)
    outputs: Any = ReferenceEvaluator(proto).run(None, {"x": inputs})
    result: NDArray[Any] = outputs[0]
    return result


def exact_root(number: Fraction) -> Fraction:
    """The square root, exact where it is rational with a small denominator, else to about 400 bits."""
    scale = 1 << 800
    root = Fraction(isqrt(number.numerator * scale // number.denominator), 1 << 400)
    near = root.limit_denominator(1 << 60)
    return near if near * near == number else root


def fractions(array: NDArray[Any]) -> NDArray[Any]:
    """An array of exact rationals."""
    return np.array([Fraction(float(v)) for v in array.ravel()] + [None], dtype=object)[:-1].reshape(array.shape)


def run_exactly(proto: onnx.ModelProto, point: Sequence[Fraction]) -> list[Fraction]:
    """The model's output over the rationals, operator by operator, nothing folded (opset 13 forms of the operators)."""
    declared = proto.graph.input[0].type.tensor_type.shape.dim
    x = np.array([*point, None], dtype=object)[:-1].reshape([d.dim_value or 1 for d in declared])
    values: dict[str, Any] = {i.name: numpy_helper.to_array(i) for i in proto.graph.initializer}
    values = {k: fractions(v) if v.dtype.kind == "f" else v for k, v in values.items()} | {"x": x}
    for n in proto.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in n.attribute}
        values[n.output[0]] = _apply(n.op_type, [values[i] for i in n.input], attributes)
    return list(values["y"].ravel())


def _apply(kind: str, given: list[Any], attributes: dict[str, Any]) -> Any:
    match kind:
        case "MatMul":
            return np.dot(given[0], given[1])
        case "Gemm":
            a = given[0].T if attributes.get("transA") else given[0]
            b = given[1].T if attributes.get("transB") else given[1]
            alpha, beta = (Fraction(float(attributes.get(k, 1.0))) for k in ("alpha", "beta"))
            return alpha * np.dot(a, b) + (beta * given[2] if len(given) > 2 else 0)
        case "Add" | "Sub" | "Mul" | "Div":
            return {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.true_divide}[kind](*given)
        case "Relu":
            return np.maximum(given[0], np.array(Fraction(0), object))
        case "BatchNormalization":
            x, scale, bias, mean, variance = given
            epsilon = Fraction(float(np.float32(attributes.get("epsilon", 1e-5))))
            side = (-1, *(1,) * (x.ndim - 2))
            root = np.array([exact_root(v + epsilon) for v in variance], dtype=object)
            s, b, m, r = (v.reshape(side) for v in (scale, bias, mean, root))
            return s * (x - m) / r + b
        case "Transpose":
            return np.transpose(given[0], attributes.get("perm"))
        case "Reshape":
            return given[0].reshape(given[1])
        case "Flatten":
            return given[0].reshape(given[0].shape[0], -1)
        case "Identity":
            return given[0]
        case "Concat":
            return np.concatenate(given, axis=attributes["axis"])
    raise AssertionError(kind)
