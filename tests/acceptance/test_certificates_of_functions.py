"""Proofs about networks with functions other than ReLU: certified, audited, refused once anything in them is false."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import save

from eqspec.networks import read_network
from eqspec.property import Epsilon
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.proofs import certified, certify, holds, holds_within, unpack
from unit.networks.models import model, node

Array = NDArray[Any]
SIZES = (4, 10, 10, 3)
FUNCTIONS = ("Tanh", "Sigmoid", "LeakyRelu", "Gelu", "SiLU", "Softplus", "Elu", "HardSwish", "Clip", "Erf", "Sin")


def written(path: Path, layers: list[tuple[Array, Array]], function: str) -> Path:
    """Dense layers with a function between them."""
    nodes, constants, now = [], dict[str, Array](), "x"
    for k, (weight, bias) in enumerate(layers):
        constants |= {f"w{k}": weight.astype(np.float32), f"b{k}": bias.astype(np.float32)}
        nodes.append(node("Gemm", [now, f"w{k}", f"b{k}"], now := f"h{k}" if k < len(layers) - 1 else "y", transB=1))
        if k == len(layers) - 1:
            break
        if function == "SiLU":
            nodes += [node("Sigmoid", [now], f"s{k}"), node("Mul", [now, f"s{k}"], f"a{k}")]
        elif function == "Clip":
            constants |= {"low": np.array(-0.5, np.float32), "high": np.array(0.75, np.float32)}
            nodes.append(node("Clip", [now, "low", "high"], f"a{k}"))
        else:
            nodes.append(node(function, [now], f"a{k}"))
        now = f"a{k}"
    save(model(nodes, constants, [1, layers[0][0].shape[1]], opset=20), path)
    return path


def pair(function: str, folder: Path, claim: Any, radius: Fraction, off: float = 0.02, seed: int = 0) -> Task:
    """A network and one like it, on a box around 0."""
    rng = np.random.default_rng(seed)
    first = [(1.5 * rng.normal(size=(m, n)) / np.sqrt(n), 0.3 * rng.normal(size=m)) for n, m in pairwise(SIZES)]
    second = [(w + off * rng.normal(size=w.shape), b) for w, b in first]
    networks = [
        read_network(written(folder / f"{k}.onnx", layers, function)) for k, layers in enumerate((first, second))
    ]
    ends: dict[str, Any] = {"lower": [-radius] * SIZES[0], "upper": [radius] * SIZES[0]}
    return task_of(networks[0], networks[1], claim, space=space(SIZES[0], SIZES[-1]), **ends)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_proof_has_a_certificate(function: str, tmp_path: Path) -> None:
    parts = certified(pair(function, tmp_path, Epsilon(Fraction(1, 4)), Fraction(1, 4)), tmp_path)
    assert not holds_within(parts, "1/10000", tmp_path)


@pytest.mark.parametrize("function", ["Tanh", "Sigmoid", "Gelu", "LeakyRelu", "Sin"])
def test_a_counterexample_has_a_certificate(function: str, tmp_path: Path) -> None:
    result, made = certify(pair(function, tmp_path, Epsilon(Fraction(1, 1000)), Fraction(1, 4)), tmp_path / "proofs")
    assert result.verdict is Verdict.DIFFERENT
    assert made is not None
    assert made.reason is None
    parts = unpack(made.path)
    parts.header["witness"] = ["0"] * SIZES[0]
    parts.header["task"]["property"]["eps"] = "1"
    assert not holds(parts, tmp_path)


@pytest.mark.parametrize(("function", "eps"), [("HardSwish", Fraction(2, 25)), ("LeakyRelu", Fraction(1, 10))])
def test_wrong_multipliers_prove_nothing(
    function: str, eps: Fraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative ones are refused, other ones may prove less; a claim that is false no multipliers prove."""
    # Cuts would do without multipliers here, which are what is tested.
    monkeypatch.setattr("eqspec.certificates.proof_construction.parts", lambda _, nodes, *__: [None] * len(nodes))
    task = pair(function, tmp_path, Epsilon(eps), Fraction(1, 2), seed=1)
    _, made = certify(task, tmp_path / "proofs", timeout=60)
    assert made is not None
    assert made.reason is None
    assert made.rounds, "this proof was chosen because it needs multipliers"
    parts = unpack(made.path)
    assert holds(parts, tmp_path)
    rng = np.random.default_rng(0)
    for k in range(min(4, len(parts.rounds))):
        spoiled = parts.copy()
        spoiled.rounds[k][2] = -np.abs(spoiled.rounds[k][2]) - 1.0
        assert not holds(spoiled, tmp_path)
    none = parts.copy()
    for one in none.rounds:
        one[2][:] = 0.0
    assert not holds(none, tmp_path)
    for _ in range(5):
        other = parts.copy()
        for one in other.rounds:
            one[2][:] = rng.exponential(size=one[2].shape)
        other.header["task"]["property"] = {
            "kind": "epsilon",
            "decide": "max",
            "eps": "1/100000",
            "norm": "linf",
            "outputs": None,
        }
        assert not holds(other, tmp_path)
