"""The nodes of a graph inside of a node, such as a branch or the body of a loop, under names of their own."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import AttributeProto, GraphProto, NodeProto, helper

from eqspec.networks.onnx_tensor import UnreadableError


def made_in(body: GraphProto) -> list[str]:
    """The names that a body makes; one that is in the list twice stands for two values."""
    return [tensor.name for tensor in body.initializer] + [n for node in body.node for n in node.output if n]


def written_out(body: GraphProto, new: Mapping[str, str], nested: UnreadableError) -> list[NodeProto]:
    """Constants and nodes of a body, with `new` names. Raises `nested` where there are graphs inside again."""
    made = [helper.make_node("Constant", [], [new[tensor.name]], value=tensor) for tensor in body.initializer]
    for inner in body.node:
        if any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in inner.attribute):
            raise nested
        copy = NodeProto()
        copy.CopyFrom(inner)
        del copy.input[:], copy.output[:]
        copy.input.extend(new.get(name, name) for name in inner.input)
        copy.output.extend(new.get(name, name) for name in inner.output)
        made.append(copy)
    return made
