"""Functions of a model, put in place of the nodes that call them, by the package onnx.

Exporters that work by functions (torch.onnx with dynamo, onnxscript, nested Keras layers) leave them in the file. A
function is its body, so a graph without it computes the same. One that asks for another version of the standard
operators than the model is put in place where both versions define its operators alike, and refused elsewhere.

A function is known by its domain, its name and its overload; two may share the first two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from onnx import FunctionProto, ModelProto, NodeProto, inliner

from eqspec.errors import NetworkError, UnsupportedOperatorError
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.readers import onnx_names
from eqspec.networks.readers.onnx_definition import definition
from eqspec.networks.readers.onnx_ends import all_nodes, inner_graphs, names_read
from eqspec.networks.readers.onnx_names import STANDARD, name_of

_MOST_NODES = 100_000
"""Of a model with its functions in place: a function that calls another one twice, and so on, doubles each time."""


WITHOUT = "export the model again without functions"

Key: TypeAlias = tuple[str, str, str]


def inlined(path: str, model: ModelProto, opset: int) -> ModelProto:
    """The model without calls of its functions; the same model where it has none. Raises NetworkError."""
    if not model.functions:
        return model
    _check_size(path, model)
    _check_bodies(path, model)
    _check_calls(path, model)
    try:
        made = inliner.inline_local_functions(_with_defaults(path, _of_one_opset(model, opset)))
    except NetworkError:
        raise
    except Exception as error:  # the inliner is written in C++ and raises what it likes
        message = f"the functions of the model cannot be put in place ({str(error).strip()[:200]})"
        raise NetworkError(path, message, fix=WITHOUT) from error
    onnx_names.check(path, made)
    _check_none_left(path, model, made)
    return made


def _key(of: FunctionProto | NodeProto) -> Key:
    """What a function is called, or what a node calls."""
    return of.domain, of.name if isinstance(of, FunctionProto) else of.op_type, of.overload


def _of_one_opset(model: ModelProto, opset: int) -> ModelProto:
    """The model whose functions ask for its own opset, where that defines all that they use as theirs does."""
    whole = ModelProto()
    whole.CopyFrom(model)
    for function in whole.functions:
        imported = [one for one in function.opset_import if not one.domain]
        standard = {node.op_type for node in all_nodes(function.node) if node.domain in STANDARD}
        if len(imported) == 1 and all(_alike(operator, imported[0].version, opset) for operator in standard):
            imported[0].version = opset
    return whole


def _alike(operator: str, one: int, other: int) -> bool:
    """Whether two opsets have one definition of an operator."""
    try:
        found = [definition(operator, version) for version in (one, other)]
    except UnreadableError:
        return False
    return None not in found and len({each.since for each in found if each is not None}) == 1


def _with_defaults(path: str, model: ModelProto) -> ModelProto:
    """The model with every default of a function's attributes written into the calls, which the inliner leaves out."""
    defaults = {_key(f): f.attribute_proto for f in model.functions if f.attribute_proto}
    if not defaults:
        return model
    whole = ModelProto()
    whole.CopyFrom(model)
    for nodes in (whole.graph.node, *(function.node for function in whole.functions)):
        for node in all_nodes(nodes):
            if _key(node) not in defaults:
                continue
            if any(a.ref_attr_name for a in node.attribute):
                message = (
                    f"an attribute of {node.op_type} is that of a function that calls it, and may have two defaults"
                )
                raise NetworkError(path, message, fix=WITHOUT)
            given = {a.name for a in node.attribute}
            node.attribute.extend(a for a in defaults[_key(node)] if a.name not in given)
    return whole


def _check_calls(path: str, model: ModelProto) -> None:
    """NetworkError where a call gives an attribute twice, of which one would be taken, or its domain is not there."""
    functions = {_key(function) for function in model.functions}
    imported = {opset.domain for opset in model.opset_import}
    for node in all_nodes(model.graph.node):
        if _key(node) in functions and node.domain not in imported:
            message = f"it calls a function of {node.domain!r}, a domain that it does not import"
            at = {"node": name_of(node), "operator": node.op_type}
            raise NetworkError(path, message, fix="export the model again", **at)
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        for node in all_nodes(nodes):
            names = [a.name for a in node.attribute]
            if _key(node) in functions and len(set(names)) < len(names):
                at = {"node": name_of(node), "operator": node.op_type}
                raise NetworkError(path, "an attribute is given twice", fix="export the model again", **at)


def _check_none_left(path: str, model: ModelProto, made: ModelProto) -> None:
    """UnsupportedOperatorError where a function is still called: it is not the operator of that name."""
    functions = {_key(function) for function in model.functions}
    for node in all_nodes(made.graph.node):
        if _key(node) in functions:
            message = (
                f"operator {node.domain}.{node.op_type} is not supported: it is a function of the model for another"
            )
            message += " version of the standard operators, which defines what it uses otherwise"
            at = {"node": name_of(node), "operator": node.op_type}
            raise UnsupportedOperatorError(path, message, fix=WITHOUT, **at)


def _check_bodies(path: str, model: ModelProto) -> None:
    """NetworkError where a function reads a value that is none of its own: in place it would read one of the model."""
    for function in model.functions:
        own = {*function.input, *(name for node in all_nodes(function.node) for name in node.output), ""}
        for graph in (graph for node in all_nodes(function.node) for graph in inner_graphs(node)):
            own.update(one.name for one in (*graph.input, *graph.initializer))
        for node in function.node:
            other = next((name for name in names_read(node) if name not in own), None)
            if other is not None:
                message = f"the function {function.name!r} reads {other!r}, which it neither takes nor computes"
                raise NetworkError(path, message, fix=WITHOUT)


def _check_size(path: str, model: ModelProto) -> None:
    """NetworkError where functions call each other in a circle, or too many nodes would be made."""
    bodies = {_key(f): f for f in model.functions}
    sizes: dict[Key, int] = {}
    under_way: set[Key] = set()

    def size(key: Key) -> int:
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
        for node in all_nodes(found):
            total += size(_key(node)) if _key(node) in bodies else 1
            if total > _MOST_NODES:
                message = f"with its functions in place the model has more than {_MOST_NODES} nodes"
                raise NetworkError(path, message, fix="use a smaller network")
        return total

    nodes(model.graph.node)
