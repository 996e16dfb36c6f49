"""Finds a Softmax that is not the end of a file, though all that stands behind it works on probabilities one by one.

Such an end, as a Clip against a logarithm of 0 or a factor for each class, is no part of the network that decides, but
it is not left out either: what the file gives are no logits. A Softmax further inside, as that of attention, has
products with what depends on the input, or layers, behind it, and is none of these.

A logarithm behind a Softmax gives numbers whose softmax are the same probabilities, so classes and confidence mean what
they mean of logits. But they are no logits: a constant is subtracted from all of them that depends on the input.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx import NodeProto

from eqspec.networks.readers.onnx_names import name_of

_SOFTMAX = ("Softmax", "LogSoftmax")
_NUMBERS = frozenset(("Add", "Clip", "Div", "Max", "Mean", "Min", "Mul", "Neg", "Pow", "Sqrt", "Sub", "Sum"))
_MOVES = frozenset(
    ("Cast", "Concat", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose",
     "Unsqueeze")
)  # fmt: skip
_MOST = 64
"""The most nodes that are looked at; such ends of graphs are short."""


def described(nodes: Sequence[NodeProto], output: str) -> str | None:
    """The Softmax and what stands behind it, in words; None where there is no such end."""
    return _found(nodes, output, _NUMBERS)


def of_logarithms(nodes: Sequence[NodeProto], output: str) -> str | None:
    """The same where logarithms may stand behind it as well."""
    return _found(nodes, output, _NUMBERS | {"Log"})


def _found(nodes: Sequence[NodeProto], output: str, passed: frozenset[str]) -> str | None:
    made_by = {name: node for node in nodes for name in node.output if name}
    waiting, seen, behind = [output], {output}, ""
    while waiting and len(seen) < _MOST:
        node = made_by.get(waiting.pop(0))
        if node is None:
            continue
        if node.op_type in _SOFTMAX:
            return f"{node.op_type} {name_of(node)!r} with {behind or 'other operators'} behind it"
        if node.op_type not in passed | _MOVES:
            continue
        behind = node.op_type
        fresh = [name for name in node.input if name and name not in seen]
        seen.update(fresh)
        waiting += fresh
    return None
