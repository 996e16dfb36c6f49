"""The same questions from Python: cases of the hunt through specs as calls of `eqspec.verify`, in network units.

Spaces have no normalisation here, so that both networks take what the call says. Everything that a region asks is given
in numbers: corners, one lattice for an input, and constraints.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import eqspec
from eqspec.networks import Network
from eqspec.property import Confidence, Epsilon, Linear, Margin, Property, Top1
from eqspec.run.options import Options
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.result import Result
from hunt.combined_case import Case, Claim, claim_of, partner, said, write_files
from hunt.combined_networks import Net, random_net
from hunt.combined_regions import Space, random_region


def call_of(seed: int) -> Case | None:
    """The case of a seed; None where it cannot be said in one call."""
    rng = np.random.default_rng([seed, 51])
    inputs, outputs = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    space = Space((Fraction(0),) * inputs, (Fraction(1),) * inputs, "none", None)
    f, claim = random_net(rng, inputs, outputs), claim_of(rng, outputs, variable=False)
    g = partner(rng, f)
    if claim.kind == "equal":
        claim = replace(claim, kind="distance", bound=Fraction(1, 4))
    f, g = said(rng, f, claim), said(rng, g, claim)
    region = random_region(rng, space, formal=False)
    case = Case(space, outputs, f, g, region, claim, (), None, "float32" if rng.random() < 0.1 else "real")
    return case if g.type is None and _sayable(case) else None


def _sayable(case: Case) -> bool:
    """Whether one word says what the scores of both are, and no input lies on two lattices."""
    points = case.region.points(Fraction(1))
    gives = {net.gives for net in (case.f, case.g)}
    soft = {net.ending == "softmax" for net in (case.f, case.g)}
    alike = gives == {""} or (len(gives) == 1 and soft == {True})
    inhabited = all(low <= high for low, high in zip(points.low, points.high, strict=True))
    return alike and inhabited and all(len(on) <= 1 for on in points.lattices)


def called(case: Case, folder: Path) -> Result:
    """What `eqspec.verify` says of it."""
    write_files(case, folder)
    points = case.region.points(Fraction(1))
    rows = [[float(a) for a in row] for row, _ in points.halves]
    more: dict[str, Any] = {"scores": case.f.gives} if case.f.gives else {}
    if rows:
        more["constraints"] = rows, [float(bound) for _, bound in points.halves]  # quarters, which floats hold
    if any(points.lattices):
        more["grid"] = [Lattice(*on[0]) if on else None for on in points.lattices]
    f, g = (_read(net, folder / f"{name}.onnx") for name, net in (("f", case.f), ("g", case.g)))
    claim, options = _property(case.claim, case.outputs), Options(timeout=5.0, threads=1, boxes=200)
    more["decide"] = "max" if case.claim.sign > 0 else "min"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eqspec.verify(
            f, g, points.low, points.high, claim,
            arithmetic="float32" if case.arithmetic == "float32" else "real", options=options, progress=False, **more,
        )  # fmt: skip


def _read(net: Net, path: Path) -> Network:
    chosen = {"hidden": "hidden", "beside": "scores"}.get(net.ending)
    return eqspec.read_network(path, output=chosen, dequantised=None if net.ends is None else eqspec.Dequantised())


def _property(claim: Claim, outputs: int) -> Property:
    assert claim.bound is not None
    match claim.kind:
        case "distance":
            return Epsilon(claim.bound, claim.norm, claim.chosen or None)  # type: ignore[arg-type]
        case "linear":
            rows = np.eye(outputs, dtype=int)[list(claim.places)].tolist()
            return Linear(tuple(rows[0]), tuple(-n for n in rows[1]), claim.bound)
        case "top1":
            return Top1()
        case "margin":
            return Margin(claim.bound)
    return Confidence(claim.bound)
