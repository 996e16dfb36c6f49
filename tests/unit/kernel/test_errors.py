"""Weights that are known up to errors: square roots of a normalisation, and denominators that are too long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eqspec.audit.reading import INPUTS, Step
from eqspec.audit.reading.number import Number
from eqspec.audit.reading.value import Part, Value
from eqspec.audit.rounding import Refused
from eqspec.kernel import check, find
from eqspec.kernel.binary import ask, stream
from eqspec.kernel.canonical import LONGEST, Canonical, canonical
from eqspec.kernel.validation import validate
from unit.kernel.test_graphs import certified, in_file
from unit.kernel.test_kernel import changed_task, needs_kernel


def normalised(path: Path, change: float, variances: Sequence[float] = (2.0, 3.0, 5.0, 6.0, 7.0)) -> Path:
    """A dense layer, a BatchNormalization whose variances have no rational roots, a ReLU, and a dense layer."""
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(5, 3)) + change, rng.normal(size=(2, 5))
    numbers = {"w": first, "s": rng.uniform(0.5, 1.5, 5), "b": rng.normal(size=5), "m": rng.normal(size=5)}
    numbers |= {"v": np.resize(variances, 5), "z": second}
    tensors = [numpy_helper.from_array(one.astype(np.float32), name) for name, one in numbers.items()]
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["g"], transB=1),
        helper.make_node("BatchNormalization", ["g", "s", "b", "m", "v"], ["n"], epsilon=0.0),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Gemm", ["r", "z"], ["y"], transB=1),
    ]
    shapes = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", m]) for n, m in (("x", 3), ("y", 2))]
    graph = helper.make_graph(nodes, "model", shapes[:1], shapes[1:], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    path.write_bytes(made.SerializeToString())
    return path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two such networks."""
    folder = tmp_path_factory.mktemp("errors")
    files = normalised(folder / "a.onnx", 0.0), normalised(folder / "b.onnx", 0.01)
    return certified(*files, Fraction(1, 2), Fraction(1, 4), 0.0, folder)


@needs_kernel
def test_a_normalisation_with_square_roots_is_accepted(certificate: Path) -> None:
    assert check(certificate, seconds=60).refused is None


ERRORS = re.compile(r"(?<= )(-?\d+)~(\d+)~(\d+)(?= )")


def test_errors_cover_what_the_auditor_reads(certificate: Path) -> None:
    """Without them, with smaller ones or with other weights the text is not the networks; with larger ones it is."""
    steps, inputs = in_file(certificate)
    pair = canonical(steps[0], steps[1], inputs)
    assert len(ERRORS.findall(pair.text)) == 10
    validate(pair.text, pair.grain, steps)
    validate(ERRORS.sub(r"\1~9\2~9\3", pair.text), pair.grain, steps)
    for less in (r"\1", r"\1~0~\3", r"\1~\2~0", r"\1~0~0"):
        with pytest.raises(Refused, match="not what the network files say"):
            validate(ERRORS.sub(less, pair.text, count=1), pair.grain, steps)
    found = ERRORS.search(pair.text)
    assert found
    bias, off, slack = map(int, found.groups())
    count, *row = pair.text[found.end() :].split(" ", 4)[1:4]
    for moved in (f"{bias + 2 * slack}~{off}~{slack}", f"{bias}~{off}~{slack} {count} {int(row[0]) + 2 * off}"):
        old = found[0] if moved.endswith(f"~{slack}") else f"{found[0]} {count} {row[0]}"
        with pytest.raises(Refused, match="not what the network files say"):
            validate(pair.text.replace(old, moved, 1), pair.grain, steps)


@needs_kernel
@pytest.mark.parametrize(
    ("arithmetic", "eps", "holds"), [("real", "0", True), ("float32", "0", False), ("float32", "1/10000", True)]
)
def test_a_network_beside_itself_differs_by_what_float32_rounds(
    arithmetic: str, eps: str, holds: bool, tmp_path: Path
) -> None:
    def change(task: dict[str, Any]) -> None:
        task.update(arithmetic=arithmetic, candidate=task["reference"])
        task["property"].update(eps=eps)

    answer = check(changed_task(certificate_of_itself(tmp_path), tmp_path, change), tmp_path, seconds=60)
    assert (answer.refused is None) is holds
    assert answer.fields.get("arithmetic", arithmetic) == arithmetic


def certificate_of_itself(folder: Path) -> Path:
    """Of a network with rational weights beside a neighbour."""
    files = normalised(folder / "a.onnx", 0.0, (1.0, 4.0)), normalised(folder / "b.onnx", 0.01, (1.0, 4.0))
    return certified(*files, Fraction(1, 2), Fraction(1, 4), 0.0, folder)


def test_float32_runs_lie_within_the_errors_of_the_text(certificate: Path, tmp_path: Path) -> None:
    """Every layer of a run in float32, terms added up in any order; the errors over the reals do not cover them."""
    told = {}
    for arithmetic in ("real", "float32"):
        path = changed_task(certificate, tmp_path, lambda task, a=arithmetic: task.update(arithmetic=a))
        steps, inputs = in_file(path, certificate.parent)
        pair = canonical(steps[0], steps[1], inputs)
        validate(pair.text, pair.grain, steps)
        told[arithmetic] = pair
    rng, worst = np.random.default_rng(5), dict.fromkeys(told, Fraction(0))
    model = {t.name: numpy_helper.to_array(t) for t in onnx.load(certificate.parent / "a.onnx").graph.initializer}
    for _ in range(40):
        x = rng.uniform(-0.25, 0.25, 3).astype(np.float32)
        argument = (added_up(model["w"], x, rng) - model["m"]) / np.sqrt(model["v"]) * model["s"] + model["b"]
        hidden = np.maximum(argument, np.float32(0.0))
        for number, (read, found) in enumerate([(x, argument), (hidden, added_up(model["z"], hidden, rng))]):
            for arithmetic, pair in told.items():
                worst[arithmetic] = max(worst[arithmetic], *beyond(pair, number, read, found))
    assert worst["float32"] <= 1 < worst["real"]


def added_up(weights: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sums of products in float32, in some order."""
    total = np.zeros(len(weights), np.float32)
    for i in rng.permutation(len(x)):
        total += weights[:, i] * x[i]
    assert total.dtype == np.float32
    return total


def beyond(pair: Canonical, number: int, read: np.ndarray, found: np.ndarray) -> list[Fraction]:
    """How far the reference is from rows of a layer, over the errors that these have; nothing where they are exact."""
    text = pair.text.split("layer ")[1 + number].splitlines()
    denominator, rows = int(text[0].split()[0]), [line.split() for line in text if "~" in line]
    numbers, largest, ratios = [Fraction(float(v)) for v in read], Fraction(float(np.abs(read).max())), [Fraction(0)]
    for words, value in zip(rows, found, strict=bool(rows)):
        bias, off, slack = map(int, words[1].split("~"))
        row = [int(w) for w in words[3 : 3 + int(words[2])]]
        exact = sum((w * v for w, v in zip(row, numbers, strict=True)), Fraction(bias, pair.grain))
        error = abs(denominator * Fraction(float(value)) - exact)
        ratios.append(error / (off * largest + Fraction(slack, pair.grain)))
    return ratios


def one_layer(*weights: Number) -> list[Step]:
    """A row of these weights."""
    index, one = np.arange(len(weights), dtype=np.int32)[None], np.zeros(1, int)
    return [Step(Value((1,), (Part(INPUTS, one, index, one, np.array([weights], object)),)))]


def test_what_the_auditor_rounded_itself_is_not_exact() -> None:
    """A rational that stands for a root of a root: it has an error that the number in the file does not show."""
    exact, near = Number.of(0.5), Number(Fraction(1, 2), Fraction(1, 2), 1, 0.5)
    text = canonical(one_layer(exact), one_layer(exact), 1).text
    assert "~" not in text
    with pytest.raises(Refused):
        validate(text, 2**28, [one_layer(near), one_layer(exact)])
    pair = canonical(one_layer(near), one_layer(exact), 1)
    validate(pair.text, pair.grain, [one_layer(near), one_layer(exact)])
    with pytest.raises(Refused):
        validate(pair.text, pair.grain, [one_layer(near), one_layer(near)])


def test_long_denominators_are_rounded_and_short_ones_are_not() -> None:
    primes = [p for p in range(3, 900) if all(p % d for d in range(2, p))]
    for count in (20, len(primes)):
        weights = [Number.exactly(Fraction(1, p)) for p in primes[:count]]
        pair = canonical(one_layer(*weights), one_layer(*weights), count)
        validate(pair.text, pair.grain, [one_layer(*weights)] * 2)
        assert ("~" in pair.text) == (count > 20)
        assert int(pair.text.split()[4]).bit_length() <= LONGEST


@needs_kernel
@pytest.mark.parametrize(
    ("errors", "answer"),
    [
        *[("", "None"), ("~0~0", "None"), ("~1~0", "not proved"), ("~0~1", "not proved"), ("~0~-1", "negative")],
        *[("~1", "two errors"), ("~1~1~1", "two errors"), ("~x~1", "negative"), ("~", "two errors")],
    ],
)
def test_errors_count_and_are_two_numbers(errors: str, answer: str) -> None:
    """x beside x: their difference is 0 only if both are known."""
    pair = f"pair 1 1 layer 4 1 1 0 0 1 0 0{errors} 1 4 0 1 4 end"
    asked = "question 1024 ranges 0 1 1 1 inequalities 0 claim distance 1 0 0 1 end"
    assert answer in str(ask(find(), stream(pair, asked, ["P 1"])).refused)


@needs_kernel
@pytest.mark.parametrize(("eps", "holds"), [("7", False), ("9", True)])
def test_an_error_of_a_row_counts_times_the_largest_of_what_it_reads(eps: str, holds: bool) -> None:
    """Weights 4 and 4 over 4, known up to 1 of 4 together, on -4 .. 4: either may be off by 1/4 of 4, so both by 2."""
    pair = "pair 2 1 layer 4 1 1 0 0 1 0 0~1~0 2 4 4 0~1~0 2 4 4 end"
    asked = f"question 1024 ranges -4 1 4 1 -1 1 1 1 inequalities 0 claim distance 1 0 {eps} 4 end"
    assert (ask(find(), stream(pair, asked, ["P 4"])).refused is None) is holds
