"""Everything that bounds a quantity on boxes: propagation, and facts added up with multipliers.

Two networks run in step: x in f1, y in f2 and d = x - y of every row. Quantities are numbered: the n inputs, then
per step all x, all y, all d, the last step being the rows of the claim. What is known of them are bounds low, high
(Q, B), which propagation takes up and returns improved.

What is behind a ReLU is in `relu`, behind other functions in `curved`; `alone` bounds each network by itself.

On one box the forms obey facts F >= 0 (or = 0), and for any multipliers M >= 0 (any sign where F = 0)
h >= h - M F, a form again, whose lower bound bounds h. They are numbered as `Reached.facts` lists them. Of an exact
confidence the rows z_k - z_l - t >= 0 hold with more than that: with weights lam their sum is at least |lam| times the
entropy of lam / |lam|.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from .alone import Alone, Chains
from .claim import Obligation, Region
from .curved import Functions, curved, lines
from .forms import Form, Known, box, combine, join, product, through
from .functions.confidence import entropy
from .reading import INPUTS, Pair
from .relu import below, chord, relu
from .rounding import Array, Refused, sum_up, up


class Reached:
    """Boxes low, high (Q, B), propagated: bounds of all quantities, and which boxes (B,) hold nothing.

    Forms are kept for facts, unless only bounds are asked for; then they go when no step reads them any more, all but
    the last one. `spans` has how many columns the forms behind each step have.
    """

    def __init__(
        self, pair: Pair, low: Array, high: Array, bounds_alone: bool = False, chains: Chains = ((), ())
    ) -> None:
        self.pair, self.low, self.high, n, boxes = pair, low.copy(), high.copy(), pair.inputs, low.shape[1]
        inputs = box(low[:n], high[:n])
        self.after = {INPUTS: Known([inputs] * 3, np.arange(n))}  # behind a ReLU not of rows that are 0 on all boxes
        self.before: dict[int, Known] = {}
        self._stated: dict[int, tuple[Array, Array]] = {}
        self.parts = [slice(n + 3 * a, n + 3 * b) for a, b in pairwise(accumulate(pair.widths, initial=0))]
        within, self.spans = [inputs.within] * 3, list[int]()
        alone = [Alone(chain, self.low[:n], self.high[:n]) for chain in chains]
        last = {source: number for number, step in enumerate(pair.steps) for source in step.sources}
        for number, (step, part) in enumerate(zip(pair.steps, self.parts, strict=True)):
            m, forms, known = step.width, through(step, self.after, boxes), np.array([self.low[part], self.high[part]])
            every = [known.reshape(2, 3, m, boxes), np.stack([form.bounds() for form in forms], 1)]
            if number == len(self.parts) - 1:  # the claim may be clear from x - y where it is not from d
                others, none = np.broadcast_to(OTHERS, (3, 3, m, boxes)), np.zeros((m, boxes))
                every.append(np.stack([combine(one, forms, none).bounds() for one in others], 1))
            least, most = np.max([ends[0] for ends in every], axis=0), np.min([ends[1] for ends in every], axis=0)
            for k, network in enumerate(alone if number < len(chains[0]) else ()):
                least[k], most[k] = network.tightened(least[k], most[k])
            least, most = exchange(least, most)
            for k, network in enumerate(alone if number < len(chains[0]) else ()):
                network.take(least[k], most[k])
            self.low[part], self.high[part] = least.reshape(-1, boxes), most.reshape(-1, boxes)
            self.before[number] = self.after[number] = Known(forms, np.arange(m))
            if step.curved:
                self.after[number] = curved(self.before[number], least, most, within, Functions.of(step))
            elif step.curves:
                some, place = np.flatnonzero(~(most[:2] <= 0.0).all((0, 2))), np.full(m, -1)
                place[some] = np.arange(len(some))
                read = Known([form[some] for form in forms], place)
                self.after[number] = relu(read, least[:, some], most[:, some], within, bounds_alone)
            within = [form.within for form in self.after[number].forms] if step.curves else within
            self.spans.append(within[-1][-1][0].stop)
            if bounds_alone and number < len(self.parts) - 1:
                del self.before[number]
                self.after = {n: form for n, form in self.after.items() if last.get(n, -1) > number}
        self.wide, self.empty = within[-1][-1][0].stop, np.asarray((self.low > self.high).any(axis=0))

    def last(self) -> tuple[Array, Array]:
        """Bounds (3, R, B) of the rows of the claim."""
        low, high = (ends[self.parts[-1]].reshape(3, -1, ends.shape[1]) for ends in (self.low, self.high))
        return low, high

    def quantities(self, which: Array) -> Form:
        """The forms of these."""
        found, order = [], np.argsort(which, kind="stable")
        steps = [(slice(0, self.pair.inputs), self.after[INPUTS]), *zip(self.parts, self.before.values(), strict=True)]
        for part, known in steps:
            some = which[(which >= part.start) & (which < part.stop)] - part.start
            found += [known.rows(np.sort(some))] if len(some) else []
        back = np.empty(len(order), int)
        back[order] = np.arange(len(order))
        return join([*found, self.after[INPUTS].forms[0][:0]])[back]

    def facts(self, failing: Obligation, region: Region, rows: Array) -> tuple[Form, Array]:
        """What holds on one box, the facts of these numbers, and which of them are = 0 (1), or of a confidence (2).

        Per step of m rows, m each of `FACTS` where ReLU follows, of `CURVED` where others do, else of `AFFINE`. Then
        the rows of an exact confidence, then b - A x of the region.
        """
        inputs, count, found, kinds = self.after[INPUTS].forms[0], 0, [self.after[INPUTS].forms[0][:0]], list[Array]()
        for number, step in enumerate(self.pair.steps):
            every = (CURVED if step.curved else FACTS if step.curves else AFFINE).values()
            here = rows[(rows >= count) & (rows < count + len(every) * step.width)] - count
            count += len(every) * step.width
            if len(here):
                fact, row = np.divmod(here, step.width)
                table = np.array(list(every), float)
                used = np.argsort(table == 0.0, axis=1, kind="stable")[:, :3]
                used = np.where(np.take_along_axis(table, used, 1) == 0.0, -1, used)[fact].T
                factors, constants = self.stated(number)
                forms = self._functions(number, used.ravel(), np.tile(row, 3))
                chosen = np.where(used < 0, 0.0, factors[used, fact, row])
                parts = [forms[k : k + len(row)] for k in range(0, 3 * len(row), len(row))]
                found.append(combine(chosen[..., None], parts, constants[fact, row, None]))
                kinds.append((fact == len(every) - 1).astype(int))
        exact = self.before[len(self.parts) - 1].rows(np.array(failing.exact, int))
        odds = np.full((len(exact.z), 1), -failing.log_odds if failing.exact else 0.0)
        more = [combine(np.ones((1, len(exact.z), 1)), [exact], odds)]
        more.append(product(-region.rows, inputs, region.bounds[:, None]))
        here = rows[rows >= count] - count
        found.append(join(more)[here])
        kinds.append(np.repeat([2, 0], [len(exact.z), len(region.rows)])[here])
        return join(found), np.concatenate(kinds)

    def stated(self, number: int) -> tuple[Array, Array]:
        """All facts of a step on one box: factors of x, y, d, X, Y and D (6, T, m), and constants (T, m).

        They are those of the box as it was when they were first asked for, and hold on any part of it.
        """
        if number not in self._stated:
            step, part = self.pair.steps[number], self.parts[number]
            low, high = (ends[part, :1].reshape(3, -1, 1) for ends in (self.low, self.high))
            table = CURVED if step.curved else FACTS if step.curves else AFFINE
            factors = np.tile(np.array(list(table.values()), float).T[..., None], step.width)
            constants = np.zeros(factors.shape[1:])
            constants[-7:-1] = np.concatenate([-low, high])[..., 0]
            if step.curved:
                sign, (steep, offset) = factors[3:, : len(TOUCHING)].sum(0), lines(Functions.of(step), low, high)
                factors[:3, : len(TOUCHING)] *= steep
                constants[: len(TOUCHING)] = -sign * offset
            elif step.curves:
                slope = chord(-high[2], -low[2], low[2] < high[2], 0.0)
                factors[2, CHORD] = -slope[:, 0]
                constants[CHORD] = -below(slope, low[2], high[2])[:, 0]
            self._stated[number] = factors, constants
        return self._stated[number]

    def _functions(self, number: int, which: Array, row: Array) -> Form:
        """The forms of x, y, d, X, Y or D (0 to 5) of rows of a step; of -1 it is 0."""
        known, width = (self.before[number], self.after[number]), self.pair.steps[number].width
        forms = Form(np.zeros((len(which), 1, known[1].form.z.shape[2])), np.zeros((len(which), 1)))
        for k, one in enumerate(known):
            some = np.flatnonzero(which // 3 == k)
            part = one.rows(which[some] % 3 * width + row[some])
            forms.z[some, :, : part.z.shape[2]], forms.err[some] = part.z, part.err
        return forms

    def least(self, wanted: Array, rows: Array, multipliers: Array, failing: Obligation, region: Region) -> Array:
        """Lower bounds (F,) of quantities, numbered from 1 and negative for their negatives, 0 for the number 0.

        `rows` (R,) are the facts that are used, in order, `multipliers` (F, R).
        """
        if rows.min(initial=0) < 0 or (np.diff(rows) <= 0).any() or not np.isfinite(multipliers).all():
            raise Refused("multipliers of nothing, or of one thing twice, or out of order, or not finite")
        facts, kinds = self.facts(failing, region, rows)
        if (multipliers[:, kinds != 1] < 0.0).any():
            raise Refused("a multiplier is negative")
        matrix = np.concatenate([np.diag(np.sign(wanted)), -multipliers], axis=1)
        low = product(matrix, join([self.quantities(np.maximum(np.abs(wanted) - 1, 0)), facts])).bounds()[0][:, 0]
        lam = multipliers[:, kinds == 2]
        return low if lam.shape[1] == 0 else np.asarray(-up(-(low + entropy(lam))))


OTHERS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -1.0, 0.0]])[:, :, None, None]
"""x = y + d, y = x - d and d = x - y, which as forms are others."""
FACTS = {"X": (0, 0, 0, 1, 0, 0), "Y": (0, 0, 0, 0, 1, 0), "X - x": (-1, 0, 0, 1, 0, 0), "Y - y": (0, -1, 0, 0, 1, 0),
    "D - chord": (0, 0, -1, 0, 0, 1), "x - low": (1, 0, 0, 0, 0, 0), "y - low": (0, 1, 0, 0, 0, 0),
    "d - low": (0, 0, 1, 0, 0, 0), "high - x": (-1, 0, 0, 0, 0, 0), "high - y": (0, -1, 0, 0, 0, 0),
    "high - d": (0, 0, -1, 0, 0, 0), "X - Y - D": (0, 0, 0, 1, -1, -1)}  # fmt: skip
"""The facts of each neuron, in the order of their numbers, with the factors of x, y, d, X, Y and D in them.

All are >= 0, and X - Y - D is 0. Here the chord of min(0, d) lacks its slope, and low and high, the bounds of x, y and
d, are left out: they depend on the box.
"""
LOWER, CHORD = list(FACTS).index("x - low"), list(FACTS).index("D - chord")
AFFINE = dict(list(FACTS.items())[LOWER:])
"""The facts of a step without a function."""
TOUCHING = {"X - left": (-1, 0, 0, 1, 0, 0), "X - right": (-1, 0, 0, 1, 0, 0), "left - X": (1, 0, 0, -1, 0, 0),
    "right - X": (1, 0, 0, -1, 0, 0), "Y - left": (0, -1, 0, 0, 1, 0), "Y - right": (0, -1, 0, 0, 1, 0),
    "left - Y": (0, 1, 0, 0, -1, 0), "right - Y": (0, 1, 0, 0, -1, 0), "D - below": (0, 0, -1, 0, 0, 1),
    "above - D": (0, 0, 1, 0, 0, -1)}  # fmt: skip
CURVED = {**TOUCHING, **AFFINE}
"""The facts of a step with other functions than ReLU: lines of `curved`, whose slopes and constants are left out."""


def exchange(low: Array, high: Array) -> tuple[Array, Array]:
    """x = y + d, y = x - d, d = x - y on bounds (3, m, B). Where they contradict each other, low > high."""
    ends = np.array([-low, high])
    for i, j, k, sign in ((0, 1, 2, 1), (1, 0, 2, -1), (2, 0, 1, -1)):  # i = j + sign k, whose other end -k has
        ends[:, i] = np.minimum(ends[:, i], sum_up(ends[:, j], ends[::sign, k]))
    return -ends[0], ends[1]
