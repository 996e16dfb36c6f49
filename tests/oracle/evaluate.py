"""What a claim says about one input, in rational arithmetic, straight from the definitions.

Shapes: x (I,), outputs (O,). f is the reference, g the candidate; with `lowest_wins` decisions are made on -f and -g.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import lcm

from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Property, Top1
from oracle.pieces import Layers

Point = Sequence[Fraction]


def outputs(layers: Layers, point: Point) -> list[Fraction]:
    """One affine map and one maximum after the other, in whole numbers over one denominator."""
    denominator = lcm(*(x.denominator for x in point))
    values = [x.numerator * (denominator // x.denominator) for x in point]
    for number, (weight, bias) in enumerate(layers):
        rows = [[entry.as_integer_ratio() for entry in row] for row in (*weight.tolist(), bias.tolist())]
        scale = max((below for row in rows for _, below in row), default=1)
        *whole, constants = [[above * (scale // below) for above, below in row] for row in rows]
        values = [
            sum(w * v for w, v in zip(row, values, strict=True)) + b * denominator
            for row, b in zip(whole, constants, strict=True)
        ]
        denominator *= scale
        if number < len(layers) - 1:
            values = [max(v, 0) for v in values]
    return [Fraction(v, denominator) for v in values]


def breaks(claim: Property, f: Sequence[Fraction], g: Sequence[Fraction], *, lowest_wins: bool = False) -> bool:
    """Whether the outputs break the claim."""
    match claim:
        case Epsilon(eps, norm, chosen):
            gaps = [abs(g[o] - f[o]) for o in (range(len(f)) if chosen is None else chosen)]
            match norm:
                case "linf":
                    return max(gaps) > Fraction(eps)
                case "l1":
                    return sum(gaps) > Fraction(eps)
                case "l2":
                    return sum(gap * gap for gap in gaps) > Fraction(eps) ** 2
        case Linear(a, b, bound, strict):
            value = sum(Fraction(c) * y for c, y in zip((*a, *b), (*g, *f), strict=True))
            return value >= Fraction(bound) if strict else value > Fraction(bound)
        case Top1() | Margin() | Confidence():
            if lowest_wins:
                f, g = [-y for y in f], [-y for y in g]
            classes = [k for k, y in enumerate(f) if y == max(f)]
            return any(g[k] < max(g) and _guarded(claim, f, k) for k in classes)
        case NeverWraps() | NeverSaturates():
            return False  # no number here has a type


def _guarded(claim: Top1 | Margin | Confidence, f: Sequence[Fraction], k: int) -> bool:
    match claim:
        case Top1():
            return True
        case Margin(margin):
            return all(f[k] - y >= Fraction(margin) for index, y in enumerate(f) if index != k)
        case Confidence(delta):
            return confidence_exceeds(f, k, Fraction(delta))


def confidence_exceeds(f: Sequence[Fraction], k: int, delta: Fraction) -> bool:
    """softmax_k(f) >= delta, in 60 digits of what the other classes have, which may be next to nothing.

    By the sum of exponentials, which is exact where all scores are equal.
    """
    with localcontext() as context:
        context.prec = 60
        gaps = [y - f[k] for index, y in enumerate(f) if index != k]
        powers = [(Decimal(gap.numerator) / gap.denominator).exp() for gap in gaps]
        return Fraction(sum(powers, Decimal(0))) <= (1 - delta) / delta
