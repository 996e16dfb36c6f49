"""Operators of com.microsoft, which onnxruntime writes when it saves a model that it has optimised.

Each is several standard operators in one. QuickGelu is x sigmoid(a x); the others are products, convolutions and sums
with what follows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from eqspec.networks.expansion.graph_pieces import Pieces, attributes, counts
from eqspec.networks.onnx_tensor import UnreadableError

_UNFUSED = "save the model without optimisations (graph_optimization_level ORT_DISABLE_ALL)"


def fused_gemm(pieces: Pieces, node: NodeProto) -> None:
    """FusedGemm: Gemm and a function."""
    numbers = ("alpha", "beta", "transA", "transB")
    named = ("activation", "activation_alpha", "activation_beta", "activation_gamma")
    given = attributes(node, (*numbers, *named))
    counts(node, (2, 3), (1, 1))
    made = pieces.add(node, "Gemm", node.input, **{n: given[n] for n in numbers if n in given})
    parameters = {n: float(given[f"activation_{n}"]) for n in ("alpha", "beta", "gamma") if f"activation_{n}" in given}
    _function(pieces, node, made, str(given.get("activation", "")), parameters)


def fused_convolution(pieces: Pieces, node: NodeProto) -> None:
    """FusedConv: Conv, a value that is added, and a function."""
    windows = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    given = attributes(node, (*windows, "activation", "activation_params"))
    counts(node, (2, 4), (1, 1))
    inputs = [name for name in node.input[:3] if name]
    made = pieces.add(node, "Conv", inputs, **{n: given[n] for n in windows if n in given})
    if len(node.input) > 3 and node.input[3]:
        made = pieces.add(node, "Add", [made, node.input[3]])
    name = str(given.get("activation", ""))
    numbers = list(map(float, given.get("activation_params", ())))
    names = _PARAMETERS.get(name, ("low", "high"))
    if len(numbers) > len(names):
        raise UnreadableError(f"the activation {name!r} with {len(numbers)} parameters", _UNFUSED)
    _function(pieces, node, made, name, dict(zip(names, numbers, strict=False)))


def with_channels_last(pieces: Pieces, node: NodeProto) -> None:
    """NhwcFusedConv: FusedConv of values whose channels stand last; weights lie as those of Conv."""
    counts(node, (2, 4), (1, 1))
    inner, given = NodeProto(), [*node.input]
    inner.CopyFrom(node)
    for place in (0, 3):
        if place < len(given) and given[place]:
            inner.input[place] = pieces.add(node, "Transpose", [given[place]], perm=[0, 3, 1, 2])
    inner.output[0] = pieces.name(node.output[0])
    fused_convolution(pieces, inner)
    pieces.add(node, "Transpose", [inner.output[0]], node.output[0], perm=[0, 2, 3, 1])


_PARAMETERS = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Selu": ("alpha", "gamma"),
    "ThresholdedRelu": ("alpha",),
}


def _function(pieces: Pieces, node: NodeProto, value: str, name: str, parameters: dict[str, float]) -> None:
    """The function behind a product or a convolution."""
    output = node.output[0]
    if name in ("", "Identity"):
        pieces.add(node, "Identity", [value], output)
    elif name in ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign"):
        pieces.add(node, name, [value], output)
    elif name == "HardSwish" and pieces.opset >= 11:  # the operator itself is of opset 14
        low, high, three = (pieces.constant(np.array(number, np.float32), output) for number in (0, 6, 3))
        cut = pieces.add(node, "Clip", [pieces.add(node, "Add", [value, three]), low, high])
        pieces.add(node, "Div", [pieces.add(node, "Mul", [value, cut]), high], output)
    elif name in _PARAMETERS and parameters.keys() == {*_PARAMETERS[name]}:
        pieces.add(node, name, [value], output, **parameters)
    elif name == "Clip" and [*parameters] == ["low", "high"] and pieces.opset >= 11:
        ends = [pieces.constant(np.array(end, np.float32), output) for end in parameters.values()]
        pieces.add(node, "Clip", [value, *ends], output)
    else:
        given = f"the activation {name!r} with the parameters {', '.join(parameters) or 'none'}"
        raise UnreadableError(given, _UNFUSED)


def quick_gelu(pieces: Pieces, node: NodeProto) -> None:
    """QuickGelu: x sigmoid(alpha x)."""
    given = attributes(node, ("alpha",))
    counts(node, (1, 1), (1, 1))
    alpha = pieces.constant(np.array(given.get("alpha", 1.702), np.float32), node.output[0])
    inner = pieces.add(node, "Sigmoid", [pieces.add(node, "Mul", [node.input[0], alpha])])
    pieces.add(node, "Mul", [node.input[0], inner], node.output[0])


def _gelu(pieces: Pieces, node: NodeProto, approximate: str) -> None:
    attributes(node, ())
    counts(node, (1, 2), (1, 1))
    value = node.input[0]
    if len(node.input) > 1 and node.input[1]:
        value = pieces.add(node, "Add", [value, node.input[1]])
    pieces.changed = True
    made = helper.make_node("Gelu", [value], [node.output[0]], name=node.name, domain=GELU_DOMAIN)
    if approximate != "none":
        made.attribute.append(helper.make_attribute("approximate", approximate))
    pieces.nodes.append(made)


GELU_DOMAIN = "com.microsoft"
"""Of a Gelu that stands in a graph of an opset that has none."""

EXPANSIONS: dict[str, Callable[[Pieces, NodeProto], Any]] = {
    "BiasGelu": lambda pieces, node: _gelu(pieces, node, "none"),
    "FastGelu": lambda pieces, node: _gelu(pieces, node, "tanh"),
    "FusedConv": fused_convolution,
    "NhwcFusedConv": with_channels_last,
    "FusedGemm": fused_gemm,
    "Gelu": lambda pieces, node: _gelu(pieces, node, "none"),
    "QuickGelu": quick_gelu,
}
