"""From the multipliers of a contraction, as the core records them, to multipliers of the facts that the auditor knows.

The core pulls functionals back from the outputs (rust/src/bound/backward.rs): X >= alpha x, links X - Y - D = 0,
chords. Each such step adds a fact times a number. What the enclosure has generators for (the upper chords) needs no
fact. In floats, and not to be trusted: any multipliers are valid for the auditor. F functionals are rows of (F, m).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.audit.bounds import TOUCHING, Reached
from eqspec.audit.curved import Functions
from eqspec.audit.functions.relaxation import STRIP
from eqspec.audit.proof import Proof
from eqspec.audit.reading import Link, Tile
from eqspec.audit.relu import chord
from eqspec.certificates.cached_proof import NO_NEURONS, CachedProof
from eqspec.certificates.facts import (
    ABOVE_IDENTITY,
    ABOVE_LINES,
    BELOW_LINES,
    LOWER,
    POSITIVE,
    UPPER,
    Behind,
    Fact,
    FactNumbers,
)
from eqspec.lazy_dataclass import dataclass

Array = NDArray[Any]
Found = tuple[Array, Array, Array]
"""What is bounded, the facts that are used, and their multipliers (F, R), as a round of a certificate has them."""
TARGET, FIRST, SECOND, DIFFERENCE, INPUT = range(5)
IMPOSSIBLE = 2**32 - 1
WRITTEN_OUT = 1 << 16
"""A matrix of so many weights is multiplied sooner than tiles of it are gathered one by one."""


@dataclass(frozen=True)
class Cut:
    """A quantity by its number, and where it was cut; `sign` is what else tells the sign of a neuron."""

    quantity: int
    place: float
    sign: tuple[int, int, int] | None


@dataclass(frozen=True)
class Round:
    """What was bounded: kind, sign, step and index (F,), and the multipliers, of links and slopes by their steps.
    `signs` are assumed: form, step, index, whether it is positive."""

    kind: Array
    sign: Array
    step: Array
    index: Array
    guard: Array
    violation: Array
    output: Array
    sides: Array
    region: Array
    link: dict[int, Array]
    slopes: dict[int, tuple[Array, Array]]
    signs: tuple[tuple[int, int, int, bool], ...]


@dataclass(frozen=True)
class ImpossibleHalf:
    """One half of a cut (0, 1) or both (2) are impossible, shown by rounds each."""

    cut: Cut
    which: int
    shown: tuple[tuple[Round, ...], ...]


class Rounds:
    """The rounds of one contraction, read from bytes."""

    def __init__(self, proof: CachedProof, guard: int, data: bytes) -> None:
        self.pair, self.guard, self.data, self.at = proof.pair, guard, data, 0
        self.steps, self.outputs, self.region = proof.searched, proof.pair.outputs, len(proof.region.bounds)
        self.free = np.flatnonzero(proof.region.lower < proof.region.upper)

    def _numbers(self, layout: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return found

    def _array(self, kind: str, *shape: int) -> Array:
        count = int(np.prod(shape))
        found = np.frombuffer(self.data, "<" + kind, count, self.at).reshape(shape)
        self.at += found.nbytes
        return found.astype(np.float64)

    def cut(self) -> Cut:
        """A place where it was cut."""
        kind, layer, index, place = self._numbers("BIId")
        if kind == INPUT:
            return Cut(int(self.free[index]), place, None)
        step = self.steps[layer]
        start = self.pair.inputs + 3 * sum(self.pair.widths[:step])
        return Cut(start + (kind - FIRST) * self.pair.widths[step] + index, 0.0, (kind, step, index))

    def read(self, signs: tuple[tuple[int, int, int, bool], ...]) -> Iterator[Round | ImpossibleHalf]:
        """All of them, given which signs are assumed before."""
        while self.at < len(self.data) and (count := self._numbers("I")[0]):
            if count != IMPOSSIBLE:
                yield self._round(count, signs)
                continue
            cut, (which,) = self.cut(), self._numbers("B")
            shown = []
            for half in (0, 1) if which == 2 else (which,):
                rounds = []
                while inner := self._numbers("I")[0]:
                    rounds.append(self._round(inner, assumed(signs, cut, half)))
                shown.append(tuple(rounds))
            yield ImpossibleHalf(cut, which, tuple(shown))
            signs = assumed(signs, cut, 0 if which == 1 else 1)

    def _round(self, count: int, signs: tuple[tuple[int, int, int, bool], ...]) -> Round:
        bent = [step for step in self.steps[:-1] if step != NO_NEURONS]
        hidden = [self.pair.widths[step] for step in bent]
        code = self._array("u1", count)
        layer, index = (self._array("u4", count).astype(int) for _ in range(2))
        kind = (code // 2).astype(int)
        index[kind == INPUT] = self.free[index[kind == INPUT]]
        guard, violation, output, sides, region = (
            self._array("f4", count, n) for n in (self.guard, 1, self.outputs, len(signs), self.region)
        )
        links, slopes = [], []
        for m in hidden:
            links.append(self._array("i2", count, m) / 256.0)
            slopes.append((self._array("u1", count, m) / 128.0, self._array("u1", count, m) / 128.0))
        sign = np.where(code % 2 == 1, -1.0, 1.0)
        step, links_of, slopes_of = (
            np.array(self.steps)[layer],
            dict(zip(bent, links, strict=True)),
            dict(zip(bent, slopes, strict=True)),
        )
        return Round(kind, sign, step, index, guard, violation[:, 0], output, sides, region, links_of, slopes_of, signs)


def assumed(
    signs: tuple[tuple[int, int, int, bool], ...], cut: Cut, half: int
) -> tuple[tuple[int, int, int, bool], ...]:
    """The signs that are assumed on a half."""
    return (*signs, (*cut.sign, half == 1)) if cut.sign else signs


class LastLayerFacts:
    """The facts that a violation of one obligation has in the last layer, by their numbers, as the core orders them.

    `guard` are its guard's rows, `number` says which guard that is; `links` belong to the outputs, `region` to the
    constraints of the region. There are `facts` in all.
    """

    def __init__(self, proof: Proof, o: int) -> None:
        one, pair = proof.obligations[o], proof.pair
        self.outputs, self.last = pair.outputs, len(pair.steps) - 1
        behind = [Behind.of(step) for step in pair.steps]
        self.numbers = FactNumbers(pair.widths, behind, len(one.exact), len(proof.region.bounds))
        exact = _each(self.numbers.of_exact)
        low = [
            self.numbers.of(self.last, (LOWER if sign > 0 else UPPER)[kind]).start + row
            for kind, row, sign, _ in one.conditions
        ]
        self.violation, decided = low[:1], low[1:]
        self.guard = [*([] if exact and one.log_odds >= 0.0 else decided), *exact]
        self.number = (one.conditions[1][1] - self.outputs) // (self.outputs - 1) if decided else -1
        self.links = _each(self.numbers.of(self.last, Fact.LINK))[: self.outputs]
        self.region = _each(self.numbers.of_region)
        self.facts = self.numbers.of_region.stop
        self.rows = [row for _, row, *_ in one.conditions[1:]]

    def functionals(self, facts: Array) -> Array:
        """What multipliers (F, facts) of the last layer's facts add to x, y and d of its rows, negative (F, 3 R)."""
        low, high = (
            np.concatenate([facts[:, self.numbers.of(self.last, fact)] for fact in several], axis=1)
            for several in (LOWER, UPPER)
        )
        links = facts[:, self.numbers.of(self.last, Fact.LINK)]
        found: Array = low - high + np.concatenate([links, -links, -links], axis=1)
        for row, number in zip(self.rows, _each(self.numbers.of_exact), strict=False):
            found[:, row] += facts[:, number]
        return -found


def _each(numbers: slice) -> list[int]:
    return list(range(numbers.start, numbers.stop))


def on_facts(proof: Proof, reached: Reached, end: LastLayerFacts, f: Round) -> Found:
    """What a round bounds, the facts that it uses, and their multipliers, as the auditor reads them."""
    pair, count = proof.pair, len(f.kind)
    facts = np.zeros((count, end.facts))
    facts[:, end.links], facts[:, end.guard], facts[:, end.region] = -f.output, f.guard, f.region
    facts[:, end.violation] += np.where(f.kind == TARGET, 1.0, f.violation)[:, None]
    functionals = {number: np.zeros((count, 3 * step.width)) for number, step in enumerate(pair.steps)}
    functionals[end.last] = end.functionals(facts)
    for number, step in reversed(list(enumerate(pair.steps))):
        functional = functionals.pop(number)
        if step.curved:
            functional = _through_curves(reached, facts, f, functional, number, end.numbers)
        elif step.curves:
            functional = _through(reached, facts, f, functional, number, end.numbers)
        for link in step.links:
            if link.source in functionals:
                _pull(link, functional, step.width, functionals[link.source], pair.widths[link.source])
    start = pair.inputs + 3 * np.cumsum([0, *pair.widths])[:-1]
    place = np.where(f.kind == INPUT, 0, start[f.step] + (f.kind - FIRST) * np.array(pair.widths)[f.step])
    wanted = np.where(f.kind == TARGET, 0, f.sign * (1 + place + f.index)).astype(np.int32)
    used = np.flatnonzero(facts.any(axis=0))
    return wanted, used.astype(np.int32), facts[:, used]


def _pull(link: Link, functional: Array, width: int, below: Array, read: int) -> None:
    """What functionals (F, 3 m) of a step are of the source of a link, added to those of it (F, 3 n)."""
    for start, to in link.pairs:
        for tile in link.tiles:
            if tile.index.shape[:2] == (1, 1):  # a matrix, whose columns are different ones
                some = np.flatnonzero(tile.index[0, 0] >= 0)
                back = functional[:, tile.rows[0, :, 0] + to * width] @ tile.near[0][:, some]
                below[:, start * read + tile.index[0, 0, some]] += back
                continue
            if width * read <= WRITTEN_OUT:
                part = below[:, start * read : (start + 1) * read]
                part += functional[:, to * width : (to + 1) * width] @ _matrix(tile, width, read)
                continue
            back = np.swapaxes(functional[:, tile.rows + to * width], 2, 3) @ tile.near  # (F, g, p, k)
            for tap in range(tile.index.shape[2]):
                for group, index in enumerate(tile.index[..., tap]):
                    some = np.flatnonzero(index >= 0)  # rows of one tap and group are different ones, mostly
                    np.add.at(below.T, start * read + index[some], back[:, group, some, tap].T)


def _matrix(tile: Tile, width: int, read: int) -> Array:
    """The weights of a tile (m, n), written out."""
    found = np.zeros((width, read + 1))  # the last column is that of an index of -1
    np.add.at(found, (tile.rows[..., None], tile.index[:, None]), tile.near[:, :, None])
    return found[:, :read]


def _through(reached: Reached, facts: Array, f: Round, functional: Array, h: int, numbers: FactNumbers) -> Array:
    """Functionals of X, Y and D as functionals of x, y and d; which facts that took is written into `facts`."""
    (p, q, s), (alpha1, alpha2), m = np.split(functional, 3, axis=1), f.slopes[h], numbers.widths[h]
    low, high = (v[reached.parts[h], 0].reshape(3, m) for v in (reached.low, reached.high))
    off, on = high[:2] <= 0.0, (low[:2] >= 0.0) & (high[:2] > 0.0)
    open_ = ~off & ~on
    own = open_[0] & open_[1]
    keep = own | (on[0] & on[1])
    link = np.where(keep, f.link[h], s)  # what is folded is linked with all of it
    p, q, s = np.where(off[0], 0.0, p + link), np.where(off[1], 0.0, q - link), s - link
    facts[:, numbers.of(h, Fact.LINK)] = -link
    facts[:, numbers.of(h, Fact.DIFFERENCE_ABOVE_CHORD)] = np.where(own, np.maximum(s, 0.0), 0.0)
    slope = np.where(on, 1.0, chord(low[:2], high[:2], open_))
    passed = []
    for k, (value, alpha) in enumerate(((p, alpha1), (q, alpha2))):
        taken = np.where(open_[k], np.maximum(value, 0.0), 0.0)
        facts[:, numbers.of(h, POSITIVE[k])] = taken * (1.0 - alpha)
        facts[:, numbers.of(h, ABOVE_IDENTITY[k])] = taken * alpha
        passed.append(value * np.where(value < 0.0, slope[k], np.where(on[k], 1.0, open_[k] * alpha)))
    rising, falling = chord(low[2], high[2], own, 0.0), chord(-high[2], -low[2], own, 0.0)
    passed.append(s * np.where(own, np.where(s < 0.0, rising, falling), 1.0))
    return _here(facts, f, passed, h, numbers)


def _through_curves(reached: Reached, facts: Array, f: Round, functional: Array, h: int, numbers: FactNumbers) -> Array:
    """The same of a step with other functions: lines below and above X and Y, blended, and one on either side of D.

    Between the lines of both ends is that of the strip, which has a generator in the enclosure, and needs no fact.
    """
    (p, q, s), m = np.split(functional, 3, axis=1), numbers.widths[h]
    low, high = (v[reached.parts[h], 0].reshape(3, m, 1) for v in (reached.low, reached.high))
    functions, passed = Functions.of(reached.pair.steps[h]), []
    strips = functions.chosen(low[:2], high[:2])[STRIP, :, :, 0]
    steep = dict(zip(TOUCHING, -reached.stated(h)[0][:3].sum(0), strict=False))  # further facts have no lines
    fixed = (low[:2] == high[:2]).any(axis=0)[:, 0]
    link = np.where(fixed, s, f.link[h])  # what is folded is linked with all of it

    def taken(fact: Fact, value: Array) -> Array:
        """So much of a fact, and what it adds to the functional of x, y or d."""
        multipliers = np.maximum(value, 0.0)
        facts[:, numbers.of(h, fact)] = multipliers
        return np.asarray(multipliers * steep[fact.value])

    facts[:, numbers.of(h, Fact.LINK)] = -link
    for k, (value, alpha) in enumerate(zip((p + link, q - link), f.slopes[h], strict=True)):
        shares = np.maximum(1.0 - 2.0 * alpha, 0.0), np.maximum(2.0 * alpha - 1.0, 0.0)
        total = value * (1.0 - shares[0] - shares[1]) * strips[k]
        for share, above, below in zip(shares, ABOVE_LINES[k], BELOW_LINES[k], strict=True):
            total = total + taken(above, value * share) + taken(below, -value * share)
        passed.append(total)
    s = s - link
    passed.append(taken(Fact.DIFFERENCE_ABOVE_LINE, s) + taken(Fact.DIFFERENCE_BELOW_LINE, -s))
    return _here(facts, f, passed, h, numbers)


def _here(facts: Array, f: Round, passed: list[Array], h: int, numbers: FactNumbers) -> Array:
    """What the signs that are assumed, and the quantities that are bounded, add at a step."""
    for k, (form, step, index, positive) in enumerate(f.signs):
        if step == h:
            bound = (LOWER if positive else UPPER)[form - FIRST]
            facts[:, numbers.of(h, bound).start + index] += f.sides[:, k]
            passed[form - FIRST][:, index] -= (1.0 if positive else -1.0) * f.sides[:, k]
    here = (f.step == h) & (f.kind != TARGET) & (f.kind != INPUT)
    for k, kind in enumerate((FIRST, SECOND, DIFFERENCE)):
        rows = np.flatnonzero(here & (f.kind == kind))
        passed[k][rows, f.index[rows]] += f.sign[rows]
    return np.concatenate(passed, axis=1)
