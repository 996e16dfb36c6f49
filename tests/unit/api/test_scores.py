"""What scores are, wherever a result is shown: of files that end in Softmax the logits in front of it."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import eqspec
from eqspec.cli import main
from eqspec.errors import InputError, SpecError
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.report import formats, table
from eqspec.report.statement import statement
from eqspec.testing import assert_equivalent
from small_specs import write_onnx
from small_tasks import space, task

SAID = "cores are logits: f and g are read without the Softmax at the end"
SPEC = """eqspec 1
space s {{ features a, b outputs y, z }}
network f = "f.onnx" in s{gives}
network g = "g.onnx" in s{gives}
region core in s = box {{ all: -1 .. 1 }}
check {claim} }}
"""


def file(path: Path, bias: float, tail: str | None = "Softmax") -> str:
    """y = x + (0, bias), behind it perhaps a Softmax."""
    weights = [
        numpy_helper.from_array(np.eye(2, dtype=np.float32), "W"),
        numpy_helper.from_array(np.array([0, bias], np.float32), "b"),
    ]
    nodes = [helper.make_node("Gemm", ["x", "W", "b"], ["y" if tail is None else "z"])]
    if tail is not None:
        nodes.append(helper.make_node(tail, ["z"], ["y"]))
    if tail is not None and tail.endswith("Softmax"):
        nodes[-1].attribute.append(helper.make_attribute("axis", 1))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return file(tmp_path / "f.onnx", 0.0), file(tmp_path / "g.onnx", 0.25)


def spec(folder: Path, claim: str, gives: str = " gives logits") -> str:
    path = folder / "soft.eqspec"
    path.write_text(SPEC.format(claim=claim, gives=gives))
    return str(path)


@pytest.mark.parametrize(
    ("claim", "refused"),
    [
        (Epsilon(0.3), True),
        (Epsilon(1), True),
        (Epsilon(2, "l1"), True),
        (Epsilon("1.41", "l2"), True),
        (Linear((1, 0), (-1, 0), 0.5), True),
        (Linear((1, 0), (-1, 0), 5), True),
        (Top1(), False),
        (Confidence(0.9), False),
        (Margin(0.5), False),
    ],
)
def test_a_distance_has_to_say_that_it_is_one_of_logits(pair: tuple[str, str], claim: Property, refused: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if refused:
            with pytest.raises(InputError, match=r'ends in Softmax.*logits in front of it.*scores="logits"'):
                eqspec.verify(*pair, [-1, -1], [1, 1], claim)
        result = eqspec.verify(*pair, [-1, -1], [1, 1], claim, scores="logits")
    assert result.scores == "logits"
    assert ("scores being logits" in result.claim) == (refused or isinstance(claim, Margin))
    if refused:
        with pytest.raises(InputError, match="scores"):
            eqspec.verify(*pair, [-1, -1], [1, 1], claim, scores="shares")  # type: ignore[arg-type]


@pytest.mark.parametrize("claim", [Epsilon("1.01"), Epsilon("2.01", "l1"), Epsilon("1.42", "l2")])
def test_a_distance_that_no_probabilities_have_only_warns(
    pair: tuple[str, str], claim: Property, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match="cannot be so far apart"):
        assert eqspec.verify(*pair, [-1, -1], [1, 1], claim).verdict == "equivalent"
    for tail in (None, "LogSoftmax"):  # what these give may well be so far apart
        other = file(tmp_path / "other.onnx", 0.0, tail)
        with pytest.raises(InputError, match="logits"):
            eqspec.verify(pair[0], other, [-1, -1], [1, 1], claim)


@pytest.mark.parametrize("claim", [Top1(), Margin(0.1), Confidence(0.9)])
def test_a_decision_of_one_output_is_refused(claim: Property, tmp_path: Path) -> None:
    """It would hold of any two networks: the one output is always the first. A spec says so by E306."""
    paths = [write_onnx(tmp_path / name, [[factor, 1]], [0]) for name, factor in (("f.onnx", 1), ("g.onnx", -1))]
    with pytest.raises(InputError, match=r"says nothing of networks with one output.*claim an Epsilon"):
        eqspec.verify(paths[0], paths[1], [-1, -1], [1, 1], claim)


def test_plain_files_need_say_nothing(tmp_path: Path) -> None:
    pair = file(tmp_path / "f.onnx", 0.0, None), file(tmp_path / "g.onnx", 0.25, None)
    result = eqspec.verify(*pair, [-1, -1], [1, 1], Epsilon(0.3))
    assert (result.scores, result.scores_in_words) == ("outputs", "")
    assert "logits" not in str(result) + result.claim


def test_assertions_take_it_too(pair: tuple[str, str]) -> None:
    assert_equivalent(*pair, 1, eps=0.3, scores="logits", cache=False)
    with pytest.raises(InputError, match="logits"):
        assert_equivalent(*pair, 1, eps=0.3, cache=False)


def test_a_margin_of_probabilities_implies_one_of_logits() -> None:
    """The inequality that lets a margin stand: checked on many pairs of probabilities."""
    for m in np.linspace(0.0, 0.99, 34):
        for low in np.linspace(1e-6, (1 - m) / 2, 40):
            for high in np.linspace(low + m, 1 - low, 10):
                assert np.log(high / low) >= m - 1e-12


def test_every_form_of_a_report_says_it(pair: tuple[str, str], tmp_path: Path) -> None:
    del pair
    text = spec(
        tmp_path, "c { prove g stays within 0.2 of f on core }\ncheck d { prove g stays within 0.3 of f on core"
    )
    report = eqspec.check(text, cache=False)
    assert [r.verdict.value for r in report] == ["different", "equivalent"]
    assert table.scores(report) == "S" + SAID
    for form in ("human", "json", "jsonl", "html", "junit", "sarif", "github"):
        if form in formats.FORMATS:
            assert "logits" in formats.render(list(report), form), form
    for result in json.loads(formats.render(list(report), "json")):
        assert result["scores"] == "logits"
        assert result["networks"]["reference"]["left_out"] == "Softmax"
        assert result["claim"].endswith(", scores being logits")
    assert SAID in formats.render(list(report)[1:], "junit")  # where everything is as expected, too
    assert SAID in repr(report)
    assert SAID in report._repr_html_()
    for result in report:
        assert SAID in str(result)
        assert SAID in (result._repr_html_() or "")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(list(arguments))
    shown = capsys.readouterr()
    return code, " ".join((shown.out + shown.err).split())


def test_every_command_says_it(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = spec(tmp_path, "c { prove g stays within 0.2 of f on core expect different")
    code, shown = run(capsys, "check", path, "--no-cache")
    assert code == 0
    assert SAID in shown
    assert "onnxruntime agrees on the original files, in front of their Softmax" in shown
    assert SAID in run(capsys, "lint", path)[1]
    assert "scores are logits, in front of the Softmax of f and g, not probabilities" in run(capsys, "explain", path)[1]
    decided = spec(tmp_path, "c { prove g keeps top1 of f on core arithmetic float32")
    assert "may make a tie of probabilities that are nearly equal" in run(capsys, "explain", decided)[1]
    bounds = ("--lower", "-1", "--upper", "1", "--eps", "0.3")
    code, shown = run(capsys, "verify", *pair, *bounds, "--no-cache")
    assert code == 2
    assert "E208" in shown
    assert "'--logits' or '--probabilities' says so" in shown
    code, shown = run(capsys, "verify", *pair, *bounds, "--logits", "--no-cache")
    assert code == 0
    assert SAID in shown
    assert shown.count("gives logits") == 2
    code, shown = run(capsys, "verify", *pair, *bounds, "--probabilities", "--no-cache")
    assert code == 0
    assert SAID not in shown
    assert shown.count("gives probabilities") == 2
    with pytest.raises(SystemExit, match="2"):
        run(capsys, "verify", *pair, *bounds, "--probabilities", "--logits")


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("c { prove g stays within 0.2 of f on core", "E208"),
        ("c { prove g stays within e of f on core for e in [2, 0.2]", "E208"),
        ("c { prove g stays within e of f on core find smallest e in 0.1 .. 1", "E208"),
        ("c { prove g satisfies g[y] - g[z] <= 9 on core", "E208"),
        ("c { prove g stays within e of f on core find smallest e in 0.1 .. 20", None),
        ("c { prove g keeps top1 of f when margin >= 0.5 on core", None),
    ],
)
def test_a_spec_has_to_say_it_too(pair: tuple[str, str], tmp_path: Path, claim: str, code: str | None) -> None:
    del pair
    path = spec(tmp_path, claim, gives="")
    if code is None:
        found = eqspec.load(path)
        assert {w.code for w in found.warnings} <= {"W309"}
        assert ("stays within" in claim) == bool(found.warnings)
        return
    with pytest.raises(SpecError) as caught:
        eqspec.load(path)
    assert {d.code for d in caught.value.diagnostics if d.severity == "error"} == {code}
    eqspec.load(spec(tmp_path, claim))


def test_logits_of_one_file_beside_what_the_other_gives_are_said_to_be(tmp_path: Path) -> None:
    """In the claim, in the last line, in files; and nothing of it where both have a Softmax, or none."""
    f, g = file(tmp_path / "f.onnx", 0.0), file(tmp_path / "g.onnx", 0.25, tail=None)
    result: Any = eqspec.verify(f, g, [-1, -1], [1, 1], Epsilon(0.3), scores="logits")
    said = "reference is read without the Softmax at the end; candidate is compared as given"
    assert said in result.scores_in_words
    assert said in table.scores([result])
    assert "scores being logits, taken from one file as it gives them" in result.claim
    for form in ("json", "jsonl", "html", "junit", "sarif", "table"):
        text = formats.render([result], form)
        assert "as it gives them" in text or "compared as given" in text, form
    both: Any = eqspec.verify(f, f, [-1, -1], [1, 1], Epsilon(0.3), scores="logits")
    none: Any = eqspec.verify(g, g, [-1, -1], [1, 1], Epsilon(0.3))
    assert "as given" not in both.scores_in_words + none.scores_in_words
    assert "as it gives them" not in both.claim + none.claim
    text = SPEC.format(claim="c { prove g stays within 0.3 of f on core", gives="")
    text = text.replace('"f.onnx" in s', '"f.onnx" in s gives logits')
    path = tmp_path / "one.eqspec"
    path.write_text(text, encoding="utf-8")
    assert [w.code for w in eqspec.load(path).warnings] == ["W314"]
    path.write_text(text.replace('"g.onnx" in s', '"g.onnx" in s gives logits'), encoding="utf-8")
    assert not eqspec.load(path).warnings


def test_the_networks_in_front_of_their_softmax_are_what_is_proved(pair: tuple[str, str]) -> None:
    """The logits differ by exactly 1/4, and the probabilities by at most about 0.06."""
    inside: Any = eqspec.verify(*pair, [-1, -1], [1, 1], Epsilon(Fraction(1, 4) + Fraction(1, 10**6)), scores="logits")
    beyond: Any = eqspec.verify(*pair, [-1, -1], [1, 1], Epsilon("0.2"), scores="logits")
    assert (inside.verdict.value, beyond.verdict.value) == ("equivalent", "different")


@pytest.mark.parametrize("claim", [Epsilon(0.9), Top1()])
def test_what_a_sigmoid_gives_is_not_taken_for_logits(claim: Property, tmp_path: Path) -> None:
    """No distance of 0.9 tells anything of sigmoids, while the logits are 5 apart."""
    first, second = (file(tmp_path / f"{n}.onnx", bias, "Sigmoid") for n, bias in (("f", 0.0), ("g", 5.0)))
    with pytest.raises(InputError, match="end in Sigmoid, which is not left out"):
        eqspec.verify(first, second, [-1, -1], [1, 1], claim, scores="logits")


def test_a_spec_of_sigmoids_does_not_call_them_logits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (file(tmp_path / f"{n}.onnx", bias, "Sigmoid") for n, bias in (("f", 0.0), ("g", 5.0)))
    claim = "c { prove g stays within 0.999 of f on core"
    with pytest.raises(SpecError) as caught:
        eqspec.load(spec(tmp_path, claim))
    assert {d.code for d in caught.value.diagnostics} == {"E206"}
    assert "ends in Sigmoid, which is not left out" in caught.value.diagnostics[0].message
    assert main(["verify", first, second, "--eps", "0.999", "--lower=-1", "--upper", "1", "--logits"]) == 2
    assert "ends in Sigmoid, which is not left out" in capsys.readouterr().err
    eqspec.load(spec(tmp_path, claim, " gives probabilities"))
    eqspec.load(spec(tmp_path, claim, ""))


@pytest.mark.parametrize(("zero", "accepted"), [(-128, True), (0, False)])
def test_a_softmax_that_is_quantised_gives_probabilities(zero: int, accepted: bool, tmp_path: Path) -> None:
    """A file of int8 ends in a Softmax with levels from 0 to 1 behind it: no file that gives logits goes beside it."""
    first = file(tmp_path / "f.onnx", 0.25)
    proto = onnx.load(first)
    proto.graph.node[-1].output[0] = "p"
    for kind, given, made in (("QuantizeLinear", "p", "q"), ("DequantizeLinear", "q", "y")):
        proto.graph.node.append(helper.make_node(kind, [given, "scale", "zero"], [made]))
    proto.graph.initializer.append(numpy_helper.from_array(np.array(1 / 256, np.float32), "scale"))
    proto.graph.initializer.append(numpy_helper.from_array(np.array(zero, np.int8), "zero"))
    onnx.save(proto, tmp_path / "g.onnx")
    claim = "c { prove g stays within 0.01 of f on core"
    if accepted:
        eqspec.load(spec(tmp_path, claim, " gives probabilities"))
        found: Any = eqspec.verify(
            first, str(tmp_path / "g.onnx"), [-1, -1], [1, 1], Epsilon("0.0021"), scores="probabilities"
        )
        assert found.verdict.value == "equivalent"  # half of a step, and not less
        return
    with pytest.raises(SpecError) as caught:
        eqspec.load(spec(tmp_path, claim, " gives probabilities"))
    assert {d.code for d in caught.value.diagnostics} == {"E206"}


def test_logarithms_are_not_compared_with_probabilities(tmp_path: Path) -> None:
    """Both files say what they give, and it is not the same: -1.1 beside .33."""
    f, g = file(tmp_path / "f.onnx", 0.0, "LogSoftmax"), file(tmp_path / "g.onnx", 0.25)
    for pair in ((f, g), (g, f)):
        with pytest.raises(InputError, match=r"f\.onnx gives logarithms of .*g\.onnx gives probabilities"):
            eqspec.verify(*pair, -1, 1, Epsilon(5), scores="probabilities")
        decisions = eqspec.verify(*pair, -1, 1, Top1(), scores="probabilities")  # are the same for both
        assert decisions.verdict == "different"
    assert eqspec.verify(f, f, -1, 1, Epsilon(0.1), scores="probabilities").verdict == "equivalent"
    assert eqspec.verify(f, g, -1, 1, Epsilon(0.3), scores="logits").verdict == "equivalent"
    found = caught_in(tmp_path, "c { prove g stays within 5 of f on core", gives=" gives probabilities")
    assert "'f' gives logarithms of probabilities (LogSoftmax), 'g' gives probabilities" in found
    assert 'network f = "f.onnx" in s gives logits' in found


def caught_in(folder: Path, claim: str, gives: str) -> str:
    """What is said of a spec that cannot be used."""
    with pytest.raises(SpecError) as caught:
        eqspec.load(spec(folder, claim, gives=gives))
    (said,) = caught.value.diagnostics
    assert said.code == "E208"
    return f"{said.message} {said.help}"


def test_a_confidence_where_the_smallest_score_decides_is_that_of_minus_the_scores(tmp_path: Path) -> None:
    f = eqspec.read_network(file(tmp_path / "f.onnx", 0.0))
    spaces = [replace(space(2, 2), decide=decide) for decide in ("max", "min")]
    words = [statement(task(f, f, Confidence(0.9), space=one)).words for one in spaces]
    assert "where full gives some class a softmax of at least 0.9, every class whose score is the largest" in words[0]
    assert "where the softmax of minus the scores of full gives some class at least 0.9, every class" in words[1]
