"""Everything that bounds a quantity on boxes: propagation, and facts added up with multipliers.

Quantities are numbered: the n inputs, then per layer x, y and d of every neuron, the outputs being the last layer. What
is known of them are bounds low, high (Q, B), which propagation takes up and returns improved.

On one box the forms obey facts F >= 0 (or = 0), and for any multipliers M >= 0 (any sign where F = 0)
h >= h - M F, a form again, whose lower bound bounds h. Numbered, per layer before a ReLU, of m each: X, Y, X - x,
Y - y, D - (chord of min(0, d)), what x, y and d exceed their lower bounds by, what they are below their upper bounds
by, and X - Y - D = 0; then f1 - f2 - (f1 - f2) = 0; then, if an obligation is assumed to fail, its guard's rows and its
violation; then b - A x of the region. Of an exact confidence the rows z_k - z_l - t >= 0 hold with more than that: with
weights lam their sum is at least |lam| times the entropy of lam / |lam|.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .claim import Guard, Obligation, Region
from .forms import Form, Pair, affine, below, chord, exchange, join, product, relu
from .rounding import MORE, Array, Refused, U, gamma, ln, up


class Reached:
    """Boxes low, high (Q, B), propagated: bounds of all quantities, and which boxes (B,) hold nothing."""

    def __init__(self, pair: Pair, low: Array, high: Array) -> None:
        self.low, self.high, n = low.copy(), high.copy(), pair.inputs
        centre = low[:n] + 0.5 * (high[:n] - low[:n])
        free = np.flatnonzero((high[:n] > low[:n]).any(axis=1))
        z = np.zeros((*centre.shape, 1 + len(free)))
        z[:, :, 0] = centre
        z[free, :, 1 + np.arange(len(free))] = up(np.maximum(up(high[:n] - centre), up(centre - low[:n])))[free]
        self.inputs = Form(z, np.zeros(centre.shape))
        forms = (self.inputs, self.inputs, Form(np.zeros_like(z), np.zeros(centre.shape)))
        self.before: list[tuple[Form, Form, Form]] = []
        self.after: list[tuple[Form, Form, Form]] = []
        self.parts: list[slice] = []
        for w1, w2, m in zip(pair.first, pair.second, pair.widths, strict=True):
            forms = affine(w1, w2, *forms)
            part = slice(n, n := n + 3 * m)
            found = np.array([form.bounds() for form in forms])
            shape = found[:, 0].shape
            least = np.maximum(low[part].reshape(shape), found[:, 0])
            least, most = exchange(least, np.minimum(high[part].reshape(shape), found[:, 1]))
            self.low[part], self.high[part] = least.reshape(3 * m, -1), most.reshape(3 * m, -1)
            self.parts.append(part)
            self.before = [*self.before, forms] if low.shape[1] == 1 else [forms]
            if n < len(low):
                forms = relu(forms, least, most)
                self.after = [*self.after, forms] if low.shape[1] == 1 else []
        self.outputs = join(forms)
        gamma(self.outputs.z.shape[2])  # or there are too many to sum up
        self.empty = np.asarray((self.low > self.high).any(axis=0))

    def most(self, rows: Array, constants: Array) -> Array:
        """Upper bounds (N, B) of rows (N, 3 O) over f1, f2 and f1 - f2, plus constants (N,)."""
        return product(rows, self.outputs).plus(constants[:, None]).bounds()[1]

    @cached_property
    def quantities(self) -> Form:
        """Nothing, then all quantities, on one box."""
        count = self.outputs.z.shape[2] - 1
        forms = [self.inputs[:1] - self.inputs[:1], self.inputs, *(f for forms in self.before for f in forms)]
        return join([form.wide(count) for form in forms])

    @cached_property
    def facts(self) -> tuple[Form, Array]:
        """What holds on one box, and where it is = 0."""
        count, forms, equal = self.outputs.z.shape[2] - 1, [], []
        for before, part, after in zip(self.before, self.parts, self.after, strict=False):
            x, y, d, x1, y1, d1 = (f.wide(count) for f in (*before, *after))
            low, high, every = self.low[part], self.high[part], join([x, y, d])
            least, most = (v.reshape(3, -1, 1)[2] for v in (low, high))
            slope = chord(-most, -least, least < most, 0.0)
            lower = d1 - d.times(slope).plus(below(slope, least, most))
            forms += [x1, y1, x1 - x, y1 - y, lower, every.plus(-low), (-every).plus(high), x1 - y1 - d1]
            equal += [np.zeros(11 * len(x.z), bool), np.ones(len(x.z), bool)]
        x, y, d = self.before[-1]
        return join([*forms, x - y - d]), np.concatenate([*equal, np.ones(len(x.z), bool)])

    def least(
        self, wanted: Array, rows: Array, multipliers: Array, failing: Obligation, guard: Guard | None, region: Region
    ) -> Array:
        """Lower bounds (F,) of quantities, numbered from 1 and negative for their negatives, 0 for the number 0.

        `rows` (R,) are the facts that are used, `multipliers` (F, R).
        """
        facts, equal = self.facts
        writing = failing.writings[:1]
        guards = guard.rows if guard is not None else writing[:0, : writing.shape[1] // 3]
        about = np.concatenate([np.pad(guards, ((0, 0), (0, 2 * guards.shape[1]))), writing])
        constants = np.append(guard.constants if guard is not None else [], failing.constant)
        more = [product(about, self.outputs).plus(constants[:, None])]
        if len(region.rows):
            inputs = self.inputs.wide(self.outputs.z.shape[2] - 1)
            more.append((-product(region.rows, inputs)).plus(region.bounds[:, None]))
        every = join([facts, *more])
        equal = np.concatenate([equal, np.zeros(len(every.z) - len(equal), bool)])
        if len(set(rows.tolist())) != len(rows) or rows.min(initial=0) < 0 or not np.isfinite(multipliers).all():
            raise Refused("multipliers of nothing, or of one thing twice, or not finite")
        if (multipliers[:, ~equal[rows]] < 0.0).any():
            raise Refused("a multiplier is negative")
        quantity = self.quantities[np.abs(wanted)].times(np.where(wanted < 0, -1.0, 1.0)[:, None])
        low = (quantity + product(-multipliers, every[rows])).bounds()[0][:, 0]
        exact = guard.exact if guard is not None else slice(0, 0)
        lam = multipliers[:, (rows >= len(facts.z) + exact.start) & (rows < len(facts.z) + exact.stop)]
        return low if lam.shape[1] == 0 else np.asarray(-up(-(low + _entropy(lam))))


def _entropy(lam: Array) -> Array:
    """At most - sum lam ln (lam / |lam|), (F,); terms that are left out are not negative."""
    total, used = lam.sum(1, keepdims=True), lam > 1e-290
    value, off = ln(np.where(used, lam / np.where(total > 0.0, total, 1.0), 1.0))
    lam = np.where(used, lam, 0.0)
    gain, lost = (lam * -value).sum(1), (lam * (off + 8.0 * U * (lam.shape[1] + 8) * (1.0 + np.abs(value)))).sum(1)
    return np.asarray(-up(-(gain - up(lost * MORE))))


def distance(failing: Obligation, low: Array, high: Array) -> Array:
    """An upper bound (B,) of a norm of f1 - f2, plus the constant."""
    sizes = np.maximum(-low, high)[list(failing.outputs)]
    total = (
        sizes.max(0) if failing.norm == "linf" else up((sizes if failing.norm == "l1" else sizes * sizes).sum(0) * MORE)
    )
    return np.asarray(up((up(np.sqrt(total)) if failing.norm == "l2" else total) + failing.constant))
