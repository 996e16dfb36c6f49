"""What a file is that is no ONNX model, by what stands in it, and how its owner gets an ONNX file of it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from eqspec.errors import NetworkError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.readers.onnx_names import MODEL_FIX, TREES_FIX

_TORCH = "in Python, torch.onnx.export(model, (example,), 'model.onnx', dynamo=True)"
_KERAS = "in Python, keras.models.load_model(...).export('model.onnx', format='onnx'), or tf2onnx.convert.from_keras"
_SKLEARN = "in Python, skl2onnx.to_onnx(model, rows[:1].astype('float32')).SerializeToString()"
_SAVED_MODEL = "python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"
_NNEF = "convert it: python -m nnef_tools.convert --input-format nnef --output-format onnx --input-model MODEL"
_HEAD = 4096


@dataclass(frozen=True)
class Foreign:
    """The kind of a file that is not a network, and what to give instead."""

    what: str
    fix: str


def refusal(path: str, content: bytes, cause: str, fix: str = MODEL_FIX) -> NetworkError:
    """Why the file is not read: because it is something else that is known, or else for the cause, with its fix."""
    if (found := kind_of(path, content)) is not None:
        return NetworkError(path, f"{found.what}, not an ONNX model", fix=found.fix)
    return NetworkError(path, cause, fix=fix)


def kind_of(path: str, content: bytes) -> Foreign | None:
    """What the file is, if that is one of the things that are given in place of an ONNX file by mistake."""
    name, head = Path(path), content[:_HEAD]
    if head.startswith(b"version https://git-lfs"):
        return Foreign("a pointer of Git LFS, and not the file itself", "run 'git lfs pull' in the repository")
    if head.startswith(b"\x89HDF\r\n\x1a\n"):
        return Foreign("an HDF5 file, as Keras saves models and weights", f"export the model as ONNX: {_KERAS}")
    if head[4:8] == b"TFL3":
        fix = f"convert it: python -m tf2onnx.convert --tflite {name.name} --output {name.stem}.onnx"
        return Foreign("a TensorFlow Lite model", fix)
    if head[4:6] == b"ET" and head[6:8].isdigit():
        return Foreign("a program of ExecuTorch", f"export the model that it was made of: {_TORCH}")
    if head.startswith(b"GGUF"):
        return Foreign("weights in GGUF, without a model", f"load them into the model, then, {_TORCH}")
    if head[4:8] == b"ORTM":
        return Foreign("a model in onnxruntime's own format", "give the ONNX file that it was made from")
    if head.startswith(b"PK\x03\x04"):
        return _archive(content)
    if head.startswith(b"\x1f\x8b"):
        fix = "unpack it (gunzip, or tar -xzf), and give the ONNX file, or the folder of hls4ml"
        return Foreign("a file that gzip compressed", fix)
    if head.startswith((b"CBM1", b"tree\nversion=")) or _of_xgboost(head):
        return Foreign("a model of trees (CatBoost, LightGBM or XGBoost)", TREES_FIX)
    if head.startswith(b"\x93NUMPY"):
        return Foreign("an array of numpy", "give the network here, and a table of inputs with --data")
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Foreign(
            "a pickle of Python", f"export the model as ONNX: of scikit-learn, {_SKLEARN}; of PyTorch, {_TORCH}"
        )
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < len(content):
        return Foreign("weights in safetensors, without a model", f"load them into the model, then, {_TORCH}")
    if name.suffix == ".data" and (model := name.with_suffix("")).is_file():
        return Foreign(f"the weights of {model.name}", f"give {model}, which names this file by itself")
    return _text(name, head)


def _of_xgboost(head: bytes) -> bool:
    """XGBoost writes one object of JSON or UBJSON, whose first key is "learner"."""
    start = b"".join(head[:40].split())
    return start.startswith(b'{"learner":{') or (
        head[:1] == b"{" and head[2:20].lstrip(b"\0\x07").startswith(b"learner{")
    )


def of_folder(path: str) -> Foreign | None:
    """The same of a folder."""
    if (Path(path) / "saved_model.pb").is_file():
        return Foreign("a SavedModel of TensorFlow", f"convert it: {_SAVED_MODEL.replace('FOLDER', path)}")
    if (Path(path) / "graph.nnef").is_file():
        return Foreign("a model in NNEF", _NNEF.replace("MODEL", path))
    return None


def _archive(content: bytes) -> Foreign | None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return None
    ends = {name.rpartition("/")[2] for name in names}
    if "data.pkl" in ends:
        fix = f"build the model, load its state where the file holds weights alone, and, {_TORCH}"
        return Foreign("a file of torch.save", fix)
    if "model.weights.h5" in ends:
        return Foreign("a model of Keras", f"export it as ONNX: {_KERAS}")
    if names and all(name.endswith(".npy") for name in names):
        return Foreign("arrays of numpy", "give the network here, and a table of inputs with --data")
    return Foreign("an archive", "unpack it, and give the ONNX file")


def _text(name: Path, head: bytes) -> Foreign | None:
    """Text is told by what is never in the first bytes of a model: no byte below a tab."""
    if not head or min(head) < 9:
        return None
    if name.suffix == ".eqspec" or head.lstrip().startswith(b"eqspec "):
        return Foreign("a spec", f"run 'eqspec check {name}', which names its networks by itself")
    if name.suffix == ".nnef":
        return Foreign("a graph in NNEF", _NNEF.replace("MODEL", str(name.parent)))
    if name.suffix == ".xml" and b"<net " in head:
        return Foreign("a model of OpenVINO", "give the ONNX file that it was made from")
    if name.suffix.lower() in (".csv", ".tsv", ".txt", ".dat"):
        return Foreign("a text file", "give the network here, and a table of inputs with --data")
    return None
