"""`eqspec diff` and `eqspec.diff` against onnxruntime, and what they say where there is nothing to say."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import eqspec
from eqspec.cli import main
from eqspec.cli.exit import ExitCode
from eqspec.differences import worth_claiming
from eqspec.property import Confidence, Epsilon, Margin
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Reason, Verdict
from small_specs import write_onnx
from unit.certificates.files import write
from unit.draft.small_pairs import write_pair
from unit.networks.firmware.written import Activation, Dense, Fixed, Written

TINY = ("base.onnx", "raised.onnx")


def runtime(path: Path, inputs: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    kind = np.float64 if given.type == "tensor(double)" else np.float32
    return np.concatenate([session.run(None, {given.name: row[None].astype(kind)})[0] for row in inputs]).astype(float)


def classifiers(folder: Path, seed: int = 0) -> tuple[Path, Path]:
    """Two files of 5-8-4, the second one with noise on its weights."""
    random = np.random.default_rng(seed)
    layers = [(random.normal(size=(8, 5)), random.normal(size=8)), (random.normal(size=(4, 8)), random.normal(size=4))]
    noisy = [(weight + random.normal(0, 0.1, weight.shape), bias) for weight, bias in layers]
    write(folder / "full.onnx", layers)
    write(folder / "small.onnx", noisy)
    return folder / "full.onnx", folder / "small.onnx"


@pytest.mark.parametrize("seed", range(3))
def test_what_is_seen_at_rows_is_what_onnxruntime_answers(seed: int, tmp_path: Path) -> None:
    full, small = classifiers(tmp_path, seed)
    rows = np.random.default_rng(seed).normal(size=(200, 5))
    found = eqspec.diff(full, small, data=rows)
    f, g = runtime(full, rows), runtime(small, rows)
    apart = np.abs(g - f)
    assert found.outputs.apart == pytest.approx(apart)
    assert found.outputs.largest.difference == pytest.approx(apart.max())
    assert found.outputs.largest.row == np.unravel_index(apart.argmax(), apart.shape)[0]
    differ = f.argmax(axis=1) != g.argmax(axis=1)
    assert found.to_json()["decisions"]["differ"] == differ.sum() > 0
    shares = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    assert found.to_json()["decisions"]["surest"] == pytest.approx(shares.max(axis=1)[differ].max())


@pytest.mark.parametrize("seed", range(3))
def test_the_attack_stays_in_the_box_and_reaches_what_it_says(seed: int, tmp_path: Path) -> None:
    full, small = classifiers(tmp_path, seed)
    rows = np.random.default_rng(seed).normal(size=(20, 5))
    attacked = eqspec.diff(full, small, data=rows).outputs.attacked
    assert attacked is not None, "the box of so few rows has corners that are further apart"
    assert (attacked.point >= rows.min(axis=0)).all()
    assert (attacked.point <= rows.max(axis=0)).all()
    apart = np.abs(runtime(small, attacked.point[None]) - runtime(full, attacked.point[None]))
    assert attacked.difference == pytest.approx(apart.max())


@pytest.mark.parametrize("seed", range(3))
def test_what_is_worth_claiming_is_spoken_against_by_nothing(seed: int, tmp_path: Path) -> None:
    """No point of many more that are drawn here is near the distance, or decides otherwise where that sure."""
    full, small = classifiers(tmp_path, seed)
    claims = eqspec.diff(full, small, lower=-1, upper=1).claims
    rows = np.random.default_rng(99).uniform(-1, 1, (400, 5))
    f, g = runtime(full, rows), runtime(small, rows)
    assert claims.eps is not None
    assert np.abs(g - f).max() < claims.eps
    if claims.confidence is not None:
        sure = (np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)).max(axis=1) >= claims.confidence
        assert (f.argmax(axis=1) == g.argmax(axis=1))[sure].all()


def close_scores(folder: Path) -> tuple[str, str]:
    """Two files of 5-8-4 whose scores lie so close together that no class gets a confidence of 60 %."""
    random = np.random.default_rng(0)
    hidden, last = (random.normal(size=(8, 5)), random.normal(size=8)), random.normal(size=(4, 8))
    write(folder / "full.onnx", [hidden, (0.02 * last, np.zeros(4))])
    write(folder / "small.onnx", [hidden, (0.02 * last + random.normal(0, 2e-3, (4, 8)), np.zeros(4))])
    return str(folder / "full.onnx"), str(folder / "small.onnx")


def test_where_no_confidence_is_reached_a_margin_is_suggested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], patient: None
) -> None:
    full, small = close_scores(tmp_path)
    code, out, _ = run(capsys, "diff", full, small, "--lower=-1", "--upper=1", "--format", "json")
    found = json.loads(out)
    claims = found["worth_claiming"]
    assert (code, claims["confidence"], claims["margin_proved"]) == (ExitCode.AS_EXPECTED, None, True)
    rows = np.random.default_rng(99).uniform(-1, 1, (400, 5))
    f, g = runtime(Path(full), rows), runtime(Path(small), rows)
    best = np.sort(f, axis=1)
    leads = best[:, -1] - best[:, -2] >= claims["margin"]
    assert leads.any()
    assert (f.argmax(axis=1) == g.argmax(axis=1))[leads].all()
    assert "--margin" in found["commands"][-1]
    code, said, _ = run(capsys, *shlex.split(found["commands"][-1])[1:])
    assert code == ExitCode.AS_EXPECTED
    assert "vacuous" not in said


@pytest.mark.parametrize(("gain", "worth"), [(1.2, True), (-5, False)])
def test_no_distance_is_suggested_that_any_two_probabilities_keep(gain: float, worth: bool, tmp_path: Path) -> None:
    """Both end in a Sigmoid, so that everything stays within 1; z and -5 z go more than 1/2 apart."""
    paths = [tmp_path / "f.onnx", tmp_path / "g.onnx"]
    for path, factor in zip(paths, (1, gain), strict=True):
        write_onnx(path, [[factor, factor]], [0])
        proto = onnx.load(path)
        proto.graph.node[-1].output[0] = "z"
        proto.graph.node.append(onnx.helper.make_node("Sigmoid", ["z"], [proto.graph.output[0].name]))
        onnx.save(proto, path)
    found = eqspec.diff(*paths, lower=-1, upper=1)
    eps = found.claims.eps
    assert (eps is not None) == worth
    assert eps is None or found.outputs.worst.difference < eps < 1
    assert worth or "between 0 and 1 anyway" in " ".join(str(found).split())


def test_a_table_is_taken_as_verify_takes_it(tmp_path: Path) -> None:
    full, small = write_pair(tmp_path)
    found = eqspec.diff(full, small, data=tmp_path / "train.csv", scaler=tmp_path / "scaler.json")
    assert found.place.words == "3 rows of train.csv"
    assert found.place.rows == (0, 1, 3), "the row with a missing number is left out"
    raw = np.array([[1.5, -20, 0.1], [3, 0, 0.3], [2.5, 40, 0.2]])
    assert found.place.points == pytest.approx((raw - [2, 10, 0.25]) / [0.5, 20, 0.125])
    assert found.outputs.largest.difference == pytest.approx(0.25)
    assert [(layer.largest_change, layer.bias_change) for layer in found.layers.steps] == [(0.0, 0.25)]


def test_rows_outside_of_a_region_are_left_out(tmp_path: Path) -> None:
    full, small = write_pair(tmp_path)
    given: dict[str, Any] = {"data": tmp_path / "train.csv", "normalisation": "raw"}
    assert eqspec.diff(full, small, **given, lower=[0, -30, 0], upper=[2.6, 50, 1]).place.rows == (0, 3)
    with pytest.raises(eqspec.InputError, match=r"none of the 3 rows of train\.csv lies in the region"):
        eqspec.diff(full, small, **given, lower=100, upper=101)


def test_a_normalisation_without_a_table_asks_where_to_look(tmp_path: Path) -> None:
    full, small = write_pair(tmp_path)
    with pytest.raises(eqspec.InputError, match=r"on which inputs.*--sigma K"):
        eqspec.diff(full, small, scaler=tmp_path / "scaler.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((3, 2)), r"shape \(3, 2\); \(N, 3\)"),
        (np.zeros((0, 3)), r"shape \(0, 3\)"),
        ([[0, 1, float("nan")]], "row 0 has a number that is not finite"),
        ({"a": 1}, "neither a path nor an array"),
    ],
)
def test_data_of_another_form_is_refused(data: Any, message: str, tmp_path: Path) -> None:
    full, small = write_pair(tmp_path)
    with pytest.raises(eqspec.InputError, match=message):
        eqspec.diff(full, small, data=data)


def test_networks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    full, _ = write_pair(tmp_path)
    other = write_onnx(tmp_path / "other.onnx", np.eye(2), [0.0, 0.0])
    with pytest.raises(eqspec.InputError, match=r"has 3 inputs, but .* has 2"):
        eqspec.diff(full, other)


def test_numbers_that_overflow_are_no_difference_that_can_be_claimed(tmp_path: Path) -> None:
    write(tmp_path / "a.onnx", [(np.array([[1e200], [1.0]]), np.zeros(2)), (np.array([[1e200, 1.0]] * 2), np.zeros(2))])
    write(tmp_path / "b.onnx", [(np.array([[1.0], [1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]] * 2), np.zeros(2))])
    found = eqspec.diff(tmp_path / "a.onnx", tmp_path / "b.onnx", lower=1, upper=2)
    assert found.claims.eps is None
    assert found.commands() == []
    assert "not finite" in str(found)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["largest"]["difference"] is None


def test_firmware_stands_beside_the_network_it_was_made_of(tmp_path: Path) -> None:
    weights = [Fraction(n, 8) for n in (3, -5, 8, 1)]
    kind = Fixed(16, 8)
    layers = (Dense(2, weights, [Fraction(1, 2), Fraction(0)], kind, kind, kind), Activation("relu", Fixed(6, 3)))
    folder = Written(2, Fixed(16, 8), layers).write(tmp_path / "project")
    matrix = np.array([float(w) for w in weights]).reshape(2, 2).T
    write(tmp_path / "float.onnx", [(matrix, np.array([0.5, 0.0])), (np.eye(2), np.zeros(2))])
    found = eqspec.diff(tmp_path / "float.onnx", folder, lower=-1, upper=1)
    assert 0 < found.outputs.worst.difference <= 0.125 + 1e-2, "the last type cuts off eighths"
    assert found.claims.floor is not None
    assert found.claims.eps is not None
    assert found.claims.eps >= found.claims.floor


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("columns", [60, 120])
@pytest.mark.parametrize("pair", [TINY, ("base.onnx", "deeper.onnx")], ids=lambda pair: pair[1])
def test_a_page_fits_and_its_commands_run(
    pair: tuple[str, str], columns: int, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "specs" / "tiny")
    monkeypatch.setenv("COLUMNS", str(columns))
    code, page, _ = run(capsys, "diff", *pair)
    assert code == ExitCode.AS_EXPECTED
    body, _, commands = page.partition("to prove it")
    assert max(map(len, body.splitlines())) <= columns
    assert "…" not in body  # digits that are left out are another number
    assert "Samples: nothing" in " ".join(body.split())
    assert "-1 .. 1" in body
    found = [shlex.split(line) for line in commands.splitlines()[1:]]
    assert found
    for words in found:
        assert words[:2] == ["eqspec", "verify"]
        code, _, said = run(capsys, *words[1:])
        assert code in (ExitCode.AS_EXPECTED, ExitCode.UNDECIDED), said


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried has time enough, on any machine."""
    monkeypatch.setattr(worth_claiming, "_TRIAL", 120.0)
    monkeypatch.setattr(worth_claiming, "_TRIALS", 360.0)


@pytest.mark.parametrize("radius", ["0.01", "0.2"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_called_proved_is_what_verify_proves(
    seed: int, radius: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], patient: None
) -> None:
    full, small = map(str, classifiers(tmp_path, seed))
    _, out, _ = run(capsys, "diff", full, small, f"--lower=-{radius}", f"--upper={radius}", "--format", "json")
    found = json.loads(out)
    claims = found["worth_claiming"]
    proved = [claims[f"{kind}_proved"] for kind in ("eps", "confidence", "margin") if claims[kind] is not None]
    assert claims["eps_proved"]
    for command, is_proved in zip(found["commands"], proved, strict=True):
        code, said, _ = run(capsys, *shlex.split(command)[1:])
        if is_proved:
            assert code == ExitCode.AS_EXPECTED
            assert "vacuous" not in said


def test_a_claim_is_called_proved_by_the_search_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch, patient: None
) -> None:
    """With a search that answers nothing, or the opposite, nothing is proved, and what is refuted is not suggested."""
    networks = [eqspec.read_network(root / "specs" / "tiny" / name) for name in TINY]
    before = eqspec.diff(*networks, lower=-1, upper=1).claims
    assert before.eps_proved
    asked: list[object] = []

    def answer(verdict: Verdict) -> None:
        def run(_: Runner, task: Task) -> Result:
            assert isinstance(task.property, Epsilon | Confidence | Margin)
            if isinstance(task.property, Epsilon):
                asked.append(task.property.eps)
            return Result(task.id, task.id, {}, verdict, Reason.TIMEOUT if verdict is Verdict.UNKNOWN else None)

        monkeypatch.setattr(Runner, "run", run)

    answer(Verdict.UNKNOWN)
    unproved = eqspec.diff(*networks, lower=-1, upper=1)
    assert (unproved.claims.eps, unproved.claims.eps_proved) == (before.eps, False)
    assert "not proved in a moment" in str(unproved)
    assert "nothing here is proved" in " ".join(str(unproved).split())
    assert len(set(asked)) == len(asked) == 3
    answer(Verdict.DIFFERENT)
    refuted = eqspec.diff(*networks, lower=-1, upper=1)
    assert (refuted.claims.eps, refuted.claims.eps_proved) == (None, False)
    assert "every one that was tried breaks" in str(refuted)


def test_json_has_what_the_page_has(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(root / "specs" / "tiny" / name) for name in TINY]
    code, out, _ = run(capsys, "diff", *files, "--format", "json", "--lower", "-1", "--upper", "1")
    found = json.loads(out)
    assert code == ExitCode.AS_EXPECTED
    assert found["proved"] is False
    assert found["largest"]["difference"] == pytest.approx(0.25)
    assert found["largest"]["output"] == "0"
    assert [step["changed"] for step in found["layers"]["steps"]] == [0, 0, 0]
    assert found["layers"]["steps"][-1]["bias_change"] == pytest.approx(0.25)


def test_options_that_were_given_are_in_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full, small = write_pair(tmp_path)
    table, scaler = str(tmp_path / "train.csv"), str(tmp_path / "scaler.json")
    given = ["--data", table, "--scaler", scaler, "--columns", "0..2", "--outputs", "a,b", "--sigma=1.5"]
    code, out, _ = run(capsys, "diff", str(full), str(small), *given, "--format", "json")
    assert code == ExitCode.AS_EXPECTED
    words = shlex.split(json.loads(out)["commands"][0])
    for option, value in zip(given[:8:2], given[1:8:2], strict=True):
        assert words[words.index(option) + 1] == value
    assert "--sigma=1.5" in words
    assert main(words[1:]) == ExitCode.AS_EXPECTED


def test_a_model_in_memory_has_no_command(root: Path) -> None:
    networks = [eqspec.read_network(root / "specs" / "tiny" / name) for name in TINY]
    found = eqspec.diff(*networks, lower=[-1, -0.5], upper=1)
    assert found.commands() == []
    assert found.claims.eps is not None
    assert 0.5 <= found.claims.eps <= 0.6
    assert "to prove it" not in str(found)
