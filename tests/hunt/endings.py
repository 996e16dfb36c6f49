"""A hunt through what stands at the end of files: `PYTHONPATH=python:tests python -m hunt.endings --cases N`.

A case is two small files with endings of several kinds (`ending_files`), a spec with a space, a ball and a claim, in
which networks give logits, probabilities or neither. The truth is what onnxruntime gives at many points of the ball,
read as the language reads results: decisions are about what the file gives, and a single number p in a space of two
classes is 1 - p and p. A proof must not be broken at any of them beyond rounding, and a counterexample must not hold
beyond rounding. Weights and points are dyadic, so that steps of scores are exact.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eqspec
from eqspec.certificates import Certifier
from eqspec.errors import EqspecError, SpecError
from eqspec.run.options import Options
from hunt import by_seeds
from hunt.ending_files import STEPS, File, Random, weights, write

ROOM = 1e-4
"""What float32 may round: scores are below a few hundred."""
POINTS = 96
MOST_OUTPUTS = 12


@dataclass(frozen=True)
class Claim:
    """One sentence, as text and as what it says of two vectors of results."""

    kind: str
    text: str
    bound: float
    norm: str
    outputs: tuple[int, int]
    sign: int

    def broken(self, reference: NDArray[Any], candidate: NDArray[Any]) -> float | None:
        """By how much results break it, at most 0 where they do not; None where it says nothing of them."""
        if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):
            return None
        if self.kind == "distance":
            apart = np.abs(reference - candidate)
            size = {"linf": apart.max(), "l1": apart.sum(), "l2": np.sqrt((apart**2).sum())}[self.norm]
            return float(size - self.bound)
        if self.kind == "linear":
            return float(candidate[self.outputs[0]] - reference[self.outputs[1]] - self.bound)
        first, second = self.sign * reference, self.sign * candidate
        best = int(first.argmax())
        lead = float(first[best] - np.delete(first, best).max()) if len(first) > 1 else 0.0
        if lead <= ROOM or (self.kind == "margin" and lead < self.bound + ROOM):
            return None
        if self.kind == "confidence" and self._confidence(first) < self.bound + 10 * ROOM:
            return None
        return float(second.max() - second[best])

    @staticmethod
    def _confidence(scores: NDArray[Any]) -> float:
        """What files that give probabilities say themselves, and the softmax of other scores, if that is less."""
        soft = np.exp(scores - scores.max())
        soft = float(soft.max() / soft.sum())
        told = bool(abs(scores.sum() - 1) < ROOM and (scores >= 0).all())
        return min(soft, float(scores.max())) if told else soft


def _claim(rng: Random, outputs: int) -> Claim:
    kind = str(rng.choice(["top1", "top1", "confidence", "margin", "distance", "distance", "linear"]))
    bounds = {"confidence": (0.6, 0.9, 0.99), "margin": (0.01, 0.125, 0.5), "linear": (-0.25, 0, 0.125, 0.5, 1)}
    bound = float(rng.choice(bounds.get(kind, (0.001, 0.01, 0.125, 0.5, 1, 2))))
    norm = str(rng.choice(["linf", "linf", "l1", "l2"]))
    i, j = (int(n) for n in rng.integers(0, outputs, 2))
    text = {
        "top1": "g keeps top1 of f",
        "distance": f"g stays within {bound} of f in {norm}",
        "linear": f"g satisfies g[{i}] - f[{j}] <= {bound}",
    }.get(kind, f"g keeps top1 of f when {kind} >= {bound}")
    return Claim(kind, text, bound, norm, (i, j), -1 if rng.random() < 0.15 else 1)


@dataclass(frozen=True)
class Case:
    """Two files, a spec, and what is asked of them."""

    files: tuple[File, File]
    claim: Claim
    gives: str
    outputs: int
    centre: NDArray[Any]
    radius: float

    def results(self, place: int, point: NDArray[Any]) -> NDArray[Any]:
        """What a file gives at a point, as the space reads it."""
        found = self.files[place].at(point.astype(np.float32)[None])
        return np.array([1 - found[0], found[0]]) if len(found) == 1 and self.outputs == 2 else found

    def spec(self) -> str:
        """The text of the spec."""
        point = ", ".join(repr(float(c)) for c in self.centre)
        features = ", ".join(f"a{i}" for i in range(len(self.centre)))
        decide = "max" if self.claim.sign > 0 else "min"
        return "\n".join([
            "eqspec 1",
            f"space s {{ features {features} outputs {self.outputs} decide {decide} }}",
            *(f'network {name} = "{name}.onnx" in s{self.gives}' for name in "fg"),
            f"region r in s = ball linf {self.radius} around point [{point}]",
            f"check c {{ prove {self.claim.text} on r }}\n",
        ])  # fmt: skip


def alike(rng: Random) -> bool:
    """Whether both files of a case have the same endings."""
    return bool(rng.random() < 0.6)


def case_of(seed: int) -> Case | None:
    """The case of a seed; None where onnxruntime does not run its files."""
    rng = np.random.default_rng([seed, 19])
    inputs, scores = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2, 2, 3, 4]))
    first, opset = weights(rng, inputs, scores), int(rng.choice([13, 15, 17]))
    moved = float(rng.choice([0, 1 / 64, 1 / 8, 1]))
    second = tuple((a + moved * rng.integers(-1, 2, a.shape)).astype(np.float32) for a in first)
    same = alike(rng)
    lengths = rng.integers(0, 4, 2)
    f = write(np.random.default_rng([seed, 20]), first, int(lengths[0]), opset)
    g = write(np.random.default_rng([seed, 20 if same else 21]), second, int(lengths[0 if same else 1]), opset)
    if f is None or g is None:
        return None
    sizes = {f.size, g.size}
    two = sizes == {1, 2} or (sizes == {1} and rng.random() < 0.6)
    outputs = 2 if two else f.size
    if not 0 < outputs <= MOST_OUTPUTS:
        return None
    gives = str(rng.choice(["", "", "", " gives logits", " gives probabilities"]))
    centre, radius = rng.integers(-8, 9, inputs) / 8, float(rng.choice([1 / 64, 1 / 8, 1, 4]))
    return Case((f, g), _claim(rng, outputs), gives, outputs, centre, radius)


def judge(seed: int, folder: Path, certifier: Certifier | None = None) -> tuple[str, str | None]:
    """What eqspec says of a case, and what is wrong with it."""
    case = case_of(seed)
    if case is None:
        return "not run by onnxruntime", None
    for name, file in zip("fg", case.files, strict=True):
        (folder / f"{name}.onnx").write_bytes(file.model.SerializeToString())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec = eqspec.loads(case.spec(), directory=folder)
            options = Options(timeout=5.0, threads=1, boxes=150, certifier=certifier)
            (result,) = spec.run(spec.select(), options, progress=False).results
    except SpecError as error:
        return "refused " + ", ".join(sorted({d.code for d in error.diagnostics if d.severity == "error"})), None
    except EqspecError as error:
        return "refused", None if "agree" in str(error) else f"raised {error}: {case.spec()}"
    if "logits" in case.gives and case.claim.kind not in ("top1", "confidence"):
        return result.verdict.value, None  # about what onnxruntime does not show
    wrong = None
    if result.verdict is eqspec.Verdict.DIFFERENT and result.witness is not None:
        point = np.array([float(x) for x in result.witness.normalised])
        steps = STEPS & {kind for file in case.files for kind in file.kinds}
        by = case.claim.broken(case.results(0, point), case.results(1, point))
        if by is not None and by < -ROOM and not steps:
            wrong = f"a witness that breaks nothing, by {by} at {point}"
    elif result.verdict is eqspec.Verdict.EQUIVALENT:
        wrong = _broken_proof(case, seed)
    return result.verdict.value, None if wrong is None else f"{wrong}\n{case.files[0].kinds}\n{case.spec()}"


def _broken_proof(case: Case, seed: int) -> str | None:
    """A point that breaks what was proved."""
    rng = np.random.default_rng([seed, 22])
    for number in range(POINTS):
        at = rng.choice([-1, 0, 1], len(case.centre)) if number < 16 else rng.integers(-64, 65, len(case.centre)) / 64
        point = case.centre + case.radius * at
        by = case.claim.broken(case.results(0, point), case.results(1, point))
        if by is not None and by > ROOM:
            return f"proved, and broken by {by} at {point}"
    return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hunt.endings", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--certify", action="store_true", help="write a certificate of every verdict, which is audited")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="hunt-endings-") as name, Certifier(Path(name)) as certifier:
        asked = certifier if given.certify else None
        return by_seeds.run(lambda seed: judge(seed, Path(name), asked), given.cases, given.seed)


if __name__ == "__main__":
    sys.exit(main())
