"""Products of two values, written with squares so that both factors vary alike in a box.

    u v = s^2 - t^2,   s = (p u + v / p) / 2,   t = (p u - v / p) / 2      for every p > 0

A file is read with p = 1 (`operators/variable_products`). Bounds of the two squares together are as high as those of
the product where p u and v / p have the same radius, and higher by half the ratio of the radii where they have not. So
for the box of a task every row of a product is given a power of two p = 2^k. With u = s + t and v = s - t of
what was read,

    s_p = p u / 2 + v / (2 p),   t_p = p u / 2 - v / (2 p)

with factors that floats hold, so the program that results equals the one that was read at every input, whatever k is
chosen. The old steps become u and v, sums without a function, which cost the engine nothing. Where no floats hold the
weights of u and v, because both read the same values, s and t stay as such sums instead, and

    s_p = c s + d t,   t_p = d s + c t,   c = (p + 1/p) / 2,   d = (p - 1/p) / 2,   c^2 - d^2 = 1,

which is the same, but what is rounded in s and t counts in both factors, however small one of them is. Radii are
those at a few inputs of the region, or bounds; a bad choice makes bounds looser, and nothing wrong.

Which steps are the two squares of a product, `factors` says. The balance of a network has the k of every row of its
products, in their order; 0 for products that are read with weights which no float holds, since they may not be opposite
to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.curves import Curve, Curves
from eqspec.networks.evaluation import each_sum
from eqspec.networks.factors import factors_of, products
from eqspec.networks.network import Network
from eqspec.networks.program import INPUTS, Array, Index, Step, Term, Tile, renumbered

_SQUARE = Curves.all(Curve("square"))
MOST = 24
"""Exponents lie between -24 and 24, where c and d are floats."""
_LEAST_RADIUS = 2.0**-10
"""The least radius of a factor, relative to its size: one that does not vary where it was tried may vary elsewhere."""
_FURTHER = 8
"""How far exponents by bounds may lie from those of the inputs that were tried, which tells 2^-26 of a factor."""

Balance: TypeAlias = tuple[Index, ...]
"""The exponents (rows,) of each product; () where nothing is to be balanced."""


def certain(steps: Sequence[Step]) -> list[bool]:
    """Whether the weights with which each product is read are exact, so that they are opposite indeed."""
    doubtful = {term.source for step in steps for term in step.terms if not term.tile.exact}
    return [doubtful.isdisjoint(pair) for pair in products(steps)]


def radii_at(
    networks: Sequence[Network], inputs_of_region: Callable[[], Array], check: Callable[[], None] = lambda: None
) -> list[list[Array]]:
    """How much the factors of each network's products vary (2, rows) at inputs (N, I), which are asked for if need be.

    Networks with the same products are taken together, so that what they have in common stays in common. `check` is
    called at every step, and may raise.
    """
    pairs = [products(network.steps) if network.arithmetic == "real" else [] for network in networks]
    if not any(pairs):
        return [[] for _ in networks]
    inputs = inputs_of_region()
    radii = [_radii(n.steps, pair, inputs, check) for n, pair in zip(networks, pairs, strict=True)]
    if len({tuple(r.shape for r in one) for one in radii}) == 1:
        radii = [[np.maximum.reduce(of_product) for of_product in zip(*radii, strict=True)]] * len(networks)
    return radii


def balance(networks: Sequence[Network], radii: Sequence[Sequence[Array]]) -> tuple[Balance, ...]:
    """The balance of each network by the radii of its factors."""
    sure = [certain(network.steps) if one else [] for network, one in zip(networks, radii, strict=True)]
    if len({tuple(r.shape for r in one) for one in radii}) == 1:
        sure = [[all(of_product) for of_product in zip(*sure, strict=True)]] * len(networks)
    return tuple(
        _or_none([_exponents(r[1], r[0]) * known for r, known in zip(one, some, strict=True)])
        for one, some in zip(radii, sure, strict=True)
    )


def from_bounds(
    bounds: Sequence[Array | None], sure: Sequence[bool], before: Balance, seen: Sequence[Array]
) -> Balance:
    """The balance by radii of s_p + t_p = p u and s_p - t_p = v / p, and how far they may differ (4, rows).

    Of a product of which nothing is known it is the one `before`, and none where it is not `sure`. A difference is
    bounded by that of one factor times the range of the other, so squares are loosest in it where r_u d_u and r_v d_v
    are unlike. What was `seen` at inputs tells how large factors are (2, rows); one that does not vary at all is not
    followed far from it, because the squares of one that is made large and of one that is made small leave no digits of
    their difference.
    """
    made = list[Index]()
    for known, earlier, at_inputs, certainly in zip(bounds, before, seen, sure, strict=True):
        if known is None or not certainly or not np.isfinite(known).all():
            made.append(earlier)
            continue
        p = np.ldexp(1.0, earlier)
        with np.errstate(over="ignore"):
            u, v, du, dv = factors = known[0] / p, known[1] * p, known[2] / p, known[3] * p
        if not np.isfinite(factors).all():
            made.append(earlier)
            continue
        of_v, of_u = (np.sqrt(r) * np.sqrt(np.maximum(d, _LEAST_RADIUS * r)) for r, d in ((v, dv), (u, du)))
        start = _exponents(np.maximum(at_inputs[1], v), np.maximum(at_inputs[0], u))
        made.append(np.clip(_exponents(of_v, of_u), start - _FURTHER, start + _FURTHER))
    return _or_none(made)


def _or_none(exponents: Sequence[Index]) -> Balance:
    return tuple(exponents) if any(k.any() for k in exponents) else ()


def _radii(
    steps: Sequence[Step], pairs: Sequence[tuple[int, int]], inputs: Array, check: Callable[[], None]
) -> list[Array]:
    """For each product how much its factors vary at the inputs (2, rows), 0 where that is not known."""
    wanted = {n for pair in pairs for n in pair}
    # As squares, which hold no less of a factor than s and t round off: one that seems to be 0 then counts as so much.
    with np.errstate(all="ignore"):
        sums = {}
        for n, total in enumerate(each_sum(steps, inputs.T, ())):
            check()
            if n in wanted:
                sums[n] = total
        found = []
        for first, second in pairs:
            s, t = sums[first], sums[second]
            factors = np.stack([s + t, s - t])
            least, most = factors.min(axis=2), factors.max(axis=2)
            radius = np.maximum(most - least, _LEAST_RADIUS * np.maximum(np.abs(least), np.abs(most)))
            found.append(np.where(np.isfinite(radius), radius, 0.0))
    return found


def _exponents(v: Array, u: Array) -> Index:
    """k with 4^k = v / u, row by row; where a factor seems to be 0, as in the other rows."""
    known = (u > 0.0) & (v > 0.0)
    made = np.zeros(len(u), np.int32)
    if known.any():
        with np.errstate(over="ignore"):  # infinite ratios are cut off below
            exact = np.log2(v[known] / u[known]) / 2.0
        # Ratios are often powers of two, so nothing is rounded at a half: every machine is to choose the same.
        made[known] = np.clip(np.floor(exact + 0.55), -MOST, MOST)
        made[~known] = np.sort(made[known])[known.sum() // 2]
    return made


def balanced(network: Network, exponents: Balance, *, by_factors: bool = True) -> Network:
    """A network that equals this one, with its products balanced so.

    Certificates know the sums s and t alone, so for these it is not written `by_factors`.
    """
    if not exponents:
        return network
    steps, _ = _written(network.steps, exponents, by_factors=by_factors)
    return replace(network, steps=steps, largest_intermediates=(), casts=())


def sums_of(network: Network, exponents: Balance) -> list[tuple[int, int]]:
    """The steps of the balanced network that have s_p and t_p of each product before their function."""
    pairs = products(network.steps)
    _, place = _written(network.steps, exponents, by_factors=True)
    return [(place[s], place[t]) for s, t in pairs]


def _written(steps: Sequence[Step], exponents: Balance, *, by_factors: bool) -> tuple[tuple[Step, ...], dict[int, int]]:
    """The balanced program, and where it has what each old step gives."""
    if not exponents:
        return tuple(steps), {n: n for n in range(len(steps))}
    of_products = zip(products(steps), exponents, certain(steps), strict=True)
    chosen = {pair: k for pair, k, sure in of_products if sure and k.any()}
    behind = {max(pair): pair for pair in chosen}
    factors = {pair: factors_of(steps[pair[0]], steps[pair[1]]) if by_factors else None for pair in chosen}
    sums = {n: factors[pair] is None for pair in chosen for n in pair}
    made: list[Step] = []
    gives = {INPUTS: INPUTS}
    for number, step in enumerate(steps):
        if sums.get(number, True):
            moved = renumbered(step, gives)
            made.append(replace(moved, function="identity") if number in sums else moved)
            gives[number] = len(made) - 1
        if number in behind:  # and whatever reads one of the squares reads both, so it stands further behind
            pair = behind[number]
            found, places = factors[pair], (gives.get(pair[0], -1), gives.get(pair[1], -1))
            if found is not None:
                places = len(made), len(made) + 1
                made += [renumbered(factor, gives) for factor in found]
            for target, square in zip(pair, _squares(places, chosen[pair], by_factors=found is not None), strict=True):
                made.append(square)
                gives[target] = len(made) - 1
    return tuple(made), gives


def _squares(places: tuple[int, int], exponents: NDArray[np.integer], *, by_factors: bool) -> list[Step]:
    """s_p^2 and t_p^2, row by row, where u and v stand at these places, or s and t."""
    p = np.ldexp(1.0, exponents)
    if by_factors:
        rows = (p / 2.0, 0.5 / p), (p / 2.0, -0.5 / p)
    else:
        c, d = (p + 1.0 / p) / 2.0, (p - 1.0 / p) / 2.0
        rows = (c, d), (d, c)
    index = np.arange(len(p), dtype=np.int32).reshape(-1, 1, 1)
    return [
        Step(
            tuple(Term(n, Tile(index, w.reshape(-1, 1, 1))) for n, w in zip(places, weights, strict=True)),
            np.zeros(len(p)),
            function=_SQUARE,
        )
        for weights in rows
    ]
