"""A Softmax that is put back: against onnxruntime, exactly, and in claims about probabilities."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import eqspec
from eqspec import Epsilon, Margin
from eqspec.errors import InputError
from eqspec.networks import Network, read_network, softened
from eqspec.networks.session import Session
from eqspec.tasks.serialisation import digest, from_json, to_json
from unit.networks.function_cases import weights
from unit.networks.models import model, node, run_onnxruntime, save


def path_of(folder: Path, outputs: int, tail: str, *, moved: float = 0.0, opset: int = 17) -> str:
    """A network with an inner Softmax besides the one at its end, behind which its numbers are only reshaped."""
    nodes = [
        node("Gemm", ["x", "w"], "h"),
        node("Softmax", ["h"], "s", axis=1),
        node("Gemm", ["s", "v", "b"], "z"),
        node(tail, ["z"], "p", axis=1),
        node("Reshape", ["p", "shape"], "y"),
    ]
    constants = {"w": weights(4, 5), "v": weights(5, outputs, seed=1), "b": weights(outputs, seed=2)}
    constants["b"] = constants["b"] + np.float32(moved) * np.arange(outputs, dtype=np.float32)
    constants["shape"] = np.array([1, outputs])
    return save(folder, model(nodes, constants, (1, 4), opset=opset), f"{tail}_{outputs}_{moved}.onnx")


@pytest.mark.part(4)
@pytest.mark.parametrize("tail", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("outputs", [1, 2, 3, 6])
def test_it_is_what_the_file_gives(outputs: int, tail: str, tmp_path: Path) -> None:
    path = path_of(tmp_path, outputs, tail)
    network = read_network(path)
    assert network.stripped is not None
    given = softened(network)
    assert given.stripped is None
    assert given.softened == network.stripped
    for x in np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32):
        found = run_onnxruntime(path, x[None])[0]
        np.testing.assert_allclose(given.evaluate(x[None].astype(float))[0], found, rtol=1e-5, atol=1e-6)
        point = [Fraction(v) for v in x.tolist()]
        np.testing.assert_allclose([float(low) for low, _ in given.evaluate_exact(point)], found, rtol=1e-5, atol=1e-6)
        scores = Session(network).run(x.astype(float))  # in front of the last Softmax, not of the inner one
        np.testing.assert_allclose(network.evaluate(x[None].astype(float))[0], scores, rtol=1e-5, atol=1e-5)
    plain = Network.of_layers(network_layers(), "plain", "0")
    assert softened(plain) is plain


def network_layers() -> list[eqspec.networks.AffineLayer]:
    return [eqspec.networks.AffineLayer(np.ones((1, 2)), np.zeros(1))]


def test_claims_about_probabilities(tmp_path: Path) -> None:
    """The logits differ by .3 somewhere, the probabilities by less than .1 everywhere."""
    pair = path_of(tmp_path, 3, "Softmax"), path_of(tmp_path, 3, "Softmax", moved=0.15)
    box = [-0.2] * 4, [0.2] * 4
    logits = eqspec.verify(*pair, *box, Epsilon("0.1"), scores="logits")
    shares = eqspec.verify(*pair, *box, Epsilon("0.1"), scores="probabilities")
    assert (logits.verdict, shares.verdict) == ("different", "equivalent")
    beyond = eqspec.verify(*pair, *box, Epsilon("0.001"), scores="probabilities")
    assert beyond.verdict == "different"
    assert beyond.witness is not None
    assert beyond.witness.onnxruntime_confirms
    assert max(abs(a - b) for a, b in zip(beyond.witness.reference, beyond.witness.candidate, strict=True)) < 0.1
    assert eqspec.verify(*pair, *box, Margin("0.5"), scores="probabilities").verdict in ("equivalent", "unknown")


def test_float32_has_no_probabilities(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "v"], "z"), node("Softmax", ["z"], "y", axis=1)]
    path = save(tmp_path, model(nodes, {"v": weights(4, 3)}, (1, 4)))
    with pytest.raises(InputError, match="float32"):
        eqspec.verify(path, path, [0] * 4, [1] * 4, Epsilon("0.1"), scores="probabilities", arithmetic="float32")


SPEC = """eqspec 1
space s {{ features a, b, c, d outputs x, y, z }}
network f = "{f}" in s gives {first}
network g = "{g}" in s gives {second}
region core in s = box {{ all: -0.2 .. 0.2 }}
check c {{ prove g {claim} on core }}
"""


def spec(folder: Path, claim: str, first: str = "probabilities", second: str = "probabilities") -> str:
    files = (path_of(folder, 3, "Softmax"), path_of(folder, 3, "Softmax", moved=0.15))
    path = folder / "spec.eqspec"
    path.write_text(SPEC.format(f=files[0], g=files[1], first=first, second=second, claim=claim), encoding="utf-8")
    return str(path)


def test_specs_about_probabilities(tmp_path: Path) -> None:
    within = "stays within 0.1 of f"
    assert [r.verdict for r in eqspec.check(spec(tmp_path, within))] == ["equivalent"]
    assert [r.verdict for r in eqspec.check(spec(tmp_path, within, "logits", "logits"))] == ["different"]
    with pytest.raises(eqspec.SpecError, match="gives probabilities, 'f' gives logits"):
        eqspec.load(spec(tmp_path, within, "logits"))


def test_tasks_tell_them_apart(tmp_path: Path) -> None:
    """Written, read and named: a task about probabilities is another one than that about logits."""
    (shares,) = eqspec.load(spec(tmp_path, "stays within 0.1 of f")).tasks
    (logits,) = eqspec.load(spec(tmp_path, "stays within 0.1 of f", "logits", "logits")).tasks
    assert digest(shares) != digest(logits)
    again = from_json(to_json(shares), tmp_path)
    assert again.reference.softened == "softmax"
    assert digest(again) == digest(shares)
    assert from_json(to_json(logits), tmp_path).reference.stripped == "softmax"
    (decision,) = eqspec.load(spec(tmp_path, "keeps top1 of f")).tasks
    assert decision.reference.stripped == "softmax"
