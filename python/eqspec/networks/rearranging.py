"""The operators of ONNX that only move numbers: shapes, transposes, selections, concatenation, constants.

Each is one numpy function. A constant goes through it directly; a value that depends on the input goes through it as
the array of its flat positions, which is an exact index permutation (or selection) of its entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto

from eqspec.networks import affine as af
from eqspec.networks.affine import Affine
from eqspec.networks.call import Call, Operator, Scores, Value
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.onnx_tensor import Constant, UnreadableError, Whole, decode

AnyArray = NDArray[Any]


def _shape(value: Value) -> tuple[int, ...]:
    return value.scores.shape if isinstance(value, Scores) else value.shape


def _check(values: Sequence[Value], shape: tuple[int, ...]) -> None:
    """Refuse a shape that is too large for what is made of these values, before anything is made."""
    constant = all(isinstance(value, Enclosure | np.ndarray) for value in values)
    (af.check_size if constant else af.check_value)(shape)


def _apply(value: Value, f: Callable[[AnyArray], AnyArray]) -> Value:
    """A rearrangement f of any kind of value."""
    if isinstance(value, np.ndarray):
        moved: Whole = np.asarray(f(value))  # numpy turns rank 0 into a scalar
        return moved
    if isinstance(value, Affine):
        return af.rearrange(value, f)
    if isinstance(value, Enclosure):
        return value.rearranged(f)
    moved_scores = af.rearrange(value.scores, f)
    before, after = (
        np.arange(value.scores.size),
        f(np.arange(value.scores.size).reshape(value.scores.shape)).reshape(-1),
    )
    if not np.array_equal(before, after):
        fix = "Softmax and LogSoftmax are read only as the last operator: remove it, or what follows it"
        raise UnreadableError("the output of a Softmax is rearranged", fix)
    return Scores(moved_scores, value.kind)


def identity(call: Call) -> Sequence[Value]:
    """Identity."""
    return [call.value(0)]


def dropout(call: Call) -> Sequence[Value]:
    """Dropout in inference mode: the identity. The mask is not offered."""
    if call.has(2) and call.whole(2).any():
        raise UnreadableError("dropout in training mode", "export the model in inference mode (model.eval())")
    return [call.value(0)]


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise UnreadableError(f"axis {axis} of a value with {rank} axes", "export the model again")
    return axis % rank


def flatten(call: Call) -> Sequence[Value]:
    """Flatten to a matrix: axes before `axis` are the rows."""
    x = call.value(0)
    shape, axis = _shape(x), call.integer("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise UnreadableError(f"axis {axis} of a value with {len(shape)} axes", "export the model again")
    axis = axis + len(shape) if axis < 0 else axis
    return [_apply(x, lambda a: a.reshape(prod(shape[:axis]), prod(shape[axis:])))]


def reshape(call: Call) -> Sequence[Value]:
    """Reshape: 0 copies a size (unless allowzero), -1 is worked out, a fixed batch size becomes 1."""
    x, target = call.value(0), [int(d) for d in call.whole(1).reshape(-1)]
    shape = _shape(x)
    if not (call.opset >= 14 and call.integer("allowzero", 0)):
        if any(d == 0 and i >= len(shape) for i, d in enumerate(target)):
            raise UnreadableError(f"shape {target} copies a size that {shape} does not have", "export the model again")
        target = [shape[i] if d == 0 else d for i, d in enumerate(target)]
    target = _complete(target, prod(shape)) or _complete(_one_sample(target, call.batch), prod(shape)) or target
    if any(d < 0 for d in target) or prod(target) != prod(shape):
        raise UnreadableError(
            f"a value of shape {shape} cannot be reshaped to {target}", "export the model with a batch size of 1"
        )
    return [_apply(x, lambda a: a.reshape(target))]


def _complete(target: list[int], size: int) -> list[int] | None:
    """The target with -1 worked out, None where the sizes do not fit."""
    known = prod(d for d in target if d != -1)
    if target.count(-1) == 1 and known > 0 and size % known == 0:
        return [size // known if d == -1 else d for d in target]
    return target if -1 not in target and known == size else None


def _one_sample(target: list[int], batch: int | None) -> list[int]:
    if batch is None or batch not in target:
        return target
    at = target.index(batch)
    return [*target[:at], 1, *target[at + 1 :]]


def _axes(call: Call, since: int) -> list[int] | None:
    """Axes as an attribute, or as an input from some opset on."""
    if call.opset >= since:
        return [int(a) for a in call.whole(1).reshape(-1)] if call.has(1) else None
    return call.integers("axes")


def squeeze(call: Call) -> Sequence[Value]:
    """Squeeze the given axes, or all of size 1."""
    x, axes = call.value(0), _axes(call, 13)
    shape = _shape(x)
    gone = {i for i, d in enumerate(shape) if d == 1} if axes is None else {_axis(a, len(shape)) for a in axes}
    if any(shape[i] != 1 for i in gone):
        raise UnreadableError(f"axes {axes} of shape {shape} are not all of size 1", "export the model again")
    kept = [d for i, d in enumerate(shape) if i not in gone]
    return [_apply(x, lambda a: a.reshape(kept))]


def unsqueeze(call: Call) -> Sequence[Value]:
    """Unsqueeze: new axes of size 1 at these places of the result."""
    x, axes = call.value(0), _axes(call, 13)
    if axes is None:
        raise UnreadableError("no axes", "export the model again")
    shape = list(_shape(x))
    rank = len(shape) + len(axes)
    places = sorted(_axis(a, rank) for a in axes)
    if len(set(places)) != len(axes) or rank > 32:
        raise UnreadableError(f"axes {axes[:40]} repeat or are too many", "export the model again")
    for place in places:
        shape.insert(place, 1)
    return [_apply(x, lambda a: a.reshape(shape))]


def transpose(call: Call) -> Sequence[Value]:
    """Transpose: any permutation of the axes, by default the reverse."""
    x = call.value(0)
    rank = len(_shape(x))
    order = call.integers("perm") or list(range(rank))[::-1]
    if sorted(order) != list(range(rank)):
        raise UnreadableError(f"perm {order} does not fit a value of shape {_shape(x)}", "export the model again")
    return [_apply(x, lambda a: np.transpose(a, order))]


def shape_of(call: Call) -> Sequence[Value]:
    """Shape of a value (of one sample), or a part of it."""
    sizes = np.array(_shape(call.value(0)), dtype=np.int64)
    end = call.attribute("end")
    return [sizes[call.integer("start", 0) : None if end is None else call.integer("end", 0)]]


def gather(call: Call) -> Sequence[Value]:
    """Gather constant places along an axis."""
    x, places = call.value(0), call.whole(1)
    shape = _shape(x)
    axis = _axis(call.integer("axis", 0), len(shape))
    size = shape[axis]
    if places.size and not (-size <= int(places.min()) and int(places.max()) < size):
        raise UnreadableError(f"indices beyond axis {axis} of shape {shape}", "export the model again")
    _check([x], (*shape[:axis], *places.shape, *shape[axis + 1 :]))
    return [_apply(x, lambda a: np.take(a, places, axis=axis))]


def slice_(call: Call) -> Sequence[Value]:
    """Slice: starts, ends, axes and steps as attributes before opset 10, as inputs since."""
    x = call.value(0)
    shape = _shape(x)
    if call.opset < 10:
        starts, ends, axes, steps = call.integers("starts"), call.integers("ends"), call.integers("axes"), None
    else:
        given = [[int(i) for i in call.whole(k).reshape(-1)] if call.has(k) else None for k in range(1, 5)]
        starts, ends, axes, steps = given
    if starts is None or ends is None:
        raise UnreadableError("no starts or no ends", "export the model again")
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise UnreadableError("starts, ends, axes and steps do not fit together", "export the model again")
    cut = [slice(None)] * len(shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        cut[_axis(axis, len(shape))] = slice(start, end, step)
    return [_apply(x, lambda a: a[tuple(cut)])]


def split(call: Call) -> Sequence[Value]:
    """Split along an axis into equal parts, or into parts of the given sizes."""
    x = call.value(0)
    shape = _shape(x)
    axis = _axis(call.integer("axis", 0), len(shape))
    count, size = len(call.node.output), shape[axis]
    if call.opset >= 13:
        sizes = [int(i) for i in call.whole(1).reshape(-1)] if call.has(1) else None
    else:
        sizes = call.integers("split")
    if sizes is None:
        part = -(-size // count)
        sizes = [max(0, min(part, size - i * part)) for i in range(count)]
    if len(sizes) != count or sum(sizes) != size or min(sizes) < 0:
        raise UnreadableError(f"{size} entries cannot be split into {sizes[:20]}", "export the model again")
    ends = [sum(sizes[: i + 1]) for i in range(count)]

    def part_of(first: int, last: int) -> Value:
        return _apply(x, lambda a: np.take(a, range(first, last), axis=axis))

    return [part_of(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def concat(call: Call) -> Sequence[Value]:
    """Concat along an axis; constants may stand among the values."""
    values = [call.value(i) for i in range(max(1, len(call.inputs)))]
    whole = [v for v in values if isinstance(v, np.ndarray)]
    shapes = [_shape(v) for v in values]
    axis = _axis(call.integer("axis", 1), len(shapes[0]))
    rest = {(*s[:axis], *s[axis + 1 :]) for s in shapes}
    if len(rest) != 1 or len({len(s) for s in shapes}) != 1:
        raise UnreadableError(f"shapes {shapes[:6]} cannot be joined along axis {axis}", "export the model again")
    _check(values, (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :]))
    if len(whole) == len(values):
        return [np.concatenate(whole, axis=axis)]
    reals = [call.real_value(i) for i in range(len(values))]
    affine = [v if isinstance(v, Affine) else af.constant(call.inputs_level, v) for v in reals]
    starts = np.cumsum([0, *(v.size for v in affine)])
    positions = [start + np.arange(v.size).reshape(v.shape) for start, v in zip(starts, affine, strict=False)]
    return [af.rearrange(af.stack(affine), lambda _: np.concatenate(positions, axis=axis))]


def expand(call: Call) -> Sequence[Value]:
    """Expand: broadcast to a constant shape."""
    x = call.value(0)
    target = [int(d) for d in call.whole(1).reshape(-1)]
    if any(d < 0 for d in target):
        raise UnreadableError(f"shape {target} is negative", "export the model again")
    try:
        shape = np.broadcast_shapes(_shape(x), tuple(target))
    except ValueError as error:
        raise UnreadableError(f"shape {_shape(x)} does not broadcast to {target}", "export the model again") from error
    _check([x], shape)
    return [_apply(x, lambda a: np.broadcast_to(a, shape))]


def constant(call: Call) -> Sequence[Value]:
    """Constant, in any of its forms but strings and sparse tensors."""
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        found = call.attribute(name)
        if found is None:
            continue
        if name == "value":
            if found.type != AttributeProto.TENSOR:
                raise UnreadableError("attribute 'value' is no tensor", "export the model again")
            return [decode(found.t, call.external)]
        if name.startswith("value_int"):
            return [np.array(call.integers(name) if name.endswith("s") else call.integer(name, 0), dtype=np.int64)]
        numbers = np.array(list(found.floats) if name.endswith("s") else call.real(name, 0.0), dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise UnreadableError("a number that is not finite", "repair the training or the export that made it")
        return [Enclosure(numbers)]
    raise UnreadableError("a constant that is no dense tensor of numbers", "store it as an initialiser")


def constant_of_shape(call: Call) -> Sequence[Value]:
    """ConstantOfShape: one number everywhere, 0 by default."""
    shape = tuple(int(d) for d in call.whole(0).reshape(-1))
    if any(d < 0 for d in shape):
        raise UnreadableError(f"shape {shape} is negative", "export the model again")
    af.check_size(shape)
    found = call.attribute("value")
    number: Constant = decode(found.t, call.external) if found is not None else Enclosure(np.zeros(1))
    if (number.size if isinstance(number, np.ndarray) else number.value.size) != 1:
        raise UnreadableError("the value is not one number", "export the model again")
    if isinstance(number, np.ndarray):
        return [np.full(shape, number.reshape(-1)[0])]
    return [Enclosure(np.full(shape, number.value.reshape(-1)[0]))]


OPERATORS: dict[str, Operator] = {
    "Concat": concat,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Dropout": dropout,
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "Identity": identity,
    "Reshape": reshape,
    "Shape": shape_of,
    "Slice": slice_,
    "Split": split,
    "Squeeze": squeeze,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
