"""Files that leave sizes open, from the text of a spec to verdicts, witnesses and certificates, and as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from jsonschema import Draft202012Validator

import eqspec
from eqspec.audit import Audit, Refused, audit
from eqspec.certificates import Answer
from eqspec.certificates.task_binding import Coverage, UnboundError
from eqspec.cli import main
from eqspec.cli.tools.schema import text as schema_text
from eqspec.errors import InputError, SpecError
from eqspec.report.statement import statement
from eqspec.tasks import serialisation
from unit.certificates.proofs import certify, pack, unpack
from unit.networks.models import model
from unit.networks.test_open_sizes import IMAGE, KERNEL

SPEC = """eqspec 1
space s { SIZES  outputs 2 }
network f = "f.onnx" in s
network g = "g.onnx" in s
region near in s = box { all: 0 .. 1 }
check close { prove g stays within EPS of f  on near }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two networks of images whose height and width are open."""
    for name, kernel in (("f", KERNEL), ("g", np.round(KERNEL * 64) / 64)):
        made = model(IMAGE, {"k": kernel}, ("batch", 3, "height", "width"), output_shape=("batch", 2, 1, 1))
        onnx.save(made, tmp_path / f"{name}.onnx")
    return tmp_path


def spec(folder: Path, sizes: str = "shape [3, 1, 2]", eps: str = "0.5") -> eqspec.Spec:
    return eqspec.loads(SPEC.replace("SIZES", sizes).replace("EPS", eps), directory=folder)


def test_the_shape_of_the_space_gives_the_sizes(folder: Path) -> None:
    (task,) = spec(folder).tasks
    assert task.reference.fixed == task.candidate.fixed == (("x", (1, 3, 1, 2)),)
    assert "input 'x' as [1, 3, 1, 2]" in str(statement(task))
    data = serialisation.to_json(task)
    Draft202012Validator(json.loads(schema_text("task"))).validate(data)
    again = serialisation.from_json(data)
    assert (again.reference.fixed, serialisation.digest(again)) == (task.reference.fixed, serialisation.digest(task))
    (other,) = spec(folder, "shape [3, 2, 1]").tasks
    assert serialisation.digest(other) != serialisation.digest(task)
    with pytest.raises(InputError, match="inputs and"):
        serialisation.from_json({**data, "reference": {**data["reference"], "shapes": {"x": [1, 3, 2, 2]}}})
    with pytest.raises(SpecError, match=r"several of its sizes are open"):
        spec(folder, "features a, b, c, d, e, f")
    assert spec(folder, "features a, b, c, d, e, f  shape [3, 1, 2]").tasks[0].reference.fixed == task.reference.fixed


def answered(checked: Audit) -> Answer:
    return Answer(None, checked.verdict, checked.claim, question=checked.question, labels=checked.labels)


def test_witnesses_and_certificates_are_about_that_shape(folder: Path, tmp_path: Path) -> None:
    result = spec(folder, eps="0.0001").check(cache=False).results[0]
    assert str(result.verdict) == "different"
    assert result.witness is not None
    assert result.witness.onnxruntime_confirms
    (task,), (turned,) = spec(folder).tasks, spec(folder, "shape [3, 2, 1]").tasks
    _, made = certify(task, tmp_path)
    assert made is not None
    assert made.path is not None, made
    found = audit(made.path)
    assert found.verdict == "equivalent"
    assert any('its input "x" as [1, 3, 1, 2]' in text for _, text in found.said)
    assert Coverage([task], []).bind(answered(found)) == ["close"]
    with pytest.raises(UnboundError, match="inputs of shape"):
        Coverage([turned], []).bind(answered(found))
    parts = unpack(made.path)
    for sizes in ([1, 3, 1, 3], [1, 2, 1, 3], [3, 1, 2], [1, 3, 1, 2, 1], [1, 3, 1, True], [1, 3, -1, -2], []):
        spoiled = parts.copy()
        spoiled.header["task"]["reference"]["shapes"] = {"x": sizes}
        with pytest.raises(Refused):
            audit(pack(tmp_path / "spoiled.cert", spoiled))


def test_commands_take_the_sizes(folder: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder)
    assert main(["inspect", "f.onnx"]) == 2
    assert main(["inspect", "f.onnx", "--input-shape", "x=1x3x1x2"]) == 0
    assert "is read as [1, 3, 1, 2]" in capsys.readouterr().out
    words = ["verify", "f.onnx", "g.onnx", "--lower", "0", "--upper", "1", "--eps", "1/2", "--input-shape"]
    assert main([*words, "3x1x2", "--spec", "one.eqspec"]) == 0
    assert "shape   [3, 1, 2]" in Path("one.eqspec").read_text()
    assert main(["check", "one.eqspec", "--no-cache"]) == 0
    with pytest.raises(SystemExit):
        main([*words, "3x1x"])


def test_a_vnnlib_file_declares_the_sizes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = " ".join(f"(>= X[0,{c},0,{w}] 0.0) (<= X[0,{c},0,{w}] 1.0)" for c in range(3) for w in range(2))
    network = "(declare-network f (declare-input X real [1,3,1,2]) (declare-output Y real [1,2,1,1]))"
    for bound, answer in (("100.0", "unsat"), ("-100.0", "sat")):
        text = f"(vnnlib-version <2.0>) {network} (assert (and {bounds} (>= Y[0,0,0,0] {bound})))"
        (folder / "q.vnnlib").write_text(text)
        assert main(["verify-vnnlib", str(folder / "q.vnnlib"), "--network", f"f={folder / 'f.onnx'}"]) == 0
        assert capsys.readouterr().out.split()[0] == answer
