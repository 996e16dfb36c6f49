"""Einsum: sums of products along named axes, as transposes, products of matrices and sums.

Operands are taken in one after the other. Axes that two have and the result or a later operand names are a batch; those
that no one names any more are summed up by a product of matrices, or before it where one operand alone has them. What
names an axis of one operand twice, or leaves axes to an ellipsis, is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..rounding import Refused
from . import affine
from .program import Operand, Program
from .value import Value


def computed(program: Program, operands: Sequence[Operand], equation: bytes) -> Operand:
    """The result for operands, of which one at least varies."""
    terms, result = _axes(equation.decode("ascii", "replace").replace(" ", ""))
    if [len(term) for term in terms] != [len(one.shape) for one in operands]:
        raise Refused("an Einsum whose equation has other axes than its operands")
    made, axes = operands[0], terms[0]
    for number in range(1, len(operands)):
        later = {*result, *(axis for term in terms[number + 1 :] for axis in term)}
        made, axes = _joined(program, made, axes, operands[number], terms[number], later)
    made, axes = _summed(program, made, axes, set(result))
    return program.turned(made, [axes.index(axis) for axis in result])


def _axes(equation: str) -> tuple[list[str], str]:
    """The letters of every operand and of the result."""
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    every = "".join(terms)
    if not arrow:
        result = "".join(sorted(axis for axis in set(every) if every.count(axis) == 1))
    named = [*terms, result]
    plain = all(term == "" or (term.isalpha() and len(set(term)) == len(term)) for term in named)
    if not plain or set(result) - set(every):
        raise Refused("an Einsum that names an axis twice, or has an ellipsis")
    return terms, result


def _joined(program: Program, a: Operand, of_a: str, b: Operand, of_b: str, later: set[str]) -> tuple[Operand, str]:
    (a, of_a), (b, of_b) = _summed(program, a, of_a, {*of_b, *later}), _summed(program, b, of_b, {*of_a, *later})
    sizes = dict(zip(of_a, a.shape, strict=True)) | dict(zip(of_b, b.shape, strict=True))
    if [sizes[axis] for axis in of_a] != list(a.shape):
        raise Refused("an Einsum with an axis of two sizes")
    both, gone = ([axis for axis in of_a if axis in of_b and (axis in later) == kept] for kept in (True, False))
    rows, columns = [axis for axis in of_a if axis not in of_b], [axis for axis in of_b if axis not in of_a]
    lead, inner = tuple(sizes[axis] for axis in both), prod(sizes[axis] for axis in gone)
    a = program.turned(a, [of_a.index(axis) for axis in (*both, *rows, *gone)])
    b = program.turned(b, [of_b.index(axis) for axis in (*both, *gone, *columns)])
    high, wide = (tuple(sizes[axis] for axis in some) for some in (rows, columns))
    if gone:
        a, b = _shaped(a, (*lead, prod(high), inner)), _shaped(b, (*lead, inner, prod(wide)))
        made = affine.product(program, a, b)
    else:
        a, b = _shaped(a, (*lead, *high, *[1] * len(wide))), _shaped(b, (*lead, *[1] * len(high), *wide))
        made = affine.elementwise(program, "Mul", [a, b])
    return _shaped(made, (*lead, *high, *wide)), "".join((*both, *rows, *columns))


def _summed(program: Program, x: Operand, axes: str, kept: set[str]) -> tuple[Operand, str]:
    """Without the axes that nothing reads any more."""
    rest = [i for i, axis in enumerate(axes) if axis in kept]
    if len(rest) == len(axes):
        return x, axes
    gone = [i for i in range(len(axes)) if i not in rest]
    shape = tuple(x.shape[i] for i in rest)
    flat = _shaped(program.turned(x, [*rest, *gone]), (prod(shape), prod(x.shape) // max(1, prod(shape))))
    ones = np.ones((flat.shape[1], 1))
    return _shaped(affine.product(program, flat, ones), shape), "".join(axes[i] for i in rest)


def _shaped(x: Operand, shape: tuple[int, ...]) -> Operand:
    return x.reshaped(shape) if isinstance(x, Value) else x.reshape(shape)
