"""Networks of convolutions through files, as their users change them: exported otherwise, on a grid of weights, with
channels in another order, and with one channel spoiled.

The networks are small and not trained; their statistics are those of trained ones. What a verdict has to be follows
from how the pair was made: two exports of one function differ by the rounding of float32 alone, and outputs that
onnxruntime found to differ do differ.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import eqspec
from convolutional_models import (
    FUNCTIONS,
    KINDS,
    Array,
    Conv,
    Dense,
    Kind,
    Model,
    copied,
    folded,
    initialise,
    on_a_grid,
    permuted,
    settle,
    tagger,
    write,
)
from eqspec.certificates import Auditor, Certifier
from eqspec.networks import read_network
from eqspec.property import Confidence, Epsilon, Property, Top1
from eqspec.run.options import Options
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

WIDTH = 3
ROUNDING = Epsilon(Fraction("0.0001"))
NORMALISED: tuple[Kind, ...] = ("separable", "pool", "residual")


def made(kind: Kind, function: str, seed: int = 0) -> Model:
    """A small model with statistics of its own."""
    rng = np.random.default_rng(seed)
    return settle(initialise(kind, function, rng, WIDTH), rng)


def box(model: Model, radius: str, seed: int = 0) -> tuple[list[Fraction], list[Fraction]]:
    """Around a random image."""
    image = np.random.default_rng(seed).random(int(np.prod(model.shape)))
    values, around = [Fraction(float(x)) for x in image], Fraction(radius)
    return [x - around for x in values], [x + around for x in values]


def scores(path: Path, points: Array) -> Array:
    """What onnxruntime computes in float32, node by node; points (N, I)."""
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, plain, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    answer = session.run(None, {given.name: points.astype(np.float32).reshape(len(points), *given.shape[1:])})[0]
    return np.asarray(answer, np.float64)


def sampled(one: Path, other: Path, lower: list[Fraction], upper: list[Fraction]) -> float:
    """The largest difference of a score on random points, by onnxruntime."""
    ends = np.array([lower, upper], dtype=float)
    points = ends[0] + (ends[1] - ends[0]) * np.random.default_rng(1).random((200, len(lower)))
    return float(np.abs(scores(one, points) - scores(other, points)).max())


def verdict(one: Path, other: Path, claim: Property, ends: tuple[list[Fraction], list[Fraction]], boxes: int) -> Result:
    """The answer within so many boxes."""
    options = Options(threads=1, boxes=boxes, weaken=False)
    return eqspec.verify(one, other, *ends, claim, options=options)


def pair(folder: Path, one: Model, other: Model) -> tuple[Path, Path]:
    """Two files."""
    return write(one, folder / "one.onnx"), write(other, folder / "other.onnx")


@pytest.mark.part(8)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", NORMALISED)
def test_normalisation_may_be_folded(kind: Kind, function: str, tmp_path: Path) -> None:
    model = made(kind, function)
    one, other = pair(tmp_path, model, folded(model))
    ends = box(model, "0.03")
    assert 0 < sampled(one, other, *ends) < 1e-5
    result = verdict(one, other, ROUNDING, ends, 1)
    assert (result.verdict, result.boxes) == (Verdict.EQUIVALENT, 1)


@pytest.mark.part(6)
@pytest.mark.parametrize("function", ["relu", "leaky", "hardtanh"])
@pytest.mark.parametrize("kind", KINDS)
def test_channels_may_stand_in_another_order(kind: Kind, function: str, tmp_path: Path) -> None:
    model = folded(made(kind, function))
    other = permuted(model, np.random.default_rng(3))
    first, second = (next(x for x in m.layers if isinstance(x, Conv)).weight for m in (model, other))
    assert not np.array_equal(first, second)
    result = verdict(*pair(tmp_path, model, other), ROUNDING, box(model, "0.03"), 1)
    assert (result.verdict, result.boxes) == (Verdict.EQUIVALENT, 1)


@pytest.mark.part(6)
@pytest.mark.parametrize("function", ["relu", "leaky", "relu6", "abs"])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_eight_bits(kind: Kind, function: str, tmp_path: Path) -> None:
    """Three times what was sampled is proved; less than what was sampled is refuted."""
    model = folded(made(kind, function))
    one, other = pair(tmp_path, model, on_a_grid(model))
    ends = box(model, "0.01")
    seen = sampled(one, other, *ends)
    assert verdict(one, other, Epsilon(Fraction(3 * seen)), ends, 1).verdict is Verdict.EQUIVALENT
    refuted = verdict(one, other, Epsilon(Fraction(0.9 * seen)), ends, 20)
    assert refuted.verdict is Verdict.DIFFERENT
    held(refuted, one, other, 0.9 * seen)


@pytest.mark.part(4)
@pytest.mark.parametrize("function", ["relu", "hardsigmoid"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_channel_that_differs_is_found(kind: Kind, function: str, tmp_path: Path) -> None:
    model = folded(made(kind, function))
    spoiled = copied(model)
    last = [x for x in spoiled.layers if isinstance(x, Conv)][-1]
    assert last.bias is not None
    last.bias[1] += 0.5
    one, other = pair(tmp_path, model, spoiled)
    ends = box(model, "0.02")
    eps = 0.5 * sampled(one, other, *ends)
    assert eps > 1e-3
    result = verdict(one, other, Epsilon(Fraction(eps)), ends, 50)
    assert result.verdict is Verdict.DIFFERENT
    held(result, one, other, eps)


def held(result: Result, one: Path, other: Path, eps: float) -> None:
    """The witness breaks the claim over the rationals, and as onnxruntime computes both files."""
    witness = result.witness
    assert witness is not None
    exact = [read_network(path).evaluate_exact(witness.normalised) for path in (one, other)]
    assert max(max(a - d, c - b) for (a, b), (c, d) in zip(*exact, strict=True)) > Fraction(eps)
    assert witness.onnxruntime_confirms
    point = np.array([[float(x) for x in witness.normalised]])
    assert np.abs(scores(one, point) - scores(other, point)).max() > eps - 1e-5


@pytest.mark.parametrize("claim", [Top1(), Confidence(Fraction("0.9"))], ids=["top1", "confidence"])
def test_a_tagger_of_particles(claim: Property, tmp_path: Path) -> None:
    """Decisions of the same network in another order never part, those of one that decides otherwise do."""
    model = tagger(np.random.default_rng(4))
    end = model.layers[-1]
    assert isinstance(end, Dense)
    end.weight *= 8  # so that it is sure of some class
    one, same = pair(tmp_path, model, permuted(model, np.random.default_rng(5)))
    ends = box(model, "0.02")
    assert verdict(one, same, claim, ends, 200).verdict is Verdict.EQUIVALENT
    other = copied(model)
    end = other.layers[-1]
    assert isinstance(end, Dense)
    end.bias[:] = end.bias - 100 * scores(one, np.array([ends[0]], dtype=float))[0]
    result = verdict(one, write(other, tmp_path / "other.onnx"), claim, ends, 200)
    assert result.verdict is Verdict.DIFFERENT
    assert result.witness is not None
    assert result.witness.onnxruntime_confirms


def test_the_first_box_is_bounded_backwards_before_others_are_probed(tmp_path: Path) -> None:
    """Plain bisection takes thousands of boxes."""
    model = tagger(np.random.default_rng(5))
    one, coarse = pair(tmp_path, model, on_a_grid(model))
    result = verdict(one, coarse, Epsilon(Fraction("0.047")), box(model, "0.1"), 6000)
    assert (result.verdict, result.boxes) == (Verdict.EQUIVALENT, 1)


SPEC = """eqspec 1
space image {
  shape   [1, 8, 8]
  domain  0 .. 1
  outputs 10
}
network plain  = "plain.onnx"  in image
network folded = "folded.onnx" in image
network coarse = "coarse.onnx" in image
region near in image = box { all: 0.45 .. 0.55 }

check export {
  prove folded stays within 0.0001 of plain
  on    near
}
check grid {
  prove coarse stays within 0.000001 of plain
  on    near
}
"""


def test_a_text_about_images_with_certificates(tmp_path: Path) -> None:
    model = made("residual", "leaky")
    versions = {"plain": model, "folded": folded(model), "coarse": on_a_grid(folded(model), 5)}
    for name, version in versions.items():
        write(version, tmp_path / f"{name}.onnx")
    path = tmp_path / "image.eqspec"
    path.write_text(SPEC)
    verdicts = {"export": Verdict.EQUIVALENT, "grid": Verdict.DIFFERENT}
    assert {result.check: result.verdict for result in eqspec.check(path, threads=1)} == verdicts
    with Certifier(tmp_path / "certificates") as certifier, Auditor() as again:
        spec = eqspec.load(path)
        for result in spec.run(spec.select(), Options(threads=1, certifier=certifier)):
            assert result.verdict is verdicts[result.check]
            assert result.certificate is not None, result.uncertified
            answer = again.ask(Path(result.certificate))
            assert (answer.refused, answer.verdict) == (None, result.verdict.value)
