"""The networks and tensors that a VNN-LIB 2.0 file declares.

Read are networks with one input and one output each. Hidden nodes and several inputs or outputs are refused.
"""

from __future__ import annotations

from math import prod
from re import compile as regex
from typing import cast

from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.suggest import did_you_mean, enumerate_names
from eqspec.vnnlib.query import Declared, Element, FileRelation, Tensor
from eqspec.vnnlib.sexpr import Group, Word
from eqspec.vnnlib.unique_warnings import UniqueWarnings

MOST_NETWORKS = 100
MOST_ENTRIES = 1 << 24
"""The most entries of a tensor."""
_NAME = regex(r"[^\W\d_][^\W]*")
_FLOATS = ("float16", "float32", "float64", "float", "double", "bfloat16")
_RELATIONS = ("isomorphic-to", "equal-to")
_PARTS = ("declare-input", "declare-output", "declare-hidden", *_RELATIONS)


class Declarations:
    """Reads the declarations of one file, and then says what names stand for."""

    def __init__(self, findings: Findings, notes: UniqueWarnings) -> None:
        self._findings, self._notes = findings, notes
        self._networks: list[Declared] = []
        self._tensors: dict[str, tuple[int, bool, Tensor]] = {}

    def read(self, groups: list[Group]) -> tuple[Declared, ...]:
        """All networks, in their order."""
        for group in groups:
            with self._findings.collecting():
                if group.head != "declare-network":
                    message = f"'{group.head}' belongs to VNN-LIB 1.0, but this file is 2.0"
                    raise Fault(error("E600", message, group.span, help="write 'declare-network'"))
                self._network(group)
        if not groups:
            raise Fault(error("E604", "no network is declared", None, help="(declare-network f ...)"))
        return tuple(self._networks)

    def element(self, word: Word) -> Element:
        """What a word of a formula stands for."""
        found = self._tensors.get(word.text)
        if found is None:
            hint = did_you_mean(word.text, self._tensors) or f"declared: {enumerate_names(self._tensors)}"
            raise Fault(error("E604", f"'{word.text[:40]}' is not declared", word.span, help=hint))
        network, output, tensor = found
        places = () if word.subscript is None else _whole_numbers(word, word.subscript)
        if len(places) != len(tensor.shape):
            message = f"'{tensor.name}' has {len(tensor.shape)} axes, here are {len(places)}"
            whole = "whole tensors cannot be compared" if not places else None
            raise Fault(error("E604", message, word.span, help=whole))
        index = 0
        for place, size in zip(places, tensor.shape, strict=True):
            if place >= size:
                message = f"'{word.span.text[:40]}' lies outside of the declared shape {list(tensor.shape)}"
                raise Fault(error("E604", message, word.span, help="axes are counted from 0"))
            index = index * size + place
        return Element(network, output, index)

    def _network(self, group: Group) -> None:
        name = self._name(group)
        if any(n.name == name for n in self._networks):
            raise Fault(error("E604", f"network '{name}' is declared twice", group.items[1].span))
        if len(self._networks) == MOST_NETWORKS:
            message = f"more than {MOST_NETWORKS} networks are declared"
            raise Fault(error("E612", message, group.items[1].span, help="split the file"))
        parts: dict[str, list[Group]] = {part: [] for part in _PARTS}
        for item in group.items[2:]:
            if not isinstance(item, Group) or item.head not in parts:
                found = (item.head if isinstance(item, Group) else item.text) or ""
                hint = did_you_mean(found, _PARTS) or f"one of {', '.join(_PARTS)}"
                raise Fault(error("E600", f"unknown part '{found[:40]}' of a network", item.span, help=hint))
            parts[item.head].append(item)
        if parts["declare-hidden"]:
            message = "hidden nodes are not supported: only inputs and outputs can be compared"
            raise Fault(error("E603", message, parts["declare-hidden"][0].span))
        for part in ("declare-input", "declare-output"):
            if len(parts[part]) > 1:
                message = f"network '{name}' has several {part[8:]}s, which is not supported"
                raise Fault(error("E603", message, parts[part][1].span))
        if not parts["declare-output"]:
            raise Fault(error("E604", f"network '{name}' declares no output", group.span))
        number = len(self._networks)
        like = self._like(parts)
        inputs = [self._tensor(item) for item in parts["declare-input"]]
        outputs = [self._tensor(item) for item in parts["declare-output"]]
        if not inputs:
            if number == 0:
                raise Fault(error("E604", f"network '{name}' declares no input", group.span))
            message = f"network '{name}' declares no input: it is taken to get that of '{self._networks[0].name}'"
            self._notes.add("W601", message, group.items[1].span, "declare its input, and assert that both are equal")
        network = Declared(name, inputs[0] if inputs else None, outputs[0], like, group.items[1].span)
        for tensor, output in ((inputs[0] if inputs else None, False), (outputs[0], True)):
            if tensor is not None:
                if tensor.name in self._tensors:
                    raise Fault(error("E604", f"'{tensor.name}' is declared twice", tensor.span))
                self._tensors[tensor.name] = (number, output, tensor)
        self._networks.append(network)

    def _name(self, group: Group) -> str:
        word = group.items[1] if len(group.items) > 1 else None
        if not isinstance(word, Word) or word.subscript is not None:
            raise Fault(error("E600", "a network needs a name", group.span, help="(declare-network f ...)"))
        if not _NAME.fullmatch(word.text):
            message = f"'{word.text[:40]}' is not a name: names are letters, digits and '_', and start with a letter"
            self._notes.add("W601", message, word.span)
        return word.text

    def _like(self, parts: dict[str, list[Group]]) -> tuple[FileRelation, int] | None:
        found = [item for relation in _RELATIONS for item in parts[relation]]
        if not found:
            return None
        first = found[0]
        other = first.items[1] if len(first.items) == 2 else None
        if len(found) > 1 or not isinstance(other, Word):
            raise Fault(error("E600", "a network is like one other network", found[-1].span))
        for number, network in enumerate(self._networks):
            if network.name == other.text:
                return cast(FileRelation, first.head), number
        raise Fault(error("E604", f"network '{other.text[:40]}' is not declared before", other.span))

    def _tensor(self, group: Group) -> Tensor:
        words = group.items[1:]
        node: str | None = None
        if len(words) > 2 and isinstance(words[-1], Word) and words[-1].text.startswith('"'):
            *words, named = words
            assert isinstance(named, Word)
            node = named.text.strip('"')
        if len(words) > 2 and isinstance(words[2], Word) and words[2].text == "initialized":
            raise Fault(error("E603", "initialised inputs are not supported", words[2].span))
        name, kind = (words[0], words[1]) if len(words) == 2 else (None, None)
        if not isinstance(name, Word) or not isinstance(kind, Word) or name.subscript is not None:
            raise Fault(error("E600", "a tensor is declared as (declare-input X real [5])", group.span))
        if kind.subscript is None:
            raise Fault(error("E600", f"'{name.text[:40]}' has no shape", kind.span, help="[5], or [] for a scalar"))
        if not _NAME.fullmatch(name.text):
            message = f"'{name.text[:40]}' is not a name: names are letters, digits and '_', and start with a letter"
            raise Fault(error("E600", message, name.span))
        if kind.text == "Real":
            self._notes.add("W601", "the type of real numbers is written 'real'", kind.span)
        elif kind.text in _FLOATS:
            message = f"'{kind.text}' is read as 'real': the answer is about the networks as functions of real numbers"
            self._notes.add("W604", message, kind.span, "write 'real' to agree")
        elif kind.text != "real":
            raise Fault(error("E603", f"type '{kind.text[:40]}' is not supported", kind.span, help="write 'real'"))
        shape = _whole_numbers(kind, kind.subscript)
        if not all(shape) or prod(shape) > MOST_ENTRIES:
            message = "a tensor has at least one entry" if not all(shape) else f"more than {MOST_ENTRIES} entries"
            raise Fault(error("E612" if all(shape) else "E600", message, kind.span))
        return Tensor(name.text, shape, kind.text, name.span, node)


def _whole_numbers(word: Word, listed: str) -> tuple[int, ...]:
    """What stands between brackets; an empty pair is the shape of a scalar."""
    if not listed.strip():
        return ()
    texts = [text.strip() for text in listed.split(",")]
    if not all(text.isascii() and text.isdigit() and len(text) <= 12 for text in texts):
        raise Fault(error("E600", "whole numbers with commas between them are expected in brackets", word.span))
    return tuple(int(text) for text in texts)
