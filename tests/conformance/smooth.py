"""Functions of one variable, normalisations and what else reduces to such functions: nodes with any parameters.

Arguments are kept small and inside of domains: an infinity or a NaN of one reader is no function that another could
miss. Functions with jumps take what is exact in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.building import Builder, Value
from conformance.functions import add
from conformance.operators import Generator, sample_of

_STEEP = 4.0


def _small(g: Builder, *, ranks: tuple[int, ...] = ()) -> Value | None:
    """A value of moderate size."""
    v = g.operand(floats=True)
    if ranks and sample_of(v).ndim not in ranks:
        return None
    if np.abs(sample_of(v)).max(initial=0) > _STEEP:
        (v,) = add(g, "Tanh", [v])
    return v


def _positive(g: Builder) -> Value | None:
    v = _small(g)
    if v is None:
        return None
    (v,) = add(g, "Abs", [v])
    (v,) = add(g, "Add", [v, g.constant(np.full((1,), 0.5, sample_of(v).dtype))])
    return v


def function(kind: str, **choices: list[float]) -> Generator:
    """A function with some of its attributes given."""

    def make(g: Builder) -> None:
        v = _small(g)
        given: dict[str, Any] = {key: g.one(values) for key, values in choices.items() if g.chance(0.6)}
        if v is not None:
            add(g, kind, [v], **given)

    return make


def of_positive(kind: str) -> Generator:
    """A function of positive numbers; now and then of constants."""

    def make(g: Builder) -> None:
        v = g.constant(g.floats(g.some_shape(), positive=True) + 1) if g.chance(0.3) else _positive(g)
        if v is not None:
            add(g, kind, [v])

    return make


def jump(kind: str) -> Generator:
    """A function with jumps, of constants or of what is at hand."""

    def make(g: Builder) -> None:
        v = g.constant(g.floats(g.some_shape())) if g.chance(0.7) else g.operand(floats=True)
        add(g, kind, [v])

    return make


def gelu(g: Builder) -> None:
    v = _small(g)
    if v is not None:
        attributes: dict[str, Any] = {"approximate": g.one(["none", "tanh"])} if g.chance(0.7) else {}
        add(g, "Gelu", [v], **attributes)


def power(g: Builder) -> None:
    exponent = g.one([2.0, 3.0, 1.0, 0.0, 2.0, 0.5, -1.0, 1.5])
    v = _small(g) if exponent >= 0 and exponent == int(exponent) else _positive(g)
    if v is None:
        return
    kind = sample_of(v).dtype if g.opset < 12 or g.chance(0.8) else np.dtype(np.int64)
    whole = kind.kind == "i" and exponent != int(exponent)
    add(g, "Pow", [v, g.constant(np.full(g.one([(), (1,)]), 2.0 if whole else exponent, kind))])


def sizes(kind: str) -> Generator:
    """A sum of sizes or squares along some axes."""

    def make(g: Builder) -> None:
        v = _small(g)
        if v is None or not sample_of(v).ndim or not sample_of(v).size:
            return
        axes = [g.whole(0, sample_of(v).ndim - 1)]
        attributes: dict[str, Any] = {"keepdims": g.one([0, 1])} if g.chance(0.6) else {}
        if g.opset >= 18:
            if g.chance(0.3):
                attributes["noop_with_empty_axes"] = g.one([0, 1])
            kept = axes if g.chance(0.7) else []
            add(g, kind, [v, g.constant(np.array(kept, np.int64))] if g.chance(0.8) else [v], **attributes)
        else:
            add(g, kind, [v], axes=axes, **attributes)

    return make


def normalization(kind: str) -> Generator:
    """A normalisation, with its scale and bias."""

    def make(g: Builder) -> None:
        v = _small(g, ranks=(2, 3) if kind in ("LayerNormalization", "RMSNormalization") else (3, 4))
        if v is None or not sample_of(v).size or sample_of(v).size > 64:
            return
        shape, dtype = sample_of(v).shape, sample_of(v).dtype
        attributes: dict[str, Any] = {"epsilon": g.one([0.01, 0.5])}
        size = shape[-1:] if kind in ("LayerNormalization", "RMSNormalization") else shape[1:2]
        if kind == "GroupNormalization":
            count = g.one([n for n in range(1, shape[1] + 1) if shape[1] % n == 0])
            attributes["num_groups"] = count
            size = (count,) if g.opset < 21 else size
        given = [g.constant(g.floats(size).astype(dtype)) for _ in range(1 if kind == "RMSNormalization" else 2)]
        add(g, kind, [v, *given], **attributes)

    return make


def lp_normalization(g: Builder) -> None:
    v = _positive(g)
    if v is not None and sample_of(v).ndim and 0 < sample_of(v).size <= 64:
        add(g, "LpNormalization", [v], p=g.one([1, 2]), axis=g.whole(0, sample_of(v).ndim - 1))


SMOOTH: dict[str, Generator] = {
    "Atan": function("Atan"),
    "Ceil": jump("Ceil"),
    "Celu": function("Celu", alpha=[0.5, 1.0, 2.0]),
    "Cos": function("Cos"),
    "Elu": function("Elu", alpha=[0.5, 1.0, 2.0]),
    "Erf": function("Erf"),
    "Exp": function("Exp"),
    "Floor": jump("Floor"),
    "Gelu": gelu,
    "GroupNormalization": normalization("GroupNormalization"),
    "HardSwish": function("HardSwish"),
    "InstanceNormalization": normalization("InstanceNormalization"),
    "LayerNormalization": normalization("LayerNormalization"),
    "Log": of_positive("Log"),
    "LpNormalization": lp_normalization,
    "Mish": function("Mish"),
    "Pow": power,
    "RMSNormalization": normalization("RMSNormalization"),
    "ReduceL1": sizes("ReduceL1"),
    "ReduceL2": sizes("ReduceL2"),
    "ReduceSumSquare": sizes("ReduceSumSquare"),
    "Round": jump("Round"),
    "Selu": function("Selu", alpha=[1.0, 1.5], gamma=[1.0, 1.25]),
    "Sigmoid": function("Sigmoid"),
    "Sign": jump("Sign"),
    "Sin": function("Sin"),
    "Softplus": function("Softplus"),
    "Softsign": function("Softsign"),
    "Swish": function("Swish", alpha=[1.0, 0.5, 2.0]),
    "Tanh": function("Tanh"),
    "ThresholdedRelu": function("ThresholdedRelu", alpha=[0.5, 1.0]),
}
