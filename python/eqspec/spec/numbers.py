"""Exact numbers: what literals mean, and arithmetic that stays exact and affordable.

Every number of a spec is a rational. A spec cannot make the program run away: a result with more than `MOST_BITS` bits
above or below the fraction bar is refused, exponents are bounded before they are used, and literals before they are
converted.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log10
from re import compile as regex

MOST_BITS = 1 << 14
MOST_DIGITS = 1000
MOST_EXPONENT = 400
MOST_VALUES = 100_000

SUFFIXES: dict[str, tuple[Fraction, str]] = {
    "ms": (Fraction(1, 1000), "s"),
    "s": (Fraction(1), "s"),
    "min": (Fraction(60), "s"),
    "h": (Fraction(3600), "s"),
    "KB": (Fraction(10**3), "B"),
    "MB": (Fraction(10**6), "B"),
    "GB": (Fraction(10**9), "B"),
    "TB": (Fraction(10**12), "B"),
    "KiB": (Fraction(2**10), "B"),
    "MiB": (Fraction(2**20), "B"),
    "GiB": (Fraction(2**30), "B"),
    "TiB": (Fraction(2**40), "B"),
}
"""What a suffix multiplies by, and the unit that gives: seconds or bytes."""

_QUANTITY = regex(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)(?![eE][+-]?[0-9])([^\W\d]\w*)")
_EXPONENT = regex(r"[eE]([+-]?[0-9]+)")


class NumberError(ArithmeticError):
    """A number that cannot be computed, or is too long to be; the message says why."""


def literal(text: str) -> Fraction:
    """The rational a decimal denotes."""
    if len(text) > MOST_DIGITS:
        raise NumberError(f"a number with more than {MOST_DIGITS} characters")
    exponent = _EXPONENT.search(text)
    if exponent and (len(exponent[1]) > 6 or abs(int(exponent[1])) > MOST_EXPONENT):
        raise NumberError(f"an exponent beyond {MOST_EXPONENT}")
    return Fraction(text)


def split_quantity(text: str) -> tuple[str, str]:
    """The decimal of a quantity, and its suffix."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise NumberError(f"'{text}' is not a quantity such as 600s or 8GB")
    return match[1], match[2]


def bounded(value: Fraction) -> Fraction:
    """The value; NumberError if its digits are too many to compute with."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise NumberError(f"the result needs more than {MOST_BITS} bits")
    return value


def divide(a: Fraction, b: Fraction) -> Fraction:
    """a / b."""
    if b == 0:
        raise NumberError("division by zero")
    return bounded(a / b)


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """base ^ exponent, for whole exponents."""
    if exponent.denominator != 1:
        raise NumberError(f"the exponent {shown(exponent)} is not a whole number, and the result would not be exact")
    if base == 0 and exponent < 0:
        raise NumberError("division by zero")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits > 1 and abs(exponent) * bits > MOST_BITS:
        raise NumberError(f"the result needs more than {MOST_BITS} bits")
    if bits <= 1:  # 0, 1 and -1: only whether the exponent is 0 or odd counts
        exponent = Fraction(min(abs(exponent), 2 + abs(exponent) % 2))
    return Fraction(base ** int(exponent))


def linspace(low: Fraction, high: Fraction, count: Fraction) -> tuple[Fraction, ...]:
    """`count` equally spaced numbers from low to high, both included."""
    n = _count(count)
    return tuple(bounded(low + (high - low) * i / (n - 1)) for i in range(n))


def logspace(low: Fraction, high: Fraction, count: Fraction) -> tuple[Fraction, ...]:
    """`count` numbers from low to high in geometric progression.

    The ends are exact. In between, roots are irrational in general: those numbers are taken as decimals of six
    significant digits, and that decimal is then the exact value.
    """
    n = _count(count)
    if low <= 0 or high <= 0:
        raise NumberError("logspace needs two numbers above 0")
    try:
        start, stop = _log10(low), _log10(high)
    except OverflowError:
        raise NumberError("logspace reaches beyond the range of floats") from None
    middle = (Fraction(f"{10 ** (start + (stop - start) * i / (n - 1)):.5e}") for i in range(1, n - 1))
    return (low, *middle, high)


def _log10(number: Fraction) -> float:
    return log10(number.numerator) - log10(number.denominator)


def _count(count: Fraction) -> int:
    if count.denominator != 1 or not 2 <= count <= MOST_VALUES:
        raise NumberError(f"the number of values must be whole, from 2 to {MOST_VALUES}; it is {shown(count)}")
    return int(count)


def shown(value: Fraction) -> str:
    """The shortest exact way to write a number: a decimal where it ends, else a fraction."""
    decimal = _decimal(value)
    return decimal if decimal is not None else f"{value.numerator}/{value.denominator}"


def _decimal(value: Fraction) -> str | None:
    """The number as a finite decimal of at most 20 digits, if it is one; tiny and huge ones with an exponent."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    odd, fives = value.denominator >> twos, 0
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    if odd != 1 or value.numerator.bit_length() > MOST_BITS // 2:
        return None
    places = max(twos, fives)
    digits = abs(value.numerator) * 10**places // value.denominator
    if digits == 0:
        return "0"
    while digits % 10 == 0:
        digits, places = digits // 10, places - 1
    if digits.bit_length() > ceil(20 / log10(2)):
        return None
    text, sign = str(digits), "-" if value < 0 else ""
    magnitude = len(text) - 1 - places
    if magnitude < -4 or magnitude > 15:
        mantissa = text if len(text) == 1 else f"{text[0]}.{text[1:]}"
        return f"{sign}{mantissa}e{magnitude}"
    if places <= 0:
        return sign + text + "0" * -places
    text = text.rjust(places + 1, "0")
    return f"{sign}{text[:-places]}.{text[-places:]}"
