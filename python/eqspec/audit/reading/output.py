"""Which output of a graph a claim is about: the one that the task names, or the only one that says anything.

A name may also be that of a value inside of the graph. Without a name only those are left alone that hold no real
numbers, such as a label, and then those that hand inputs or constants on as they are, such as the state of a policy
without memory. What is left has to be one output, which depends on an input. This is less than what eqspec leaves
alone: where both choose, they choose the same.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto

from ..opening import label
from ..rounding import Refused

_LABELS = {TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64, TensorProto.STRING}
_HANDING_ON = {"Concat", "Constant", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}


def chosen(graph: onnx.GraphProto, name: str | None) -> str:
    """The name of the value that is read."""
    named = [value.name for value in graph.output]
    if len(set(named)) != len(named) or not named:
        raise Refused("it has no output, or two of one name")
    made = {n: node.op_type for node in graph.node for n in node.output if n}
    if name is not None:
        if name not in named and name not in made:
            raise Refused(f"nothing in it is called {label(name)}, which the task takes for its output")
        return name
    if len(named) == 1:
        return str(named[0])
    left = [o for o in graph.output if o.type.tensor_type.elem_type not in _LABELS or made.get(o.name) == "ZipMap"]
    given = {value.name for value in graph.input} - {tensor.name for tensor in graph.initializer}
    if len(left) > 1:
        left = [o for o in left if not {made[n] for n in needed(graph, o.name) if n in made} <= _HANDING_ON]
        left = left if all(needed(graph, o.name) & given for o in left) else []
    if len(left) != 1:
        raise Refused("it has several outputs, and the task does not name the one that it is about")
    return str(left[0].name)


def needed(graph: onnx.GraphProto, wanted: str) -> set[str]:
    """The names that a value depends on, where nodes stand behind those that they read."""
    found = {wanted}
    for node in reversed(graph.node):
        if found & set(node.output):
            found |= {name for name in node.input if name}
    return found
