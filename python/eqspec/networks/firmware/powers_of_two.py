"""Weights that are powers of two, as QKeras makes them (`quantized_po2`, and the scales that `auto_po2` chooses).

    typedef struct exponent_scale8_t {ap_uint<1> sign;ap_int<4> weight; } exponent_scale8_t;
    exponent_scale8_t s8[2] = {{1.0, -2}, {0.0, 3}};                                                  1/4 and -8

hls4ml multiplies by them by shifting. It shifts in a type of twice as many bits as the input and the exponent have
together, half of them behind the point. What leaves that type is refused, so that the product is the exact one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from eqspec.errors import NetworkError
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.lattices import integers
from eqspec.networks.firmware.size_limits import MAX_PRODUCTS
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.quantiser import Rounding

_MOST_BITS = 8
_POWER = re.compile(r"\{\s*([01])(?:\.0)?\s*,\s*(-?(?:0|[1-9]\d{0,5}))\s*\}")


def read_powers(words: Words, number: Callable[[Words], int]) -> FixedPoint:
    """The type behind `struct`: one that holds the powers of two with exponents of so many bits, and their negatives.

    `number` reads an integer.
    """
    line, name = words.next.line, words.name("the name of a struct")
    words.expect("{", "ap_uint", "<", "1", ">", "sign", ";", "ap_int", "<")
    bits = number(words)
    words.expect(">", "weight", ";", "}")
    if not 2 <= bits <= _MOST_BITS:
        words.fail(line, f"{name}: exponents of {bits} bits; those of 2 to {_MOST_BITS} bits are read")
    half = 1 << (bits - 1)
    return FixedPoint(2 * half + 1, half + 1, True, Rounding.FLOOR, "AP_WRAP", name, exponent=bits)


def powers(path: str, name: str, text: str, of: FixedPoint, size: int) -> Integers:
    """Pairs of a sign and an exponent, with commas between them, as integers (size,) times 2^-of.bits."""
    again = "write the project again"
    found = [(match[1], int(match[2])) for match in _POWER.finditer(text)]
    if re.sub(r"\s", "", _POWER.sub("@", text)) != ",".join("@" * len(found)):
        raise NetworkError(path, f"{name} is not a list of signs and exponents", fix=again)
    if len(found) != size or size > MAX_PRODUCTS:
        raise NetworkError(path, f"{len(found)} numbers, {name} has {size}", fix=again)
    half = 1 << (of.exponent - 1)
    for place, (_, exponent) in enumerate(found):
        if not -half <= exponent < half:
            said = f"number {place} of {name}: the exponent {exponent} has more than {of.exponent} bits"
            raise NetworkError(path, said, fix=again)
    return integers([(1 if sign == "1" else -1) << (exponent + half) for sign, exponent in found])


def beyond_product(weights: Integers, of: FixedPoint, given: FixedPoint) -> str | None:
    """Why a product of a number of a type and one of these weights may leave the type that hls4ml shifts it in."""
    bits = of.exponent + given.width  # of that type, in front of its point and behind it
    sizes = np.abs(weights).reshape(-1).tolist()
    least, most = ((end(sizes)).bit_length() - 1 - of.bits for end in (min, max))
    if given.bits > bits or given.bits - least > bits:
        return f"2^{least} times a number of {given.text} has more than {bits} bits behind the point"
    # One bit more, as -1 times the least number of a type with a sign is beyond its largest one.
    if given.integer + (not given.signed) + most + 1 > bits:
        return f"2^{most} times a number of {given.text} may leave the {bits} bits in front of the point"
    return None
