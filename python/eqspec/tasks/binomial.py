"""What a count of successes says about the share of successes: a lower bound in the manner of Clopper and Pearson.

Of n independent draws, each a success with the unknown probability p, k were successes. Let T(p) = P(X >= k) for X
binomial with n and p; it grows with p. Every q with T(q) <= 1 - confidence is a lower bound: if p were below q, as many
successes as k would come up with a probability of at most T(q). The bound fails to be one in at most a share
1 - confidence of repetitions, whatever p is. (C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits
illustrated in the case of the binomial, Biometrika 26, 1934.)

Sound: q is a multiple of 1e-6, and T(q) <= 1 - confidence was shown in decimals of 60 digits, every operation of which
is on positive numbers and rounds up. So which q is returned needs no trust in a search or in a function of a library.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction

CONFIDENCE = Fraction(95, 100)
_PARTS = 10**6
_NEGLIGIBLE = Decimal("1e-12")
"""Terms below this share of the sum are not added one by one but bounded together."""


def at_least(successes: int, draws: int, confidence: Fraction = CONFIDENCE) -> Fraction:
    """The largest multiple of 1e-6 that is shown to be a lower bound of the share of successes.

    ValueError unless 0 <= successes <= draws and 0 < confidence < 1.
    """
    if not (0 <= successes <= draws and 0 < confidence < 1):
        raise ValueError(f"{successes} of {draws} with a confidence of {confidence}")
    if successes == 0:
        return Fraction(0)
    up = Context(prec=60, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    # Rounded down: what is allowed may only become less.
    down = Context(prec=60, rounding="ROUND_FLOOR")
    missed = 1 - confidence
    allowed = down.divide(Decimal(missed.numerator), Decimal(missed.denominator))
    ways = _binomial_coefficient(draws, successes, up)
    low, high = 0, _PARTS
    while low + 1 < high:
        middle = (low + high) // 2
        if _tail(successes, draws, middle, ways, up) <= allowed:
            low = middle
        else:
            high = middle
    return Fraction(low, _PARTS)


def _tail(successes: int, draws: int, parts: int, ways: Decimal, up: Context) -> Decimal:
    """At least P(X >= successes) for p = parts / _PARTS, which lies between 0 and 1."""
    p, q = Decimal(parts).scaleb(-6, up), Decimal(_PARTS - parts).scaleb(-6, up)
    odds = up.divide(p, q)
    term = up.multiply(ways, up.multiply(_power(p, successes, up), _power(q, draws - successes, up)))
    total = term
    for i in range(successes, draws):
        ratio = up.multiply(odds, up.divide(Decimal(draws - i), Decimal(i + 1)))
        term = up.multiply(term, ratio)
        total = up.add(total, term)
        if ratio < Decimal("0.999") and up.multiply(term, Decimal(1000)) < up.multiply(total, _NEGLIGIBLE):
            # Ratios fall, so all further terms together are at most term * ratio / (1 - ratio) < 1000 * term.
            return up.add(total, up.multiply(term, Decimal(1000)))
        if total > 1:
            return total
    return total


def _binomial_coefficient(n: int, k: int, up: Context) -> Decimal:
    """At least the number of ways to choose k of n."""
    ways = Decimal(1)
    for i in range(1, min(k, n - k) + 1):
        ways = up.divide(up.multiply(ways, Decimal(n - i + 1)), Decimal(i))
    return ways


def _power(base: Decimal, exponent: int, up: Context) -> Decimal:
    """At least base ** exponent, by squaring."""
    result = Decimal(1)
    while exponent:
        if exponent & 1:
            result = up.multiply(result, base)
        base, exponent = up.multiply(base, base), exponent >> 1
    return result
