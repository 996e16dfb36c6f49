"""Softmax and LogSoftmax that a file writes out, as JAX exports them; read as the operators that they are.

    e^z / sum e^z = softmax(x),     z - ln(sum e^z) = log_softmax(x),

where z is x, or x less its largest entry, which changes nothing. Over the real numbers these are the same functions;
bounds of an exponential, a reciprocal and a product one after the other are far looser. So they are in float32 where z
is x less its largest entry; where z is x, powers may be infinite, and such a node is marked (`UNSHIFTED`). The
logarithm of a Softmax is left as it is: in float32 it is so far from LogSoftmax where a share is small that files would
seem to be misread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto

from eqspec.networks.expansion.graph_pieces import Pieces, tensor_of

_STANDARD = ("", "ai.onnx")
UNSHIFTED = "e^x is computed without taking off the largest x, in the file"
"""The description of a node that is read instead, for whom float32 matters."""


def expand(pieces: Pieces, *, as_computed: bool = False) -> None:
    """Put one operator in place of each that is written out; `as_computed` only where it is the same in float32."""
    if pieces.opset < 13:
        return  # Softmax had another meaning, which depends on the rank
    found = _Graph(pieces)
    known: Mapping[str, Callable[[NodeProto], tuple[str, int, str, bool] | None]] = {
        "Div": found.softmax,
        "Sub": found.log_softmax,
    }
    replaced = False
    for place, node in enumerate(pieces.nodes):
        read = known.get(node.op_type) if node.domain in _STANDARD and len(node.output) == 1 else None
        seen = None if read is None else read(node)
        if seen is None:
            continue
        scores, axis, operator, shifted = seen
        if as_computed and not shifted:
            continue
        before, pieces.nodes = pieces.nodes, []
        pieces.add(node, operator, [scores], node.output[0], axis=axis)
        (made,) = pieces.nodes
        made.doc_string = "" if shifted else UNSHIFTED
        pieces.nodes = before
        pieces.nodes[place] = made
        found.makers[node.output[0]] = made
        pieces.notes.append(f"what {node.output[0]!r} is computed by is read as {operator}")
        replaced = True
    if replaced:
        _drop_unread(pieces)


class _Graph:
    """Who makes which value, and what of the above a node is: its scores, their axis, and the operator."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self.makers = {name: node for node in pieces.nodes for name in node.output if name}

    def softmax(self, node: NodeProto) -> tuple[str, int, str, bool] | None:
        """e / sum e."""
        if len(node.input) != 2:
            return None
        summed = self._summed(node.input[1])
        if summed is None or summed[0] != self._root(node.input[0]):
            return None
        return self._scores(summed[0], summed[1], "Softmax")

    def log_softmax(self, node: NodeProto) -> tuple[str, int, str, bool] | None:
        """z - ln(sum e^z)."""
        if len(node.input) != 2:
            return None
        logarithm = self._made_by(node.input[1], "Log")
        summed = None if logarithm is None else self._summed(logarithm.input[0])
        if summed is None:
            return None
        powers = self._made_by(summed[0], "Exp")
        if powers is None or self._root(powers.input[0]) != self._root(node.input[0]):
            return None
        return self._scores(summed[0], summed[1], "LogSoftmax")

    def _scores(self, powers: str, axis: int, operator: str) -> tuple[str, int, str, bool] | None:
        """What the exponentials are of, without a largest entry that is taken off; and whether it is."""
        made = self._made_by(powers, "Exp")
        if made is None:
            return None
        apart = self._made_by(made.input[0], "Sub")
        if apart is not None and len(apart.input) == 2:
            largest = self._reduced(apart.input[1], "ReduceMax")
            if largest is not None and largest == (self._root(apart.input[0]), axis):
                return apart.input[0], axis, operator, True
        return made.input[0], axis, operator, False

    def _summed(self, name: str) -> tuple[str, int] | None:
        return self._reduced(name, "ReduceSum")

    def _reduced(self, name: str, operator: str) -> tuple[str, int] | None:
        """What is reduced, and over which one axis, which stays as one of size 1."""
        node = self._made_by(name, operator)
        if node is None:
            return None
        given = {a.name: a for a in node.attribute}
        if given.keys() - {"axes", "keepdims", "noop_with_empty_axes"}:
            return None
        if "keepdims" in given and given["keepdims"].i != 1:
            return None
        axes = self._axes(node, given.get("axes"))
        if axes is None or len(axes) != 1 or axes[0] == 0:  # 0 is the axis of the samples
            return None
        return self._root(node.input[0]), axes[0]

    def _axes(self, node: NodeProto, attribute: AttributeProto | None) -> list[int] | None:
        if len(node.input) == 1:
            return None if attribute is None else list(attribute.ints)
        stored = self._stored(node.input[1]) if len(node.input) == 2 and attribute is None else None
        if stored is None or stored.data_type != TensorProto.INT64:
            return None
        return [int(a) for a in np.ravel(self._pieces.array(stored))]

    def _stored(self, name: str) -> TensorProto | None:
        if name in self._pieces.tensors:
            return self._pieces.tensors[name]
        made = self._made_by(name, "Constant")
        return None if made is None else tensor_of(made)

    def _made_by(self, name: str, operator: str) -> NodeProto | None:
        node = self.makers.get(self._root(name))
        right = node is not None and node.op_type == operator and node.domain in _STANDARD and len(node.output) == 1
        return node if right and node is not None and (node.input or operator == "Constant") else None

    def _root(self, name: str) -> str:
        """The value that a name is another one of: gradients are stopped by an Identity."""
        seen = set[str]()
        while name not in seen:
            seen.add(name)
            node = self.makers.get(name)
            if node is None or node.op_type != "Identity" or node.domain not in _STANDARD or len(node.input) != 1:
                break
            name = node.input[0]
        return name


_WRITTEN_OUT = ("Exp", "ReduceSum", "ReduceMax", "Sub", "Log", "Identity")


def _drop_unread(pieces: Pieces) -> None:
    """Leave out what only the replaced nodes read, so that nothing is said of it."""
    readers = Counter(name for node in pieces.nodes for name in node.input)
    readers[pieces.output] += 1
    kept: list[NodeProto] = []
    for node in reversed(pieces.nodes):
        if node.op_type in _WRITTEN_OUT and not any(readers[name] for name in node.output):
            readers.subtract(node.input)
        else:
            kept.append(node)
    pieces.nodes = kept[::-1]
