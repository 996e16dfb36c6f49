"""The factors by which neurons of one network are as large as those of another one that they are like.

A hidden neuron may be multiplied by any positive number where its function allows it, so a candidate comes in other
sizes: weights are equalised across layers before they are quantised (Nagel et al., "Data-Free Quantization Through
Weight Equalization and Bias Correction", ICCV 2019), and normalisations are folded that another exporter scaled
otherwise. What its weights are rounded or pruned to afterwards is no multiple of the reference any more, and a
difference of neurons is as large as the larger of them as long as their sizes differ.

Of two rows a and b the factor c is one of least sum_j |a_j - c b_j|: a median of the ratios a_j / b_j, each as often as
b_j is large. Where one row is the other with some entries pruned it is exactly the factor of all others, which least
squares would miss by what is pruned. A power of two that is nearly as good is taken instead, since it rounds nothing;
so rows of one size stay as they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_NEARER = 0.5
"""What a factor may leave of the distance of two rows."""
_AS_GOOD = 1.2
"""How much farther a power of two may leave them than the best factor does."""
_OTHER = 0.05
"""How far from 1 some factor of a layer is where rows are taken for rescaled; rounded weights come nearer by less."""
_LARGEST = 2.0**60


def of_other_size(sizes: Array, others: Array) -> bool:
    """Whether some of these sizes (m) are not those of the others (n), even but for what rounding weights does.

    What has no partner counts as of one size.
    """
    both = min(len(sizes), len(others))
    return bool((np.abs(sizes[:both] - others[:both]) > _OTHER * sizes[:both]).any())


def nearest_factors(a: Array, b: Array) -> Array:
    """For each row of `b` (m, n) the factor (m) that brings it near to that of `a`; 1 where none halves their distance,
    and of all rows where their sizes are those of the others but for what rounding weights does.

    The sizes of columns say how much each of them counts. What only one of both has is apart with any factor.
    """
    with np.errstate(all="ignore"):
        kept = (a != 0.0) & (b != 0.0)
        a, b = np.where(kept, a, 0.0), np.where(kept, b, 0.0)
        size = np.abs(b)
        ratios = np.where(kept, a / b, np.inf)
        usable = np.isfinite(ratios) & (ratios > 0.0)
        factors = _medians(np.where(usable, ratios, np.inf), np.where(usable, size, 0.0))
        known = (factors > 1.0 / _LARGEST) & (factors < _LARGEST)  # neither infinite nor no number
        factors = np.where(known, factors, 1.0)
        powers = np.exp2(np.round(np.log2(factors)))
        given, least, rounded = (_apart(a, c, b) for c in (np.ones(len(b)), factors, powers))
        factors = np.where(rounded <= _AS_GOOD * least, powers, factors)
        left = np.minimum(rounded, least)
    ones = np.ones(len(b))
    found: Array = np.where(known & (left <= _NEARER * given), factors, ones)
    return found if of_other_size(ones, found) else ones


def _medians(numbers: Array, weights: Array) -> Array:
    """Of each row (m, n) the first number up to which lies half of the weight."""
    order = np.argsort(numbers, axis=1)
    sums = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    middle = (sums < 0.5 * sums[:, -1:]).sum(axis=1, keepdims=True)
    found = np.take_along_axis(order, np.minimum(middle, numbers.shape[1] - 1), axis=1)
    medians: Array = np.take_along_axis(numbers, found, axis=1)[:, 0]
    return medians


def _apart(a: Array, factors: Array, b: Array) -> Array:
    """The sums of absolute differences of rows, inf where they overflow."""
    apart: Array = np.abs(a - factors[:, None] * b).sum(axis=1)
    return np.where(np.isnan(apart), np.inf, apart)
