"""Convolutions, pools, paddings and resizings: nodes with all attributes, at the edges of what they may be.

Axes are (batch, channels, *spatial) with one to three spatial axes of a few entries each.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from conformance.building import FLOATS, Builder, Value
from conformance.functions import add
from conformance.operators import Generator, sample_of

SHAPES = (
    (1, 1, 4), (1, 2, 4), (1, 3, 5), (1, 1, 3, 3), (1, 2, 3, 3), (1, 1, 4, 4), (1, 2, 2, 3), (1, 4, 2, 2), (1, 1, 6, 3),
    (1, 2, 3, 4), (1, 3, 2, 2, 2), (1, 1, 2, 3, 4),
)  # fmt: skip
"""Of inputs."""


def image(g: Builder) -> Value:
    """A value that mostly has spatial axes: as it is, or in another shape."""
    v = g.operand(floats=True, dependent=g.chance(0.95))
    shape, size = sample_of(v).shape, sample_of(v).size
    usable = len(shape) >= 3 and prod(shape[2:]) > 1
    if (usable and g.chance(0.9)) or g.chance(0.03) or size < 2:
        return v
    sizes = [1]
    for _ in range(g.one([0, 1, 1, 2])):  # channels, and all spatial axes but the last
        left = size // prod(sizes)
        sizes.append(g.one([d for d in (1, 2, 3, 4) if left % d == 0]))
    target = [*sizes, *([1] if len(sizes) < 2 else []), size // prod(sizes)]
    made = g.constant(np.array(target, np.int64))
    return g.add("Reshape", [v, made], lambda: sample_of(v).reshape(target))[0]


def windows(g: Builder, sizes: tuple[int, ...], kernel: list[int], *, dilated: bool) -> dict[str, Any]:
    """Strides, dilations and pads."""
    rank, chosen = len(sizes), dict[str, Any]()
    if g.chance(0.5):
        chosen["strides"] = [g.one([1, 1, 2, 3]) for _ in range(rank)]
    if dilated and g.chance(0.3):
        chosen["dilations"] = [g.one([1, 1, 2, 3]) for _ in range(rank)]
    if g.chance(0.25):
        chosen["auto_pad"] = g.one(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
    if chosen.get("auto_pad", "NOTSET") == "NOTSET" and g.chance(0.6):
        reach = [k if g.chance(0.1) else k - 1 for k in kernel]
        chosen["pads"] = [g.whole(0, max(0, most)) for most in (*reach, *reach)]
    return chosen


def kernel_of(g: Builder, sizes: tuple[int, ...]) -> list[int]:
    """A kernel that mostly fits."""
    return [g.whole(1, max(1, min(3, size)) if g.chance(0.9) else 4) for size in sizes]


def convolution(g: Builder) -> None:
    v = image(g)
    shape = sample_of(v).shape
    channels, sizes = (shape[1] if len(shape) > 1 else 1), shape[2:]
    groups = g.one([d for d in range(1, channels + 1) if channels % d == 0] or [1])
    outputs, kernel = groups * g.whole(1, 2), kernel_of(g, sizes)
    weight = g.floats((outputs, channels // groups + g.chance(0.02), *kernel))
    chosen = windows(g, sizes, kernel, dilated=True)
    if groups > 1 or g.chance(0.3):
        chosen["group"] = groups
    if g.chance(0.5):
        chosen["kernel_shape"] = kernel
    bias = g.constant(g.floats((outputs,))) if g.chance(0.5) else None
    add(g, "Conv", [v, g.constant(weight), bias], **chosen)


def transposed(g: Builder) -> None:
    v = image(g)
    shape = sample_of(v).shape
    channels, sizes = (shape[1] if len(shape) > 1 else 1), shape[2:]
    groups = g.one([d for d in range(1, channels + 1) if channels % d == 0] or [1])
    outputs, kernel = g.whole(1, 2), kernel_of(g, sizes)
    chosen = windows(g, sizes, kernel, dilated=True)
    strides = chosen.get("strides", [1] * len(sizes))
    dilations = chosen.get("dilations", [1] * len(sizes))
    if groups > 1 or g.chance(0.3):
        chosen["group"] = groups
    if g.chance(0.5):
        chosen["kernel_shape"] = kernel
    if g.chance(0.25):
        chosen["output_padding"] = [g.whole(0, max(s, d) - 1) for s, d in zip(strides, dilations, strict=True)]
    if g.chance(0.15):
        full = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(sizes, strides, kernel, dilations, strict=True)]
        chosen["output_shape"] = [max(1, f - g.whole(-1 if g.chance(0.1) else 0, 2)) for f in full]
        if g.chance(0.9):
            chosen.pop("pads", None)
    weight = g.constant(g.floats((channels, outputs, *kernel)))
    bias = g.constant(g.floats((outputs * groups,))) if g.chance(0.5) else None
    add(g, "ConvTranspose", [v, weight, bias], **chosen)


def pool(kind: str) -> Generator:
    largest, newest = kind == "MaxPool", {"MaxPool": 10, "AveragePool": 19}[kind]

    def make(g: Builder) -> None:
        v = image(g)
        sizes = sample_of(v).shape[2:]
        kernel = kernel_of(g, sizes)
        chosen = windows(g, sizes, kernel, dilated=g.opset >= newest)
        if g.opset >= 10 and g.chance(0.4):
            chosen["ceil_mode"] = g.one([0, 1, 1])
        if not largest and g.opset >= 7 and g.chance(0.5):
            chosen["count_include_pad"] = g.one([0, 1, 1])
        outputs = 2 if largest and g.opset >= 8 and g.chance(0.1) else 1
        if largest and g.opset >= 8 and g.chance(0.1):
            chosen["storage_order"] = g.one([0, 1])
        found = add(g, kind, [v], outputs, kernel_shape=kernel, **chosen)
        g.values.append(found[0])

    return make


def global_pool(kind: str) -> Generator:
    def make(g: Builder) -> None:
        add(g, kind, [image(g)])

    return make


def pad(g: Builder) -> None:
    v = g.operand(floats=g.chance(0.9))
    shape = sample_of(v).shape
    modes = ["constant", "edge", "reflect", *(["wrap"] if g.opset >= 19 else [])]
    mode = g.one(["constant", *modes])
    rank = len(shape)
    least = -1 if mode == "constant" and g.chance(0.3) else 0
    axes = list(range(rank))
    if g.opset >= 18 and g.chance(0.4):
        axes = g.rng.permutation(rank)[: g.whole(0, rank)].tolist()
    most = [max(0, shape[a] - (mode == "reflect")) if mode != "constant" and g.chance(0.95) else 2 for a in axes]
    batch = [a == 0 and g.chance(0.9) for a in axes]
    pads = [0 if b else g.whole(least, min(2, m)) for _ in range(2) for m, b in zip(most, batch, strict=True)]
    chosen: dict[str, Any] = {} if mode == "constant" and g.chance(0.5) else {"mode": mode}
    number = g.one([0.0, 0.5, -2.0]) if g.chance(0.5) else None
    if g.opset < 11:
        if number is not None:
            chosen["value"] = number
        add(g, "Pad", [v], pads=pads, **chosen)
        return
    inputs: list[Value | None] = [v, g.constant(np.array(pads, np.int64))]
    inputs.append(None if number is None else g.constant(np.asarray(number).astype(sample_of(v).dtype)))
    if axes != list(range(rank)):
        shown = [a - rank if g.chance(0.3) else a for a in axes]
        inputs.append(g.constant(np.array(shown, g.one([np.int64, np.int32]))))
    add(g, "Pad", inputs, **chosen)


def upsample(g: Builder) -> None:
    v = image(g)
    scales = [1.0 if i < 2 and g.chance(0.8) else g.one([1.0, 2.0, 3.0, 1.5, 2.5]) for i in range(sample_of(v).ndim)]
    chosen: dict[str, Any] = {} if g.chance(0.4) else {"mode": g.one(["nearest", "nearest", "linear"])}
    if g.opset < 9:
        add(g, "Upsample", [v], scales=scales, **chosen)
    else:
        add(g, "Upsample", [v, g.constant(np.array(scales, np.float32))], **chosen)


def resize(g: Builder) -> None:
    v = image(g)
    shape = sample_of(v).shape
    factors = [1.0 if i < 2 and g.chance(0.9) else g.one([1.0, 2.0, 3.0, 0.5, 1.5, 0.75]) for i in range(len(shape))]
    chosen: dict[str, Any] = {} if g.chance(0.5) else {"mode": g.one(["nearest", "linear", "cubic"])}
    if g.opset < 11:
        add(g, "Resize", [v, g.constant(np.array(factors, np.float32))], **chosen)
        return
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
    coordinates += ["tf_half_pixel_for_nn"] if g.opset < 13 else ["half_pixel_symmetric"] if g.opset >= 19 else []
    if g.chance(0.7):
        chosen["coordinate_transformation_mode"] = g.one(["asymmetric", "asymmetric", *coordinates])
    if g.chance(0.7):
        chosen["nearest_mode"] = g.one(["round_prefer_floor", "round_prefer_ceil", "floor", "floor", "ceil"])
    axes = list(range(len(shape)))
    if g.opset >= 18 and g.chance(0.3):
        axes = axes[2:] or axes
        chosen["axes"] = [a - len(shape) if g.chance(0.3) else a for a in axes]
    if g.opset >= 18 and g.chance(0.05):
        chosen["antialias"] = g.one([0, 1])
    if g.opset >= 18 and g.chance(0.05):
        chosen["keep_aspect_ratio_policy"] = g.one(["stretch", "not_larger", "not_smaller"])
    if g.chance(0.5):
        last = [g.constant(np.array([factors[a] for a in axes], np.float32))]
    else:
        sizes = [max(1, int(shape[a] * factors[a]) if g.chance(0.6) else g.whole(1, 2 * shape[a] + 1)) for a in axes]
        last = [None, g.constant(np.array(sizes, np.int64))]  # type: ignore[list-item]
        if g.opset < 13:
            last[0] = g.constant(np.zeros(0, np.float32))
    roi = None if g.opset >= 13 and g.chance(0.8) else g.constant(np.zeros(0, FLOATS[g.kind]))
    add(g, "Resize", [v, roi, *last], **chosen)


def blocks(kind: str) -> Generator:
    def make(g: Builder) -> None:
        v, size = g.operand(floats=True), g.one([2, 2, 2, 1, 3])
        count = sample_of(v).size
        if count and count % (size * size) == 0 and g.chance(0.9):
            rest = count // (size * size)
            wide = g.one([d for d in (1, 2, 3) if rest % d == 0])
            deep = (1, size * size * wide, 1, rest // wide)
            target = deep if kind == "DepthToSpace" else (1, 1, size * wide, size * rest // wide)
            made = g.constant(np.array(target, np.int64))
            (v,) = g.add("Reshape", [v, made], partial(sample_of(v).reshape, target))
        chosen: dict[str, Any] = {"blocksize": size}
        if g.opset >= (11 if kind == "DepthToSpace" else 28) and g.chance(0.6):
            chosen["mode"] = g.one(["DCR", "CRD"])
        add(g, kind, [v], **chosen)

    return make


def columns_to_image(g: Builder) -> None:
    """Col2Im of any entries, mostly as many as its windows are."""
    v = g.operand(floats=True, dependent=g.chance(0.95))
    rank = g.whole(1, 3)
    sizes = tuple(g.whole(1, 5) for _ in range(rank))
    kernel = kernel_of(g, sizes)
    chosen = windows(g, sizes, kernel, dilated=rank == 2)
    chosen.pop("auto_pad", None)
    strides, dilations = (chosen.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = np.reshape(chosen.get("pads", [0] * (2 * rank)), (2, rank)).sum(axis=0)
    room = [n + p - (k - 1) * d - 1 for n, p, k, d in zip(sizes, pads, kernel, dilations, strict=True)]
    count = prod(max(0, r // s + 1) for r, s in zip(room, strides, strict=True)) + g.chance(0.02)
    flat = g.constant(np.array([-1], np.int64))
    (row,) = g.add("Reshape", [v, flat], lambda: sample_of(v).reshape(-1))
    if row.sample is None:
        return
    shape = (1, g.whole(1, 2) * prod(kernel), int(count))
    at = g.rng.integers(0, max(1, sample_of(v).size), shape)
    (columns,) = g.add("Gather", [row, g.constant(at.astype(np.int64))], lambda: sample_of(row)[at])
    if columns.sample is None:
        return
    add(g, "Col2Im", [columns, g.constant(np.array(sizes, np.int64)), g.constant(np.array(kernel, np.int64))], **chosen)


SPATIAL: dict[str, Generator] = {
    "AveragePool": pool("AveragePool"),
    "Col2Im": columns_to_image,
    "Conv": convolution,
    "ConvTranspose": transposed,
    "DepthToSpace": blocks("DepthToSpace"),
    "GlobalAveragePool": global_pool("GlobalAveragePool"),
    "GlobalMaxPool": global_pool("GlobalMaxPool"),
    "MaxPool": pool("MaxPool"),
    "Pad": pad,
    "Resize": resize,
    "SpaceToDepth": blocks("SpaceToDepth"),
    "Upsample": upsample,
}
