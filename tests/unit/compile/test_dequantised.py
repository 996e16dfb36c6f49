"""A file of integers beside its float file, from the text of a spec to verdicts, witnesses and certificates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from jsonschema import Draft202012Validator
from onnx import TensorProto

import eqspec
from eqspec.audit import Audit, Refused, audit
from eqspec.certificates import Answer
from eqspec.certificates.task_binding import Coverage, UnboundError
from eqspec.cli import main
from eqspec.cli.tools.schema import text as schema_text
from eqspec.errors import SpecError
from eqspec.report.statement import statement
from eqspec.tasks import serialisation
from unit.certificates.proofs import certify, pack, unpack
from unit.networks.models import model, node
from unit.networks.test_dequantised import SCALES, WEIGHT, build

SPEC = """eqspec 1
space s { features a, b, c  normalise zscore mean [1, 0, 0] std [2, 1, 1]  outputs y, z }
network float = "float.onnx" in s
network whole = "int8.onnx" in s
network int8 = "int8.onnx" in s dequantised
network raw = "int8.onnx" in s takes raw dequantised { output scale 1/2 zero -5 }
region near in s = box { all within 1 sigma }
check close { prove int8 stays within 0.9 of float  on near  expect equivalent }
check closer { prove int8 stays within 0.3 of float  on near  expect different }
check inside { prove raw stays within 6 of float  on near }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spec, a linear float file, and the same of int8 with a ReLU that cuts nothing off."""
    folder = tmp_path_factory.mktemp("dequantised")
    onnx.save(model([node("MatMul", ["x", "w"], "y")], {"w": WEIGHT}, [1, 3]), folder / "float.onnx")
    nodes = [
        node("DequantizeLinear", ["x", "s", "z"], "r"),
        node("MatMul", ["r", "w"], "h"),
        node("QuantizeLinear", ["h", "t", "u"], "y"),
    ]
    onnx.save(build(nodes, SCALES), folder / "int8.onnx")
    (folder / "pair.eqspec").write_text(SPEC)
    return folder


def test_claims_about_both_are_decided(folder: Path) -> None:
    spec = eqspec.load(folder / "pair.eqspec")
    found = {result.id: result for result in spec.check(cache=False).results}
    assert {name: str(result.verdict) for name, result in found.items()} == {
        "close": "equivalent", "closer": "different", "inside": "equivalent",
    }  # fmt: skip
    witness = found["closer"].witness
    assert witness is not None
    assert witness.onnxruntime_confirms
    task = next(task for task in spec.tasks if task.id == "close")
    assert "dequantised: input 'x' 0.25 (k - 3), output 0.5 (k + 5)" in str(statement(task))
    written = serialisation.file_of([task], [], "0")
    Draft202012Validator(json.loads(schema_text("task"))).validate(written["tasks"][0])
    assert serialisation.digest(serialisation.from_json(written["tasks"][0])) == serialisation.digest(task)


def answered(checked: Audit) -> Answer:
    return Answer(None, checked.verdict, checked.claim, question=checked.question, labels=checked.labels)


def test_certificates_say_what_integers_stand_for(folder: Path, tmp_path: Path) -> None:
    spec = eqspec.load(folder / "pair.eqspec")
    tasks = {task.id: task for task in spec.tasks}
    for name, verdict in (("close", "equivalent"), ("closer", "different")):
        _, made = certify(tasks[name], tmp_path)
        assert made is not None
        assert made.path is not None, made
        checked = audit(made.path)
        assert checked.verdict == verdict
        assert any("0.25 (k - 3)" in text for _, text in checked.said)
        coverage = Coverage([tasks[name]], [])
        assert coverage.bind(answered(checked)) == [name]
        parts = unpack(made.path)
        for change in ("scale", "zero", "end"):
            spoiled = parts.copy()
            ends: dict[str, Any] = spoiled.header["task"]["candidate"]["dequantised"]
            if change == "end":
                del ends["output"]
            else:
                ends["output"][change] = {"scale": "1", "zero": 7}[change]
            with pytest.raises((Refused, UnboundError)):
                coverage.bind(answered(audit(pack(tmp_path / "spoiled.cert", spoiled))))


def test_integers_and_real_numbers_are_no_pair_of_one_file(folder: Path) -> None:
    text = SPEC + "check other { prove whole stays within 500 of int8  on near  expect equivalent }\n"
    found = eqspec.loads(text, directory=folder).check(cache=False).results[-1]
    assert str(found.verdict) == "equivalent"
    with pytest.raises(SpecError, match="E215"):
        eqspec.loads(SPEC.replace('"float.onnx" in s', '"float.onnx" in s dequantised'), directory=folder)
    network = eqspec.read_network(folder / "int8.onnx")
    with pytest.raises(SpecError, match="E215"):
        eqspec.loads(SPEC, directory=folder, networks={"int8": network})
    given = eqspec.read_network(folder / "int8.onnx", dequantised=eqspec.Dequantised())
    eqspec.loads(SPEC, directory=folder, networks={"int8": given})


def test_the_command_line_dequantises_what_it_can(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / "float.onnx"), str(folder / "int8.onnx")]
    box = ["--lower", "-1", "--upper", "1", "--eps", "0.9", "--no-cache"]
    assert main(["verify", *files, "--dequantised", *box]) == 0
    capsys.readouterr()
    assert main(["inspect", *files, "--dequantised"]) == 0
    assert "stand for 0.25 (k - 3)" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", files[0], files[0], "--dequantised", *box]) == 2
    assert "leave --dequantised out" in " ".join(capsys.readouterr().err.split())


def test_vnnlib_has_a_file_with_the_quantisers_inside(folder: Path, tmp_path: Path) -> None:
    assert main(["export", f"{folder / 'pair.eqspec'}:close", "--to", "vnnlib2", "-o", str(tmp_path)]) == 0
    (written,) = (tmp_path / "onnx").glob("*.onnx")
    found = eqspec.read_network(written)
    expected = eqspec.read_network(folder / "int8.onnx", dequantised=eqspec.Dequantised())
    points = np.random.default_rng(0).uniform(-60, 60, (20, 3))
    assert np.array_equal(found.evaluate(points), expected.evaluate(points))
    (property_,) = (tmp_path / "vnnlib").glob("*.vnnlib")
    assert written.name in (tmp_path / "instances.csv").read_text()
    assert "(declare-network int8" in property_.read_text()


def test_sums_of_integers_have_a_scale_of_their_own(tmp_path: Path) -> None:
    proto = build(
        [node("MatMulInteger", ["x", "v"], "y")],
        {"v": np.array([[3, -2], [1, 7], [-4, 0]], np.int8)},
        made=TensorProto.INT32,
    )
    onnx.save(proto, tmp_path / "sums.onnx")
    text = SPEC.split("network float")[0] + (
        'network g = "sums.onnx" in s dequantised { input scale 1/4, output scale 1/64 }\n'
        "region every in s = box { all within 3 sigma }\n"
        "check one { prove g satisfies g[y] <= 2  on every }\n"
    )
    (result,) = eqspec.loads(text, directory=tmp_path).check(cache=False).results
    assert str(result.verdict) == "equivalent"
