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
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.matrices import Selection

_SQUARE, _RECIPROCAL = Curves.all(Curve("square")), Curves.all(Curve("reciprocal"))


def square(u: Affine) -> Affine:
    """u^2."""
    return af.curve(u, _SQUARE)


def product(u: Affine, v: Affine) -> Affine:
    """u v, broadcast."""
    if u is v:
        return square(u)
    if (plain := _without_factors(v)) is not None:
        return af.scale(product(u, plain[0]), plain[1])
    if (plain := _without_factors(u)) is not None:
        return af.scale(product(plain[0], v), plain[1])
    if _latest(v) < _latest(u):
        u, v = v, u
    half = en.exactly(0.5)
    mean, apart = af.scale(af.add(u, v), half), af.scale(af.add(u, af.negate(v)), half)
    return af.add(square(mean), af.negate(square(apart)))


def _without_factors(value: Affine) -> tuple[Affine, Enclosure] | None:
    """The results of a function by themselves, and what each is multiplied by; None where nothing is, or more is added.

    Two files that say x (r g) and (x r) g, r a function and g stored, have one program so.
    """
    matrix, units = value.matrix, value.parts[0].units
    if value.unit or not isinstance(matrix, Selection) or not units.blocks or units.function == "identity":
        return None
    if not value.exact or value.bias.value.any() or (matrix.scale.value == 1).all() or (matrix.index < 0).any():
        return None
    return af.select(units, matrix.index), matrix.scale


def _latest(value: Affine) -> int:
    """The last of the steps that a value reads: which factor stands first is no choice of the file."""
    return max(part.units.number for part in value.parts)


def quotient(u: Affine, v: Affine) -> Affine:
    """u / v, broadcast."""
    return product(u, af.curve(v, _RECIPROCAL))
