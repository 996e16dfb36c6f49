"""A plan as an ONNX file, in one of the ways in which exporters write such graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from hunt.graph_plans import Block, Plan, Random

OPSETS = (8, 9, 11, 12, 13, 15, 17, 18, 21)


class _Writer:
    def __init__(self, plan: Plan, rng: Random) -> None:
        self.plan, self.rng, self.opset = (
            plan,
            rng,
            int(rng.choice([o for o in OPSETS if o > 12 or not plan.quantised])),
        )
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        made, name = np.asarray(array, dtype), f"c{len(self.tensors) + len(self.nodes)}"
        if self.chance(0.15):
            tensor = numpy_helper.from_array(made, "")
            self.nodes.append(helper.make_node("Constant", [], [name], name=f"n_{name}", value=tensor))
        else:
            self.tensors.append(numpy_helper.from_array(made, name))
        return name

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"v{len(self.tensors) + len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"n_{name}", **attributes))
        return name

    def write(self) -> onnx.ModelProto:
        values = ["x"]
        for block in self.plan.blocks:
            made = self.block(block, [values[i] for i in block.reads])
            values.append(self.node("Identity", [made]) if self.chance(0.05) else made)
        output = helper.make_tensor_value_info(values[-1], TensorProto.FLOAT, [1, *self.plan.blocks[-1].shape])
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *self.plan.shape])
        graph = helper.make_graph(self.nodes, "g", [given], [output], self.tensors)
        opsets = [helper.make_opsetid("", self.opset)]
        if any(node.domain for node in self.nodes):
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def block(self, block: Block, given: list[str]) -> str:
        x = given[0]
        match block.kind:
            case "conv":
                return self.convolution(block, x)
            case "dense":
                return self.dense(block, x)
            case "norm":
                return self.norm(block, x)
            case "add" | "subtract":
                return self.sum(block, given)
            case "concat":
                return self.node("Concat", given, axis=1)
            case "maxpool" | "meanpool":
                kind = "MaxPool" if block.kind == "maxpool" else "AveragePool"
                return self.node(kind, [x], kernel_shape=[2, 2], strides=[block.stride] * 2)
        return self.function(block, x)

    def convolution(self, block: Block, x: str) -> str:
        weight, bias, pads = block.array("weight"), block.array("bias"), [block.pad] * 4
        chosen: dict[str, Any] = {} if self.chance(0.5) else {"kernel_shape": list(weight.shape[2:])}
        if block.stride > 1 or self.chance(0.3):
            chosen["strides"] = [block.stride] * 2
        if block.pad and self.chance(0.3):
            grown = [0, 0, block.pad, block.pad, 0, 0, block.pad, block.pad]
            if self.opset >= 11:
                x = self.node("Pad", [x, self.constant(grown, np.int64)])
            else:
                x = self.node("Pad", [x], pads=grown)
        elif block.pad or self.chance(0.3):
            chosen["pads"] = pads
        if self.chance(0.3):
            made = self.node("Conv", [x, self.constant(weight)], **chosen)
            return self.node("Add", [made, self.constant(bias.reshape(1, -1, 1, 1))])
        return self.node("Conv", [x, self.constant(weight), self.constant(bias)], **chosen)

    def dense(self, block: Block, x: str) -> str:
        weight, bias = block.array("weight"), block.array("bias")
        if self.chance(0.5):
            flat = self.node("Flatten", [x])
        else:
            flat = self.node("Reshape", [x, self.constant([1, -1], np.int64)])
        if self.chance(0.4):
            return self.node("Add", [self.node("MatMul", [flat, self.constant(weight.T)]), self.constant(bias)])
        if self.chance(0.5):
            return self.node("Gemm", [flat, self.constant(weight), self.constant(bias)], transB=1)
        return self.node("Gemm", [flat, self.constant(weight.T), self.constant(bias)])

    def norm(self, block: Block, x: str) -> str:
        scale, shift = block.array("scale"), block.array("shift")
        if self.chance(0.5):  # without epsilon, and with a variance of one, nothing is rounded
            parts = [scale, shift, np.zeros(len(scale)), np.ones(len(scale))]
            return self.node("BatchNormalization", [x, *map(self.constant, parts)], epsilon=0.0)
        made = self.node("Mul", [x, self.constant(scale.reshape(-1, 1, 1))])
        return self.node("Add", [self.constant(shift.reshape(1, -1, 1, 1)), made])

    def sum(self, block: Block, given: list[str]) -> str:
        if block.kind == "subtract":
            return self.node("Sub", given)
        return self.node(str(self.rng.choice(["Add", "Sum"])), given)

    def function(self, block: Block, x: str) -> str:
        match block.kind:
            case "relu":
                if self.chance(0.7):
                    return self.node("Relu", [x])
                if self.chance(0.5):
                    return self.node("Max", [x, self.constant(np.zeros(()))])
                return self.clip(x, 0.0, None)
            case "leaky":
                alpha = float(block.array("alpha"))
                if self.chance(0.7):
                    return self.node("LeakyRelu", [x], alpha=alpha)
                return self.node("PRelu", [x, self.constant(np.full((1,) * len(block.shape), alpha))])
            case "prelu":
                return self.node("PRelu", [x, self.constant(block.array("slopes").reshape(-1, 1, 1))])
            case "clip":
                low, high = block.array("ends").tolist()
                if self.chance(0.7):
                    return self.clip(x, low, high)
                return self.node("Min", [self.node("Max", [x, self.constant(low)]), self.constant(high)])
            case "levels":
                kind = np.int8 if block.array("ends")[0] < 0 else np.uint8
                given = [self.constant(block.array("scale")), self.constant(np.zeros(()), kind)]
                return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, *given]), *given])
            case "abs":
                if self.chance(0.7):
                    return self.node("Abs", [x])
                return self.node("Max", [x, self.node("Neg", [x])])
            case "floor":
                return self.node("Max", [x, self.constant(block.array("least").reshape(1, -1, 1, 1))])
            case "hard":
                alpha, beta = block.array("line").tolist()
                return self.node("HardSigmoid", [x], alpha=alpha, beta=beta)
        return self.smooth(block.kind, x)

    def smooth(self, kind: str, x: str) -> str:
        match kind:
            case "silu":
                return self.node("Mul", [x, self.node("Sigmoid", [x])])
            case "gelu":
                # Without a constant for the root of two, which float32 does not have.
                if self.opset >= 20 and self.chance(0.8):
                    return self.node("Gelu", [x])
                return self.node("Gelu", [x], domain="com.microsoft")
            case "square":
                if self.chance(0.5):
                    return self.node("Mul", [x, x])
                return self.node("Pow", [x, self.constant(np.array(2.0))])
            case "sigmoid" if self.chance(0.2):
                grown = self.node("Exp", [self.node("Neg", [x])])
                return self.node("Div", [self.constant(1.0), self.node("Add", [grown, self.constant(1.0)])])
        return self.node({"elu": "Elu"}.get(kind, kind.capitalize()), [x])

    def clip(self, x: str, low: float | None, high: float | None) -> str:
        ends = {name: end for name, end in (("min", low), ("max", high)) if end is not None}
        if self.opset < 11:
            return self.node("Clip", [x], **ends)
        names = ["" if end is None else self.constant(end) for end in (low, high)]
        return self.node("Clip", [x, *names] if names[1] else [x, names[0]])


def write_graph(path: Path, plan: Plan, rng: Random) -> onnx.ModelProto:
    """Write a plan to a file, in a random style."""
    model = _Writer(plan, rng).write()
    path.write_bytes(model.SerializeToString())
    return model


def by_onnxruntime(path: Path, points: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """What onnxruntime makes of a file, without its optimiser."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(session.run(None, {"x": x.astype(np.float32)})[0]) for x in points]
