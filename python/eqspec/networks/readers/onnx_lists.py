"""Lists of tensors (sequences of ONNX) that hold known tensors in a known order: each is its tensors by name.

torch writes them for `split`, `unbind`, `stack` and lists that are filled in loops. Nothing is computed by them, so an
operator on a list becomes operators on the tensors that it holds. Lists whose length depends on the input are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import AttributeProto, NodeProto, helper, numpy_helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.operators.shapes import axis_of, shape_of_value
from eqspec.networks.readers.onnx_bodies import stacked
from eqspec.networks.readers.onnx_names import STANDARD

OPERATORS = frozenset({
    "ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
    "SequenceLength", "SplitToSequence",
})  # fmt: skip
_AGAIN = "export the model again"
_MOST = 2_000
_LENGTHS = "export the tensors by themselves, without lists whose length depends on the input"


class Lists:
    """The lists of a graph by name, while it is evaluated, and how many nodes stand in place of others so far."""

    def __init__(self) -> None:
        self.written = 0
        self._lists: dict[str, list[str]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._lists

    def concern(self, node: NodeProto) -> bool:
        """Whether a node makes or reads a list; one that hands it on, too."""
        if node.domain not in STANDARD:
            return False
        return node.op_type in OPERATORS or (node.op_type == "Identity" and node.input[0] in self._lists)

    def written_out(
        self, node: NodeProto, given: Sequence[Value | None], number: int, opset: int
    ) -> tuple[list[NodeProto], list[str]]:
        """The nodes in place of one, and the tensors of the list that it makes, if it makes one."""
        kind, output = node.op_type, node.output[0]
        if kind in ("ConcatFromSequence", "SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength"):
            held = self._held(node.input[0])
        match kind:
            case "Identity":
                return [], self._kept(output, self._held(node.input[0]))
            case "SequenceEmpty":
                return [], self._kept(output, [])
            case "SequenceConstruct":
                return [], self._kept(output, list(node.input))
            case "SequenceInsert":
                place = _whole(given[2]) if len(node.input) > 2 and node.input[2] else len(held)
                if not -len(held) <= place <= len(held):
                    raise UnreadableError(f"place {place} in a list of {len(held)}", _AGAIN)
                place = place + len(held) if place < 0 else place
                return [], self._kept(output, [*held[:place], node.input[1], *held[place:]])
            case "SequenceErase":
                place = _place(given[1] if len(given) > 1 else np.array(-1), held)
                return [], self._kept(output, held[:place] + held[place + 1 :])
            case "SequenceAt":
                return [helper.make_node("Identity", [held[_place(given[1], held)]], [output], name=node.name)], []
            case "SequenceLength":
                length = numpy_helper.from_array(np.array(len(held)))
                return [helper.make_node("Constant", [], [output], name=node.name, value=length)], []
            case "ConcatFromSequence":
                return _joined(node, held, number, opset), []
            case _:
                return self._split(node, given, number)

    def _held(self, name: str) -> list[str]:
        if name not in self._lists:
            raise UnreadableError(f"{name!r} is not a list of known tensors", _LENGTHS)
        return self._lists[name]

    def _kept(self, name: str, tensors: list[str]) -> list[str]:
        self._lists[name] = tensors
        return tensors

    def _split(self, node: NodeProto, given: Sequence[Value | None], number: int) -> tuple[list[NodeProto], list[str]]:
        """SplitToSequence: pieces of one size, of given sizes, or entries by themselves."""
        found = {a.name: int(a.i) for a in node.attribute if a.type == AttributeProto.INT}
        value = given[0]
        if value is None:
            raise UnreadableError("input 0 is missing", _AGAIN)
        shape = shape_of_value(value)
        axis = axis_of(found.get("axis", 0), len(shape))
        size, alone = shape[axis], len(node.input) < 2 or not node.input[1]
        sizes = _sizes(None if alone else given[1], size)
        made, names, begin = list[NodeProto](), list[str](), 0
        for index, length in enumerate(sizes):
            name = f"{node.output[0]}/eqspec list {number} {index}"
            dropped = alone and not found.get("keepdims", 1)
            where = np.array(begin) if dropped else np.arange(begin, begin + length)
            made.append(helper.make_node("Constant", [], [f"{name} places"], value=numpy_helper.from_array(where)))
            made.append(helper.make_node("Gather", [node.input[0], f"{name} places"], [name], axis=axis))
            names.append(name)
            begin += length
        return made, self._kept(node.output[0], names)


def _sizes(given: Value | None, size: int) -> list[int]:
    """The sizes of all pieces of an axis."""
    if size > _MOST:
        raise UnreadableError(f"a list of up to {size} tensors", "split along an axis of fewer entries")
    if given is None:
        return [1] * size
    if not isinstance(given, np.ndarray) or given.dtype.kind != "i":
        raise UnreadableError("pieces whose sizes depend on the input", _LENGTHS)
    if given.ndim:
        sizes = [int(n) for n in given.reshape(-1)]
        if sum(sizes) != size or any(n < 0 for n in sizes):
            raise UnreadableError(f"pieces of {sizes} of {size} entries", _AGAIN)
        return sizes
    each = int(given)
    if each < 1:
        raise UnreadableError(f"pieces of {each} entries", _AGAIN)
    return [min(each, size - begin) for begin in range(0, size, each)]


def _whole(given: Value | None) -> int:
    if not isinstance(given, np.ndarray) or given.size != 1 or given.dtype.kind != "i":
        raise UnreadableError("which tensor of a list it is depends on the input", _LENGTHS)
    return int(given.reshape(()))


def _place(given: Value | None, held: list[str]) -> int:
    place = _whole(given)
    if not -len(held) <= place < len(held):
        raise UnreadableError(f"place {place} in a list of {len(held)}", _AGAIN)
    return place % len(held)


def _joined(node: NodeProto, held: list[str], number: int, opset: int) -> list[NodeProto]:
    found = {a.name: int(a.i) for a in node.attribute if a.type == AttributeProto.INT}
    if not held:
        raise UnreadableError("an empty list that is joined", _AGAIN)
    axis, output = found.get("axis", 0), node.output[0]
    if found.get("new_axis", 0):
        return stacked(held, output, number, opset, axis)
    return [helper.make_node("Concat", held, [output], name=node.name, axis=axis)]
