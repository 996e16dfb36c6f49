"""The command line of the competitions: the word, the assignment, and that assignments really meet the asserts."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime
import pytest

from eqspec.cli import main
from eqspec.vnnlib.answering import Answer, answer
from unit.vnnlib.pairs import pair, scores
from vnnlib_text import declared, entries, satisfied

PAIR = """(vnnlib-version <2.0>)
(declare-network f (declare-input X_f real [1,2]) (declare-output Y_f real [1,3]))
(declare-network g (isomorphic-to f) (declare-input X_g real [1,2]) (declare-output Y_g real [1,3]))
(assert (and (>= X_f[0,0] -1) (<= X_f[0,0] 0.7) (>= X_f[0,1] -0.3) (<= X_f[0,1] 1)))
(assert (== X_f[0,0] X_g[0,0])) (assert (== X_f[0,1] X_g[0,1]))
"""
SINGLE = """(declare-const X_0 Real) (declare-const X_1 Real)
(declare-const Y_0 Real) (declare-const Y_1 Real) (declare-const Y_2 Real)
(assert (and (>= X_0 -1) (<= X_0 0.7) (>= X_1 -0.3) (<= X_1 1)))
"""


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def far(eps: int) -> str:
    gaps = [f"(> Y_g[0,{i}] (+ Y_f[0,{i}] {eps}))" for i in range(3)]
    return f"(assert (or {' '.join(gaps)} {' '.join(g.replace('(>', '(<').replace('(+', '(-') for g in gaps)}))"


def ask(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    code = main(["verify-vnnlib", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pair(tmp_path, 0)
    (tmp_path / "far.vnnlib").write_text(PAIR + far(1), encoding="utf-8")
    (tmp_path / "close.vnnlib").write_text(PAIR + far(1000), encoding="utf-8")
    (tmp_path / "bound.vnnlib").write_text(SINGLE + "(assert (or (>= Y_0 1000) (>= Y_1 0)))", encoding="utf-8")
    return tmp_path


def test_unsat_of_a_pair(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    networks = [f"--network={n}={folder / n}.onnx" for n in "fg"]
    assert ask(capsys, folder / "close.vnnlib", *networks)[:2] == (0, ["unsat"])


def test_sat_of_a_pair_comes_with_all_tensors_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    networks = [f"--network={n}={folder / n}.onnx" for n in "fg"]
    code, lines, _ = ask(capsys, folder / "far.vnnlib", *networks, "-o", folder / "answer.txt")
    assert (code, lines[0]) == (0, "sat")
    assert (folder / "answer.txt").read_text(encoding="utf-8").splitlines() == lines
    text = (folder / "far.vnnlib").read_text(encoding="utf-8")
    rest, values = lines[1:], dict[str, Fraction]()
    for name, (_, sizes) in declared(text).items():
        words = entries(name, sizes)
        assert rest[0] == f"{name} real [{','.join(map(str, sizes))}]"
        values |= dict(zip(words, map(Fraction, rest[1 : len(words) + 1]), strict=True))
        rest = rest[len(words) + 1 :]
    assert rest == []
    assert satisfied(text, values)
    session = onnxruntime.InferenceSession(folder / "g.onnx", providers=["CPUExecutionProvider"])
    point = np.array([[float(values[f"X_g[0,{i}]"]) for i in range(2)]], np.float32)
    answered = session.run(None, {"x": point})[0][0].tolist()
    assert answered == pytest.approx([float(values[f"Y_g[0,{i}]"]) for i in range(3)], abs=1e-5)


def test_the_competition_s_arguments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One network, the later alternative: sat with a list of all constants, in the results file too."""
    results = folder / "out.txt"
    code, lines, _ = ask(capsys, "v1", "small", folder / "f.onnx", folder / "bound.vnnlib", results, "30")
    assert (code, lines[0]) == (0, "sat")
    assert results.read_text(encoding="utf-8").splitlines() == lines
    whole = "\n".join(lines[1:])
    assert whole.startswith("((X_0 ")
    assert whole.endswith("))")
    values = {name: Fraction(number) for name, number in re.findall(r"\(([XY]_[0-9]+) ([^\s()]+)\)", whole)}
    assert list(values) == ["X_0", "X_1", "Y_0", "Y_1", "Y_2"]
    assert satisfied((folder / "bound.vnnlib").read_text(encoding="utf-8"), values)


def test_a_pair_as_in_the_list_of_instances(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    networks = repr([("f", str(folder / "f.onnx")), ("g", str(folder / "g.onnx"))])
    assert ask(capsys, networks, folder / "close.vnnlib", folder / "out.txt", "30")[:2] == (0, ["unsat"])
    assert (folder / "out.txt").read_text(encoding="utf-8") == "unsat\n"


@pytest.mark.parametrize("polarity", ["or", "and"])
def test_or_and_and_are_answered_apart(polarity: str, folder: Path) -> None:
    """Y_0 <= -1000 never holds and the other does somewhere: joined by or that is sat, by and it is not."""
    cases = "(<= Y_0 -1000) (<= (- Y_0) 1000)"
    query = folder / "query.vnnlib"
    query.write_text(SINGLE + f"(assert ({polarity} {cases}))", encoding="utf-8")
    found = answer(query, {"f": folder / "f.onnx"}, timeout=60)
    assert found.answer is (Answer.SAT if polarity == "or" else Answer.UNSAT)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_no_alternative_wins_by_its_place(order: tuple[int, ...], folder: Path) -> None:
    cases = ["(>= Y_0 1000)", "(>= Y_1 0)", "(<= Y_2 -1000)"]
    query = folder / "query.vnnlib"
    query.write_text(SINGLE + f"(assert (or {' '.join(cases[i] for i in order)}))", encoding="utf-8")
    assert answer(query, {"f": folder / "f.onnx"}, timeout=60).answer is Answer.SAT


def test_asserts_that_nothing_can_meet_are_unsat(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = folder / "wrong.vnnlib"
    query.write_text(PAIR + "(assert (and (> Y_g[0,0] (+ Y_f[0,0] 1)) (< Y_g[0,0] (- Y_f[0,0] 1))))", encoding="utf-8")
    networks = [f"--network={n}={folder / n}.onnx" for n in "fg"]
    code, lines, err = ask(capsys, query, *networks)
    assert (code, lines) == (0, ["unsat"])
    assert "E602" in err


def test_asserts_of_outputs_that_agree_are_answered_with_a_warning(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The negation was forgotten: `sat` only says that they agree somewhere."""
    query = folder / "agree.vnnlib"
    query.write_text(
        PAIR + "(assert (and (<= Y_g[0,0] (+ Y_f[0,0] 9)) (>= Y_g[0,0] (- Y_f[0,0] 9))))", encoding="utf-8"
    )
    networks = [f"--network={n}={folder / n}.onnx" for n in "fg"]
    code, lines, err = ask(capsys, query, *networks)
    assert (code, lines[0]) == (0, "sat")
    assert "warning[E601]" in err
    assert main(["import", str(query), *networks]) == 2
    assert "error[E601]" in capsys.readouterr().err


def test_a_strict_bound_of_inputs_is_not_met_on_it(folder: Path) -> None:
    """At X_0 = 0.7 alone the asserts would hold, but X_0 < 0.7: that point is no answer."""
    f = pair(folder, 0)[0]
    corner = scores(f, (Fraction(7, 10), Fraction(1)))
    fixed = "(assert (== X_1 1)) (assert (>= X_0 0.7)) (assert (< X_0 0.7))"
    query = folder / "strict.vnnlib"
    query.write_text(SINGLE + fixed + f"(assert (>= Y_0 {float(corner[0]) - 1}))", encoding="utf-8")
    assert answer(query, {"f": folder / "f.onnx"}, timeout=60).answer is Answer.UNKNOWN


def test_other_floats_are_answered_as_reals_only_with_consent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = folder / "float.vnnlib"
    networks = [f"--network={n}={folder / n}.onnx" for n in "fg"]
    query.write_text((PAIR + far(1000)).replace(" real ", " float64 "), encoding="utf-8")
    code, lines, err = ask(capsys, query, *networks)
    assert (code, lines) == (2, ["error"])
    assert "--as-real" in err
    assert ask(capsys, query, *networks, "--as-real")[:2] == (0, ["unsat"])
    query.write_text((PAIR + far(1000)).replace(" real ", " float32 "), encoding="utf-8")
    assert ask(capsys, query, *networks) == (0, ["unsat"], "")


def test_time_runs_out_in_both_forms(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    networks = [f"--network={n}={folder / n}.onnx" for n in "fg"]
    assert ask(capsys, folder / "close.vnnlib", *networks, "--timeout", "0")[:2] == (0, ["timed-out"])
    pairs = repr([(n, str(folder / f"{n}.onnx")) for n in "fg"])
    assert ask(capsys, pairs, folder / "close.vnnlib", folder / "out.txt", "0")[:2] == (0, ["timeout"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["far.vnnlib"], "no file is given for network f"),
        (["far.vnnlib", "--network=h=f.onnx"], "'h', which is not declared"),
        (["far.vnnlib", "--network=f=f.onnx", "--network=f=g.onnx"], "given twice"),
        (["missing.vnnlib"], "No such file"),
        (["f.onnx", "bound.vnnlib", "out.txt"], "3 arguments"),
        (["v9", "c", "f.onnx", "bound.vnnlib", "out.txt", "9"], "version 'v9'"),
        (["f.onnx", "bound.vnnlib", "out.txt", "soon"], "'soon' is not a number"),
        (["[('f'", "bound.vnnlib", "out.txt", "9"], "not a list of networks"),
        (["[('f','f.onnx'),('g','f.onnx'),('g','g.onnx')]", "far.vnnlib", "out.txt", "9"], "two networks of one name"),
        (["f.onnx", "far.vnnlib", "out.txt", "9"], "no file is given for network g"),
        (["missing.onnx", "bound.vnnlib", "out.txt", "9"], "missing.onnx"),
    ],
)
def test_errors(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    code, lines, err = ask(capsys, *arguments)
    assert (code, lines) == (2, ["error"])
    assert message in err.replace("\n", " ")
    if len(arguments) in (4, 6):
        assert (folder / "out.txt").read_text(encoding="utf-8") == "error\n"


def test_import_and_export_on_the_command_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's way there and back."""
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> Ran:
        code = main(list(arguments))
        return Ran(code, *capsys.readouterr())

    made = run("import", "far.vnnlib", "--network", "f=f.onnx", "--network", "g=g.onnx", "-o", "far.eqspec")
    assert made.returncode == 0, made.stderr
    assert 'network g = "g.onnx" in vnnlib' in (folder / "far.eqspec").read_text(encoding="utf-8")
    assert run("fmt", "--check", "far.eqspec").returncode == 0
    assert run("export", "far.eqspec", "--to", "vnnlib", "-o", "out").returncode == 0
    again = run("verify-vnnlib", "out/vnnlib/close.vnnlib", "--network", "f=f.onnx", "--network", "g=g.onnx")
    assert again.stdout.startswith("sat\nX_f real [1,2]\n")
    single = run("export", "far.eqspec:close", "--to", "product-onnx", "-o", "one")
    assert single.returncode == 0, single.stderr
    assert "onnxruntime agrees" in single.stdout
    both = run("verify-vnnlib", "v1", "c", "one/onnx/close.onnx", "one/vnnlib/close.vnnlib", "res.txt", "60")
    assert both.stdout.startswith("sat\n((X_0 ")
    refused = run("export", "far.eqspec:nothing", "--to", "vnnlib", "-o", "out")
    assert (refused.returncode, "no check named" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("equations", "met"),
    [
        (("X_0 + X_1 == 0.3", "(== (+ X_0 X_1) 0.3)"), True),
        (("3 X_0 == X_1 + 0.1", "(== (* 3.0 X_0) (+ X_1 0.1))"), True),
        (("X_0 == 0.3 X_1 + 0.7", "(== X_0 (+ 0.7 (* 0.3 X_1)))"), True),
        (("7 X_0 == 1", "(== (* 7.0 X_0) 1.0)"), False),
    ],
)
def test_printed_inputs_meet_equations(equations: tuple[str, str], met: bool, folder: Path) -> None:
    """In exact decimals, and in sums of floats; a seventh has no decimals, and is met in floats alone."""
    said, asserted = equations
    query = folder / "query.vnnlib"
    query.write_text(SINGLE + f"(assert {asserted}) (assert (>= Y_0 -1000))", encoding="utf-8")
    found = answer(query, {"f": folder / "f.onnx"}, timeout=15)
    assert found.assignment is not None
    printed = dict(re.findall(r"\((X_\d) (\S+)\)", found.assignment.written()))
    for number in (Fraction, float):
        values = {name: number(text) for name, text in printed.items()}
        text = re.sub(r"(\d) X", r"\1 * X", said)
        text = re.sub(r"(?<![\w.])\d[\d.]*", lambda literal: f"number('{literal[0]}')", text)
        assert eval(text, {"number": number}, values) is (met or number is float)


def test_an_equation_in_numbers_that_no_float_holds(folder: Path) -> None:
    query = folder / "query.vnnlib"
    query.write_text(SINGLE + "(assert (== (+ (* 1e320 X_0) X_1) 1e319)) (assert (>= Y_0 -1000))", encoding="utf-8")
    found = answer(query, {"f": folder / "f.onnx"}, timeout=15)
    assert found.assignment is not None
    assert "(X_0 0." in found.assignment.written()
