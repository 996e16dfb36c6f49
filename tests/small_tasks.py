"""Small networks and tasks built in memory, for tests of everything that takes a task."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eqspec.networks.network import AffineLayer, Network
from eqspec.property import Epsilon, Property, Top1
from eqspec.tasks.directed_rounding import floats_above, floats_below
from eqspec.tasks.task import Space, Task


def network(*layers: tuple[ArrayLike, ArrayLike], source: str = "<memory>", **fields: Any) -> Network:
    """A network with these weights and biases."""
    made = tuple(AffineLayer(np.array(w, np.float64), np.array(b, np.float64)) for w, b in layers)
    digest = hashlib.sha256(b"".join(layer.weight.tobytes() + layer.bias.tobytes() for layer in made)).hexdigest()
    return Network.of_layers(made, source, digest, **fields)


def identity(size: int) -> Network:
    """x -> x."""
    return network((np.eye(size), np.zeros(size)))


def space(inputs: int, outputs: int, **fields: Any) -> Space:
    """Inputs x0, x1, ... and outputs y0, y1, ..., not normalised."""
    given: dict[str, Any] = {
        "features": tuple(f"x{i}" for i in range(inputs)),
        "units": (None,) * inputs,
        "outputs": tuple(f"y{i}" for i in range(outputs)),
        "centre": (Fraction(0),) * inputs,
        "scale": (Fraction(1),) * inputs,
    }
    return Space(**(given | fields))


def task(
    reference: Network,
    candidate: Network,
    claim: Property | None = None,
    lower: Sequence[Fraction | int] | None = None,
    upper: Sequence[Fraction | int] | None = None,
    **fields: Any,
) -> Task:
    """A task on a box, by default Top-1 on [-1, 1]^I."""
    size = reference.input_size
    low = tuple(map(Fraction, lower)) if lower is not None else (Fraction(-1),) * size
    high = tuple(map(Fraction, upper)) if upper is not None else (Fraction(1),) * size
    given: dict[str, Any] = {
        "id": "close",
        "check": "close",
        "parameters": {},
        "reference": reference,
        "candidate": candidate,
        "reference_name": "full",
        "candidate_name": "pruned",
        "reference_takes_raw": False,
        "candidate_takes_raw": False,
        "space": space(size, reference.output_size),
        "lower_exact": low,
        "upper_exact": high,
        "lower": floats_below(low),
        "upper": floats_above(high),
        "property": claim or Top1(),
    }
    return Task(**(given | fields))


def hard(seed: int = 0) -> Task:
    """A pair far too large to decide: nobody waits for its end."""
    rng = np.random.default_rng(seed)
    sizes = [(40, 20), (40, 40), (40, 40), (5, 40)]
    layers = [(rng.normal(size=s), rng.normal(size=s[0])) for s in sizes]
    other = [(w + 1e-3 * rng.normal(size=w.shape), b) for w, b in layers]
    return task(network(*layers), network(*other), Epsilon("9"), id=f"hard[seed={seed}]", check="hard")


def undecided_task() -> Task:
    """One of few inputs that takes hundreds of boxes, each of them quickly bounded."""
    rng = np.random.default_rng(5)
    sizes = [(12, 4), (12, 12), (2, 12)]
    layers = [(rng.normal(size=s), rng.normal(size=s[0])) for s in sizes]
    other = [(w + 1e-2 * rng.normal(size=w.shape), b) for w, b in layers]
    return task(network(*layers), network(*other), Epsilon("0.9"), id="slow", check="slow")
