"""A model made ready to be read: functions in place, one output, nodes in order, operators of other domains expanded.

The function that its output is stays the same. Nothing is evaluated here. Whatever the bytes hold, the answer is a
`Ready` or a NetworkError.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import GraphProto, ModelProto, NodeProto

from eqspec.errors import NetworkError, UnsupportedOperatorError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.dequantised import Dequantised
from eqspec.networks.expansion import EXPANDED, UnexpandedError, expanded
from eqspec.networks.onnx_tensor import ExternalData, UnreadableError
from eqspec.networks.readers import (
    foreign_files,
    onnx_definition,
    onnx_dequantised,
    onnx_ends,
    onnx_functions,
    onnx_names,
    onnx_refused,
    several_opsets,
    sparse_constants,
)
from eqspec.networks.readers.onnx_labels import End
from eqspec.networks.readers.onnx_names import name_of

OLDEST_OPSET = 6
_MOST_STORED = 100_000_000
"""The most weights and other constants, as float64 most of a gigabyte."""
MAX_NODES = 5_000
"""The most nodes of a graph. Each takes a part of a millisecond, and deep networks have a few hundred."""
REVIEWED_IR = 14
"""The newest version of the file format that was looked through for parts with a meaning of their own."""


@dataclass(frozen=True, eq=False)
class Ready:
    """The model, whose graph has the nodes that its output needs and no other, and that output alone.

    `original` says that the output is one of the file's, which a runtime gives of the file as it is; `alone` that the
    file has this output, one input and standard operators, and nothing else. `dequantised` says what integers at the
    ends of the file stand for, where those of the model are these real numbers; `integer_products` are the products of
    integers that were written out; `other_opsets` are those that the file imports beside the one that is taken. `label`
    says which end of the scores labels of the file stand for. `external` reads what lies in other files.
    """

    model: ModelProto
    opset: int
    output: str
    original: bool
    alone: bool
    notes: tuple[str, ...]
    external: ExternalData
    dequantised: Dequantised | None = None
    integer_products: tuple[NodeProto, ...] = ()
    other_opsets: tuple[int, ...] = ()
    label: End | None = None


def ready(
    path: str,
    content: bytes,
    output: str | None = None,
    dequantised: Dequantised | None = None,
    *,
    as_computed: bool = False,
) -> Ready:
    """Read, check and prepare a model; `output` is the name of one of its outputs. Raises NetworkError.

    With `as_computed` what is the same over the real numbers and not in float32 stays as the file has it.
    """
    model = ModelProto()
    try:
        model.ParseFromString(content)
    except (DecodeError, ValueError, RuntimeError) as error:
        raise foreign_files.refusal(path, content, f"not an ONNX model ({error})") from error
    if not model.graph.output:
        empty = not content or not model.ListFields()
        cause = "the file is empty" if empty else "the model has no graph with an output"
        raise foreign_files.refusal(path, content, cause)
    try:
        sparse_constants.write_out(model)
    except UnreadableError as error:
        raise NetworkError(path, error.message, fix=error.fix) from error
    onnx_names.check(path, model)
    opset, others = _opset(path, model), tuple(several_opsets.imported(model)[1:])
    model = onnx_functions.inlined(path, model, opset)
    graph = model.graph
    outputs = {value.name for value in graph.output}
    ends = onnx_ends.find(path, graph, output)
    if len(ends.nodes) > MAX_NODES:
        message = f"the output needs {len(ends.nodes)} nodes, the limit is {MAX_NODES}"
        raise NetworkError(path, message, fix="export the model with its constants folded, or use a smaller network")
    if (cycle := onnx_ends.in_a_cycle(ends.nodes)) is not None:
        node, read = cycle
        at = {"node": name_of(node), "operator": node.op_type}
        raise NetworkError(path, f"it reads {read!r}, which depends on it", fix="export the model again", **at)
    for node in ends.nodes:  # before any is written as others, or left out; those of later opsets may be written out
        if node.op_type not in EXPANDED or onnx_definition.has(node, opset):
            check_definition(path, node, opset)
    tensors, external = {tensor.name: tensor for tensor in graph.initializer}, ExternalData(Path(path).parent)
    inputs = [value.name for value in graph.input if value.name not in tensors]
    fed = tuple(onnx_ends.stored_inputs(model, ends.nodes))  # before nodes that read them are written as others
    try:
        pieces = expanded(ends.nodes, tensors, inputs, ends.output, opset, external, as_computed=as_computed)
    except UnexpandedError as error:
        at = {"node": name_of(error.node), "operator": error.node.op_type}
        raise NetworkError(path, error.cause.message, fix=error.cause.fix, **at) from error
    del graph.node[:], graph.output[:]
    graph.node.extend(onnx_ends.needed(pieces.nodes, ends.output))
    graph.initializer.extend(pieces.added)
    graph.output.append(ends.declared)
    _refuse_many_numbers(path, graph)
    notes = (*ends.notes, *fed, *pieces.notes, *several_opsets.note(opset, others))
    if dequantised is not None:
        real, said = onnx_dequantised.with_real_ends(path, model, opset, dequantised)
        name, products = graph.output[0].name, (*pieces.integer_products,)
        return Ready(model, opset, name, False, False, (*notes, *said), external, real, products, others, ends.label)
    alone = len(outputs) == len(inputs) == 1 and ends.output in outputs and not pieces.changed
    products = (*pieces.integer_products,)
    ends_here = (ends.output, ends.output in outputs, alone)
    return Ready(model, opset, *ends_here, notes, external, None, products, others, ends.label)


def check_definition(path: str, node: NodeProto, opset: int) -> None:
    """Refuse a node that its opset does not allow. Raises NetworkError."""
    try:
        onnx_definition.check(node, opset)
    except UnreadableError as error:
        raise NetworkError(path, error.message, node=name_of(node), operator=node.op_type, fix=error.fix) from error


def _refuse_many_numbers(path: str, graph: GraphProto) -> None:
    """NetworkError where more numbers are stored than are read, before any of them is."""
    used = {name for node in graph.node for name in node.input}
    stored = [tensor for tensor in graph.initializer if tensor.name in used]
    stored += [attribute.t for node in graph.node for attribute in node.attribute if attribute.HasField("t")]
    numbers = sum(max(0, prod(tensor.dims)) for tensor in stored)
    if numbers > _MOST_STORED:
        message = f"the network has {numbers} weights and other constants; networks of up to {_MOST_STORED} are read"
        raise NetworkError(path, message, fix="use a smaller network")


def _refused_by_name(path: str, model: ModelProto) -> None:
    """A file of other domains alone, of which the first operator that is never read is the better reason."""
    for node in model.graph.node:
        known = onnx_refused.reason(node.op_type, node.domain)
        if known is not None:
            message = f"operator {node.domain}.{node.op_type} is not supported: {known[0]}"
            at = {"node": name_of(node), "operator": node.op_type}
            raise UnsupportedOperatorError(path, message, fix=known[1], **at)


def _opset(path: str, model: ModelProto) -> int:
    if model.ir_version > max(int(onnx.IR_VERSION), REVIEWED_IR):
        message = f"version {model.ir_version} of the file format is newer than the installed onnx knows"
        raise NetworkError(path, message, fix="install a newer onnx, or export with an older one")
    imported = several_opsets.imported(model)
    opset = imported[0] if imported else None
    known = onnx.defs.onnx_opset_version()
    if opset is None:
        _refused_by_name(path, model)
        raise NetworkError(path, "the model does not say which ONNX opset it uses", fix="export it again")
    if opset < OLDEST_OPSET:
        fix = f"convert it to opset {OLDEST_OPSET} or newer with onnx.version_converter"
        raise NetworkError(path, f"opset {opset} is older than {OLDEST_OPSET}", fix=fix)
    if opset > max(known, onnx_definition.REVIEWED_OPSET):
        fix = f"install a newer onnx, or export with opset {known}"
        raise NetworkError(path, f"opset {opset} is newer than the installed onnx knows ({known})", fix=fix)
    return opset
