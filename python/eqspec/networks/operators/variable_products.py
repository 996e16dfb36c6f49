"""Products and quotients of two values that both depend on the input, by squares and reciprocals.

    u v = s^2 - t^2,   s = (u + v) / 2,   t = (u - v) / 2          u / v = u (1 / v)

Exact over the real numbers; bounds of it are as loose as those of two squares, which together are as high as those of
the product where u and v vary as much as each other. For the box of a task they are made to (`networks/balancing`).
"""

from __future__ import annotations

from eqspec.networks import affine as af
from eqspec.networks import enclosure as en
from eqspec.networks.affine import Affine
from eqspec.networks.curves import Curve, Curves

_SQUARE, _RECIPROCAL = Curves.all(Curve("square")), Curves.all(Curve("reciprocal"))


def square(u: Affine) -> Affine:
    """u^2."""
    return af.curve(u, _SQUARE)


def product(u: Affine, v: Affine) -> Affine:
    """u v, broadcast."""
    if u is v:
        return square(u)
    half = en.exactly(0.5)
    mean, apart = af.scale(af.add(u, v), half), af.scale(af.add(u, af.negate(v)), half)
    return af.add(square(mean), af.negate(square(apart)))


def quotient(u: Affine, v: Affine) -> Affine:
    """u / v, broadcast."""
    return product(u, af.curve(v, _RECIPROCAL))
