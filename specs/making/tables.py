"""The two data sets that ship inside scikit-learn: handwritten digits, and cell nuclei of breast tissue. Both come from
the UCI repository.

Shapes: inputs (N, I) in raw units, labels (N,). The split into training and test rows is fixed by the seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from making.training import Array, Labels

CELL_FEATURES = (
    *("radius", "texture", "perimeter", "area", "smoothness"),
    *("compactness", "concavity", "concave_points", "symmetry", "fractal_dimension"),
)
CELL_CLASSES = ("malignant", "benign")
DIGIT_PIXEL_MAX = 16


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to train on and rows to test on."""

    inputs: Array
    labels: Labels
    test_inputs: Array
    test_labels: Labels


def digits() -> Table:
    """8 x 8 images of handwritten digits, 64 pixels from 0 to 16, ten classes."""
    data = load_digits()
    return _split(data.data, data.target, seed=11)


def cells() -> Table:
    """The ten mean features of the cell nuclei, two classes: malignant is 0, benign is 1."""
    data = load_breast_cancer()
    return _split(data.data[:, : len(CELL_FEATURES)], data.target, seed=12)


def _split(inputs: Array, labels: Labels, seed: int) -> Table:
    order = np.random.default_rng(seed).permutation(len(labels))
    test, train = np.split(order, [len(labels) // 4])
    return Table(inputs[train], labels[train], inputs[test], labels[test])
