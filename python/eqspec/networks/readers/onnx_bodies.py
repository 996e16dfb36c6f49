"""The nodes of a graph inside of a node, such as a branch or the body of a loop, under names of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, helper, numpy_helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.readers.onnx_ends import inner_graphs

AGAIN = "export the model again, with fixed sizes"


def body_of(node: NodeProto, attribute: str = "body") -> GraphProto:
    """The graph that an attribute of a node holds. Raises UnreadableError where there is none."""
    for found in node.attribute:
        if found.name == attribute and found.type == AttributeProto.GRAPH:
            graph: GraphProto = found.g
            return graph
    raise UnreadableError(f"attribute {attribute!r} is not a graph", AGAIN)


def own_names(body: GraphProto) -> list[str]:
    """The names of the values that a body computes or stores, its inputs left out.

    Raises UnreadableError where a name stands for two values.
    """
    names = _made_in(body)
    everything = [*names, *(value.name for value in body.input)]
    if len(set(everything)) < len(everything):
        raise UnreadableError("a name in a graph inside of it stands for two values", AGAIN)
    return names


def _made_in(body: GraphProto) -> list[str]:
    return [tensor.name for tensor in body.initializer] + [n for node in body.node for n in node.output if n]


def written_out(body: GraphProto, new: Mapping[str, str]) -> list[NodeProto]:
    """Constants and nodes of a body, with `new` names, also where graphs inside of them read these.

    Raises UnreadableError where a graph inside uses a name of the body for a value of its own.
    """
    made = [helper.make_node("Constant", [], [new[tensor.name]], value=tensor) for tensor in body.initializer]
    return made + [_renamed(node, new) for node in body.node]


def _renamed(node: NodeProto, new: Mapping[str, str]) -> NodeProto:
    """A node whose inputs and outputs have `new` names, and so have those of the graphs inside of it."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.input[:], copy.output[:]
    copy.input.extend(new.get(name, name) for name in node.input)
    copy.output.extend(new.get(name, name) for name in node.output)
    for graph in inner_graphs(copy):
        own = {*_made_in(graph), *(value.name for value in graph.input)}
        again = next((name for name in own if name in new), None)
        if again is not None:
            raise UnreadableError(f"{again!r} of a branch is computed outside of it as well", AGAIN)
        for value in graph.output:
            value.name = new.get(value.name, value.name)
        inside = [_renamed(one, new) for one in graph.node]
        del graph.node[:]
        graph.node.extend(inside)
    return copy


def stacked(names: Sequence[str], output: str, number: int, opset: int, axis: int = 0) -> list[NodeProto]:
    """Values of one shape, one behind the other along a new axis. `number` tells the nodes from all others."""
    given: dict[str, Any] = {"axes": [axis]} if opset < 13 else {}
    made, parts = list[NodeProto](), [f"{output}/eqspec part {number} {i}" for i in range(len(names))]
    axes = [f"{output}/eqspec axes {number}"] if opset >= 13 else []
    if axes:
        made.append(helper.make_node("Constant", [], axes, value=numpy_helper.from_array(np.array([axis]))))
    made += [helper.make_node("Unsqueeze", [a, *axes], [b], **given) for a, b in zip(names, parts, strict=True)]
    return [*made, helper.make_node("Concat", parts, [output], axis=axis)]
