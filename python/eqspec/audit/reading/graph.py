"""Networks as ONNX: what every operator does to values that are sums over units, and to constants.

Only operators that are told here are read: those that put numbers elsewhere (`shape_operators`), what is affine
(`affine`), what is piecewise linear or looks at windows (`windowed`), functions of one variable and products (`unary`),
quantisers, Dropout as it is in inference; recurrent cells (`recurrent`); a Softmax at the end is set aside
(`softmax_tail`). Integers are places, sizes and axes, which may be computed of constants (`integers`), and what
quantisers make of numbers, on which other operators work (`on_levels`).

A Cast to float or double changes nothing over the reals. In float32 it may round, so it is a product with 1, which
counts a rounding and an underflow. A cast of a constant decides which weight a network has: it is only read where the
constant is known exactly and the type holds it, so that it changes nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from ..functions import Curve
from ..opening import label
from ..rounding import Array, Refused
from . import affine, classic, counted, formulas, integers, on_levels, quantisers, recurrent, truth, unary, windowed
from .einsum import computed as of_named_axes
from .lookups import PLACES, RANKING, looked_up, ranked
from .masks import computed as masked
from .output import chosen, needed
from .picking import PICKING, picked
from .plain import CLASSIC, FLOATS, HALVES, QONNX, STORED, WHOLE, numbers_of, plain
from .program import Given, Operand, Operands, Program, constants, optional, real
from .quantisers import Ends, Levels
from .resampling import is_resampling, resampled
from .shape_operators import MOVING, moved, whole
from .softmax_tail import tail
from .statistics import NORMALISING, SUMMED, normalised, softmax, summed
from .value import Value

WRITTEN = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
"""The types of constants that are no tensors."""


def run(
    content: bytes,
    program: Program,
    value: Value,
    ends: Ends | None = None,
    output: str | None = None,
    two_classes: bool = False,
    shapes: Sequence[tuple[str, Sequence[int]]] = (),
) -> tuple[Value, bool, str | None]:
    """What comes out of a network that is given a value, and whether a Softmax at its end was set aside.

    The name of the output is told where a file has several values that could be one, or the task has chosen it.
    With `ends` the integers that it takes and gives are those of a quantiser in front and a dequantiser behind; with
    `two_classes` its one output p is a Sigmoid, and what comes out are the scores of 1 - p and p. `shapes` are those of
    inputs with sizes that the file leaves open.
    """
    graph, opset = plain(content, dict(shapes))
    tensors = {tensor.name: tensor for tensor in graph.initializer}

    def stored(given: onnx.TensorProto | Array) -> Array:
        array = given if isinstance(given, np.ndarray) else numbers_of(given)
        if array.dtype.kind != "f":
            return array
        if program.kind.rounds and isinstance(given, onnx.TensorProto) and given.data_type in HALVES:
            raise Refused("a constant is of a type that the auditor does not read in float32")
        return array.astype(np.float64)

    def read(name: str) -> Any:
        if name and name not in values:
            if name not in tensors:
                raise Refused(f"nothing before it makes {name!r}")
            values[name] = stored(tensors[name])
        return values[name] if name else None

    def computed(name: str) -> Value:
        found = read(name)
        found = found.value if isinstance(found, counted.Counted) else found
        return program.value(found.integers(program) if isinstance(found, Levels) else real([found], 0))

    def set_aside() -> bool:  # a Softmax of constants is one number of each, as any operator on constants
        return end is not None and isinstance(read(scores), Value | Levels) and end.is_over_all(computed(scores))

    result = chosen(graph, output)
    end, named = tail(graph, opset, result, two_classes), result if output or len(graph.output) > 1 else None
    scores = result if end is None else end.scores
    if two_classes:
        program.said.append("its one output p, a Sigmoid, is read as two classes: 1 - p and p")
    values: dict[str, Any] = _given(program, value, graph, tensors.keys(), needed(graph, result), ends)
    makers = {made: node for node in graph.node for made in node.output}
    for node in _making(graph, scores, result, set_aside):
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        operands = [read(name) for name in node.input]
        again = node.op_type == "Cast" and _type(makers, node.input[0]) == attributes["to"] and not program.kind.rounds
        program.held.update(quantisers.held(node.op_type, operands, np.array([*program.held])).flat)
        if node.op_type == "Cast" and isinstance(operands[0], Value) and attributes["to"] in WHOLE:
            made = [counted.cast(program, operands[0], attributes["to"], _maker(makers, node.input[0]))]
        else:
            made = operands if again else _results(program, node, opset, operands, attributes, stored)
        values.update((name, one) for name, one in zip(node.output, made, strict=False) if name)
    if ends is not None and ends.output is not None:
        if not isinstance(whole_ := values.get(result), Levels):
            raise Refused("its output is no quantiser's, and integers are dequantised")
        scale, zero = (np.array(one) for one in ends.output)
        return program.value(quantisers.dequantised(program, whole_, [scale, zero], {})), False, named
    if isinstance(values.get(result), Levels | counted.Counted):
        program.said.append("its output holds integers: the claim is about these integers")
    if end is None or not end.is_over_all(computed(scores)):
        return computed(result), False, named
    if end.of == "all":
        return computed(scores), True, named
    other, score = np.zeros(1), computed(scores)
    return program.stacked([other, score] if end.of == "second" else [score, other]), True, named


def _results(program: Program, node: onnx.NodeProto, opset: int, operands: Any, given: Any, stored: Any) -> Any:
    """What a node gives, of which outputs that are not named are left alone."""
    operator = node.op_type
    if operator in PLACES and isinstance(operands[PLACES[operator]], counted.Counted):
        return [looked_up(program, operator, operands, given)]
    if operator in RANKING and isinstance(operands[0], Value):
        return ranked(program, node, operands, given)
    if any(isinstance(one, counted.Counted) for one in operands):
        return counted.computed(program, node, opset, operands, given)
    if on_levels.is_read(node, operands):
        return on_levels.computed(program, node, opset, operands, given)
    if (hidden := masked(program, operator, opset, operands, given)) is not None:
        return [hidden]
    if operator in integers.OPERATORS and (sums := integers.computed(program, operator, operands, given)) is not None:
        return [sums]
    if node.domain == CLASSIC:
        return [classic.computed(program, node, opset, operands, given)]
    if is_resampling(operator, given):
        return [resampled(program, operator, opset, operands, given)]
    if operator in MOVING:
        return moved(node, opset, operands, given, program)
    if operator in recurrent.GATES:
        return recurrent.computed(program, operator, operands, given)
    if len(node.output) != 1 and operator not in ("Dropout", "MaxPool"):  # whose others are left alone
        raise Refused(f"the auditor does not read {operator} {node.name!r} with {len(node.output)} outputs")
    if node.domain in QONNX:
        done: Operand | Levels = quantisers.computed(program, node, operands, given)
    elif operator == "Constant" and len(given) == 1 and (name := next(iter(given))) in {"value", *WRITTEN}:
        done = stored(given[name] if name == "value" else np.array(given[name], WRITTEN[name]))
    elif operator == "ConstantOfShape":
        number, sizes = stored(given.get("value", np.zeros(1))).reshape(()), tuple(whole(operands, 0) or ())
        program.effort.name(*sizes)
        done = np.broadcast_to(number, sizes)
    elif operator == "Cast" and (first := operands[0]) is not None:
        done = _cast(first, program, given["to"])
    elif operator in _OF_OPERANDS and (operator != "Dropout" or len(operands) <= 2):
        done = _OF_OPERANDS[operator](program, operands, given)
    elif (composed := _composed(program, node, opset, operands, given)) is not None:
        done = composed
    elif operator in formulas.OPERATORS and isinstance(operands[0], Value):
        done = formulas.computed(program, operator, operands[0])
    elif operator in unary.PLAIN and isinstance(operands[0], np.ndarray) and operator not in ("Reciprocal", "Sqrt"):
        done = unary.of_constants(program, constants(operands, 0), Curve(unary.PLAIN[operator]))
    elif operator == "Pow" and isinstance(operands[0], np.ndarray) and isinstance(operands[1], Value):
        rate = unary.of_constants(program, constants(operands, 0), Curve("log"))  # c^x = e^(x ln c), c > 0
        done = unary.applied(program, program.scaled(operands[1], rate), Curve("exp"))
    elif operator in unary.OPERATORS and isinstance(operands[0], Value):
        exponent = real(operands, 1) if operator == "Pow" else None
        done = unary.computed(program, operator, operands[0], given, exponent)
    elif operator in ("Reciprocal", "Sqrt", "Sum") or operator in affine.ELEMENTWISE:
        done = affine.elementwise(program, operator, _reals(operands))
    elif operator in windowed.OPERATORS:
        done = windowed.computed(program, operator, opset, operands, given)
    else:
        raise Refused(f"the auditor does not read {operator} {node.name!r}")
    return [done]


def _making(graph: onnx.GraphProto, first: str, then: str, enough: Callable[[], bool]) -> Iterator[onnx.NodeProto]:
    """The nodes that one value depends on, and those of another unless the first one is enough."""
    early, late = needed(graph, first), needed(graph, then)
    yield from (node for node in graph.node if early & set(node.output))
    if not enough():
        yield from (node for node in graph.node if late & set(node.output) and not early & set(node.output))


def _given(
    program: Program, value: Value, graph: onnx.GraphProto, stored: Set[str], needed: Set[str], ends: Ends | None
) -> dict[str, Any]:
    """The inputs that the output needs, or the first one: parts of one vector, one behind the other.

    Those whose integers stand for real numbers are the levels of these.
    """
    integers = {name: (scale, zero) for name, scale, zero in ends.inputs} if ends else {}
    inputs = [i for i in graph.input if i.name not in stored]
    used = [i for i in inputs if i.name in needed] or inputs[:1]
    found, begin = dict[str, Any](), 0
    dims = [i.type.tensor_type.shape.dim for i in used]  # open ones count as 1, and so does a first one of 0
    shapes = [[d.dim_value or int(n == 0 or not d.HasField("dim_value")) for n, d in enumerate(ds)] for ds in dims]
    if sum(map(prod, shapes)) != value.size:  # one sample of several, which might meet on the way
        raise Refused(f"it takes {sum(map(prod, shapes))} numbers, the task {value.size}")
    for one, shape in zip(used, shapes, strict=True):
        kept, size = one.type.tensor_type.elem_type, prod(shape)
        taken = program.taken(value, np.arange(begin, begin + size).reshape(shape))
        begin += size
        if one.name in integers:
            scale, zero = integers.pop(one.name)
            held = np.array(zero, np.dtype(STORED[kept][0]) if kept in STORED else np.float64)
            found[one.name] = quantisers.quantised(program, [taken, np.array(scale), held], {})
        elif kept in STORED and (kind := np.dtype(STORED[kept][0])).kind in "iu" and not program.kind.rounds:
            found[one.name] = _integers(program, graph, one.name, taken, kind)
        elif kept in FLOATS or (kept in HALVES and not program.kind.rounds):
            found[one.name] = taken
        else:
            raise Refused("its inputs are of a type that the auditor does not read")
    if integers:
        raise Refused("it has no input whose integers stand for real numbers")
    return found


def _integers(program: Program, graph: onnx.GraphProto, name: str, x: Value, kind: np.dtype[Any]) -> Any:
    """An input of integers: the nearest ones, or where they only become real numbers whatever stands for these."""
    read = [node for node in graph.node if name in node.input]
    if all(node.op_type == "Cast" and not {a.i for a in node.attribute} & WHOLE.keys() for node in read):
        return x
    if kind not in {*counted.KINDS, *quantisers.TYPES}:
        raise Refused("its inputs are integers of a type that the auditor does not read")
    end = " below 2^31" if kind in counted.KINDS else " from {} to {}".format(*quantisers.TYPES[kind])
    program.said.append(f"its input {label(name)} holds integers{end}: a number stands for the nearest, ties to even")
    if kind in counted.KINDS:
        return counted.nearest(program, x, kind)
    return quantisers.quantised(program, [x, np.ones(()), np.zeros((), kind)], {})


def _composed(program: Program, node: onnx.NodeProto, opset: int, operands: Operands, given: Given) -> Operand | None:
    """What is put together of other operators, and what picks entries; None of all else."""
    operator, varying = node.op_type, [one for one in operands if isinstance(one, Value)]
    if operator == "Where" and isinstance(operands[0], Value):
        return truth.chosen(program, operands[0], real(operands, 1), real(operands, 2))
    if operator in PICKING:
        return picked(node, operands, given, program)
    if not varying:
        return None
    first = operands[0]
    if operator in truth.COMPARING:
        return truth.compared(program, operator, operands)
    if not isinstance(first, Value):
        return None
    if operator in truth.NEVER:
        program.asked.append(first)
        return np.zeros(first.shape, bool)
    if operator.endswith("Softmax"):
        axis = given.get("axis", 1 if opset < 13 else -1)
        return softmax(program, first, axis, opset, operator == "LogSoftmax")
    if operator in SUMMED:
        return summed(program, operator, first, opset, operands, given)
    if operator in NORMALISING:
        return normalised(program, operator, first, opset, operands, given)
    return _OF_A_VALUE[operator](program, first, operands, given) if operator in _OF_A_VALUE else None


def _reals(operands: Operands) -> list[Operand]:
    return [real(operands, i) for i in range(len(operands))]


_OF_OPERANDS: dict[str, Callable[[Program, Any, Given], Operand | Levels]] = {
    "BatchNormalization": lambda p, x, given: affine.normalised(p, [real(x, i) for i in range(5)], given),
    "DequantizeLinear": lambda p, x, given: quantisers.dequantised(p, x[0], x[1:], given),
    "Dropout": lambda _, x, _given: real(x, 0),
    "Einsum": lambda p, x, given: of_named_axes(p, _reals(x), given["equation"]),
    "Gemm": lambda p, x, given: affine.gemm(p, real(x, 0), real(x, 1), optional(x, 2), given),
    "MatMul": lambda p, x, _: affine.product(p, real(x, 0), real(x, 1)),
    "Neg": lambda p, x, _: p.negative(real(x, 0)),
    "QuantizeLinear": lambda p, x, given: quantisers.quantised(p, x, given),
}
_OF_A_VALUE: dict[str, Callable[[Program, Value, Operands, Given], Operand]] = {
    "ConvTranspose": lambda p, v, x, given: affine.transposed(p, v, constants(x, 1), optional(x, 2), given),
    "CumSum": lambda p, v, x, given: affine.accumulated(p, v, x[1], given),
    "Mean": lambda p, _v, x, _: affine.elementwise(p, "Div", [p.added(*_reals(x)), np.array(float(len(x)))]),
    "Round": lambda p, v, _x, _: truth.rounded(p, v),
}


def _maker(makers: Mapping[str, onnx.NodeProto], name: str) -> str:
    """The operator that makes what others only put elsewhere, beside nothing else."""
    while (node := makers.get(name)) is not None and node.op_type in MOVING - {"Concat", "Pad", "Resize", "Upsample"}:
        name = node.input[0]
    return node.op_type if node is not None else ""


def _type(makers: Mapping[str, onnx.NodeProto], name: str) -> int:
    """To which type some constants were cast before, which arithmetic keeps; 0 where that is not seen."""
    while (node := makers.get(name)) is not None and node.op_type in ("Add", "Div", "Mul", "Sqrt", "Sub"):
        name = node.input[-1]
    return next((a.i for a in node.attribute if a.name == "to"), 0) if node is not None else 0


def _cast(x: Operand, program: Program, to: int) -> Operand:
    if not isinstance(x, Value) and x.dtype.kind not in "fO" and to in WHOLE:
        if to == TensorProto.INT32 and (x.astype(np.int32) != x).any():
            raise Refused("a Cast of an integer to a type that does not hold it")
        return x.astype(WHOLE[to])
    if to in HALVES and isinstance(x, Value) and not program.kind.rounds:
        name = TensorProto.DataType.Name(to).lower()
        program.said.append(f"a Cast to {name} is read as the number itself: rounding is not part of the network")
        return x
    if to not in FLOATS:
        raise Refused("the auditor does not read Cast to other types than float and double")
    if isinstance(x, Value):
        return program.scaled(x, np.ones(())) if program.kind.rounds else x
    for number in program.effort.numbers(x).ravel():
        with np.errstate(over="ignore"):
            held = isinstance(number.c, Fraction) and float(FLOATS[to](float(number.c))) == number.c
        if not held or (number.k and not program.kind.rounds):
            raise Refused("a Cast of a constant to a type that does not hold it")
    return program.effort.done(lambda v: v * 1, x) if program.kind.rounds else program.effort.numbers(x)
