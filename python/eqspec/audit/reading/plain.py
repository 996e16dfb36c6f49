"""ONNX files that mean one thing: every value has one maker, every node is as its opset defines it, weights are whole.

Runtimes differ on what other files mean, so these are refused. onnx's own checker looks at nodes and tensors; what it
lets pass (two imports of one domain, functions named like operators, numbers beyond the sizes) is looked at here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from ..opening import label, limits
from ..rounding import Array, Refused

STANDARD = ("", "ai.onnx")
QONNX = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
QUANTS = ("Quant", "IntQuant", "BipolarQuant")
"""Where the operators of QONNX are found, which onnx knows nothing of: `quantisers` looks at them itself."""
CLASSIC, MICROSOFT = "ai.onnx.ml", "com.microsoft"
_POOLED = {"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "kernel_shape", "pads", "strides"}
OF_MICROSOFT: dict[str, set[str]] = {
    "DequantizeLinear": {"axis"}, "QGemm": {"alpha", "transA", "transB"}, "QLinearAdd": set(),
    "QLinearAveragePool": _POOLED, "QLinearConcat": {"axis"}, "QLinearGlobalAveragePool": {"channels_last"},
    "QLinearLeakyRelu": {"alpha"}, "QLinearMul": set(), "QLinearSigmoid": set(), "QuantizeLinear": {"axis"},
}  # fmt: skip
"""Operators of onnxruntime that `on_levels` reads, which onnx knows nothing of either, and their attributes."""
_TYPES = {"alpha": onnx.AttributeProto.FLOAT, "auto_pad": onnx.AttributeProto.STRING}
_TYPES |= dict.fromkeys(("kernel_shape", "pads", "strides"), onnx.AttributeProto.INTS)
FLAGS = {"align_corners", "allowzero", "antialias", "ceil_mode", "count_include_pad", "exclude_outside", "exclusive",
         "fmod", "input_forget", "keepdims", "largest", "layout", "linear_before_reset", "noop_with_empty_axes",
         "reverse", "select_last_index", "sorted", "spatial", "training_mode", "transA", "transB", "upper"}  # fmt: skip
"""Attributes that say yes or no: of 2 and -1 some runtimes ask whether they are 1, others whether they are not 0."""
STORED: dict[int, tuple[str, str]] = {
    TensorProto.FLOAT: ("<f4", "float_data"),
    TensorProto.DOUBLE: ("<f8", "double_data"),
    TensorProto.FLOAT16: ("<f2", "int32_data"),
    TensorProto.BFLOAT16: ("<V2", "int32_data"),
    TensorProto.INT8: ("<i1", "int32_data"),
    TensorProto.UINT8: ("<u1", "int32_data"),
    TensorProto.INT16: ("<i2", "int32_data"),
    TensorProto.UINT16: ("<u2", "int32_data"),
    TensorProto.INT32: ("<i4", "int32_data"),
    TensorProto.INT64: ("<i8", "int64_data"),
    TensorProto.BOOL: ("|u1", "int32_data"),
}
"""Types of constants, and where they are if not in raw bytes."""
FLOATS: dict[int, type[np.floating[Any]]] = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}
WHOLE: dict[int, Any] = {TensorProto.BOOL: bool, TensorProto.INT32: np.int32, TensorProto.INT64: np.int64}
HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
"""Outside of raw bytes, these are integers that have their bits; the second one has the upper half of a float's."""


def plain(content: bytes, shapes: Mapping[str, Sequence[int]]) -> tuple[onnx.GraphProto, int]:
    """The graph of a file, and its opset. Axes of inputs that it leaves open have the sizes of `shapes`, if any."""
    model = onnx.load_model_from_string(content)
    graph = model.graph
    opsets = {o.version for o in model.opset_import if o.domain in STANDARD}
    if model.functions or graph.sparse_initializer or len(opsets) != 1:
        raise Refused("the auditor reads plain graphs of one opset")
    if len(graph.node) > limits.NODES:
        raise Refused(f"it has {len(graph.node)} operators; the auditor reads at most {limits.NODES}")
    (opset,) = opsets
    if not 7 <= opset <= onnx.defs.onnx_opset_version() or model.ir_version > onnx.IR_VERSION:
        raise Refused("the auditor reads opset 7 or newer, as far as the installed onnx knows it")
    _check_names(graph)
    # Each node behind those that it reads, the first of the file first: in any order they compute the same.
    names, left = {one.name for one in (*graph.input, *graph.initializer)}, [*graph.node]
    del graph.node[:]
    while left:
        graph.node.append(left.pop(next((i for i, n in enumerate(left) if names.issuperset(filter(None, n.input))), 0)))
        names.update(graph.node[-1].output)
    for one in graph.input:
        for dim, size in zip(one.type.tensor_type.shape.dim, shapes.get(one.name, ()), strict=one.name in shapes):
            if dim.HasField("dim_value") and dim.dim_value != size:
                raise Refused(f"its input {label(one.name)} has other sizes than the task gives")
            dim.dim_value = size
    context = onnx.checker.C.CheckerContext()
    versions = {o.version for o in model.opset_import if o.domain == CLASSIC}
    context.ir_version, context.opset_imports = model.ir_version, dict.fromkeys(STANDARD, opset)
    if len(versions) == 1:
        context.opset_imports = {**context.opset_imports, CLASSIC: versions.pop()}
    for node in graph.node:
        if node.domain in QONNX and node.op_type in QUANTS and not node.overload:
            continue
        if node.domain == MICROSOFT and node.op_type in OF_MICROSOFT and not node.overload:
            _check_attributes(node)
            continue
        if node.domain not in (*STANDARD, CLASSIC) or node.overload:
            raise Refused(f"the auditor does not read {node.op_type} {node.name!r} of {node.domain!r}")
        try:
            onnx.checker.check_node(node, context)
        except onnx.checker.ValidationError as error:
            raise Refused(f"{node.op_type} {node.name!r} is not as opset {opset} has it: {error}") from None
        if node.domain in STANDARD:  # onnx's checker lets LayerNormalization have any others
            known = onnx.defs.get_schema(node.op_type, opset).attributes
            other = {a.name for a in node.attribute if a.name not in known or (a.name in FLAGS and a.i not in (0, 1))}
            if other:
                raise Refused(f"{node.op_type} {node.name!r} has attributes that opset {opset} does not know: {other}")
    return graph, opset


def _check_attributes(node: onnx.NodeProto) -> None:
    """Of an operator of onnxruntime: known, of the right type, and none of them twice."""
    names = [a.name for a in node.attribute]
    kinds = [_TYPES.get(a.name, onnx.AttributeProto.INT) == a.type and not a.ref_attr_name for a in node.attribute]
    if not {*names} <= OF_MICROSOFT[node.op_type] or len({*names}) < len(names) or not all(kinds):
        raise Refused(f"{node.op_type} {node.name!r} has other attributes than the auditor knows")
    if len(node.output) != 1 or len(node.input) > (9 if node.op_type != "QLinearConcat" else limits.NODES):
        raise Refused(f"{node.op_type} {node.name!r} has other inputs or outputs than the auditor knows")


def _check_names(graph: onnx.GraphProto) -> None:
    listed = [value.name for value in graph.input]
    made = [name for node in graph.node for name in node.output if name]
    stored = [tensor.name for tensor in graph.initializer]
    for names in (listed, [*made, *stored], [*made, *set(listed)]):
        name, times = Counter(names).most_common(1)[0] if names else ("none", 1)
        if times > 1 or "" in names:
            raise Refused(f"the name {name!r} stands for two values, or a value has none")


def numbers_of(tensor: onnx.TensorProto) -> Array:
    """What a tensor holds, as it is."""
    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        raise Refused("its weights are in other files, which the auditor does not read; save it as one file")
    if tensor.data_type not in STORED or tensor.HasField("segment"):
        raise Refused("a constant is of a type that the auditor does not read")
    kind, field = STORED[tensor.data_type]
    raw, size = tensor.HasField("raw_data"), prod(tensor.dims)
    others = {name for _, name in STORED.values()} | {"raw_data", "uint64_data", "string_data"}
    others.discard("raw_data" if raw else field)
    held = np.frombuffer(tensor.raw_data, kind) if raw else np.array(getattr(tensor, field))
    bits = "<u2" if tensor.data_type in HALVES and not raw else kind
    stored = held.astype(bits)
    if not raw and stored.dtype.kind in "iu" and (stored.astype(np.int64) != held).any():
        raise Refused(f"constant {tensor.name!r} holds a number beyond its type")
    stored = stored.view(kind)
    if any(len(getattr(tensor, name)) for name in others) or stored.size != size or min(tensor.dims, default=0) < 0:
        raise Refused(f"constant {tensor.name!r} does not hold what its sizes ask for")
    if tensor.data_type == TensorProto.BOOL:
        if (stored > 1).any():
            raise Refused(f"constant {tensor.name!r} holds a truth value that is neither 0 nor 1")
        stored = stored.astype(bool)
    if tensor.data_type == TensorProto.BFLOAT16:
        stored = (stored.view("<u2").astype("<u4") << 16).view("<f4")
    return stored.reshape(tuple(tensor.dims))
