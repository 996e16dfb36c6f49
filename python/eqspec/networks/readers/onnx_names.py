"""Every value of an ONNX graph has one name and one maker; whatever could be read in two ways is refused.

ONNX asks for this (single static assignment), but runtimes do not agree on what a file means that breaks the rule: of
an initialiser and a node with the same name, one takes the node's value and another the initialiser's. Hence such a
file has no meaning that could be proved. All nodes count here, also those that the output does not need.

An initialiser may be listed among the inputs: up to IR version 3 all of them had to be, and a caller may override it.
What is read is its default.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from eqspec.errors import NetworkError

STANDARD = ("", "ai.onnx")
"""The names of the standard domain, which are the same."""
_OF_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms")
"""Domains whose operators runtimes have built in; onnxruntime takes its own before a function of the model."""
_FUNCTION_FIX = "inline the functions with onnx.inliner, or give them another domain"
OWN = "/eqspec "
"""In the names of values that are put in place of branches, loops and lists, and of no others."""

TREES_FIX = (
    "write the trees with tensors, which are read: hummingbird.ml.convert(model, 'torch', rows).model in Python, then "
    "torch.onnx.export(..., dynamo=False); or compare it with a tool for tree ensembles"
)
"""What helps whose model is an ensemble of trees."""
MODEL_FIX = "check that it is an ONNX model and was copied completely"
MAKER_FIX = "export the model again: every value must have one maker, and runtimes differ on which of them they use"


def check(path: str, model: ModelProto) -> None:
    """Refuse a model in which a name is no text, is missing, or stands for two things. Raises NetworkError."""
    graph = model.graph
    _check_texts(path, graph)
    _check_functions(path, model)
    _check_makers(path, graph)


def name_of(node: NodeProto) -> str:
    """The name of a node in messages: its own, else that of its first output."""
    return node.name or next(iter(node.output), "") or "?"


def _check_texts(path: str, graph: GraphProto) -> None:
    """Every name is text; protobuf hands out bytes where it is not UTF-8."""
    names: list[object] = [tensor.name for tensor in graph.initializer]
    for value in [*graph.input, *graph.output]:
        names += [value.name, *(d.dim_param for d in value.type.tensor_type.shape.dim)]
    for node in graph.node:
        names += [node.op_type, node.domain, node.name, *node.input, *node.output, *(a.name for a in node.attribute)]
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise NetworkError(path, f"the name {wrong!r} is not UTF-8", fix=MODEL_FIX)


def _check_functions(path: str, model: ModelProto) -> None:
    """A function of the model may not take the place of an operator that runtimes have built in."""
    for function in model.functions:
        if len({one.version for one in function.opset_import if one.domain in STANDARD}) > 1:
            message = f"the function {function.name!r} imports several versions of the standard operators at once"
            raise NetworkError(path, message, fix="export it again with one version of them")
        if function.domain in STANDARD:
            message = f"the model defines the standard operator {function.name} anew, as a function of its own"
            raise NetworkError(path, message, fix=_FUNCTION_FIX)
        if any(f"{function.domain}.".startswith(f"{domain}.") for domain in _OF_RUNTIMES):
            message = f"the model defines {function.domain}.{function.name} anew, as a function of its own"
            raise NetworkError(path, message, fix=_FUNCTION_FIX)


def _check_makers(path: str, graph: GraphProto) -> None:
    makers: dict[str, str] = {}
    for kind, values in (("an initialiser", graph.initializer), ("an input", graph.input), ("an output", graph.output)):
        if any(not value.name for value in values):
            raise NetworkError(path, f"the model has {kind} without a name", fix="export the model again")
    for tensor in graph.initializer:
        if tensor.name in makers:
            raise NetworkError(path, f"two initialisers have the name {tensor.name!r}", fix=MAKER_FIX)
        makers[tensor.name] = "an initialiser"
    if len({value.name for value in graph.output}) < len(graph.output):
        names = ", ".join(repr(value.name) for value in graph.output[:6])
        raise NetworkError(
            path, f"the model lists one of its {len(graph.output)} outputs twice ({names})", fix=MAKER_FIX
        )
    listed, stored = set[str](), {tensor.name: tensor for tensor in graph.initializer}
    for value in graph.input:
        if value.name in listed:
            raise NetworkError(path, f"two inputs have the name {value.name!r}", fix=MAKER_FIX)
        listed.add(value.name)
        if value.name in stored and not _fits(stored[value.name], value):
            message = f"the initialiser {value.name!r} is listed as an input of another type or shape"
            raise NetworkError(path, message, fix=MODEL_FIX)
        makers.setdefault(value.name, "the input")
    for node in graph.node:
        for name in filter(None, node.output):
            if name in makers:
                before = makers[name]
                message = f"{name!r} is computed twice" if before == "a node" else f"{name!r} is {before} as well"
                raise NetworkError(path, message, node=name_of(node), operator=node.op_type, fix=MAKER_FIX)
            makers[name] = "a node"
    _check_unclaimed(path, makers)
    for node in graph.node:
        _check_branches(path, node, ChainMap(makers))


def _fits(tensor: TensorProto, value: ValueInfoProto) -> bool:
    """Whether stored numbers are of a declared type and shape, as far as these are said."""
    declared = value.type.tensor_type
    if declared.elem_type not in (TensorProto.UNDEFINED, tensor.data_type):
        return False
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.shape.dim]
    fits = len(sizes) == len(tensor.dims) and all(a in (None, b) for a, b in zip(sizes, tensor.dims, strict=True))
    return fits or not declared.HasField("shape")


def _check_branches(path: str, node: NodeProto, outside: ChainMap[str, str]) -> None:
    """No value inside of a node, at any depth, has the name of one around it: runtimes differ on which is used."""
    for branch in (a.g for a in node.attribute if a.type == AttributeProto.GRAPH):
        own = [v.name for v in (*branch.initializer, *branch.input)] + [n for made in branch.node for n in made.output]
        _check_unclaimed(path, own)
        again = next((name for name in own if name and name in outside), None)
        if again is not None:
            message = f"{again!r} of a branch is {outside[again]} outside of it as well"
            raise NetworkError(path, message, node=name_of(node), operator=node.op_type, fix=MAKER_FIX)
        around = ChainMap(dict.fromkeys(own, "a value"), *outside.maps)  # no copy, as files hold many and deep ones
        for inner in branch.node:
            _check_branches(path, inner, around)


def _check_unclaimed(path: str, names: Iterable[str]) -> None:
    """No value is called as those that stand in place of a branch or of the round of a loop are called here."""
    wrong = next((name for name in names if OWN in name), None)
    if wrong is not None:
        message = f"a value is called {wrong!r}: eqspec calls values so that it puts in place of branches and loops"
        raise NetworkError(path, message, fix="give it another name")
