"""Networks whose weights lie in files beside them, as torch.onnx writes them: certificates, and hostile places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import onnx
import pytest
from onnx import StringStringEntryProto, TensorProto

from eqspec.audit import Refused, audit
from eqspec.audit.opening import whole
from eqspec.certificates import Auditor
from eqspec.certificates.parts import Sheet, check
from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.task import Task
from unit.certificates.proofs import certify, close


def apart(path: Path, location: str = "weights.data", *, one_file: bool = True) -> Path:
    """The same network with its weights beside it, in one file or in one for each."""
    proto = onnx.load(path)
    onnx.save(
        proto, path, save_as_external_data=True, all_tensors_to_one_file=one_file, location=location, size_threshold=0
    )
    return path


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A pair with weights beside both files, under names that are alike."""
    made = close(3, tmp_path, Epsilon(Fraction(3, 10)), [3, 6, 3], Fraction(1, 2), 0.01)
    places = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        places.append(apart((tmp_path / f"{name}.onnx").rename(folder / "n.onnx"), one_file=name == "a"))
    return replace(made, reference=read_network(places[0]), candidate=read_network(places[1]))


def test_a_certificate_covers_the_files_beside(task: Task, tmp_path: Path) -> None:
    _, made = certify(task, tmp_path)
    assert made is not None
    assert made.reason is None
    assert audit(made.path).verdict == "equivalent"
    data = tmp_path / "a" / "weights.data"
    stored = bytearray(data.read_bytes())
    stored[3] ^= 1
    data.write_bytes(bytes(stored))
    with pytest.raises(Refused, match="not the file that the proof is about"):
        audit(made.path)
    data.unlink()
    with pytest.raises(Refused, match=r"cannot read .*weights\.data"):
        audit(made.path)


def test_files_beside_travel_with_their_networks(task: Task, tmp_path: Path) -> None:
    """Both have a file of one name, which on another machine lie in one folder."""
    _, made = certify(task, tmp_path)
    assert made is not None
    with Auditor() as auditor:
        answer = auditor.ask(made.path, None, 60)
    sheet = Sheet.of(made.path, answer, None)
    assert len(sheet.networks) > 2
    for name in ("a", "b"):
        (tmp_path / name).rename(tmp_path / f"{name} elsewhere")
    assert answer.leaves
    found = check(sheet, (0, answer.leaves, answer.leaves), 60)
    assert (found.refused, found.part) == (None, (0, answer.leaves, answer.leaves))


def test_the_file_is_the_one_that_was_saved_whole(tmp_path: Path) -> None:
    close(3, tmp_path, Epsilon(Fraction(3, 10)), [3, 6, 3], Fraction(1, 2), 0.01)
    path = tmp_path / "a.onnx"
    before = path.read_bytes()
    assert whole(path, before) == (before, read_network(path).sha256, ())
    content, sha256, files = whole(apart(path), path.read_bytes())
    assert sha256 == read_network(path).sha256
    assert [name for name, _ in files] == ["weights.data"]
    assert onnx.load_model_from_string(content).graph == onnx.load_model_from_string(before).graph


def said(tensor: TensorProto, **places: str) -> None:
    """Change, or with "" leave out, what is said of the place of a tensor."""
    kept = {entry.key: entry.value for entry in tensor.external_data} | places
    del tensor.external_data[:]
    tensor.external_data.extend(StringStringEntryProto(key=k, value=v) for k, v in kept.items() if v)


HOSTILE: dict[str, tuple[Callable[[TensorProto], object], str]] = {
    "outside": (lambda t: said(t, location="../outside.data"), "not beside it"),
    "outside, absolute": (lambda t: said(t, location="/etc/hostname"), "not beside it"),
    "nowhere": (lambda t: said(t, location=""), "not beside it"),
    "no name": (lambda t: said(t, location="a\0b"), "not beside it"),
    "a folder": (lambda t: said(t, location="folder"), "a folder"),
    "missing": (lambda t: said(t, location="missing.data"), "cannot read"),
    "behind the end": (lambda t: said(t, offset="100000"), "in one way"),
    "beyond the end": (lambda t: said(t, length="100000"), "in one way"),
    "no number": (lambda t: said(t, offset="-8"), "no number"),
    "digits of another script": (lambda t: said(t, offset="٨"), "no number"),
    "a huge number": (lambda t: said(t, offset="9" * 5000), "no number"),
    "a key that nobody knows": (lambda t: said(t, stride="2"), "in one way"),
    "twice": (lambda t: t.external_data.append(StringStringEntryProto(key="offset", value="0")), "in one way"),
    "inside as well": (lambda t: setattr(t, "raw_data", b"12345678"), "in one way"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_place_that_is_hostile_is_refused(kind: str, tmp_path: Path) -> None:
    change, reason = HOSTILE[kind]
    close(3, tmp_path, Epsilon(Fraction(3, 10)), [3, 6, 3], Fraction(1, 2), 0.01)
    path = apart(tmp_path / "a.onnx")
    (tmp_path / "folder").mkdir()
    proto = onnx.load(path, load_external_data=False)
    change(proto.graph.initializer[0])
    with pytest.raises(Refused, match=reason):
        whole(path, proto.SerializeToString())


def test_bytes_that_many_weights_share_do_not_fill_the_memory(tmp_path: Path) -> None:
    """Forty weights that are the same two megabytes."""
    close(3, tmp_path, Epsilon(Fraction(3, 10)), [3, 6, 3], Fraction(1, 2), 0.01)
    proto = onnx.load(apart(tmp_path / "a.onnx"), load_external_data=False)
    (tmp_path / "large.data").write_bytes(bytes(1 << 21))
    said(proto.graph.initializer[0], location="large.data", offset="", length="")
    proto.graph.initializer.extend([proto.graph.initializer[0]] * 40)
    with pytest.raises(Refused, match="more weights in other files"):
        whole(tmp_path / "a.onnx", proto.SerializeToString())
