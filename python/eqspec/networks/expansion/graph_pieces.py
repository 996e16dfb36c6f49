"""Nodes and constants of a graph while some of its nodes are written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from eqspec.networks.onnx_tensor import FLOATS, ExternalData, UnreadableError

_STANDARD = ("", "ai.onnx")
AGAIN = "export the model again"
_NO_VALUES = {"name", "type", "doc_string", "ref_attr_name"}
"""The fields of an attribute that hold no value."""


class Pieces:
    """What is made so far: `nodes` in order, `added` constants beside those of the file, and what to say of it.

    `integer_products` are products of integers that are written out with real numbers (`pair_saturation` asks).
    """

    def __init__(
        self,
        given: Sequence[NodeProto],
        tensors: dict[str, TensorProto],
        inputs: Sequence[str],
        output: str,
        opset: int,
        external: ExternalData,
    ) -> None:
        self.tensors, self.inputs, self.output, self.opset = tensors, frozenset(inputs), output, opset
        self._external = external
        self.nodes: list[NodeProto] = []
        self.added: list[TensorProto] = []
        self.notes: list[str] = []
        self.integer_products: list[NodeProto] = []
        self.changed = False
        self.blocked = set[str]()  # values whose channels lie in blocks (`blocks`)
        self._taken = {name for node in given for name in (*node.input, *node.output)} | {*tensors, *inputs}
        self.read = {name for node in given for name in node.input} | {output}
        constants = ((node.output, tensor_of(node)) for node in given if node.op_type == "Constant")
        self._constants = {names[0]: tensor for names, tensor in constants if tensor is not None and len(names) == 1}

    def name(self, like: str) -> str:
        """A name that nothing else has."""
        number = 0
        while (made := f"{like}/eqspec{number}") in self._taken:
            number += 1
        self._taken.add(made)
        return made

    def stored(self, name: str) -> TensorProto | None:
        """The tensor of this name that the file holds, by itself or in a Constant."""
        return self.tensors.get(name, self._constants.get(name))

    def array(self, tensor: TensorProto) -> NDArray[Any]:
        """The numbers of a tensor of the file, also of one that is stored outside of it.

        `numpy_helper.to_array` alone looks for those in the working directory. Raises UnreadableError.
        """
        return np.asarray(numpy_helper.to_array(self._external.inside(tensor)))

    def constant(self, array: NDArray[Any], like: str) -> str:
        """A constant of the graph, exactly as it is."""
        name = self.name(like)
        self.added.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def add(self, node: NodeProto, operator: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """A standard node in place of a part of this one; the name of its output."""
        self.changed = True
        domain = attributes.pop("domain", "")
        made: str = output or self.name(node.output[0] if node.output else operator)
        called = node.name or next(iter(node.output), operator)
        self.nodes.append(helper.make_node(operator, list(inputs), [made], name=called, domain=domain, **attributes))
        return made

    def real(self, node: NodeProto, index: int) -> str:
        """An input as floating-point numbers: operators that also take integers begin by converting them."""
        name = str(node.input[index])
        if name not in self.inputs:
            return name
        return self.add(node, "Cast", [name], to=TensorProto.FLOAT)

    def softmax(self, node: NodeProto, scores: str, output: str) -> str:
        """A Softmax over the second of two axes."""
        return self.add(node, "Softmax", [scores], output, axis=1 if self.opset < 13 else -1)


def tensor_of(constant: NodeProto) -> TensorProto | None:
    """What a Constant holds, where it is a tensor."""
    if len(constant.attribute) != 1:
        return None
    (attribute,) = constant.attribute
    return attribute.t if attribute.name == "value" and attribute.type == AttributeProto.TENSOR else None


def casts_to_reals(node: NodeProto) -> bool:
    """Whether a node is a Cast to a type of real numbers, which are the numbers that it takes.

    What float16 or bfloat16 would round is not modelled; a cast to integers or to truth values is another function.
    """
    kinds = [attribute.i for attribute in node.attribute if attribute.name == "to"]
    return node.op_type == "Cast" and node.domain in _STANDARD and len(kinds) == 1 and kinds[0] in FLOATS


def hands_on(node: NodeProto) -> bool:
    """Whether a node gives the numbers that it takes, and is seen through where a value is looked for."""
    return (node.op_type == "Identity" and node.domain in _STANDARD) or casts_to_reals(node)


def value_fields(attribute: AttributeProto) -> set[str]:
    """The fields in which an attribute holds a value: of a sound one, the one that belongs to its type."""
    return {field.name for field, _ in attribute.ListFields()} - _NO_VALUES


def attributes(node: NodeProto, known: Sequence[str]) -> dict[str, Any]:
    """The attributes of a node, all of which must be known. Raises UnreadableError."""
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.name not in known or attribute.name in found or attribute.ref_attr_name:
            raise UnreadableError(f"attribute {attribute.name!r} is not known, or given twice", AGAIN)
        if len(value_fields(attribute)) > 1:
            raise UnreadableError(f"attribute {attribute.name!r} holds values of two types", AGAIN)
        value = helper.get_attribute_value(attribute)
        found[attribute.name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return found


def counts(node: NodeProto, inputs: tuple[int, int], outputs: tuple[int, int]) -> None:
    """UnreadableError unless a node has so many inputs and outputs."""
    if not inputs[0] <= len(node.input) <= inputs[1] or not outputs[0] <= len(node.output) <= outputs[1]:
        message = f"{len(node.input)} inputs and {len(node.output)} outputs, which the operator does not have"
        raise UnreadableError(message, AGAIN)
