"""Certificates about every float32 runtime: the auditor's own radii, against numpy's float32 in shuffled orders."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.audit import Refused, audit
from eqspec.audit.reading import File, Float32
from eqspec.audit.reading.pair import kept
from eqspec.networks import in_float32
from eqspec.property import Epsilon, Property, Top1
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space
from small_tasks import task as task_of
from unit.certificates.dense import layers
from unit.certificates.files import Layers, write
from unit.certificates.proofs import certify, pack, unpack
from unit.certificates.proofs import layers as random_layers
from unit.networks.models import model, node, save

Single = NDArray[np.float32]
F = np.float32
CANCELS: Layers = [(np.array([[1e8, 1.0, -1e8]]), np.zeros(1))]
"""Over the reals the middle input where the others are 1; in float32 it may be lost."""


def file(path: Path, inputs: int, outputs: int, reach: float = 1.0) -> File:
    one, none = ((Fraction(c),) * inputs for c in (1, 0))
    return File(str(path), path.read_bytes(), Float32, one, none, (reach,) * inputs, False, outputs)


def in_files(folder: Path, first: Layers, second: Layers, claim: Property, **box: Any) -> Task:
    """A task about float32 whose networks are files."""
    a, b = (in_float32(write(folder / f"{name}.onnx", part)) for name, part in (("a", first), ("b", second)))
    return task_of(a, b, claim, space=space(len(first[0][0][0]), len(first[-1][1])), **box)


def certified(task: Task, folder: Path, verdict: Verdict) -> Path:
    """The certificate of what is decided."""
    result, made = certify(task, folder)
    assert result.verdict is verdict
    assert made is not None
    assert made.reason is None
    return made.path


def check_that_the_reals_alone_allow(path: Path, eps: str, verdict: Verdict, why: str) -> None:
    """With another distance the certificate is refused as one about float32, and holds as one about the reals."""
    parts = unpack(path)
    parts.header["task"]["property"]["eps"] = eps
    with pytest.raises(Refused, match=why):
        audit(pack(path.with_name("changed"), parts))
    parts.header["task"]["arithmetic"] = "real"
    assert audit(pack(path.with_name("changed"), parts)).verdict == verdict.value


def forget() -> None:
    """What was read with other radii."""
    File.reading.cache_clear()
    kept.cache_clear()


def summed(terms: list[np.float32], rng: np.random.Generator) -> np.float32:
    """In a random order, as a random tree."""
    while len(terms) > 1:
        a, b = (terms.pop(int(rng.integers(len(terms)))) for _ in "12")
        terms = [*terms, F(a + b)]
    return terms[0]


def wild(rng: np.random.Generator, *shape: int) -> Single:
    """Numbers of very different sizes, which cancel; some that underflow, some zero."""
    sizes = 10.0 ** rng.integers(-4, 5, size=shape) * rng.choice([1.0, 1e-38, 0.0], p=[0.85, 0.1, 0.05], size=shape)
    return np.asarray(rng.normal(size=shape) * sizes, F)


def flushed(v: np.float32) -> np.float32:
    """As where subnormal numbers count as zero."""
    return v if abs(v) >= 2.0**-126 else F(0)


@pytest.mark.parametrize("seed", range(8))
def test_every_order_of_summation_lies_within_the_radii(seed: int, tmp_path: Path) -> None:
    """Two layers between the input and a ReLU, a normalisation merged or not, flushed to zero or not."""
    rng = np.random.default_rng(seed)
    w, b, u, s, t = wild(rng, 7, 5), wild(rng, 7), wild(rng, 3, 7), wild(rng, 7), wild(rng, 7)
    constants = {"w": w.T, "b": b, "s": s, "t": t, "u": u.T}
    nodes = [node("MatMul", ["x", "w"], "p"), node("Add", ["p", "b"], "q"), node("Mul", ["q", "s"], "r")]
    nodes += [node("Add", ["r", "t"], "h"), node("MatMul", ["h", "u"], "y")]
    proto = model(nodes, {n: np.ascontiguousarray(v) for n, v in constants.items()}, [1, 5])
    ((exact, missing),) = layers(file(Path(save(tmp_path, proto)), 5, 3))
    assert missing.any()
    for trial in range(12):
        x = np.asarray(rng.uniform(-1, 1, size=5), F)
        flush = flushed if trial % 2 else F
        inner = []
        for i in range(7):
            if trial % 3:
                terms = [flush(F(a * v)) for a, v in zip(w[i], x, strict=True)] + [b[i]]
                inner.append(flush(F(flush(F(summed(terms, rng) * s[i])) + t[i])))
            else:
                terms = [flush(F(flush(F(s[i] * a)) * v)) for a, v in zip(w[i], x, strict=True)]
                inner.append(flush(summed([*terms, flush(F(flush(F(b[i] * s[i])) + t[i]))], rng)))
        point = [*map(Fraction, x.tolist()), Fraction(1)]
        for row, off, weights in zip(exact, missing, u, strict=True):
            found = Fraction(float(summed([flush(F(a * v)) for a, v in zip(weights, inner, strict=True)], rng)))
            middle = sum((c * v for c, v in zip(row, point, strict=True)), Fraction(0))
            assert abs(found - middle) <= sum((r * abs(v) for r, v in zip(off, point, strict=True)), Fraction(0))


@pytest.mark.parametrize("claim", [Epsilon(Fraction(1, 5)), Top1()], ids=repr)
def test_what_is_decided_about_float32_is_certified(claim: Property, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    first = random_layers(rng, [3, 8, 8, 3])
    first[-1][1][:] = [0.0, 3.0, -3.0]
    second = [(w + 1e-4 * rng.normal(size=w.shape), b) for w, b in first]
    half = [Fraction(1, 2)] * 3
    task = in_files(tmp_path, first, second, claim, lower=[-h for h in half], upper=half)
    certified(task, tmp_path, Verdict.EQUIVALENT)


def test_a_pair_that_differs_in_float32_alone_is_never_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate of its proof over the reals is refused as one about float32; without radii it would not be."""
    simpler: Layers = [(np.array([[0.0, 1.0, 0.0]]), np.zeros(1))]
    box = {"lower": [1, 0, 1], "upper": [1, 1, 1]}
    task = in_files(tmp_path, CANCELS, simpler, Epsilon(Fraction(1, 1000000)), **box)
    reals = [write(tmp_path / f"{name}.onnx", part) for name, part in (("a", CANCELS), ("b", simpler))]
    path = certified(replace(task, reference=reals[0], candidate=reals[1]), tmp_path, Verdict.EQUIVALENT)
    assert certify(task, tmp_path, timeout=1)[0].verdict is not Verdict.EQUIVALENT
    parts = unpack(path)
    parts.header["task"]["arithmetic"] = "float32"
    forged = pack(tmp_path / "forged", parts)
    with pytest.raises(Refused, match="not proved"):
        audit(forged)
    parts.header["task"]["property"]["eps"] = "1000"
    assert audit(pack(tmp_path / "loose", parts)).verdict == "equivalent"
    for name, value in (("unit", Fraction(1, 2**80)), ("rounds", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(Float32, name, value)
            forget()
            assert audit(forged).verdict == "equivalent", "the radius alone refuses it"
    forget()


def test_a_network_against_itself_is_not_settled_in_float32(tmp_path: Path) -> None:
    one = random_layers(np.random.default_rng(0), [3, 6, 3])
    task = in_files(tmp_path, one, one, Epsilon(Fraction(1, 1000)))
    path = certified(task, tmp_path, Verdict.EQUIVALENT)
    check_that_the_reals_alone_allow(path, "1/1000000000", Verdict.EQUIVALENT, "not proved")


def test_different_means_different_in_every_runtime(tmp_path: Path) -> None:
    """A witness over the reals is none about float32 where rounding may make up for it."""
    first: Layers = [(np.array([[1.0]]), np.zeros(1))]
    second: Layers = [(np.array([[1.0]]), np.ones(1))]
    path = certified(in_files(tmp_path, first, second, Epsilon(Fraction(1, 2))), tmp_path, Verdict.DIFFERENT)
    check_that_the_reals_alone_allow(path, "99999999/100000000", Verdict.DIFFERENT, "cannot show that the claim breaks")


def test_what_float32_cannot_hold_is_refused(tmp_path: Path) -> None:
    """An infinity on the way, also one that only another order of multiplying meets; and arithmetic in 16 bits."""
    big = {"big": np.array([1e30], F), "more": np.array([1e30], F), "small": np.array([1e-30], F)}
    nodes = [node("Mul", ["x", "big"], "h"), node("Mul", ["h", "small"], "y")]
    path = Path(save(tmp_path, model(nodes, big, [1, 1])))
    assert len(layers(file(path, 1, 1))) == 1
    with pytest.raises(Refused, match="overflow"):
        layers(file(path, 1, 1, 10**9))
    nodes = [node("Mul", ["x", "big"], "h"), node("Mul", ["h", "small"], "i"), node("Mul", ["i", "more"], "y")]
    with pytest.raises(Refused, match="overflow"):
        layers(file(Path(save(tmp_path, model(nodes, big, [1, 1]))), 1, 1))
    half = model([node("MatMul", ["x", "w"], "y")], {"w": np.ones((2, 1), np.float16)}, [1, 2])
    with pytest.raises(Refused, match="type"):
        layers(file(Path(save(tmp_path, half)), 2, 1))
