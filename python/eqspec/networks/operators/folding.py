"""Any operator on constants: shapes, indices, masks and counts that a graph computes for itself.

Integers and truth values are computed by the reference evaluator of the package onnx, in their own types. Real
constants are what the file stores, exactly or within a radius, whereas a runtime may have rounded them: only operators
that move them, compare them or cut them to whole numbers are exact, and only where nothing was rounded before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper

from eqspec.networks import constants
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.matrices import TooLargeError, check_value
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import integer_range
from eqspec.networks.operators.operator_call import OperatorCall, Scores, Value
from eqspec.networks.operators.shapes import axis_of

EXACT = frozenset({
    "ArgMax", "ArgMin", "Ceil", "Compress", "Equal", "EyeLike", "Floor", "GatherElements", "GatherND", "Greater",
    "GreaterOrEqual", "Hardmax", "IsInf", "IsNaN", "Less", "LessOrEqual", "NonZero", "OneHot", "ReverseSequence",
    "Round", "ScatterElements", "ScatterND", "Sign", "Tile", "TopK", "Trilu", "Where",
})  # fmt: skip
"""Operators whose result on exact real numbers is exact, whatever type holds them."""
_STEPS = frozenset({"Ceil", "Floor", "Round", "Sign"})
_COMPARISONS = frozenset({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
_NOTHING = np.zeros(0, bool)
"""In place of an output that is left out."""
IN_FRONT_OF_A_STEP = 2.0**-20
"""Of one more than a number: the room on either side of it for what runtimes round in front of a step."""
_RANDOM = ("Random", "Bernoulli", "Multinomial")
_CONTROL = ("If", "Loop", "Scan", "SequenceMap", "Constant", "Optional")
_FOLD = "fold the constants before exporting, for example with onnxsim"


def is_constant(call: OperatorCall) -> bool:
    """Whether nothing that the node reads depends on the input of the network."""
    return not any(isinstance(value, Affine | Scores | Levels) for value in call.inputs)


def can_fold(node: NodeProto) -> bool:
    """Whether an operator is a function of its inputs alone, so that constants give constants."""
    return bool(node.input) and not node.op_type.startswith((*_RANDOM, *_CONTROL))


def fold(call: OperatorCall) -> list[Value]:
    """The results of a node on constants. UnreadableError where they cannot be told exactly."""
    node = call.node
    real = [v for v in call.inputs if isinstance(v, Enclosure)]
    if node.op_type in _STEPS and len(real) == 1 and (call.rounded or real[0].error is not None):
        return [_of_steps(call, real[0])]
    if node.op_type in _COMPARISONS and len(real) == 2 and (call.rounded or any(v.error is not None for v in real)):
        return [_of_comparison(call, *real)]
    if node.op_type == "Range" and len(real) == len(call.inputs) == 3:
        return [_real_range(call, real)]
    exact = node.op_type in EXACT or (node.op_type == "Mod" and call.integer("fmod", 0) == 1)  # fmod rounds nothing
    if real and (not exact or call.rounded or any(v.error is not None for v in real)):
        cause = "is computed of real constants, and its rounding is not known"
        raise UnreadableError(f"{node.op_type} {cause}", _FOLD)
    if node.op_type == "Range" and not real:
        _check_range(call)
    if not real:
        integer_range.check(node.op_type, call.inputs)
    arrays = [v.value if isinstance(v, Enclosure) else v for v in call.inputs]
    if node.op_type == "NonZero" and isinstance(arrays[0], np.ndarray) and not arrays[0].ndim:
        raise UnreadableError(
            "NonZero of a single number, of which the standard has no axis and onnxruntime one", _FOLD
        )
    computed = _of_another(call) or run
    given = iter(computed(node, call.opset, arrays))  # of those outputs that have a name
    made: list[Value] = [_value(next(given), bool(real), node) if name else _NOTHING for name in node.output]
    first = call.inputs[0]
    if node.op_type in integer_range.COMPUTED and isinstance(first, np.ndarray):  # numpy may have made the type wider
        return [v.astype(first.dtype) if isinstance(v, np.ndarray) else v for v in made]
    return made


def _of_another(call: OperatorCall) -> Callable[[NodeProto, int, Sequence[Any]], list[NDArray[Any]]] | None:
    """What computes a node in place of the reference evaluator, where that is known to be wrong."""
    match call.node.op_type:
        case "Unique" if not call.integer("sorted", 1):
            return _unique_as_met
        case "Hardmax" if call.opset < 13:
            return _hardmax_over_the_rest
    return None


def _hardmax_over_the_rest(node: NodeProto, _: int, given: Sequence[Any]) -> list[NDArray[Any]]:
    """Hardmax before opset 13, over all axes from one on; the reference evaluator takes that one alone."""
    (x,) = given
    axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
    rows = x.reshape(prod(x.shape[: axis_of(axis, x.ndim)]), -1)
    made = np.zeros_like(rows)
    if rows.size:
        made[np.arange(len(rows)), rows.argmax(axis=1)] = 1
    return [made.reshape(x.shape)]


def _of_steps(call: OperatorCall, x: Enclosure) -> Enclosure:
    """A step function of numbers that are known up to rounding: the same at both ends of what they may be.

    Training for few bits leaves weights in a file that are rounded in the graph. A runtime rounds in front of the step,
    too, and a few units of float32 are left for it.
    """
    slack = x.radius + IN_FRONT_OF_A_STEP * (1.0 + np.abs(x.value))
    below, above = (run(call.node, call.opset, [np.nextafter(x.value + s * slack, s * np.inf)])[0] for s in (-1, 1))
    if not np.isfinite(below).all() or (below != above).any():
        cause = "is computed of a constant that lies within rounding of a step"
        raise UnreadableError(f"{call.node.op_type} {cause}", _FOLD)
    return Enclosure(np.asarray(below, np.float64))


def _of_comparison(call: OperatorCall, a: Enclosure, b: Enclosure) -> NDArray[Any]:
    """A comparison of numbers that are known up to rounding, and further apart than that: as of ternary weights."""
    slack = a.radius + b.radius + IN_FRONT_OF_A_STEP * (1.0 + np.abs(a.value) + np.abs(b.value))
    if not (np.abs(a.value - b.value) > slack).all():
        raise UnreadableError(f"{call.node.op_type} compares constants that lie within rounding of each other", _FOLD)
    return run(call.node, call.opset, [a.value, b.value])[0]


def _gathered(node: NodeProto, given: Sequence[Any]) -> NDArray[Any]:
    """GatherElements by its definition.

    Beyond 32 or 64 entries (of numpy 1 and 2) the reference evaluator forgets along which axis it is, and places beyond
    the end count on.
    """
    table, places = (np.asarray(value) for value in given)
    rank = table.ndim
    axis = axis_of(next((a.i for a in node.attribute if a.name == "axis"), 0), rank)
    sizes = [(p, t) for i, (p, t) in enumerate(zip(places.shape, table.shape, strict=False)) if i != axis]
    if places.ndim != rank or any(p > t for p, t in sizes):
        raise UnreadableError(f"places of shape {places.shape} in {table.shape}", "export the model again")
    size = table.shape[axis]
    if places.size and (places.min() < -size or places.max() >= size):
        raise UnreadableError(f"a place beyond the {size} entries of its axis", "export the model again")
    beside = tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(places.shape))
    return np.take_along_axis(table[beside], places.astype(np.int64) % max(1, size), axis)


def run(node: NodeProto, opset: int, given: Sequence[Any]) -> list[NDArray[Any]]:
    """What the reference evaluator makes of arrays (None: left out), or the definition where it is wrong."""
    if node.op_type == "GatherElements":
        return [_gathered(node, given)]
    names = [name if value is not None else "" for name, value in zip(node.input, given, strict=True)]
    alone = NodeProto()
    alone.CopyFrom(node)
    del alone.input[:]
    alone.input.extend(names)
    arrays = {name: np.asarray(value) for name, value in zip(names, given, strict=True) if name}
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in arrays.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], array.shape) for name, array in arrays.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([alone], "constants", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    from onnx.reference import ReferenceEvaluator  # few files need it, and it takes as long as to read one

    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, arrays)
    except TooLargeError:
        raise
    except Exception as error:  # the evaluator raises what it likes
        message = f"{node.op_type} of constants cannot be computed ({type(error).__name__}: {str(error)[:120]})"
        raise UnreadableError(message, _FOLD) from error
    if not isinstance(found, list) or not all(isinstance(f, np.ndarray | np.generic) for f in found):
        raise UnreadableError(f"{node.op_type} of constants gives no tensors", _FOLD)
    return [np.asarray(f) for f in found]


def _unique_as_met(node: NodeProto, opset: int, given: Sequence[Any]) -> list[NDArray[Any]]:
    """Unique in the order in which numbers or slices come: the sorted ones, in the order of where each is met first.

    The reference evaluator takes places along an axis for places of numbers here, but not where it sorts.
    """
    sorting = NodeProto()
    sorting.CopyFrom(node)
    for attribute in sorting.attribute:
        attribute.i = 1 if attribute.name == "sorted" else attribute.i
    sorting.output[:] = [f"sorted {place}" for place in range(4)]
    slices, first, inverse, counts = run(sorting, opset, given)
    order = np.argsort(first)
    axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
    results = np.take(slices, order, axis), first[order], np.argsort(order)[inverse.reshape(-1)], counts[order]
    return [found for found, name in zip(results, node.output, strict=False) if name]


def _check_range(call: OperatorCall) -> None:
    start, limit, delta = (int(call.whole(i)) for i in range(3))
    if delta == 0:
        raise UnreadableError("a range of steps of 0", "export the model again")
    check_value((max(0, -(-(limit - start) // delta)),))


def _real_range(call: OperatorCall, ends: Sequence[Enclosure]) -> Enclosure:
    """start + i delta up to the limit, as many as real numbers say: exact ones alone, since a rounding may add one."""
    if call.rounded or call.given.unit or any(e.error is not None or e.value.size != 1 for e in ends):
        raise UnreadableError("Range is computed of real constants, and its rounding is not known", _FOLD)
    start, limit, delta = (Fraction(float(e.value.reshape(()))) for e in ends)
    if delta == 0:
        raise UnreadableError("a range of steps of 0", "export the model again")
    count = max(0, ceil((limit - start) / delta))
    check_value((count,))
    steps = constants.multiply(en.exactly(np.arange(count, dtype=np.float64)), en.exactly(float(delta)))
    return constants.add(steps, en.exactly(float(start)))


def _value(found: NDArray[Any], real: bool, node: NodeProto) -> Value:
    check_value(found.shape)
    if found.dtype.kind in "iub":
        return found
    if found.dtype.kind == "f" and (real or node.op_type in EXACT) and np.isfinite(found).all():
        return Enclosure(np.asarray(found, np.float64))
    raise UnreadableError(f"{node.op_type} of constants gives numbers that are not known exactly", _FOLD)
