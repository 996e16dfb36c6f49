"""Strips around functions beside the thinnest ones of their kind: `python -m benches.strips`.

One function on a range: the width of the strip in which the core encloses f(x) - s x, for its slope s. The difference
D = f(x) - f(y) of two networks, where x lies in a range and d = x - y in another: all that the core's form of D has
besides multiples of x and d, which is what is lost. Beside each stands the least width of a strip s x + c or s d + c
around a dense sample, a linear program in the slope and both ends. Of the slope it is convex, and searched by thirds. A
sample misses a little of what it stands for, so ratios are rather too large. Those of differences are below 1 where the
form of D has a part of x, which no strip of d has; with --strips that part counts as lost, too.

Ranges: centres within 2 of 0, or far out; radii from 1e-3 to 5. Differences: radii of .01, .1 or all of that of x,
around centres that are any share of it. Ratios are printed as the median and the largest one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benches.report import markdown, wide_console
from eqspec import _core as core

Array = NDArray[np.float64]
Curve: TypeAlias = tuple[str, tuple[float, ...]]
Range: TypeAlias = tuple[float, float]
"""Centre and radius."""

FUNCTIONS: dict[str, Curve] = {
    "ReLU": ("pieces", (1.0, 0.0, 0.0, 1.0, 0.0)),
    "leaky ReLU, .1": ("pieces", (1.0, 0.0, 0.1, 1.0, 0.0)),
    "clip to [-1, 1]": ("pieces", (2.0, -1.0, 1.0, 0.0, 1.0, 0.0, -1.0)),
    "HardSwish": ("hardswish", (1 / 6, 0.5)),
    "sigmoid": ("sigmoid", ()),
    "tanh": ("tanh", ()),
    "GELU": ("gelu", ()),
    "SiLU": ("silu", ()),
    "softplus": ("softplus", ()),
    "ELU": ("elu", (1.0,)),
    "SELU": ("selu", (1.6732632, 1.050701)),
    "Mish": ("mish", ()),
    "softsign": ("softsign", ()),
}
SHARES = (0.01, 0.1, 1.0)
"""The radius of d, as a share of that of x."""
_SAMPLES, _ROUNDS = 41, 90
_STEEP = 4.0
"""Slopes of all these functions are smaller."""
_NOTHING = 1e-11
"""Strips thinner than this share of the values they lie around are made of rounding."""


def of_one(curve: Curve, x: Range) -> tuple[float, float]:
    """The width of the core's strip of one network, and the least one."""
    name, parameters = curve
    low, high = x[0] - x[1], x[0] + x[1]
    (_, least, most), _, _ = core.curve_strip(name, parameters, low, high)
    places = np.linspace(low, high, 16 * _SAMPLES)
    return most - least, _thinnest(places, _values(curve, places))


def of_difference(curve: Curve, x: Range, d: Range, *, strips: bool = False) -> tuple[float, float]:
    """The width of the core's strip of the difference, and the least one; with `strips` a part of x is lost."""
    places = [np.linspace(c - r, c + r, _SAMPLES) for c, r in (x, d)]
    of_x, of_d = (grid.ravel() for grid in np.meshgrid(*places))
    values = _values(curve, of_x) - _values(curve, of_x - of_d)
    largest = max(float(np.abs(values).max()), *(abs(centre) + radius for centre, radius in (x, d)))
    return _width(curve, (x, d), 0.0 if strips else _STEEP, largest), _thinnest(of_d, values)


def _values(curve: Curve, places: Array) -> Array:
    return core.curve_value(curve[0], list(curve[1]), places)[0]


def _width(curve: Curve, ranges: tuple[Range, Range], steep: float, largest: float) -> float:
    """What the form of D has besides its multiples of x and d, where x, D and d are no larger than `largest`.

    The core says how large D - s d - t x - b can be. Of constants b far on either side of D half the sum tells the
    radius. Of slopes on either side of the multiples in the form the mean is the radius of the rest, and as much again
    as both slopes times the radii of x and d, for any form.
    """
    signs = np.array(list(product((1.0, -1.0), repeat=3)))
    far = 2 * (1 + _STEEP + steep) * largest
    lines, nothing = -signs[None, :, :2] * [steep, _STEEP], np.zeros((1, len(signs), 2))
    programs = []
    for of_inputs, line, bias in (([1.0, 0.0], lines, far * signs[:, 2]), ([1.0, -1.0], nothing, np.zeros(len(signs)))):
        bent: core._Step = ([(-1, None, np.array([[of_inputs]]), None)], np.zeros(1), None, ([curve], None))
        terms = [(0, None, np.ones((1, len(signs), 1)), None), (-1, None, line, None)]
        minus: core._Step = (terms, bias, None, "identity")
        zero: core._Step = ([(-1, None, nothing, None)], np.zeros(len(signs)), None, "identity")
        programs.append([bent, minus, zero])
    pair = core.Pair(2, *programs)
    lower, upper = (np.array([c + sign * r for c, r in ranges]) for sign in (-1, 1))
    (found,) = core.factor_radii(pair, lower, upper, [(1, 2)], 1 << 20)
    assert found is not None
    (_, of_x), (_, of_d) = ranges
    return 2 * float(found[2].mean() - far - steep * of_x - _STEEP * of_d)


def _thinnest(along: Array, values: Array) -> float:
    """The least width of a strip s t + c around points (t, value), over all slopes s."""

    def width(slope: float) -> float:
        return float(np.ptp(values - slope * along))

    low, high = -_STEEP, _STEEP
    for _ in range(_ROUNDS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if width(first) <= width(second) else (first, high)
    return width((low + high) / 2)


def ranges(count: int, seed: int = 0) -> list[tuple[Range, float]]:
    """Ranges of x, and where the centre of d lies, as a share of its radius."""
    rng = np.random.default_rng(seed)
    centres = np.where(rng.random(count) < 0.85, rng.uniform(-2, 2, count), rng.uniform(-12, 12, count))
    radii = 10 ** rng.uniform(-3, 0.7, count)
    return [((float(c), float(r)), float(a)) for c, r, a in zip(centres, radii, rng.uniform(-1, 1, count), strict=True)]


def ratios(measure: Callable[[Range, float], tuple[float, float]], chosen: Sequence[tuple[Range, float]]) -> Array:
    """Widths over the least ones, without strips that rounding alone makes."""
    found = []
    for x, aside in chosen:
        ours, least = measure(x, aside)
        if least > _NOTHING * (abs(x[0]) + x[1]):
            found.append(ours / least)
    return np.array(found)


def _one(curve: Curve, x: Range, _: float) -> tuple[float, float]:
    return of_one(curve, x)


def _difference(curve: Curve, share: float, strips: bool, x: Range, aside: float) -> tuple[float, float]:
    radius = share * x[1]
    return of_difference(curve, x, (aside * radius, radius), strips=strips)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser("python -m benches.strips", description=__doc__.split("\n")[0])
    parser.add_argument("--ranges", type=int, default=60, help="random ranges of each function (default: 60)")
    parser.add_argument("--strips", action="store_true", help="what the form of a difference has of x counts as lost")
    given = parser.parse_args(arguments)
    chosen = ranges(given.ranges)
    table = markdown("function", "one network", *(f"difference, {share:g}" for share in SHARES))
    for name, curve in FUNCTIONS.items():
        cells = [ratios(partial(_one, curve), chosen)]
        cells += [ratios(partial(_difference, curve, share, given.strips), chosen) for share in SHARES]
        table.add_row(name, *(f"{np.median(c):.3f}, {c.max():.2f}" if len(c) else "-" for c in cells))
    wide_console().print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
