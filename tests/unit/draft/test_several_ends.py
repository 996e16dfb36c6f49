"""Specs that are drafted for files with several inputs and outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqspec.cli import main
from unit.networks.models import save
from unit.networks.test_file_ends import joined


def test_inputs_are_named_by_input_and_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save(tmp_path, joined(outputs=("hidden", "actions")))
    arguments = ["verify", file, file, "--network-output", "actions", "--eps", "0.1", "--lower", "-1", "--upper", "1"]
    assert main([*arguments, "--only-spec"]) == 0
    text = capsys.readouterr().out
    assert "features obs_0, obs_1, obs_2, goal_0, goal_1" in text
    assert text.count('output "actions"') == 2


def test_an_output_for_each_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save(tmp_path, joined(outputs=("hidden", "actions")))
    other = save(tmp_path, joined(outputs=("actions",)), "other.onnx")
    chosen = ["--network-output", "hidden", "--network-output", "actions"]
    arguments = ["verify", file, other, *chosen, "--eps", "0.1", "--lower", "-1", "--upper", "1"]
    assert main([*arguments, "--only-spec"]) == 2
    assert "has 4 outputs, but" in capsys.readouterr().err
    assert main([*arguments, "--network-output", "third"]) == 2
    assert "3 outputs are chosen" in capsys.readouterr().err


def test_an_output_of_one_file_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other file has no output of that name, so that --network-output could not be given."""
    file = save(tmp_path, joined(outputs=("hidden", "actions")))
    other = save(tmp_path, joined(outputs=("actions",)), "other.onnx")
    bounds = ["--eps", "0.1", "--lower", "-1", "--upper", "1", "--only-spec"]
    assert main(["verify", file, other, "--reference-output", "actions", *bounds]) == 0
    text = capsys.readouterr().out
    assert text.count('output "actions"') == 1
    assert main(["verify", other, file, "--candidate-output", "actions", *bounds]) == 0
    assert main(["verify", file, file, "--candidate-output", "actions", *bounds]) == 2
    assert "the model has 2 outputs" in capsys.readouterr().err
    assert main(["verify", file, other, "--network-output", "actions", "--reference-output", "actions", *bounds]) == 2
    assert "--network-output is for both networks" in capsys.readouterr().err


def test_a_file_whose_output_has_to_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save(tmp_path, joined(outputs=("hidden", "actions")))
    assert main(["inspect", file]) == 2
    assert "--network-output NAME" in " ".join(capsys.readouterr().err.split())
    assert main(["inspect", file, "--network-output", "hidden"]) == 0


def test_a_table_that_does_not_fit_is_told_which_inputs_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exporter that leaves a constant out makes an input of it, and nobody would count that one."""
    file = save(tmp_path, joined(outputs=("actions",)))
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    assert main(["init", file, file, "--data", str(tmp_path / "rows.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "has 2 columns, and the networks take 5 inputs" in said
    assert "several inputs, one behind the other: 'obs' (3), 'goal' (2)" in said


@pytest.mark.parametrize("name", ['a"b', "a\nb"], ids=["quote", "line-end"])
def test_a_name_that_no_spec_can_say_is_refused_as_one(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was written into the question as it is, and came back as an error of grammar."""
    proto = joined(outputs=("hidden", "actions"))
    for node in proto.graph.node:
        node.output[:] = [name if one == "actions" else one for one in node.output]
    next(value for value in proto.graph.output if value.name == "actions").name = name
    file = save(tmp_path, proto)
    bounds = ["--eps", "0.1", "--lower", "-1", "--upper", "1"]
    assert main(["verify", file, file, "--network-output", name, *bounds]) == 2
    assert "a spec cannot name" in " ".join(capsys.readouterr().err.split())
