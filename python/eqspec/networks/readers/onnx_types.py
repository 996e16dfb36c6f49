"""The element types of a graph's values while it is evaluated, and which constants a runtime would have rounded.

Types follow from the tensors by the operators' definitions (see `onnx_definition`); operands that an operator does not
take together are refused. Real constants are exact or enclosed here, whereas a runtime keeps each in its type: one that
the type does not hold, or that comes from such a one, is `rounded`. That is left out of the real function like all
rounding, but where a cast turns it into an integer or another weight, no such function can be told (see `casting`).
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx import NodeProto, helper

from eqspec.networks.enclosure import Enclosure
from eqspec.networks.masked import Masked
from eqspec.networks.operators.casting import is_exact
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.readers import onnx_definition
from eqspec.networks.readers.onnx_graph import Graph
from eqspec.networks.readers.onnx_names import STANDARD

_IN_STEPS = frozenset({"BatchNormalization", "Gemm", "MatMul", "Sum"})
"""Operators that may round on the way, although their result is exact."""


class Types:
    """Types by name: `enter` a node before it is evaluated, `leave` it after."""

    def __init__(self, graph: Graph) -> None:
        self._opset = graph.opset
        self._types: dict[str, int | None] = {name: int(t.data_type) for name, t in graph.initializers.items()}
        self._types |= {given.name: given.kind for given in graph.inputs}
        self._rounded: set[str] = set()

    def named(self, node: NodeProto) -> NodeProto:
        """A CastLike as the Cast to the type that its second input has, if that is known; another node as it is."""
        if node.op_type != "CastLike" or node.domain not in STANDARD or len(node.input) != 2:
            return node
        kind = self._types.get(node.input[1])
        if kind is None:
            return node
        return helper.make_node("Cast", [node.input[0]], list(node.output), name=node.name, to=kind)

    def kinds(self, node: NodeProto) -> list[int | None]:
        """The types of a node's inputs, where they are known."""
        return [self._types.get(name) if name else None for name in node.input]

    def enter(self, node: NodeProto, given: Sequence[Value | None]) -> bool:
        """Whether a constant among the inputs is rounded. UnreadableError for types that do not go together."""
        kinds = self.kinds(node)
        made = onnx_definition.result_types(node, self._opset, kinds)
        self._types.update(zip(node.output, made, strict=True))
        return any(name in self._rounded for name, v in zip(node.input, given, strict=True) if v is not None)

    def leave(self, node: NodeProto, results: Sequence[Value]) -> None:
        """Note which results are rounded."""
        before = any(name in self._rounded for name in node.input)
        for name, value in zip(node.output, results, strict=False):
            value = value.value if isinstance(value, Masked) else value
            if not isinstance(value, Enclosure):
                continue
            if before or node.op_type in _IN_STEPS or not is_exact(value, self._types.get(name)):
                self._rounded.add(name)
