"""The types ap_fixed, ap_ufixed, ap_int and ap_uint: which numbers they hold, and what assigning another one does.

    ap_fixed<W, I, q, o>: the multiples of 2^(I - W) from -2^(I - 1) to below 2^(I - 1);  ap_ufixed: from 0 to below 2^I

A number is rounded to such a multiple by q (AP_TRN: downwards) and then, where it lies outside, brought inside by o
(AP_WRAP: counted modulo 2^I; AP_SAT: cut off). ap_int<W> is ap_fixed<W, W>, but a fraction is rounded towards zero, and
the C simulation does that wrongly (-0.1 becomes 1, as a double), so that fractions assigned to ap_int are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.enclosure import Array
from eqspec.networks.exact_vectors import Integers, to_integers
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.quantiser import Quantiser, Rounding

MOST_BITS = 1024
"""The most bits of a type, as in the library of the simulation."""
ROUNDINGS = {
    "AP_TRN": Rounding.FLOOR,
    "AP_TRN_ZERO": Rounding.ZERO,
    "AP_RND": Rounding.HALF_UP,
    "AP_RND_ZERO": Rounding.HALF_ZERO,
    "AP_RND_MIN_INF": Rounding.HALF_DOWN,
    "AP_RND_INF": Rounding.HALF_AWAY,
    "AP_RND_CONV": Rounding.HALF_EVEN,
}
OVERFLOWS = ("AP_WRAP", "AP_SAT", "AP_SAT_SYM")
_REFUSED_OVERFLOWS = {
    "AP_SAT_ZERO": "it sets to 0 what leaves the type",
    "AP_WRAP_SM": "it wraps by sign and magnitude",
}


@dataclass(frozen=True)
class FixedPoint:
    """One type; `text` is what the file says. Numbers are integers times 2^-bits."""

    width: int
    integer: int
    signed: bool
    rounding: Rounding
    overflow: str
    text: str
    whole: bool = False
    """Whether it is ap_int or ap_uint."""
    exponent: int = 0
    """Bits of the exponent, of weights that are powers of two; 0 of all other types."""

    @classmethod
    def of(
        cls, width: int, integer: int, *, signed: bool = True, rounding: str = "AP_TRN", overflow: str = "AP_WRAP"
    ) -> FixedPoint:
        """ap_fixed<width,integer,rounding,overflow>, or ap_ufixed. InputError where there is no such type."""
        parts = [str(width), str(integer)]
        if (rounding, overflow) != ("AP_TRN", "AP_WRAP"):
            parts += [rounding, overflow]
        text = f"{'ap_fixed' if signed else 'ap_ufixed'}<{','.join(parts)}>"
        if not 1 <= width <= MOST_BITS or abs(integer) > MOST_BITS:
            raise InputError(f"{text}: a type has 1 to {MOST_BITS} bits")
        if rounding not in ROUNDINGS:
            raise InputError(f"{text}: {rounding} is not a rounding mode; use {', '.join(ROUNDINGS)}")
        if overflow not in OVERFLOWS:
            raise InputError(f"{text}: {overflow} is not an overflow mode; use {', '.join(OVERFLOWS)}")
        return cls(width, integer, signed, ROUNDINGS[rounding], overflow, text)

    @property
    def bits(self) -> int:
        """Behind the point; negative where the last digit counts more than 1."""
        return self.width - self.integer

    @property
    def wraps(self) -> bool:
        """Whether it counts modulo what it can hold."""
        return self.overflow == "AP_WRAP"

    @property
    def low(self) -> int:
        """The least of its integers."""
        if not self.signed:
            return 0
        return -(1 << (self.width - 1)) + (self.overflow == "AP_SAT_SYM")

    @property
    def high(self) -> int:
        """The largest of its integers."""
        return (1 << (self.width - self.signed)) - 1

    @property
    def same_as(self) -> tuple[object, ...]:
        """Equal for two types that are the same however they are written."""
        return self.width, self.integer, self.signed, self.rounding, self.overflow, self.whole, self.exponent

    def levels(self, integers: Integers, bits: int) -> Integers:
        """Integers times 2^-bits as integers times 2^-self.bits, rounded, before they are brought inside."""
        shift = bits - self.bits
        if shift <= 0:
            return integers << -shift
        return Quantiser(1.0, 0, 0, self.rounding).levels(integers, 1 << shift)

    def brought(self, levels: Integers) -> Integers:
        """Rounded integers as they are stored."""
        return Quantiser(1.0, self.low, self.high, self.rounding, wraps=self.wraps).brought(levels)

    def stored(self, numbers: Array) -> Integers:
        """The integers that finite floats become when they are assigned."""
        (whole,), exponent = to_integers(numbers)
        return self.brought(self.levels(whole, -exponent))


def read_type(words: Words, number: Callable[[Words], int]) -> FixedPoint | None:
    """The type that stands here; None, with nothing taken, where another name stands. `number` reads an integer."""
    start = words.next
    if start.text not in ("ap_fixed", "ap_ufixed", "ap_int", "ap_uint"):
        return None
    words.take()
    words.expect("<")
    width, rounding, overflow, saturation_bits = number(words), "AP_TRN", "AP_WRAP", 0
    whole = start.text in ("ap_int", "ap_uint")
    integer = width
    if not whole:
        words.expect(",")
        integer = number(words)
        if words.skip(","):
            rounding = words.name("a rounding mode")
            if words.skip(","):
                overflow = words.name("an overflow mode")
                if words.skip(","):
                    saturation_bits = number(words)
    words.expect(">")
    parts = [str(width), str(integer)] if not whole else [str(width)]
    if (rounding, overflow) != ("AP_TRN", "AP_WRAP"):
        parts += [rounding, overflow]
    text = f"{start.text}<{','.join(parts)}>"
    if not 1 <= width <= MOST_BITS or abs(integer) > MOST_BITS:
        words.fail(start.line, f"{text}: a type has 1 to {MOST_BITS} bits", "compare with the project's configuration")
    if rounding not in ROUNDINGS:
        words.fail(start.line, f"{text}: {rounding} is not a rounding mode that is read", f"use {', '.join(ROUNDINGS)}")
    if overflow not in OVERFLOWS or (overflow == "AP_WRAP" and saturation_bits):
        reason = _REFUSED_OVERFLOWS.get(overflow, "")
        if overflow == "AP_WRAP":
            reason = f"it wraps with {saturation_bits} saturation bits"
        said = f"{overflow} is not an overflow mode that is read" + (f": {reason}" if reason else "")
        words.fail(start.line, f"{text}: {said}", f"use {', '.join(OVERFLOWS)} without saturation bits")
    mode = Rounding.ZERO if whole else ROUNDINGS[rounding]
    return FixedPoint(width, integer, not start.text.startswith("ap_u"), mode, overflow, text, whole)
