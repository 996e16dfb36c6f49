"""Values of a program while it is read: sums of atoms, with the integers between which they lie.

A value is a multiple of 2^-bits whatever the inputs are: inputs are assigned to a type first, and everything behind
them is made of whole numbers.
"""

from __future__ import annotations

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, leaky
from eqspec.networks.dais.forms import Form
from eqspec.networks.firmware.fixed_point_types import FixedPoint

RELU = leaky(0.0)


@dataclass(frozen=True, eq=False)
class Atom:
    """A function of a sum of earlier atoms. `type` is what it is an assignment to, None where nothing can be lost."""

    curve: Curve
    argument: Form
    type: FixedPoint | None
    name: str


@dataclass(frozen=True, eq=False)
class Known:
    """A value: its sum, and integers times 2^-bits between which it lies; `sign_of`: it is the sign bit of another."""

    form: Form
    least: int
    most: int
    bits: int
    sign_of: Known | None = None

    @property
    def fixed(self) -> bool:
        """Whether it is one number."""
        return not self.form.coefficients

    def at(self, bits: int) -> tuple[int, int]:
        """Its ends as integers times 2^-bits, which has to be as fine."""
        return self.least << (bits - self.bits), self.most << (bits - self.bits)

    def negative(self) -> Known:
        """Times -1."""
        return Known(self.form.negative(), -self.most, -self.least, self.bits)

    def shifted(self, shift: int) -> Known:
        """Times 2^shift."""
        return Known(self.form.shifted(shift), self.least, self.most, self.bits - shift)

    def plus(self, other: Known) -> Known:
        """The sum of two."""
        bits = max(self.bits, other.bits)
        ends = zip(self.at(bits), other.at(bits), strict=True)
        least, most = (a + b for a, b in ends)
        return Known(self.form.plus(other.form), least, most, bits)


def number(n: int, bits: int) -> Known:
    """The number n times 2^-bits."""
    return Known(Form({}, n, bits), n, n, bits)
