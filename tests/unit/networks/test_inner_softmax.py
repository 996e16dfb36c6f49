"""A Softmax that other operators follow is not left out, and is said to be there wherever logits are meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

import eqspec
from eqspec.cli import main
from eqspec.errors import InputError, SpecError
from eqspec.networks import read_network
from eqspec.property import Epsilon, Linear, Top1
from unit.networks.models import model, node, save

HALF = np.array([0.5, 1.0, 2.0], np.float32)
WEIGHT = np.eye(3, dtype=np.float32)


def written(folder: Path, *tail: NodeProto, name: str = "f.onnx") -> Path:
    """x, its softmax p, and what stands behind it."""
    nodes = [node("MatMul", ["x", "w"], "z"), node("Softmax", ["z"], "p", axis=1), *tail]
    constants: dict[str, Any] = {"w": WEIGHT, "half": HALF, "low": np.float32(1e-7), "high": np.float32(1)}
    return Path(save(folder, model(nodes, constants, [1, 3]), name))


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ([node("Mul", ["p", "half"], "y")], "Mul"),
        ([node("Clip", ["p", "low", "high"], "y")], "Clip"),
        ([node("Identity", ["p"], "q"), node("Add", ["q", "half"], "r"), node("Flatten", ["r"], "y")], "Add"),
    ],
)
def test_it_is_named_and_no_logits_are_claimed_of_it(tmp_path: Path, tail: list[NodeProto], said: str) -> None:
    path = written(tmp_path, *tail)
    network = read_network(path)
    assert network.stripped is None
    assert network.inner_softmax is not None
    assert "Softmax" in network.inner_softmax
    assert said in network.inner_softmax or "Identity" in network.inner_softmax
    assert any("the outputs are no logits" in note for note in network.notes)
    with pytest.raises(InputError, match="its scores are not logits"):
        eqspec.verify(path, path, [-1] * 3, [1] * 3, Epsilon(0.1), scores="logits")


@pytest.mark.parametrize(
    "tail",
    [
        [node("Identity", ["p"], "y")],
        [node("Log", ["p"], "y")],
        [node("MatMul", ["p", "w"], "y")],
        [node("Relu", ["p"], "y")],
    ],
)
def test_other_ends_are_none_of_these(tmp_path: Path, tail: list[NodeProto]) -> None:
    assert read_network(written(tmp_path, *tail)).inner_softmax is None


@pytest.mark.parametrize(
    "tail",
    [
        [node("Log", ["p"], "y")],
        [node("Clip", ["p", "low", "high"], "q"), node("Log", ["q"], "y")],
        [node("Log", ["p"], "q"), node("Mul", ["q", "half"], "y")],
    ],
)
def test_logarithms_of_probabilities_are_no_logits(tmp_path: Path, tail: list[NodeProto]) -> None:
    """With x = 0.3 everywhere the logits are 0.3 each, and what the file gives are their differences from a sum."""
    path = written(tmp_path, *tail)
    network = read_network(path)
    assert network.stripped is None
    assert str(network.in_logarithm).startswith("Softmax")
    claim = Linear((1, 0, 0), (0, 0, 0), "-0.2")
    with pytest.raises(InputError, match="its scores are not logits"):
        eqspec.verify(path, path, [0] * 3, [1] * 3, claim, scores="logits")
    assert eqspec.verify(path, path, [-1] * 3, [1] * 3, Top1()).verdict is eqspec.Verdict.EQUIVALENT
    spec = tmp_path / "s.eqspec"
    spec.write_text(
        'eqspec 1\nspace s { features a, b, c\n  outputs u, v, w }\nnetwork f = "f.onnx" in s gives logits\n'
        "region r in s = box { all = 0 .. 1 }\ncheck c { prove f stays within 0.1 of f on r }\n"
    )
    with pytest.raises(SpecError, match="E206"):
        eqspec.load(spec)


def test_the_command_line_refuses_logits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path, node("Clip", ["p", "low", "high"], "y")))
    where = ["--lower", "-1", "--upper", "1"]
    assert main(["verify", path, path, *where, "--eps", "0.1", "--logits"]) == 2
    assert "is not left out" in capsys.readouterr().err
    assert main(["verify", path, path, *where, "--confidence", "0.5"]) in (0, 1, 3)
    assert "W316" in capsys.readouterr().err


def test_a_draft_of_such_a_file_beside_one_with_a_softmax_at_its_end(tmp_path: Path) -> None:
    soft = str(written(tmp_path, node("Identity", ["p"], "y"), name="soft.onnx"))
    clipped = str(written(tmp_path, node("Clip", ["p", "low", "high"], "y"), name="clipped.onnx"))
    for pair in ((soft, clipped), (clipped, soft)):
        spec = tmp_path / f"{Path(pair[0]).stem}.eqspec"
        assert main(["init", *pair, "-o", str(spec), "--probe", "0"]) == 0
        eqspec.load(spec)
