"""Polynomials in one variable with rational coefficients, and whether one keeps its sign on an interval: exactly.

A polynomial is the tuple of its coefficients, the constant first, without zeros at its end; () is zero.

A polynomial changes its sign exactly at its roots of odd multiplicity. `odd_part` is the product of one factor for each
of these, so it has simple roots only, and Sturm's theorem counts them in an interval by the changes of sign in its
chain. Everything is rational: there is no tolerance, and the answer is always yes or no.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import gcd, lcm
from typing import TypeAlias

Polynomial: TypeAlias = tuple[Fraction, ...]
_HALVINGS = 12
"""Bisections after which the place of a root is known well enough to be printed."""


def trimmed(coefficients: Iterable[Fraction]) -> Polynomial:
    """The coefficients without zeros at the end."""
    found = list(coefficients)
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    """p + q."""
    return trimmed(a + b for a, b in zip_longest(p, q, fillvalue=Fraction(0)))


def scale(p: Polynomial, factor: Fraction) -> Polynomial:
    """factor * p."""
    return trimmed(factor * a for a in p)


def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    """p * q."""
    found = [Fraction(0)] * max(len(p) + len(q) - 1, 0)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return trimmed(found)


def derivative(p: Polynomial) -> Polynomial:
    """dp/dx."""
    return trimmed(i * a for i, a in enumerate(p) if i)


def value(p: Polynomial, x: Fraction) -> Fraction:
    """p(x)."""
    found = Fraction(0)
    for a in reversed(p):
        found = found * x + a
    return found


def divide(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder of p by a q that is not zero."""
    rest, quotient = list(p), [Fraction(0)] * max(len(p) - len(q) + 1, 0)
    for shift in reversed(range(len(quotient))):
        factor = rest[shift + len(q) - 1] / q[-1]
        quotient[shift] = factor
        for i, b in enumerate(q):
            rest[shift + i] -= factor * b
    return trimmed(quotient), trimmed(rest)


def sign(number: Fraction) -> int:
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


def constant_sign(p: Polynomial, low: Fraction, high: Fraction) -> int | None:
    """1 if p >= 0 on [low, high], -1 if p <= 0, 0 if p is zero; None if it takes both signs."""
    if not p:
        return 0
    if first_root(odd_part(p), low, high) is not None:
        return None
    points = (low + (high - low) * k / (len(p) + 1) for k in range(1, len(p) + 1))
    return next(s for x in points if (s := sign(value(p, x))))  # p has fewer roots than there are points


def has_root(p: Polynomial, low: Fraction, high: Fraction) -> bool:
    """Whether p is zero anywhere on [low, high]."""
    if not p or not value(p, low) or not value(p, high):
        return True
    return first_root(_simple(p), low, high) is not None


def first_root(p: Polynomial, low: Fraction, high: Fraction) -> Fraction | None:
    """About where the first root of p between low and high lies, None if there is none; p has simple roots only."""
    chain = _remainders(p)
    if not _roots(chain, low, high):
        return None
    below, above = low, high
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if not value(p, middle) and not _roots(chain, below, middle):
            return middle
        if _roots(chain, below, middle):
            above = middle
        else:
            below = middle
    return (below + above) / 2


def odd_part(p: Polynomial) -> Polynomial:
    """The product of one factor for each root of odd multiplicity of a p that is not zero."""
    layers: list[Polynomial] = []  # layer k has the roots of multiplicity above k, each once
    while len(p) > 1:
        layers.append(_simple(p))
        p = divide(p, layers[-1])[0]
    layers += [(Fraction(1),)] * (1 + len(layers) % 2)
    found: Polynomial = (Fraction(1),)
    for once, twice in zip(layers[::2], layers[1::2], strict=False):
        found = multiply(found, divide(once, twice)[0])
    return found


def _simple(p: Polynomial) -> Polynomial:
    """p with every root once: p divided by what it has in common with its derivative."""
    return _shortened(divide(p, _remainders(p)[-1])[0])


def _remainders(p: Polynomial) -> Sequence[Polynomial]:
    """Sturm's chain: p, its derivative, and then always minus the remainder of the two before.

    The last one divides both, and is a constant where p has simple roots only. Each is shortened to whole coefficients
    by a positive factor, which changes neither roots nor signs.
    """
    found = [_shortened(p), _shortened(derivative(p))]
    while found[-1]:
        found.append(_shortened(scale(_remainder(found[-2], found[-1]), Fraction(-1))))
    return found[:-1]


def _remainder(p: Polynomial, q: Polynomial) -> Polynomial:
    """A positive multiple of the remainder of p by q, both with whole coefficients."""
    rest, divisor = [int(a) for a in p], [int(a) for a in q]
    size = abs(divisor[-1])
    while len(rest) >= len(divisor):
        factor = rest[-1] if divisor[-1] > 0 else -rest[-1]
        rest = [size * a for a in rest]
        for i, b in enumerate(divisor, len(rest) - len(divisor)):
            rest[i] -= factor * b
        rest.pop()
    return trimmed(map(Fraction, rest))


def _shortened(p: Polynomial) -> Polynomial:
    """A positive multiple of p whose coefficients are whole and have no common factor."""
    if not p:
        return p
    whole = lcm(*(a.denominator for a in p))
    numbers = [a.numerator * (whole // a.denominator) for a in p]
    common = gcd(*numbers)
    return tuple(Fraction(a // common) for a in numbers)


def _roots(chain: Sequence[Polynomial], low: Fraction, high: Fraction) -> int:
    """How many roots lie between low and high, the ends left out: Sturm's theorem counts those of (low, high]."""
    return _changes(chain, low) - _changes(chain, high) - (not value(chain[0], high))


def _changes(chain: Sequence[Polynomial], x: Fraction) -> int:
    signs = [s for p in chain if (s := sign(value(p, x)))]
    return sum(a != b for a, b in pairwise(signs))
