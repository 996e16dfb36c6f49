"""Dense networks against what quantising them leaves: weights and activations of so many bits, scales from samples.

The quantised network is made as users of hls4ml do it by hand: symmetric weights, unsigned levels behind every ReLU
whose top is the largest value at samples of the region. It stands in memory, as its float original with other steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from acceptance import published
from acceptance.families import SHARED
from acceptance.published import Query
from benches.graphs.digits import box
from convolutional_models import Array
from eqspec.networks import evaluation, read_network
from eqspec.networks.curves import Curves, clip
from eqspec.networks.network import Network
from eqspec.networks.program import Step, Tile
from eqspec.networks.quantiser import Quantiser
from eqspec.property import Confidence, Epsilon, Property, Top1
from small_tasks import task

_QONNX = SHARED / "data" / "graphs" / "qonnx"
_SAMPLES = 2000


def quantised(network: Network, bits: int, samples: Array) -> Network:
    """A chain of dense layers with weights and activations of so many bits."""
    steps: list[Step] = []
    values = np.ascontiguousarray(samples.T)
    for step in network.steps:
        (term,) = step.terms
        weight = term.tile.weight[0]
        unit = np.abs(weight).max() / (2 ** (bits - 1) - 1)
        tile = Tile.dense(np.ascontiguousarray(np.rint(weight / unit) * unit))
        steps.append(replace(step, terms=(replace(term, tile=tile),), names=None))
        if step.function != "identity":
            largest = evaluation.values(steps, values)[-1].max()
            scale = float(np.float32(max(float(largest), 1e-6) / (2**bits - 1)))
            steps[-1] = replace(steps[-1], function=Curves.all(Quantiser(scale, 0, 2**bits - 1).curve))
    return replace(network, steps=tuple(steps), source=f"{network.source}, {bits} bits")


def _samples(ends: Sequence[tuple[Array, Array]]) -> Array:
    rng = np.random.default_rng(0)
    each = max(1, _SAMPLES // len(ends))
    return np.concatenate([low + (high - low) * rng.random((each, len(low))) for low, high in ends])


def acas(bits: int, eps: str, properties: str = "") -> list[Query]:
    """The published queries of ACAS Xu, each network against its quantised self."""
    queries = published.acas(SHARED)
    of_network: dict[str, list[Query]] = {}
    for query in queries:
        of_network.setdefault(query.task.reference.sha256, []).append(query)
    made = []
    for group in of_network.values():
        reference = group[0].task.reference
        other = quantised(reference, bits, _samples([(q.task.lower, q.task.upper) for q in group]))
        for query in group:
            if properties in query.name and "0.05" in query.name:  # each box once
                claim = Epsilon(Fraction(eps))
                made.append(replace(query, task=replace(query.task, candidate=other, property=claim), published=None))
    return made


def mnist() -> list[Query]:
    """MNIST 3_100 against 8 bits of it, eps 1 in balls of 3/255 around a hundred images."""
    network = read_network(SHARED / "data" / "mnist" / "mnist_relu_3_100.onnx")
    images = np.loadtxt(SHARED / "data" / "mnist" / "ref_images_100x784.csv", delimiter=",") / 255
    other = quantised(network, 8, images)
    return [
        Query(f"image {i}", task(network, other, Epsilon(1), *box(x, 3 / 255), id=f"image_{i}"), None)
        for i, x in enumerate(images)
    ]


def clip_twin(network: Network) -> Network:
    """The same weights with clips in place of quantisers."""
    steps = []
    for step in network.steps:
        function = step.function
        if isinstance(function, Curves):
            kinds = []
            for curve in function.kinds:
                q = Quantiser.of(curve)
                low, high = q.scale * (q.low - q.zero), q.scale * (q.high - q.zero)
                kinds.append(clip(low, high))
            function = Curves(tuple(kinds), function.of_row)
        steps.append(replace(step, function=function))
    return replace(network, steps=tuple(steps), source=f"{network.source}, clipped", sha256=network.sha256[::-1])


def jet() -> list[Query]:
    """The jet tagger of QKeras against its clip twin: confident decisions, and distances."""
    network = read_network(_QONNX / "qkeras_jettagging__1d9aa7.onnx")
    claims: list[tuple[Property, float]] = [
        (Confidence("0.961"), 100.0),
        (Confidence("0.95"), 100.0),
        (Confidence("0.9"), 0.1),
        (Epsilon("1.85"), 100.0),
    ]
    twin = clip_twin(network)
    return [
        Query(
            f"{type(claim).__name__} {radius}",
            task(twin, network, claim, *box(np.zeros(16), radius, -radius, radius), id=f"jet_{k}"),
            None,
        )
        for k, (claim, radius) in enumerate(claims)
    ]


def binary() -> list[Query]:
    """TFC of two bits against one of one bit, Top-1 in balls of 3/255 around a hundred images."""
    first, second = (read_network(_QONNX / name) for name in ("TFC_2W2A__db8de1.onnx", "TFC_1W2A__0b43a8.onnx"))
    images = np.loadtxt(SHARED / "data" / "mnist" / "ref_images_100x784.csv", delimiter=",") / 255
    return [
        Query(f"image {i}", task(first, second, Top1(), *box(x, 3 / 255), id=f"tfc_{i}"), None)
        for i, x in enumerate(images)
    ]
