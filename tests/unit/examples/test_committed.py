"""The committed example networks are what specs/README.md says: small, as accurate as promised, and really pruned."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from sklearn.datasets import load_breast_cancer, load_digits

NETWORKS = sorted(
    path.relative_to(Path(__file__).parents[3]) for path in Path(__file__).parents[3].glob("specs/*/*.onnx")
)


def run(path: Path, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    session = onnxruntime.InferenceSession(str(path))
    (outputs,) = session.run(None, {session.get_inputs()[0].name: inputs.astype(np.float32)})
    return np.asarray(outputs, dtype=np.float64)


def matrices(path: Path) -> list[NDArray[np.float64]]:
    tensors = [numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer]
    return [tensor.astype(np.float64) for tensor in tensors if tensor.ndim == 2]


def zero_share(path: Path) -> float:
    weights = np.concatenate([matrix.ravel() for matrix in matrices(path)])
    return float(np.mean(weights == 0))


def standardised(path: Path, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    scaler = json.loads(path.read_text(encoding="utf-8"))
    return np.asarray((inputs - scaler["mean"]) / np.array(scaler["std"]))


def test_there_are_networks() -> None:
    assert len(NETWORKS) == 15


@pytest.mark.parametrize("path", NETWORKS, ids=str)
def test_networks_are_small_and_say_where_they_come_from(root: Path, path: Path) -> None:
    assert (root / path).stat().st_size < 50_000
    model = onnx.load(root / path)
    onnx.checker.check_model(model, full_check=True)
    assert "specs/making" in model.doc_string or "UCI" in model.doc_string


def test_lhc_is_pruned_by_a_fifth_and_ends_in_softmax(root: Path) -> None:
    folder = root / "specs" / "lhc"
    assert zero_share(folder / "reference.onnx") == 0
    assert zero_share(folder / "pruned.onnx") == pytest.approx(0.2, abs=0.01)
    for name in ("reference", "pruned"):
        assert [matrix.shape for matrix in matrices(folder / f"{name}.onnx")] == [(20, 16), (20, 20), (5, 20)]
        assert onnx.load(folder / f"{name}.onnx").graph.node[-1].op_type == "Softmax"
    scaler = json.loads((folder / "scaler.json").read_text(encoding="utf-8"))
    assert {key: len(values) for key, values in scaler.items()} == {"mean": 16, "std": 16}


@pytest.mark.parametrize("name", ["full", "half", "pruned"])
def test_digits_reach_their_accuracy(root: Path, name: str) -> None:
    data = load_digits()
    outputs = run(root / "specs" / "digits" / f"{name}.onnx", data.data / 16)
    assert np.mean(outputs.argmax(axis=1) == data.target) > 0.95


def test_digits_twins_are_what_they_claim(root: Path) -> None:
    folder = root / "specs" / "digits"
    full, half = matrices(folder / "full.onnx"), matrices(folder / "half.onnx")
    assert zero_share(folder / "pruned.onnx") == pytest.approx(0.3, abs=0.01)
    for wide, narrow in zip(full, half, strict=True):
        assert np.array_equal(narrow, wide.astype(np.float16).astype(np.float64))
        assert not np.array_equal(narrow, wide)


def test_digit_rows_come_from_the_data(root: Path) -> None:
    with (root / "specs" / "digits" / "rows.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[0] == "label"
    assert [int(row[0]) for row in rows] == list(range(10))
    data = load_digits()
    known = {(int(label), *map(int, pixels)) for label, pixels in zip(data.target, data.data, strict=True)}
    assert {tuple(map(int, row)) for row in rows} <= known


def test_cells_reach_their_accuracy_and_the_narrower_one_is_narrower(root: Path) -> None:
    folder, data = root / "specs" / "cells", load_breast_cancer()
    raw = data.data[:, :10]
    scaled = standardised(folder / "scaler.json", raw)
    for name, width in (("original", 12), ("narrower", 10)):
        outputs = run(folder / f"{name}.onnx", scaled)
        assert np.mean(outputs.argmax(axis=1) == data.target) > 0.93
        assert [matrix.shape for matrix in matrices(folder / f"{name}.onnx")] == [
            (10, width),
            (width, width),
            (width, 2),
        ]
    folded, original = run(folder / "folded.onnx", raw), run(folder / "original.onnx", scaled)
    np.testing.assert_allclose(folded, original, atol=1e-4)
