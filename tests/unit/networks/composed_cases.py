"""Graphs of Einsum, norms of windows, products along axes, masks, and functions that are written with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from unit.networks.function_cases import Case, numbers, weights
from unit.networks.models import node


def _functions() -> dict[str, Case]:
    inside = [node("Tanh", ["x"], "t"), node("Mul", ["t", "c"], "u")]
    found: dict[str, Case] = {
        kind: ([node(kind, ["x"], "y")], {}, (1, 4), 17) for kind in ("Asinh", "Sinh", "Cosh", "Round", "IsNaN")
    }
    found["IsNaN"] = (
        [node("IsNaN", ["x"], "n"), node("IsInf", ["x"], "i"), node("Or", ["n", "i"], "b"),
         node("Where", ["b", "c", "x"], "y")],
        {"c": numbers(7)}, (1, 4), 17,
    )  # fmt: skip
    for kind in ("Asin", "Acos", "Atanh", "Tan"):
        found[kind] = [*inside, node(kind, ["u"], "y")], {"c": numbers(0.75)}, (1, 4), 17
    above = [node("Abs", ["x"], "a"), node("Add", ["a", "c"], "u"), node("Acosh", ["u"], "y")]
    found["Acosh"] = above, {"c": numbers(1.25)}, (1, 4), 17
    for name, given in (("soft", (0.5, 0.5)), ("hard", (0.5, 0.0)), ("both", (0.75, 0.25)), ("open", (0.0, 0.5))):
        attributes = dict(zip(("lambd", "bias"), given, strict=True))
        for opset in (9, 17):
            found[f"Shrink {name} {opset}"] = [node("Shrink", ["x"], "y", **attributes)], {}, (1, 5), opset
    for name, ends, stored in (
        ("above", ["low", "most"], {"low": numbers(-0.5), "most": numbers(np.inf)}),
        ("below", ["least", "high"], {"least": numbers(-np.inf), "high": numbers(0.5)}),
        ("nowhere", ["least", "most"], {"least": numbers(-np.inf), "most": numbers(np.inf)}),
    ):
        found[f"Clip that ends {name}"] = (
            [node("Clip", ["x", *ends], "c"), node("Mul", ["c", "c"], "y")],
            stored,
            (1, 4),
            17,
        )
    found["Clip by attributes"] = [node("Clip", ["x"], "y", min=-0.5, max=float("inf"))], {}, (1, 4), 9
    halves = [node("Mul", ["x", "f"], "a"), node("Floor", ["a"], "b"), node("Mul", ["b", "h"], "t")]
    found["Round ties"] = [*halves, node("Round", ["t"], "y")], {"f": numbers(4), "h": numbers(0.5)}, (1, 6), 17
    return found


def _einsum() -> dict[str, Case]:
    def of(equation: str, shape: tuple[int, ...], *operands: Any) -> Case:
        names = ["x" if operand is None else f"c{i}" for i, operand in enumerate(operands)]
        stored = {f"c{i}": weights(*o, seed=i) for i, o in enumerate(operands) if o is not None}
        return [node("Einsum", names, "y", equation=equation)], stored, shape, 17

    return {
        f"einsum {case[0]}": of(*case)
        for case in (
            ("bij,jk->bik", (1, 3, 4), None, (4, 2)), ("bij,kj->bki", (1, 3, 4), None, (2, 4)),
            ("kj,bij->bik", (1, 3, 4), (2, 4), None), ("bij,bkj->bik", (1, 3, 4), None, None),
            ("bi,bj->bij", (1, 4), None, None), ("bi,i->bi", (1, 4), None, (4,)), ("bi,i->b", (1, 4), None, (4,)),
            ("bij->bji", (1, 3, 4), None), ("bij->bi", (1, 3, 4), None), ("bij->", (1, 3, 4), None),
            ("...d,df->...f", (1, 2, 3), None, (3, 2)), ("bii->bi", (1, 3, 3), None),
            ("bij,bij,jk->bik", (1, 3, 4), None, None, (4, 2)), ("bhqd,bhkd->bhqk", (1, 2, 3, 2), None, None),
            (",,bi->bi", (1, 3), (), (), None), ("bi,jk->bijk", (1, 3), None, (2, 2)),
            ("bij,jk", (1, 2, 3), None, (3, 2)), ("bij,jkl->bikl", (1, 2, 3), None, (3, 2, 2)),
        )
    }  # fmt: skip


def _norms() -> dict[str, Case]:
    found: dict[str, Case] = {
        f"LRN {size}": (
            [node("LRN", ["x"], "y", size=size, alpha=0.01, beta=beta, bias=2.0)], {}, (1, 4, 2, 3), 17,
        )
        for size, beta in ((1, 0.75), (3, 0.5), (5, 1.0), (9, 0.75))
    }  # fmt: skip
    for order in (1, 2):
        pool = {"p": order, "kernel_shape": [2, 2], "strides": [1, 2], "pads": [0, 1, 1, 0]}
        found[f"LpPool {order}"] = [node("LpPool", ["x"], "y", **pool)], {}, (1, 2, 3, 4), 17
        found[f"GlobalLpPool {order}"] = [node("GlobalLpPool", ["x"], "y", p=order)], {}, (1, 2, 3, 2), 17
    found["product along"] = [node("ReduceProd", ["x"], "y", axes=[1], keepdims=0)], {}, (1, 5, 2), 13
    found["product of all"] = [node("ReduceProd", ["x", "a"], "y")], {"a": np.array([-1, 1])}, (1, 2, 3), 18
    found["product of one"] = [node("ReduceProd", ["x"], "y", axes=[2])], {}, (1, 3, 1), 13
    return found


def _masks() -> dict[str, Case]:
    """Added, chosen, stored, made of truth values, and moved."""
    low = np.float32(-np.inf)
    upper = np.triu(np.full((3, 3), low), 1)
    share = [node("Softmax", ["s"], "y")]
    found: dict[str, Case] = {
        "mask added": ([node("Add", ["x", "m"], "s"), *share], {"m": upper}, (1, 3, 3), 17),
        "mask with numbers": (
            [node("Add", ["m", "x"], "s"), *share], {"m": upper + np.tril(weights(3, 3))}, (1, 2, 3, 3), 17,
        ),
        "mask of old": (
            [node("Add", ["x", "m"], "s"), node("Softmax", ["s"], "y", axis=1)], {"m": upper[:1]}, (1, 3), 11,
        ),
        "mask along an axis": (
            [node("Add", ["x", "m"], "s"), node("Softmax", ["s"], "y", axis=1)], {"m": upper.T[None]}, (1, 3, 3), 17,
        ),
        "mask chosen": (
            [node("Where", ["c", "x", "l"], "s"), *share], {"c": upper == 0, "l": np.array(low)}, (1, 3, 3), 17,
        ),
        "mask made": (
            [
                node("Where", ["c", "l", "z"], "m"), node("Unsqueeze", ["m", "o"], "n"), node("Cast", ["n"], "k", to=1),
                node("Add", ["x", "k"], "s"), *share,
            ],
            {"c": upper != 0, "l": np.array(low), "z": numbers(0), "o": np.array([0])}, (1, 3, 3), 17,
        ),
        "mask sliced and tiled": (
            [
                node("Slice", ["m", "a", "b", "ax"], "n"), node("Tile", ["n", "r"], "k"), node("Add", ["x", "k"], "t"),
                node("Transpose", ["t"], "s", perm=[0, 2, 1]), *share,
            ],
            {"m": upper, "a": np.array([1]), "b": np.array([3]), "ax": np.array([0]), "r": np.array([2, 1])},
            (1, 4, 3), 17,
        ),
        "mask filled": (
            [
                node("ConstantOfShape", ["n"], "m", value=_tensor(low)), node("Trilu", ["m", "k"], "u"),
                node("Add", ["x", "u"], "s"), *share,
            ],
            {"n": np.array([3, 3]), "k": np.array(1)}, (1, 3, 3), 17,
        ),
        "mask twice": (
            [
                node("Add", ["x", "m"], "t"), node("Where", ["c", "t", "l"], "s"), node("Softmax", ["s"], "p"),
                node("MatMul", ["p", "x"], "y"),
            ],
            {"m": upper, "c": np.array([[True], [True], [True]]), "l": np.array(low)}, (1, 3, 3), 17,
        ),
        "clip from minus infinity": (
            [node("Clip", ["x", "l", "h"], "y")], {"l": np.array(low), "h": numbers(0.5)}, (1, 4), 17,
        ),
    }  # fmt: skip
    return found


def _spectra() -> dict[str, Case]:
    """Fourier transforms and their windows."""
    step, length = np.array(2), np.array(6)
    windows = {"HannWindow": {}, "HammingWindow": {"periodic": 0}, "BlackmanWindow": {"periodic": 1}}
    return {
        "dft": ([node("DFT", ["x"], "y", onesided=1)], {}, (1, 6, 1), 17),
        "dft of another length": ([node("DFT", ["x", "n"], "y", axis=2)], {"n": np.array(5)}, (1, 2, 3, 2), 17),
        "dft back": ([node("DFT", ["x", "", "a"], "y", inverse=1)], {"a": np.array(-2)}, (1, 7, 2), 20),
        "dft of one side back": ([node("DFT", ["x"], "y", inverse=1, onesided=1)], {}, (1, 5, 2), 17),
        "dft of one side back to an odd length": (
            [node("DFT", ["x", "n", "a"], "y", inverse=1, onesided=1)],
            {"n": np.array(7), "a": np.array(1)}, (1, 4, 2, 2), 20,
        ),
        "stft": ([node("STFT", ["x", "s", "w"], "y")], {"s": step, "w": numbers(1, 2, 3, 4)}, (1, 9, 1), 17),
        "stft without a window": (
            [node("STFT", ["x", "s", "", "n"], "y", onesided=0)], {"s": step, "n": length}, (1, 8, 1), 17,
        ),
        **{
            kind: ([node(kind, ["n"], "w", **chosen), node("Mul", ["x", "w"], "y")], {"n": length}, (1, 6), 17)
            for kind, chosen in windows.items()
        },
        **{
            f"mel filters {filters} from {low}": (
                [node("MelWeightMatrix", ["n", "l", "r", "f", "t"], "w"), node("MatMul", ["x", "w"], "y")],
                {"n": np.array(filters), "l": np.array(dft), "r": np.array(8000), "f": numbers(low), "t": numbers(top)},
                (1, dft // 2 + 1), 17,
            )
            for filters, dft, low, top in ((4, 16, 0, 4000), (10, 32, 80, 3500), (3, 8, 20, 3000))
        },
    }  # fmt: skip


def _experimental() -> dict[str, Case]:
    """Operators of old files, which are no part of ONNX since opset 10."""
    scaled = {"alpha": 2.0, "beta": 0.5}
    kinds: dict[str, tuple[str, dict[str, Any], tuple[int, ...], int]] = {
        "affine": ("Affine", scaled, (1, 3), 6),
        "affine by itself": ("Affine", {}, (1, 3), 8),
        "image scaler": ("ImageScaler", {"scale": 0.5, "bias": [0.1, 0.2]}, (1, 2, 2, 2), 8),
        "scaled tanh": ("ScaledTanh", scaled, (1, 3), 7),
        "parametric softplus": ("ParametricSoftplus", scaled, (1, 3), 9),
        "crop": ("Crop", {"border": [1, 0, 2, 1]}, (1, 1, 4, 5), 9),
        "crop to a size": ("Crop", {"border": [1, 1, 0, 0], "scale": [2, 3]}, (1, 1, 4, 5), 8),
    }
    return {
        name: ([node(kind, ["x"], "y", **given)], {}, shape, opset)
        for name, (kind, given, shape, opset) in kinds.items()
    }


def _tensor(number: np.float32) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.array([number], np.float32), "")


COMPOSED_CASES: dict[str, Case] = {**_functions(), **_einsum(), **_norms(), **_masks(), **_spectra(), **_experimental()}
