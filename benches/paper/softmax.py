"""How far approximations of "softmax_k >= delta" let the confidence fall: the largest delta minus the least confidence.

The paper's polytope z_k - z_l >= ln(delta / (1 - delta)) over all l reaches down to the confidence where all other
classes tie, delta / (delta (2 - n) + n - 1). The sigmoid approximation it is compared with is off by (n - 2) /
(sqrt(n - 1) + 1)^2 + 2 upsilon, where upsilon is the error of approximating the sigmoid itself. Ours is the softmax
itself: a cut for every weighting of the other classes, together exact, so that what remains is the rounding of the
threshold.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from eqspec.tasks.directed_rounding import log_odds_below


def polytope(delta: float, classes: int) -> float:
    """err_poly, for delta >= 1/2."""
    return delta - delta / (delta * (2 - classes) + classes - 1)


def sigmoid(classes: int, upsilon: float = 0.0) -> float:
    """err_sig; does not depend on delta."""
    return float((classes - 2) / (math.sqrt(classes - 1) + 1) ** 2 + 2 * upsilon)


def ours(delta: float) -> float:
    """Delta minus the confidence 1 / (1 + e^-t) at our threshold t, ln(delta / (1 - delta)) rounded down to a float."""
    with localcontext() as context:
        context.prec = 60
        threshold = Decimal(log_odds_below(Fraction(delta)))
        return float(Decimal(delta) - 1 / (1 + (-threshold).exp()))


def table(deltas: list[float], classes: list[int]) -> list[dict[str, float]]:
    """A row per number of classes and delta."""
    return [
        {"classes": n, "delta": d, "polytope": polytope(d, n), "sigmoid": sigmoid(n), "ours": ours(d)}
        for n in classes
        for d in deltas
    ]
