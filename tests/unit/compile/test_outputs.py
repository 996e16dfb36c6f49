"""`output "name"` behind a network: which function of a file is meant, in tasks, digests and statements."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import eqspec
from eqspec.compile import loads
from eqspec.errors import SpecError
from eqspec.networks import as_network, read_network
from eqspec.report import statement
from eqspec.spec import parse_text, printer
from eqspec.tasks import serialisation
from unit.networks.exported import FLOAT, several, value
from unit.networks.models import node, save

SPEC = """eqspec 1
let head = "values"
space s { shape [3]  outputs 2 }
network f = "heads.onnx" in s output "actions"
network g = "heads.onnx" in s output head
region r in s = box { all: -1 .. 1 }
check close { prove g stays within 0.5 of f  on r }
"""


def heads() -> onnx.ModelProto:
    """One hidden layer, two outputs of the same size: the second is twice the first."""
    weight = np.array([[1, 0, -1], [0, 1, 1], [1, 1, 0]], np.float32)
    nodes = [
        node("MatMul", ["x", "w"], "t"),
        node("Relu", ["t"], "h"),
        node("MatMul", ["h", "a"], "actions"),
        node("MatMul", ["h", "b"], "values"),
    ]
    last = np.array([[1, 0], [0, 1], [0.5, 0.5]], np.float32)
    return several(
        nodes,
        {"w": weight, "a": last, "b": 2 * last},
        [value("x", FLOAT, ("n", 3))],
        [value("actions", FLOAT, None), value("values", FLOAT, None)],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path, heads(), "heads.onnx")
    return tmp_path


def test_two_outputs_of_one_file_are_two_networks(folder: Path) -> None:
    compiled = loads(SPEC, directory=folder)
    assert [d.code for d in compiled.diagnostics] == []  # not W304: the file is the same, the function is not
    (task,) = compiled.tasks
    assert (task.reference.chosen, task.candidate.chosen) == ("actions", "values")
    assert task.reference.sha256 == task.candidate.sha256
    result = eqspec.loads(SPEC, directory=folder).check().results[0]
    assert result.verdict == "different"  # a doubled output; were it the same function, they would be equal


def test_a_task_is_read_again_as_it_was(folder: Path) -> None:
    (task,) = loads(SPEC, directory=folder).tasks
    data = serialisation.to_json(task)
    assert (data["reference"]["output"], data["candidate"]["output"]) == ("actions", "values")
    again = serialisation.from_json(json.loads(json.dumps(data)))
    points = np.random.default_rng(0).normal(size=(4, 3))
    assert np.array_equal(again.candidate.evaluate(points), task.candidate.evaluate(points))
    assert serialisation.digest(again) == serialisation.digest(task)
    other = SPEC.replace("output head", 'output "actions"')
    (same,) = loads(other, directory=folder).tasks
    assert serialisation.digest(same) != serialisation.digest(task)


def test_the_same_output_twice_is_noticed(folder: Path) -> None:
    compiled = loads(SPEC.replace("output head", 'output "actions"'), directory=folder)
    assert [d.code for d in compiled.diagnostics] == ["W304"]


def test_a_distance_of_zero_between_two_outputs(folder: Path) -> None:
    compiled = loads(SPEC.replace("within 0.5", "within 0"), directory=folder)
    assert [d.code for d in compiled.diagnostics] == ["W310"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (' output "actions"', "", "the model has 2 outputs ('actions', 'values')"),
        ("output head", 'output "other"', "it has no output 'other'"),
        ("output head", "output 3", ""),
    ],
)
def test_outputs_that_cannot_be_chosen(old: str, new: str, words: str, folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        loads(SPEC.replace(old, new), directory=folder)
    found = caught.value.diagnostics[0]
    assert words in found.message
    assert found.code == ("E212" if words else found.code)


def test_a_network_that_is_given_is_the_output_that_is_meant(folder: Path) -> None:
    wrong = as_network(folder / "heads.onnx", output="actions")
    with pytest.raises(SpecError) as caught:
        eqspec.loads(SPEC, directory=folder, networks={"g": wrong})
    assert [d.code for d in caught.value.diagnostics] == ["E212"]
    right = as_network(folder / "heads.onnx", output="values")
    assert eqspec.loads(SPEC, directory=folder, networks={"g": right})


def test_the_formula_names_the_output(folder: Path) -> None:
    (task,) = loads(SPEC, directory=folder).tasks
    shown = "\n".join(statement.statement(task).symbols)
    assert "output 'actions'" in shown
    assert "output 'values'" in shown


def test_the_style() -> None:
    messy = 'eqspec 1 network f="a.onnx" in s output "y"+k takes raw gives logits'
    assert printer.text(parse_text(messy)) == (
        'eqspec 1\nnetwork f = "a.onnx" in s output "y" + k takes raw gives logits\n'
    )


def test_in_float32_the_same_output_is_read(folder: Path) -> None:
    compiled = loads(SPEC.replace("  on r", "  on r  arithmetic float32"), directory=folder)
    (task,) = compiled.tasks
    assert task.candidate.chosen == "values"
    exact = read_network(folder / "heads.onnx", output="values")
    points = np.random.default_rng(0).normal(size=(4, 3))
    assert np.allclose(task.candidate.evaluate(points), exact.evaluate(points))
