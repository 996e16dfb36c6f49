"""Answers `find smallest eps in 1e-4 .. 1 to 1e-3`: how far the claim can be proved, and from where it is refuted.

Truth is monotone in the variable: what holds at one value holds at every easier one, and what breaks at one breaks
at every harder one. What can be proved in a given time is not, so an undecided value moves neither end of the
bracket.

Both ends come first. Then the middle of the widest open gap is tried, with a share of the time that is left, and values
that stayed undecided again with more. An input that breaks the claim at one value is replayed at easier ones before
anything is searched there: that costs two exact evaluations and usually closes most of the gap from one side.
"""

from __future__ import annotations

import math
from fractions import Fraction

from eqspec.run.value_search import PATIENCE, ValueSearch, time_spent
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict
from eqspec.tasks.witness import Witness

_FIRST_SHARE = 0.2
"""The share of the time for each end of the range. Most ends are decided quickly."""


class Bisection:
    """One search under way. Values are compared along the way from the easy end to the hard one."""

    def __init__(self, values: ValueSearch) -> None:
        self._values, self._search = values, values.search
        self._proved: Fraction | None = None
        self._refuted: Fraction | None = None
        self._witness: Witness | None = None
        self._undecided: dict[Fraction, float] = {}

    def run(self) -> Result:
        """Try both ends of the range, then the gaps between, as long as there is time and something left to try."""
        for end in (self._search.hard, self._search.easy):
            if self._goes_on():
                self._try(end, _FIRST_SHARE * self._values.time_left)
        while self._goes_on() and (chosen := self._next()) is not None:
            self._try(*chosen)
        reason = None if self._closed() else self._values.why_open(out_of_time=self._values.time_left <= 0)
        return self._values.result(self._proved, self._refuted, self._witness, reason)

    def _goes_on(self) -> bool:
        return not self._closed() and not self._values.interrupted and self._values.time_left > 0

    def _try(self, value: Fraction, seconds: float) -> None:
        result = self._values.run(value, seconds)
        match result.verdict:
            case Verdict.EQUIVALENT:
                if self._proved is None or self._harder(value, self._proved):
                    self._proved = value
            case Verdict.DIFFERENT:
                self._refute(value, result.witness)
            case Verdict.UNKNOWN:
                self._undecided[value] = self._undecided.get(value, 0.0) + time_spent(result)
        self._undecided = {v: s for v, s in self._undecided.items() if self._is_open(v)}

    def _refute(self, value: Fraction, witness: Witness | None) -> None:
        """The value, and every easier one down to where the same input no longer breaks the claim."""
        self._refuted, self._witness = value, witness
        if witness is None or value == self._search.easy:
            return
        easiest = self._proved
        if easiest is None:
            easiest = self._search.easy
            if self._breaks(easiest, witness):
                return
        while not self._near(easiest, self._refuted, finer=4):
            middle = between(easiest, self._refuted)
            if not self._breaks(middle, witness):
                easiest = middle

    def _breaks(self, value: Fraction, witness: Witness) -> bool:
        """Whether a known input breaks the claim at an easier value, which is then refuted."""
        again = self._values.replayed(value, witness)
        if again is None:
            return False
        self._refuted, self._witness = value, again
        return True

    def _next(self) -> tuple[Fraction, float] | None:
        """What to try and for how long: the middle of an open gap, else an undecided value with more time.

        What lies between two undecided values can wait: it moves an end only after one of them.
        """
        marks = sorted(self._undecided, reverse=self._search.easy > self._search.hard)
        outer = [(self._proved, marks[0]), (marks[-1], self._refuted)] if marks else [(self._proved, self._refuted)]
        gaps = [(a, b) for a, b in outer if a is not None and b is not None and not self._near(a, b)]
        left = self._values.time_left
        if gaps:
            a, b = max(gaps, key=lambda gap: self._steps(*gap))
            return between(a, b), max(left / (self._steps(a, b) + 1), min(left, 1.0))
        for mark in marks:
            if left >= (least := PATIENCE * self._undecided[mark]):
                return mark, left if len(marks) == 1 else max(least, left / 2)
        return None

    def _harder(self, a: Fraction, b: Fraction) -> bool:
        """Whether the claim says more at a than at b."""
        return a > b if self._search.hard > self._search.easy else a < b

    def _is_open(self, value: Fraction) -> bool:
        return (self._proved is None or self._harder(value, self._proved)) and (
            self._refuted is None or self._harder(self._refuted, value)
        )

    def _near(self, a: Fraction, b: Fraction, finer: int = 1) -> bool:
        """Whether two values are as close as the user wishes."""
        return abs(a - b) * finer <= self._width(a, b)

    def _width(self, a: Fraction, b: Fraction) -> Fraction:
        """The width of the bracket that the user wishes for; by default one hundredth of its values."""
        search = self._search
        return search.width or max(max(abs(a), abs(b)) / 100, (search.high - search.low) / 10_000)

    def _closed(self) -> bool:
        if self._proved == self._search.hard or self._refuted == self._search.easy:
            return True
        return self._proved is not None and self._refuted is not None and self._near(self._proved, self._refuted)

    def _steps(self, a: Fraction, b: Fraction) -> int:
        """Bisections until the gap is closed."""
        return max(1, math.ceil(math.log2(float(abs(a - b) / self._width(a, b)))))


def _far(a: Fraction, b: Fraction) -> bool:
    return max(a, b) > 4 * min(a, b)


def between(a: Fraction, b: Fraction) -> Fraction:
    """A short decimal near the middle of two values: of their logarithms if both are positive and far apart."""
    low, high = min(a, b), max(a, b)
    if low > 0 and _far(low, high):
        middle = Fraction(math.exp((math.log(low) + math.log(high)) / 2))
    else:
        middle = (low + high) / 2
    step = Fraction(10) ** math.floor(math.log10(high - low))
    while True:
        short = round(middle / step) * step
        margin = min(middle - low, high - middle) / 2
        if abs(short - middle) <= margin:
            return short
        step /= 10
