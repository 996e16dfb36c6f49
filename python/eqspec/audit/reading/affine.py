"""Operators that are affine in the one operand that varies, as sums of its entries with weights.

Products and quotients of two that vary are in `unary`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..functions import Curve
from ..rounding import Array, Refused
from . import unary
from .common_factor import joined
from .number import numbers
from .program import Given, Operand, Program
from .value import Value
from .windows import AROUND, windows

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Add": np.add, "Div": np.true_divide, "Mul": np.multiply, "Sub": np.subtract,
}  # fmt: skip


def elementwise(program: Program, operator: str, operands: Sequence[Operand]) -> Operand:
    """Sums, differences, products and quotients, and roots of constants."""
    together = joined(program, operator, operands)
    made = _elementwise(program, operator, operands) if together is None else together
    if isinstance(made, Value) and together is None:  # else its products would be made again
        program.origins.setdefault(made, (operator, operands))
    return made


def _elementwise(program: Program, operator: str, operands: Sequence[Operand]) -> Operand:
    effort = program.effort
    if operator == "Sum":
        constants = [one for one in operands if not isinstance(one, Value)]
        varies = len(constants) < len(operands)
        return program.added(*operands) if varies else effort.done(lambda *several: sum(several), *constants)
    if operator in ("Reciprocal", "Sqrt"):
        assert not isinstance(operands[0], Value)
        return effort.done(np.sqrt if operator == "Sqrt" else lambda v: 1 / v, operands[0])
    a, b = operands
    if not isinstance(a, Value) and not isinstance(b, Value):
        return effort.done(ELEMENTWISE[operator], a, b)
    if operator == "Add":
        return program.added(a, b)
    if operator == "Sub":
        return program.apart(a, b)
    if isinstance(b, Value) and operator == "Div":
        return unary.quotient(program, a, b)
    if isinstance(a, Value) and isinstance(b, Value):
        return unary.product(program, a, b)
    value, factor = (a, b) if isinstance(a, Value) else (b, a)
    assert isinstance(value, Value)
    assert not isinstance(factor, Value)
    if factor.dtype == object and not program.kind.rounds and any(number.k for number in factor.ravel()):
        value = program.settled(value)  # what it reads keeps exact kernels, as products are told by
    return program.scaled(value, effort.done(np.true_divide, np.ones(()), factor) if operator == "Div" else factor)


def product(program: Program, a: Operand, b: Operand) -> Operand:
    """Of matrices, as numpy has it: stacks of them, or a vector on either side."""
    shapes = [(1, *a.shape) if len(a.shape) == 1 else a.shape, (*b.shape, 1) if len(b.shape) == 1 else b.shape]
    lead = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    (rows, inner), (other, columns) = (shape[-2:] for shape in shapes)
    if inner != other:
        raise Refused("a product of matrices that do not fit")
    result = (*lead, *a.shape[-2:-1], *(b.shape[-1:] if len(b.shape) > 1 else ()))
    if not isinstance(a, Value) and not isinstance(b, Value):
        program.effort.spend(prod(lead), rows, columns, inner)
        # A sum of nothing is the integer 0 to numpy.
        return numbers(program.kind, program.effort.numbers(a) @ program.effort.numbers(b))
    if isinstance(a, Value) and isinstance(b, Value):
        return _of_both(program, a.reshaped(shapes[0]), b.reshaped(shapes[1])).reshaped(result)
    if isinstance(b, Value):  # (a b)' = b' a'
        b = b.reshaped(shapes[1])
        turned = np.swapaxes(np.asarray(a).reshape(shapes[0]), -1, -2)
        made = product(program, program.taken(b, np.swapaxes(b.places, -1, -2)), turned)
        return program.taken(program.value(made), np.swapaxes(made.places, -1, -2)).reshaped(result)  # type: ignore[union-attr]
    assert isinstance(a, Value)
    program.effort.name(prod(lead), rows, columns, inner)
    size, weights = (*lead, rows, columns), np.swapaxes(b.reshape(shapes[1]), -1, -2)
    taps = np.broadcast_to(a.places.reshape(shapes[0])[..., :, None, :], (*size, inner))
    kernels = np.broadcast_to(np.arange(prod(weights.shape[:-1])).reshape(weights.shape[:-1])[..., None, :], size)
    return program.sums(a, taps, kernels.ravel(), weights.reshape(-1, inner)).reshaped(result)


def _of_both(program: Program, a: Value, b: Value) -> Value:
    """Of two matrices that vary: each product by squares, and their sums."""
    program.effort.name(*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1], a.shape[-1])
    a, b = program.settled(a), program.settled(b)
    left = program.taken(a, a.places[..., :, :, None])
    right = program.taken(b, b.places[..., None, :, :])
    each = unary.product(program, left, right)
    taps = np.swapaxes(each.places, -1, -2)
    return program.sums(each, taps, np.zeros(prod(taps.shape[:-1]), int), np.ones((1, taps.shape[-1])))


def gemm(program: Program, a: Operand, b: Operand, c: Operand | None, attributes: Given) -> Operand:
    """alpha a b + beta c."""
    if not len(a.shape) == len(b.shape) == 2:
        raise Refused("a Gemm of what are no matrices")
    a, b = (program.turned(x, (1, 0)) if attributes.get(n, 0) else x for x, n in ((a, "transA"), (b, "transB")))
    found = product(program, a, b)
    if (alpha := attributes.get("alpha", 1.0)) != 1.0:
        found = elementwise(program, "Mul", [found, np.array(alpha)])
    if c is None:
        return found
    if (beta := attributes.get("beta", 1.0)) != 1.0:
        c = elementwise(program, "Mul", [c, np.array(beta)])
    if np.broadcast_shapes(c.shape, found.shape) != found.shape:
        raise Refused("a Gemm with more constants than results")
    return elementwise(program, "Add", [found, c])


def convolved(program: Program, x: Value, weight: Array, bias: Operand | None, attributes: Given) -> Operand:
    """A convolution of any number of axes: kernels (O, C / groups, *kernel)."""
    groups, kernel = attributes.get("group", 1), weight.shape[2:]
    shaped = len(x.shape) >= 3 and weight.ndim == len(x.shape)
    if not shaped or not weight.size or [*attributes.get("kernel_shape", kernel)] != [*kernel]:
        raise Refused("a convolution of another shape than its value")
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or len(weight) % groups:
        raise Refused("a convolution of other channels than its value has")
    seen, _ = windows(x.places, kernel, {n: v for n, v in attributes.items() if n in AROUND}, pooling=False)
    return _correlated(program, x, seen, weight, groups, bias)


def _correlated(program: Program, x: Value, seen: Array, weight: Array, groups: int, bias: Operand | None) -> Operand:
    """Sums of windows (samples, channels, *space, *kernel) of a value by kernels."""
    (samples, _), (outputs, each), kernel = seen.shape[:2], weight.shape[:2], weight.shape[2:]
    space, taps = seen.shape[2 : -len(kernel)], each * prod(kernel)
    program.effort.name(samples, outputs, prod(space), taps)
    some = seen.reshape(samples, groups, 1, each, prod(space), prod(kernel)).transpose(0, 1, 2, 4, 3, 5)
    seen = some.reshape(samples, groups, 1, prod(space), taps)
    places = np.broadcast_to(seen, (samples, groups, outputs // groups, prod(space), taps))
    which = np.broadcast_to(np.arange(outputs)[:, None], (samples, outputs, prod(space)))
    found = program.sums(x, places.reshape(samples, outputs, *space, taps), which.ravel(), weight.reshape(outputs, -1))
    return _shifted(program, found, bias)


def _shifted(program: Program, found: Value, bias: Operand | None) -> Value:
    """What a convolution gives, with the constant of each of its channels."""
    if bias is None:
        return found
    if isinstance(bias, Value) or bias.shape != found.shape[1:2]:
        raise Refused("a convolution with constants of another shape, or that vary")
    return program.added(found, np.asarray(bias).reshape(-1, *[1] * (len(found.shape) - 2)))


def averaged(program: Program, x: Value, taps: Array, every: bool, total: bool) -> Value:
    """Sums of entries at places taps (..., t), by how many there are: `every` counts also those that are none."""
    counts = np.full(taps.shape[:-1], taps.shape[-1]) if every else (taps >= 0).sum(axis=-1)
    if not taps.size or counts.min() < 1:
        raise Refused("an average of nothing")
    found, which = np.unique(counts, return_inverse=True)
    share = np.ones(len(found)) if total else program.effort.done(np.true_divide, np.ones(()), found.astype(float))
    return program.sums(x, taps, which.ravel(), np.broadcast_to(share[:, None], (len(found), taps.shape[-1])))


def normalised(program: Program, operands: Sequence[Operand], attributes: Given) -> Operand:
    """BatchNormalization in inference, channels on axis 1."""
    known = {"epsilon", "momentum", "spatial", "training_mode"}
    if not set(attributes) <= known or attributes.get("spatial", 1) != 1 or attributes.get("training_mode", 0):
        raise Refused("the auditor reads a normalisation in inference only")
    x, *rest = operands
    if len(x.shape) < 2 or any(v.shape != x.shape[1:2] for v in rest):
        raise Refused("a normalisation whose channels are not those of its value")
    epsilon = np.array(attributes.get("epsilon", float(np.float32(1e-5))))
    if program.kind.rounds and any(isinstance(v, Value) for v in rest):
        raise Refused("a normalisation by statistics of its value, in float32")
    form = (x.shape[1], *[1] * (len(x.shape) - 2))
    scale, shift, mean, variance = (v.reshaped(form) if isinstance(v, Value) else v.reshape(form) for v in rest)
    squared = elementwise(program, "Add", [variance, epsilon])
    if isinstance(squared, Value):
        factor = elementwise(program, "Mul", [scale, unary.applied(program, squared, Curve("power", (-0.5,)))])
    else:
        factor = elementwise(program, "Div", [scale, program.effort.done(np.sqrt, squared)])
    centred = elementwise(program, "Sub", [x, mean])
    return elementwise(program, "Add", [elementwise(program, "Mul", [centred, factor]), shift])


def transposed(program: Program, x: Value, weight: Array, bias: Operand | None, attributes: Given) -> Operand:
    """ConvTranspose: an output adds up what lies stride by stride before it, entry k of a kernel k dilations behind."""
    groups, kernel = attributes.get("group", 1), weight.shape[2:]
    axes = len(kernel)
    known = {"dilations", "group", "kernel_shape", "output_padding", "pads", "strides"}
    if not set(attributes) <= known | {"auto_pad"} or attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
        raise Refused("a ConvTranspose in a way that the auditor does not read")
    if len(x.shape) != axes + 2 or not axes or list(attributes.get("kernel_shape", kernel)) != [*kernel]:
        raise Refused("a ConvTranspose of another shape than its value")
    channels, each = weight.shape[:2]
    if groups < 1 or channels != x.shape[1] or channels % groups or not weight.size:
        raise Refused("a ConvTranspose of other channels than its value has")
    strides, dilations = (list(attributes.get(name, [1] * axes)) for name in ("strides", "dilations"))
    pads, more = list(attributes.get("pads", [0] * 2 * axes)), list(attributes.get("output_padding", [0] * axes))
    wrong = [*map(len, (strides, dilations, pads, more))] != [axes, axes, 2 * axes, axes]
    if wrong or min(*strides, *dilations) < 1 or min(*pads, *more) < 0:
        raise Refused("a ConvTranspose of other axes than its value, or with a negative size")
    wide, deep = x.places, channels // groups
    for i, (s, k, d, m) in enumerate(zip(strides, kernel, dilations, more, strict=True)):
        rows, span = np.moveaxis(wide, 2 + i, 0), (k - 1) * d
        program.effort.name(len(rows) * s + 2 * span + m, *rows.shape[1:])
        apart = np.full(((len(rows) - 1) * s + 1 + 2 * span + m, *rows.shape[1:]), -1)
        apart[span : len(apart) - span - m : s] = rows
        wide = np.moveaxis(apart[pads[i] : len(apart) - pads[axes + i]], 0, 2 + i)
        if wide.shape[2 + i] <= span:
            raise Refused("a ConvTranspose that gives nothing")
    seen, _ = windows(wide, kernel, {"dilations": dilations}, pooling=False)
    turned = weight.reshape(groups, deep, each, *kernel).swapaxes(1, 2).reshape(groups * each, deep, *kernel)
    return _correlated(program, x, seen, np.flip(turned, tuple(range(2, 2 + axes))), groups, bias)


def accumulated(program: Program, x: Value, along: Operand | None, attributes: Given) -> Value:
    """CumSum: sums of the entries up to each one."""
    if along is None or isinstance(along, Value) or along.dtype.kind not in "iu" or along.size != 1:
        raise Refused("a CumSum along what is no constant axis")
    last = np.moveaxis(x.places, axis := int(along.ravel()[0]), -1)  # refuses an axis that there is not
    size = last.shape[-1]
    apart = np.arange(size)[:, None] - np.arange(size)[None, :]  # of a result from an entry
    apart = -apart if attributes.get("reverse", 0) else apart
    seen = apart > 0 if attributes.get("exclusive", 0) else apart >= 0
    program.effort.name(*last.shape, size)
    taps = np.where(seen, last[..., None, :], -1)
    made = program.sums(x, taps, np.zeros(prod(taps.shape[:-1]), int), np.ones((1, size)))
    return program.taken(made, np.moveaxis(made.places, -1, axis))
