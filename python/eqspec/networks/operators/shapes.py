"""The operators of ONNX that only move numbers: shapes, transposes, concatenation, Identity and Dropout.

Each is one numpy function. A constant goes through it directly; a value that depends on the input goes through it as
the array of its flat positions, which is an exact index permutation (or selection) of its entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.levels import Levels
from eqspec.networks.masked import Hidden, Masked
from eqspec.networks.matrices import check_size, check_value
from eqspec.networks.onnx_tensor import UnreadableError, Whole
from eqspec.networks.operators.operator_call import Operator, OperatorCall, Scores, Value

AnyArray = NDArray[Any]


def shape_of_value(value: Value) -> tuple[int, ...]:
    """The shape of any kind of value."""
    return value.scores.shape if isinstance(value, Scores) else value.shape


def check_made(values: Sequence[Value], shape: tuple[int, ...]) -> None:
    """Refuse a shape that is too large for what is made of these values, before anything is made."""
    constant = all(isinstance(value, Enclosure | np.ndarray) for value in values)
    (check_size if constant else check_value)(shape)


def apply(value: Value, f: Callable[[AnyArray], AnyArray]) -> Value:
    """A rearrangement f of any kind of value."""
    if isinstance(value, np.ndarray):
        moved: Whole = np.asarray(f(value))  # numpy turns rank 0 into a scalar
        return moved
    if isinstance(value, Affine):
        return af.rearrange(value, f)
    if isinstance(value, Enclosure | Levels | Masked | Hidden):
        return value.rearranged(f)
    moved_scores = af.rearrange(value.scores, f)
    before, after = (
        np.arange(value.scores.size),
        f(np.arange(value.scores.size).reshape(value.scores.shape)).reshape(-1),
    )
    if not np.array_equal(before, after):
        return af.rearrange(value.value, f)
    return Scores(moved_scores, value.kind, value.computed)


def identity(call: OperatorCall) -> Sequence[Value]:
    """Identity."""
    return [call.value(0)]


def dropout(call: OperatorCall) -> Sequence[Value]:
    """Dropout in inference: the identity, whatever its ratio. The mask is not offered.

    It is training where its input says so since opset 12, and before opset 7 unless `is_test` is set; and the identity
    there as well if its ratio is 0.
    """
    training = bool((call.has(2) and call.whole(2).any()) or (call.opset < 7 and not call.integer("is_test", 0)))
    if training and not (call.has(1) and (ratio := call.number(1)).error is None and not ratio.value.any()):
        raise UnreadableError("dropout in training mode", "export the model in inference mode (model.eval())")
    return [call.value(0)]


def axis_of(axis: int, rank: int) -> int:
    """An axis, counted from the front; UnreadableError where there is none."""
    if not -rank <= axis < rank:
        raise UnreadableError(f"axis {axis} of a value with {rank} axes", "export the model again")
    return axis % rank


def flatten(call: OperatorCall) -> Sequence[Value]:
    """Flatten to a matrix: axes before `axis` are the rows."""
    x = call.value(0)
    shape, axis = shape_of_value(x), call.integer("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise UnreadableError(f"axis {axis} of a value with {len(shape)} axes", "export the model again")
    axis = axis + len(shape) if axis < 0 else axis
    return [apply(x, lambda a: a.reshape(prod(shape[:axis]), prod(shape[axis:])))]


def reshape(call: OperatorCall) -> Sequence[Value]:
    """Reshape: 0 copies a size (unless allowzero), -1 is worked out, a fixed batch size becomes 1."""
    x, target = call.value(0), [int(d) for d in call.whole(1).reshape(-1)]
    shape = shape_of_value(x)
    if not (call.opset >= 14 and call.integer("allowzero", 0)):
        if any(d == 0 and i >= len(shape) for i, d in enumerate(target)):
            raise UnreadableError(f"shape {target} copies a size that {shape} does not have", "export the model again")
        target = [shape[i] if d == 0 else d for i, d in enumerate(target)]
    target = _complete(target, prod(shape)) or _complete(_read_samples(target, call), prod(shape)) or target
    if any(d < 0 for d in target) or prod(target) != prod(shape):
        raise UnreadableError(
            f"a value of shape {shape} cannot be reshaped to {target}", "export the model with a batch size of 1"
        )
    return [apply(x, lambda a: a.reshape(target))]


def _complete(target: list[int], size: int) -> list[int] | None:
    """The target with -1 worked out, None where the sizes do not fit."""
    known = prod(d for d in target if d != -1)
    if target.count(-1) == 1 and known > 0 and size % known == 0:
        return [size // known if d == -1 else d for d in target]
    return target if -1 not in target and known == size else None


def _read_samples(target: list[int], call: OperatorCall) -> list[int]:
    """The target with as many samples as are read in place of the whole batch."""
    if call.batch is None or call.batch not in target:
        return target
    at = target.index(call.batch)
    return [*target[:at], call.samples, *target[at + 1 :]]


def _axes(call: OperatorCall, since: int) -> list[int] | None:
    """Axes as an attribute, or as an input from some opset on."""
    if call.opset >= since:
        return [int(a) for a in call.whole(1).reshape(-1)] if call.has(1) else None
    return call.integers("axes")


def squeeze(call: OperatorCall) -> Sequence[Value]:
    """Squeeze the given axes, or all of size 1."""
    x, axes = call.value(0), _axes(call, 13)
    shape = shape_of_value(x)
    if axes == []:
        raise UnreadableError("no axes, which some runtimes take for all", "leave the axes out, or the operator")
    gone = {i for i, d in enumerate(shape) if d == 1} if axes is None else {axis_of(a, len(shape)) for a in axes}
    if any(shape[i] != 1 for i in gone):
        raise UnreadableError(f"axes {axes} of shape {shape} are not all of size 1", "export the model again")
    kept = [d for i, d in enumerate(shape) if i not in gone]
    return [apply(x, lambda a: a.reshape(kept))]


def unsqueeze(call: OperatorCall) -> Sequence[Value]:
    """Unsqueeze: new axes of size 1 at these places of the result."""
    x, axes = call.value(0), _axes(call, 13)
    if axes is None:
        raise UnreadableError("no axes", "export the model again")
    shape = list(shape_of_value(x))
    rank = len(shape) + len(axes)
    places = sorted(axis_of(a, rank) for a in axes)
    if len(set(places)) != len(axes) or rank > 32:
        raise UnreadableError(f"axes {axes[:40]} repeat or are too many", "export the model again")
    for place in places:
        shape.insert(place, 1)
    return [apply(x, lambda a: a.reshape(shape))]


def transpose(call: OperatorCall) -> Sequence[Value]:
    """Transpose: any permutation of the axes, by default the reverse."""
    x = call.value(0)
    shape = shape_of_value(x)
    rank = len(shape)
    given = call.integers("perm")
    order = list(range(rank))[::-1] if given is None else given
    if sorted(order) != list(range(rank)):
        raise UnreadableError(f"perm {order} does not fit a value of shape {shape}", "export the model again")
    return [apply(x, lambda a: np.transpose(a, order))]


def shape_of(call: OperatorCall) -> Sequence[Value]:
    """Shape of a value (of one sample), or a part of it."""
    sizes = np.array(shape_of_value(call.value(0)), dtype=np.int64)
    end = call.attribute("end")
    return [sizes[call.integer("start", 0) : None if end is None else call.integer("end", 0)]]


def concat(call: OperatorCall) -> Sequence[Value]:
    """Concat along an axis; constants may stand among the values."""
    values = [call.value(i) for i in range(max(1, len(call.inputs)))]
    whole = [v for v in values if isinstance(v, np.ndarray)]
    shapes = [shape_of_value(v) for v in values]
    axis = axis_of(call.integer("axis", 1), len(shapes[0]))
    rest = {(*s[:axis], *s[axis + 1 :]) for s in shapes}
    if len(rest) != 1 or len({len(s) for s in shapes}) != 1:
        raise UnreadableError(f"shapes {shapes[:6]} cannot be joined along axis {axis}", "export the model again")
    check_made(values, (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :]))
    if len(whole) == len(values):
        return [np.concatenate(whole, axis=axis)]
    reals = [call.real_value(i) for i in range(len(values))]
    stored = [v for v in reals if isinstance(v, Enclosure)]
    if len(stored) == len(reals):
        return [en.joined(stored, axis)]
    affine = [v if isinstance(v, Affine) else af.constant(call.given, v) for v in reals]
    starts = np.cumsum([0, *(v.size for v in affine)])
    positions = [start + np.arange(v.size).reshape(v.shape) for start, v in zip(starts, affine, strict=False)]
    return [concatenated(affine, np.concatenate(positions, axis=axis))]


def concatenated(values: Sequence[Affine], positions: AnyArray) -> Affine:
    """Entries of several values, by their places in all of them one behind the other."""
    return af.rearrange(af.stack(values), lambda _: positions)


def expand(call: OperatorCall) -> Sequence[Value]:
    """Expand: broadcast to a constant shape."""
    x = call.value(0)
    target = [int(d) for d in call.whole(1).reshape(-1)]
    if any(d < 0 for d in target):
        raise UnreadableError(f"shape {target} is negative", "export the model again")
    try:
        shape = np.broadcast_shapes(shape_of_value(x), tuple(target))
    except ValueError as error:
        raise UnreadableError(
            f"shape {shape_of_value(x)} does not broadcast to {target}", "export the model again"
        ) from error
    check_value(shape)
    return [apply(x, lambda a: np.broadcast_to(a, shape))]


OPERATORS: dict[str, Operator] = {
    "Concat": concat,
    "Dropout": dropout,
    "Expand": expand,
    "Flatten": flatten,
    "Identity": identity,
    "Reshape": reshape,
    "Shape": shape_of,
    "Squeeze": squeeze,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
