"""Networks of every architecture and function, trained on digits once and kept below benches/results/graphs, and what
is asked about them: does the file stay what it was when it is exported otherwise or made smaller?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from acceptance.published import Query
from benches import RESULTS
from benches.graphs import training
from convolutional_models import (
    FUNCTIONS,
    KINDS,
    SMOOTH,
    Array,
    Model,
    copied,
    folded,
    initialise,
    on_a_grid,
    permuted,
    write,
)
from eqspec.networks import read_network
from eqspec.networks.network import Network
from eqspec.property import Epsilon, Property, Top1
from small_tasks import task

FOLDER = RESULTS / "graphs"
NORMALISED = ("separable", "pool", "residual")
"""Architectures with BatchNormalization."""
VERSIONS = ("unfolded", "folded", "grid", "permuted", "cut")
EPOCHS, TUNING = 12, 3
IMAGES = 5
"""Images that were not trained on, one claim around each."""


def names(functions: tuple[str, ...] = FUNCTIONS) -> tuple[str, ...]:
    """The networks of these functions, `architecture_function`."""
    return tuple(f"{kind}_{function}" for kind in KINDS for function in functions)


def make(say: Callable[[str], None]) -> None:
    """Train and write whatever is not there."""
    made_of = [(kind, function) for functions in (FUNCTIONS, SMOOTH) for kind in KINDS for function in functions]
    for number, (kind, function) in enumerate(made_of):
        if all(_path(f"{kind}_{function}", version).exists() for version in VERSIONS):
            continue
        rng = np.random.default_rng(number)
        model = initialise(kind, function, rng)
        training.fit(model, rng, epochs=EPOCHS)
        smaller = copied(model)
        training.fit(smaller, rng, epochs=TUNING, rate=5e-4, cut=0.5)
        flat = folded(model)
        made: dict[str, Model] = {"unfolded": model, "folded": flat, "grid": on_a_grid(flat)}
        made |= {"permuted": permuted(flat, rng), "cut": folded(smaller)}
        for version, one in made.items():
            write(one, _path(f"{kind}_{function}", version))
        say(
            f"{kind} {function}: accuracy {training.accuracy(model):.3f}, "
            f"half of its weights cut {training.accuracy(smaller):.3f}"
        )


def _path(name: str, version: str) -> Path:
    return FOLDER / f"{name}_{version}.onnx"


def read(name: str, version: str) -> Network:
    """One of the files."""
    return read_network(_path(name, version))


def box(image: Array, radius: float, low: float = 0, high: float = 1) -> tuple[list[Fraction], list[Fraction]]:
    """All images that differ nowhere by more, within the range of a pixel."""
    values, around = [Fraction(float(v)) for v in image.ravel()], Fraction(str(radius))
    least, most = Fraction(low), Fraction(high)
    return [max(v - around, least) for v in values], [min(v + around, most) for v in values]


def largest(one: Network, other: Network, lower: list[Fraction], upper: list[Fraction], points: int = 500) -> float:
    """The largest difference of an output, half of it on random points and half on random corners."""
    ends = np.array([lower, upper], dtype=float)
    share = np.random.default_rng(0).random((points, len(lower)))
    share[::2] = np.round(share[::2])
    places = ends[0] + (ends[1] - ends[0]) * share
    return float(np.abs(one.evaluate(places) - other.evaluate(places)).max())


def queries(
    claim: Callable[[float], Property],
    versions: tuple[str, str] = ("folded", "grid"),
    radius: float = 0.1,
    chosen: tuple[str, ...] | None = None,
) -> Iterator[Query]:
    """One query per network and image; the claim may depend on the largest sampled difference."""
    _, _, images, _ = training.digits()
    for name in chosen or names():
        one, other = read(name, versions[0]), read(name, versions[1])
        for number, image in enumerate(images[:IMAGES]):
            lower, upper = box(image, radius)
            wanted = claim(largest(one, other, lower, upper))
            yield Query(f"{name} {number}", task(one, other, wanted, lower, upper, id=f"{name}[{number}]"), None)


def exported(functions: tuple[str, ...] = FUNCTIONS) -> list[Query]:
    """BatchNormalization folded against not, 1e-4."""
    with_norm = tuple(name for name in names(functions) if name.startswith(NORMALISED))
    return list(queries(lambda _: Epsilon(Fraction("0.0001")), ("unfolded", "folded"), chosen=with_norm))


def moved() -> list[Query]:
    """Channels in another order, 1e-4."""
    return list(queries(lambda _: Epsilon(Fraction("0.0001")), ("folded", "permuted")))


def gridded(times: str, radius: float = 0.1, functions: tuple[str, ...] = FUNCTIONS) -> list[Query]:
    """8 bit weights, so many times the largest sampled difference.

    The first bound grows with the radius much faster than what is sampled, which hardly grows: on the residual network
    of ReLUs it is 4 times the largest sample at .02, 22 times at .05 and 65 times at .1, since by then most neurons
    behind the first steps can have both signs. The max-pool's network has 14 times at .1, and 4 to 7 without its
    normalisation.
    """
    return list(queries(lambda seen: Epsilon(Fraction(times) * Fraction(seen)), radius=radius, chosen=names(functions)))


def same_class(version: str, radius: float) -> list[Query]:
    """The same class on small boxes."""
    return list(queries(lambda _: Top1(), ("folded", version), radius))
