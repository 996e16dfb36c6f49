"""A comparison with onnxruntime that is kept is not made again, and hides no other reading, file or runtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from eqspec.cli import main
from eqspec.networks import agreed, agreement, read_network
from eqspec.networks.network import Network
from eqspec.networks.operators import OPERATORS
from eqspec.networks.readers.network_file import comparison
from eqspec.networks.session import CannotRunError, Session
from eqspec.run import kept_agreements
from small_specs import write_onnx, write_spec
from unit.networks.misreading import misread_gemm
from unit.networks.models import model, node, save


class Kept(set[str]):
    """Keys in memory."""

    def before(self, key: str) -> bool:
        return key in self

    def keep(self, key: str) -> None:
        self.add(key)


def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that onnxruntime loads from now on, as if in a new process."""
    made: list[str] = []

    def counted(network: Network) -> Session:
        made.append(Path(network.source).name)
        return Session(network)

    monkeypatch.setattr(agreement, "_agreed", {})
    monkeypatch.setattr(agreement, "Session", counted)
    return made


def checked(folder: Path) -> int:
    return main(["check", str(folder / "pair.eqspec"), "--cache", str(folder / "cache")])


def test_a_second_run_does_not_compare_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_spec(tmp_path)
    made = compared(monkeypatch)
    first = checked(tmp_path)
    assert {"full.onnx", "pruned.onnx"} <= set(made)
    made = compared(monkeypatch)
    assert checked(tmp_path) == first
    assert made == []


@pytest.mark.parametrize("command", ["check", "verify", "lint"])
def test_other_commands_keep_what_they_compare(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_spec(tmp_path)
    monkeypatch.setenv("EQSPEC_CACHE", str(tmp_path / "cache"))
    pair = [str(tmp_path / name) for name in ("full.onnx", "pruned.onnx")]
    asked = ["verify", *pair, "--top1", "--lower", "-1", "--upper", "1", "--takes", "raw"]
    words = asked if command == "verify" else [command, str(tmp_path / "pair.eqspec")]
    made = compared(monkeypatch)
    first = main(words)
    assert {"full.onnx", "pruned.onnx"} <= set(made), "verify reads the same files again, compared once"
    assert first in (0, 1)
    made = compared(monkeypatch)
    assert main(words) == first
    assert made == []


@pytest.mark.parametrize(
    "change",
    [
        lambda folder, patch: misread_gemm(patch),
        lambda folder, patch: patch.setattr(kept_agreements, "build", lambda: "another"),
        lambda folder, patch: patch.setattr(kept_agreements, "runtime_files", lambda: "another"),
        lambda folder, patch: patch.setattr(kept_agreements, "runtime_files", lambda: None),
        lambda folder, patch: write_onnx(folder / "full.onnx", [[1.0, 2.0], [2.0, 1.5]], [0.5, 0.25]),
        lambda folder, patch: [file.write_bytes(b"x") for file in folder.rglob("*.agreement")],
    ],
    ids=["reading", "eqspec", "onnxruntime", "no files", "file", "damaged"],
)
def test_what_is_another_is_compared(
    change: Callable[[Path, pytest.MonkeyPatch], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_spec(tmp_path)
    checked(tmp_path)
    made = compared(monkeypatch)
    change(tmp_path, monkeypatch)
    wrong = checked(tmp_path) == 2
    assert "full.onnx" in made
    assert wrong == (OPERATORS["Gemm"].__name__ == "wrong")


def test_nothing_is_kept_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_spec(tmp_path)
    checked(tmp_path)
    made = compared(monkeypatch)
    main(["check", str(tmp_path / "pair.eqspec"), "--no-cache"])
    assert {"full.onnx", "pruned.onnx"} <= set(made)


def refusing(*_: object) -> Session:
    raise CannotRunError("not today")


@pytest.mark.parametrize("why", ["time", "cannot load", "cannot run", "cannot run for long"])
def test_a_comparison_that_was_cut_short_is_not_kept(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept = write_onnx(tmp_path / "f.onnx", [[1.0, 2.0]], [0.5]), Kept()
    compared(monkeypatch)
    if why == "time":
        monkeypatch.setattr(agreement, "SECONDS", 0.0)
    elif why == "cannot load":
        monkeypatch.setattr(agreement, "Session", refusing)
    else:
        right, left = Session.answers, [9 if why == "cannot run for long" else 0]

        def some(self: Session, point: Any) -> Any:
            left[0] -= 1
            return refusing() if left[0] < 0 else right(self, point)

        monkeypatch.setattr(Session, "answers", some)
    with agreed.kept_in(kept):
        network = read_network(path)
        comparison(network).within(np.zeros(2), np.ones(2))
    assert not kept
    if why == "cannot run for long":
        left[0] = 9
        with agreed.kept_in(kept):
            comparison(network).within(np.zeros(2), np.ones(2))
        assert not kept


def test_boxes_are_kept_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network, kept = read_network(write_onnx(tmp_path / "f.onnx", [[1.0, 2.0]], [0.5])), Kept()
    made = compared(monkeypatch)
    for count, high in enumerate((1.0, 1.0, 2.0)):
        with agreed.kept_in(kept):
            assert comparison(network).within(np.zeros(2), np.full(2, high)) == 0
        assert len(made) == (1, 1, 2)[count]


def test_a_box_without_numbers_is_not_kept(tmp_path: Path) -> None:
    """Infinities in float32 are told about in every run."""
    proto = model(
        [node("Mul", ["x", "a"], "h"), node("Mul", ["h", "a"], "y")], {"a": np.array(1e30, np.float32)}, [1, 2]
    )
    network, kept = read_network(save(tmp_path, proto)), Kept()
    for _ in range(2):
        with agreed.kept_in(kept):
            assert comparison(network).within(np.ones(2), np.full(2, 2.0)) == agreement._IN_BOX
    assert not kept


def test_where_anything_is_far_off_it_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without radii some points may be far off; what they count for later boxes is not lost."""
    nodes = [node("Cast", ["x"], "i", to=TensorProto.INT32), node("Cast", ["i"], "y", to=TensorProto.FLOAT)]
    network, kept = read_network(save(tmp_path, model(nodes, {}, [1, 2]))), Kept()
    one = comparison(network)
    monkeypatch.setattr(agreement.Comparison, "_judge_without_radii", lambda self, *_: self._far.append(True))
    monkeypatch.setattr(agreement, "_excess", lambda steps, points, found, *_: (np.ones_like(found), found, found))
    one._rounded = ()
    with agreed.kept_in(kept):
        one.within(np.zeros(2), np.ones(2))
    assert not kept
