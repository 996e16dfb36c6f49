"""Certificates of networks with operators that are put together of others, end to end; false ones are refused.

That the auditor reads them as others do is tested by `tests/conformance`, graph by graph.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, save
from onnx.reference import ReferenceEvaluator

from eqspec.networks import read_network
from eqspec.property import Epsilon
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.proofs import certified, holds_within
from unit.networks.models import model, node

Constants = dict[str, NDArray[Any]]


def weights(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Of a layer."""
    return np.asarray(np.random.default_rng(seed).normal(size=shape) / np.sqrt(shape[0]), np.float32)


def image(*sizes: int, between: list[NodeProto], **constants: Any) -> tuple[list[NodeProto], Constants]:
    """The hidden layer as an image, i, and what is made of it, o, flat again."""
    nodes = [node("Reshape", ["h", "sizes"], "i"), *between, node("Flatten", ["o"], "m")]
    return nodes, {"sizes": np.array(sizes), **constants}


def scales(*numbers: float) -> NDArray[np.float32]:
    return np.array(numbers, np.float32)


CASES: dict[str, tuple[list[NodeProto], Constants]] = {
    "linear resize": image(1, 1, 2, 4, between=[node("Resize", ["i", "", "k"], "o", mode="linear")],
                           k=scales(1, 1, 2, 1.5)),
    "cubic resize": image(1, 1, 2, 4, between=[node("Resize", ["i", "", "k"], "o", mode="cubic")],
                          k=scales(1, 1, 2, 2)),
    **{
        f"{mode} resize as torch writes it": image(1, 1, 2, 4, between=[
            node("Resize", ["i", "", "", "k"], "o", mode=mode, antialias=0, exclude_outside=0, extrapolation_value=0.0,
                 cubic_coeff_a=-0.75, keep_aspect_ratio_policy="stretch", coordinate_transformation_mode=where,
                 nearest_mode="floor"),
        ], k=np.array([1, 1, 4, 8]))
        for mode, where in (("nearest", "asymmetric"), ("linear", "half_pixel"), ("cubic", "half_pixel"))
    },
    "normalisation by its own statistics": image(1, 4, 2, between=[
        node("ReduceMean", ["i", "a"], "e", keepdims=0, noop_with_empty_axes=1), node("Squeeze", ["e", "z"], "e1"),
        node("Unsqueeze", ["e1", "b"], "e2"), node("Sub", ["i", "e2"], "d"), node("Mul", ["d", "d"], "q"),
        node("ReduceMean", ["q", "a"], "r", keepdims=0), node("Squeeze", ["r", "z"], "v1"),
        node("BatchNormalization", ["i", "g", "s", "e1", "v1"], "o", epsilon=1e-3),
    ], a=np.array([2]), b=np.array([1]), z=np.array([0]), g=weights(4, seed=5), s=weights(4, seed=6)),
    "a cast to float16": ([node("Cast", ["h"], "c", to=10), node("Cast", ["c"], "m", to=1)], {}),
    "attention scaled by a root of a root": image(1, 2, 4, between=[
        node("LayerNormalization", ["i", "g", "s"], "n"), node("MatMul", ["n", "p"], "q"),
        node("MatMul", ["n", "r"], "k"), node("Shape", ["i"], "d"),
        node("Slice", ["d", "at2", "at3"], "size"), node("Cast", ["size"], "real", to=1),
        node("Sqrt", ["real"], "root"), node("Div", ["one", "root"], "share"), node("Cast", ["share"], "again", to=1),
        node("Sqrt", ["again"], "c"), node("Mul", ["q", "c"], "q1"), node("Mul", ["k", "c"], "k1"),
        node("Transpose", ["k1"], "t", perm=[0, 2, 1]), node("MatMul", ["q1", "t"], "o"),
    ], g=weights(4, seed=5) + np.float32(1), s=weights(4, seed=6), p=weights(4, 4, seed=7), r=weights(4, 4, seed=8),
        at2=np.array([2]), at3=np.array([3]), one=scales(1)),
    "erfc in a gate": (
        [
            node("Neg", ["h"], "n"), node("Erf", ["n"], "e"), node("Sub", ["one", "e"], "f"),
            node("Mul", ["h", "f"], "m"),
        ],
        {"one": scales(1)},
    ),
    "cumulative sum": ([node("CumSum", ["h", "a"], "m", reverse=1)], {"a": np.array(1)}),
    "depth to space": image(1, 4, 1, 2, between=[node("DepthToSpace", ["i"], "o", blocksize=2)]),
    "transposed convolution": image(
        1, 2, 2, 2, between=[node("ConvTranspose", ["i", "c"], "o", strides=[2, 2], pads=[1, 0, 0, 1])],
        c=weights(2, 2, 3, 3, seed=4),
    ),
    "product of two matrices": image(
        1, 2, 4, between=[node("Transpose", ["i"], "t", perm=[0, 2, 1]), node("MatMul", ["i", "t"], "o")]
    ),
    "layer normalisation": (
        [node("LayerNormalization", ["h", "g", "b"], "m")],
        {"g": weights(8, seed=5) + np.float32(1), "b": weights(8, seed=6)},
    ),
    "group normalisation": image(
        1, 4, 2, between=[node("GroupNormalization", ["i", "g", "b"], "o", num_groups=2)],
        g=weights(4, seed=5) + np.float32(1), b=weights(4, seed=6),
    ),
    "root mean square": ([node("RMSNormalization", ["h", "g"], "m")], {"g": weights(8, seed=5) + np.float32(1)}),
    "einsum with constants": (
        [node("Einsum", ["h", "e"], "k", equation="bi,eio->beo"), node("Flatten", ["k"], "m")],
        {"e": weights(2, 8, 3, seed=5)},
    ),
    "einsum of values": image(1, 2, 4, between=[node("Einsum", ["i", "i"], "o", equation="bij,bkj->bik")]),
    "einsum of three": image(
        1, 2, 4, between=[node("Einsum", ["i", "e", "i"], "o", equation="bij, jk, bik -> bi")], e=weights(4, 4, seed=5)
    ),
    "softmax inside": ([node("Softmax", ["h"], "m")], {}),
    "root of squares": ([node("ReduceL2", ["h", "a"], "m")], {"a": np.array([1])}),
    "product along an axis": ([node("Tanh", ["h"], "t"), node("ReduceProd", ["t", "a"], "m")], {"a": np.array([1])}),
    "arctangent": ([node("Atan", ["h"], "m")], {}),
    **{
        kind.lower(): (
            [node("Mul", ["h", "some"], "k"), node("Add", ["k", "more"], "l"), node(kind, ["l"], "m")],
            {"some": scales(factor), "more": scales(offset)},
        )
        for kind, factor, offset in (
            ("Asin", 0.1, 0), ("Acos", 0.1, 0), ("Asinh", 1, 0), ("Acosh", 0.1, 2), ("Atanh", 0.1, 0), ("Sinh", 1, 0),
            ("Cosh", 1, 0), ("Tan", 0.1, 0),
        )
    },
    "rounding": ([node("Round", ["h"], "m")], {}),
    "comparison": ([node("Greater", ["h", "z"], "g"), node("Cast", ["g"], "m", to=1)], {"z": scales(5)}),
    "choice by a constant": (
        [node("Where", ["c", "h", "z"], "m")], {"z": scales(0), "c": np.array([[True, False] * 4])},
    ),
    "neighbours": image(1, 4, 2, 1, between=[node("LRN", ["i"], "o", size=3, alpha=0.5, bias=2.0)]),
    "norm of windows": image(1, 1, 2, 4, between=[node("LpPool", ["i"], "o", kernel_shape=[1, 2])]),
    "places": ([node("GatherElements", ["h", "i"], "m", axis=1)], {"i": np.array([[3, 1, 0, 7]])}),
    "scattered": (
        [node("ScatterElements", ["h", "i", "u"], "m", axis=1)],
        {"i": np.array([[3, 1]]), "u": scales(0.5, 0.25).reshape(1, 2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_proof_has_a_certificate(name: str, tmp_path: Path) -> None:
    middle, given = CASES[name]
    opset, networks = 23 if name in ("root mean square", "group normalisation") else 18, []
    for number in range(2):
        first = weights(3, 8, seed=1) + np.float32(number * 1e-3) * weights(3, 8, seed=9)
        constants: Constants = {"w": first, "v": weights(8, seed=2), **given}
        nodes = [node("Gemm", ["x", "w", "v"], "h"), *middle]
        proto = model(nodes, constants, [1, 3], opset=opset)
        proto.graph.output[0].name = "m"
        (made,) = ReferenceEvaluator(proto).run(None, {"x": np.zeros((1, 3), np.float32)})
        constants["last"] = weights(np.asarray(made).reshape(1, -1).shape[1], 2, seed=3)
        path = tmp_path / f"{number}.onnx"
        save(model([*nodes, node("MatMul", ["m", "last"], "y")], constants, [1, 3], opset=opset), path)
        networks.append(read_network(path))
    ends: dict[str, Any] = {"lower": [Fraction(-1, 8)] * 3, "upper": [Fraction(1, 8)] * 3}
    task = task_of(networks[0], networks[1], Epsilon(Fraction(1, 2)), space=space(3, 2), **ends)
    assert not holds_within(certified(task, tmp_path), "-1/100000", tmp_path)
