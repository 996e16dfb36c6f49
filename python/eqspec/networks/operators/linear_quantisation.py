"""QuantizeLinear and DequantizeLinear, and operators on integers: QLinearConv, QLinearMatMul, QGemm, MatMulInteger, ...

Each operator on levels is what it means in real numbers: its inputs dequantised, the real operator, the result
quantised,

    sat(R(sum (a - z_a) (b - z_b) s_a s_b / s_c) + z_c),

in rationals. QLinearAdd, QLinearMul and QLinearAveragePool add z_c in front of the rounding, which their descriptions
leave open and onnxruntime does: it decides where ties go if z_c is odd. The sum is an integer that 32 bits must hold,
which is checked for all levels that there are. Runtimes multiply it by a float32 number, so they may differ from the
rational within rounding of a threshold; those that compute a function by a table of all levels (LeakyRelu, Sigmoid)
fill it with float32 numbers likewise. In rounding arithmetics `requantising` says how far they may be off there; in
front of that everything is formed over the real numbers.

They are evaluated here and not written out before, because old opsets have no DequantizeLinear along an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from operator import add, mul

import numpy as np
from onnx import NodeProto, TensorProto, helper

from eqspec.networks import affine as af
from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Computed, Levels
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators import (
    convolution,
    curves,
    elementwise,
    functions,
    level_operators,
    matrix_products,
    pooling,
    requantising,
    shapes,
)
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.quantising import along, dequantised, quantised, range_of, scales, zeros
from eqspec.networks.runtime_functions import MISSED

_AGAIN = "export the model again"
_ACCUMULATOR = 2**31


def quantize(call: OperatorCall) -> Sequence[Value]:
    """QuantizeLinear: for a tensor, along an axis or in blocks, to integers of 2 to 16 bits."""
    scale = scales(call, 1)
    zero = zeros(call, 2, scale)
    asked = call.integer("output_dtype", 0)
    kind = call.kind(2) if call.has(2) else asked or TensorProto.UINT8
    if asked not in (0, kind):
        raise UnreadableError("output_dtype is another type than that of the zero point", _AGAIN)
    if call.integer("precision", 0) in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        raise UnreadableError("a quotient by the scale in 16 bits, which has other levels", _AGAIN)
    if call.integer("precision", 0) not in (0, TensorProto.FLOAT, call.kind(1)):
        raise UnreadableError("a quotient by the scale in another type, which has other levels", _AGAIN)
    place = call.integer("axis", 1), call.integer("block_size", 0)
    return [quantised(call, call.value(0), scale, zero, range_of(kind), place)]


def dequantize(call: OperatorCall) -> Sequence[Value]:
    """DequantizeLinear: for a tensor, along an axis or in blocks, of constants and of levels."""
    scale = call.number(1)
    x = call.value(0)
    if isinstance(x, Levels):
        scales(call, 1)
    place = call.integer("axis", 1), call.integer("block_size", 0)
    return [dequantised(x, scale.value, zeros(call, 2, scale.value), place, scale)]


def real_input(call: OperatorCall, at: int, axis: int = 0) -> Affine | Enclosure:
    """Three inputs from `at` on, levels with their scale and zero point, as real numbers."""
    scale = scales(call, at + 1)
    return dequantised(call.value(at), scale, zeros(call, at + 2, scale), (axis, 0), call.number(at + 1))


def quantised_result(
    call: OperatorCall, real: Value, at: int, missed: float | None, *, inside: bool = False
) -> Levels | Whole:
    """A result as levels, with the scale and zero point that the inputs from `at` on are (see `quantised`)."""
    scale = scales(call, at)
    if scale.size != 1:
        raise UnreadableError(f"{scale.size} scales of the result", "one is taken for all of it")
    zero = zeros(call, at + 1, scale)
    return quantised(call, real, scale, zero, ends_of_result(call, at), inside=inside, missed=missed)


def ends_of_result(call: OperatorCall, at: int) -> tuple[int, int]:
    """The lowest and highest level of a result whose scale is input `at`."""
    first = call.value(0)
    if call.has(at + 1):
        return range_of(call.kind(at + 1))
    return (first.low, first.high) if isinstance(first, Levels) else range_of(call.kind(0))


def inner_call(
    call: OperatorCall, operator: str, inputs: Sequence[Value | None], without: Sequence[str] = ()
) -> OperatorCall:
    """The call of a real operator with the attributes of this one."""
    names = [f"input {i}" if value is not None else "" for i, value in enumerate(inputs)]
    node: NodeProto = helper.make_node(operator, names, list(call.node.output), name=call.node.name)
    node.attribute.extend(a for a in call.node.attribute if a.name not in without)
    return replace(call, node=node, inputs=inputs, kinds=(), alone=())


def convolution_of_levels(call: OperatorCall) -> Sequence[Value]:
    """QLinearConv: x, w and y with scale and zero point each (that of w along its outputs), bias in units of both."""
    bias = call.value(8) if call.has(8) else None
    most = check_accumulator(call, call.value(0), 2, call.value(3), 5, bias, axis=0)
    with call.given.reading.over_the_reals():
        x, w = real_input(call, 0), real_input(call, 3, axis=0)
        (made,) = convolution.convolution(inner_call(call, "Conv", [x, w, _bias(call, 8, 1, 4)]))
    missed = requantising.of_sum(call, (1, 4), 6, ends_of_result(call, 6), most)
    return [quantised_result(call, made, 6, missed)]


def product_of_levels(call: OperatorCall) -> Sequence[Value]:
    """QLinearMatMul: a, b and y with scale and zero point each, that of b along its columns if there are several."""
    most = check_accumulator(call, call.value(0), 2, call.value(3), 5, None, axis=-1)
    with call.given.reading.over_the_reals():
        a, b = real_input(call, 0, axis=-2), real_input(call, 3, axis=-1)
        (made,) = matrix_products.matmul(inner_call(call, "MatMul", [a, b]))
    missed = requantising.of_sum(call, (1, 4), 6, ends_of_result(call, 6), most)
    return [quantised_result(call, made, 6, missed)]


def gemm_of_levels(call: OperatorCall) -> Sequence[Value]:
    """QGemm: alpha A' B' with C in units of alpha, both scales; a real result where it has neither scale nor zero."""
    if call.has(7) != call.has(8):  # onnxruntime then divides by the scale and rounds nothing
        raise UnreadableError("a result of a scale without a zero point, or the other way round", "give both, or none")
    axis = 0 if call.integer("transB", 0) else 1
    c = call.value(6) if call.has(6) else None
    most = check_accumulator(call, call.value(0), 2, call.value(3), 5, c, axis=axis)
    alpha = en.exactly(call.real("alpha", 1.0))
    with call.given.reading.over_the_reals():
        a, b = real_input(call, 0), real_input(call, 3, axis=axis)
        inner = inner_call(call, "Gemm", [a, b, _bias(call, 6, 1, 4)], ("alpha",))
        inner.node.attribute.append(helper.make_attribute("beta", 1.0))
        (made,) = matrix_products.gemm(inner)
        if float(alpha.value) != 1.0:
            assert isinstance(made, Affine | Enclosure)
            made = curves.scaled(made, alpha)
    if not call.has(7):
        return [as_computed(call, made, 1, 4)]
    if float(alpha.value) != 1.0:
        most = np.inf  # alpha times the scales is rounded, whatever they are
    missed = requantising.of_sum(call, (1, 4), 7, ends_of_result(call, 7), most)
    return [quantised_result(call, made, 7, missed)]


def as_computed(call: OperatorCall, made: Value, first: int, second: int) -> Value:
    """A sum of products of levels that becomes real numbers, which a runtime rounds once it scales it."""
    requantising.check_scales(call, first, second)
    return af.started(made) if isinstance(made, Affine) else made


def _bias(call: OperatorCall, at: int, first: int, second: int) -> Enclosure | None:
    """A bias of 32 bits, in units of the product of two scales."""
    if not call.has(at):
        return None
    whole = call.whole(at).astype(np.float64)
    scale = en.multiply(en.exactly(scales(call, first)), en.exactly(scales(call, second)))
    return constants.multiply(Enclosure(whole), scale.rearranged(lambda s: s.reshape(-1)))


def check_accumulator(
    call: OperatorCall, x: Value, x_zero: int, w: Value, w_zero: int, bias: Value | None, axis: int
) -> float:
    """How large the integer sums get, whatever the levels of x and w are: within 32 bits.

    There is a sum for each place of w along its axis; of a vector all entries are in one sum.
    """
    if not isinstance(w, np.ndarray | Levels):
        return np.inf  # what is no integer is refused where it is dequantised
    zero = call.whole(w_zero).astype(np.float64) if call.has(w_zero) else np.zeros(())
    kept = axis % len(w.shape) if len(w.shape) > 1 else None
    if isinstance(w, np.ndarray):
        weight = np.abs(w.astype(np.float64) - along(zero, w.shape, axis))
        sums = weight.sum(axis=tuple(i for i in range(weight.ndim) if i != kept))
    else:
        terms = w.size / max(1, 1 if kept is None else w.shape[kept])
        sums = np.asarray(terms * (requantising.largest(w) + np.abs(zero).max(initial=0.0)))
    offset = float(np.abs(call.whole(x_zero).astype(np.float64)).max(initial=0.0)) if call.has(x_zero) else 0.0
    most = float(np.max(sums, initial=0.0)) * (requantising.largest(x) + offset)
    if isinstance(bias, np.ndarray):
        most += float(np.abs(bias.astype(np.float64)).max(initial=0.0))
    if most >= _ACCUMULATOR:
        fix = "split the sum, or quantise to fewer bits"
        raise UnreadableError(f"its sums reach {most:.3g}, and 32 bits do not hold that", fix)
    return most


def _integers(call: OperatorCall, at: int, zero: int, axis: int) -> Affine | Enclosure:
    """Levels less their zero points, as real numbers."""
    found = call.whole(zero).astype(np.float64) if call.has(zero) else np.zeros(())
    return dequantised(call.value(at), np.ones(found.shape), found, (axis, 0))


def _as_integers(made: Value, most: float) -> Value:
    """A sum of products of integers, in 32 bits, whose size is at most a number below 2^31."""
    if isinstance(made, Affine):
        return Levels.of(Computed(made), made.shape, -int(most), int(most))
    assert isinstance(made, Enclosure)
    return np.asarray(made.value, np.int32)


def integer_product(call: OperatorCall) -> Sequence[Value]:
    """MatMulInteger: the product of levels less their zero points, which may be several along the columns of B."""
    if call.has(2) and call.whole(2).size > 1:
        message = "several zero points of A: onnxruntime refuses them, and onnx's evaluator takes rows for columns"
        raise UnreadableError(message, "quantise A with one")
    most = check_accumulator(call, call.value(0), 2, call.value(1), 3, None, axis=-1)
    with call.given.reading.over_the_reals():
        a, b = _integers(call, 0, 2, -2), _integers(call, 1, 3, -1)
        (made,) = matrix_products.matmul(inner_call(call, "MatMul", [a, b]))
    return [_as_integers(made, most)]


def integer_convolution(call: OperatorCall) -> Sequence[Value]:
    """ConvInteger: the convolution of levels less their zero points, those of w along its outputs."""
    most = check_accumulator(call, call.value(0), 2, call.value(1), 3, None, axis=0)
    with call.given.reading.over_the_reals():
        x, w = _integers(call, 0, 2, 0), _integers(call, 1, 3, 0)
        (made,) = convolution.convolution(inner_call(call, "Conv", [x, w]))
    return [_as_integers(made, most)]


def _of_two(
    combine: Callable[[Affine | Enclosure, Affine | Enclosure], Affine | Enclosure],
    size: Callable[[float, float], float],
) -> Operator:
    """An operator of two values, computed in float32 on terms of this size."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        with call.given.reading.over_the_reals():
            made = combine(real_input(call, 0), real_input(call, 3))
        terms = size(requantising.size_of(call, 0), requantising.size_of(call, 3))
        return [quantised_result(call, made, 6, requantising.of_terms(call, terms, 6), inside=True)]

    return operator


def _of_one(name: str, read: Operator, *, inside: bool = False) -> Operator:
    """An operator of one value: X, Y with scale and zero point each."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        with call.given.reading.over_the_reals():
            given = real_input(call, 0)
            (made,) = read(inner_call(call, name, [given]))
        summed = prod(call.integers("kernel_shape") or given.shape[2:]) if name.endswith("AveragePool") else 0
        size = requantising.size_of(call, 0) * max(1.0, abs(call.real("alpha", 0.01)))
        missed = requantising.of_terms(call, size, 3, summed=summed)
        if missed is not None and name == "Sigmoid":
            missed += 2.002 * MISSED  # twice of what is assumed of functions up to 1; its slope is below 1
        return [quantised_result(call, made, 3, missed, inside=inside)]

    return operator


def _with_channels_last(read: Operator, call: OperatorCall) -> Sequence[Value]:
    """An operator whose channels stand last: the usual one between two transpositions. Of a Conv the weight stays."""
    first = call.value(0)
    if len(shapes.shape_of_value(first)) < 2:
        raise UnreadableError("a value without an axis of channels", _AGAIN)
    turned = shapes.apply(first, lambda a: np.moveaxis(a, -1, 1))
    (made,) = read(replace(call, inputs=[turned, *call.inputs[1:]]))
    return [shapes.apply(made, lambda a: np.moveaxis(a, 1, -1))]


def _of_either_order(read: Operator) -> Operator:
    """An operator whose channels stand last where `channels_last` says so.

    onnxruntime turns networks so when it saves them at its highest level.
    """

    def operator(call: OperatorCall) -> Sequence[Value]:
        node = NodeProto()
        node.CopyFrom(call.node)
        del node.attribute[:]
        node.attribute.extend(a for a in call.node.attribute if a.name != "channels_last")
        usual = replace(call, node=node)
        return _with_channels_last(read, usual) if call.integer("channels_last", 0) else read(usual)

    return operator


def _channels_in_front(read: Operator) -> Operator:
    """An operator that onnxruntime rounds otherwise where channels stand last, at ties by a level."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        if call.integer("channels_last", 0):
            raise UnreadableError("channels behind the places", "export it with the channels in front (NCHW)")
        return _of_either_order(read)(call)

    return operator


def _pool_with_channels_last(call: OperatorCall) -> Sequence[Value]:
    """NhwcMaxPool: MaxPool of levels, whose channels stand last."""
    node = helper.make_node("MaxPool", call.node.input, call.node.output, name=call.node.name)
    node.attribute.extend(call.node.attribute)
    return _with_channels_last(level_operators.max_pool, replace(call, node=node))


def joined_levels(call: OperatorCall) -> Sequence[Value]:
    """QLinearConcat: scale and zero point of the result, then every tensor with its own."""
    if len(call.inputs) < 5 or len(call.inputs) % 3 != 2:
        raise UnreadableError(f"{len(call.inputs)} inputs", _AGAIN)
    places = range(2, len(call.inputs), 3)
    with call.given.reading.over_the_reals():
        (made,) = shapes.concat(inner_call(call, "Concat", [real_input(call, at) for at in places]))
    missed = requantising.of_terms(call, requantising.together(call, places), 0)
    return [quantised_result(call, made, 0, missed)]


def checked(read: Operator, attributes: Sequence[str], fewest: int, most: int) -> Operator:
    """An operator that onnx does not define: attributes and inputs are checked here."""

    def operator(call: OperatorCall) -> Sequence[Value]:
        names = [a.name for a in call.node.attribute]
        unknown = [name for name in names if name not in attributes]
        if unknown or len(set(names)) < len(names):
            raise UnreadableError(f"attribute {[*unknown, *names][0]!r} is not known, or given twice", _AGAIN)
        if not fewest <= len(call.node.input) <= most or len(call.node.output) != 1:
            raise UnreadableError(f"{len(call.node.input)} inputs and {len(call.node.output)} outputs", _AGAIN)
        return read(call)

    return operator


_PLACES = ("auto_pad", "channels_last", "kernel_shape", "pads", "strides")
_WINDOWS = (*_PLACES, "ceil_mode", "count_include_pad")
_STANDARD: dict[str, Operator] = {
    "ConvInteger": integer_convolution,
    "DequantizeLinear": dequantize,
    "MatMulInteger": integer_product,
    "QLinearConv": convolution_of_levels,
    "QLinearMatMul": product_of_levels,
    "QuantizeLinear": quantize,
}
_MICROSOFT: dict[str, Operator] = {
    "DequantizeLinear": checked(dequantize, ("axis", "block_size"), 2, 3),
    "QGemm": checked(gemm_of_levels, ("alpha", "transA", "transB"), 6, 9),
    "QLinearAdd": checked(_of_two(elementwise.add, add), (), 7, 8),
    "NhwcMaxPool": checked(
        _pool_with_channels_last, ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"), 1, 1
    ),
    "QLinearAveragePool": checked(
        _channels_in_front(_of_one("AveragePool", pooling.average_pool, inside=True)), _WINDOWS, 4, 5
    ),
    "QLinearConcat": checked(joined_levels, ("axis",), 5, 10_000),
    "QLinearConv": checked(_of_either_order(convolution_of_levels), (*_PLACES, "dilations", "group"), 8, 9),
    "QLinearGlobalAveragePool": checked(
        _of_either_order(_of_one("GlobalAveragePool", pooling.global_average_pool)), ("channels_last",), 5, 5
    ),
    "QLinearLeakyRelu": checked(_of_one("LeakyRelu", functions.leaky_relu), ("alpha",), 4, 5),
    "QLinearMul": checked(_of_two(elementwise.multiply, mul), (), 7, 8),
    "QLinearSigmoid": checked(_of_one("Sigmoid", curves.OPERATORS["Sigmoid"]), (), 4, 5),
    "QuantizeLinear": checked(quantize, ("axis", "block_size"), 2, 3),
}

OPERATORS: dict[str, Operator] = {**_STANDARD, **{f"com.microsoft.{name}": read for name, read in _MICROSOFT.items()}}
"""By name with the domain, where it is not the standard one."""
