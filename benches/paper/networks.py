"""The networks of the evaluation: classifiers of toy jets and of cell nuclei, pruned, with and without retraining.

Everything is seeded and made on the spot below benches/results/paper; nothing is committed. Both data sets are
standardised, so one sigma is one unit of every input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from making import jets, tables
from making.export import to_onnx
from making.training import Array, Labels, Mlp, Recipe, initialise, prune_weights, train

SHAPES = {
    "jets": ((10, 10), (20, 20), (40, 40), (10, 10, 10, 10)),
    "cells": ((10, 10), (20, 20), (10, 10, 10, 10), (20, 20, 20, 20)),
}
"""Hidden layers by data set: five classes from 16 features, two from 10."""
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Of the weights that are cut."""


@dataclass(frozen=True)
class Pair:
    """A reference and a candidate as files. `weights` is the mean |difference| of their weights."""

    data: str
    hidden: tuple[int, ...]
    share: float
    retrained: bool
    reference: Path
    candidate: Path
    weights: float
    features: int
    classes: int

    @property
    def shape(self) -> str:
        """2x10 for two hidden layers of ten."""
        return f"{len(self.hidden)}x{self.hidden[0]}"

    @property
    def name(self) -> str:
        """jets-2x10-50-retrained."""
        return f"{self.data}-{self.shape}-{round(100 * self.share)}-{'retrained' if self.retrained else 'pruned'}"


def pairs(folder: Path, shapes: int | None, shares: Sequence[float]) -> Iterator[Pair]:
    """The first `shapes` shapes of each data set (None: all), each share cut, retrained and not; made as needed."""
    for data, all_hidden in SHAPES.items():
        inputs, labels = _standardised(data)
        for hidden in all_hidden[:shapes]:
            yield from _of_shape(folder, data, hidden, shares, (inputs, labels))


def _of_shape(
    folder: Path, data: str, hidden: tuple[int, ...], shares: Sequence[float], samples: tuple[Array, Labels]
) -> Iterator[Pair]:
    inputs, labels = samples
    classes = int(labels.max()) + 1
    rng = np.random.default_rng([*hidden, classes])
    home = folder / f"{data}-{len(hidden)}x{hidden[0]}"
    long = Recipe(epochs=30 if data == "jets" else 120, decay=1e-3)
    short = Recipe(epochs=5 if data == "jets" else 20, rate=5e-4, decay=1e-3)
    reference: Mlp | None = None
    for share in shares:
        for retrained in (False, True):
            path = home / f"{round(100 * share)}-{'retrained' if retrained else 'pruned'}.npz"
            if not path.exists():
                if reference is None:
                    reference = train(initialise((inputs.shape[1], *hidden, classes), rng), inputs, labels, long, rng)
                    _write(home / "reference.npz", reference)
                own = np.random.default_rng([round(100 * share), int(retrained)])
                _write(path, _candidate(reference, share, (inputs, labels), short if retrained else None, own))
            first, second = _read(home / "reference.npz"), _read(path)
            yield Pair(
                data,
                hidden,
                share,
                retrained,
                home / "reference.onnx",
                path.with_suffix(".onnx"),
                _difference(first, second),
                inputs.shape[1],
                classes,
            )


def _candidate(
    reference: Mlp, share: float, samples: tuple[Array, Labels], recipe: Recipe | None, rng: np.random.Generator
) -> Mlp:
    """The reference without its smallest weights, trained on if there is a recipe."""
    keep = prune_weights(reference, share)
    if recipe is not None:
        return train(reference, *samples, recipe, rng, keep)
    return Mlp(tuple(np.where(k, w, 0.0) for k, w in zip(keep, reference.weights, strict=True)), reference.biases)


def _standardised(data: str) -> tuple[Array, Labels]:
    if data == "jets":
        inputs, labels = jets.sample(1500, np.random.default_rng(16))
    else:
        table = tables.cells()
        inputs, labels = table.inputs, table.labels
    return (inputs - inputs.mean(axis=0)) / inputs.std(axis=0), labels


def _difference(first: Mlp, second: Mlp) -> float:
    gaps = [np.abs(a - b).ravel() for a, b in zip(first.weights, second.weights, strict=True)]
    return float(np.concatenate(gaps).mean())


def _write(path: Path, network: Mlp) -> None:
    """As numbers and as ONNX; the numbers last, so that what exists is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    model: Any = to_onnx(network, "gemm", "Made by benches.paper.")
    path.with_suffix(".onnx").write_bytes(model.SerializeToString())
    arrays = {f"weight_{i}": w for i, w in enumerate(network.weights)}
    arrays |= {f"bias_{i}": b for i, b in enumerate(network.biases)}
    partial = path.with_suffix(".part.npz")
    np.savez(partial, **arrays)  # type: ignore[arg-type]  # the stub takes no arrays by name
    partial.replace(path)


def _read(path: Path) -> Mlp:
    with np.load(path) as content:
        depth = len(content.files) // 2
        return Mlp(
            tuple(content[f"weight_{i}"] for i in range(depth)), tuple(content[f"bias_{i}"] for i in range(depth))
        )
