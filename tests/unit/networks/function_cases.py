"""Graphs of functions of one variable, of what reduces to them, and of subgraphs that are one function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto

from unit.networks.models import CURRENT, node

Constants = dict[str, NDArray[Any]]
Case = tuple[list[NodeProto], Constants, tuple[int, ...], int]


def numbers(*values: float) -> NDArray[np.float32]:
    """float32 constants; one of them is a scalar."""
    return np.array(values if len(values) > 1 else values[0], np.float32)


def weights(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Random weights."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _operators() -> dict[str, Case]:
    found: dict[str, Case] = {}
    plain = {
        "Atan": 7, "Ceil": 6, "Cos": 7, "Elu": 6, "Erf": 9, "Exp": 6, "Floor": 6, "Gelu": 20, "HardSwish": 14, "Log": 6,
        "Mish": 18, "Reciprocal": 6, "Selu": 6, "Sigmoid": 6, "Sign": 9, "Sin": 7, "Softplus": 1, "Softsign": 1,
        "Sqrt": 6, "Tanh": 6, "ThresholdedRelu": 10, "Celu": 12, "Swish": 24,
    }  # fmt: skip
    for kind, since in plain.items():
        for opset in sorted({max(since, 7), 13, 17, CURRENT}):
            if since <= opset <= CURRENT:
                found[f"{kind} {opset}"] = [node(kind, ["x"], "y")], {}, (1, 3, 2), opset
    attributes: dict[str, tuple[str, dict[str, Any], int]] = {
        "Elu steep": ("Elu", {"alpha": 2.5}, 17),
        "Celu soft": ("Celu", {"alpha": 0.5}, 17),
        "Selu other": ("Selu", {"alpha": 1.25, "gamma": 0.75}, 17),
        "ThresholdedRelu low": ("ThresholdedRelu", {"alpha": -0.5}, 17),
        "Gelu tanh": ("Gelu", {"approximate": "tanh"}, 20),
        "Swish steep": ("Swish", {"alpha": 1.7}, 24),
    }
    for name, (kind, given, opset) in attributes.items():
        if opset <= CURRENT:
            found[name] = [node(kind, ["x"], "y", **given)], {}, (1, 4), opset
    for power in (1.0, 2.0, 3.0, 0.5, -1.0, -2.0, 1.5):
        found[f"Pow {power}"] = [node("Pow", ["x", "p"], "y")], {"p": numbers(power)}, (1, 4), 17
    found["Pow each"] = [node("Pow", ["x", "p"], "y")], {"p": numbers(2, 3, 1, 0)}, (1, 4), 17
    found["Pow of a constant"] = [node("Pow", ["c", "x"], "y")], {"c": numbers(0.5, 1, 2, 3)}, (1, 4), 17
    found["Pow whole"] = [node("Pow", ["x", "p"], "y")], {"p": np.array(2, np.int64)}, (1, 4), 17
    return found


def _reduced() -> dict[str, Case]:
    w = weights
    found: dict[str, Case] = {
        "product": ([node("Sin", ["x"], "s"), node("Mul", ["x", "s"], "y")], {}, (1, 4), 17),
        "square": ([node("Mul", ["x", "x"], "y")], {}, (1, 4), 17),
        "quotient": ([node("Exp", ["x"], "e"), node("Div", ["x", "e"], "y")], {}, (1, 4), 17),
        "over a value": ([node("Exp", ["x"], "e"), node("Div", ["c", "e"], "y")], {"c": w(4)}, (1, 4), 17),
        "product of shapes": (
            [node("MatMul", ["x", "w"], "a"), node("Mul", ["x", "a"], "y")], {"w": w(2, 1)}, (1, 3, 2), 17,
        ),
        "layer norm": (
            [node("Gemm", ["x", "w", "b"], "h"), node("LayerNormalization", ["h", "g", "c"], "y")],
            {"w": w(4, 6), "b": w(6, seed=1), "g": w(6, seed=2), "c": w(6, seed=3)}, (1, 4), 17,
        ),
        "layer norm axis": (
            [node("LayerNormalization", ["x", "g"], "y", axis=1, epsilon=0.01)], {"g": w(2, 3)}, (1, 2, 3), 17,
        ),
        "layer norm in pieces": (
            [
                node("ReduceMean", ["x"], "m", axes=[-1]), node("Sub", ["x", "m"], "d"), node("Pow", ["d", "t"], "q"),
                node("ReduceMean", ["q"], "v", axes=[-1]), node("Add", ["v", "e"], "a"), node("Sqrt", ["a"], "s"),
                node("Div", ["d", "s"], "z"), node("Mul", ["z", "g"], "y"),
            ],
            {"t": numbers(2), "e": numbers(1e-5), "g": w(4)}, (1, 4), 17,
        ),
        "group norm": (
            [node("GroupNormalization", ["x", "g", "c"], "y", num_groups=2)],
            {"g": w(4), "c": w(4, seed=1)}, (1, 4, 3), 21,
        ),
        "instance norm": (
            [node("InstanceNormalization", ["x", "g", "c"], "y")], {"g": w(3), "c": w(3, seed=1)}, (1, 3, 4), 17,
        ),
        "rms norm": ([node("RMSNormalization", ["x", "g"], "y")], {"g": w(4)}, (1, 4), 23),
        "l2 norm": ([node("LpNormalization", ["x"], "y", p=2, axis=1)], {}, (1, 4), 17),
        "l1 norm": ([node("LpNormalization", ["x"], "y", p=1, axis=1)], {}, (1, 4), 17),
        "sum of squares": ([node("ReduceSumSquare", ["x"], "y", axes=[1])], {}, (1, 4, 2), 17),
        "root of squares": ([node("ReduceL2", ["x"], "y", axes=[1], keepdims=0)], {}, (1, 4, 2), 17),
        "root of squares that are nothing but rounding": (
            [node("Div", ["o", "t"], "a"), node("Mul", ["a", "t"], "b"), node("Sub", ["b", "o"], "c"),
             node("ReduceL2", ["c"], "d", axes=[0]), node("Add", ["x", "d"], "y")],
            {"o": numbers(1, 1), "t": numbers(3, 7)}, (1, 3), 17,
        ),
        "sum of sizes": ([node("ReduceL1", ["x", "a"], "y")], {"a": np.array([1])}, (1, 4, 2), 18),
        "softmax inside": ([node("Softmax", ["x"], "s"), node("Mul", ["s", "g"], "y")], {"g": w(4)}, (1, 4), 17),
        "softmax of two": ([node("Softmax", ["x"], "s"), node("Mul", ["s", "g"], "y")], {"g": w(2)}, (1, 2), 17),
        "softmax of rows": ([node("Softmax", ["x"], "y", axis=1)], {}, (1, 3, 2), 17),
        "softmax of old": ([node("Softmax", ["x"], "s", axis=1), node("Neg", ["s"], "y")], {}, (1, 3, 2), 11),
        "log softmax inside": ([node("LogSoftmax", ["x"], "s"), node("Mul", ["s", "g"], "y")], {"g": w(3)}, (1, 3), 17),
        "attention": (
            [
                node("MatMul", ["x", "q"], "a"), node("MatMul", ["x", "k"], "b"), node("MatMul", ["x", "v"], "c"),
                node("Transpose", ["b"], "t", perm=[0, 2, 1]), node("MatMul", ["a", "t"], "s"),
                node("Softmax", ["s"], "p"), node("MatMul", ["p", "c"], "y"),
            ],
            {"q": w(4, 3), "k": w(4, 3, seed=1), "v": w(4, 2, seed=2)}, (1, 3, 4), 17,
        ),
    }  # fmt: skip
    return found


OPERATOR_CASES = _operators()
REDUCED_CASES = _reduced()


def _recognised() -> dict[str, tuple[str, Case]]:
    one, half, three, six = numbers(1), numbers(0.5), numbers(3), numbers(6)
    root = np.sqrt(np.float64(2))
    found: dict[str, tuple[str, list[NodeProto], Constants]] = {
        "silu": ("silu", [node("Sigmoid", ["x"], "s"), node("Mul", ["x", "s"], "y")], {}),
        "silu by exp": ("silu", [
            node("Neg", ["x"], "a"), node("Exp", ["a"], "e"), node("Add", ["e", "o"], "b"),
            node("Div", ["x", "b"], "y"),
        ], {"o": one}),
        "quick gelu": ("silu", [
            node("Mul", ["x", "k"], "a"), node("Sigmoid", ["a"], "s"), node("Mul", ["x", "s"], "y"),
        ], {"k": numbers(1.702)}),
        "silu of channels": ("silu", [
            node("Mul", ["x", "k"], "a"), node("Sigmoid", ["a"], "s"), node("Mul", ["x", "s"], "y"),
        ], {"k": numbers(1.702, 1, 0.5)}),
        "sigmoid": ("sigmoid", [
            node("Neg", ["x"], "a"), node("Exp", ["a"], "e"), node("Add", ["o", "e"], "b"),
            node("Div", ["o", "b"], "y"),
        ], {"o": one}),
        "sigmoid by reciprocal": ("sigmoid", [
            node("Neg", ["x"], "a"), node("Exp", ["a"], "e"), node("Add", ["e", "o"], "b"),
            node("Reciprocal", ["b"], "y"),
        ], {"o": one}),
        "sigmoid by quotient": ("sigmoid", [
            node("Exp", ["x"], "e"), node("Add", ["e", "o"], "b"), node("Div", ["e", "b"], "y"),
        ], {"o": one}),
        "softplus": ("softplus", [
            node("Exp", ["x"], "e"), node("Add", ["e", "o"], "b"), node("Log", ["b"], "y"),
        ], {"o": one}),
        "mish": ("mish", [node("Softplus", ["x"], "e"), node("Tanh", ["e"], "b"), node("Mul", ["x", "b"], "y")], {}),
        "mish by exp": ("mish", [
            node("Exp", ["x"], "e"), node("Add", ["e", "o"], "l"), node("Log", ["l"], "p"), node("Tanh", ["p"], "b"),
            node("Mul", ["b", "x"], "y"),
        ], {"o": one}),
        "gelu by quotient": ("gelu", [
            node("Div", ["x", "r"], "a"), node("Erf", ["a"], "e"), node("Add", ["e", "o"], "b"),
            node("Mul", ["x", "b"], "c"), node("Mul", ["c", "h"], "y"),
        ], {"r": numbers(root), "o": one, "h": half}),
        "gelu by product": ("gelu", [
            node("Mul", ["x", "r"], "a"), node("Erf", ["a"], "e"), node("Add", ["o", "e"], "b"),
            node("Mul", ["h", "x"], "c"), node("Mul", ["c", "b"], "y"),
        ], {"r": numbers(1 / root), "o": one, "h": half}),
        "gelu by erfc": ("gelu", [
            node("Neg", ["x"], "n"), node("Mul", ["n", "r"], "a"), node("Erf", ["a"], "e"),
            node("Sub", ["o", "e"], "b"), node("Mul", ["h", "x"], "c"), node("Mul", ["c", "b"], "y"),
        ], {"r": numbers(1 / root), "o": one, "h": half}),
        "gelu turned": ("gelu", [
            node("Erf", ["x"], "e"), node("Sub", ["o", "e"], "b"), node("Mul", ["x", "b"], "y"),
        ], {"o": one}),
        "gelu by root": ("gelu", [
            node("Sqrt", ["t"], "r"), node("Div", ["x", "r"], "a"), node("Erf", ["a"], "e"),
            node("Add", ["o", "e"], "b"),
            node("Mul", ["b", "h"], "c"), node("Mul", ["x", "c"], "y"),
        ], {"t": numbers(2), "o": one, "h": half}),
        "hardswish": ("hardswish(1, 0.5)", [
            node("Add", ["x", "t"], "a"), node("Clip", ["a", "z", "s"], "b"), node("Mul", ["x", "b"], "c"),
            node("Div", ["c", "s"], "y"),
        ], {"t": three, "z": numbers(0), "s": six}),
        "hardswish by relu": ("hardswish(1, 0.5)", [
            node("Add", ["x", "t"], "a"), node("Relu", ["a"], "r"), node("Min", ["r", "s"], "b"),
            node("Div", ["b", "s"], "c"), node("Mul", ["x", "c"], "y"),
        ], {"t": three, "s": six}),
        "hardswish by gate": ("hardswish(0.166667, 0.5)", [
            node("HardSigmoid", ["x"], "a", alpha=1 / 6), node("Mul", ["x", "a"], "y"),
        ], {}),
        "softsign": ("softsign", [
            node("Abs", ["x"], "a"), node("Add", ["a", "o"], "b"), node("Div", ["x", "b"], "y"),
        ], {"o": one}),
        "leaky": ("leaky(0.25)", [
            node("Mul", ["x", "a"], "b"), node("Max", ["x", "b"], "y"),
        ], {"a": numbers(0.25)}),
        "relu6": ("clip(0, 6)", [node("Relu", ["x"], "p"), node("Min", ["p", "s"], "y")], {"s": six}),
        "slopes of two relus": ("leaky(0.25), leaky(0.5), leaky(0.125)", [
            node("Relu", ["x"], "p"), node("Neg", ["x"], "m"), node("Relu", ["m"], "q"), node("Mul", ["q", "a"], "r"),
            node("Add", ["p", "r"], "y"),
        ], {"a": numbers(-0.25, -0.5, -0.125)}),
        "cube": ("power(3)", [node("Mul", ["x", "x"], "q"), node("Mul", ["q", "x"], "y")], {}),
    }  # fmt: skip
    for name, cube in (
        ("power", [node("Pow", ["x", "n"], "c")]),
        ("product", [node("Mul", ["x", "x"], "q"), node("Mul", ["q", "x"], "c")]),
    ):
        found[f"gelu by tanh and {name}"] = "gelu_tanh", [
            *cube, node("Mul", ["c", "k"], "d"), node("Add", ["x", "d"], "e"), node("Mul", ["e", "s"], "t"),
            node("Tanh", ["t"], "u"), node("Add", ["u", "o"], "v"), node("Mul", ["x", "h"], "w"),
            node("Mul", ["w", "v"], "y"),
        ], {
            "n": three, "k": numbers(0.044715), "s": numbers(np.sqrt(2 / np.pi)), "o": one, "h": half,
        }  # fmt: skip
    return {name: (curve, (nodes, constants, (1, 3), 17)) for name, (curve, nodes, constants) in found.items()}


RECOGNISED_CASES = _recognised()
