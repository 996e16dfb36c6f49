"""`eqspec verify`: what its options mean, and that the spec it prints is the question it answered."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import eqspec
from eqspec.cli import main
from eqspec.run.runner import Runner
from eqspec.spec.formatting import formatted
from eqspec.tasks import serialisation
from eqspec.tasks.task import Task
from small_specs import write_onnx
from unit.draft.small_pairs import MEAN, STD, write_pair

Box = list[tuple[Fraction, Fraction]]
LOWEST, HIGHEST = ("1.5", "-20", "0.1"), ("3", "40", "0.3")
"""Of the complete rows of train.csv."""


@pytest.fixture(autouse=True)
def beside_the_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pair(tmp_path)
    monkeypatch.chdir(tmp_path)


def verify(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = main(["verify", "full.onnx", "small.onnx", *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def drafted(capsys: pytest.CaptureFixture[str], *options: str) -> Task:
    """The one task of the spec that is printed, which is in the one style."""
    code, text, err = verify(capsys, *options, "--only-spec")
    assert code == 0, err
    assert formatted(text) == text
    (task,) = eqspec.loads(text).tasks
    return task


def raw_box(task: Task) -> Box:
    """The box in raw units."""
    return [
        (c + s * low, c + s * high)
        for c, s, low, high in zip(task.space.centre, task.space.scale, task.lower_exact, task.upper_exact, strict=True)
    ]


def numbers(*texts: str) -> list[Fraction]:
    return [Fraction(text) for text in texts]


SIGMA = [(Fraction(m) - Fraction(s) / 2, Fraction(m) + Fraction(s) / 2) for m, s in zip(MEAN, STD, strict=True)]
SPANNED = list(zip(numbers(*LOWEST), numbers(*HIGHEST), strict=True))
BOUNDS = list(zip(numbers("-1", "-1/3", "-0.001"), numbers("1", "2.5", "4"), strict=True))


@pytest.mark.parametrize(
    ("options", "box", "raw"),
    [
        (["--sigma", "0.5", "--scaler", "scaler.json"], SIGMA, False),
        (["--sigma", "1/2", "--scaler", "scaler.json", "--takes", "raw"], SIGMA, True),
        (["--data", "train.csv", "--takes", "raw"], SPANNED, False),
        (["--data", "train.csv", "--scaler", "scaler.json"], SPANNED, False),
        (["--data", "train.csv", "--scaler", "range.json"], SPANNED, False),
        (["--data", "train.csv", "--columns", "0..2", "--takes", "raw"], SPANNED, False),
        (["--lower", "-1,-1/3,-1e-3", "--upper", "1,2.5,4"], BOUNDS, False),
        (["--lower=-1", "--upper", "2"], [(Fraction(-1), Fraction(2))] * 3, False),
        (["--lower", "-1,-2,0", "--upper", "2"], [(Fraction(n), Fraction(2)) for n in (-1, -2, 0)], False),
        (
            ["--lower", "0", "--upper", "1", "--data", "train.csv", "--normalisation", "raw"],
            [(Fraction(0), Fraction(1))] * 3,
            False,
        ),
    ],
)
def test_the_region_is_the_one_that_was_meant(
    capsys: pytest.CaptureFixture[str], options: list[str], box: Box, raw: bool
) -> None:
    task = drafted(capsys, *options, "--top1")
    assert raw_box(task) == box
    assert task.reference_takes_raw is task.candidate_takes_raw is raw


def test_sigma_can_come_from_the_columns_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    """Mean and std of the complete rows 1.5, 3, 2.5: 7/3 and sqrt(7/18)."""
    for takes in ("raw", "normalised"):
        task = drafted(capsys, "--sigma", "1", "--data", "train.csv", "--top1", "--takes", takes)
        low, high = raw_box(task)[0]
        assert float(low) == pytest.approx(7 / 3 - (7 / 18) ** 0.5, abs=1e-6)
        assert float(high) == pytest.approx(7 / 3 + (7 / 18) ** 0.5, abs=1e-6)
        assert task.reference_takes_raw is (takes == "raw")


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        (["--top1"], eqspec.Top1()),
        (["--confidence", "1 - 1e-3"], eqspec.Confidence(Fraction("999/1000"))),
        (["--top1", "--confidence", "0.9"], eqspec.Confidence(Fraction("0.9"))),
        (["--margin", "0.5"], eqspec.Margin(Fraction("0.5"))),
        (["--eps", "8/255"], eqspec.Epsilon(Fraction("8/255"))),
        (["--eps", "0.1", "--norm", "l1", "--comparing", "1"], eqspec.Epsilon(Fraction("0.1"), "l1", (1,))),
        (["--eps", "0.1", "--comparing", "b", "--outputs", "a,b"], eqspec.Epsilon(Fraction("0.1"), outputs=(1,))),
    ],
)
def test_the_claim_is_the_one_that_was_meant(
    capsys: pytest.CaptureFixture[str], options: list[str], claim: eqspec.Property
) -> None:
    assert drafted(capsys, *options, "--lower", "0", "--upper", "1").property == claim


def test_names_come_from_files_and_header(capsys: pytest.CaptureFixture[str]) -> None:
    task = drafted(
        capsys, "--data", "train.csv", "--takes", "raw", "--top1", "--outputs", "left, right", "--decide", "min"
    )
    assert task.space.features == ("speed", "load", "all_")
    assert task.space.units == ("m/s", None, None)
    assert task.space.outputs == ("left", "right")
    assert task.space.decide == "min"
    assert (task.reference_name, task.candidate_name) == ("full", "small")


@pytest.mark.parametrize(
    "options",
    [
        ["--sigma", "0.5", "--scaler", "scaler.json", "--eps", "0.3", "--timeout", "2.5"],
        ["--data", "train.csv", "--takes", "normalised", "--top1"],
        ["--lower", "-1", "--upper", "1", "--eps", "0.1"],
    ],
)
@pytest.mark.parametrize("kept", [False, True])
def test_the_spec_shown_compiles_to_the_task_that_was_decided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str], kept: bool
) -> None:
    ran: list[Task] = []
    original = Runner.begin

    def recording(self: Runner, task: Task, *rest: Any, **named: Any) -> Any:
        ran.append(task)
        return original(self, task, *rest, **named)

    monkeypatch.setattr(Runner, "begin", recording)
    (tmp_path / "deep").mkdir()
    file = ["--spec", "deep/asked.eqspec"] if kept else []
    _, out, _ = verify(capsys, *options, *file)
    if kept:
        assert "eqspec 1" not in out
        spec = eqspec.load("deep/asked.eqspec")
    else:
        spec = eqspec.loads("eqspec 1" + out.partition("\neqspec 1")[2])
    (task,), (decided,) = spec.tasks, ran
    assert without_places(task) == without_places(decided)
    assert task.budget == decided.budget


def without_places(task: Task) -> dict[str, Any]:
    return {key: value for key, value in serialisation.to_json(task).items() if key not in ("source", "networks")}


@pytest.mark.parametrize(
    ("options", "code", "verdict"),
    [
        (["--lower", "0", "--upper", "1", "--eps", "0.26"], 0, "equivalent"),
        (["--lower", "0", "--upper", "1", "--eps", "0.24"], 1, "different"),
        (["--lower", "0", "--upper", "1", "--eps", "0.26", "--norm", "l2"], 0, "equivalent"),
        (["--lower", "0", "--upper", "1", "--top1"], 1, "different"),
        (["--lower", "0", "--upper", "1", "--margin", "0.3"], 0, "equivalent"),
        (["--lower", "0", "--upper", "1", "--margin", "9"], 1, "equivalent"),
    ],
)
def test_answers_and_exit_codes(
    capsys: pytest.CaptureFixture[str], options: list[str], code: int, verdict: str
) -> None:
    found, out, err = verify(capsys, *options, "--format", "json")
    (result,) = json.loads(out)
    assert (found, result["verdict"]) == (code, verdict), err


def test_a_witness_is_set_apart_from_a_row_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capsys, "--data", "train.csv", "--takes", "raw", "--eps", "0.2", "--format", "json")
    (result,) = json.loads(out)
    witness = result["witness"]
    assert code == 1
    assert witness["nearest"]["table"] == witness["base_row"]["table"] == "train.csv"
    lines = Path("train.csv").read_text(encoding="utf-8").splitlines()[1:]
    row = [float(cell) for cell in lines[witness["base_row"]["row"]].split(",")[:3]]
    moved = [name for name, x in zip(witness["raw"], row, strict=True) if witness["raw"][name] != x]
    assert witness["moved"] == moved
    assert len(moved) < 3


def test_a_witness_can_be_saved_and_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = verify(capsys, "--data", "train.csv", "--takes", "raw", "--eps", "0.2", "--save-witness", "found")
    assert code == 1
    assert re.search(r"\n  at \w+ = .*onnxruntime agrees", out, re.DOTALL)
    assert main(["replay", str(tmp_path / "found" / "verify.json")]) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--top1"], "on which inputs? give --sigma K"),
        (["--sigma", "1", "--top1"], "sigma needs a mean and a std: give --scaler FILE, or --data FILE"),
        (["--sigma", "1", "--scaler", "range.json", "--top1"], "holds the numbers of minmax"),
        (["--lower", "0", "--top1"], "--lower without --upper"),
        (["--upper", "0", "--top1"], "--upper without --lower"),
        (["--sigma", "1", "--lower", "0", "--upper", "1", "--top1"], "both give a region"),
        (["--lower", "0,1", "--upper", "1", "--top1"], "--lower has 2 numbers for 3 inputs"),
        (["--lower", "0", "--upper", "1"], "what is claimed? give --top1"),
        (["--lower", "0", "--upper", "1", "--eps", "1", "--margin", "1"], "--eps and --margin are claims of their own"),
        (["--lower", "0", "--upper", "1", "--top1", "--norm", "l1"], "--norm and --comparing go with --eps"),
        (["--lower", "0", "--upper", "1", "--eps", "zero point"], "--eps 'zero point' is not a number"),
        (["--lower", "0", "--upper", "1", "--eps", "small"], "--eps 'small' is not a number: 'small' stands for no"),
        (
            ["--lower", "0", "--upper", "1", "--confidence", "99.5 %"],
            "--confidence '99.5 %' is not a number; write it as 0.995",
        ),
        (["--lower", "0", "--upper", "1", "--top1", "--takes", "normalised"], "normalised by what?"),
        (["--data", "nowhere.csv", "--top1"], "cannot read nowhere.csv: no such file"),
        (["--data", "train.csv", "--columns", "0..1", "--top1"], "--columns 0..1 are 2 columns, the networks take 3"),
        (["--columns", "0..1", "--top1"], "--columns says which columns of --data"),
        (["--scaler", "nowhere.json", "--data", "train.csv", "--top1"], "cannot read nowhere.json: no such file"),
        (["--scaler", "train.csv", "--data", "train.csv", "--top1"], "neither mean and std nor low and high"),
        (["--data", "train.csv", "--takes", "raw", "--top1", "--outputs", "a"], "1 names for 2 outputs"),
        (
            ["--data", "train.csv", "--takes", "raw", "--top1", "--spec", "train.csv"],
            "is there already and is left as it is",
        ),
        (
            ["--data", "train.csv", "--takes", "raw", "--top1", "--spec", "no/where.eqspec"],
            "cannot write to no/where.eqspec",
        ),
    ],
)
def test_what_is_missing_or_contradicts_itself_is_said(
    capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    code, out, err = verify(capsys, *options)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


def test_findings_of_the_language_reach_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = verify(capsys, "--lower", "1", "--upper", "0", "--top1")
    assert code == 2
    assert "E131" in err


@pytest.mark.parametrize("other", [("batch", 2), ("batch", 4)])
def test_networks_that_do_not_fit_together(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, other: tuple[str, int]
) -> None:
    write_onnx(tmp_path / "small.onnx", [[1.0] * other[1]] * 2, [0.0, 0.0], other)
    code, _, err = verify(capsys, "--lower", "0", "--upper", "1", "--top1")
    assert code == 2
    assert f"full.onnx has 3 inputs, but small.onnx has {other[1]}" in err


@pytest.mark.parametrize("name", ["in.onnx", "8 bit.onnx", "top1.onnx", "a-b.c.onnx", "ünet.onnx", "full.onnx"])
def test_any_file_name_becomes_a_name(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "small.onnx").rename(tmp_path / "other" / name)
    code = main(["verify", "full.onnx", f"other/{name}", "--lower", "0", "--upper", "1", "--eps", "0.26"])
    assert code == 0
    assert f'"other/{name}"' in capsys.readouterr().out


def test_a_path_that_the_language_cannot_write_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "small.onnx").rename(tmp_path / 'sm"all.onnx')
    assert main(["verify", "full.onnx", 'sm"all.onnx', "--lower", "0", "--upper", "1", "--top1"]) == 2
    assert "rename it without quotes" in capsys.readouterr().err


def test_the_claim_may_be_about_float32_runtimes(capsys: pytest.CaptureFixture[str]) -> None:
    box = ("--lower", "-1", "--upper", "1", "--eps", "5")
    assert drafted(capsys, *box, "--float32").arithmetic == "float32"
    assert drafted(capsys, *box).arithmetic == "real"


def test_numbers_are_looked_at_before_networks_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    """A large network takes a while to read, and a typing error should not wait for it."""
    assert main(["verify", "missing.onnx", "missing.onnx", "--lower", "0", "--upper", "1", "--eps", "0.1 x"]) == 2
    assert "--eps '0.1 x' is not a number" in capsys.readouterr().err
