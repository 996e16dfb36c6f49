"""Decides a claim about two tiny networks on a region, exactly, by looking at every linear piece.

Shapes: I inputs, O outputs; f is the reference, g the candidate. The region is a box with linear constraints, all
rational; a strict constraint counts as strict. How each claim is decided on one piece, where f and g are affine:

* a distance is a convex function of x, so it is greatest at a vertex, in every norm; a linear claim likewise;
* Top-1 and margin: the inputs where f decides for k (by the margin) form a polytope again, and a lead g_j - g_k > 0
  occurs on it iff it occurs at a vertex;
* confidence: on the polytope where f decides for k and g_j >= g_k the greatest confidence is found by cutting planes
  (`softmax`). If g_j > g_k occurs there at all, the points where it does are dense, so the claim breaks for every
  confidence below the greatest and holds for every one above.

A region with strict constraints is dense in its closure wherever some point of a polytope satisfies each of them
strictly (an average of such points satisfies all), and is missed entirely otherwise; so a polytope counts or not.
Everything but the softmax is integer arithmetic: there is no tolerance, and equality means equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import log

from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Norm, Property, Top1
from eqspec.tasks.task import LinearConstraint
from oracle.pieces import Layers, Piece, pieces
from oracle.polytope import Point, Polytope, Row, coordinates, multiply, whole
from oracle.softmax import Summit

BORDER = 1e-7
"""A confidence whose log odds are this close to the greatest is not decided."""


@dataclass(frozen=True)
class Maximum:
    """The greatest value (the least upper bound where constraints are strict) and a point where it is attained."""

    value: Fraction
    point: tuple[Fraction, ...]


class Oracle:
    """All linear pieces of a pair on a region, and what follows from them."""

    def __init__(
        self,
        reference: Layers,
        candidate: Layers,
        lower: Sequence[Fraction],
        upper: Sequence[Fraction],
        constraints: Sequence[LinearConstraint] = (),
        *,
        lowest_wins: bool = False,
    ) -> None:
        rows = [whole([*(-a for a in c.coefficients), c.bound])[0] for c in constraints]
        self._strict = [row for row, constraint in zip(rows, constraints, strict=True) if constraint.strict]
        region = Polytope.box(lower, upper)
        for row in rows:
            region = region.cut(row)
        self._sign = -1 if lowest_wins else 1
        self.outputs = len(reference[-1][1])
        self.pieces = [piece for piece in pieces(region, reference, candidate) if self._counts(piece.polytope)]

    def shifted(self, reference: Sequence[Fraction], candidate: Sequence[Fraction]) -> Oracle:
        """The same pair with these numbers (O,) added to its outputs."""
        other = copy(self)
        for name in ("greatest_margin", "summit", "_disagreements"):
            other.__dict__.pop(name, None)
        other.pieces = [piece.shifted(reference, candidate) for piece in self.pieces]
        return other

    def _counts(self, polytope: Polytope) -> bool:
        return bool(polytope) and all(any(multiply(row, p) > 0 for p in polytope.points) for row in self._strict)

    def breaks(self, claim: Property) -> bool | None:
        """Whether some input of the region breaks the claim; None if it is a matter of the last digits of a softmax."""
        match claim:
            case Epsilon(eps, norm, chosen):
                greatest = self.greatest_distance(norm, chosen)
                limit = Fraction(eps) ** (2 if norm == "l2" else 1)
                return greatest is not None and greatest.value > limit
            case Linear(a, b, bound, strict):
                return self._breaks_linear(_fractions(a), _fractions(b), Fraction(bound), strict=strict)
            case Top1():
                return self._has_lead(Fraction(0))
            case Margin(margin):
                return self._has_lead(Fraction(margin))
            case Confidence(delta):
                delta = Fraction(delta)
                return self._has_lead(Fraction(0)) if delta * self.outputs <= 1 else _reaches(self.summit, delta)
            case NeverWraps() | NeverSaturates():
                return False  # no number here has a type

    def is_vacuous(self, claim: Property) -> bool | None:
        """Whether no input of the region meets the claim's guard; None as for `breaks`."""
        match claim:
            case Margin(margin):
                return not any(self._decisions(Fraction(margin)))
            case Confidence(delta) if Fraction(delta) * self.outputs > 1:
                highest = Summit()
                for piece, k, polytope in self._decisions(Fraction(0)):
                    highest.climb(polytope, self._scores(piece), piece.denominator, k)
                reached = _reaches(highest, Fraction(delta))
                return None if reached is None else not reached
        return not self.pieces

    def greatest_distance(self, norm: Norm, chosen: Sequence[int] | None = None) -> Maximum | None:
        """Of g - f on some outputs (l2: its square); None on an empty region."""
        indices = range(self.outputs) if chosen is None else chosen

        return _greatest((piece.polytope, partial(_distance, piece, norm, indices)) for piece in self.pieces)

    def greatest_value(self, candidate: Sequence[Fraction], reference: Sequence[Fraction]) -> Maximum | None:
        """Of candidate . g + reference . f; None on an empty region."""
        return _greatest(
            (piece.polytope, _value(_combine(piece, candidate, reference, Fraction(0)))) for piece in self.pieces
        )

    def _breaks_linear(self, a: Sequence[Fraction], b: Sequence[Fraction], bound: Fraction, *, strict: bool) -> bool:
        greatest = self.greatest_value(a, b)
        if greatest is None or greatest.value < bound:
            return False
        if greatest.value > bound or not strict:
            return greatest.value > bound
        return any(self._counts(piece.polytope.cut(_combine(piece, a, b, bound)[0])) for piece in self.pieces)

    def greatest_lead(self, margin: Fraction) -> Maximum | None:
        """Of g_j - g_k where f decides for k by the margin; None if it never does, or there is one class only."""
        return _greatest(
            (polytope, _value((lead, piece.denominator)))
            for piece, k, polytope in self._decisions(margin)
            for lead in self._leads(piece, k)
        )

    def _has_lead(self, margin: Fraction) -> bool:
        return any(
            multiply(lead, point) > 0
            for piece, k, polytope in self._decisions(margin)
            for lead in self._leads(piece, k)
            for point in polytope.points
        )

    @cached_property
    def greatest_margin(self) -> Maximum | None:
        """The greatest margin (least upper bound) of f over all inputs where g decides otherwise; None if none does."""
        parts = []
        for piece, k, polytope in self._disagreements:
            scores = self._scores(piece)
            for second in range(self.outputs):
                part = polytope
                for other in range(self.outputs):
                    if second != k and other not in (k, second):
                        part = part.cut(_minus(scores[second], scores[other]))
                if second != k and part:
                    parts.append((part, _value((_minus(scores[k], scores[second]), piece.denominator))))
        return _greatest(parts)

    @cached_property
    def summit(self) -> Summit:
        """The greatest log odds of f's confidence over all inputs where g decides otherwise."""
        summit = Summit()
        for piece, k, polytope in self._disagreements:
            summit.climb(polytope, self._scores(piece), piece.denominator, k)
        return summit

    @cached_property
    def _disagreements(self) -> list[tuple[Piece, int, Polytope]]:
        """Closures of the sets of inputs where f decides for k and some other g_j is greater than g_k."""
        return [
            (piece, k, polytope.cut(lead))
            for piece, k, polytope in self._decisions(Fraction(0))
            for lead in self._leads(piece, k)
            if any(multiply(lead, point) > 0 for point in polytope.points)
        ]

    def _decisions(self, margin: Fraction) -> Iterator[tuple[Piece, int, Polytope]]:
        """Where f decides for k by at least the margin."""
        for piece in self.pieces:
            scores = self._scores(piece)
            for k in range(self.outputs):
                polytope = piece.polytope
                for other in range(self.outputs):
                    if other != k and polytope:
                        ahead = [a * margin.denominator for a in _minus(scores[k], scores[other])]
                        ahead[-1] -= margin.numerator * piece.denominator
                        polytope = polytope.cut(tuple(ahead))
                if self._counts(polytope):
                    yield piece, k, polytope

    def _scores(self, piece: Piece) -> list[Row]:
        return [tuple(self._sign * a for a in row) for row in piece.reference]

    def _leads(self, piece: Piece, k: int) -> list[Row]:
        """g_j - g_k for all j other than k."""
        return [
            tuple(self._sign * (a - b) for a, b in zip(row, piece.candidate[k], strict=True))
            for j, row in enumerate(piece.candidate)
            if j != k
        ]


def log_odds(delta: Fraction) -> float:
    """ln(delta / (1 - delta))."""
    odds = delta / (1 - delta)
    return log(odds.numerator) - log(odds.denominator)


def _reaches(summit: Summit, delta: Fraction) -> bool | None:
    if summit.low is None or summit.high is None:
        return False
    threshold = log_odds(delta)
    if threshold < summit.low - BORDER:
        return True
    return False if threshold > summit.high + BORDER else None


def _greatest(parts: Iterable[tuple[Polytope, Callable[[Point], Fraction]]]) -> Maximum | None:
    best: tuple[Fraction, Point] | None = None
    for polytope, value in parts:
        for point in polytope.points:
            here = value(point)
            if best is None or here > best[0]:
                best = here, point
    return None if best is None else Maximum(best[0], coordinates(best[1]))


def _distance(piece: Piece, norm: Norm, indices: Sequence[int], point: Point) -> Fraction:
    gaps = [abs(multiply(piece.candidate[o], point) - multiply(piece.reference[o], point)) for o in indices]
    denominator = piece.denominator * point[-1]
    match norm:
        case "linf":
            return Fraction(max(gaps), denominator)
        case "l1":
            return Fraction(sum(gaps), denominator)
        case "l2":
            return Fraction(sum(gap * gap for gap in gaps), denominator**2)


def _value(functional: tuple[Row, int]) -> Callable[[Point], Fraction]:
    row, denominator = functional
    return lambda point: Fraction(multiply(row, point), denominator * point[-1])


def _combine(piece: Piece, a: Sequence[Fraction], b: Sequence[Fraction], bound: Fraction) -> tuple[Row, int]:
    """a . g + b . f - bound as a row and its denominator."""
    (*coefficients, constant), factor = whole([*a, *b, bound])
    rows = (*piece.candidate, *piece.reference)
    mixed = [sum(c * x for c, x in zip(coefficients, column, strict=True)) for column in zip(*rows, strict=True)]
    mixed[-1] -= constant * piece.denominator
    return tuple(mixed), factor * piece.denominator


def _minus(a: Row, b: Row) -> Row:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _fractions(numbers: Sequence[int | float | str | Fraction]) -> list[Fraction]:
    return [Fraction(number) for number in numbers]
