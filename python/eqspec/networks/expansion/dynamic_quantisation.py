"""DynamicQuantizeLinear and the products of integers behind it, as `quantize_dynamic` of onnxruntime writes them.

The scale follows from the values themselves: over all entries of x and 0,

    s = (max - min) / 255,   z = round(-min / s),   q = saturate(round(x / s) + z),

to integers of 0 to 255, ties to even. What is multiplied is q - z = min(round(x / s), 255 - z): the lower end is never
left, because round(x / s) is at least round(min / s) = -z, and the upper one only at a tie. A product with stored integers W
less their zero point, scaled by s and by theirs, is then one of real numbers, and is written out as such. Sums fit into
32 bits, which is asked for. Where all entries are 0, s is 0 and nothing is proved; a runtime gives 0 levels there.

Behind a ReLU, or what else gives no negative number, min is 0, and so are z and what is lost at the upper end: x / s is
at most 255. Bounds are then far closer, because no smallest entry is looked for.

Levels that go anywhere else than into a product by way of moves are left as they are, and refused by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.networks.expansion.graph_pieces import Pieces, attributes, counts
from eqspec.networks.onnx_tensor import FLOATS, UnreadableError

_STANDARD = ("", "ai.onnx")
_MOVES = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_NOT_NEGATIVE = ("Abs", "HardSigmoid", "Relu", "Sigmoid", "Softmax", "Softplus")
_KEEPING = (*_MOVES, "AveragePool", "Dropout", "GlobalAveragePool", "GlobalMaxPool", "MaxPool")
"""Operators whose results are entries of what they are given, means of such, or 0."""
_LARGEST = 2**31 // (255 * 255)
"""Products of two levels of which a sum of 32 bits holds as many."""
_WINDOWS = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def expand(pieces: Pieces) -> None:
    """Write out every DynamicQuantizeLinear whose levels go into products with stored integers alone."""
    graph = _Readers(pieces)
    sources = {id(node): node for node in pieces.nodes if _is(node, "DynamicQuantizeLinear")}
    uses = {key: graph.uses(node) for key, node in sources.items()}
    products = {id(user): sources[key] for key, found in uses.items() for user in found or ()}
    if not products:
        return
    before, pieces.nodes = pieces.nodes, []
    for node in before:
        if uses.get(id(node)):
            levels, step, _ = node.output
            _levels(pieces, node, node.input[0], levels, step, from_zero=graph.never_negative(node.input[0]))
            pieces.notes.append(f"the scale of {levels!r} follows from each input, as DynamicQuantizeLinear says")
        elif id(node) in products:
            _product(pieces, node)
        else:
            pieces.nodes.append(node)


def quantised_product(pieces: Pieces, node: NodeProto) -> None:
    """DynamicQuantizeMatMul: x quantised, times integers with their scale and zero point, and what is added."""
    attributes(node, ())
    counts(node, (3, 5), (1, 1))
    value, matrix, scale, *rest = node.input
    zero, bias = (*rest, "", "")[:2]
    if not _stored(pieces, matrix, 0):
        raise UnreadableError("a matrix that depends on the input", "store it in the file")
    levels, step = pieces.name(node.output[0]), pieces.name(node.output[0])
    from_zero = _Readers(pieces).never_negative(value)
    _levels(pieces, node, value, levels, step, from_zero=from_zero)
    summed = pieces.add(node, "MatMul", [levels, _centred(pieces, node, matrix, zero)])
    _scaled(pieces, node, summed, [step, scale], bias)


class _Readers:
    """Which nodes read a value."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._makers = {name: node for node in pieces.nodes for name in node.output if name}
        self._of: dict[str, list[tuple[NodeProto, int]]] = defaultdict(list)
        for node in pieces.nodes:
            for index, name in enumerate(node.input):
                self._of[name].append((node, index))

    def never_negative(self, name: str) -> bool:
        """Whether a value holds no negative number, by the operators that it comes from."""
        while (node := self._makers.get(name)) is not None and _is(node, *_KEEPING) and node.output[0] == name:
            name = node.input[0]
        return node is not None and _is(node, *_NOT_NEGATIVE) and len(node.output) == 1

    def uses(self, source: NodeProto) -> list[NodeProto] | None:
        """The products that take the levels of this quantiser; None where something else does."""
        if len(source.input) != 1 or len(source.output) != 3 or source.attribute:
            return None
        levels, _, zero = source.output
        found: list[NodeProto] = []
        open_values = [levels]
        while open_values:
            name = open_values.pop()
            if name == self._pieces.output:
                return None
            for node, index in self._of[name]:
                if index == 0 and _is(node, *_MOVES) and len(node.output) == 1:
                    open_values.append(node.output[0])
                elif index == 0 and self._is_product(node, zero):
                    found.append(node)
                else:
                    return None
        known = {id(node) for node in found}
        alone = zero != self._pieces.output and all(id(node) in known for node, _ in self._of[zero])
        return found if alone else None

    def _is_product(self, node: NodeProto, zero: str) -> bool:
        """Whether it multiplies levels less their zero point with stored integers, and gives real numbers at once."""
        fused = node.op_type == "MatMulIntegerToFloat" and node.domain == "com.microsoft"
        if not fused and not _is(node, "MatMulInteger", "ConvInteger"):
            return False
        place = 4 if fused else 2
        inputs = [*node.input, *[""] * 7]
        if inputs[place] != zero or inputs.count(zero) > 1 or len(node.output) != 1:
            return False
        if not _stored(self._pieces, inputs[1], 1 if node.op_type == "ConvInteger" else 0):
            return False
        other = inputs[place + 1]
        if other and self._pieces.stored(other) is None:
            return False
        made = node.output[0]
        return fused or (made != self._pieces.output and all(_to_real(reader) for reader, _ in self._of[made]))


def _levels(pieces: Pieces, node: NodeProto, value: str, levels: str, step: str, *, from_zero: bool) -> None:
    """The levels less their zero point, as real numbers, and the step from one to the next."""

    def number(real: float) -> str:
        return pieces.constant(np.array(real, np.float32), levels)

    largest = pieces.add(node, "ReduceMax", [value], keepdims=0)
    if from_zero:
        per_step = pieces.add(node, "Div", [number(255), largest])
        pieces.add(node, "Div", [largest, number(255)], step)
        pieces.add(node, "Round", [pieces.add(node, "Mul", [value, per_step])], levels)
        return
    high = pieces.add(node, "Max", [largest, number(0)])
    low = pieces.add(node, "Min", [pieces.add(node, "ReduceMin", [value], keepdims=0), number(0)])
    width = pieces.add(node, "Sub", [high, low])
    pieces.add(node, "Div", [width, number(255)], step)
    per_step = pieces.add(node, "Div", [number(255), width])
    lowest = pieces.add(node, "Round", [pieces.add(node, "Mul", [low, per_step])])
    rounded = pieces.add(node, "Round", [pieces.add(node, "Mul", [value, per_step])])
    pieces.add(node, "Min", [rounded, pieces.add(node, "Add", [lowest, number(255)])], levels)


def _product(pieces: Pieces, node: NodeProto) -> None:
    """A product with the levels less their zero point, in real numbers."""
    if node.op_type == "ConvInteger":
        given = attributes(node, _WINDOWS)
        counts(node, (3, 4), (1, 1))
        kernel = _centred(pieces, node, node.input[1], _given(node, 3), along_first=True)
        pieces.add(node, "Conv", [node.input[0], kernel], node.output[0], **given)
        return
    attributes(node, ())
    fused = node.op_type == "MatMulIntegerToFloat"
    counts(node, (5, 7) if fused else (3, 4), (1, 1))
    matrix = _centred(pieces, node, node.input[1], _given(node, 5 if fused else 3))
    summed = pieces.add(node, "MatMul", [node.input[0], matrix], "" if fused else node.output[0])
    if fused:
        _scaled(pieces, node, summed, node.input[2:4], _given(node, 6))


def _scaled(pieces: Pieces, node: NodeProto, summed: str, scales: Sequence[str], bias: str) -> None:
    """A sum of levels times both scales, and what is added."""
    scaled = pieces.add(node, "Mul", [summed, pieces.add(node, "Mul", scales)], "" if bias else node.output[0])
    if bias:
        pieces.add(node, "Add", [scaled, bias], node.output[0])


def _centred(pieces: Pieces, node: NodeProto, name: str, zero: str, *, along_first: bool = False) -> str:
    """Stored integers less their zero point, as real numbers; that of a kernel has an entry for each row of it."""
    real = pieces.add(node, "Cast", [name], to=TensorProto.FLOAT)
    if not zero:
        return real
    taken = pieces.add(node, "Cast", [zero], to=TensorProto.FLOAT)
    stored, array = pieces.stored(zero), pieces.stored(name)
    if along_first and stored is not None and array is not None and len(stored.dims) == 1:
        shape = pieces.constant(np.array([-1, *[1] * (len(array.dims) - 1)], np.int64), node.output[0])
        taken = pieces.add(node, "Reshape", [taken, shape])
    return pieces.add(node, "Sub", [real, taken])


def _stored(pieces: Pieces, name: str, first_summed: int) -> bool:
    """Whether these are stored integers of 8 bits whose sums fit into 32 bits.

    A kernel (M, C, ...) sums over all axes but the first, a matrix (..., K, N) over the second to last.
    """
    tensor = pieces.stored(name)
    if tensor is None or tensor.data_type not in (TensorProto.INT8, TensorProto.UINT8) or len(tensor.dims) < 2:
        return False
    return (prod(tensor.dims[1:]) if first_summed else tensor.dims[-2]) <= _LARGEST


def _is(node: NodeProto, *operators: str) -> bool:
    return node.op_type in operators and node.domain in _STANDARD


def _to_real(node: NodeProto) -> bool:
    """Whether a node converts to floating-point numbers."""
    return _is(node, "Cast") and any(a.name == "to" and a.i in FLOATS for a in node.attribute)


def _given(node: NodeProto, index: int) -> str:
    return node.input[index] if index < len(node.input) else ""


EXPANSIONS = {"DynamicQuantizeMatMul": quantised_product}
