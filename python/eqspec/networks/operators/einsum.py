"""Einsum: sums of products along named axes, as transposes, products of matrices and sums.

Operands are taken in one after the other. Of two, axes that both have and something reads later are a batch, those
that both have and nothing reads are summed up by a product of matrices; what one alone has and nothing reads is summed
up before. An axis that one operand names twice is its diagonal. With constants this is affine; of two values that
depend on the input it is as loosely bounded as `Mul`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators import folding, functions, pooling
from eqspec.networks.operators.broadcasting import check_one_for_all
from eqspec.networks.operators.elementwise import multiply
from eqspec.networks.operators.matrix_products import multiply_matrices
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Value
from eqspec.networks.operators.shapes import apply

Real = Affine | Enclosure
_MATMUL = "write it with MatMul and Transpose"


def _rearranged(x: Real, f: Any) -> Real:
    made = apply(x, f)
    assert isinstance(made, Affine | Enclosure)
    return made


def _terms(call: OperatorCall, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The axes of every operand and of the result by name; those of an ellipsis are numbers."""
    found = call.attribute("equation")
    equation = "" if found is None else found.s.decode("utf-8", "replace").replace(" ", "")
    left, arrow, right = equation.partition("->")
    operands = left.split(",")
    if len(operands) != len(ranks):
        raise UnreadableError(f"the equation {equation!r} for {len(ranks)} operands", "export the model again")
    made, widest = list[list[str]](), 0
    for part, rank in zip(operands, ranks, strict=True):
        letters = part.replace("...", "", 1)
        if not all(c.isalpha() for c in letters) or len(letters) > rank or ("..." not in part and len(letters) != rank):
            raise UnreadableError(f"the equation {equation!r} for a value of {rank} axes", _MATMUL)
        hidden = rank - len(letters)
        widest = max(widest, hidden)
        before, _, behind = part.partition("...") if "..." in part else (part, "", "")
        made.append([*before, *(str(i) for i in range(-hidden, 0)), *behind])
    dots = [str(i) for i in range(-widest, 0)]
    if arrow:
        before, ellipsis, behind = right.partition("...")
        result = [*before, *(dots if ellipsis else ()), *behind]
    else:
        once = Counter(c for part in operands for c in part.replace("...", ""))
        result = [*dots, *sorted(c for c, times in once.items() if times == 1)]
    if len(set(result)) != len(result) or set(result) - {a for axes in made for a in axes}:
        raise UnreadableError(f"the equation {equation!r}", _MATMUL)
    return made, result


def _diagonal(x: Real, axes: list[str]) -> tuple[Real, list[str]]:
    once = list(dict.fromkeys(axes))
    if len(once) == len(axes):
        return x, axes
    sizes: dict[str, int] = {}
    for axis, size in zip(axes, x.shape, strict=True):
        if sizes.setdefault(axis, size) != size:
            raise UnreadableError(f"an axis of sizes {sizes[axis]} and {size}", "check the operands' shapes")
    number = {axis: i for i, axis in enumerate(once)}

    def taken(a: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.einsum(a, [number[axis] for axis in axes], list(range(len(once)))))

    return _rearranged(x, taken), once


def _summed(x: Real, axes: list[str], kept: set[str]) -> tuple[Real, list[str]]:
    """Without the axes that nothing reads any more."""
    gone = [i for i, axis in enumerate(axes) if axis not in kept]
    if not gone:
        return x, axes
    rest = [i for i in range(len(axes)) if i not in gone]
    shape = tuple(x.shape[i] for i in rest)
    groups = np.arange(prod(x.shape)).reshape(x.shape).transpose(*rest, *gone).reshape(prod(shape), -1)
    if not groups.size:
        raise UnreadableError(f"a sum over a value of shape {x.shape}", "export the model again")
    return pooling.mean(x, groups, np.ones(len(groups), int), shape), [axes[i] for i in rest]


def _joined(
    call: OperatorCall, a: Real, of_a: list[str], b: Real, of_b: list[str], later: set[str]
) -> tuple[Real, list[str]]:
    a, of_a = _summed(a, of_a, {*of_b, *later})
    b, of_b = _summed(b, of_b, {*of_a, *later})
    both = [axis for axis in of_a if axis in of_b and axis in later]
    gone = [axis for axis in of_a if axis in of_b and axis not in later]
    alone = [axis for axis in of_a if axis not in of_b], [axis for axis in of_b if axis not in of_a]
    size_a, size_b = dict(zip(of_a, a.shape, strict=True)), dict(zip(of_b, b.shape, strict=True))
    for axis in (*both, *gone):
        if size_a[axis] != size_b[axis] and (axis.isalpha() or 1 not in (size_a[axis], size_b[axis])):
            message = f"an axis of sizes {size_a[axis]} and {size_b[axis]}"
            raise UnreadableError(message, "check the operands' shapes")
    if any(size_a[axis] != size_b[axis] for axis in gone):
        raise UnreadableError("a sum along an axis that is broadcast", _MATMUL)
    left = [of_a.index(axis) for axis in (*both, *alone[0], *gone)]
    right = [of_b.index(axis) for axis in (*both, *gone, *alone[1])]
    lead_a, lead_b = ([size[axis] for axis in both] for size in (size_a, size_b))
    rows, columns = [size_a[axis] for axis in alone[0]], [size_b[axis] for axis in alone[1]]
    inner = prod(size_a[axis] for axis in gone)
    check_one_for_all(call, (*lead_a, *rows, *[1] * len(columns)), (*lead_b, *[1] * len(rows), *columns))
    if gone:
        a = _rearranged(a, lambda p: p.transpose(left).reshape(*lead_a, prod(rows), inner))
        b = _rearranged(b, lambda p: p.transpose(right).reshape(*lead_b, inner, prod(columns)))
        made = multiply_matrices(a, b)
    else:
        if isinstance(a, Affine) and isinstance(b, Affine):
            a, b = functions.argument(a), functions.argument(b)
        a = _rearranged(a, lambda p: p.transpose(left).reshape((*lead_a, *rows, *[1] * len(columns))))
        b = _rearranged(b, lambda p: p.transpose(right).reshape((*lead_b, *[1] * len(rows), *columns)))
        made = multiply(a, b)
    lead = np.broadcast_shapes(tuple(lead_a), tuple(lead_b))
    return _rearranged(made, lambda p: p.reshape((*lead, *rows, *columns))), [*both, *alone[0], *alone[1]]


def einsum(call: OperatorCall) -> Sequence[Value]:
    """Einsum of any number of operands."""
    if all(isinstance(value, np.ndarray) for value in call.inputs):
        return folding.fold(call)
    values = [call.real_value(i) for i in range(len(call.inputs))]
    terms, result = _terms(call, [len(value.shape) for value in values])
    made, axes = _diagonal(values[0], terms[0])
    for number in range(1, len(values)):
        other, of_other = _diagonal(values[number], terms[number])
        later = {*result, *(axis for term in terms[number + 1 :] for axis in term)}
        made, axes = _joined(call, made, axes, other, of_other, later)
    made, axes = _summed(made, axes, set(result))
    return [_rearranged(made, lambda p: p.transpose([axes.index(axis) for axis in result]))]


OPERATORS: dict[str, Operator] = {"Einsum": einsum}
