"""Everything that reads files which came from somewhere: a good file, ways to damage it, and what a reader may answer.

A reader may refuse a file with one of our own errors, which say what is wrong. Anything else is a bug.
"""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

import eqspec
from eqspec.audit import Refused, audit
from eqspec.audit.reading import File, Number
from eqspec.draft.data import read_data
from eqspec.draft.scalings import beside
from eqspec.errors import EqspecError
from eqspec.networks import Dequantised, read_network
from eqspec.networks.operators import OPERATORS, QUANTISING
from eqspec.property import Confidence
from eqspec.vnnlib.answering import answer
from eqspec.vnnlib.reading import read_text
from fuzz.mutating import Random, damaged_bytes, damaged_model, damaged_text, one
from small_tasks import space, task
from unit.certificates.files import write
from unit.certificates.proofs import certify
from unit.networks import test_operators
from unit.networks.firmware.written import Activation, Dense, Fixed, Written
from unit.networks.models import model, node
from unit.networks.test_dequantised import CASES as INTEGER_ENDS
from unit.networks.test_nnet import GOOD as NNET

REFUSALS = (EqspecError, Refused)

SPEC = """eqspec 1
space s {{
  features  {features}
  normalise zscore {scaler}
  outputs   a, b
}}
network f = "f.onnx" in s
network g = "g.onnx" in s
region near(k) in s = {region}
check c {{ prove g stays within 1/2 of f in l1  on near(k)  for k in [0.5, 1]  expect equivalent }}
"""
INLINE = ("a, b [ft]", "mean [1, 2] std [0.5, 1e-1]", "box { all within k sigma }")
PLAIN = SPEC.format(features=INLINE[0], scaler=INLINE[1], region=INLINE[2])
VNNLIB = """; a property
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(declare-const Y_1 Real)
(assert (>= X_0 -1.0))
(assert (<= X_0 1))
(assert (and (>= X_1 0) (<= X_1 0.5)))
(assert (or (and (<= Y_0 Y_1) (>= Y_0 3.5)) (and (>= (- Y_1 Y_0) 0.25))))
"""


@dataclass(frozen=True)
class Reader:
    """`damage` makes the content of the file `name` from a random generator; `read` reads it in its folder."""

    name: str
    damage: Callable[[Random], bytes]
    read: Callable[[Path], object]


@cache
def models() -> list[onnx.ModelProto]:
    """One for every operator, of old and new opsets."""
    return [model(*case(opset), opset=opset) for case in test_operators.CASES.values() for opset in (6, 9, 13, 17)]


def prepare(folder: Path) -> None:
    """Two networks that specs in the folder name, and two that the certificate names."""
    for name, content in certificate()[1].items():
        (folder / name).write_bytes(content)
    for name in "fg":
        proto = model([node("MatMul", ["x", "w"], "y")], {"w": np.ones((2, 2), np.float32)}, [1, 2])
        (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())


@cache
def certificate() -> tuple[bytes, dict[str, bytes]]:
    """What is in a certificate with cuts and rounds, and in the files of its networks."""
    rng = np.random.default_rng(5)
    first = [(rng.normal(size=(m, n)) / np.sqrt(n), 0.3 * rng.normal(size=m)) for n, m in ((6, 8), (8, 8), (8, 3))]
    second = [(w + 0.05 * rng.normal(size=w.shape), b) for w, b in first]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, other = write(folder / "one.onnx", first), write(folder / "other.onnx", second)
        low, high = [Fraction(-1)] * 6, [Fraction(1)] * 6
        claim = task(one, other, Confidence(Fraction(8, 10)), low, high, space=space(6, 3))
        made = certify(claim, folder, lp=False)[1]
        assert made is not None
        assert made.reason is None
        assert made.rounds > 0
        content = gzip.decompress(made.path.read_bytes()).replace(str(folder).encode() + b"/", b"")
        return content, {path.name: path.read_bytes() for path in folder.glob("*.onnx")}


def _certificate(rng: Random) -> bytes:
    content = certificate()[0]
    if rng.random() < 0.3:
        return damaged_bytes(rng, gzip.compress(content, 1))
    at = len(content) if rng.random() < 0.5 else content.index(b"\n") + 2000
    return gzip.compress(damaged_bytes(rng, content[:at]) + content[at:], 1)


def _audited(path: Path) -> object:
    """An audit that may take a part of the time for a file; what it refuses, it refuses in words of its own."""
    try:
        return audit(path, seconds=1)
    except Refused as reason:
        if str(reason).startswith("this is not a certificate: "):  # and then the name of an exception
            raise RuntimeError(reason) from None
        raise


def _graph(rng: Random) -> bytes:
    while True:
        try:
            content: bytes = damaged_model(rng, one(rng, models()), list(OPERATORS)).SerializeToString()
        except (ValueError, TypeError):  # protobuf itself does not take it
            continue
        return content


def _integer_graph(rng: Random) -> bytes:
    """One with integers at its ends, some of whose parts are damaged."""
    while True:
        try:
            proto = one(rng, [proto for proto, _ in INTEGER_ENDS.values()])
            content: bytes = damaged_model(rng, proto, list(QUANTISING)).SerializeToString()
        except (ValueError, TypeError):  # protobuf itself does not take it
            continue
        return content


def _bytes(rng: Random) -> bytes:
    return damaged_bytes(rng, one(rng, models()).SerializeToString())


def _spec_with(part: str, suffix: str, path: Path) -> object:
    features, scaler, region = INLINE
    match part:
        case "scaler":
            scaler = f'from "{path.name}"'
        case "rows":
            region = f'ball linf k around rows 0..1 of "{path.name}"'
        case _:
            features = f'from "{path.name}"'
    assert path.suffix == suffix
    text = SPEC.format(features=features, scaler=scaler, region=region)
    return eqspec.loads(text, directory=path.parent)


def _table(path: Path) -> object:
    """As `eqspec init` and `eqspec verify` read it, for networks of two inputs, with the scalers that lie beside it."""
    data = read_data(str(path), 2)
    return beside([str(path)], data.features)


def _json(rng: Random) -> bytes:
    return damaged_text(rng, json.dumps({"mean_": [1.5, 2], "scale_": [0.25, 1e-3], "n": 3})).encode("utf-8", "replace")


def _csv(rng: Random) -> bytes:
    text = one(rng, ("mean,std\n1.5,0.25\n2,1e-3\n", "a [m],b\n1,2\n3,4\n5,-1e2\n", "1;2\n3;4\n"))
    return damaged_text(rng, text).encode("utf-8", "surrogatepass" if rng.random() < 0.1 else "replace")


def _archive(rng: Random, **arrays: Any) -> bytes:
    made = io.BytesIO()
    np.savez(made, **arrays)
    return damaged_bytes(rng, made.getvalue())


def _array(rng: Random) -> bytes:
    made = io.BytesIO()
    arrays: list[NDArray[Any]] = [np.ones((3, 2)), np.array([[1, 2], [3, 4]], np.int8), np.array([["1", "2"]] * 2)]
    np.save(made, one(rng, arrays))
    return damaged_bytes(rng, made.getvalue())


def _text_of(whole: str, rng: Random) -> bytes:
    if rng.random() < 0.2:
        return damaged_bytes(rng, whole.encode())
    return damaged_text(rng, whole).encode("utf-8", "replace")


def _read_by_the_auditor(path: Path) -> object:
    """The auditor's own reader, of a network of as many inputs as its file declares, as far as that can be."""
    content = path.read_bytes()
    try:
        declared = [
            d.dim_value or 1 for d in onnx.load_model_from_string(content).graph.input[0].type.tensor_type.shape.dim
        ]
    except Exception:  # no model, or no input
        declared = []
    size = prod(declared[1:]) or 1
    size = size if 0 < size <= 100_000 else 1
    one, none = ((Fraction(c),) * size for c in (1, 0))
    return File(str(path), content, Number, one, none, (0.0,) * size, False, 2).steps()


FIRMWARE = Written(
    2,
    Fixed(6, 3),
    (
        Dense(2, [Fraction(n, 8) for n in (3, -5, 7, 1)], [Fraction(1, 4)] * 2, Fixed(6, 2), Fixed(9, 4), Fixed(9, 4)),
        Activation("relu", Fixed(7, 3, False, "AP_RND", "AP_SAT")),
        Activation("leaky_relu", Fixed(6, 3), Fraction(1, 3)),
    ),
)


@cache
def firmware() -> dict[str, bytes]:
    """The files of a project of hls4ml."""
    with tempfile.TemporaryDirectory() as name:
        folder = FIRMWARE.write(Path(name) / "project")
        return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.*"))}


def _firmware(rng: Random) -> bytes:
    """One file of a project, behind its name."""
    name = one(rng, list(firmware()))
    return name.encode() + b"\n" + _text_of(firmware()[name].decode(), rng)


def _project_with(path: Path) -> object:
    name, _, content = path.read_bytes().partition(b"\n")
    with tempfile.TemporaryDirectory() as folder:
        for file, whole in (firmware() | {name.decode(): content}).items():
            place = Path(folder) / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(whole)
        return read_network(folder)


READERS: dict[str, Reader] = {
    "certificate": Reader("c.eqcert", _certificate, _audited),
    "onnx graphs": Reader("n.onnx", _graph, read_network),
    "dequantised graphs": Reader("n.onnx", _integer_graph, partial(read_network, dequantised=Dequantised())),
    "audited graphs": Reader("n.onnx", _graph, _read_by_the_auditor),
    "onnx bytes": Reader(
        "n.onnx", lambda rng: damaged_bytes(rng, one(rng, models()).SerializeToString()), read_network
    ),
    "nnet": Reader("n.nnet", partial(_text_of, NNET), read_network),
    "spec": Reader("s.eqspec", partial(_text_of, PLAIN), eqspec.load),
    "scaler json": Reader("t.json", _json, partial(_spec_with, "scaler", ".json")),
    "scaler csv": Reader("t.csv", _csv, partial(_spec_with, "scaler", ".csv")),
    "scaler npz": Reader(
        "t.npz",
        lambda rng: _archive(rng, mean=np.array([1.5, 2]), std=np.array([0.25, 1])),
        partial(_spec_with, "scaler", ".npz"),
    ),
    "rows csv": Reader("t.csv", _csv, partial(_spec_with, "rows", ".csv")),
    "rows npy": Reader("t.npy", _array, partial(_spec_with, "rows", ".npy")),
    "rows npz": Reader("t.npz", lambda rng: _archive(rng, x=np.ones((3, 2))), partial(_spec_with, "rows", ".npz")),
    "header csv": Reader("t.csv", _csv, partial(_spec_with, "header", ".csv")),
    "table csv": Reader("t.csv", _csv, _table),
    "table npy": Reader("t.npy", _array, _table),
    "table npz": Reader("t.npz", lambda rng: _archive(rng, x=np.ones((3, 2)), y=np.array([0, 1, 1])), _table),
    "vnnlib answered": Reader(
        "q.vnnlib",
        partial(_text_of, VNNLIB),
        lambda path: answer(path, {"f": path.parent / "f.onnx"}, timeout=5, threads=1),
    ),
    "vnnlib": Reader(
        "p.vnnlib", partial(_text_of, VNNLIB), lambda path: read_text(path.read_text("utf-8", "replace"), path.name)
    ),
    "firmware": Reader("firmware.txt", _firmware, _project_with),
}
