"""Nodes that quantise, in the words that a file of so many bits has for them.

    8 bits           QuantizeLinear and DequantizeLinear, of the standard since opset 13
    4 and 16 bits    the same, of the standard since opset 21; before, of onnxruntime (com.microsoft)
    other widths     Quant of QONNX, which takes any

Constants are stored as their integers, in front of a DequantizeLinear; for Quant as the float32 nearest to what they
stand for, which the node turns into the same level again, since it lies within a small part of a step of it. (Of biases
with more than 24 bits it is the level nearest to that float32. What the file says is what the derived network is.)
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.deriving.scales import Activation, Weights, along

QONNX, MICROSOFT = "qonnx.custom_op.general", "com.microsoft"
_TYPES = {
    4: (TensorProto.UINT4, TensorProto.INT4),
    8: (TensorProto.UINT8, TensorProto.INT8),
    16: (TensorProto.UINT16, TensorProto.INT16),
}
"""The element types of activations and of weights, by bits."""
_BITS_OF_BIAS = 32


@dataclass
class QuantiserNodes:
    """Nodes and constants of a quantised graph under way; `taken` are the names that it has already."""

    bits: int
    opset: int
    taken: set[str]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    @property
    def qonnx(self) -> bool:
        """Whether the integers of so many bits have no type in ONNX."""
        return self.bits not in _TYPES

    @property
    def domain(self) -> str:
        """The domain of the nodes that quantise."""
        if self.qonnx:
            return QONNX
        return "" if self.opset >= (13 if self.bits == 8 else 21) else MICROSOFT

    def named(self, name: str) -> str:
        """A name that nothing else has."""
        found, number = name, 1
        while found in self.taken:
            found, number = f"{name}_{number}", number + 1
        self.taken.add(found)
        return found

    def activation(self, value: str, of: Activation, behind: str = "") -> str:
        """A value quantised and dequantised, under a new name or the one that is given."""
        behind = behind or self.named(f"{value}_dequantized")
        scale = self._constant(f"{value}_scale", np.asarray(of.scale, np.float32))
        if self.qonnx:
            zero = self._constant(f"{value}_zero_point", np.asarray(of.zero, np.float32))
            self._quant([value, scale, zero], self.bits, behind, signed=0, narrow=0)
            return behind
        zero = self._integers(f"{value}_zero_point", np.asarray(of.zero), _TYPES[self.bits][0])
        levels = self.named(f"{value}_quantized")
        self._node("QuantizeLinear", [value, scale, zero], levels)
        self._node("DequantizeLinear", [levels, scale, zero], behind)
        return behind

    def weights(self, name: str, of: Weights) -> str:
        """A constant of the width of the network."""
        return self._stored(name, of, None if self.qonnx else _TYPES[self.bits][1], self.bits)

    def bias(self, name: str, of: Weights) -> str:
        """A constant of 32 bits."""
        return self._stored(name, of, None if self.qonnx else TensorProto.INT32, _BITS_OF_BIAS)

    def _stored(self, name: str, of: Weights, kind: int | None, bits: int) -> str:
        behind = self.named(f"{name}_dequantized")
        if kind is None:
            by_entry = along(of.scale, of.levels.ndim, of.axis)
            real = (of.levels * by_entry.astype(np.float64)).astype(np.float32)
            value = self._constant(f"{name}_rounded", real)
            zero = self._constant(f"{name}_zero_point", np.zeros((), np.float32))
            self._quant([value, self._constant(f"{name}_scale", by_entry), zero], bits, behind, signed=1, narrow=1)
            return behind
        levels = self._integers(f"{name}_quantized", of.levels, kind)
        scale = of.scale.reshape(()) if of.axis is None else of.scale
        zeros = np.zeros(scale.shape, np.int64)
        given = [levels, self._constant(f"{name}_scale", scale), self._integers(f"{name}_zero_point", zeros, kind)]
        self._node("DequantizeLinear", given, behind, **({} if of.axis is None else {"axis": of.axis}))
        return behind

    def _quant(self, given: list[str], bits: int, behind: str, *, signed: int, narrow: int) -> None:
        width = self._constant(f"{behind}_bits", np.asarray(bits, np.float32))
        self._node("Quant", [*given, width], behind, signed=signed, narrow=narrow, rounding_mode="ROUND")

    def _node(self, operator: str, given: list[str], behind: str, **attributes: Any) -> None:
        node = helper.make_node(operator, given, [behind], name=f"{behind}_node", domain=self.domain, **attributes)
        self.nodes.append(node)

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        name = self.named(name)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def _integers(self, name: str, array: NDArray[Any], kind: int) -> str:
        name = self.named(name)
        self.constants.append(helper.make_tensor(name, kind, array.shape, array.reshape(-1).tolist()))
        return name
