"""Graphs of operators with positions and of piecewise linear functions, by names, at their edges.

Values are small multiples of a power of two, so that results are exact unless a case says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper

from unit.networks.models import node

Constants = dict[str, Any]
Case = tuple[list[NodeProto], Constants, tuple[int, ...], int]
CASES: dict[str, Callable[[], Case]] = {}


def grid(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Multiples of 1/8 between -2 and 2."""
    return (np.random.default_rng(seed).integers(-16, 17, size=shape) / 8).astype(np.float32)


def whole(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


def case(name: str, nodes: list[NodeProto], constants: Constants, *shape: int, opset: int = 17) -> None:
    """A graph from x of this shape to y."""
    CASES[name] = lambda: (nodes, constants, shape, opset)


def one(name: str, kind: str, constants: Constants, *shape: int, opset: int = 17, **attributes: Any) -> None:
    """A graph of one node on x and constants."""
    case(name, [node(kind, ["x", *constants], "y", **attributes)], constants, *shape, opset=opset)


def _convolutions() -> None:
    w2, b = {"w": grid(4, 3, 3, 2)}, {"b": grid(4, seed=2)}
    one("conv", "Conv", w2, 1, 3, 6, 5)
    one("conv bias", "Conv", w2 | b, 1, 3, 6, 5)
    one("conv strides", "Conv", w2 | b, 1, 3, 7, 6, strides=[2, 3])
    one("conv pads", "Conv", w2 | b, 1, 3, 5, 5, pads=[1, 0, 2, 1])
    one("conv dilations", "Conv", w2, 1, 3, 8, 7, dilations=[2, 3])
    one("conv everything", "Conv", w2 | b, 1, 3, 9, 8, strides=[2, 2], pads=[1, 2, 0, 1], dilations=[2, 1])
    for kind in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        one(f"conv {kind}", "Conv", w2 | b, 1, 3, 7, 6, auto_pad=kind, strides=[2, 2])
        one(f"conv {kind} by 3", "Conv", w2 | b, 1, 3, 8, 7, auto_pad=kind, strides=[3, 1])
    one("conv groups", "Conv", {"w": grid(4, 2, 3, 3), "b": grid(4)}, 1, 4, 5, 5, group=2, pads=[1, 1, 1, 1])
    one("depthwise", "Conv", {"w": grid(8, 1, 3, 3), "b": grid(8)}, 1, 4, 5, 5, group=4)
    one("conv 1d", "Conv", {"w": grid(3, 2, 3), "b": grid(3)}, 1, 2, 9, strides=[2], pads=[2, 1])
    one("conv 3d", "Conv", {"w": grid(2, 2, 2, 2, 2), "b": grid(2)}, 1, 2, 3, 4, 3, pads=[1, 0, 0, 0, 1, 1])
    one("pointwise", "Conv", {"w": grid(5, 3, 1, 1)}, 1, 3, 4, 4)
    for groups in (1, 2):
        case(f"a kernel of the input, {groups}", [
            node("ReduceMean", ["x"], "m", axes=[1], keepdims=1), node("Mul", ["m", "w"], "k"),
            node("Conv", ["x", "k", "b"], "y", pads=[1, 1, 0, 1], strides=[1, 2], group=groups),
        ], {"w": grid(4, 4 // groups, 1, 1), "b": grid(4)}, 1, 4, 3, 3)  # fmt: skip
    t2 = {"w": grid(3, 2, 3, 2)}
    tb = {"b": grid(2, seed=3)}
    one("transposed", "ConvTranspose", t2 | tb, 1, 3, 4, 3)
    one("transposed strides", "ConvTranspose", t2 | tb, 1, 3, 4, 3, strides=[2, 3])
    one("transposed everything", "ConvTranspose", t2, 1, 3, 4, 3, strides=[3, 2], pads=[1, 0, 0, 1], dilations=[2, 1],
        output_padding=[2, 1])  # fmt: skip
    one("transposed to a shape", "ConvTranspose", t2 | tb, 1, 3, 4, 3, strides=[2, 2], output_shape=[8, 6])
    one("transposed to an odd shape", "ConvTranspose", t2 | tb, 1, 3, 4, 3, strides=[3, 2], output_shape=[10, 5])
    for kind in ("SAME_UPPER", "SAME_LOWER"):
        one(f"transposed {kind}", "ConvTranspose", {"w": grid(3, 2, 4, 3)}, 1, 3, 4, 3, strides=[2, 2], auto_pad=kind)
    sizes = {"image": whole(5, 6), "block": whole(2, 3)}
    one("columns to an image", "Col2Im", sizes, 1, 12, 16, opset=18)
    one("columns to an image with everything", "Col2Im", sizes, 1, 6, 9, opset=18, strides=[2, 1], pads=[1, 0, 2, 1],
        dilations=[2, 2])  # fmt: skip
    one("transposed groups", "ConvTranspose", {"w": grid(4, 3, 3), "b": grid(6)}, 1, 4, 5, group=2, strides=[2])


def _pools() -> None:
    square: dict[str, Any] = {"kernel_shape": [3, 2]}
    for name in ("AveragePool", "MaxPool"):
        one(f"{name}", name, {}, 1, 2, 6, 5, **square)
        one(f"{name} strides pads", name, {}, 1, 2, 6, 5, **square, strides=[2, 2], pads=[1, 1, 2, 0])
        one(f"{name} ceil", name, {}, 1, 2, 6, 6, **square, strides=[2, 3], ceil_mode=1)
        one(f"{name} ceil pads", name, {}, 1, 2, 7, 6, **square, strides=[3, 2], pads=[1, 1, 1, 0], ceil_mode=1)
        one(f"{name} ceil of one window", name, {}, 1, 2, 2, 5, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
        one(f"{name} dilations", name, {}, 1, 2, 7, 6, **square, dilations=[2, 3], opset=19)
        one(f"{name} 1d", name, {}, 1, 3, 9, kernel_shape=[4], strides=[2], pads=[1, 2])
        one(f"{name} 3d", name, {}, 1, 1, 4, 3, 4, kernel_shape=[2, 2, 3], strides=[2, 1, 1])
        for kind in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            one(f"{name} {kind}", name, {}, 1, 2, 7, 6, **square, strides=[2, 2], auto_pad=kind)
        one(f"Global{name}", f"Global{name}", {}, 1, 3, 4, 5)
        one(f"Global{name} 1d", f"Global{name}", {}, 1, 3, 7)
    one("average with padding", "AveragePool", {}, 1, 2, 6, 5, **square, pads=[1, 1, 2, 0], count_include_pad=1)
    one("maximum of conv", "MaxPool", {}, 1, 2, 6, 6, kernel_shape=[2, 2], strides=[2, 2])
    case("pool of a convolution", [
        node("Conv", ["x", "w"], "c"), node("MaxPool", ["c"], "y", kernel_shape=[2, 2], strides=[2, 2]),
    ], {"w": grid(2, 1, 3, 3)}, 1, 1, 6, 6)  # fmt: skip


def _functions() -> None:
    for shape in ((1, 5), (1, 2, 3, 2)):
        rank = len(shape)
        one(f"relu {rank}", "Relu", {}, *shape)
        one(f"leaky {rank}", "LeakyRelu", {}, *shape, alpha=0.25)
        one(f"leaky negative {rank}", "LeakyRelu", {}, *shape, alpha=-0.5)
        one(f"abs {rank}", "Abs", {}, *shape)
        one(f"clip {rank}", "Clip", {"lo": np.float32(-0.5), "hi": np.float32(1)}, *shape)
        one(f"clip crossed {rank}", "Clip", {"lo": np.float32(1), "hi": np.float32(-0.5)}, *shape, opset=13)
        one(f"clip of old {rank}", "Clip", {}, *shape, opset=6, min=0.0, max=1.5)
        one(f"clip below {rank}", "Clip", {"lo": np.float32(0.25)}, *shape)
        case(f"clip above {rank}", [node("Clip", ["x", "", "hi"], "y")], {"hi": np.float32(0.25)}, *shape)
        one(f"hard sigmoid {rank}", "HardSigmoid", {}, *shape, alpha=0.5, beta=0.25)
        one(f"max {rank}", "Max", {"c": grid(*shape, seed=3)}, *shape)
        one(f"min {rank}", "Min", {"c": grid(*shape, seed=3), "d": grid(1, seed=4)}, *shape)
    one("prelu", "PRelu", {"s": np.array([0.5, -0.25, 2.0, 1.0, 0.0], np.float32)}, 1, 5)
    one("prelu channels", "PRelu", {"s": grid(3, 1, 1, seed=1)}, 1, 3, 2, 2)
    one("prelu shared", "PRelu", {"s": grid(1)}, 1, 3, 2)
    for kind in ("Ceil", "Floor", "Round", "Sign"):  # of constants that are rounded in the graph
        case(f"{kind} of a constant", [
            node("Tanh", ["w"], "t"), node("Mul", ["t", "seven"], "s"), node(kind, ["s"], "r"),
            node("Add", ["x", "r"], "y"),
        ], {"w": grid(1, 5, seed=5), "seven": np.float32(7)}, 1, 5)  # fmt: skip
    for kind in ("Max", "Min"):
        case(f"{kind} of values", [
            node("Gemm", ["x", "w"], "a"), node("Gemm", ["x", "v"], "b"), node(kind, ["a", "x", "b"], "y"),
        ], {"w": grid(4, 4), "v": grid(4, 4, seed=1)}, 1, 4)  # fmt: skip
    case("relu6 of a convolution", [
        node("Conv", ["x", "w"], "c"), node("Clip", ["c", "z", "s"], "r"), node("Conv", ["r", "w"], "y"),
    ], {"w": grid(2, 2, 3), "z": np.float32(0), "s": np.float32(6)}, 1, 2, 8)  # fmt: skip
    case("leaky of a convolution", [
        node("Conv", ["x", "w"], "c"), node("LeakyRelu", ["c"], "r", alpha=0.125), node("Conv", ["r", "w"], "y"),
    ], {"w": grid(2, 2, 3)}, 1, 2, 8)  # fmt: skip


def _reductions() -> None:
    for kind in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
        one(f"{kind}", kind, {}, 1, 2, 4, 2, axes=[1, 3], opset=11)
        one(f"{kind} last", kind, {}, 1, 2, 4, axes=[-1], keepdims=0, opset=11)
        one(f"{kind} all", kind, {}, 1, 2, 4, keepdims=0, opset=11)
        one(f"{kind} axes as input", kind, {"a": whole(2)}, 1, 2, 4, opset=18)
        one(f"{kind} no axes", kind, {"a": whole()}, 1, 2, 4, opset=18, noop_with_empty_axes=1)


def _rearranging() -> None:
    image = (1, 2, 3, 4)
    pads = whole(0, 0, 1, 2, 0, 0, 2, 1)
    for mode in ("constant", "edge", "reflect", "wrap"):
        one(f"pad {mode}", "Pad", {"p": pads}, *image, mode=mode, opset=19)
    one("pad number", "Pad", {"p": pads, "v": np.float32(1.5)}, *image)
    one("pad cuts", "Pad", {"p": whole(0, 0, -1, 2, 0, 1, 2, -1)}, *image)
    one("pad of old", "Pad", {}, *image, opset=9, pads=[0, 0, 1, 0, 0, 0, 0, 2], value=0.5)
    case("pad axes", [node("Pad", ["x", "p", "", "a"], "y")], {"p": whole(1, 2), "a": whole(-1)}, *image, opset=19)
    one("depth to space", "DepthToSpace", {}, 1, 8, 2, 3, blocksize=2)
    one("depth to space CRD", "DepthToSpace", {}, 1, 8, 2, 3, blocksize=2, mode="CRD")
    one("space to depth", "SpaceToDepth", {}, 1, 2, 4, 6, blocksize=2)
    one("space to depth CRD", "SpaceToDepth", {}, 1, 2, 4, 6, opset=28, blocksize=2, mode="CRD")
    one("space to depth DCR", "SpaceToDepth", {}, 1, 2, 4, 6, opset=28, blocksize=2, mode="DCR")
    one("tile", "Tile", {"r": whole(1, 2, 3)}, 1, 2, 3)
    one("gather elements", "GatherElements", {"i": np.array([[[0, 1], [2, 2]]])}, 1, 3, 2, axis=1)
    one("gather nd", "GatherND", {"i": np.array([[0, 1], [0, 2]])}, 1, 3, 2)
    one("trilu", "Trilu", {}, 1, 3, 3)
    put = {"at": np.array([[0, 4], [0, 1]]), "u": grid(2)}
    one("scatter", "ScatterND", put, 1, 5)
    one("scatter of old", "Scatter", {"at": np.array([[3, 0]]), "u": grid(1, 2)}, 1, 5, axis=1, opset=10)
    one("scatter along an axis", "ScatterElements", {"at": np.array([[3, 0]]), "u": grid(1, 2)}, 1, 5, axis=1)
    case("compress", [node("Compress", ["x", "c"], "y", axis=1)], {"c": np.array([True, False, True])}, 1, 3)
    one("reverse sequence", "ReverseSequence", {"n": whole(3)}, 1, 4, 2, batch_axis=0, time_axis=1)
    case("where", [node("Neg", ["x"], "n"), node("Where", ["c", "x", "n"], "m"), node("Where", ["d", "m", "k"], "y")],
         {"c": np.array([[True, False, True]]), "d": np.array([True, True, False]), "k": grid(3)}, 1, 3)  # fmt: skip
    sizes = {"roi": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 3], np.float32)}
    for coordinates in ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"):
        for nearest in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
            if coordinates == "align_corners" and not nearest.startswith("round"):
                continue  # (sizes - 1) / (results - 1) is rounded, and a whole place may be missed
            one(f"resize {coordinates} {nearest}", "Resize", sizes, 1, 2, 3, 2, mode="nearest",
                coordinate_transformation_mode=coordinates, nearest_mode=nearest)  # fmt: skip
    case("resize to sizes", [
        node("Resize", ["x", "", "", "s"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ], {"s": whole(1, 2, 8, 6)}, 1, 2, 4, 3)  # fmt: skip
    case("resize to what is no multiple", [
        node("Resize", ["x", "", "", "s"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ], {"s": whole(1, 2, 7, 5)}, 1, 2, 3, 2)  # fmt: skip
    case("resize down", [
        node("Resize", ["x", "", "s"], "y", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ], {"s": np.array([1, 1, 0.5, 1], np.float32)}, 1, 2, 4, 3)  # fmt: skip
    case("resize axes", [
        node("Resize", ["x", "", "s"], "y", axes=[2], coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    ], {"s": np.array([2], np.float32)}, 1, 2, 3, opset=18)  # fmt: skip
    one("resize of old", "Resize", {"s": np.array([1, 1, 2, 2], np.float32)}, 1, 2, 3, 2, opset=10)
    one("upsample", "Upsample", {"s": np.array([1, 1, 2, 3], np.float32)}, 1, 2, 3, 2, opset=9)
    one("upsample of old", "Upsample", {}, 1, 2, 3, 2, opset=7, scales=[1.0, 1.0, 2.0, 3.0])


def _sampling() -> None:
    random = np.random.default_rng(5)
    places = random.integers(-40, 41, (1, 3, 4, 2)).astype(np.float32) / np.float32(29)  # some beyond the ends
    inside = places / np.float32(3)
    for padding in ("zeros", "border", "reflection"):
        for corners in (0, 1):
            also: dict[str, Any] = {"padding_mode": padding, "align_corners": corners}
            name = f"{padding} {'with' if corners else 'without'} aligned corners"
            one(f"sampled {name}", "GridSample", {"g": places}, 1, 2, 4, 5, **also)
            one(f"nearest {name}", "GridSample", {"g": places}, 1, 2, 4, 5, mode="nearest", **also)
            grid_of_cubic = inside if padding == "border" else places
            one(f"cubic {name}", "GridSample", {"g": grid_of_cubic}, 1, 2, 4, 5, mode="bicubic", **also)
    volume = random.integers(-40, 41, (1, 2, 2, 3, 3)).astype(np.float32) / np.float32(29)
    one("sampled volume", "GridSample", {"g": volume}, 1, 2, 3, 2, 3, opset=20, padding_mode="border")
    one("two samples", "GridSample", {"g": np.concatenate([places, inside])}, 2, 1, 3, 3, align_corners=1)


def _sorting() -> None:
    for size, count in ((1, 1), (2, 1), (3, 3), (5, 2), (7, 7), (8, 3), (13, 13)):
        for largest in (0, 1):
            made = helper.make_node("TopK", ["x", "k"], ["y", "places"], largest=largest)
            case(f"top {count} of {size}, {largest}", [made], {"k": whole(count)}, 1, size)
    made = helper.make_node("TopK", ["s", "k"], ["y", "places"], axis=1)
    case("top along an axis", [node("Conv", ["x", "w"], "s"), made], {"w": grid(4, 2, 3), "k": whole(3)}, 1, 2, 6)
    case("top of opset 9", [helper.make_node("TopK", ["x"], ["y", "places"], k=2, axis=-1)], {}, 1, 5, opset=9)


def _graphs() -> None:
    channels: Constants = {"g": grid(4, seed=5), "h": grid(4, seed=6), "m": grid(4, seed=7)}
    channels["v"] = np.array([0.25, 1.0, 4.0, 2.25], np.float32)
    conv = {"w": grid(4, 2, 3, 3), "b": grid(4)}
    normal = [node("BatchNormalization", ["c", "g", "h", "m", "v"], "n", epsilon=0.0)]
    case("normalised convolution", [
        node("Conv", ["x", "w", "b"], "c", pads=[1, 1, 1, 1]), *normal, node("Relu", ["n"], "y"),
    ], conv | channels, 1, 2, 4, 4)  # fmt: skip
    case("normalised input", [
        node("Transpose", ["x"], "t", perm=[0, 3, 1, 2]), node("Sub", ["t", "mean"], "s"), node("Div", ["s", "d"], "n"),
        node("Conv", ["n", "w", "b"], "y", pads=[1, 1, 1, 1]),
    ], conv | {"mean": grid(2, 1, 1), "d": np.array([0.5, 2.0], np.float32).reshape(2, 1, 1)}, 1, 4, 4, 2)  # fmt: skip
    case("residual", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"),
        node("Conv", ["r", "w"], "d", pads=[1, 1]),
        node("Add", ["d", "x"], "a"), node("Relu", ["a"], "y"),
    ], {"w": grid(2, 2, 3)}, 1, 2, 6)  # fmt: skip
    case("residual of convolutions", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"),
        node("Conv", ["r", "w"], "d", pads=[1, 1]),
        node("Conv", ["x", "p"], "s"), node("Sub", ["d", "s"], "y"),
    ], {"w": grid(2, 2, 3), "p": grid(2, 2, 1)}, 1, 2, 6)  # fmt: skip
    case("branches", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"), node("Conv", ["x", "p"], "d"),
        node("Concat", ["r", "d", "x"], "e", axis=1), node("Conv", ["e", "q"], "y"),
    ], {"w": grid(2, 2, 3), "p": grid(3, 2, 1), "q": grid(2, 7, 3)}, 1, 2, 6)  # fmt: skip
    case("concatenated units", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"), node("Concat", ["r", "x"], "e", axis=1),
        node("Relu", ["e"], "f"), node("Conv", ["f", "q"], "y"),
    ], {"w": grid(2, 2, 3), "q": grid(2, 4, 3)}, 1, 2, 6)  # fmt: skip
    case("sum of branches", [
        node("Conv", ["x", "w"], "c", pads=[1, 1]), node("Relu", ["c"], "r"), node("Add", ["r", "x"], "s"),
        node("Conv", ["s", "w"], "y"),
    ], {"w": grid(2, 2, 3)}, 1, 2, 6)  # fmt: skip
    case("split and sliced", [
        node("Conv", ["x", "w"], "c"), helper.make_node("Split", ["c"], ["a", "b"], axis=1), node("Relu", ["a"], "r"),
        node("Slice", ["b", "lo", "hi", "ax"], "s"), node("Slice", ["r", "lo", "hi", "ax"], "t"),
        node("Add", ["s", "t"], "y"),
    ], {"w": grid(4, 2, 3), "lo": whole(1), "hi": whole(5), "ax": whole(2)}, 1, 2, 9, opset=13)  # fmt: skip
    case("matrix at every position", [
        node("MatMul", ["x", "w"], "a"), node("Add", ["a", "b"], "s"), node("Relu", ["s"], "r"),
        node("MatMul", ["r", "v"], "y"),
    ], {"w": grid(3, 600), "b": grid(600), "v": grid(600, 2)}, 1, 5, 3)  # fmt: skip
    case("transposed convolution, then positions last", [
        node("Conv", ["x", "w"], "c"), node("Transpose", ["c"], "t", perm=[0, 2, 1]), node("Relu", ["t"], "r"),
        node("MatMul", ["r", "v"], "y"),
    ], {"w": grid(3, 2, 3), "v": grid(3, 2)}, 1, 2, 7)  # fmt: skip
    case("scaled positions", [
        node("Conv", ["x", "w"], "c"), node("Mul", ["c", "s"], "m"), node("Relu", ["m"], "r"),
        node("Conv", ["r", "w"], "y"),
    ], {"w": grid(2, 2, 3), "s": grid(1, 2, 6)}, 1, 2, 8)  # fmt: skip
    case("head", [
        node("Conv", ["x", "w"], "c"), node("Relu", ["c"], "r"), node("GlobalAveragePool", ["r"], "p"),
        node("Flatten", ["p"], "f"), node("Gemm", ["f", "g"], "y"),
    ], {"w": grid(4, 2, 3, 3), "g": grid(4, 3)}, 1, 2, 6, 6)  # fmt: skip
    case("dense then convolution", [
        node("Gemm", ["x", "g"], "a"), node("Reshape", ["a", "to"], "i"),
        node("ConvTranspose", ["i", "w"], "y", strides=[2]),
    ], {"g": grid(5, 6), "to": whole(1, 2, 3), "w": grid(2, 2, 3)}, 1, 5)  # fmt: skip
    case("mean of dense", [
        node("Gemm", ["x", "g"], "a"), node("ReduceMean", ["a"], "m", axes=[1]), node("Sub", ["a", "m"], "y"),
    ], {"g": grid(5, 4)}, 1, 5)  # fmt: skip


for _family in (_convolutions, _pools, _functions, _reductions, _rearranging, _sampling, _sorting, _graphs):
    _family()
