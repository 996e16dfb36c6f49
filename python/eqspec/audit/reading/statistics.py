"""Operators that divide by statistics of several entries, sum functions of them up, or share one among them.

    normalisation of a group: (x - m) v^(-1/2), m the mean, v that of (x - m)^2, and epsilon
    softmax_i = sigmoid(x_i - r_i), r_i = ln(sum over j != i of e^x_j), by ln(e^a + e^b) = b + softplus(a - b)
    ReduceL1, L2, SumSquare, LogSum, LogSumExp: a function of a sum of functions; ReduceProd: products two by two

In float32 only a Softmax is read, each share of which is assumed to be as a function of one variable is (`assumed`).
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..functions import Curve
from ..rounding import Array, Refused
from . import affine, assumed, bends, unary
from .program import Given, Operand, Operands, Program, optional
from .shape_operators import reduced
from .value import CONSTANT, Value
from .windows import AROUND, windows

SUMMED: dict[str, tuple[str | None, str | None]] = {
    "ReduceL1": ("abs", None), "ReduceL2": ("square", "sqrt"), "ReduceLogSum": (None, "log"),
    "ReduceLogSumExp": ("exp", "log"), "ReduceProd": (None, None), "ReduceSumSquare": ("square", None),
}  # fmt: skip
NORMALISING = {"GroupNormalization", "InstanceNormalization", "LayerNormalization", "LpNormalization"}
NORMALISING |= {"GlobalLpPool", "LRN", "LpPool", "RMSNormalization"}


def summed(program: Program, operator: str, x: Value, opset: int, operands: Operands, given: Given) -> Value:
    """An operator of SUMMED."""
    taps = reduced(x, operator, opset, operands, given)
    if not taps.shape[-1]:
        raise Refused("a sum of nothing")
    program.effort.name(*taps.shape)
    if operator == "ReduceProd":
        return _multiplied(program, x, taps)
    inner, outer = SUMMED[operator]
    if inner is not None:
        x = bends.absolute(program, x) if inner == "abs" else unary.applied(program, x, Curve(inner))
    made = total(program, x, taps)
    return made if outer is None else unary.applied(program, made, Curve(outer))


def total(program: Program, x: Value, taps: Array) -> Value:
    """Sums of entries."""
    return program.sums(x, taps, np.zeros(prod(taps.shape[:-1]), int), np.ones((1, taps.shape[-1])))


def _multiplied(program: Program, x: Value, taps: Array) -> Value:
    value, at = program.settled(x), taps
    while (count := at.shape[-1]) > 1:
        half = count // 2
        first, second = (program.taken(value, at[..., part]) for part in (slice(0, half), slice(half, 2 * half)))
        made, rest = unary.product(program, first, second), program.taken(value, at[..., 2 * half :])
        value = program.settled(program.stacked([made, rest]))
        numbers = np.split(np.arange(value.size), [made.size])
        at = np.concatenate([n.reshape(v.shape) for n, v in zip(numbers, (made, rest), strict=True)], axis=-1)
    return program.taken(value, at[..., 0])


def normalised(program: Program, operator: str, x: Value, opset: int, operands: Operands, given: Given) -> Operand:
    """An operator of NORMALISING, with the scale and the bias that follow."""
    rank, epsilon = len(x.shape), float(given.get("epsilon", np.float32(1e-5)))
    if operator == "LpNormalization":
        return _by_norm(program, x, int(given.get("axis", -1)), int(given.get("p", 2)))
    if operator == "LRN":
        return _by_neighbours(program, x, given)
    if operator in ("LpPool", "GlobalLpPool"):
        kernel = list(x.shape[2:]) if operator == "GlobalLpPool" else given["kernel_shape"]
        seen, _ = windows(x.places, kernel, {n: v for n, v in given.items() if n in AROUND}, pooling=True)
        return _norms(program, x, seen.reshape(*seen.shape[: -len(kernel)], -1), int(given.get("p", 2)))
    if operator in ("LayerNormalization", "RMSNormalization"):
        axis = given.get("axis", -1)
        if not -rank <= axis < rank or given.get("stash_type", 1) != 1:
            raise Refused("a LayerNormalization along no axis")
        groups, form = x.places.reshape(prod(x.shape[: axis % rank]), -1), None
    else:
        count = given.get("num_groups", 0) if operator == "GroupNormalization" else x.shape[1]
        if rank < 3 or count < 1 or x.shape[1] % count:
            raise Refused(f"a {operator} without axes of space, or of channels that its groups do not divide")
        groups, form = x.places.reshape(x.shape[0] * count, -1), (-1, *[1] * (rank - 2))
    place = np.empty(x.size, int)
    place[groups.ravel()] = np.repeat(np.arange(len(groups)), groups.shape[1])
    place = place.reshape(x.shape)
    apart = program.settled(x)
    if operator != "RMSNormalization":
        mean = affine.averaged(program, x, groups, every=True, total=False)
        apart = program.settled(program.apart(x, program.taken(mean, place)))
    squares = affine.averaged(program, unary.applied(program, apart, Curve("square")), groups, every=True, total=False)
    shares = unary.applied(program, program.added(squares, np.array(epsilon)), Curve("power", (-0.5,)))
    made: Operand = unary.product(program, apart, program.taken(shares, place))
    for index, kind in ((1, "Mul"), (2, "Add")):
        if (constant := optional(operands, index)) is None:
            continue
        if isinstance(constant, Value):
            raise Refused("a scale or a bias that is no constant number")
        if form is not None:
            size = groups.shape[0] // x.shape[0] if operator == "GroupNormalization" and opset < 21 else x.shape[1]
            if constant.shape != (size,):
                raise Refused("scales or biases of another number than the channels or groups")
            constant = np.repeat(constant, x.shape[1] // size).reshape(form)
        made = affine.elementwise(program, kind, [made, constant])
    return made


def _norms(program: Program, x: Value, taps: Array, order: int) -> Value:
    if order not in (1, 2):
        raise Refused("a norm of another order")
    sizes = bends.absolute(program, x) if order == 1 else unary.applied(program, x, Curve("square"))
    made = total(program, sizes, taps)
    return made if order == 1 else unary.applied(program, made, Curve("sqrt"))


def _by_neighbours(program: Program, x: Value, given: Given) -> Value:
    """LRN: x (bias + alpha / size sum of squares)^-beta, over channels near by, more of them behind if size is even."""
    size, channels = int(given["size"]), x.shape[1] if len(x.shape) > 2 else 0
    alpha, beta, bias = (float(given.get(n, np.float32(v))) for n, v in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1)))
    if size < 1 or not channels:
        raise Refused("an LRN of no channels")
    near = np.arange(channels)[:, None] + np.arange(size) - (size - 1) // 2
    near = np.where((near >= 0) & (near < channels), near, -1)  # (c, k)
    last = np.moveaxis(x.places, 1, -1)
    program.effort.name(x.size, size)
    taps = np.where(near >= 0, last[..., np.maximum(near, 0)], -1)
    sums = total(program, unary.applied(program, x, Curve("square")), np.moveaxis(taps, -2, 1))
    share = program.effort.done(np.true_divide, np.array(alpha), np.array(float(size)))
    base = program.added(program.scaled(sums, share), np.array(bias))
    named = {0.5: "sqrt", -1.0: "reciprocal"}
    curve = Curve(named[-beta]) if -beta in named else Curve("power", (-beta,))
    return unary.product(program, x, unary.applied(program, base, curve))


def _by_norm(program: Program, x: Value, axis: int, order: int) -> Value:
    if order not in (1, 2) or not -len(x.shape) <= axis < len(x.shape):
        raise Refused("a norm of another order, or along no axis")
    groups = np.moveaxis(x.places, axis, -1)
    sizes = bends.absolute(program, x) if order == 1 else unary.applied(program, x, Curve("square"))
    sums = total(program, sizes, groups)
    shares = unary.applied(program, sums, Curve("reciprocal") if order == 1 else Curve("power", (-0.5,)))
    wide = np.broadcast_to(np.expand_dims(shares.places, axis % len(x.shape)), x.shape)
    return unary.product(program, x, program.taken(shares, wide))


def softmax(program: Program, x: Value, axis: int, opset: int, logarithm: bool, hidden: Array | None = None) -> Value:
    """Softmax or LogSoftmax with which the network goes on. What is hidden has a share of 0, the others share 1."""
    rank = len(x.shape)
    if not -rank <= axis < rank or (axis % rank == 0 and rank > 1):
        raise Refused("a Softmax along no axis, or along that of the samples")
    if opset < 13:
        runs = x.places.reshape(-1, prod(x.shape[axis % rank :]))
    else:
        runs = np.moveaxis(x.places, axis, -1).reshape(-1, x.shape[axis])
    if hidden is not None:
        return _of_seen(program, x, runs, ~hidden.ravel()[runs])
    count = runs.shape[1]
    if count < 2:
        return program.constant_where(x, np.full(x.shape, 0.0 if logarithm else 1.0))
    program.effort.name(len(runs), count, count.bit_length(), 2)
    constant = () if program.kind.rounds else tuple(p for p in x.parts if p.source == CONSTANT)
    varying = Value(x.shape, tuple(p for p in x.parts if not any(p is c for c in constant)))
    value = program.added(program.settled(varying), Value(x.shape, constant))  # so that masks cancel exactly
    own, others = program.taken(value, runs), _others(program, program.taken(value, runs))
    first, second = (others, own) if logarithm else (own, others)
    made = _inside(program, program.apart(first, second), "softplus" if logarithm else "sigmoid")
    made = assumed.missing(program, made, assumed.ROUNDINGS + count) if program.kind.rounds else made
    back = np.empty(x.size, int)
    back[runs.ravel()] = np.arange(x.size)
    result: Value = program.negative(made) if logarithm else made
    return program.taken(result.reshaped((x.size,)), back.reshape(x.shape))


def _of_seen(program: Program, x: Value, runs: Array, seen: Array) -> Value:
    """Softmax of those entries of each run that are seen: together, runs that see as many."""
    counts, groups = seen.sum(axis=1), list[Operand]()
    if not counts.all():
        raise Refused("a Softmax over minus infinity alone, which is no number")
    back, begin = np.full(x.size, -1), 0
    for count in np.unique(counts).tolist():
        at = runs[counts == count][seen[counts == count]].reshape(-1, count)
        groups.append(softmax(program, program.taken(x, at), -1, 13, logarithm=False))
        back[at.ravel()] = begin + np.arange(at.size)
        begin += at.size
    return program.taken(program.stacked(groups), back.reshape(x.shape))


def _others(program: Program, x: Value) -> Value:
    """ln(sum of e^x) over all others of each run (N, n): windows of 1, 2, 4, ... that begin behind each entry."""
    left, width, made = x.shape[1] - 1, 1, None
    window, behind = x, 1
    while left:
        if left & 1:
            part = program.taken(window, np.roll(window.places, -behind, axis=1))
            made = part if made is None else _together(program, made, part)
            behind += width
        left >>= 1
        if left:
            window = _together(program, window, program.taken(window, np.roll(window.places, -width, axis=1)))
            width *= 2
    assert made is not None
    return made


def _together(program: Program, a: Value, b: Value) -> Value:
    """ln(e^a + e^b) = b + softplus(a - b)."""
    return program.added(b, _inside(program, program.apart(a, b), "softplus"))


def _inside(program: Program, x: Value, name: str) -> Value:
    """A function that no runtime computes by itself."""
    return assumed.exactly(program, x, Curve(name))
