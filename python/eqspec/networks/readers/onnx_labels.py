"""Whether the label that a file gives beside its scores is the place of the largest or of the smallest of them.

A label that is left alone still tells how a file decides: `KMeans` and nearest neighbours give distances, and the label
is the place of the smallest. Both values are followed back through operators that keep the order of numbers, or turn it
round; where they meet, the label is about what is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from onnx import NodeProto

End: TypeAlias = Literal["max", "min"]
_PLACES = {"ArgMax": 0, "ArgMin": 0, "Hardmax": 0, "TopK": 1}
"""Operators that give the place of the largest or smallest numbers, as a number or as a mark, by which output."""
_MOVING = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze")
_IN_ORDER = (*_MOVING, "Dropout", "LogSoftmax", "Sigmoid", "Softmax", "Sqrt", "ZipMap")
_OF_CLASSES = "ArrayFeatureExtractor"
"""Picks the names of classes, its first input, by their numbers."""

_DOMAINS = ("", "ai.onnx.ml")

Makers: TypeAlias = Mapping[str, NodeProto]


def scores_of(label: str, makers: Makers) -> str | None:
    """The numbers whose largest or smallest a value says where it is; None if it says something else."""
    node = _place(label, makers, _MOVING)
    return None if node is None or node.domain else str(node.input[0])


def deciding_end(outputs: Iterable[str], read: str, makers: Makers) -> End | None:
    """The end of the scores that are read which the labels among outputs stand for; None if none does, or both."""
    meets = dict(_in_order(read, makers))
    ends = set[End]()
    for name in outputs:
        node = _place(name, makers, (*_MOVING, _OF_CLASSES))
        if node is None:
            continue
        common = next(((turned, meets[at]) for at, turned in _in_order(node.input[0], makers) if at in meets), None)
        if common is not None:
            smallest = _takes_smallest(node) ^ common[0] ^ common[1]
            ends.add("min" if smallest else "max")
    return ends.pop() if len(ends) == 1 else None


def _place(name: str, makers: Makers, through: tuple[str, ...]) -> NodeProto | None:
    """The operator by which a value is the place of a largest or smallest number."""
    seen = set[str]()
    while (node := makers.get(name)) is not None and node.input and name not in seen:
        seen.add(name)
        if node.domain not in _DOMAINS:
            return None
        if node.op_type in _PLACES:
            place = _PLACES[node.op_type]
            return node if len(node.output) > place and node.output[place] == name else None
        if node.op_type not in through:
            return None
        name = node.input[1] if node.op_type == _OF_CLASSES and len(node.input) == 2 else node.input[0]
    return None


def _takes_smallest(node: NodeProto) -> bool:
    largest = next((a.i for a in node.attribute if a.name == "largest"), 1)
    return node.op_type == "ArgMin" or (node.op_type == "TopK" and not largest)


def _in_order(name: str, makers: Makers) -> Iterator[tuple[str, bool]]:
    """A value and those that it has the order of, and whether that is turned round."""
    turned, seen = False, set[str]()
    while name not in seen:
        seen.add(name)
        yield name, turned
        node = makers.get(name)
        if node is None or not node.input or node.op_type not in (*_IN_ORDER, "Neg"):
            return
        turned ^= node.op_type == "Neg"
        name = node.input[0]
