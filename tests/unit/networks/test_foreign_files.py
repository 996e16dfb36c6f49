"""A file that is no ONNX model is called what it is, with the way to export it."""

from __future__ import annotations

import gzip
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from eqspec.cli import main
from eqspec.errors import NetworkError
from eqspec.networks import read_network


def archive(path: Path, *names: str) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, b"content")


def files(folder: Path) -> dict[str, tuple[str, str]]:
    """What is written, and what of the message says what it is and what helps."""
    archive(folder / "model.pt", "model/data.pkl", "model/version")
    archive(folder / "model.keras", "metadata.json", "config.json", "model.weights.h5")
    archive(folder / "models.zip", "readme.txt")
    np.savez(folder / "rows.npz", rows=np.zeros((2, 3)))
    np.save(folder / "rows.npy", np.zeros((2, 3)))
    (folder / "model.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    (folder / "model.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(100))
    (folder / "model.ort").write_bytes(b"\x1c\0\0\0ORTM" + bytes(100))
    (folder / "model.pkl").write_bytes(pickle.dumps({"model": [1.5, 2.5]}))
    (folder / "model.safetensors").write_bytes((20).to_bytes(8, "little") + b'{"a":{"dtype":"F32"}' + bytes(20))
    (folder / "model.onnx").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (folder / "rows.csv").write_text("a,b\n1,2\n")
    (folder / "my.eqspec").write_text("eqspec 1\n")
    (folder / "full.onnx").write_bytes(b"anything")
    (folder / "full.onnx.data").write_bytes(b"\xff" * 64)
    (folder / "model.onnx.gz").write_bytes(gzip.compress(b"anything"))
    (folder / "catboost.cbm").write_bytes(b"CBM1" + bytes(50))
    (folder / "lightgbm.txt").write_text("tree\nversion=v4\nnum_class=1\n")
    (folder / "xgboost.json").write_text('{"learner":{"attributes":{}}}')
    (folder / "xgboost.ubj").write_bytes(b"{L" + (7).to_bytes(8, "big") + b"learner{L" + bytes(30))
    (folder / "model.pte").write_bytes(b"\x1c\0\0\0ET12" + bytes(100))
    (folder / "model.gguf").write_bytes(b"GGUF" + bytes(100))
    (folder / "model.xml").write_text('<?xml version="1.0"?>\n<net name="Model0" version="11">\n')
    (folder / "nnef").mkdir()
    (folder / "nnef" / "graph.nnef").write_text("version 1.0;\n\ngraph net(x) -> (y) {}\n")
    trees = ("a model of trees", "hummingbird")
    return {
        "catboost.cbm": trees,
        "lightgbm.txt": trees,
        "xgboost.json": trees,
        "xgboost.ubj": trees,
        "model.pte": ("a program of ExecuTorch", "torch.onnx.export("),
        "model.gguf": ("weights in GGUF", "torch.onnx.export("),
        "model.xml": ("a model of OpenVINO", "ONNX file that it was made from"),
        "nnef": ("a model in NNEF", "nnef_tools.convert"),
        "nnef/graph.nnef": ("a graph in NNEF", "nnef_tools.convert"),
        "model.onnx.gz": ("a file that gzip compressed", "unpack it"),
        "model.pt": ("a file of torch.save", "torch.onnx.export("),
        "model.keras": ("a model of Keras", ".export('model.onnx', format='onnx')"),
        "models.zip": ("an archive", "unpack it"),
        "rows.npz": ("arrays of numpy", "--data"),
        "rows.npy": ("an array of numpy", "--data"),
        "model.h5": ("an HDF5 file", "tf2onnx"),
        "model.tflite": ("a TensorFlow Lite model", "--tflite model.tflite"),
        "model.ort": ("a model in onnxruntime's own format", "ONNX file that it was made from"),
        "model.pkl": ("a pickle of Python", "skl2onnx"),
        "model.safetensors": ("weights in safetensors", "torch.onnx.export("),
        "model.onnx": ("a pointer of Git LFS", "git lfs pull"),
        "rows.csv": ("a text file", "--data"),
        "my.eqspec": ("a spec", "eqspec check"),
        "full.onnx.data": ("the weights of full.onnx", "full.onnx"),
    }


def test_what_it_is_and_how_to_export_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, (what, fix) in files(tmp_path).items():
        with pytest.raises(NetworkError) as found:
            read_network(tmp_path / name)
        assert what in found.value.message, name
        assert fix in str(found.value.fix), name
        assert main(["inspect", str(tmp_path / name)]) == 2
        assert what in capsys.readouterr().err, name


def test_a_folder_of_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(NetworkError, match="--saved-model"):
        read_network(tmp_path)


def test_what_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(NetworkError, match="not an ONNX model") as found:
        read_network(tmp_path / "broken.onnx")
    assert "copied completely" in str(found.value.fix)
