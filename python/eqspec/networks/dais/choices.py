"""What is no sum and no assignment: choices by a sign, products of two values, and operations on single bits.

With P and N such that -N <= d <= P, and k that is 0 or 1,

    k d = max(0, d - P (1 - k)) - max(0, -d - N (1 - k))

so a choice is made of functions of sums. That a value, a multiple of 2^-bits, is negative is a quantiser of it with the
levels -1 and 0, and bit j of a whole number n is floor(n / 2^j) - 2 floor(n / 2^(j + 1)), for negative ones in two's
complement. Two bits are both set where their sum less 1 is positive. A product is a difference of squares:
a b = ((a + b)^2 - (a - b)^2) / 4. Nothing is rounded, and all of this holds for every input.

`make` adds an atom: a function of a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from eqspec.networks.curves import Curve
from eqspec.networks.dais.forms import Form
from eqspec.networks.dais.known import RELU, Known, number
from eqspec.networks.quantiser import Quantiser, Rounding

Make = Callable[[Curve, Form], Form]
_SQUARE = Curve("square", ())


def chosen(make: Make, chooser: Known, a: Known, b: Known) -> Known:
    """a where the chooser is negative, else b.

    Where a - b is a multiple of the chooser, that is the greater or the lesser one of both: b + max(0, a - b) or
    b - max(0, b - a), which is one function and bounded best.
    """
    if chooser.least >= 0 or chooser.most < 0:
        return b if chooser.least >= 0 else a
    apart = a.plus(b.negative())
    if apart.form.is_zero:
        return a
    bits = apart.bits
    ends = (a.at(bits), b.at(bits))
    largest = [max(both) for both in zip(*ends, strict=True)]
    smallest = [min(both) for both in zip(*ends, strict=True)]
    opposite = a.form.plus(b.form).is_zero
    if (ratio := apart.form.ratio_to(chooser.form)) is None:
        picked = _where(make, _negative(make, chooser).negative(), apart)
        return Known(b.form.plus(picked), smallest[0], largest[1], bits)
    if ratio[0] < 0:
        least = max(largest[0], 0) if opposite else largest[0]
        return Known(b.form.plus(make(RELU, apart.form)), least, largest[1], bits)
    most = min(smallest[1], 0) if opposite else smallest[1]
    return Known(b.form.minus(make(RELU, apart.form.negative())), smallest[0], most, bits)


def apart_from(make: Make, value: Known, n: int) -> Known:
    """1 where the value is not n times 2^-bits, else 0."""
    shifted = value.plus(number(-n, value.bits))
    either = _negative(make, shifted).plus(_negative(make, shifted.negative())).negative()
    return Known(either.form, max(either.least, 0), min(either.most, 1), 0)


def product(make: Make, a: Known, b: Known) -> Known:
    """The product of two values."""
    if a.fixed or b.fixed:
        one, other = (a.form, b) if a.fixed else (b.form, a)
        n = one.constant  # the ends of a value that is one number may be wider: those of x - x are
        least, most = sorted((n * other.least, n * other.most))
        return Known(other.form.times(n).shifted(-one.bits), least, most, other.bits + one.bits)
    bits = a.bits + b.bits
    if a.form.minus(b.form).is_zero:
        corners = [a.least * a.least, a.most * a.most]
        least = 0 if a.least <= 0 <= a.most else min(corners)
        return Known(make(_SQUARE, a.form), least, max(corners), 2 * a.bits)
    corners = [m * n for m in (a.least, a.most) for n in (b.least, b.most)]
    form = make(_SQUARE, a.form.plus(b.form)).minus(make(_SQUARE, a.form.minus(b.form))).shifted(-2)
    return Known(form, min(corners), max(corners), bits)


def conjunction(make: Make, a: Known, b: Known, bits: int, width: int) -> Known:
    """The bits set in both of two multiples of 2^-bits, which need `width` bits and perhaps one of the sign."""
    total = number(0, bits)
    pairs = zip(_bits(make, a, bits, width), _bits(make, b, bits, width), strict=True)
    for place, (one, other) in enumerate(pairs):
        both = _both(make, one, other)
        total = total.plus((both.negative() if place == width else both).shifted(place - bits))
    signed = a.least < 0 and b.least < 0
    most = min((each.at(bits)[1] for each in (a, b) if each.least >= 0), default=(1 << width) - 1)
    return Known(total.form, -(1 << width) if signed else 0, most, bits)


def _negative(make: Make, value: Known) -> Known:
    """-1 where it is negative, else 0."""
    if value.least >= 0 or value.most < 0:
        return number(0 if value.least >= 0 else -1, 0)
    curve = Quantiser(2.0**-value.bits, -1, 0, Rounding.FLOOR).curve
    return Known(make(curve, value.form).shifted(value.bits), -1, 0, 0)


def _where(make: Make, flag: Known, value: Known) -> Form:
    """The value where the flag is 1, 0 where it is 0."""
    total = number(0, 0)
    for side in (value, value.negative()):
        if side.most > 0:
            off = number(1, 0).plus(flag.negative()).form.times(side.most).shifted(-value.bits)
            met = Known(make(RELU, side.form.minus(off)), 0, side.most, side.bits)
            total = total.plus(met if side is value else met.negative())
    return total.form


def _bits(make: Make, value: Known, bits: int, width: int) -> list[Known]:
    """Its bits from the last one on, and that of the sign."""
    least, most = value.at(bits)
    floors = [value.form.shifted(bits)]
    for place in range(1, width + 1):
        low, high = least >> place, most >> place
        if low == high:
            floors.append(number(low, 0).form)
        else:
            curve = Quantiser(2.0 ** (place - bits), low, high, Rounding.FLOOR).curve
            floors.append(make(curve, value.form).shifted(bits - place))
    made = [Known(low.minus(high.shifted(1)), 0, 1, 0) for low, high in pairwise(floors)]
    return [*made, Known(floors[width].negative(), 0, 1, 0)]


def _both(make: Make, one: Known, other: Known) -> Known:
    """1 where both are."""
    for bit, rest in ((one, other), (other, one)):
        if bit.fixed:
            return rest if bit.form.constant else number(0, 0)
    return Known(make(RELU, one.form.plus(other.form).plus(number(-1, 0).form)), 0, 1, 0)
