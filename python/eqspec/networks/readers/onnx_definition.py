"""A node is used as its opset defines its operator, so that no input, output, attribute or type is overlooked.

The definitions are those that the package onnx ships. What they do not allow has no meaning, and runtimes that accept
it anyway differ: an attribute of an unknown name would be ignored by one and obeyed by another, an attribute given
twice has two values, and operands of different types would be converted in some way or other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import onnx
from onnx import AttributeProto, NodeProto, TensorProto
from onnx.defs import OpSchema

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.expansion.graph_pieces import value_fields
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.readers.onnx_names import STANDARD

REVIEWED_OPSET = 28
"""The newest opset whose operators were compared with ours; from later ones, operators defined no later are read."""

FLOAT_NAMES = {"", "float16", "bfloat16", "float", "double"}
_KINDS: dict[str, int] = {name: int(kind) for name, kind in TensorProto.DataType.items()}
EXPORT = "set the opset that the model was written for, or export it again"
_FIELDS = {
    "FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "SPARSE_TENSOR": "sparse_tensor",
    "TYPE_PROTO": "tp", "FLOATS": "floats", "INTS": "ints", "STRINGS": "strings", "TENSORS": "tensors",
    "GRAPHS": "graphs", "SPARSE_TENSORS": "sparse_tensors", "TYPE_PROTOS": "type_protos",
}  # fmt: skip
"""Where an attribute keeps its value, by its type."""


@dataclass(frozen=True)
class Definition:
    """What an opset says of an operator. Types are names of type parameters, which `allowed` lists, or fixed types.

    The last input stands for any number of inputs where the operator is `variadic`, the last output for any number of
    outputs of its type where they are `alike`.
    """

    since: int
    attributes: dict[str, tuple[str, bool]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    variadic: bool
    alike: bool
    counts: tuple[int, int, int, int]
    allowed: dict[str, frozenset[str]]

    def input_type(self, index: int) -> str | None:
        """The type of an input."""
        if index < len(self.inputs):
            return self.inputs[index]
        return self.inputs[-1] if self.variadic else None

    def output_type(self, index: int) -> str | None:
        """The type of an output."""
        if index < len(self.outputs):
            return self.outputs[index]
        return self.outputs[-1] if self.alike else None


@cache
def definition(operator: str, opset: int) -> Definition | None:
    """The definition of a standard operator; None where there is no operator of this name at all.

    Raises UnreadableError where the opset lacks it.
    """
    if not onnx.defs.has(operator):
        return None
    try:
        schema = onnx.defs.get_schema(operator, opset)
    except onnx.defs.SchemaError as error:
        raise UnreadableError(f"opset {opset} has no such operator", "export the model again") from error
    return Definition(
        schema.since_version,
        {name: (_attribute_type(a), a.required) for name, a in schema.attributes.items()},
        tuple(formal.type_str for formal in schema.inputs),
        tuple(formal.type_str for formal in schema.outputs),
        _is_variadic(schema.inputs),
        _is_variadic(schema.outputs) and schema.outputs[-1].is_homogeneous,
        (schema.min_input, schema.max_input, schema.min_output, schema.max_output),
        {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints},
    )


def _is_variadic(formal: Sequence[OpSchema.FormalParameter]) -> bool:
    return bool(formal) and formal[-1].option == OpSchema.FormalParameterOption.Variadic


def _attribute_type(attribute: OpSchema.Attribute) -> str:
    return str(attribute.type).rpartition(".")[2]


def has(node: NodeProto, opset: int) -> bool:
    """Whether a node is of an operator that the standard has in this opset."""
    try:
        return node.domain in STANDARD and definition(node.op_type, opset) is not None
    except UnreadableError:
        return False


def check(node: NodeProto, opset: int) -> None:
    """Refuse a node of the standard domain that its opset does not allow. Raises UnreadableError."""
    if node.domain not in STANDARD:
        return
    found = definition(node.op_type, opset)
    if found is None:
        return
    if found.since > REVIEWED_OPSET:
        message = f"the operator was redefined in opset {found.since}, only {REVIEWED_OPSET} is read"
        raise UnreadableError(message, f"export with opset {REVIEWED_OPSET}")
    if node.overload:
        raise UnreadableError(f"the node asks for the overload {node.overload!r}", "export the model again")
    _check_attributes(node, found, opset)
    fewest_in, most_in, fewest_out, most_out = found.counts
    if not fewest_in <= len(node.input) <= most_in:
        message = f"{len(node.input)} inputs, but opset {opset} takes {fewest_in} to {most_in}"
        raise UnreadableError(message, EXPORT)
    if not fewest_out <= len(node.output) <= most_out:
        message = f"{len(node.output)} outputs, but opset {opset} gives {fewest_out} to {most_out}"
        raise UnreadableError(message, EXPORT)


_FLAGS = frozenset((
    "align_corners", "allowzero", "antialias", "batch_axis", "broadcast", "ceil_mode", "count_include_pad",
    "detect_negative", "detect_positive", "exclude_outside", "exclusive", "fmod", "input_forget", "interleaved",
    "inverse", "is_causal", "keepdims", "largest", "layout", "linear_before_reset", "new_axis", "noop_with_empty_axes",
    "onesided", "periodic", "reverse", "saturate", "select_last_index", "sorted", "spatial", "storage_order",
    "time_axis", "training_mode", "transA", "transB", "upper",
))  # fmt: skip
"""Integers that are 0 or 1. Of 2 and -1 some runtimes ask whether they are 1, others whether they are not 0."""


def _check_attributes(node: NodeProto, found: Definition, opset: int) -> None:
    given: set[str] = set()
    for attribute in node.attribute:
        name = attribute.name
        if name not in found.attributes:
            raise UnreadableError(f"in opset {opset} the operator has no attribute {name!r}", EXPORT)
        if name in given:
            raise UnreadableError(f"attribute {name!r} is given twice", "export the model again: one value must stand")
        given.add(name)
        expected = found.attributes[name][0]
        known = attribute.type in AttributeProto.AttributeType.values()
        if not known or AttributeProto.AttributeType.Name(attribute.type) != expected or attribute.ref_attr_name:
            raise UnreadableError(f"attribute {name!r} is not of type {expected.lower()}", "export the model again")
        if value_fields(attribute) - {_FIELDS[expected]}:
            raise UnreadableError(f"attribute {name!r} holds values of two types", "export the model again")
        if name in _FLAGS and expected == "INT" and attribute.i not in (0, 1):
            raise UnreadableError(f"attribute {name!r} is {attribute.i}, neither 0 nor 1", "export the model again")
    missing = [name for name, (_, required) in found.attributes.items() if required and name not in given]
    if missing:
        raise UnreadableError(f"attribute {missing[0]!r} is missing", "export the model again")


def result_types(node: NodeProto, opset: int, given: Sequence[int | None]) -> list[int | None]:
    """The element types of a node's outputs from those of its inputs; None where that is not known.

    Float types may be mixed, although few runtimes take that: the function over the real numbers is the same. Raises
    UnreadableError where the inputs are of other types that the operator does not take, or not together.
    """
    if node.domain == "com.microsoft" and node.op_type == "DequantizeLinear":  # of types that the opset does not know
        return [given[1] if len(given) > 1 else None] * len(node.output)
    found = definition(node.op_type, opset) if node.domain in STANDARD else None
    if found is None:
        return [None] * len(node.output)
    bound: dict[str, str] = {}
    for index, kind in enumerate(given):
        wanted = found.input_type(index)
        if kind is None or wanted is None:
            continue
        name = _name(kind)
        if f"tensor({name})" not in found.allowed.get(wanted, {wanted}):
            message = f"input {index} ({node.input[index]!r}) has type {name}, which opset {opset} does not take there"
            raise UnreadableError(message, _where_taken(node.op_type, index, name, opset))
        before = bound.setdefault(wanted, name)
        if before != name and {before, name} <= FLOAT_NAMES:
            bound[wanted] = ""  # the real numbers that they stand for go together, in a type that nobody can tell
        elif before != name:
            message = f"input {index} ({node.input[index]!r}) has type {name}, another one {before}"
            raise UnreadableError(message, "cast one of them: the operator takes one type for both")
    made = _made(node)
    return [_output_type(found, found.output_type(index), bound, made) for index in range(len(node.output))]


def _where_taken(operator: str, index: int, name: str, opset: int) -> str:
    """What to do about an input of a type that an operator takes in later opsets, or in none."""
    for later in range(opset + 1, onnx.defs.onnx_opset_version() + 1):
        found = definition(operator, later)
        wanted = None if found is None else found.input_type(index)
        if found is not None and wanted is not None and f"tensor({name})" in found.allowed.get(wanted, {wanted}):
            return f"{operator} takes {name} from opset {later} on: export with that, or convert the file to it"
    return "cast it to a type that the operator takes, or export with another opset"


def _output_type(found: Definition, wanted: str | None, bound: dict[str, str], made: int | None) -> int | None:
    if wanted is None:
        return None
    if wanted in bound:
        return _kind(bound[wanted]) if bound[wanted] else None
    allowed = found.allowed.get(wanted, frozenset({wanted}))
    return _kind(next(iter(allowed))[len("tensor(") : -1]) if len(allowed) == 1 else made


def _made(node: NodeProto) -> int | None:
    """The type that a node names in an attribute."""
    for attribute in node.attribute:
        if attribute.name in ("value", "sparse_value"):
            return int(attribute.t.data_type)
        if attribute.name.startswith("value_"):
            return int(TensorProto.INT64 if attribute.name.startswith("value_int") else TensorProto.FLOAT)
        if attribute.name == "to":
            return int(attribute.i)
    return int(TensorProto.FLOAT) if node.op_type == "ConstantOfShape" else None


def _name(kind: int) -> str:
    known = kind in TensorProto.DataType.values()
    return str(TensorProto.DataType.Name(kind)).lower() if known else f"number {kind}"


def _kind(name: str) -> int | None:
    return _KINDS.get(name.upper())
