"""`eqspec init`: the spec it writes reads, checks as it says, and says truly where its parts come from."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest

import eqspec
from eqspec.cli import main
from eqspec.cli.options.pair import names_of
from eqspec.draft.outputs import _joined
from eqspec.property import Confidence, Epsilon, Margin
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.spec.formatting import formatted
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_specs import write_onnx
from unit.draft.small_pairs import write_pair


def init(capsys: pytest.CaptureFixture[str], folder: Path, *options: str, code: int = 0) -> str:
    """The spec that is written, or what is said instead."""
    spec = folder / "first.eqspec"
    pair = [str(folder / "full.onnx"), str(folder / "small.onnx")]
    found = main(["init", *pair, "-o", str(spec), *options])
    err = capsys.readouterr().err
    assert found == code, err
    return spec.read_text() if code == 0 else " ".join(err.split())


def compiled(text: str, folder: Path) -> tuple[Task, ...]:
    """Its tasks; it has the one style."""
    assert formatted(text) == text
    return eqspec.loads(text, directory=folder).tasks


def remarks(text: str) -> str:
    """The comments as one line."""
    return " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))


def write_table(folder: Path, rows: np.ndarray, labels: list[str], names: str = "a,b,c,kind") -> str:
    lines = [",".join([*map(repr, row), label]) for row, label in zip(rows.tolist(), labels, strict=True)]
    (folder / "table.csv").write_text("\n".join([names, *lines]) + "\n")
    return str(folder / "table.csv")


def test_names_scaler_and_classes_are_taken_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    (tmp_path / "range.json").unlink()
    said = ("--normalisation", str(tmp_path / "scaler.json"), "--labels", "left,right")
    text = init(capsys, tmp_path, "--data", str(tmp_path / "train.csv"), "--probe", "0", *said)
    (task,) = compiled(text, tmp_path)
    assert task.space.features == ("speed", "load", "all_")
    assert task.space.outputs == ("left", "right")
    assert task.space.centre == (2, 10, Fraction(1, 4))
    assert isinstance(task.property, Confidence)
    assert "was said on the command line (normalisation scaler.json)" in remarks(text)
    assert "1 of 4 rows of train.csv are left out because numbers are missing" in remarks(text)
    assert "Not tried" in remarks(text)


def test_places_without_a_value_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A root of numbers of both signs; a table without the negative ones is taken."""
    for name in ("full", "small"):
        node = onnx.helper.make_node("Sqrt", ["x"], ["y"])
        ends = [onnx.helper.make_tensor_value_info(end, onnx.TensorProto.FLOAT, ["batch", 1]) for end in "xy"]
        graph = onnx.helper.make_graph([node], "roots", ends[:1], ends[1:])
        imports = [onnx.helper.make_opsetid("", 17)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=imports, ir_version=8), tmp_path / f"{name}.onnx")
    for rows, code in (("-1\n1\n4\n", 2), ("1\n4\n", 0)):
        (tmp_path / "table.csv").write_text("x\n" + rows)
        given = ("--data", str(tmp_path / "table.csv"), "--takes", "raw", "--probe", "0")
        text = init(capsys, tmp_path, *given, code=code)
        assert code == 0 or "no finite output at 1 of the 3 inputs" in text


def test_the_size_was_proved_and_the_next_was_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """f = x and g = 9/8 x, so at s they differ by s / 8."""
    write_onnx(tmp_path / "full.onnx", [[1.0]], [0.0], ("batch", 1))
    write_onnx(tmp_path / "small.onnx", [[1.125]], [0.0], ("batch", 1))
    (tmp_path / "table.csv").write_text("x\n-1\n1\n")
    text = init(capsys, tmp_path, "--data", str(tmp_path / "table.csv"), "--takes", "raw")
    (task,) = compiled(text, tmp_path)
    assert isinstance(task.property, Epsilon)
    # Seen: a difference of 1/8 at the rows, so 2/8 rounded up to one digit is claimed; it breaks beyond x = 2.4.
    assert task.property.eps == Fraction("0.3")
    assert task.upper_exact == (2,)
    assert "proved for s = 2 in" in remarks(text)
    assert "for s = 3 there is an input where it does not hold" in remarks(text)
    assert "one output, so it is a quantity" in remarks(text)
    spec = tmp_path / "first.eqspec"
    assert main(["check", str(spec)]) == 0
    spec.write_text(spec.read_text().replace("near(2)", "near(3)"))
    assert main(["check", str(spec)]) == 1


def test_commands_can_be_copied_whatever_the_spec_is_called(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("full", "small"):
        write_onnx(tmp_path / f"{name}.onnx", [[1.0]], [0.0], ("batch", 1))
    spec = tmp_path / "a first one.eqspec"
    assert (
        main(["init", str(tmp_path / "full.onnx"), str(tmp_path / "small.onnx"), "--probe", "0", "-o", str(spec)]) == 0
    )
    assert f"eqspec check '{spec}'" in capsys.readouterr().err
    assert "eqspec explain 'a first one.eqspec' " in spec.read_text()


@pytest.mark.parametrize("standardised", [True, False])
def test_labels_tell_what_the_networks_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], standardised: bool
) -> None:
    """The class is 'high' above a load of 100; a network that compares with 0 takes standardised loads."""
    rng = np.random.default_rng(7)
    rows = np.column_stack([rng.uniform(0, 10, 40), rng.uniform(50, 150, 40), rng.uniform(3, 4, 40)])
    rows[:, 1] += 100 - rows[:, 1].mean()
    table = write_table(tmp_path, rows, ["high" if load > 100 else "low" for load in rows[:, 1]])
    bias = [0.0, 0.0] if standardised else [-100.0, 100.0]
    for name in ("full.onnx", "small.onnx"):
        write_onnx(tmp_path / name, [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]], bias, ("batch", 3))
    text = init(capsys, tmp_path, "--data", table, "--probe", "0")
    (task,) = compiled(text, tmp_path)
    assert task.reference_takes_raw is not standardised
    assert "is right in 100.0% of 40 rows" in remarks(text)
    assert task.space.outputs == ("high", "low")


def test_a_threshold_lies_above_every_difference_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """g swaps the classes where f's lead x is below 3: the reference is up to sigmoid(2.9) = 0.948 sure there."""
    leads = np.linspace(-6, 6, 121)
    write_onnx(tmp_path / "full.onnx", [[1.0], [0.0]], [0.0, 0.0], ("batch", 1))
    write_onnx(tmp_path / "small.onnx", [[1.0], [0.0]], [-2.95, 0.0], ("batch", 1))
    (tmp_path / "table.csv").write_text("lead\n" + "\n".join(f"{lead:.1f}" for lead in leads))
    text = init(capsys, tmp_path, "--data", str(tmp_path / "table.csv"), "--takes", "raw", "--probe", "0")
    (task,) = compiled(text, tmp_path)
    assert isinstance(task.property, Confidence)
    assert task.property.delta == Fraction("0.95")
    assert "is at most 94.8 % sure" in remarks(text)


def test_columns_that_never_change_stay_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    table = write_table(tmp_path, np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 8.0]]), ["l", "r"])
    for scaler in (["--takes", "normalised"], ["--scaler", str(tmp_path / "range.json")]):
        text = init(capsys, tmp_path, "--data", table, "--probe", "0", "--labels", "none", *scaler)
        (task,) = compiled(text, tmp_path)
        centre, scale = task.space.centre[1], task.space.scale[1]
        assert [centre + scale * end for end in (task.lower_exact[1], task.upper_exact[1])] == [5, 5]
        assert task.lower_exact[0] < task.upper_exact[0]
        (tmp_path / "first.eqspec").unlink()


def test_many_inputs_are_taken_around_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("full.onnx", "small.onnx"):
        write_onnx(tmp_path / name, np.ones((2, 64)), [0.0, 1.0], ("batch", 64))
    np.save(tmp_path / "images.npy", np.random.default_rng(1).uniform(0, 255, (5, 8, 8)))
    text = init(capsys, tmp_path, "--data", str(tmp_path / "images.npy"), "--probe", "0", "--takes", "raw")
    assert "shape     [64]" in text
    assert [task.id for task in compiled(text, tmp_path)] == [f"decides[row={row}]" for row in (0, 2, 4)]


def test_without_anything_the_user_is_told_what_to_fill_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    for name in ("scaler.json", "range.json"):
        (tmp_path / name).unlink()
    text = init(capsys, tmp_path)
    assert compiled(text, tmp_path)
    assert "replace it" in remarks(text)
    assert "--data or --scaler would give names" in remarks(text)


def test_a_minmax_scaler_gives_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    text = init(capsys, tmp_path, "--scaler", str(tmp_path / "range.json"), "--probe", "0")
    (task,) = compiled(text.replace("near(0.1)", "near(1)"), tmp_path)
    assert [task.lower_exact, task.upper_exact] == [(0, 0, 0), (1, 1, 1)]


def test_a_softmax_means_classes(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lhc = root / "specs" / "lhc"
    spec = tmp_path / "first.eqspec"
    pair = [str(lhc / "reference.onnx"), str(lhc / "pruned.onnx")]
    assert main(["init", *pair, "--probe", "0", "-o", str(spec), "--scaler", str(lhc / "scaler.json")]) == 0
    assert "end in Softmax, so the outputs are classes" in remarks(spec.read_text())
    (task,) = compiled(spec.read_text(), tmp_path)
    assert list(task.space.centre) == [
        Fraction(str(number)) for number in json.loads((lhc / "scaler.json").read_text())["mean"]
    ]


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    (tmp_path / "first.eqspec").write_text("mine")
    assert "is there already and is left as it is" in init(capsys, tmp_path, code=2)
    assert (tmp_path / "first.eqspec").read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path)
    pair = [str(tmp_path / f"{name}.onnx") for name in ("full", "small")]
    assert main(["init", *pair, "--probe", "0", "-o", str(tmp_path / "no folder" / "first.eqspec")]) == 2
    assert f"there is no folder {tmp_path / 'no folder'}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("a,b\n1,2\n", "has 2 columns, and the networks take 3 inputs"),
        ("a;b;c\n1,5;2;x\n", "'1,5' has a decimal comma"),
        ("a,b,c,d\n1,2,3,4\n", "there are 2 choices of 3 columns next to each other; say which with --columns"),
        ("a,b,c,d\n1,2,3,4\n", "counted from 0 (0..2 leaves out d; 1..3 leaves out a)"),
        ("colour,size\nred,1\nblue,2\n", "In column 'colour' stand words: write them as the numbers that"),
        ("a:b:c\n1:2:3\n", "has 1 column, 'a:b:c' (cells are separated by"),
        ("a;b;c;d\n1.5;1,234.5;2;3\n", "('1,234.5' in column 'b' is no number); say which"),
        ("a,b,c,d\n1,2,x,3\n4,\u22125,y,6\n", "('\u22125' in column 'b' is no number); say which"),
        ("a,b,c,d\n1,2,x,3\n4,\0,y,6\n", "('\\x00' in column 'b' is no number); say which"),
        ("a,b,c,d\n1,x,2,3\n4,y,6,7\n8,9,1,2\n", "('x' in column 'b' is no number); say which"),
        ("a,b,c\n", "has no rows of numbers"),
        ("a,b,c\n1,2,\n", "every row of"),
        ("a,b,c\n" + "1,2,3\n" * 60 + "1,oops,3\n", "row 60, column 'b': 'oops' is not a number"),
        ("a,a,c\n1,2,3\n", "names two columns 'a'"),
    ],
)
def test_tables_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, said: str) -> None:
    write_pair(tmp_path)
    (tmp_path / "table.csv").write_text(table)
    assert said in init(capsys, tmp_path, "--data", str(tmp_path / "table.csv"), code=2)


def test_where_no_row_is_sure_a_margin_is_claimed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scores x0, x1 and x2 / 5 of rows that are less than 60 % sure; the candidate gives x1 another 0.02."""
    weight = np.diag([1.0, 1.0, 0.2])
    rows = np.round(np.random.default_rng(0).uniform(0, 0.9, (60, 3)), 3)
    write_onnx(tmp_path / "full.onnx", weight, [0.0, 0.0, 0.0], ("batch", 3))
    write_onnx(tmp_path / "small.onnx", weight, [0.0, 0.02, 0.0], ("batch", 3))
    scores = rows @ weight
    classes = ["abc"[k] for k in scores.argmax(axis=1)]
    lines = [",".join([*map(str, row), label]) for row, label in zip(rows.tolist(), classes, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["u,v,w,class", *lines]) + "\n")
    options = ("--data", str(tmp_path / "table.csv"), "--takes", "raw", "--labels", "none", "--probe", "0")
    (task,) = compiled(init(capsys, tmp_path, *options), tmp_path)
    assert isinstance(task.property, Margin)
    ordered = np.sort(scores, axis=1)
    lead = ordered[:, -1] - ordered[:, -2]
    parted = scores.argmax(axis=1) != (scores + np.array([0, 0.02, 0])).argmax(axis=1)
    claimed = float(Fraction(task.property.margin))
    assert (1 / np.exp(ordered - ordered[:, -1:]).sum(axis=1)).max() < 0.6
    assert lead[parted].max(initial=0.0) < claimed <= lead.max()


def test_balls_lie_around_rows_of_which_the_claim_says_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scores 8 x0 and 8 x1 of many inputs; in every third row both are nearly the same."""
    inputs = 70
    weight = np.zeros((2, inputs))
    weight[0, 0] = weight[1, 1] = 8.0
    for name in ("full", "small"):
        write_onnx(tmp_path / f"{name}.onnx", weight, [0.0, 0.0], ("batch", inputs))
    rows = np.round(np.random.default_rng(0).uniform(0.1, 0.3, (31, inputs)), 3)
    rows[np.arange(31), np.arange(31) % 2] = 0.9
    rows[::3, :2] = 0.5, 0.501
    np.save(tmp_path / "x.npy", rows)
    np.save(tmp_path / "y.npy", rows[:, :2].argmax(axis=1))
    options = ("--data", str(tmp_path / "x.npy"), "--label-file", str(tmp_path / "y.npy"), "--takes", "raw")
    tasks = compiled(init(capsys, tmp_path, *options, "--labels", "none", "--probe", "0"), tmp_path)
    assert len(tasks) == 3
    for task in tasks:
        assert isinstance(task.property, Confidence)
        first, second = sorted(8 * rows[int(task.parameters["row"]), :2])
        assert 1 / (1 + np.exp(first - second)) >= float(Fraction(task.property.delta))


def test_labels_with_commas_are_named_in_quotes() -> None:
    order = ("cat; big", "dog, small", 'the "old" one', "-1")
    assert names_of(_joined(order)) == order
    assert names_of("a, b ,,c") == ("a", "b", "c")


def test_an_index_column_is_not_an_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As pandas writes it: a first column without a name."""
    write_pair(tmp_path)
    (tmp_path / "table.csv").write_text(",a,b,c\n0,1,2,3\n1,4,5,7\n")
    (task,) = compiled(
        init(capsys, tmp_path, "--data", str(tmp_path / "table.csv"), "--takes", "raw", "--probe", "0"), tmp_path
    )
    assert task.space.features == ("a", "b", "c")


CLASSES = ("0", "1", "0", "1", "1")
TURNING = ((0.5, 8, 3), (1.5, 2, 9), (2.5, 6, 4), (3.5, 1, 2), (5.5, 5, 7))


def _table(columns: list[tuple[str, ...]], names: str) -> str:
    return "\n".join([names, *(",".join(row) for row in zip(*columns, strict=True))]) + "\n"


@pytest.mark.parametrize("edge", ["first", "last"])
@pytest.mark.parametrize("counted_from", [0, 1])
def test_a_column_at_the_edge_that_numbers_the_classes_is_the_label(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], edge: str, counted_from: int
) -> None:
    """As scikit-learn's tables have it, whatever the column is called."""
    write_pair(tmp_path)
    inputs = [tuple(str(number) for number in column) for column in zip(*TURNING, strict=True)]
    classes = tuple(str(int(label) + counted_from) for label in CLASSES)
    last = edge == "last"
    columns, names = ([*inputs, classes], "a,b,c,sort") if last else ([classes, *inputs], "sort,a,b,c")
    (tmp_path / "table.csv").write_text(_table(columns, names))
    spec = init(capsys, tmp_path, "--data", str(tmp_path / "table.csv"), "--takes", "raw", "--probe", "0")
    assert "column 'sort' is taken for the label" in remarks(spec)
    (task,) = compiled(spec, tmp_path)
    assert task.space.features == ("a", "b", "c")


@pytest.mark.parametrize(
    "edges",
    [
        (("0.5", "1", "2", "3", "4"), ("0.1", "0.2", "0.3", "0.4", "0.5")),  # a target that is no class
        (CLASSES, CLASSES),  # an input that counts as the label does
        (("4", "8", "2", "6", "5"), ("0", "1", "0", "0", "0")),  # a class that occurs once may be anything
        (("4", "8", "2", "6", "5"), ("0", "1", "2", "0", "1")),  # more classes than outputs
    ],
)
def test_columns_that_may_all_be_inputs_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], edges: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    write_pair(tmp_path)
    inner = [tuple(str(row[i]) for row in TURNING) for i in (0, 1)]
    (tmp_path / "table.csv").write_text(_table([edges[0], *inner, edges[1]], "a,b,c,d"))
    assert "2 choices of 3 columns" in init(capsys, tmp_path, "--data", str(tmp_path / "table.csv"), code=2)


def test_ctrl_c_while_trying_leaves_no_draft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search hears Ctrl-C itself and gives what it knows; that is not taken for 'undecided'."""
    write_pair(tmp_path)

    def stopped(self: Runner, task: Task, options: Options) -> Result:
        result: Result = run(self, task, options=options)
        return replace(result, verdict=Verdict.UNKNOWN, reason=Reason.INTERRUPTED)

    run = Runner.run
    monkeypatch.setattr(Runner, "run", stopped)
    spec = tmp_path / "first.eqspec"
    assert (
        main(
            [
                "init",
                str(tmp_path / "full.onnx"),
                str(tmp_path / "small.onnx"),
                "-o",
                str(spec),
                "--normalisation",
                "raw",
            ]
        )
        == 130
    )
    assert "Interrupted." in capsys.readouterr().err
    assert not spec.exists()
