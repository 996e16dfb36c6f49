"""What a network may be quantised to: integers of so many bits, or fixed-point types.

Both are a semantics together with its numbers. `Integers` is what ONNX files with QuantizeLinear and DequantizeLinear
around every layer mean, `FixedPointFormat` what hls4ml's C++ computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.firmware.fixed_point_types import FixedPoint

LEAST_BITS, MOST_BITS = 2, 16
"""The fewest and most bits of integers. With one bit, symmetric weights would all be 0."""
_WORDS = {"inputs": "input", "weights": "weight", "biases": "bias", "accumulators": "accum", "results": "result"}
"""What the language calls each kind of number; hls4ml has the same words."""


@dataclass(frozen=True)
class Integers:
    """Integers of so many bits: weights signed and symmetric, activations with a zero point, biases of 32 bits.

    The scale of a tensor follows from the least and the largest number that it takes on (of weights), or took on at
    the rows of a table (of everything that depends on the input). `per_channel` gives each output of a layer a scale of
    its own for its weights. InputError for a number of bits that is not offered.
    """

    bits: int
    per_channel: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int):
            raise InputError(f"bits = {self.bits!r}: a whole number is expected")
        if not LEAST_BITS <= self.bits <= MOST_BITS:
            raise InputError(f"bits = {self.bits}: integers of {LEAST_BITS} to {MOST_BITS} bits are offered")

    @property
    def text(self) -> str:
        """In words, as the language says it."""
        return f"int{self.bits}" + (" per channel" if self.per_channel else "")


@dataclass(frozen=True)
class FixedPointFormat:
    """Fixed-point types of inputs, weights, biases, accumulators and results; `value` where one of them is None.

    Results are what layers and activations give. InputError for types that inputs or sums are not assigned to.
    """

    value: FixedPoint
    inputs: FixedPoint | None = None
    weights: FixedPoint | None = None
    biases: FixedPoint | None = None
    accumulators: FixedPoint | None = None
    results: FixedPoint | None = None

    def __post_init__(self) -> None:
        for role, of in self.roles.items():
            if of.whole:
                fix = f"write ap_{'' if of.signed else 'u'}fixed<{of.width},{of.width}>, which rounds as it says"
                raise InputError(f"{role} = {of.text}: how the simulation rounds to it is not certain; {fix}")

    @property
    def roles(self) -> dict[str, FixedPoint]:
        """The type of each kind of number."""
        return {
            "inputs": self.inputs or self.value,
            "weights": self.weights or self.value,
            "biases": self.biases or self.value,
            "accumulators": self.accumulators or self.value,
            "results": self.results or self.value,
        }

    @property
    def text(self) -> str:
        """The format as the language writes it: the type of values, and those of others in braces."""
        given = {word: getattr(self, role) for role, word in _WORDS.items()}
        others = ", ".join(f"{word} {short(of)}" for word, of in given.items() if of is not None)
        return short(self.value) + (f" {{ {others} }}" if others else "")


def short(of: FixedPoint) -> str:
    """A type without the prefix of the library."""
    return of.text.removeprefix("ap_")


Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""The least and the largest number that each value of a graph took on, by its name."""
Precision: TypeAlias = Integers | FixedPointFormat
