"""Small classifiers and regressors of scikit-learn's tables, written as ONNX with their outputs in any order."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.neural_network import MLPClassifier, MLPRegressor

from unit.networks.models import model, node

Floats = NDArray[np.float64]
SCALED: dict[str, Callable[[Floats], Floats]] = {
    "raw": lambda x: x,
    "zscore": lambda x: (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1),
    "minmax": lambda x: (x - x.min(axis=0)) / np.where(np.ptp(x, axis=0) > 0, np.ptp(x, axis=0), 1),
    "255": lambda x: x / 255,
    "max": lambda x: x / np.abs(x).max(),
}


@dataclass(frozen=True)
class Real:
    """A table with the names of its columns and classes, and a network trained on its scaled columns."""

    rows: Floats
    targets: NDArray[Any]
    names: tuple[str, ...]
    classes: tuple[str, ...]
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    def write(
        self, folder: Path, order: Sequence[int] | None = None, labels: Sequence[str] | None = None, header: bool = True
    ) -> tuple[str, str, str]:
        """full.onnx and small.onnx with output i for class order[i], and train.csv; their paths."""
        weights, biases = list(self.weights), list(self.biases)
        if order is not None:
            weights[-1], biases[-1] = weights[-1][:, list(order)], biases[-1][list(order)]
        proto = network(weights, biases)
        for name in ("full.onnx", "small.onnx"):
            (folder / name).write_bytes(proto.SerializeToString())
        texts = self.classes if labels is None else labels
        with (folder / "train.csv").open("w", newline="") as file:
            table = csv.writer(file)
            if header:
                table.writerow([*self.names, "class"])
            table.writerows(
                [*row, texts[int(t)] if texts else t]
                for row, t in zip(self.rows.tolist(), self.targets.tolist(), strict=True)
            )
        return str(folder / "full.onnx"), str(folder / "small.onnx"), str(folder / "train.csv")


def network(weights: Sequence[Floats], biases: Sequence[Floats]) -> onnx.ModelProto:
    """Gemm and Relu by turns."""
    nodes: list[onnx.NodeProto] = []
    stored: dict[str, NDArray[Any]] = {}
    last = "x"
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        stored |= {f"w{i}": weight.astype(np.float32), f"b{i}": bias.astype(np.float32)}
        end = i == len(weights) - 1
        nodes.append(node("Gemm", [last, f"w{i}", f"b{i}"], "y" if end else f"s{i}"))
        if not end:
            nodes.append(node("Relu", [f"s{i}"], f"r{i}"))
            last = f"r{i}"
    return model(nodes, stored, ["batch", len(weights[0])])


@cache
def trained(table: str, how: str, rate: float = 0.01) -> Real:
    """A classifier (of two classes with two outputs), or a regressor for diabetes."""
    data: Any = getattr(datasets, f"load_{table}")()
    inputs = SCALED[how](data.data)
    kind = MLPRegressor if table == "diabetes" else MLPClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = kind(hidden_layer_sizes=(16,), learning_rate_init=rate, max_iter=400, random_state=0).fit(
            inputs, data.target
        )
    weights, biases = list(fitted.coefs_), list(fitted.intercepts_)
    classes = () if table == "diabetes" else tuple(str(name) for name in data.target_names)
    if table == "digits":
        classes = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    if len(classes) == 2:
        weights[-1], biases[-1] = np.hstack([-weights[-1], weights[-1]]), np.hstack([-biases[-1], biases[-1]])
    names = tuple(str(name) for name in data.feature_names)
    return Real(data.data, data.target, names, classes, tuple(weights), tuple(biases))


def with_one_output(real: Real) -> Real:
    """The network with its second score alone, of two classes."""
    weights, biases = (*real.weights[:-1], real.weights[-1][:, 1:]), (*real.biases[:-1], real.biases[-1][1:])
    return replace(real, weights=weights, biases=biases)
