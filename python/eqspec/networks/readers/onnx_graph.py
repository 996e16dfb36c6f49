"""An ONNX file as a checked graph: its one input, its one output, the nodes between them, the constants.

Nothing is evaluated here. Whatever the bytes hold, the answer is a Graph or a NetworkError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import NodeProto, TensorProto, ValueInfoProto

from eqspec.errors import NetworkError
from eqspec.networks.matrices import MAX_VALUE
from eqspec.networks.onnx_tensor import FLOATS, ExternalData, UnreadableError
from eqspec.networks.readers import onnx_definition, onnx_names
from eqspec.networks.readers.onnx_names import MODEL_FIX, STANDARD, name_of

OLDEST_OPSET = 6
MAX_NODES = 5_000
"""Of a graph: each takes a part of a millisecond, and deep networks have a few hundred."""
REVIEWED_IR = 14
"""The newest version of the file format that was looked through for parts with a meaning of their own."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A model's graph, reduced to what its one output needs. Sizes of the input that are not fixed are names."""

    path: str
    opset: int
    nodes: Sequence[NodeProto]
    initializers: dict[str, TensorProto]
    external: ExternalData
    input_name: str
    input_shape: tuple[int | str, ...]
    output_name: str
    output_shape: tuple[int | str, ...]
    input_type: int = TensorProto.FLOAT
    functions: frozenset[tuple[str, str]] = frozenset()


def load(path: str, content: bytes) -> Graph:
    """Read and check a model. Raises NetworkError."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except (DecodeError, ValueError, RuntimeError) as error:
        raise NetworkError(path, f"not an ONNX model ({error})", fix=MODEL_FIX) from error
    graph = model.graph
    if not graph.output:
        empty = not content or not model.ListFields()
        raise NetworkError(
            path, "the file is empty" if empty else "the model has no graph with an output", fix=MODEL_FIX
        )
    onnx_names.check(path, model)
    opset = _opset(path, model)
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    output = _only_output(path, graph.output)
    nodes = _needed(graph.node, output.name)
    if len(nodes) > MAX_NODES:
        message = f"the output needs {len(nodes)} nodes, the limit is {MAX_NODES}"
        raise NetworkError(path, message, fix="export the model with its constants folded, or use a smaller network")
    given = _only_input(path, [v for v in graph.input if v.name not in initializers], nodes, output.name)
    for node in nodes:
        _check_definition(path, node, opset)
    external = ExternalData(Path(path).parent)
    shape, outputs = _input_shape(path, given), _shape(output)
    kind = given.type.tensor_type.elem_type
    own = frozenset((f.domain, f.name) for f in model.functions)
    return Graph(path, opset, nodes, initializers, external, given.name, shape, output.name, outputs, kind, own)


def _opset(path: str, model: onnx.ModelProto) -> int:
    if model.ir_version > max(int(onnx.IR_VERSION), REVIEWED_IR):
        message = f"version {model.ir_version} of the file format is newer than the installed onnx knows"
        raise NetworkError(path, message, fix="install a newer onnx, or export with an older one")
    imported = sorted({int(o.version) for o in model.opset_import if o.domain in STANDARD})
    if len(imported) > 1:
        message = f"the model imports the opsets {', '.join(map(str, imported))} at once"
        raise NetworkError(path, message, fix="export it again with one version of the standard operators")
    opset = imported[0] if imported else None
    known = onnx.defs.onnx_opset_version()
    if opset is None:
        raise NetworkError(path, "the model does not say which ONNX opset it uses", fix="export it again")
    if opset < OLDEST_OPSET:
        fix = f"convert it to opset {OLDEST_OPSET} or newer with onnx.version_converter"
        raise NetworkError(path, f"opset {opset} is older than {OLDEST_OPSET}", fix=fix)
    if opset > max(known, onnx_definition.REVIEWED_OPSET):
        fix = f"install a newer onnx, or export with opset {known}"
        raise NetworkError(path, f"opset {opset} is newer than the installed onnx knows ({known})", fix=fix)
    return opset


def _check_definition(path: str, node: NodeProto, opset: int) -> None:
    try:
        onnx_definition.check(node, opset)
    except UnreadableError as error:
        raise NetworkError(path, error.message, node=name_of(node), operator=node.op_type, fix=error.fix) from error


def _only_output(path: str, outputs: Sequence[ValueInfoProto]) -> ValueInfoProto:
    if len(outputs) > 1:
        names = ", ".join(repr(o.name) for o in outputs[:6])
        fix = "export one of them; onnx.utils.extract_model cuts a model"
        raise NetworkError(path, f"the model has {len(outputs)} outputs ({names})", fix=fix)
    return outputs[0]


def _needed(nodes: Sequence[NodeProto], output: str) -> list[NodeProto]:
    """The nodes the output depends on, in order; in a cycle some node precedes its input, which the reader reports."""
    makers = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needed: set[int] = set()
    wanted = [output]
    while wanted:
        index_or_none = makers.get(wanted.pop())
        if index_or_none is not None and index_or_none not in needed:
            needed.add(index_or_none)
            wanted.extend(name for name in nodes[index_or_none].input if name)
    return [nodes[index] for index in sorted(needed)]


def _only_input(path: str, inputs: Sequence[ValueInfoProto], nodes: Sequence[NodeProto], output: str) -> ValueInfoProto:
    used = {name for node in nodes for name in node.input} | {output}
    if not inputs:
        raise NetworkError(
            path, "the model has no input", fix="export it with its input declared; initialisers do not count"
        )
    if len(inputs) > 1:
        names = ", ".join(f"{v.name!r}{'' if v.name in used else ' (unused)'}" for v in inputs[:6])
        fix = "a network has one input: join them before the first layer, or turn the others into initialisers"
        reader = next((n for n in nodes if inputs[1].name in n.input), None)
        node, operator = (name_of(reader), reader.op_type) if reader is not None else (None, None)
        raise NetworkError(path, f"the model has {len(inputs)} inputs: {names}", node=node, operator=operator, fix=fix)
    return inputs[0]


def _shape(value: ValueInfoProto) -> tuple[int | str, ...]:
    dims = value.type.tensor_type.shape.dim
    return tuple(int(d.dim_value) if d.dim_value > 0 else d.dim_param or "?" for d in dims)


def _input_shape(path: str, value: ValueInfoProto) -> tuple[int | str, ...]:
    """The declared shape: at least one axis, one unknown size at most beside fixed ones."""
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or kind.elem_type not in FLOATS:
        known = kind.elem_type in TensorProto.DataType.values()
        name = TensorProto.DataType.Name(kind.elem_type).lower() if known else f"number {kind.elem_type}"
        fix = "the input must be a tensor of float16, bfloat16, float or double"
        raise NetworkError(path, f"input {value.name!r} has type {name}", fix=fix)
    shape = _shape(value)
    shown = f"input {value.name!r} has shape [{', '.join(map(str, shape))}]"
    fix = "export it with fixed sizes; only the batch may be open, as in ['batch', 5] or [5]"
    if not shape:
        missing = "has no declared shape" if not kind.HasField("shape") else "is a single number, rank 0"
        raise NetworkError(path, f"input {value.name!r} {missing}", fix=fix)
    unknown = sum(isinstance(d, str) for d in shape)
    if unknown > 1 or len(shape) == unknown:
        raise NetworkError(path, f"{shown}: the number of features is not fixed", fix=fix)
    size = 1
    for d in (d for d in (shape[1:] if len(shape) > 1 else shape) if isinstance(d, int)):
        size *= d
    if size > MAX_VALUE:
        raise NetworkError(path, f"{shown}: {size} features are beyond the limit of {MAX_VALUE}", fix=fix)
    return shape
