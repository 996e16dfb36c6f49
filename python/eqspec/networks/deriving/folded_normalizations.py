"""BatchNormalization taken into the layer in front of it, as deployments do before they quantise.

    factor (W x + b - mean) + beta = (factor W) x + (factor (b - mean) + beta),  factor = gamma / sqrt(var + epsilon)

along the outputs of a Conv, Gemm or MatMul (with the Add of its bias) that nothing else reads. Where there is none in
front, or its outputs lie along another axis than the channels, it becomes a Mul and an Add. The new constants are
float64 numbers that are quantised next, so what is rounded here is part of no statement. They have names of their own:
a file may call the weights of a later layer so, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper

from eqspec.networks.deriving.float_graph import FloatGraph
from eqspec.networks.deriving.layers import LAYERS, attribute, output_axis, weight_place


def fold(graph: FloatGraph) -> None:
    """Fold every BatchNormalization whose parameters are constants."""
    for node in [node for node in graph.nodes if node.op_type == "BatchNormalization"]:
        links = graph.links()
        if not all(name in graph.constants for name in node.input[1:]) or attribute(node, "training_mode", 0):
            continue
        last = links.makers.get(node.input[0])
        if last is None or links.only_follower(last) is not node:
            _write_out(graph, node)
            continue
        layer = links.layer_of_bias(last) or last
        known = all(name in graph.constants for name in layer.input[1:] if name)
        if layer.op_type in LAYERS and known and _gives_channels(graph, layer):
            _fold(graph, node, layer, last)
        else:
            _write_out(graph, node)


def _gives_channels(graph: FloatGraph, layer: NodeProto) -> bool:
    """Whether the outputs of a layer lie along its axis 1, where a normalisation has its channels.

    Those of a MatMul lie along the last axis, which is axis 1 of a matrix alone: of sequences, it is another one.
    """
    if layer.op_type != "MatMul":
        return True
    return weight_place(layer, graph.constants) == 1 and len(graph.shapes().get(layer.output[0], [])) == 2


def _factor(graph: FloatGraph, node: NodeProto) -> NDArray[np.float64]:
    gamma, _, _, variance = (graph.constants[name] for name in node.input[1:])
    found: NDArray[np.float64] = gamma / np.sqrt(variance + float(attribute(node, "epsilon", 1e-5)))
    return found


def _write_out(graph: FloatGraph, node: NodeProto) -> None:
    """A Mul and an Add in place of a normalisation; the axes behind the channels are those of its input."""
    _, beta, mean, _ = (graph.constants[name] for name in node.input[1:])
    factor, behind = _factor(graph, node), node.output[0]
    axes = graph.shapes().get(node.input[0], [])
    if len(axes) < 2 or axes[1] != factor.size:
        message = f"its {factor.size} parameters do not fit the channels of {node.input[0]!r}, or these are not known"
        raise graph.refuse(message, "export the model with fixed sizes", node)
    shape = (-1, *[1] * (len(axes) - 2))
    scale, shift, scaled = (graph.unused(f"{behind}_{part}") for part in ("factor", "shift", "scaled"))
    graph.constants[scale] = factor.reshape(shape)
    graph.constants[shift] = (beta - factor * mean).reshape(shape)
    place = graph.nodes.index(node)
    graph.nodes[place : place + 1] = [
        helper.make_node("Mul", [node.input[0], scale], [scaled], name=f"{behind}_mul"),
        helper.make_node("Add", [scaled, shift], [behind], name=f"{behind}_add"),
    ]


def _fold(graph: FloatGraph, normalization: NodeProto, layer: NodeProto, last: NodeProto) -> None:
    _, beta, mean, _ = (graph.constants[name] for name in normalization.input[1:])
    factor = _factor(graph, normalization)
    weight = graph.constants[layer.input[1]]
    axis = output_axis(layer, graph.constants)
    shape = [1] * weight.ndim
    shape[axis] = -1
    place = graph.nodes.index(normalization)
    behind = normalization.output[0]
    bias = _bias(graph, layer, last, len(factor))
    made = [graph.unused(f"{behind}_weight"), graph.unused(f"{behind}_bias")]
    graph.constants[made[0]] = weight * factor.reshape(shape)
    graph.constants[made[1]] = factor * (bias - mean) + beta
    layer.input[1] = made[0]
    if layer.op_type == "MatMul":
        if last is not layer:
            last.input[1], last.output[0] = made[1], behind
            del graph.nodes[place]
        else:
            graph.nodes[place] = helper.make_node("Add", [layer.output[0], made[1]], [behind], name=f"{behind}_add")
        return
    del layer.input[2:]
    layer.input.append(made[1])
    layer.output[0] = behind
    others = [one for one in layer.attribute if one.name != "beta"]  # which is a factor of the bias already
    del layer.attribute[:]
    layer.attribute.extend(others)
    del graph.nodes[place]


def _bias(graph: FloatGraph, layer: NodeProto, last: NodeProto, outputs: int) -> NDArray[np.float64]:
    if last is not layer:
        return np.broadcast_to(graph.constants[last.input[1]].reshape(-1), (outputs,))
    if len(layer.input) > 2 and layer.input[2]:
        beta = float(attribute(layer, "beta", 1.0)) if layer.op_type == "Gemm" else 1.0
        return np.broadcast_to(beta * graph.constants[layer.input[2]].reshape(-1), (outputs,))
    return np.zeros(outputs)
