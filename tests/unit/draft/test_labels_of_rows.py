"""Labels in a column, in a column for each class, and in a file of their own, all say the same of the networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eqspec.draft.data import read_data
from eqspec.errors import InputError
from unit.draft.small_pairs import write_pair
from unit.draft.test_init import compiled, init

ROWS = np.random.default_rng(4).normal(size=(60, 3)).round(3)
CLASSES = (ROWS[:, 1] + ROWS[:, 2] > ROWS[:, 0]).astype(int)
"""What full.onnx decides for rows as they are."""
NAMES = np.array(["calm", "windy"])[CLASSES]


def rows_file(folder: Path) -> Path:
    np.save(folder / "rows.npy", ROWS)
    return folder / "rows.npy"


def label_files(folder: Path) -> dict[str, list[str]]:
    """Files with the labels, and the labels that they are."""
    np.save(folder / "numbers.npy", CLASSES)
    np.save(folder / "column.npy", CLASSES[:, None].astype(np.float64))
    np.save(folder / "names.npy", NAMES)
    np.save(folder / "marks.npy", np.eye(2)[CLASSES])
    np.savez(folder / "labels.npz", y=NAMES, other=np.zeros(3))
    (folder / "labels.csv").write_text("kind\n" + "\n".join(NAMES) + "\n")
    marks = "\n".join("0,1" if k else "1,0" for k in CLASSES)
    (folder / "marks.csv").write_text(f"calm,windy\n{marks}\n")
    numbers, floats, names = map(str, CLASSES), (f"{float(k)}" for k in CLASSES), list(NAMES)
    found = {"numbers.npy": list(numbers), "column.npy": list(floats), "marks.npy": [str(k) for k in CLASSES]}
    return found | dict.fromkeys(("names.npy", "labels.npz", "labels.csv", "marks.csv"), names)


def test_labels_of_a_file_of_their_own(tmp_path: Path) -> None:
    table = str(rows_file(tmp_path))
    for name, labels in label_files(tmp_path).items():
        data = read_data(table, 3, outputs=2, labels_in=str(tmp_path / name))
        assert list(data.labels or ()) == labels, name


def test_init_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    for name in ("scaler.json", "range.json"):
        (tmp_path / name).unlink()
    label_files(tmp_path)
    given = (
        "--data",
        str(rows_file(tmp_path)),
        "--label-file",
        str(tmp_path / "names.npy"),
        "--probe",
        "0",
        "--takes",
        "raw",
    )
    (task,) = compiled(init(capsys, tmp_path, *given), tmp_path)
    assert task.space.outputs == ("calm", "windy")


@pytest.mark.parametrize("on", ["1", "True", "1.0"])
def test_a_column_for_each_class(tmp_path: Path, on: str) -> None:
    off = {"1": "0", "True": "False", "1.0": "0.0"}[on]
    lines = [
        f"{row[0]},{row[1]},{row[2]},{off if k else on},{on if k else off}"
        for row, k in zip(ROWS, CLASSES, strict=True)
    ]
    (tmp_path / "table.csv").write_text("a,b,c,calm,windy\n" + "\n".join(lines) + "\n")
    data = read_data(str(tmp_path / "table.csv"), 3, outputs=2)
    assert (data.first, data.last) == (0, 2)
    assert list(data.labels or ()) == list(NAMES)


def test_two_columns_of_other_numbers_are_no_labels(tmp_path: Path) -> None:
    lines = [f"{row[0]},{row[1]},{row[2]},1,{k}" for row, k in zip(ROWS, CLASSES, strict=True)]
    (tmp_path / "table.csv").write_text("a,b,c,d,e\n" + "\n".join(lines) + "\n")
    with pytest.raises(InputError, match="3 choices of 3 columns"):
        read_data(str(tmp_path / "table.csv"), 3, outputs=2)


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    table = str(rows_file(tmp_path))
    np.save(tmp_path / "few.npy", CLASSES[:5])
    np.save(tmp_path / "objects.npy", NAMES.astype(object))
    np.save(tmp_path / "wide.npy", ROWS)
    np.savez(tmp_path / "two.npz", a=CLASSES, b=CLASSES)
    said = {
        "few.npy": "5 labels for the 60 rows",
        "objects.npy": "loading them would run code",
        "wide.npy": "one label for each row",
        "two.npz": "call the one with labels 'y'",
        "nothing.npy": "no such file",
        ".": "it is a folder",
    }
    for name, words in said.items():
        with pytest.raises(InputError, match=words):
            read_data(table, 3, outputs=2, labels_in=str(tmp_path / name))


def test_a_file_of_labels_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    assert "--label-file has the labels of the rows" in init(capsys, tmp_path, "--label-file", "y.npy", code=2)
