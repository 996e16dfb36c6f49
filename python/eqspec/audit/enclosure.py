"""Many boxes through a pair: x in f1, y in f2 and d = x - y enclosed by zonotopes with shared generators.

A form is centre + sum of generators, each in [-1, 1], +- an error radius that covers all rounding. Arrays are
(m, B, G): m neurons, B boxes. Blocks of generators: c the centre, e inputs, 1 and 2 made by ReLUs of f1 and f2, d by
differences; the same generator is the same number in all forms. relu(x) - lam x lies in [0, 2 mu] for any slope lam,
which defines a generator: relu(x) = lam x + mu + mu a. D = relu(x) - relu(y) is X or -Y where the other is off, d where
both are on, d + (X - x) or d - (Y - y) where one is on, and between min(0, d) and max(0, d) where both may be either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .networks import Layer, Pair
from .rounding import TINY, Array, U, down, gamma, inflate, up


@dataclass
class Form:
    """Blocks of generators, the error radius (m, B), and an upper bound (m, B) of |centre| + sum |generators|."""

    blocks: dict[str, Array]
    err: Array
    mass: Array = field(default_factory=lambda: np.zeros(0))

    def bounds(self) -> tuple[Array, Array]:
        """lo, hi (m, B); exact where nothing was rounded."""
        spread = sum((np.abs(v).sum(2) for k, v in self.blocks.items() if k != "c"), np.zeros_like(self.err))
        centre, count = self.blocks["c"][:, :, 0], sum(v.shape[2] for v in self.blocks.values())
        self.mass = inflate(np.abs(centre) + spread, count + 2)
        exact = (spread == 0.0) & (self.err == 0.0)
        radius = up(inflate(spread, count) + self.err)
        return np.where(exact, centre, down(centre - radius)), np.where(exact, centre, up(centre + radius))


@dataclass
class Known:
    """Bounds of the inputs (n,) and per layer of x, y, d: (6, m), lo and hi of each. `signs` are assumed phases."""

    lower: Array
    upper: Array
    layers: list[Array]
    signs: list[tuple[int, int, int, bool]] = field(default_factory=list)

    def empty(self) -> bool:
        """Whether no input satisfies what is known."""
        contradicts = any((b[0::2] > b[1::2]).any() for b in self.layers)
        return bool(contradicts or (self.lower > self.upper).any())

    def meet(self, layers: list[Array]) -> None:
        """Intersect with other bounds of the same quantities, and let x, y and d tell about each other."""
        self.layers = [exchange(_meet(mine, theirs)) for mine, theirs in zip(self.layers, layers, strict=True)]


def _meet(a: Array, b: Array) -> Array:
    result = a.copy()
    result[0::2], result[1::2] = np.maximum(a[0::2], b[0::2]), np.minimum(a[1::2], b[1::2])
    return result


def exchange(bounds: Array) -> Array:
    """x = y + d, y = x - d, d = x - y; (6, ...). An intersection that would be empty is not taken."""
    b = bounds.copy()
    for i, j, k, sign in ((0, 2, 4, 1.0), (2, 0, 4, -1.0), (4, 0, 2, -1.0)):  # i = j + sign k
        ends = (b[k], b[k + 1]) if sign > 0.0 else (-b[k + 1], -b[k])
        low, high = np.maximum(b[i], down(b[j] + ends[0])), np.minimum(b[i + 1], up(b[j + 1] + ends[1]))
        b[i], b[i + 1] = np.where(low <= high, low, b[i]), np.where(low <= high, high, b[i + 1])
    return b


@dataclass
class Reached:
    """The outputs of f1, f2 and f1 - f2, the input itself, and the bounds (6, m, B) of every layer."""

    forms: tuple[Form, Form, Form, Form]
    layers: list[Array]

    def box(self, b: int) -> Reached:
        """One of the boxes."""
        cut = slice(b, b + 1)
        one = [Form({k: v[:, cut] for k, v in f.blocks.items()}, f.err[:, cut], f.mass[:, cut]) for f in self.forms]
        return Reached((one[0], one[1], one[2], one[3]), [layer[:, :, cut] for layer in self.layers])

    def upper(
        self, rows: Array, constants: Array, sizes: Array | None = None, total: Array | None = None, terms: int = 1
    ) -> Array:
        """Upper bounds (N, B) of rows (N, 3 O + n) over f1, f2, f1 - f2 and the input, plus constants (N,).

        Where the rows are sums of so many `terms`, `sizes` and `total` are the sums of the absolute terms.
        """
        sizes, total = np.abs(rows) if sizes is None else sizes, np.abs(constants) if total is None else total
        found: dict[str, Any] = {}
        n = 4 * (rows.shape[1] + terms) + 16
        off, at, rounding = gamma(n) * total[:, None] + TINY, 0, gamma(n)
        for form in self.forms:
            part = slice(at, at := at + len(form.err))
            if not sizes[:, part].any():
                continue
            for k, v in form.blocks.items():
                found[k] = found.get(k, 0.0) + _dot(rows[:, part], v)
            off = off + np.abs(rows[:, part]) @ form.err + sizes[:, part] @ (rounding * (form.mass + form.err) + TINY)
        spread = sum((np.abs(v).sum(2) for k, v in found.items() if k != "c"), np.zeros_like(off))
        centre = found["c"][:, :, 0] if found else 0.0
        width = inflate(spread, 8 + sum(v.shape[2] for v in found.values())) + inflate(off, n + 64)
        result: Array = up(up(constants[:, None] + centre) + up(width))
        return result


def _dot(matrix: Array, block: Array) -> Array:
    """matrix (r, m) times block (m, B, G)."""
    result: Array = (matrix @ block.reshape(len(block), -1)).reshape(len(matrix), *block.shape[1:])
    return result


def _affine(layer: Layer, x: Form) -> Form:
    blocks = {k: _dot(layer.weight, v) for k, v in x.blocks.items()}
    blocks["c"] += layer.bias[:, None, None]
    err = layer.absolute @ (x.err + gamma(layer.weight.shape[1] + 4) * x.mass + TINY)
    err += layer.weight_error @ (x.mass + x.err) + (8.0 * U * np.abs(layer.bias) + layer.bias_error)[:, None]
    return Form(blocks, np.where(layer.zero[:, None], layer.bias_error[:, None], inflate(err, 4 * len(x.err) + 16)))


def _difference(pair: Pair, n: int, x: Form, y: Form, d: Form | None) -> Form:
    """W1 d + (W1 - W2) y + b1 - b2; without d: the inputs, which are equal."""
    first, second, change, shift = pair.first[n], pair.second[n], pair.weight[n], pair.bias[n]
    blocks = {k: _dot(change, v) for k, v in y.blocks.items()} if change.any() or d is None else {}
    rounding = gamma(2 * change.shape[1] + 8)
    err = np.abs(change) @ (y.err * (1.0 + 8.0 * U) + rounding * (y.mass + y.err) + TINY)
    settled: Array = ~change.any(axis=1) & (shift == 0.0)
    if d is not None:
        for k, v in d.blocks.items():
            blocks[k] = blocks[k] + _dot(first.weight, v) if k in blocks else _dot(first.weight, v)
        err += first.absolute @ (d.err + rounding * d.mass + TINY)
        settled &= first.zero
    blocks["c"] = blocks["c"] + shift[:, None, None]
    err += first.weight_error @ (x.mass + x.err) + second.weight_error @ (y.mass + y.err)
    own = first.bias_error + second.bias_error
    settled &= ~(first.weight_error.any(axis=1) | second.weight_error.any(axis=1) | (own != 0.0))
    err = inflate(err + (16.0 * U * np.abs(shift) + own)[:, None], 8 * change.shape[1] + 32)
    return Form(blocks, np.where(settled[:, None], 0.0, err))


def _fresh(sizes: Array, where: Array) -> Array:
    """A generator for each neuron in `where` (m, B), the k-th of a box in column k."""
    rank = where.cumsum(axis=0) - 1
    block = np.zeros((*where.shape, int(where.sum(axis=0).max(initial=0))))
    i, b = np.nonzero(where)
    block[i, b, rank[i, b]] = sizes[i, b]
    return block


def _combine(parts: list[tuple[Array, Form]], shift: Array, fresh: dict[str, Array]) -> Form:
    """Sum of coefficient (m, B) times form, plus a shift of the centre and fresh generators."""
    blocks: dict[str, Array] = {}
    size, err = np.abs(shift), np.zeros_like(shift)
    for n, (coefficient, form) in enumerate(parts):
        if n > 0 and not coefficient.any():  # the first one gives the columns
            continue
        for k, v in form.blocks.items():
            term = coefficient[:, :, None] * v
            blocks[k] = blocks[k] + term if k in blocks else term
        size, err = size + np.abs(coefficient) * form.mass, err + np.abs(coefficient) * form.err
    plain = (shift == 0.0) & np.logical_and.reduce([(c == 0.0) | (c == 1.0) | (c == -1.0) for c, _ in parts])
    plain &= np.sum([c != 0.0 for c, _ in parts], axis=0) <= 1
    blocks["c"] = blocks.get("c", np.zeros((*shift.shape, 1))) + shift[:, :, None]
    for k, v in fresh.items():
        blocks[k] = np.concatenate([blocks[k], v], axis=2) if k in blocks else v
    extra = sum((np.abs(v).sum(2) for v in fresh.values()), np.zeros_like(size))
    return Form(
        blocks, np.where(plain, err, inflate(err + 16.0 * U * (size + err) + TINY, 32)), inflate(size + extra, 32)
    )


def _relu(x: Form, y: Form, d: Form, bounds: Array) -> tuple[Form, Form, Form]:
    passed, recipes = [], []
    for form, low, high, name in ((x, bounds[0], bounds[1], "1"), (y, bounds[2], bounds[3], "2")):
        off, on = high <= 0.0, low >= 0.0
        open_ = ~off & ~on
        with np.errstate(all="ignore"):
            slope = np.where(off, 0.0, np.where(on, 1.0, np.clip(high / (high - low), 0.0, 1.0)))
        height = np.maximum(up(slope * -low), up(up(1.0 - slope) * high))  # of relu(x) - slope x, at the ends
        mu = np.where(open_, up(0.5 * height), 0.0)
        _ensure(form, d, name)
        passed.append(_combine([(slope, form)], mu, {name: _fresh(mu, open_)}))
        recipes.append((off, open_, slope, mu))
    (off1, open1, lam1, mu1), (off2, open2, lam2, mu2) = recipes
    only1, only2, own = ~off1 & off2, off1 & ~off2, open1 & open2
    both = ~off1 & ~off2 & ~own
    low, high = bounds[4], bounds[5]
    with np.errstate(all="ignore"):
        lam = np.where((low == 0.0) & (high == 0.0), 0.0, np.clip(high / (high - low), 0.0, 1.0))
    ends = [(np.where(v > 0.0, up(up(1.0 - lam) * v), up(-lam * v)), v) for v in (low, high)]
    above = np.maximum(ends[0][0], ends[1][0])  # of max(0, d) - lam d
    below = -np.maximum(*(np.where(v < 0.0, up(up(1.0 - lam) * -v), up(lam * v)) for v in (low, high)))
    middle = 0.5 * (above + below)
    size = np.where(own, np.maximum(up(above - middle), up(middle - below)), 0.0)
    keep = np.where(both, 1.0, np.where(own, lam, 0.0))
    first = np.where(only1, lam1, np.where(both, lam1 - 1.0, 0.0))
    second = np.where(only2, -lam2, np.where(both, 1.0 - lam2, 0.0))
    k1, k2 = np.where(only1 | both, mu1, 0.0), np.where(only2 | both, -mu2, 0.0)
    fresh = {"1": _fresh(k1, open1), "2": _fresh(k2, open2), "d": _fresh(size, own)}
    shift = k1 + k2 + np.where(own, middle, 0.0)
    return passed[0], passed[1], _combine([(keep, d), (first, x), (second, y)], shift, fresh)


def _ensure(form: Form, d: Form, name: str) -> None:
    """The difference keeps room for every generator of a network, so that columns stay in step."""
    if name in form.blocks and name not in d.blocks:
        d.blocks[name] = np.zeros_like(form.blocks[name])


def reach(pair: Pair, lower: Array, upper: Array, known: Known | None = None) -> Reached:
    """Propagate boxes lower <= x <= upper, (n, B); `known` bounds (of a single box) help, and may contradict."""
    centre = lower + 0.5 * (upper - lower)
    radius = up(np.maximum(up(upper - centre), up(centre - lower)))
    free = (upper > lower).any(axis=1)
    radius[~free] = 0.0
    x = Form({"c": centre[:, :, None]}, np.zeros_like(centre), inflate(np.abs(centre) + radius, 2))
    inputs = Form({**x.blocks, "e": _diagonal(radius, free)}, x.err, x.mass)
    y, d, layers = x, None, []
    for n in range(pair.depth):
        x, y, d = _affine(pair.first[n], x), _affine(pair.second[n], y), _difference(pair, n, x, y, d)
        if n == 0:
            for form, weight in ((x, pair.first[0].weight), (y, pair.second[0].weight), (d, pair.weight[0])):
                form.blocks["e"] = weight[:, None, free] * radius[free].T[None]
        bounds = np.array([b for form in (x, y, d) for b in form.bounds()])
        if known is not None:
            bounds = _meet(bounds, known.layers[n][:, :, None])
        layers.append(bounds)
        if n + 1 < pair.depth:
            layers[n] = bounds if known is not None and (bounds[0::2] > bounds[1::2]).any() else exchange(bounds)
            x, y, d = _relu(x, y, d, layers[n])
    assert d is not None
    return Reached((x, y, d, inputs), layers)


def _diagonal(radius: Array, free: Any) -> Array:
    block = np.zeros((*radius.shape, int(free.sum())))
    at = np.flatnonzero(free)
    block[at, :, np.arange(len(at))] = radius[at]
    return block
