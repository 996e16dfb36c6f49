"""A candidate that takes or answers something else than the reference is noticed by the labels of the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from small_specs import write_onnx
from unit.draft.test_init import compiled, init, remarks, write_table

MEAN, STD = np.array([50.0, -3.0, 0.01]), np.array([9.0, 0.5, 0.002])
ROWS = MEAN + STD * np.random.default_rng(7).normal(size=(400, 3))
NORMALISED = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
WEIGHT = np.array([[1.0, 2.0, -1.0], [-2.0, 1.0, 1.0]])


def write(path: Path, weight: np.ndarray, *, raw: bool = False, factor: float = 1, constant: float = 0) -> None:
    """The function of normalised inputs, or the same of raw ones, in some unit."""
    bias = np.full(len(weight), constant)
    if raw:
        scaled = weight / ROWS.std(axis=0)
        weight, bias = scaled, bias - scaled @ ROWS.mean(axis=0)
        bias = bias + (factor - 1) * (bias - constant)
        weight = weight * factor
        write_onnx(path, weight, bias, ("batch", 3))
        return
    write_onnx(path, weight * factor, bias, ("batch", 3))


def classes(folder: Path) -> str:
    labels = ["north" if first > second else "south" for first, second in NORMALISED @ WEIGHT.T]
    return write_table(folder, ROWS, labels)


def quantity(folder: Path) -> str:
    """What the first score is, in another unit."""
    values = 40 * (NORMALISED @ WEIGHT[:1].T)[:, 0] + 300
    return write_table(folder, ROWS, [f"{v:.6g}" for v in values], "a,b,c,y")


@pytest.mark.parametrize(("reference_raw", "candidate_raw"), [(True, False), (False, True)])
def test_each_network_is_given_what_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reference_raw: bool, candidate_raw: bool
) -> None:
    write(tmp_path / "full.onnx", WEIGHT, raw=reference_raw)
    write(tmp_path / "small.onnx", WEIGHT, raw=candidate_raw)
    text = init(capsys, tmp_path, "--data", classes(tmp_path), "--probe", "0")
    (task,) = compiled(text, tmp_path)
    assert (task.reference_takes_raw, task.candidate_takes_raw) == (reference_raw, candidate_raw)
    assert "both decide the same in 100 %" in remarks(text)
    assert "that is what it is given" in remarks(text)


def test_what_was_said_of_both_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "full.onnx", WEIGHT, raw=True)
    write(tmp_path / "small.onnx", WEIGHT)
    text = init(capsys, tmp_path, "--data", classes(tmp_path), "--probe", "0", "--takes", "raw")
    (task,) = compiled(text, tmp_path)
    assert (task.reference_takes_raw, task.candidate_takes_raw) == (True, True)
    assert "it was said what both take" in remarks(text)


def test_labels_that_even_the_reference_often_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tagger that is right in three of four rows is a reference, too."""
    write(tmp_path / "full.onnx", WEIGHT, raw=True)
    write(tmp_path / "small.onnx", WEIGHT)
    labels = ["north" if first > second else "south" for first, second in NORMALISED @ WEIGHT.T]
    flipped = [label if i % 4 else "south" if label == "north" else "north" for i, label in enumerate(labels)]
    said = ("--data", write_table(tmp_path, ROWS, flipped), "--probe", "0", "--normalisation", "raw")
    assert "it was said what both take" in remarks(init(capsys, tmp_path, *said))


def test_a_candidate_that_answers_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "full.onnx", WEIGHT)
    write(tmp_path / "small.onnx", np.zeros((2, 3)) + np.array([[0.0], [1.0]]))
    text = init(capsys, tmp_path, "--data", classes(tmp_path), "--probe", "0")
    assert "careful: small answers" in remarks(text)


def test_outputs_in_another_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "full.onnx", WEIGHT)
    write(tmp_path / "small.onnx", WEIGHT[::-1])
    text = init(capsys, tmp_path, "--data", classes(tmp_path), "--probe", "0")
    assert "their outputs are in different orders" in remarks(text)
    write(tmp_path / "small.onnx", WEIGHT)
    (tmp_path / "first.eqspec").unlink()
    assert "careful" not in remarks(init(capsys, tmp_path, "--data", classes(tmp_path), "--probe", "0"))


def test_targets_that_were_standardised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "full.onnx", WEIGHT[:1])
    write(tmp_path / "small.onnx", WEIGHT[:1])
    text = init(capsys, tmp_path, "--data", quantity(tmp_path), "--probe", "0")
    (task,) = compiled(text, tmp_path)
    assert not task.reference_takes_raw
    assert "is 40 times its output plus 300" in remarks(text)
    assert "different units" not in remarks(text)


def test_a_pair_in_two_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "full.onnx", WEIGHT[:1])
    write(tmp_path / "small.onnx", WEIGHT[:1], factor=40, constant=300)
    text = init(capsys, tmp_path, "--data", quantity(tmp_path), "--probe", "0")
    assert "they answer in different units" in remarks(text)


def test_a_factor_below_zero_is_no_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "full.onnx", -WEIGHT[:1])
    write(tmp_path / "small.onnx", -WEIGHT[:1])
    said = init(capsys, tmp_path, "--data", quantity(tmp_path), "--probe", "0", code=2)
    assert "What do the networks take?" in said
