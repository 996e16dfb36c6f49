"""Einsum, products along axes, norms of windows, masks of minus infinity, and functions written with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.building import Builder, Value
from conformance.functions import add
from conformance.operators import Generator, sample_of
from conformance.spatial import image, kernel_of, windows

_MOST = 2.0


def small(g: Builder, size: int = 48) -> Value | None:
    """A value of few entries of moderate size: products of products do not get large."""
    v = g.operand(floats=True)
    if not 0 < sample_of(v).size <= size:
        return None
    if np.abs(sample_of(v)).max(initial=0) > _MOST:
        (v,) = add(g, "Tanh", [v])
    return v


def einsum(g: Builder) -> None:
    """One to three operands that share some axes, with an ellipsis, a diagonal or no arrow now and then."""
    v = small(g, 24)
    if v is None or sample_of(v).ndim > 3:
        return
    shape, letters = sample_of(v).shape, "abcdefg"
    terms, operands, sizes = [list(letters[: len(shape)])], [v], dict(zip(letters, shape, strict=False))
    if len(shape) > 1 and shape[0] == shape[1] and g.chance(0.2):
        terms[0][1] = terms[0][0]
    for _ in range(g.one([0, 1, 1, 1, 2])):
        if g.chance(0.2):
            terms.append(list(terms[0]))
            operands.append(v)
            continue
        chosen = [a for a in dict.fromkeys(terms[0]) if g.chance(0.6)]
        if g.chance(0.6):
            new = letters[len(sizes)] if len(sizes) < len(letters) else letters[0]
            sizes.setdefault(new, g.whole(1, 3))
            chosen.append(new)
        g.rng.shuffle(chosen)
        chosen = list(dict.fromkeys(chosen))
        terms.append(chosen)
        operands.append(g.constant(g.floats(tuple(sizes[a] for a in chosen))))
    known = list(dict.fromkeys(a for term in terms for a in term))
    result = [a for a in known if g.chance(0.6)]
    g.rng.shuffle(result)
    if not result and known:
        result = known[:1]
    left, right = ",".join("".join(term) for term in terms), "".join(result)
    equation = left if g.chance(0.1) else f"{left}->{right}"
    if g.chance(0.15) and len(operands) == 1 and len(shape) > 1 and terms[0][0] == "a":
        equation = "a...->...a"
    elif g.chance(0.2):
        equation = equation.replace(",", " , ").replace("->", " -> ")
    add(g, "Einsum", operands, equation=equation)


def product(g: Builder) -> None:
    """ReduceProd along one axis or all."""
    v = small(g, 12) if g.chance(0.85) else g.constant(g.integers(g.some_shape(2), np.int64))
    if v is None or not sample_of(v).ndim or not sample_of(v).size:
        return
    axes = [g.whole(0, sample_of(v).ndim - 1)]
    attributes: dict[str, Any] = {"keepdims": g.one([0, 1])} if g.chance(0.6) else {}
    if g.opset >= 18:
        add(g, "ReduceProd", [v, g.constant(np.array(axes, np.int64))] if g.chance(0.8) else [v], **attributes)
    else:
        if g.chance(0.8):
            attributes["axes"] = axes
        add(g, "ReduceProd", [v], **attributes)


def local_response(g: Builder) -> None:
    v = image(g)
    if not 0 < sample_of(v).size <= 64 or sample_of(v).ndim != 4:
        return
    chosen: dict[str, Any] = {"size": g.one([1, 3, 5])}  # even ones only ONNX describes
    for name, numbers in (("alpha", [0.5, 1.0, 2.0]), ("beta", [0.5, 0.75, 1.0]), ("bias", [1.0, 2.0])):
        if g.chance(0.6):
            chosen[name] = g.one(numbers)
    add(g, "LRN", [v], **chosen)


def norm_pool(g: Builder) -> None:
    v = image(g)
    sizes = sample_of(v).shape[2:]
    if not 0 < sample_of(v).size <= 64 or not sizes:
        return
    kernel = kernel_of(g, sizes)
    chosen = windows(g, sizes, kernel, dilated=False)
    add(g, "LpPool", [v], kernel_shape=kernel, p=g.one([1, 2]), **chosen)


def global_norm_pool(g: Builder) -> None:
    v = image(g)
    if 0 < sample_of(v).size <= 64 and sample_of(v).ndim > 2:
        add(g, "GlobalLpPool", [v], p=g.one([1, 2]))


def never(kind: str) -> Generator:
    """IsNaN or IsInf of a value, and what is chosen by it."""

    def make(g: Builder) -> None:
        v = g.operand(floats=True)
        (made,) = add(g, kind, [v])
        if made.sample is not None:
            add(g, "Where", [made, g.constant(np.array(2.0, sample_of(v).dtype)), v])

    return make


def masked_softmax(g: Builder) -> None:
    """Scores with a mask of minus infinity that is added or chosen, moved before or not, and their shares."""
    v = small(g, 24)
    if v is None or not sample_of(v).ndim:
        return
    shape, dtype = sample_of(v).shape, sample_of(v).dtype
    hidden = g.rng.random(shape[-g.whole(1, len(shape)) :]) < 0.4
    if g.opset >= 9 and g.chance(0.4):
        low = g.constant(np.array(-np.inf, dtype))
        pair = [low, v] if g.chance(0.5) else [v, low]
        (scores,) = add(g, "Where", [g.constant(hidden if pair[0] is low else ~hidden), *pair])
    else:
        mask = np.where(hidden, -np.inf, g.floats(hidden.shape)).astype(dtype)
        if g.opset >= 13 and g.chance(0.4):
            mask = mask[None]
            (moved,) = add(g, "Squeeze", [g.constant(mask), g.constant(np.array([0], np.int64))])
        else:
            moved = g.constant(mask)
        (scores,) = add(g, "Add", [v, moved] if g.chance(0.7) else [moved, v])
    if scores.sample is not None and (g.opset >= 13 or len(shape) < 3):
        add(g, "Softmax", [scores], axis=len(shape) - 1)


def composed(g: Builder) -> None:
    """A function that is written with others."""
    since = {"Acos": 7, "Acosh": 9, "Asin": 7, "Asinh": 9, "Atanh": 9, "Cosh": 9, "Shrink": 9, "Sinh": 9, "Tan": 7}
    kind = g.one([name for name, opset in since.items() if opset <= g.opset] or ["Neg"])
    v = small(g)
    if v is None:
        return
    if kind in ("Acos", "Asin", "Atanh", "Tan"):
        (v,) = add(g, "Sigmoid", [v])
        (v,) = add(g, "Mul", [v, g.constant(np.array([0.75], sample_of(v).dtype))])
    if kind == "Acosh":
        (v,) = add(g, "Abs", [v])
        (v,) = add(g, "Add", [v, g.constant(np.array([1.5], sample_of(v).dtype))])
    given: dict[str, Any] = {}
    if kind == "Shrink":
        given = {"lambd": g.one([0.0, 0.5, 1.0]), "bias": g.one([0.0, 0.5, 0.25])}
    add(g, kind, [v], **given)


PRODUCTS: dict[str, Generator] = {
    "Einsum": einsum,
    "GlobalLpPool": global_norm_pool,
    "LRN": local_response,
    "LpPool": norm_pool,
    "ReduceProd": product,
}
