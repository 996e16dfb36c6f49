"""An ONNX file as a checked graph: its inputs, its one output, the nodes between them, the constants.

Inputs that the output does not need are left out. Nothing is evaluated here. Whatever the bytes hold, the answer is a
Graph or a NetworkError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import NodeProto, TensorProto, ValueInfoProto

from eqspec.errors import NetworkError, OpenSizesError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.dequantised import Dequantised
from eqspec.networks.expansion.graph_pieces import casts_to_reals
from eqspec.networks.matrices import MAX_VALUE
from eqspec.networks.onnx_tensor import FLOATS, WHOLES, ExternalData
from eqspec.networks.operators.quantising import TYPES
from eqspec.networks.readers import onnx_model, open_sizes
from eqspec.networks.readers.onnx_ends import names_read
from eqspec.networks.readers.onnx_labels import End
from eqspec.networks.readers.onnx_names import name_of
from eqspec.networks.readers.onnx_places import PLACES, TAKING, Use, use_of
from eqspec.networks.readers.open_sizes import Declared, InputShape

_SHORT = {int(TensorProto.FLOAT16), int(TensorProto.BFLOAT16)}

_WIDE = {int(TensorProto.INT32): (-(2**31), 2**31 - 1), int(TensorProto.INT64): (-(2**40), 2**40)}
"""Between which integers a point may stand for one of 32 or 64 bits; quantisers have no more levels than these."""


@dataclass(frozen=True)
class Input:
    """An input with its declared shape, whose sizes are names where they are not fixed, and its element type.

    `levels` are the lowest and highest integer of an input that is one of a quantiser's.
    """

    name: str
    shape: tuple[int | str, ...]
    kind: int = TensorProto.FLOAT
    levels: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Graph:
    """A model's graph, reduced to what its one output needs."""

    path: str
    opset: int
    nodes: Sequence[NodeProto]
    initializers: dict[str, TensorProto]
    external: ExternalData
    inputs: tuple[Input, ...]
    output_name: str
    output_shape: tuple[int | str, ...]
    notes: tuple[str, ...] = ()
    alone: bool = True
    dequantised: Dequantised | None = None
    integer_products: tuple[NodeProto, ...] = ()
    fixed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """The shapes of all inputs, where sizes are given that the file leaves open."""
    unread: tuple[str, ...] = ()
    """Inputs that do not reach the output."""
    other_opsets: tuple[int, ...] = ()
    label: End | None = None


def load(
    path: str,
    content: bytes,
    output: str | None = None,
    dequantised: Dequantised | None = None,
    input_shape: InputShape | None = None,
    *,
    as_computed: bool = False,
) -> Graph:
    """Read and check a model; `output` is the name of one of its outputs. Raises NetworkError."""
    ready = onnx_model.ready(path, content, output, dequantised, as_computed=as_computed)
    graph, opset = ready.model.graph, ready.opset
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    nodes = list(graph.node)
    notes = list(ready.notes)
    given = _used(path, [v for v in graph.input if v.name not in initializers], nodes, ready.output, notes)
    for node in nodes:
        onnx_model.check_definition(path, node, opset)
    declared = {v.name: shape_of(v) if v.type.tensor_type.HasField("shape") else None for v in given}
    unread = {value.name for value in graph.input} - declared.keys()
    shapes = open_sizes.with_sizes(path, declared, input_shape, unread)
    _check_sizes(path, given, declared, shapes)
    inputs = tuple(_input(path, value, nodes, initializers, ready.output, notes, shapes[value.name]) for value in given)
    fixed = tuple((one.name, open_sizes.concrete(one.shape)) for one in inputs) if shapes != declared else ()
    notes += [
        f"open sizes are fixed: input {name!r} is read as [{', '.join(map(str, shape))}]" for name, shape in fixed
    ]
    given_sizes = open_sizes.by_name(declared, shapes)
    outputs = tuple(given_sizes.get(size, size) for size in shape_of(graph.output[0]))
    short = {t.data_type for t in graph.initializer} | {one.kind for one in inputs}
    for kind in sorted(short & _SHORT):
        name = TensorProto.DataType.Name(kind).lower()
        notes.append(f"it computes in {name}, and is read as a function of real numbers with the weights of the file: ")
        notes[-1] += f"what {name} rounds on the way is not modelled"
    ends = (inputs, ready.output, outputs)
    return Graph(
        path,
        opset,
        nodes,
        initializers,
        ready.external,
        *ends,
        tuple(notes),
        ready.alone,
        ready.dequantised,
        ready.integer_products,
        fixed,
        tuple(v.name for v in graph.input if v.name in unread and v.name not in initializers),
        ready.other_opsets,
        ready.label,
    )


def _used(
    path: str, inputs: Sequence[ValueInfoProto], nodes: Sequence[NodeProto], output: str, notes: list[str]
) -> Sequence[ValueInfoProto]:
    """The inputs that the output needs; the first one if it needs none."""
    read = {name for node in nodes for name in names_read(node)} | {output}
    if not inputs:
        raise NetworkError(
            path, "the model has no input", fix="export it with its input declared; initialisers do not count"
        )
    used = [value for value in inputs if value.name in read] or [inputs[0]]
    unused = [value.name for value in inputs if all(value is not kept for kept in used)]
    if unused:
        shown = ", ".join(repr(name) for name in unused[:6]) + (", ..." if len(unused) > 6 else "")
        what = f"input {shown} does" if len(unused) == 1 else f"inputs {shown} do"
        notes.append(f"{what} not reach the output, and {'is' if len(unused) == 1 else 'are'} left out")
    return used


def shape_of(value: ValueInfoProto) -> tuple[int | str, ...]:
    """The declared shape, with names for open sizes."""
    dims = value.type.tensor_type.shape.dim
    return tuple(int(d.dim_value) if d.dim_value > 0 else d.dim_param or "?" for d in dims)


def _check_sizes(
    path: str,
    inputs: Sequence[ValueInfoProto],
    declared: Mapping[str, Declared | None],
    shapes: Mapping[str, Declared],
) -> None:
    """Refuse inputs without axes, and sizes that are still open beside one of each input.

    A single axis may be open where it is that of the samples, by its name the one in front of other inputs.
    """
    batches = {shape[0] for shape in shapes.values() if len(shape) > 1 and isinstance(shape[0], str)} - {"?"}
    for value in inputs:
        shape = shapes[value.name]
        if not shape and declared[value.name] is not None:
            fix = "store its value in the file, as an initialiser of this name, if it is always the same; "
            raise NetworkError(path, f"input {value.name!r} is a single number, rank 0", fix=f"{fix}else give it axes")
        if not shape:
            fix = f"export it with its shape, or say it: {open_sizes.how({value.name: ('?', '?')})}"
            raise OpenSizesError(path, f"input {value.name!r} has no declared shape", fix=fix)
        unknown = sum(isinstance(d, str) for d in shape)
        if unknown > 1 or (len(shape) == unknown and shape[0] not in batches):
            shown = f"input {value.name!r} has shape [{', '.join(map(str, shape))}]"
            raise OpenSizesError(path, f"{shown}: the number of features is not fixed", fix=open_sizes.how(shapes))


def _input(
    path: str,
    value: ValueInfoProto,
    nodes: Sequence[NodeProto],
    tables: Mapping[str, TensorProto],
    output: str,
    notes: list[str],
    shape: Declared,
) -> Input:
    """An input with its shape: at least one axis, one unknown size at most beside fixed ones."""
    kind = value.type.tensor_type
    levels = _levels(path, value, nodes, tables, output, notes)
    shown = f"input {value.name!r} has shape [{', '.join(map(str, shape))}]"
    fix = "export it with fixed sizes; only the batch may be open, as in ['batch', 5] or [5]"
    if any(d.WhichOneof("value") == "dim_value" and d.dim_value == 0 for d in kind.shape.dim[1:]):
        raise NetworkError(path, f"input {value.name!r} has an axis of size 0, so no numbers", fix=fix)
    size = 1
    for d in (d for d in (shape[1:] if len(shape) > 1 else shape) if isinstance(d, int)):
        size *= d
    if size > MAX_VALUE:
        raise NetworkError(path, f"{shown}: {size} features are beyond the limit of {MAX_VALUE}", fix=fix)
    return Input(value.name, shape, int(kind.elem_type), levels)


def _levels(
    path: str,
    value: ValueInfoProto,
    nodes: Sequence[NodeProto],
    tables: Mapping[str, TensorProto],
    output: str,
    notes: list[str],
) -> tuple[int, int] | None:
    """The ends of an input of levels; None of real numbers, and of integers that are only converted to them.

    NetworkError for everything else that an input may hold.
    """
    kind = value.type.tensor_type.elem_type
    if value.type.HasField("tensor_type") and kind in FLOATS:
        return None
    known = kind in TensorProto.DataType.values()
    name = TensorProto.DataType.Name(kind).lower() if known else f"number {kind}"
    readers = [node for node in nodes if value.name in names_read(node)]
    whole = value.type.HasField("tensor_type") and kind in WHOLES and value.name != output
    other = next((node for node in readers if not casts_to_reals(node)), None)
    if whole and other is not None and kind in TYPES and TYPES[kind][1] < 2**16:
        message = f"input {value.name!r} holds {name}: a point of a region stands for the nearest integers that it has"
        notes.append(f"{message} ({TYPES[kind][0]} to {TYPES[kind][1]}, ties to the even one)")
        return TYPES[kind]
    branching = any(node.op_type in ("If", "Loop") for node in readers)
    if whole and other is not None and kind == TensorProto.BOOL and not branching:
        message = f"input {value.name!r} holds truth values: a point of a region stands for the nearer ones of 0 and 1"
        notes.append(f"{message} (0 for a half)")
        return 0, 1
    use = use_of(value.name, nodes, tables) if whole and kind in PLACES else None
    if whole and kind in PLACES and use is None and readers and all(node.op_type in TAKING for node in readers):
        use = Use(None, only_cast=False)  # branches, and operators on the way, tell whether they can
    if use is not None and use.rows is not None:
        message = f"input {value.name!r} holds places in a table: a point of a region stands for the nearest integers"
        notes.append(f"{message} ({-use.rows} to {use.rows - 1}, negative ones from the end, ties to the even one)")
        return -use.rows, use.rows - 1
    if use is not None and not use.only_cast:
        ends = _WIDE[int(TensorProto.INT32) if use.short else kind]
        message = f"input {value.name!r} holds {name}: a point of a region stands for the nearest integers"
        notes.append(f"{message} (ties to the even one, up to {ends[1]})")
        return ends
    if use is not None and use.only_cast:
        other = None
    if not whole or not readers or other is not None:
        at = {} if other is None else {"node": name_of(other), "operator": other.op_type}
        fix = (
            "the input must be a tensor of floating-point numbers, of integers of 8 or 16 bits, or of others that are "
        )
        fix += "only cast"
        if other is not None and other.op_type in ("Gather", "GatherElements", "GatherND", "OneHot"):
            name = f"{name}: which entries are looked up jumps from place to place with it"
            fix = "export the model with what is looked up as its input, or with the places stored in the file"
        elif other is not None and other.op_type in ("And", "Equal", "Greater", "If", "Less", "Not", "Where"):
            fix = "store its value in the file, as an initialiser of this name, if it is always the same; else make it "
            fix += "floating-point numbers"
        raise NetworkError(path, f"input {value.name!r} has type {name}", fix=fix, **at)
    notes.append(f"input {value.name!r} has type {name} and is only cast: all real numbers of a region are covered")
    return None
