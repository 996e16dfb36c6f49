"""Where the rows of a table lie, as linear constraints: a box in their principal components.

Shapes: N rows, I features, k components. Features are standardised by the rows themselves. With V (k, I) the directions
in which the rows vary most, a row x is kept if each component (V x)_j, and the distance of each feature from the plane
that the components span, x - V'V x, is at most a factor c times its standard deviation. The rows are divided by a fixed
seed: components come from half of them; c from a quarter, as the least that keeps the share that is asked for (the
order statistic of split conformal prediction: with n rows the one of rank (n + 1) share, rounded up); the last quarter
is held out, and counted by whoever knows the whole region.

Sound whatever is computed here: the constraints that are written down, with coefficients as short decimals, are the
region, and rows are counted by these. Those that cut off nothing of a box are dropped, which is decided exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from random import Random

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.spec.findings import Fault, Findings, error, warning
from eqspec.spec.region_terms import DataOf, RawConstraint
from eqspec.tasks.task import LinearConstraint

MOST_FEATURES = 256
MOST_ROWS = 50_000
_SEED = 1
_EXPLAINED = 0.95
"""Without a number of components, as few as explain this share of the variance."""
_FLAT = 1e-6
"""Standard deviations below this, of standardised features, are those of rounding: such a direction is not bounded."""
_SAFELY = 1.0 - 1e-9
"""A held-out row counts as inside only by a margin larger than the rounding of floats."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeenRegion:
    """The constraints in raw units, and what is known of the rows that they were made from.

    `rows` (N, I) are all of them in raw units, exactly, by their `indices` in the table; `held_out` says which of them
    were, and `kept` which of these the constraints keep for certain.
    """

    wanted: DataOf
    constraints: tuple[RawConstraint, ...]
    components: int
    explained: float
    factor: Fraction
    indices: tuple[int, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    held_out: tuple[int, ...]
    kept: frozenset[int]


def seen_region(
    wanted: DataOf,
    share: Fraction,
    listed: Sequence[tuple[int, tuple[Fraction, ...]]],
    names: Sequence[str],
    findings: Findings,
) -> SeenRegion:
    """The region of some rows; Fault E138 or E148 where there are too many features or too few rows."""
    clause = wanted.clause
    if len(names) > MOST_FEATURES:
        message = f"'data' of {len(names)} features; at most {MOST_FEATURES} are taken"
        raise Fault(error("E138", message, clause.span, help="draw balls around rows of the table instead"))
    rows = tuple(numbers for _, numbers in listed)
    x = np.array([[float(v) for v in row] for row in rows]).reshape(len(rows), len(names))
    learn, measure, held_out = _divided(len(rows))
    least = 4 * max(ceil(share / (1 - share)), len(names) + 1)
    if len(rows) < least:
        message = f"'{wanted.path}' has {len(rows)} rows that can be used; keeping {float(share):g} takes {least}"
        raise Fault(error("E148", message, clause.span, help="keep a smaller share, or give more rows"))
    mean, std = x[learn].mean(axis=0), x[learn].std(axis=0)
    varied = np.flatnonzero(std > _FLAT * np.maximum(np.abs(mean), 1e-300))
    _mention_constant(wanted, [names[i] for i in range(len(names)) if i not in set(varied.tolist())], findings)
    if not len(varied):
        raise Fault(error("E148", f"the rows of '{wanted.path}' are all the same", clause.span))
    directions, scales, components, explained = _directions((x[learn] - mean)[:, varied] / std[varied], wanted)
    sums = [_rounded_sum(row / std[varied], varied, mean) for row in directions]
    rounded = [_decimal(scale, 6) for scale in scales]
    beyond = np.zeros(len(rows))
    for (coefficients, centre), scale in zip(sums, rounded, strict=True):
        a = np.array([float(coefficients.get(i, 0)) for i in range(len(names))])
        beyond = np.maximum(beyond, np.abs(x @ a - float(centre)) / float(scale))
    rank = ceil((len(measure) + 1) * share)
    factor = _decimal(float(np.sort(beyond[measure])[rank - 1]) * (1.0 + 1e-6), 6)
    return SeenRegion(
        wanted=wanted,
        constraints=tuple(
            RawConstraint(
                {i: sign * a for i, a in coefficients.items()},
                factor * scale + sign * centre,
                False,
                "<=",
                Fraction(0),
                clause.span,
                wanted.path,
            )
            for (coefficients, centre), scale in zip(sums, rounded, strict=True)
            for sign in (1, -1)
        ),
        components=components,
        explained=explained,
        factor=factor,
        indices=tuple(index for index, _ in listed),
        rows=rows,
        held_out=tuple(held_out),
        kept=frozenset(i for i in held_out if beyond[i] <= float(factor) * _SAFELY),
    )


def bites(constraint: LinearConstraint, lower: Sequence[Fraction], upper: Sequence[Fraction]) -> bool:
    """Whether some point of a box does not satisfy a constraint."""
    return largest(constraint, lower, upper) > constraint.bound


def largest(constraint: LinearConstraint, lower: Sequence[Fraction], upper: Sequence[Fraction]) -> Fraction:
    """The largest value of the sum over a box, which is at a corner, exactly."""
    corners = zip(constraint.coefficients, lower, upper, strict=True)
    return sum((a * (high if a > 0 else low) for a, low, high in corners if a), Fraction(0))


def _divided(count: int) -> tuple[list[int], list[int], list[int]]:
    """A random split of the rows into half, a quarter and the rest; it is the same every time."""
    random = Random(_SEED)
    order = [index for _, index in sorted((random.random(), index) for index in range(count))]
    half, three = count // 2, count // 2 + count // 4
    return sorted(order[:half]), sorted(order[half:three]), sorted(order[three:])


def _mention_constant(wanted: DataOf, names: Sequence[str], findings: Findings) -> None:
    if names:
        some = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        message = f"features of '{wanted.path}' with hardly any spread: {some}; nothing is learnt of them"
        fix = "only the box bounds them; bound them there as they can occur"
        findings.add(warning("W315", message, wanted.clause.span, help=fix))


def _directions(z: Array, wanted: DataOf) -> tuple[list[Array], list[float], int, float]:
    """Rows (K, I) of what is bounded, the standard deviation of each, how many are components, what these explain."""
    _, singular, vectors = np.linalg.svd(z - z.mean(axis=0), full_matrices=False)
    explained = np.cumsum(singular**2) / np.sum(singular**2)
    components = wanted.components or int(np.searchsorted(explained, _EXPLAINED - 1e-12) + 1)
    if components > len(vectors):
        message = f"{components} components of {len(vectors)} features that vary"
        raise Fault(error("E138", message, wanted.clause.span, help=f"give at most {len(vectors)}, or none"))
    main = vectors[:components]
    rest = np.eye(z.shape[1]) - main.T @ main
    rows = [*main, *rest]
    spread = [float(np.std(z @ row)) for row in rows]
    kept = [i for i, size in enumerate(spread) if size > _FLAT]
    return [rows[i] for i in kept], [spread[i] for i in kept], components, float(explained[components - 1])


def _rounded_sum(row: Array, varied: NDArray[np.intp], mean: Array) -> tuple[dict[int, Fraction], Fraction]:
    """A sum of raw features as short decimals, and its value at the mean of the rows."""
    coefficients = {
        int(i): a for i, value in zip(varied.tolist(), row.tolist(), strict=True) if (a := _decimal(value, 9))
    }
    return coefficients, sum((a * _decimal(float(mean[i]), 9) for i, a in coefficients.items()), Fraction(0))


def _decimal(value: float, digits: int) -> Fraction:
    return Fraction(f"{value:.{digits}g}")
