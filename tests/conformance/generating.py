"""The graph of a seed and number: one to four operators, sometimes spoiled."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
from onnx import TensorProto

from conformance.building import Builder
from conformance.generators import GENERATORS, of_opset
from conformance.spatial import SHAPES
from conformance.spoiling import needed, spoil

NEWEST = onnx.defs.onnx_opset_version()
OPSETS = tuple(range(6, NEWEST + 1))
KINDS = (*(TensorProto.FLOAT,) * 6, TensorProto.DOUBLE, TensorProto.FLOAT16)


def graph(seed: int, number: int) -> tuple[onnx.ModelProto, str | None, list[str]]:
    """A model, how it was spoiled if it was, and what is in it."""
    rng = np.random.default_rng([seed, number])
    opset = OPSETS[int(rng.integers(len(OPSETS)))]
    builder = Builder(rng, opset, KINDS[int(rng.integers(len(KINDS)))], _input_shape(rng))
    names = of_opset(opset)
    for _ in range(builder.whole(1, 4)):
        operator = builder.one(names)
        GENERATORS[operator](builder)
        builder.traits.append(f"operator {operator}")
        if builder.finished or (builder.values[-1].sample is None):
            break
    if not builder.nodes:
        GENERATORS["Identity"](builder)
    model = builder.model()
    training = any(node.name in builder.training for node in needed(model))
    spoiled = "training" if training else spoil(rng, model) if rng.random() < 0.1 else None
    return model, spoiled, [*builder.traits, f"opset {opset}"]


def _input_shape(rng: np.random.Generator) -> tuple[int, ...]:
    if rng.random() < 0.4:
        return SHAPES[int(rng.integers(len(SHAPES)))]
    sizes = [int(n) for n in rng.choice([1, 2, 3], int(rng.integers(1, 5)))]
    if len(sizes) > 1 and rng.random() < 0.85:
        sizes[0] = 1
    return tuple(sizes) if prod(sizes) <= 24 else (1, *sizes[1:3])
