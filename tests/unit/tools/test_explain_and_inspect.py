"""`eqspec explain` and `eqspec inspect`: the statement with its names and numbers, and what a file holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import small_tasks
from eqspec.cli import main
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverWraps, Property, Top1
from eqspec.report.statement import NOT_PROMISED, statement
from eqspec.tasks.task import LinearConstraint
from small_specs import write_onnx


def explained(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["explain", *arguments]) == code
    shown = capsys.readouterr()
    return shown.err if code else shown.out


@pytest.fixture
def spec(root: Path, tmp_path: Path) -> str:
    tiny = root / "specs" / "tiny" / "tiny.eqspec"
    path = tmp_path / "a.eqspec"
    path.write_text(
        f'eqspec 1\ninclude "{tiny}" as t\nparam most = 0.3\n## A quarter is what it is off.\n'
        "check near { prove t.raised stays within e of t.base comparing [left]  on t.square\n"
        "  for e in [0.2, most]  expect different }\n"
        "check far  { prove t.raised stays within e of t.base  on t.square  find smallest e in 0.1 .. 1 to 0.01 }\n"
    )
    return str(path)


def test_a_check_is_explained_with_names_and_numbers(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = explained(capsys, f"{spec}:near")
    for part in (
        "check near",
        "## A quarter is what it is off.",
        "raised stays within 0.2 of base",
        "≤ 0.2",
        "S = {left}",
        "x ∈ [-1, 1]",
        "base.onnx, sha256",
        "2 tasks",
        "near[e=0.3]  expect different",
        *(line[:40] for line in NOT_PROMISED),
    ):
        assert part in shown
    assert "check far" not in shown


def test_a_search_is_explained_as_a_bracket(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = explained(capsys, spec)
    assert "check near" in shown
    assert "the smallest e from 0.1 to 1" in shown
    assert "bracket" in shown


def test_params_count(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "near[e=0.7]" in explained(capsys, spec, "-p", "most=0.7")


def test_a_check_that_is_not_there_suggests_another(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'near'?" in explained(capsys, f"{spec}:neer", code=2)


def test_codes_are_explained_in_either_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert "E133: an empty region" in explained(capsys, "e133")
    assert "did you mean 'E133'?" in explained(capsys, "E1333", code=2)


def formula(claim: object, **fields: object) -> str:
    task = small_tasks.task(small_tasks.identity(3), small_tasks.identity(3), claim, **fields)  # type: ignore[arg-type]
    return statement(task).formula


def test_every_claim_has_its_formula() -> None:
    assert formula(Epsilon("1/3", "l2")) == "∀x ∈ X:  ‖ĝ(x) − f̂(x)‖_2 ≤ 1/3"
    assert formula(Epsilon("0.5", "l1", (0,))) == "∀x ∈ X:  ‖ĝ(x) − f̂(x)‖|S_1 ≤ 0.5"
    assert formula(Top1()) == "∀x ∈ X ∀k:  (∀j: f̂ₖ(x) ≥ f̂ⱼ(x)) ⇒ (∀j: ĝₖ(x) ≥ ĝⱼ(x))"
    assert "softmaxₖ(f̂(x)) ≥ 0.9 ⇒" in formula(Confidence("0.9"))
    assert "f̂ₖ(x) − f̂ⱼ(x) ≥ 2) ⇒" in formula(Margin(2))
    linear = formula(Linear((1, 0, 0), ("-1/2", 0, 0), 1, strict=True))
    assert linear == "∀x ∈ X:  pruned[y0] - 0.5 * full[y0] < 1"


def test_the_relaxation_of_a_confidence_is_said() -> None:
    five = small_tasks.identity(5)
    notes = " ".join(statement(small_tasks.task(five, five, Confidence("0.9"))).notes)
    assert "down to 0.6923" in notes  # 0.9 / (0.9 (2 - 5) + 5 - 1), as the description of the language says
    two = small_tasks.identity(2)
    assert "exactly a lead of" in " ".join(statement(small_tasks.task(two, two, Confidence("0.9"))).notes)


def test_the_region_is_in_raw_units() -> None:
    size = small_tasks.identity(2)
    space = small_tasks.space(
        2, 2, centre=(Fraction(10), Fraction(0)), scale=(Fraction(2), Fraction(4)), units=("m", None)
    )
    constraint = LinearConstraint((Fraction(1), Fraction(-1)), Fraction(1))
    task = small_tasks.task(size, size, Top1(), [-1, 3], [1, 3], space=space, constraints=(constraint,))
    assert statement(task).region == ("x0 ∈ [8, 12] m", "x1 = 12", "0.5 * x0 - 0.25 * x1 ≤ 6")


@pytest.mark.parametrize(
    ("centre", "scale", "said"),
    [
        ((0, 0), (1, 1), "x"),
        ((0, 0), (16, 16), "x / 16"),  # minmax low 0 high 16
        ((-1, -1), (2, 2), "(x + 1) / 2"),
        ((3, 3), (1, 1), "x − 3"),
        ((0, 3), (1, 1), "(x − shift) / scale, feature by feature"),
        ((3, 3), (1, 2), "(x − shift) / scale, feature by feature"),
    ],
)
def test_the_normalisation_is_said_where_a_network_is_normalised(
    centre: tuple[int, int], scale: tuple[int, int], said: str
) -> None:
    """A space has a shift and a scale, whether they are a mean and a std or not."""
    size = small_tasks.identity(2)
    space = small_tasks.space(2, 2, centre=tuple(map(Fraction, centre)), scale=tuple(map(Fraction, scale)))
    task = small_tasks.task(size, size, Top1(), space=space, candidate_takes_raw=True)
    assert f"N(x) = {said}" in statement(task).symbols
    raw = replace(task, reference_takes_raw=True)
    assert not any("N(x)" in line for line in statement(raw).symbols)


def test_decide_min_turns_the_scores() -> None:
    size = small_tasks.identity(2)
    task = small_tasks.task(size, size, Top1(), space=small_tasks.space(2, 2, decide="min"))
    assert "smallest" in statement(task).words
    assert statement(task).symbols[0].startswith("f̂(x) = −f(N(x))")


@pytest.mark.parametrize("claim", [Linear((1, 0), (0, 0), 1), Epsilon(1), NeverWraps()])
def test_decide_min_turns_no_scores_that_decide_nothing(claim: Property) -> None:
    """An inequality is about the numbers of the file, whichever of them decides."""
    size = small_tasks.identity(2)
    task = small_tasks.task(size, size, claim, space=small_tasks.space(2, 2, decide="min"))
    assert not any("−" in line for line in statement(task).symbols)


def test_inspect_shows_what_a_file_holds(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(root / "specs" / "lhc" / "reference.onnx")]) == 0
    shown = capsys.readouterr().out
    for part in (
        "[batch, 16]",
        "Gemm × 3, Relu × 2, Softmax",
        "16-20-20-5, 40 ReLU",
        "left out",
        "taken exactly",
        "sha256",
    ):
        assert part in shown


def test_inspect_names_what_is_not_supported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Det", ["x"], ["y"], name="act")],
        "g",
        [value("x", TensorProto.FLOAT, [1, 2])],
        [value("y", TensorProto.FLOAT, [1, 2])],
    )
    onnx.save(helper.make_model(graph), str(tmp_path / "a.onnx"))
    (tmp_path / "b.onnx").write_text("no network")
    assert main(["inspect", str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx"), str(tmp_path / "c.onnx")]) == 2
    shown = capsys.readouterr()
    assert "not supported" in shown.out
    assert "Det" in shown.out
    assert "x float[1, 2]" in shown.out
    assert shown.err.count("cannot be used") == 3


def test_inspect_says_what_became_of_a_classifier(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As skl2onnx writes them: a label that nobody compares, and probabilities behind a Reshape."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Softmax", ["x"], ["p"], axis=1),
            helper.make_node("ArgMax", ["p"], ["label"], axis=1, keepdims=0),
            helper.make_node("Reshape", ["p", "shape"], ["y"]),
        ],
        "classifier",
        [value("x", TensorProto.FLOAT, ["n", 3])],
        [value("label", TensorProto.INT64, ["n"]), value("y", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor("shape", TensorProto.INT64, [2], [-1, 3])],
    )
    path = tmp_path / "a.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    assert main(["inspect", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "output 'label' is left alone" in shown
    assert "Softmax: left out" in shown
    assert "none: the outputs are scores" not in shown


def test_inspect_says_that_outputs_are_those_of_a_sigmoid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_onnx(tmp_path / "a.onnx", [[1, 2]], [0])
    model = onnx.load(path)
    model.graph.node[-1].output[0] = "z"
    model.graph.node.append(helper.make_node("Sigmoid", ["z"], ["y"]))
    onnx.save(model, path)
    assert main(["inspect", str(path)]) == 0
    assert "those of a Sigmoid, from 0 to 1" in " ".join(capsys.readouterr().out.split())


def test_inspect_reads_nnet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["// a network", "1,1,1,1,", "1,1,", "0,", "-1,", "1,", "0,0,", "1,1,", "2,", "3,"]
    (tmp_path / "a.nnet").write_text("\n".join(lines) + "\n")
    assert main(["inspect", str(tmp_path / "a.nnet")]) == 0
    assert "1 input -> 1 output" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("other", "together"),
    [
        ("permuted", "3 moved"),
        ("scaled", "3 rescaled"),
        ("split", "1 merged"),
        ("wider", "neurons without effect left out"),
        ("raised", "neurons go together in the order of the files"),
    ],
)
def test_inspect_says_which_neurons_of_two_networks_go_together(
    root: Path, capsys: pytest.CaptureFixture[str], other: str, together: str
) -> None:
    files = [str(root / "specs" / "tiny" / f"{name}.onnx") for name in ("base", other)]
    assert main(["inspect", *files]) == 0
    assert together in capsys.readouterr().out.partition("as a pair")[2]


def test_inspect_says_why_two_networks_do_not_compare(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(root / "specs" / name) for name in ("tiny/base.onnx", "cells/folded.onnx")]
    assert main(["inspect", *files]) == 0
    assert "no: 2 inputs" in capsys.readouterr().out
