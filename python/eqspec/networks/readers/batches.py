"""Which shape one sample has, and whether the samples of a batch can be read each by itself.

An open size, or a leading one where there are several axes, is the batch and becomes 1. A fixed batch may be set aside
only where its samples do not meet: the network of two samples must give what the network of one gives for each. Nothing
of one sample may reach what the other does, which is decided on the coefficients. That each is then read as it is by
itself is compared in floats at a few points, in the order of the outputs' size, since the outputs of both may be
anywhere; but before a Softmax those of a sample stand together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, Tile
from eqspec.networks.readers.onnx_graph import Input

_CLOSE = 1e-6
"""A tolerance relative to the largest output: more than sums in float64 differ by when formed in another order."""


def readings(inputs: Sequence[Input]) -> list[tuple[tuple[tuple[int, ...], ...], int | None]]:
    """What the shapes of one sample may be, best first, with the fixed batch size that was replaced by 1."""
    shapes = tuple(tuple(1 if isinstance(d, str) else d for d in one.shape) for one in inputs)
    fixed = not any(isinstance(d, str) for one in inputs for d in one.shape)
    batches = {shape[0] if len(shape) > 1 else 1 for shape in shapes}
    if not fixed or len(batches) > 1 or batches == {1}:
        return [(shapes, None)]
    return [(tuple((1, *shape[1:]) for shape in shapes), batches.pop()), (shapes, None)]


def meet(network: Network, pair: Network) -> bool:
    """Whether samples of a batch influence each other. `network` is the graph read for one sample, `pair` for two."""
    # Each input has both samples, one behind the other, so the vector of all inputs has those of each input together.
    first = np.concatenate([np.repeat([True, False], port.size) for port in network.ports])
    if pair.output_size != 2 * network.output_size or not _independent(pair.steps, first):
        return True
    points = np.random.default_rng(0).normal(size=(3, 2, network.input_size))
    given = np.empty((3, len(first)))
    given[:, first], given[:, ~first] = points[:, 0], points[:, 1]
    together = pair.evaluate(given)
    single = network.evaluate(points.reshape(6, -1)).reshape(3, -1)
    if not network.stripped:
        together, single = np.sort(together, axis=1), np.sort(single, axis=1)
    difference = np.abs(together - single)
    return bool((difference > _CLOSE * (1 + np.abs(single).max())).any())


def _independent(steps: Sequence[Step], first: NDArray[np.bool_]) -> bool:
    """Whether no unit depends on both of two samples; `first` says which inputs are of the first."""
    of_first = {INPUTS: first}
    of_second = {INPUTS: ~of_first[INPUTS]}
    for number, step in enumerate(steps):
        for reached in (of_first, of_second):
            reached[number] = np.zeros(step.rows, bool)
            for term in step.terms:
                reached[number] |= _reached(term.tile, reached[term.source])
        if (of_first[number] & of_second[number]).any():
            return False
    return True


def _reached(tile: Tile, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows of a tile depend on what is reached."""
    weight = tile.weight != 0.0
    if tile.weight_error is not None:
        weight |= tile.weight_error != 0.0
    read = Tile(tile.index, weight.astype(np.float64)).apply(reached.astype(np.float64)[:, None])
    return np.asarray(read[:, 0] > 0)
