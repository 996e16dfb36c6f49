"""`eqspec init` and `verify` on scikit-learn's tables: what networks take is found out or asked, never guessed."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

import eqspec
from eqspec.cli import main
from eqspec.draft.two_classes import TwoClasses
from eqspec.property import Confidence, Epsilon
from eqspec.tasks.task import Task
from unit.draft.real_data import SCALED, Real, trained, with_one_output

POOR = 0.001
"""A rate of learning at which the network of wines, divided by their largest number, is right in two rows of three."""
Capture = pytest.CaptureFixture[str]


def init(folder: Path, files: Sequence[str], *options: str) -> int:
    reference, candidate, table = files
    spec = str(folder / "s.eqspec")
    return main(["init", reference, candidate, "--data", table, "-o", spec, "--probe", "0", *options])


def drafted(folder: Path) -> Task:
    return eqspec.load(folder / "s.eqspec").tasks[0]


def takes(task: Task, raw: np.ndarray) -> np.ndarray:
    """What the network gets for raw rows, by the task."""
    if task.reference_takes_raw:
        return raw
    centre, scale = (np.array([float(x) for x in row]) for row in (task.space.centre, task.space.scale))
    return np.asarray((raw - centre) / scale)


@pytest.mark.part(5)
@pytest.mark.parametrize(
    ("table", "how"),
    [("breast_cancer", "zscore"), ("breast_cancer", "raw"), ("wine", "zscore"), ("iris", "zscore"), ("digits", "255")],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_written_without_a_question_is_right(
    tmp_path: Path, capsys: Capture, table: str, how: str, backwards: bool
) -> None:
    """In scikit-learn's order of the classes and in the other one, neither of which is that of the alphabet in all."""
    real = trained(table, how)
    order = list(range(len(real.classes)))[:: -1 if backwards else 1]
    code = init(tmp_path, real.write(tmp_path, order))
    said = capsys.readouterr().err
    if code == 2:  # iris: a few ways are within noise of each other, and then it is asked
        assert "What do the networks take?" in said
        assert f"--normalisation {how}" in said
        assert init(tmp_path, real.write(tmp_path, order), "--normalisation", how) == 0
    task = drafted(tmp_path)
    assert task.space.outputs == tuple(real.classes[i] for i in order)
    wanted = SCALED[how](real.rows)
    assert np.allclose(takes(task, real.rows), wanted, atol=1e-4, rtol=1e-4)
    assert "%" in said


def test_breast_cancer_is_decided_without_a_question(tmp_path: Path, capsys: Capture) -> None:
    """malignant is output 0 and last in the alphabet, whose order would have 0 %, and then take the columns as raw."""
    real = trained("breast_cancer", "zscore")
    assert real.classes == ("malignant", "benign")
    files = real.write(tmp_path)
    assert init(tmp_path, files) == 0
    err = capsys.readouterr().err
    assert drafted(tmp_path).space.outputs == ("malignant", "benign")
    for way in ("raw", "zscore", "minmax", "max", "column-max", "255"):
        assert f"  {way} " in err
    assert main(["verify", *files[:2], "--data", files[2], "--eps", "0.1", "--only-spec"]) == 0
    text = capsys.readouterr().out
    assert "normalise zscore" in text
    assert "takes raw" not in text
    assert "is right in 99" in " ".join(text.replace("#", " ").split())


@pytest.mark.parametrize("command", ["init", "verify"])
def test_where_nothing_decides_it_is_asked_and_nothing_is_green(tmp_path: Path, capsys: Capture, command: str) -> None:
    """A table without labels, labels of something else, a poor reference, and one that always answers one class."""
    real = trained("wine", "zscore")
    rng = np.random.default_rng(3)
    reference, candidate, table = real.write(tmp_path)
    lines = Path(table).read_text().splitlines()
    without = [line.rpartition(",")[0] for line in lines]
    shuffled = [lines[0]] + [
        f"{a.rpartition(',')[0]},{b.rpartition(',')[2]}"
        for a, b in zip(lines[1:], rng.permutation(lines[1:]), strict=True)
    ]
    mostly = [lines[0]] + [
        f"{line.rpartition(',')[0]},{'rare' if i % 30 == 0 else 'usual'}" for i, line in enumerate(lines[1:])
    ]
    for content in (without, shuffled, mostly):
        Path(table).write_text("\n".join(content) + "\n")
        asked = (
            ["--eps", "1", "--only-spec"] if command == "verify" else ["-o", str(tmp_path / "s.eqspec"), "--probe", "0"]
        )
        options = ["--labels", "none"] if command == "init" else []
        assert main([command, reference, candidate, "--data", table, *asked, *options]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "What do the networks take?" in captured.err
        assert "--normalisation zscore" in captured.err
        assert not (tmp_path / "s.eqspec").exists()
    assert main([command, reference, candidate, "--data", table, *asked, *options, "--normalisation", "zscore"]) == 0
    written = capsys.readouterr().out if command == "verify" else (tmp_path / "s.eqspec").read_text()
    assert "was said on the command line (normalisation" in " ".join(written.replace("#", " ").split())


def test_a_poor_reference_can_be_used_with_an_option(tmp_path: Path, capsys: Capture) -> None:
    real = trained("wine", "max", POOR)
    files = real.write(tmp_path)
    assert init(tmp_path, files) == 2
    assert "at most" in capsys.readouterr().err
    assert init(tmp_path, files, "--normalisation", "max", "--labels", "none") == 0
    task = drafted(tmp_path)
    assert task.space.outputs == ("0", "1", "2")
    assert np.allclose(takes(task, real.rows), SCALED["max"](real.rows))


def test_an_order_that_the_rows_do_not_tell_is_asked(tmp_path: Path, capsys: Capture) -> None:
    real = trained("wine", "max", POOR)
    files = real.write(tmp_path)
    assert init(tmp_path, files, "--normalisation", "max") == 2
    err = capsys.readouterr().err
    assert "Which output belongs to which class?" in err
    assert "--labels none" in err
    assert init(tmp_path, files, "--normalisation", "max", "--labels", "class_2,class_0,class_1") == 0
    assert drafted(tmp_path).space.outputs == ("class_2", "class_0", "class_1")
    assert init(tmp_path, files, "--normalisation", "max", "--labels", "a,b,c", "-o", str(tmp_path / "t.eqspec")) == 2
    assert "--labels does not have class_0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("labels", "outputs"),
    [
        (("0", "1", "2"), ("0", "1", "2")),
        (("0.0", "1.0", "2.0"), ("0", "1", "2")),
        (("1", "2", "3"), ("class_1", "class_2", "class_3")),
        (("2", "0", "1"), ("class_2", "class_0", "class_1")),
        (("-1", "0", "1"), ("class_minus_1", "class_0", "class_1")),
    ],
)
def test_numbers_for_classes(tmp_path: Path, labels: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    real = trained("wine", "zscore")
    assert init(tmp_path, real.write(tmp_path, labels=labels)) == 0
    assert drafted(tmp_path).space.outputs == outputs


def test_dropped_rows_are_counted_aloud(tmp_path: Path, capsys: Capture) -> None:
    real = trained("wine", "zscore")
    files = real.write(tmp_path)
    lines = Path(files[2]).read_text().splitlines()
    for i, mark in ((3, ""), (5, "nan"), (9, "inf"), (20, "n/a")):
        lines[i] = mark + "," + lines[i].partition(",")[2]
    Path(files[2]).write_text("\n".join(lines) + "\n")
    wanted = "4 of 178 rows of train.csv are left out because numbers are missing or not finite in columns 0..12"
    assert init(tmp_path, files) == 0
    assert wanted in capsys.readouterr().err
    assert wanted in " ".join((tmp_path / "s.eqspec").read_text().replace("#", " ").split())
    assert main(["verify", *files[:2], "--data", files[2], "--eps", "1", "--only-spec"]) == 0
    assert wanted in capsys.readouterr().err


class TestScalersBeside:
    def test_one_that_has_nothing_to_do_with_the_data_is_not_used(self, tmp_path: Path, capsys: Capture) -> None:
        real = trained("wine", "zscore")
        files = real.write(tmp_path)
        contents = {
            "scaler.json": json.dumps({"mean": [0, 1], "std": [1, 1]}),
            "norm.json": '{"mean": [1, ',
            "scaler_names.csv": "feature,mean,std\n" + "".join(f"q{i},1,2\n" for i in range(13)),
            "my_scaler.npz": "no zip",
            "zero_scaler.json": json.dumps({"mean": [0] * 13, "std": [0] * 13}),
            "other_scaler.json": json.dumps({"mean": [5] * 13, "std": [2] * 13}),
        }
        for name, content in contents.items():
            (tmp_path / name).write_text(content)
        assert init(tmp_path, files) == 0
        err = capsys.readouterr().err
        for name in ("scaler.json", "norm.json", "scaler_names.csv", "my_scaler.npz", "zero_scaler.json"):
            assert f"{name}, which lies beside the files, is not used" in err
        assert str(tmp_path / "other_scaler.json") in err
        assert "normalise zscore mean [13" in (tmp_path / "s.eqspec").read_text()

    def test_one_that_the_network_was_trained_with_is_found_whatever_its_order(
        self, tmp_path: Path, capsys: Capture
    ) -> None:
        """The network takes (x - m) / s with numbers that are not those of the table."""
        real = trained("wine", "zscore")
        mean, std = real.rows.mean(axis=0), real.rows.std(axis=0)
        shifted = type(real)(
            real.rows * 3 + 7, *(getattr(real, n) for n in ("targets", "names", "classes", "weights", "biases"))
        )
        # Half of the rows, so that mean and std of the table are others than those of the scaler.
        half = slice(0, 100)
        part = type(real)(
            shifted.rows[half],
            real.targets[half],
            *(getattr(real, n) for n in ("names", "classes", "weights", "biases")),
        )
        files = part.write(tmp_path)
        names = [name.replace("/", "_") for name in real.names]
        lines = [f"{n},{m * 3 + 7!r},{s * 3!r}" for n, m, s in zip(names, mean.tolist(), std.tolist(), strict=True)]
        (tmp_path / "fitted.csv").write_text("\n".join(["name,mean,std", *reversed(lines)]) + "\n")
        code = init(tmp_path, files, "--labels", "none")
        assert code == 0, capsys.readouterr().err
        assert 'zscore from "fitted.csv"' in (tmp_path / "s.eqspec").read_text()
        assert np.allclose(takes(drafted(tmp_path), shifted.rows), SCALED["zscore"](real.rows), atol=1e-6)

    def test_without_a_table_it_is_asked_about(self, tmp_path: Path, capsys: Capture) -> None:
        real = trained("wine", "zscore")
        reference, candidate, table = real.write(tmp_path)
        Path(table).unlink()
        (tmp_path / "scaler.json").write_text(json.dumps({"mean": [5] * 13, "std": [2] * 13}))
        pair = ["init", reference, candidate, "--probe", "0", "-o", str(tmp_path / "s.eqspec")]
        assert main(pair) == 2
        assert "nothing shows whether it is theirs" in capsys.readouterr().err
        assert main([*pair, "--scaler", str(tmp_path / "scaler.json")]) == 0


def test_what_was_said_against_the_labels_is_warned_about(tmp_path: Path, capsys: Capture) -> None:
    real = trained("breast_cancer", "zscore")
    files = real.write(tmp_path)
    assert init(tmp_path, files, "--takes", "raw", "--labels", "none") == 0
    assert "careful: taking the columns as they are, as was said" in capsys.readouterr().err
    assert init(tmp_path, files, "--outputs", "benign,malignant", "-o", str(tmp_path / "t.eqspec")) == 0
    assert "careful: output 0 is called benign as was said" in capsys.readouterr().err


def test_two_ways_to_say_it_are_refused(tmp_path: Path, capsys: Capture) -> None:
    files = trained("wine", "zscore").write(tmp_path)
    assert init(tmp_path, files, "--takes", "raw", "--normalisation", "zscore") == 2
    assert "--normalisation says what --scaler and --takes say" in capsys.readouterr().err
    assert init(tmp_path, files, "--normalisation", "nowhere.json") == 2
    assert "cannot read nowhere.json: no such file" in capsys.readouterr().err


def test_a_quantity_is_held_against_its_column(tmp_path: Path, capsys: Capture) -> None:
    """The regressor explains under 90 %, so it is asked; a network that is the target itself is found out."""
    real = trained("diabetes", "raw")
    assert init(tmp_path, real.write(tmp_path)) == 2
    assert "of the variance explained" in capsys.readouterr().err
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 100, (200, 3))
    weight = np.array([[1.0], [2.0], [-1.0]])
    standard = SCALED["zscore"](rows)
    exact = type(real)(rows, (standard @ weight)[:, 0], ("a", "b", "c"), (), (weight,), (np.zeros(1),))
    assert init(tmp_path, exact.write(tmp_path)) == 0
    assert np.allclose(takes(drafted(tmp_path), rows), standard, atol=1e-4)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_answer_is_taken(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    real = trained("wine", "max", POOR)
    files = real.write(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stdin", Terminal("what?\n99\n1\n2\n"))
    assert init(tmp_path, files) == 0
    assert "[1]" in capsys.readouterr().err
    assert drafted(tmp_path).space.outputs == ("0", "1", "2")
    assert "was said on the command line" in (tmp_path / "s.eqspec").read_text().replace("\n#", "").replace("  ", " ")
    (tmp_path / "s.eqspec").unlink()
    monkeypatch.setattr("sys.stdin", Terminal(""))
    assert init(tmp_path, files) == 2


@pytest.mark.parametrize("sigmoid", [False, True])
def test_a_single_output_decides_by_its_sign_or_above_a_half(tmp_path: Path, capsys: Capture, sigmoid: bool) -> None:
    """Of a logit 0 is the border, of a probability 1/2: every probability is above 0."""
    real = trained("breast_cancer", "zscore")
    files = with_one_output(real).write(tmp_path)
    for name in ("full.onnx", "small.onnx"):
        proto = onnx.load(tmp_path / name)
        if name == "small.onnx":
            weight = proto.graph.initializer[-2]
            changed = onnx.numpy_helper.to_array(weight) * np.float32(1.01)
            weight.CopyFrom(onnx.numpy_helper.from_array(changed, weight.name))
        if sigmoid:
            proto.graph.node[-1].output[0] = "logit"
            proto.graph.node.append(onnx.helper.make_node("Sigmoid", ["logit"], ["p"]))
            proto.graph.node.append(onnx.helper.make_node("Reshape", ["p", "row"], ["y"]))  # so it is one number
            proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1, 1]), "row"))
        onnx.save(proto, tmp_path / name)
    assert init(tmp_path, files) == 0, capsys.readouterr().err
    assert takes(drafted(tmp_path), real.rows) == pytest.approx(SCALED["zscore"](real.rows), abs=1e-3)
    said = " ".join(capsys.readouterr().err.split())
    share = float(re.search(r"zscore +([0-9.]+)%", said)[1])  # type: ignore[index]
    assert share > 95
    border = "1/2" if sigmoid else "0"
    assert re.search(rf"decides between two classes: '\w+' above {border}, '\w+' below", said)
    _the_distance_keeps_decisions(drafted(tmp_path), real, (tmp_path / "s.eqspec").read_text(), sigmoid=sigmoid)


@pytest.mark.parametrize("labels", ["classes", "none", "quantities"])
def test_a_sigmoid_is_drafted_as_two_classes_unless_the_table_has_quantities(
    tmp_path: Path, capsys: Capture, labels: str
) -> None:
    real = trained("breast_cancer", "zscore")
    files = with_one_output(real).write(tmp_path)
    for name in ("full.onnx", "small.onnx"):
        proto = onnx.load(tmp_path / name)
        proto.graph.node[-1].output[0] = "logit"
        proto.graph.node.append(onnx.helper.make_node("Sigmoid", ["logit"], ["y"]))
        proto.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 1]))
        onnx.save(proto, tmp_path / name)
    table = Path(files[2])
    rows = table.read_text().splitlines()
    if labels != "classes":
        cut = [line.rsplit(",", 1)[0] for line in rows]
        more = ["target", *(str(i / 1000) for i in range(1, len(cut)))]
        table.write_text("\n".join(cut if labels == "none" else map(",".join, zip(cut, more, strict=True))))
    how = () if labels == "classes" else ("--normalisation", "zscore")
    assert init(tmp_path, files, *how) == 0, capsys.readouterr().err
    task = drafted(tmp_path)
    if labels == "quantities":
        assert isinstance(task.property, Epsilon)
        assert task.reference.output_size == 1
    else:
        assert isinstance(task.property, Confidence)
        assert task.reference.output_size == 2
        assert "is a Sigmoid, so it is read as two classes" in " ".join((tmp_path / "s.eqspec").read_text().split())


@pytest.mark.parametrize("probability", [False, True])
def test_the_distance_that_is_claimed_always_keeps_some_decision(probability: bool) -> None:
    """However far outputs were seen to differ: a larger distance is none between probabilities, or keeps nothing."""
    between = TwoClasses("no", "yes", probability)
    for seen in (0.0, 0.01, 0.3, 0.4, 0.499, 0.6, 1.0, 7.0, 1e9):
        assert 0.5 < between.confidence(float(between.claimed(seen))) < 1


def _the_distance_keeps_decisions(task: Task, real: Real, text: str, *, sigmoid: bool) -> None:
    """Where the output is farther from the border than the two may differ, as the comment says, both decide alike."""
    assert isinstance(task.property, Epsilon)
    found = re.search(
        r"farther than ([0-9.]+) from (0|1/2), which is ([0-9.]+) % sure", re.sub(r"\s*\n#\s*", " ", text)
    )
    assert found is not None
    eps = float(task.property.eps)
    assert float(found[1]) == eps
    reached = 0.5 + eps if sigmoid else 1 / (1 + math.exp(-eps))
    assert float(found[3]) / 100 == pytest.approx(reached, abs=1e-3)
    points = SCALED["zscore"](real.rows)
    f, g = task.reference.evaluate(points)[:, 0], task.candidate.evaluate(points)[:, 0]
    border = 0.5 if sigmoid else 0.0
    assert eps >= abs(f - g).max()
    far = abs(f - border) > eps
    assert far.any()
    assert (((f > border) == (g > border)) | ~far).all()
