"""Functions of a model, put in place of the nodes that call them, by the package onnx.

Exporters that work by functions (torch.onnx with dynamo, onnxscript, nested Keras layers) leave them in the file. A
function is its body, so a graph without it computes the same. What is not put in place, because it asks for another
version of the standard operators than the model, is refused where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx import ModelProto, NodeProto, inliner

from eqspec.errors import NetworkError
from eqspec.networks.readers import onnx_names

_MOST_NODES = 100_000
"""Of a model with its functions in place: a function that calls another one twice, and so on, doubles each time."""


def inlined(path: str, model: ModelProto) -> ModelProto:
    """The model without calls of its functions; the same model where it has none. Raises NetworkError."""
    if not model.functions:
        return model
    _check_size(path, model)
    _check_bodies(path, model)
    try:
        made = inliner.inline_local_functions(_with_defaults(path, model))
    except Exception as error:  # the inliner is written in C++ and raises what it likes
        message = f"the functions of the model cannot be put in place ({str(error).strip()[:200]})"
        raise NetworkError(path, message, fix="export the model again without functions") from error
    onnx_names.check(path, made)
    return made


def _with_defaults(path: str, model: ModelProto) -> ModelProto:
    """The model with every default of a function's attributes written into the calls, which the inliner leaves out."""
    defaults = {(f.domain, f.name): f.attribute_proto for f in model.functions if f.attribute_proto}
    if not defaults:
        return model
    whole = ModelProto()
    whole.CopyFrom(model)
    waiting = [whole.graph.node, *(function.node for function in whole.functions)]
    while waiting:
        for node in waiting.pop():
            waiting += [
                graph.node for a in node.attribute for graph in (*([a.g] if a.HasField("g") else []), *a.graphs)
            ]
            if (node.domain, node.op_type) not in defaults:
                continue
            if any(a.ref_attr_name for a in node.attribute):
                message = (
                    f"an attribute of {node.op_type} is that of a function that calls it, and may have two defaults"
                )
                raise NetworkError(path, message, fix="export the model again without functions")
            given = {a.name for a in node.attribute}
            node.attribute.extend(a for a in defaults[node.domain, node.op_type] if a.name not in given)
    return whole


def _check_bodies(path: str, model: ModelProto) -> None:
    """NetworkError where a function reads a value that is none of its own: in place it would read one of the model."""
    for function in model.functions:
        own = {*function.input, *(name for node in function.node for name in node.output), ""}
        for node in function.node:
            other = next((name for name in node.input if name not in own), None)
            if other is not None:
                message = f"the function {function.name!r} reads {other!r}, which it neither takes nor computes"
                raise NetworkError(path, message, fix="export the model again without functions")


def _check_size(path: str, model: ModelProto) -> None:
    """NetworkError where functions call each other in a circle, or too many nodes would be made."""
    bodies = {(f.domain, f.name): f for f in model.functions}
    sizes: dict[tuple[str, str], int] = {}
    under_way: set[tuple[str, str]] = set()

    def size(key: tuple[str, str]) -> int:
        if key in sizes:
            return sizes[key]
        if key in under_way or len(under_way) > 100:
            raise NetworkError(path, f"the function {key[1]!r} calls itself", fix="export the model again")
        under_way.add(key)
        sizes[key] = nodes(bodies[key].node)
        under_way.discard(key)
        return sizes[key]

    def nodes(found: Sequence[NodeProto]) -> int:
        total = 0
        for node in found:
            total += size((node.domain, node.op_type)) if (node.domain, node.op_type) in bodies else 1
            if total > _MOST_NODES:
                message = f"with its functions in place the model has more than {_MOST_NODES} nodes"
                raise NetworkError(path, message, fix="use a smaller network")
        return total

    nodes(model.graph.node)
