"""Numbers that know what they are: what a network computes, as an exact affine function, and how far it may be off.

A Number is the sum of c u over units u, which are the inputs, or what the last ReLU gave, and None for the constant 1.
Beside every c stands a >= |c|, the sum of its absolute monomials, and k counts roundings. What is computed, v, obeys
    |v - sum c u| <= gamma(k) sum a |u|,    gamma(k) = k unit / (1 - k unit).                          (*)
Over the reals nothing is rounded: c may be a sum of square roots (`surd`), and only a root or a quotient of sums of
them is rounded, to 200 bits. In float32 (`Float32`) every operation rounds and may
underflow, gradually or to zero. (*) is kept by addition, (1 + gamma(k)) (1 + unit) <= 1 + gamma(k + 1), and by
multiplication, (1 + gamma(j)) (1 + gamma(k)) <= 1 + gamma(j + k), since |c| <= a; underflow adds 2^-126 = unit 2^-102.
No sum is reordered here, but (*) holds in any order: a sum of n terms counts n roundings on every one of them, which no
order exceeds, and whether a constant is multiplied before or after a sum, fused or not, its monomials are the same.
`size` bounds what any partial sum or product on the way may be, so that float32 can be seen not to overflow.

Only what is told here can be done with a Number. To compare it, or to ask whether it is true, is an error, so that no
code that is handed one decides anything on it by accident.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from ..opening import limits
from ..rounding import Array, Refused
from .surd import MOST, Surd, parts, root, total

Terms = dict[Any, tuple[Any, Fraction]]
ZERO, ONE = Fraction(0), Fraction(1)
_made = threading.local()
_TOO_MANY = f"reading it takes more than the {limits.TERMS} coefficients that the auditor allows"


@contextmanager
def counted() -> Iterator[None]:
    """What is made meanwhile may have so many coefficients in all."""
    _made.left = limits.TERMS
    try:
        yield
    except Exception:  # numpy may go on with an exception, and end in another one
        if _made.left < 0:
            raise Refused(_TOO_MANY) from None
        raise
    finally:
        del _made.left


def _count(terms: Terms) -> None:
    if hasattr(_made, "left"):
        _made.left -= len(terms) + 1
        if _made.left < 0:
            raise Refused(_TOO_MANY)


class Number:
    """Over the reals. Immutable."""

    unit, rounds, largest = Fraction(1, 2**200), 0, float("inf")

    __slots__ = ("_before", "_terms", "k", "size")

    def __init__(self, terms: Terms, k: int, size: float, before: Any = None) -> None:
        """`terms`, added to the Number `before` when they are asked for: many sums are only the way to a longer one."""
        if size > self.largest:
            raise Refused("float32 might overflow on the way")
        if before is None:
            _count(terms)
        self._terms, self._before, self.k, self.size = terms, before, k, size

    @property
    def terms(self) -> Terms:
        """(c, a) of the units."""
        one, added = self, []
        while one._before is not None:
            added.append(one._terms)
            one = one._before
        if added:
            self._terms, self._before, surds = dict(one._terms), None, dict[Any, list[Any]]()
            for terms in reversed(added):
                _count(terms)
                for unit, (c, a) in terms.items():
                    if unit in self._terms:
                        before, size = self._terms[unit]
                        if isinstance(c, Surd):  # added at once, many of them take no longer than one after the other
                            surds.setdefault(unit, []).append(c)
                            c = ZERO
                        c, a = c + before, self.lost(a + size)
                    self._terms[unit] = (c, a)
            for unit, found in surds.items():
                self._terms[unit] = (total([self._terms[unit][0], *found]), self._terms[unit][1])
        return self._terms

    @classmethod
    def of(cls, value: Any) -> Any:
        """A constant, which may be converted once; or the Number that it is."""
        if isinstance(value, Number):
            return value
        c = Fraction(*value.as_integer_ratio())
        return cls({None: (c, cls.lost(c if value > 0 else -c))} if value else {}, cls.rounds, abs(float(value)))

    @classmethod
    def computed(cls, unit: Any, size: float) -> Any:
        """A unit that was computed, of at most this size: as it is."""
        return cls({unit: (ONE, ONE)} | ({None: (ZERO, cls.lost(ZERO))} if cls.lost(ZERO) else {}), 0, size)

    @staticmethod
    def lost(a: Fraction) -> Fraction:
        """a, and what an underflow may add to it."""
        return a

    @property
    def gamma(self) -> Fraction:
        """The error relative to a."""
        if 2**11 * self.k * self.unit > 1:
            raise Refused("sums are too long for float32")
        return self.k * self.unit / (1 - self.k * self.unit)

    @property
    def constant(self) -> tuple[Any, Fraction]:
        """c and a of a number without units."""
        if self.over_units:
            raise Refused("the auditor only reads networks that are affine between their ReLUs")
        return self.terms.get(None, (ZERO, ZERO))

    @property
    def over_units(self) -> bool:
        """Whether it is more than a constant."""
        return len(self.terms) > (None in self.terms)

    def __neg__(self) -> Any:
        return type(self)({unit: (-c, a) for unit, (c, a) in self.terms.items()}, self.k, self.size)

    def __add__(self, other: Any) -> Any:
        other = self.of(other)
        return type(self)(other.terms, max(self.k, other.k) + self.rounds, self.size + other.size, self)

    def __sub__(self, other: Any) -> Any:
        return self + -self.of(other)

    def __rsub__(self, other: Any) -> Any:
        return self.of(other) + -self

    def __mul__(self, other: Any) -> Any:
        one, other = self, self.of(other)
        if other.over_units:
            one, other = other, self
        if max(map(parts, (c for c, _ in one.terms.values())), default=0) * parts(other.constant[0]) > MOST:
            one, other = one.rounded(), other.rounded()
        factor, size = other.constant
        terms = {u: (_times(c, factor), self.lost(_times(a, size))) for u, (c, a) in one.terms.items()} if size else {}
        return type(self)(terms, one.k + other.k + self.rounds, max(1.0, one.size) * max(1.0, other.size))

    def rounded(self) -> Any:
        """The same with rationals for surds, which a unit of their size covers."""
        if not any(isinstance(c, Surd) for c, _ in self.terms.values()):
            return self
        near = {unit: c.near()[0] if isinstance(c, Surd) else c for unit, (c, _) in self.terms.items()}
        sizes = {unit: max(a, abs(near[unit])) for unit, (_, a) in self.terms.items()}
        return type(self)({unit: (near[unit], sizes[unit]) for unit in near}, self.k + 1, self.size)

    def __truediv__(self, other: Any) -> Any:
        """|1/v - 1/c| <= gamma a / (|c| (|c| - gamma a)) <= 2 gamma a / c^2 <= gamma(2 k) a / c^2."""
        other = self.of(other)
        if isinstance(other.constant[0], Surd) and not other.k and (exact := other.constant[0].inverse()) is not None:
            return self * type(self)({None: (exact, _size(exact))}, 0, float(_size(exact)) * 1.001)
        other = other.rounded()
        c, a = other.constant
        if abs(c) <= 2 * other.gamma * a:
            raise Refused("a divisor may be zero")
        inverse = type(self)({None: (1 / c, self.lost(a / c**2))}, 2 * other.k + self.rounds, 1.0 / abs(float(c)))
        return self * inverse

    __radd__, __rmul__ = __add__, __mul__

    def sqrt(self) -> Any:
        """|sqrt(v) - sqrt(c)| <= gamma a / sqrt(c); where v is off, the root is rounded by less than a unit."""
        one = self.rounded()
        c, a = one.constant
        if c <= 2 * one.gamma * a:
            raise Refused("a square root of what may not be positive")
        found = root(c)
        if not (one.k or one.rounds):
            return type(self)({None: (found, _size(found))}, 0, max(1.0, self.size))
        near = found.near()[0] if isinstance(found, Surd) else found
        return type(self)({None: (near, self.lost(a / near))}, one.k + 1 + self.rounds, max(1.0, self.size))

    def _no(self, *_: Any) -> NoReturn:
        raise Refused("the auditor does not read operators that compare numbers")

    __bool__ = __float__ = __int__ = __index__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __eq__ = __ne__ = _no
    __hash__ = None  # type: ignore[assignment]


class Float32(Number):
    """As any float32 runtime computes, in any order of summation, with fused operations or without."""

    __slots__ = ()
    unit, rounds, largest = Fraction(1, 2**24), 1, 2.0**125

    @staticmethod
    def lost(a: Fraction) -> Fraction:
        """unit 2^-102 = 2^-126."""
        return a + Fraction(1, 2**102)


def _times(one: Any, other: Any) -> Any:
    """Most are the 1 of a unit."""
    return other if one is ONE else one * other


def _size(c: Any) -> Fraction:
    """At least |c|."""
    return sum((abs(end) for end in c.near()), ZERO) if isinstance(c, Surd) else Fraction(abs(c))


def numbers(kind: type[Number], values: Any) -> Array:
    """Constants, elementwise."""
    return np.asarray(np.frompyfunc(kind.of, 1, 1)(np.asarray(values).astype(object)), object)
