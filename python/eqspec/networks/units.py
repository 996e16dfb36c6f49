"""The vectors of units that a graph is read into: the inputs, and one for each step of the program to be.

A value of the graph is an affine function of earlier units (`affine`). A function of it makes new units: `relu` by far
the most, `identity` where an affine function stays a step of its own, because folded into its readers it would grow.
`Reading` has them in the order in which they were made, so that every one comes behind what it reads, and counts what
they cost: a network too large to be decided is refused before its arrays are formed.

Units are `plain` where they are a vector without positions: the inputs, and what fully connected layers give. ReLUs of
values over the same plain units are rows of one step, as in the chain of layers that a fully connected network is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.matrices import TooLargeError
from eqspec.networks.program import Function

MAX_NEURONS = 4_000_000
"""The most neurons of a graph, which is read and attacked; where its zonotopes do not
fit in the memory of the task, the core bounds it backwards."""

MAX_PRODUCTS = 500_000_000
"""The most products of one evaluation of a graph, which are the entries of its steps as sparse matrices. An exact
evaluation of so many takes half a minute; bounds are computed of fewer (`run.attack_alone`)."""

MAX_HELD = 300_000_000
"""The most that tiles hold, in four bytes each: 1.2 GB. A place that is read is one of these, and a weight two."""


@dataclass(eq=False)
class Units:
    """Units that one step gives (or the inputs): `blocks` are the function's arguments (`Affine`), in order.

    `above` are the ReLUs of values over these, where they are rows of one step.
    """

    reading: Reading
    size: int
    function: Function = "identity"
    blocks: list[Any] = field(default_factory=list)
    plain: bool = True
    above: Units | None = None
    number: int = 0

    @property
    def unit(self) -> float:
        """How far, relative to its size, what starts a sum over these units may be off (see `roundoff`)."""
        return self.reading.unit


@dataclass(eq=False)
class Reading:
    """All units of one reading of a graph; `unit` and `tiny` are what its arithmetic rounds and loses (0: nothing).

    `missed` is what its functions may be off by (see `runtime_functions`), `roundings` the most that one counts.
    `rounds` is how far, relative to its result, one operation may be off.
    """

    unit: float = 0.0
    tiny: float = 0.0
    missed: float = 0.0
    rounds: float = 0.0
    roundings: int = 0
    units: list[Units] = field(default_factory=list)
    neurons: int = 0
    products: int = 0
    held: int = 0
    structured: bool = False
    asked: list[Any] = field(default_factory=list)
    """Values (`Affine`) of which a graph asks whether they are numbers."""

    @contextmanager
    def over_the_reals(self) -> Iterator[None]:
        """Values that are formed here are real numbers: what a runtime rounds of them is added by the caller."""
        kept = self.unit, self.tiny, self.missed
        self.unit = self.tiny = self.missed = 0.0
        try:
            yield
        finally:
            self.unit, self.tiny, self.missed = kept

    def new(self, size: int, function: Function, blocks: list[Any], *, plain: bool) -> Units:
        """Units behind all others."""
        made = Units(self, size, function, blocks, plain, number=len(self.units))
        self.units.append(made)
        return made

    def count_neurons(self, neurons: int) -> None:
        """More neurons. TooLargeError where they are too many."""
        self.neurons += neurons
        self.check_neurons(self.neurons)

    def check_neurons(self, neurons: int) -> None:
        """Whether so many neurons are too many: TooLargeError."""
        if self.structured and neurons > MAX_NEURONS:
            message = f"the network has {neurons} neurons up to here; networks of up to {MAX_NEURONS} are read"
            raise TooLargeError(message)

    def count_products(self, products: int, held: int | None = None) -> None:
        """More products, of a tile that holds so much. TooLargeError where they are too many."""
        self.structured = True
        self.check_products(products, held)
        self.products += products
        self.held += 3 * products if held is None else held
        self.count_neurons(0)

    def check_products(self, products: int, held: int | None = None) -> None:
        """Whether so many more products are too many, before anything of them is formed: TooLargeError.

        `held` is as in `MAX_HELD`; without it every product has a place and a weight of its own.
        """
        total, stored = self.products + products, self.held + (3 * products if held is None else held)
        if total > MAX_PRODUCTS:
            message = f"one evaluation of the network costs {total} products up to here; networks of up to "
            raise TooLargeError(f"{message}{MAX_PRODUCTS} are read")
        check_held(stored)


def check_held(held: int) -> None:
    """Whether tiles hold too much: TooLargeError."""
    if held > MAX_HELD:
        message = f"the weights of the network and the places that they read take {4 * held} bytes; up to "
        raise TooLargeError(f"{message}{4 * MAX_HELD} are read")
