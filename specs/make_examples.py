"""Make the example networks: python specs/make_examples.py [FOLDER]

Writes the networks, scalers and rows that the specs in this folder use, into this folder or another one. Needs numpy,
scikit-learn and onnx, takes a few seconds, is seeded. What the data is and where it comes from stands in README.md
beside this file.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from making import jets, tables, tiny
from making.export import Style, to_onnx
from making.training import (
    Array,
    Labels,
    Mlp,
    Recipe,
    fold_standardisation,
    initialise,
    prune_neurons,
    prune_weights,
    train,
)

JETS = "Trained on synthetic toy jets (specs/making/jets.py); no measured or simulated physics data."
DIGITS = "Trained on the 8x8 handwritten digits that ship with scikit-learn (UCI, CC BY 4.0)."
CELLS = "Trained on the breast cancer Wisconsin data that ships with scikit-learn (UCI, CC BY 4.0), ten mean features."


def main(arguments: list[str]) -> None:
    """Make everything below the folder given, by default the folder of this file."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    make_tiny(folder / "tiny")
    make_lhc(folder / "lhc")
    make_digits(folder / "digits")
    make_cells(folder / "cells")


def make_tiny(folder: Path) -> None:
    """Hand-made networks; nothing is trained."""
    for name, network in tiny.networks().items():
        write(folder / f"{name}.onnx", network, "gemm", "Made by hand (specs/making/tiny.py).")


def make_lhc(folder: Path) -> None:
    """A 16-20-20-5 jet tagger, and the same with a fifth of its weights cut and retrained."""
    rng = np.random.default_rng(16)
    inputs, labels = jets.sample(4000, rng)
    test_inputs, test_labels = jets.sample(1000, rng)
    mean, std = standardisation(inputs)
    scaled, test = (inputs - mean) / std, (test_inputs - mean) / std
    reference = train(initialise((16, 20, 20, 5), rng), scaled, labels, Recipe(epochs=40, decay=1e-3), rng)
    pruned = retrain(reference, 0.2, scaled, labels, Recipe(epochs=8, rate=5e-4, decay=1e-3), rng)
    write(folder / "reference.onnx", reference, "gemm", JETS, softmax=True)
    write(folder / "pruned.onnx", pruned, "gemm", JETS, softmax=True)
    write_json(folder / "scaler.json", {"mean": mean.tolist(), "std": std.tolist()})
    for name, per_class, seed in (("seen", 200, 17), ("heldout", 60, 18)):
        write_jets(folder / f"{name}.csv", per_class, np.random.default_rng(seed))
    report("lhc", {"reference": reference, "pruned": pruned}, test, test_labels)


def make_digits(folder: Path) -> None:
    """A 64-24-24-10 digit classifier, the same in half precision, and one with 30 % of its weights cut, retrained."""
    rng = np.random.default_rng(64)
    data = tables.digits()
    scaled, test = data.inputs / tables.DIGIT_PIXEL_MAX, data.test_inputs / tables.DIGIT_PIXEL_MAX
    full = train(initialise((64, 24, 24, 10), rng), scaled, data.labels, Recipe(epochs=60, decay=1e-3), rng)
    pruned = retrain(full, 0.3, scaled, data.labels, Recipe(epochs=20, rate=5e-4, decay=1e-3), rng)
    write(folder / "full.onnx", full, "gemm", DIGITS)
    write(folder / "half.onnx", full, "half", DIGITS)
    write(folder / "pruned.onnx", pruned, "gemm", DIGITS)
    rows = [int(np.flatnonzero(data.test_labels == digit)[0]) for digit in range(10)]
    write_rows(folder / "rows.csv", data.test_inputs[rows], data.test_labels[rows])
    report("digits", {"full": full, "pruned": pruned}, test, data.test_labels)


def make_cells(folder: Path) -> None:
    """A 10-12-12-2 classifier, the same two neurons narrower and retrained, and the first with its scaler folded in."""
    rng = np.random.default_rng(10)
    data = tables.cells()
    mean, std = standardisation(data.inputs)
    scaled, test = (data.inputs - mean) / std, (data.test_inputs - mean) / std
    long, short = Recipe(epochs=80, batch=32, decay=3e-3), Recipe(epochs=30, rate=5e-4, batch=32, decay=3e-3)
    original = train(initialise((10, 12, 12, 2), rng), scaled, data.labels, long, rng)
    narrower = train(prune_neurons(original, per_layer=2), scaled, data.labels, short, rng)
    write(folder / "original.onnx", original, "matmul", CELLS)
    write(folder / "narrower.onnx", narrower, "matmul", CELLS)
    write(folder / "folded.onnx", fold_standardisation(original, mean, std), "gemm", CELLS + " Takes raw features.")
    write_json(folder / "scaler.json", {"mean": mean.tolist(), "std": std.tolist()})
    report("cells", {"original": original, "narrower": narrower}, test, data.test_labels)


def standardisation(inputs: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of every feature, to five digits, so that the scaler file says exactly what was
    used.
    """
    return _five_digits(inputs.mean(axis=0)), _five_digits(inputs.std(axis=0))


def _five_digits(values: Array) -> Array:
    return np.array([float(f"{value:.5g}") for value in values])


def retrain(network: Mlp, share: float, inputs: Array, labels: Labels, recipe: Recipe, rng: np.random.Generator) -> Mlp:
    """The network without the smallest weights, trained on with the others."""
    return train(network, inputs, labels, recipe, rng, prune_weights(network, share))


def write(path: Path, network: Mlp, style: Style, comment: str, *, softmax: bool = False) -> None:
    """One ONNX file, folders made as needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save_model(to_onnx(network, style, comment, softmax=softmax), path)


def write_json(path: Path, content: dict[str, list[float]]) -> None:
    """One list a line, so that a change shows in a diff."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(values)}" for key, values in content.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def write_rows(path: Path, inputs: Array, labels: Labels) -> None:
    """A table with the label in column 0 and the pixels behind it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["label", *(f"pixel_{i}" for i in range(inputs.shape[1]))])
        for label, row in zip(labels, inputs, strict=True):
            table.writerow([int(label), *(int(pixel) for pixel in row)])


def write_jets(path: Path, per_class: int, rng: np.random.Generator) -> None:
    """Toy jets that were not trained on, shuffled: their class, and the features to five digits."""
    inputs, labels = jets.sample(per_class, rng)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["class", *jets.FEATURES])
        for i in rng.permutation(len(labels)):
            table.writerow([jets.CLASSES[labels[i]], *(f"{value:.5g}" for value in inputs[i])])


def report(name: str, networks: dict[str, Mlp], inputs: Array, labels: Labels) -> None:
    """Accuracy on rows that were not trained on."""
    for label, network in networks.items():
        print(f"{name}/{label}: accuracy {network.accuracy(inputs, labels):.3f} on {len(labels)} test rows")


if __name__ == "__main__":
    main(sys.argv[1:])
