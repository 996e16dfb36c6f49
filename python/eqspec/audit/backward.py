"""Bounds under an assumed violation: functionals pulled back from the outputs to the inputs.

Suppose an obligation fails somewhere: its guard rows and its violation are >= 0 there. Then for a quantity h and any
lam, nu >= 0: h >= h - lam . guard - nu violation, a functional p.f1 + q.f2 + s.(f1 - f2) of the outputs with h joining
at its own layer. X - Y - D = 0, so any link g may move: (p + g).X + (q - g).Y + (s - g).D. Through ReLU each
coefficient takes a side: X >= alpha x for alpha in [0, 1] or X <= its chord; D between the chords of min(0, d) and
max(0, d), or folded into X and Y where one of them is not open; where a sign is assumed, beta times it is given up. At
the inputs X = Y and D = 0.

For an exact confidence lam_l (z_k - z_l - t) sum to at least |lam| times the entropy of lam / |lam|.

Rounding: each computed coefficient counts as the functional from there on; what it misses costs at most that, times the
size of what it multiplies. F functionals are rows of (F, m).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .claim import Guard, Obligation
from .enclosure import Known
from .networks import Pair, Refused
from .rounding import TINY, Array, U, down, gamma, ln, up

TARGET, FIRST, SECOND, DIFFERENCE, INPUT = range(5)


@dataclass
class Functionals:
    """What is bounded: kind, sign, layer and index (F,), and the multipliers, whatever they are worth."""

    kind: Array
    sign: Array
    layer: Array
    index: Array
    guard: Array
    violation: Array
    output: Array
    signs: Array
    link: list[Array]
    slopes: list[tuple[Array, Array]]


def _network_side(low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """Per neuron: lower slope where it is settled, whether it is open, upper slope and intercept."""
    off, on = high <= 0.0, low >= 0.0
    open_ = ~off & ~on
    with np.errstate(all="ignore"):
        slope = np.where(off, 0.0, np.where(on, 1.0, np.clip(high / (high - low), 0.0, 1.0)))
    height = np.where(open_, np.maximum(up(slope * -low), up(up(1.0 - slope) * high)), 0.0)
    return np.where(on & ~off, 1.0, 0.0), open_, slope, height


def lower_bounds(pair: Pair, known: Known, obligation: Obligation, guard: Guard | None, f: Functionals) -> Array:
    """Lower bounds (F,) of the functionals wherever the obligation is violated; not a number proves nothing."""
    writing = obligation.writings[0]
    rows, constants = (guard.rows, guard.constants) if guard else (np.zeros((0, pair.outputs)), np.zeros(0))
    if (f.guard < 0.0).any() or (f.violation < 0.0).any() or (f.signs < 0.0).any():
        raise Refused("a multiplier is negative")
    nu = np.where(f.kind == TARGET, 1.0, f.violation)[:, None]
    p, q, s = -(f.guard @ rows) - nu * writing[0] + f.output, -nu * writing[1] - f.output, -nu * writing[2] - f.output
    constant = -nu[:, 0] * obligation.constant - f.guard @ constants
    mass = nu[:, 0] * abs(obligation.constant) + f.guard @ np.abs(constants)
    size = np.abs(known.layers[-1]).max() + 1.0
    norm = (f.guard @ np.abs(rows) + nu * np.abs(writing).sum(0) + 3.0 * np.abs(f.output)).sum(1)
    err = (gamma(len(constants) + 8) * norm + TINY * 1e6) * size
    if guard is not None and guard.exact.start != guard.exact.stop:
        lam = f.guard[:, guard.exact]
        total = lam.sum(1, keepdims=True)
        used = lam > 1e-290
        value, off = ln(np.where(used, lam / np.where(total > 0.0, total, 1.0), 1.0))
        entropy = np.where(used, -lam * value, 0.0)  # leaving one out only weakens the bound
        constant, mass = constant + entropy.sum(1), mass + np.abs(entropy).sum(1)
        err = err + (np.where(used, lam, 0.0) * (off + 4.0 * U * (lam.shape[1] + 4))).sum(1)
    depth = pair.depth
    centre = known.lower + 0.5 * (known.upper - known.lower)
    radius = up(up(np.maximum(known.upper - centre, centre - known.lower)))
    for n in reversed(range(depth)):
        first, second, change, shift = pair.first[n], pair.second[n], pair.weight[n], pair.bias[n]
        if n:
            b = known.layers[n - 1]
            x, y, d = np.maximum(b[1], 0.0), np.maximum(b[3], 0.0), np.maximum(np.abs(b[4]), np.abs(b[5]))
        else:
            x = y = np.abs(centre) + radius
            d = np.zeros_like(x)
        rounding, ap, aq, as_ = gamma(2 * len(shift) + 8), np.abs(p), np.abs(q), np.abs(s)
        constant = constant + p @ first.bias + q @ second.bias + s @ shift
        mass = mass + ap @ np.abs(first.bias) + aq @ np.abs(second.bias) + as_ @ np.abs(shift)
        e1, e2 = first.weight_error @ x + first.bias_error, second.weight_error @ y + second.bias_error
        price = rounding * (first.absolute @ d + np.abs(change) @ y) + 4.0 * U * np.abs(shift) + e1 + e2
        err = err + ap @ (rounding * (first.absolute @ x) + e1) + aq @ (rounding * (second.absolute @ y) + e2)
        err = err + as_ @ price
        err = err + TINY * 1e6 * (1.0 + x.sum() + y.sum() + d.sum() + ap.sum(1) + aq.sum(1) + as_.sum(1))
        p, q, s = p @ first.weight, q @ second.weight + s @ change, s @ first.weight
        if n == 0:
            break
        h, b = n - 1, known.layers[n - 1]
        size_of = np.abs(b).max(0)
        link, (alpha1, alpha2) = f.link[h], f.slopes[h]
        settled1, open1, slope1, height1 = _network_side(b[0], b[1])
        settled2, open2, slope2, height2 = _network_side(b[2], b[3])
        own, off1, off2 = open1 & open2, b[1] <= 0.0, b[3] <= 0.0
        keep = own | (~open1 & ~open2 & ~off1 & ~off2)
        before = np.abs(p) + np.abs(q) + 3.0 * np.abs(link)
        s = s - link
        p, q = p + link + np.where(~keep & ~off1, s, 0.0), q - link - np.where(~keep & ~off2, s, 0.0)
        norm = before + np.abs(p) + np.abs(q) + 2.0 * np.abs(s)
        s = np.where(keep, s, 0.0)
        low, high = b[4], b[5]
        with np.errstate(all="ignore"):
            falling, rising = np.clip(-low / (high - low), 0.0, 1.0), np.clip(high / (high - low), 0.0, 1.0)
        flat = own & ~(low < high)
        falling, rising = (np.where(own, np.where(flat, 0.0, v), 1.0) for v in (falling, rising))
        ends = (low, high)
        least = -np.maximum(*(np.where(v < 0.0, up(up(1.0 - falling) * -v), up(falling * v)) for v in ends))
        most = np.maximum(*(np.where(v > 0.0, up(up(1.0 - rising) * v), up(-rising * v)) for v in ends))
        least, most = np.where(own, least, 0.0), np.where(own, most, 0.0)
        shifted = s * np.where(s < 0.0, most, least)
        add = (np.where(p < 0.0, p * height1, 0.0), np.where(q < 0.0, q * height2, 0.0), shifted)
        constant, mass = constant + sum(a.sum(1) for a in add), mass + sum(np.abs(a).sum(1) for a in add)
        p = p * np.where(p < 0.0, slope1, settled1 + open1 * alpha1)
        q = q * np.where(q < 0.0, slope2, settled2 + open2 * alpha2)
        s = s * np.where(s < 0.0, rising, falling)
        for k, (which, layer, index, positive) in enumerate(known.signs):
            if layer == h:
                beta, sign = f.signs[:, k], 1.0 if positive else -1.0
                norm[:, index] += np.abs(beta)
                if which == DIFFERENCE:
                    s[:, index] -= sign * beta
                else:
                    (q if which == SECOND else p)[:, index] -= sign * beta
        here = (f.layer == h) & (f.kind != TARGET) & (f.kind != INPUT)
        for kind, target in ((FIRST, p), (SECOND, q), (DIFFERENCE, s)):
            at = np.flatnonzero(here & (f.kind == kind))
            target[at, f.index[at]] += f.sign[at]
        err = err + (8.0 * U * (norm + 1.0) + TINY * 1e6) @ (size_of + 1.0)
    a = p + q
    at = np.flatnonzero(f.kind == INPUT)
    a[at, f.index[at]] += f.sign[at]
    value, size = (a * centre - np.abs(a) * radius).sum(1), (np.abs(a) * (np.abs(centre) + radius)).sum(1)
    size = size + (np.abs(p) + np.abs(q) + 1.0) @ (np.abs(centre) + radius)
    terms = 4 * (pair.inputs + sum(layer.weight.shape[0] for layer in pair.first)) + 64 * depth
    err = 1.01 * (err + gamma(terms) * (mass + size)) + TINY * 1e6
    result: Array = down(down(constant + value) - err)
    return result
