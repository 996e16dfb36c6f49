"""Certificates of models in memory: the file that was read is kept beside them, and audits need nothing else."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from time import time
from typing import Any

import numpy as np
import onnx
import pytest

import eqspec
from eqspec.api.certifying import certifying
from eqspec.audit import Refused, audit
from eqspec.certificates.certifier import ABANDONED
from eqspec.errors import InputError
from eqspec.property import Epsilon, Top1
from eqspec.run.options import Options
from unit.networks.models import model, node

SPEC = """eqspec 1
space s {
  features a, b
  outputs y, z
}
network f = "f.onnx" in s
network g = "g.onnx" in s
region small in s = box { all: -1 .. 1 }
check near { prove g stays within 0.5 of f on small }
"""


def small(scale: float = 1.0, end: str = "Relu") -> onnx.ModelProto:
    """x (1, 2) to two outputs; a Sigmoid at the end has one."""
    first = np.array([[1.0, -0.5], [0.25, 2.0]], np.float32) * np.float32(scale)
    weights: dict[str, Any] = {"w": first, "v": np.array([[2.0, 1.0], [-1.0, 0.5]], np.float32)}
    if end == "Sigmoid":
        weights["v"] = weights["v"][:, :1]
    nodes = [node("MatMul", ["x", "w"], "h"), node("Relu", ["h"], "r"), node("MatMul", ["r", "v"], "m")]
    columns = weights["v"].shape[1]
    return model([*nodes, node(end, ["m"], "y")], weights, [1, 2], output_shape=[1, columns])


def kept(folder: Path) -> dict[str, str]:
    """The networks in a folder by their names, with the sha256 of what they hold."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.onnx")}


def test_the_files_that_were_read_lie_beside_the_certificate(tmp_path: Path) -> None:
    """A certificate is moved with them, and refused without: one of them changed is another network."""
    folder, one, other = tmp_path / "made", small(), small(1.01)
    result = eqspec.verify(one, other, [-1, -1], [1, 1], Epsilon(0.1), certify=folder)
    assert str(result.verdict) == "equivalent"
    (made,) = folder.glob("verify-*.eqcert")
    assert result.certificate == str(made)
    models = kept(folder)
    assert {f"{digest}.onnx" for digest in models.values()} == set(models)
    assert set(models.values()) == {eqspec.as_network(m).sha256 for m in (one, other)}
    moved = folder.rename(tmp_path / "moved")
    assert audit(moved / made.name).verdict == "equivalent"
    (changed,) = [path for path in moved.glob("*.onnx") if path.read_bytes() == other.SerializeToString()]
    changed.write_bytes(one.SerializeToString())
    with pytest.raises(Refused):
        audit(moved / made.name)


def test_certificates_of_other_claims_in_one_folder_stay(tmp_path: Path) -> None:
    """Claims from Python have no names: only a certificate of the same claim takes the place of one."""
    claims = [
        (small(1.01), Epsilon(0.1)),
        (small(1.01), Epsilon(0.2)),
        (small(1.02), Epsilon(0.2)),
    ]
    for _ in range(2):
        found = [eqspec.verify(small(), g, [-1, -1], [1, 1], claim, certify=tmp_path) for g, claim in claims]
        assert {result.certificate for result in found} == set(map(str, tmp_path.glob("*.eqcert")))
        assert len({result.certificate for result in found}) == len(claims)


def test_parts_of_models_that_a_killed_run_left_are_removed(tmp_path: Path) -> None:
    """Long after it; those of a run that may still write them, and models, are not."""
    old, new, model = (tmp_path / name for name in ("a.onnx.0f.part", "b.onnx.0f.part", "c.onnx"))
    for path, age in ((old, 2 * ABANDONED), (new, 60.0), (model, 2 * ABANDONED)):
        path.write_bytes(b"")
        os.utime(path, (time() - age,) * 2)
    eqspec.verify(small(), small(), [-1, -1], [1, 1], Top1(), certify=tmp_path)
    assert (old.exists(), new.exists(), model.exists()) == (False, True, True)


def test_a_file_beside_a_model_and_two_classes_of_one_sigmoid(tmp_path: Path) -> None:
    """A file stays where it is; of a Sigmoid that is read as two classes the completed model is kept."""
    path = tmp_path / "one.onnx"
    onnx.save(small(end="Sigmoid"), path)
    result = eqspec.verify(path, small(-1.0, "Sigmoid"), [-1, -1], [1, 1], Top1(), certify=tmp_path / "made")
    assert (str(result.verdict), result.uncertified) == ("different", None)
    assert len(kept(tmp_path / "made")) == 1
    assert result.certificate is not None
    assert audit(Path(result.certificate)).verdict == "different"


def test_what_has_no_certificate_leaves_no_file(tmp_path: Path) -> None:
    """Nothing is kept of a search that ends undecided; a file that was there before stays."""
    here = tmp_path / f"{eqspec.as_network(small()).sha256}.onnx"
    here.write_bytes(small().SerializeToString())
    far = small(1.01)
    result = eqspec.verify(small(), far, [-1, -1], [1, 1], Epsilon(0.0212), certify=tmp_path, timeout=0)
    assert str(result.verdict) == "unknown"
    assert set(kept(tmp_path)) == {here.name}


def test_a_spec_whose_networks_are_models(tmp_path: Path) -> None:
    """The certificates of `check` are those of `--certify`."""
    spec = tmp_path / "s.eqspec"
    spec.write_text(SPEC)
    report = eqspec.check(spec, networks={"f": small(), "g": small(1.01)}, certify=tmp_path / "made")
    (result,) = report.results
    assert result.certificate is not None
    assert audit(Path(result.certificate)).verdict == "equivalent"


@pytest.mark.parametrize("folder", ["", "a\0b", b"folder", 3, ["folder"]])
def test_what_is_no_folder_is_refused(folder: Any) -> None:
    with pytest.raises(InputError, match="certify = "), certifying(Options(), folder):
        pass
