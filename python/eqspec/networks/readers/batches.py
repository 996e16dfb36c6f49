"""Which shape one sample has, and whether the samples of a batch can be read each by itself.

An open size, or a leading one where there are several axes, is the batch and becomes 1. A fixed batch may be set aside
only where its samples do not meet: the network of two samples must give what the network of one gives for each. Nothing
of one sample may reach what the other does, which is decided on the coefficients. So must the network of the whole
batch where it is small, since a Slice or a Trilu along the axis may treat a third sample otherwise; where it is large,
all that onnxruntime answers is held against the network (`agreement`). That each sample is read as it is by itself is
compared in floats at a few points, in the order of the file: where the outputs of one do not stand together, as in a
transposed output, a file does not answer one sample after the other.

An open axis need not be that of samples, either: torch gives the steps of a sequence first. Read at one entry, such a
file is the network of sequences of one step, which is not what its user compares. Graphs that may join what lies along
their open axis are therefore read at two entries as well, and refused where one unit depends on both. Whatever else
joins them is seen where onnxruntime runs the file (`entries_apart`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Step, Tile
from eqspec.networks.readers.onnx_graph import Graph, Input

_THROUGH_TIME = frozenset({"GRU", "LSTM", "Loop", "RNN", "Scan"})
_OF_ALL = b"DynamicQuantize"
"""How operators are called whose scale follows from all samples together. That is known of them: one sample is read."""
_CLOSE = 1e-6
"""A tolerance relative to the largest output: more than sums in float64 differ by when formed in another order."""
_MOST_TOGETHER = 20_000_000
"""The most products and rows of a whole batch that is read."""


def readings(inputs: Sequence[Input]) -> list[tuple[tuple[tuple[int, ...], ...], int | None]]:
    """What the shapes of one sample may be, best first, with the fixed batch size that was replaced by 1."""
    shapes = tuple(tuple(1 if isinstance(d, str) else d for d in one.shape) for one in inputs)
    fixed = not any(isinstance(d, str) for one in inputs for d in one.shape)
    batches = {shape[0] if len(shape) > 1 else 1 for shape in shapes}
    if not fixed or len(batches) > 1 or batches == {1}:
        return [(shapes, None)]
    return [(tuple((1, *shape[1:]) for shape in shapes), batches.pop()), (shapes, None)]


def open_axis(inputs: Sequence[Input]) -> tuple[str, str] | None:
    """An input with an open axis, and the name of that, "?" without one; None where all sizes are fixed."""
    return next(((one.name, d) for one in inputs for d in one.shape if isinstance(d, str)), None)


def may_meet(graph: Graph, content: bytes) -> bool:
    """Whether a graph may join what lies along its open axis: over time, by attention, or since its output has none.

    `content` are the bytes of its file, in which operators are that the graph has written out.
    """
    if open_axis(graph.inputs) is None or _OF_ALL in content:
        return False
    read = {name for node in graph.nodes for name in node.input}
    attends = any(node.op_type == "Softmax" and node.output[0] in read for node in graph.nodes)
    closed = not any(isinstance(d, str) for d in graph.output_shape)  # or its output has no shape
    return closed or attends or any(node.op_type in _THROUGH_TIME for node in graph.nodes)


def of_two(inputs: Sequence[Input]) -> tuple[tuple[int, ...], ...]:
    """The shapes of all inputs with two entries along open axes."""
    return tuple(tuple(2 if isinstance(d, str) else d for d in one.shape) for one in inputs)


def joined(inputs: Sequence[Input], pair: Network) -> bool:
    """Whether a unit of a network read at two entries along the open axes depends on both."""
    entries = []
    for one, shape in zip(inputs, of_two(inputs), strict=True):
        axis = next((i for i, d in enumerate(one.shape) if isinstance(d, str)), None)
        entries.append(np.full(shape, -1) if axis is None else np.indices(shape)[axis])
    of = np.concatenate([entry.reshape(-1) for entry in entries])
    return not _independent(pair.steps, of == 0, of == 1)


def counts(network: Network, batch: int) -> Sequence[int]:
    """How many samples a file is read at, to be compared with one: two, and all that it has if that costs little."""
    cost = network.products + sum(step.rows for step in network.steps)
    return (2,) if batch == 2 or batch * cost > _MOST_TOGETHER else (2, batch)


def meet(network: Network, whole: Network, samples: int) -> bool:
    """Whether samples of a batch influence each other, or are not all treated alike.

    `network` is the graph read for one sample, `whole` for so many.
    """
    # Each input has all samples, one behind the other, so the vector of all inputs has those of each input together.
    of = np.concatenate([np.repeat(np.arange(samples), port.size) for port in network.ports])
    if whole.output_size != samples * network.output_size:
        return True
    if samples == 2 and not _independent(whole.steps, of == 0, of == 1):
        return True
    points = np.random.default_rng(0).normal(size=(3, samples, network.input_size))
    given = np.empty((3, len(of)))
    for sample in range(samples):
        given[:, of == sample] = points[:, sample]
    together = whole.evaluate(given)
    single = network.evaluate(points.reshape(3 * samples, -1)).reshape(3, -1)
    none = ~np.isfinite(single)
    most = _CLOSE * (1 + np.abs(np.where(none, 0.0, single)).max())
    with np.errstate(invalid="ignore"):
        alike = np.where(none, ~np.isfinite(together), np.abs(together - single) <= most)
    return not alike.all()


def _independent(steps: Sequence[Step], first: NDArray[np.bool_], second: NDArray[np.bool_]) -> bool:
    """Whether no unit depends on both of two samples, of which each is some of the inputs."""
    of_first = {INPUTS: first}
    of_second = {INPUTS: second}
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
