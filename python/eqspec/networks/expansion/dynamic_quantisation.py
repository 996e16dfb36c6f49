"""DynamicQuantizeLinear and the products of integers behind it, as `quantize_dynamic` of onnxruntime writes them.

The scale follows from the values themselves: over all entries of x and 0,

    s = (max - min) / 255,   z = round(-min / s),   q = saturate(round(x / s) + z),

to integers of 0 to 255, ties to even. What is multiplied is q - z = min(round(x / s), 255 - z): the lower end is never
left, because round(x / s) is at least round(min / s) = -z, and the upper one only at a tie. A product with stored
integers less their zero point is then one of real numbers, and is written out as such. Sums fit into 32 bits, which is
asked for. Where all entries are 0, s is 0 and nothing is proved.

Behind a ReLU, or what else gives no negative number, min is 0, and so are z and what is lost at the upper end: x / s is
at most 255. Bounds are then far closer, because no smallest entry is looked for.

Behind a Sign, or a Clip from -1 to 1, the range is 2 wherever both ends are reached, and the zero point and the levels
of both ends lie at ties, 127.5. Runtimes divide in float32 there and may decide otherwise, so such a file is refused.

A DequantizeLinear with the same scale and zero point, as tf2onnx writes it for TFLite files with weights alone of 8
bits, gives s (q - z) = x + s ((q - z) - x / s): x and a small number.

Levels that go anywhere else than into one of these by way of moves are left as they are, and refused by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.expansion.graph_pieces import Pieces, attributes, casts_to_reals, counts
from eqspec.networks.onnx_tensor import UnreadableError

DYNAMIC = "a scale that follows from the data"
"""What the node says that divides by such a scale."""

_STANDARD = ("", "ai.onnx")
_MOVES = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_NOT_NEGATIVE = ("Abs", "HardSigmoid", "Relu", "Sigmoid", "Softmax", "Softplus")
_KEEPING = (*_MOVES, "AveragePool", "Dropout", "GlobalAveragePool", "GlobalMaxPool", "MaxPool")
"""Operators whose results are entries of what they are given, means of such, or 0."""
_LARGEST = 2**31 // (255 * 255)
"""Products of two levels of which a sum of 32 bits holds as many."""
_OTHER_ENDS = "quantise it statically (quantize_static), or clip to ends of other sizes"
_WINDOWS = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


@dataclass
class _Quantised:
    """What one of them gives: the values, their levels less the zero point, what rounding changed, and the step."""

    value: str
    levels: str
    lost: str
    step: str


def expand(pieces: Pieces) -> None:
    """Write out every DynamicQuantizeLinear whose levels are dequantised or multiplied with stored integers alone."""
    graph = _Readers(pieces)
    sources = {id(node): node for node in pieces.nodes if _is(node, "DynamicQuantizeLinear")}
    uses = {key: graph.uses(node) for key, node in sources.items()}
    products = {id(user) for found in uses.values() for user in found or ()}
    if not products:
        return
    before, pieces.nodes = pieces.nodes, []
    pieces.integer_products += [node for node in before if id(node) in products and _signed(pieces, node.input[1])]
    made = dict[str, _Quantised]()
    for node in before:
        if uses.get(id(node)):
            levels, step, _ = node.output
            from_zero = graph.never_negative(node.input[0])
            graph.refuse_ties(node.input[0])
            made[levels] = _quantised(pieces, node, node.input[0], levels, step, from_zero=from_zero)
            pieces.notes.append(f"the scale of {levels!r} follows from each input, as DynamicQuantizeLinear says")
    scaled = {id(end): (node, by) for node in before if id(node) in products for end, by in graph.scaled(node, made)}
    for node in before:
        if uses.get(id(node)):
            continue
        if id(node) in scaled:
            product, by = scaled[id(node)]
            _scaled(pieces, node, _matrix(pieces, product), product, made[product.input[0]], [by] if by else [], "")
        elif id(node) in products:
            _product(pieces, node, made)
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
    graph = _Readers(pieces)
    from_zero = graph.never_negative(value)
    graph.refuse_ties(value)
    quantised = _quantised(pieces, node, value, levels, step, from_zero=from_zero)
    pieces.integer_products += [node] * _signed(pieces, matrix)
    _scaled(pieces, node, _centred(pieces, node, matrix, zero), node, quantised, [scale], bias)


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
        node = self._behind_keeping(name)
        return node is not None and _is(node, *_NOT_NEGATIVE) and len(node.output) == 1

    def _behind_keeping(self, name: str) -> NodeProto | None:
        """What makes the entries of a value."""
        while (node := self._makers.get(name)) is not None and _is(node, *_KEEPING) and node.output[0] == name:
            name = node.input[0]
        return node

    def refuse_ties(self, name: str) -> None:
        """UnreadableError where the ends of a Clip, or of a Sign, lie at ties of the levels that follow from them."""
        node = self._behind_keeping(name)
        if node is None or not _is(node, "Clip", "Sign"):
            return
        named = {a.name: a.f for a in node.attribute} if node.op_type == "Clip" else {"min": -1.0, "max": 1.0}
        ends = [named.get(end) for end in ("min", "max")]
        for at, given in enumerate(node.input[1:]):
            if (stored := self._pieces.stored(given) if given else None) is not None:
                ends[at] = float(self._pieces.array(stored).reshape(-1)[0])
        low, high = (None if end is None else Fraction(end) for end in ends)
        if low is None or high is None or not low < 0 < high:
            return
        step = (high - low) / 255
        if (low / step).denominator == 2 and float(np.float32(float(step))) != step:
            message = f"it follows a {node.op_type} from {float(low):g} to {float(high):g}, whose ends lie at ties"
            raise UnreadableError(f"{message}, and runtimes that divide in float32 may decide otherwise", _OTHER_ENDS)

    def uses(self, source: NodeProto) -> list[NodeProto] | None:
        """The products and dequantisers that take the levels of this quantiser; None where something else does."""
        if len(source.input) != 1 or len(source.output) != 3 or source.attribute:
            return None
        levels, step, zero = source.output
        found: list[NodeProto] = []
        open_values = [levels]
        while open_values:
            name = open_values.pop()
            if name == self._pieces.output:
                return None
            for node, index in self._of[name]:
                if index == 0 and _is(node, *_MOVES) and len(node.output) == 1:
                    open_values.append(node.output[0])
                elif index == 0 and (self._is_product(node, zero) or _dequantises(node, step, zero)):
                    found.append(node)
                else:
                    return None
        known = {id(node) for node in found}
        alone = zero != self._pieces.output and all(id(node) in known for node, _ in self._of[zero])
        return found if alone else None

    def scaled(self, product: NodeProto, made: Mapping[str, _Quantised]) -> Iterator[tuple[NodeProto, str]]:
        """The one node that scales a product by the step of its own levels, and the other scale; '' for none."""
        quantised = made.get(product.input[0])
        casts = self._of[product.output[0]]
        if quantised is None or not _is(product, "MatMulInteger", "ConvInteger") or len(casts) != 1:
            return
        readers = self._of[casts[0][0].output[0]]
        if len(readers) != 1 or casts[0][0].output[0] == self._pieces.output:
            return
        ((end, index),) = readers
        if not _is(end, "Mul") or len(end.input) != 2 or len(end.output) != 1:
            return
        scale = end.input[1 - index]
        maker = self._makers.get(scale)
        if scale == quantised.step:
            yield end, ""
        elif maker is not None and _is(maker, "Mul") and list(maker.input).count(quantised.step) == 1:
            yield end, next(name for name in maker.input if name != quantised.step)

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
        return fused or (made != self._pieces.output and all(casts_to_reals(reader) for reader, _ in self._of[made]))


def _quantised(pieces: Pieces, node: NodeProto, value: str, levels: str, step: str, *, from_zero: bool) -> _Quantised:
    """The levels less their zero point, as real numbers, and the step from one to the next."""

    def number(real: float) -> str:
        return pieces.constant(np.array(real, np.float32), levels)

    largest = pieces.add(node, "ReduceMax", [value], keepdims=0)
    low = ""
    if not from_zero:
        high = pieces.add(node, "Max", [largest, number(0)])
        low = pieces.add(node, "Min", [pieces.add(node, "ReduceMin", [value], keepdims=0), number(0)])
        largest = pieces.add(node, "Sub", [high, low])
    pieces.add(node, "Div", [largest, number(255)], step)
    per_step = pieces.add(node, "Div", [number(255), largest])
    pieces.nodes[-1].doc_string = DYNAMIC
    quotient = pieces.add(node, "Mul", [value, per_step])
    rounded = _rounded(pieces, node, quotient, levels if from_zero else "")
    if low:
        lowest = _rounded(pieces, node, pieces.add(node, "Mul", [low, per_step]))
        pieces.add(node, "Min", [rounded, pieces.add(node, "Add", [lowest, number(255)])], levels)
    lost = pieces.add(node, "Sub", [levels, quotient])
    return _Quantised(value, levels, lost, step)


def _rounded(pieces: Pieces, node: NodeProto, quotient: str, output: str = "") -> str:
    """A quotient of -255 to 255 rounded: a quantiser of step 1 whose ends it never reaches.

    As one function its bounds are the quotient and half a step to each side; two floors would each have a whole one.
    """
    one, zero, bits = (pieces.constant(np.array(n, np.float32), node.output[0]) for n in (1.0, 0.0, 10.0))
    how = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    return pieces.add(node, "Quant", [quotient, one, zero, bits], output, domain="qonnx.custom_op.general", **how)


def _product(pieces: Pieces, node: NodeProto, made: Mapping[str, _Quantised]) -> None:
    """A product with the levels less their zero point, or what they stand for, in real numbers."""
    if _is(node, "DequantizeLinear"):
        _dequantised(pieces, node, made.get(node.input[0]))
        return
    matrix = _matrix(pieces, node)
    if node.op_type == "MatMulIntegerToFloat" and node.input[0] in made and node.input[2] == made[node.input[0]].step:
        _scaled(pieces, node, matrix, node, made[node.input[0]], [node.input[3]], _given(node, 6))
        return
    if node.op_type != "MatMulIntegerToFloat":
        _times(pieces, node, node.input[0], matrix, node.output[0])
        return
    bias = _given(node, 6)
    made_scale = pieces.add(node, "Mul", node.input[2:4])
    summed = _times(pieces, node, node.input[0], matrix)
    scaled = pieces.add(node, "Mul", [summed, made_scale], "" if bias else node.output[0])
    if bias:
        pieces.add(node, "Add", [scaled, bias], node.output[0])


def _dequantised(pieces: Pieces, node: NodeProto, quantised: _Quantised | None) -> None:
    """What levels stand for: the value and what rounding changed of it, or levels that were moved times their step."""
    if quantised is None:
        pieces.add(node, "Mul", node.input[:2], node.output[0])
        return
    lost = pieces.add(node, "Mul", [quantised.lost, quantised.step])
    pieces.add(node, "Add", [quantised.value, lost], node.output[0])


def _scaled(
    pieces: Pieces,
    node: NodeProto,
    matrix: str,
    product: NodeProto,
    quantised: _Quantised,
    scales: Sequence[str],
    bias: str,
) -> None:
    """s (q - z) W = x W + s ((q - z) - x / s) W, times what else scales it, and what is added.

    The first summand is affine in x and the second one small, so bounds are as close as those of a fixed scale.
    """
    whole = _times(pieces, product, quantised.value, matrix)
    lost = pieces.add(node, "Mul", [_times(pieces, product, quantised.lost, matrix), quantised.step])
    made = pieces.add(node, "Add", [whole, lost], "" if scales or bias else node.output[0])
    for scale in scales:
        made = pieces.add(node, "Mul", [made, scale], "" if bias else node.output[0])
    if bias:
        pieces.add(node, "Add", [made, bias], node.output[0])


def _times(pieces: Pieces, product: NodeProto, value: str, matrix: str, output: str = "") -> str:
    """A value times the matrix or the kernel of a product."""
    if product.op_type == "ConvInteger":
        return pieces.add(product, "Conv", [value, matrix], output, **attributes(product, _WINDOWS))
    return pieces.add(product, "MatMul", [value, matrix], output)


def _matrix(pieces: Pieces, product: NodeProto) -> str:
    """The stored integers of a product less their zero point, as real numbers."""
    if product.op_type == "ConvInteger":
        counts(product, (3, 4), (1, 1))
        return _centred(pieces, product, product.input[1], _given(product, 3), along_first=True)
    attributes(product, ())
    fused = product.op_type == "MatMulIntegerToFloat"
    counts(product, (5, 7) if fused else (3, 4), (1, 1))
    return _centred(pieces, product, product.input[1], _given(product, 5 if fused else 3))


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
    summed: int = prod(tensor.dims[1:]) if first_summed else tensor.dims[-2]
    return summed <= _LARGEST


def _signed(pieces: Pieces, name: str) -> bool:
    """Whether stored integers are signed bytes, which some processors sum up wrongly with unsigned ones."""
    stored = pieces.stored(name)
    return stored is not None and stored.data_type == TensorProto.INT8


def _dequantises(node: NodeProto, step: str, zero: str) -> bool:
    """Whether it gives what levels of this step and zero point stand for, as numbers of 32 bits."""
    if not _is(node, "DequantizeLinear") or list(node.input[1:]) != [step, zero] or len(node.output) != 1:
        return False
    return all(a.name == "axis" for a in node.attribute)


def _is(node: NodeProto, *operators: str) -> bool:
    return node.op_type in operators and node.domain in _STANDARD


def _given(node: NodeProto, index: int) -> str:
    return node.input[index] if index < len(node.input) else ""


EXPANSIONS = {"DynamicQuantizeMatMul": quantised_product}
