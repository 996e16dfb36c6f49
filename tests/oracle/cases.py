"""One case for each clause of what the sentences mean, on functions simple enough to see the answer.

Numbers are exactly representable unless they must not be. At a boundary that is met exactly (`exact`) bounds meet a
threshold with nothing to spare, or only a tie breaks the claim; rounding may then leave the verdict unknown, but the
wrong verdict is wrong there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eqspec.property import Confidence, Epsilon, Linear, Margin, Norm, Property, Top1
from eqspec.tasks.task import LinearConstraint
from oracle.pairs import Pair
from oracle.pieces import Layers

Numbers = Sequence[Fraction | float | int]
TINY = Fraction(1, 2**40)


@dataclass(frozen=True)
class Case:
    """f and g by rows (coefficients of x, then a constant), the box, the claim, and whether it breaks."""

    name: str
    f: Sequence[Numbers]
    g: Sequence[Numbers]
    box: Sequence[tuple[Fraction | float | int, Fraction | float | int]]
    claim: Property
    breaks: bool
    exact: bool = False
    where: tuple[LinearConstraint, ...] = ()
    lowest_wins: bool = False

    @property
    def pair(self) -> Pair:
        lower, upper = (tuple(Fraction(bounds[side]) for bounds in self.box) for side in (0, 1))
        f, g = _affine(self.f), _affine(self.g)
        return Pair("unrelated", f, g, lower, upper, self.where, "min" if self.lowest_wins else "max")


def _affine(rows: Sequence[Numbers]) -> Layers:
    """Through a ReLU layer, as x = relu(x) - relu(-x), so that bounds have something to do."""
    table = np.array(rows, np.float64)
    size = table.shape[1] - 1
    twice = np.concatenate([np.eye(size), -np.eye(size)])
    return [(twice, np.zeros(2 * size)), (np.concatenate([table[:, :-1], -table[:, :-1]], axis=1), table[:, -1])]


def half_space(*coefficients: int, below: Fraction | float | int, strict: bool = False) -> LinearConstraint:
    return LinearConstraint(tuple(map(Fraction, coefficients)), Fraction(below), strict)


UNIT = [(0, 1)]
AROUND = [(-1, 1)]
TENTH = Fraction(1, 10)

NORMS: list[tuple[Norm, Fraction]] = [("linf", Fraction(1, 2)), ("l1", Fraction(7, 8)), ("l2", Fraction(5, 8))]
"""The lengths of (3, 4) / 8."""
BY_NORM = [
    Case(f"{norm} {word}", [[0, 0]] * 2, [[3 / 8, 0], [4 / 8, 0]], UNIT, Epsilon(eps + by, norm), breaks, exact=not by)
    for norm, eps in NORMS
    for word, by, breaks in (("missed", -TINY, True), ("reached", Fraction(0), False), ("kept", TINY, False))
]

DISTANCE = [
    # f = 0, g = x on [0, 1/4]: the distance is 1/4, attained at a corner
    Case("eps reached", [[0, 0]], [[1, 0]], [(0, 0.25)], Epsilon(Fraction(1, 4)), breaks=False, exact=True),
    Case("eps just missed", [[0, 0]], [[1, 0]], [(0, 0.25)], Epsilon(Fraction(1, 4) - TINY), breaks=True),
    Case("eps just kept", [[0, 0]], [[1, 0]], [(0, 0.25)], Epsilon(Fraction(1, 4) + TINY), breaks=False),
    Case("eps from below", [[1, 0]], [[0, 0]], [(0, 0.25)], Epsilon(Fraction(1, 4) - TINY), breaks=True),
    Case("eps 0, equal", [[1, 0]], [[1, 0]], AROUND, Epsilon(0), breaks=False),
    Case("eps 0, not equal", [[1, 0]], [[1, 2**-30]], AROUND, Epsilon(0), breaks=True),
    *BY_NORM,
    # differences that cancel in the sum with signs: |x| + |-x| = 2 |x|
    Case("l1 adds absolute values", [[0, 0]] * 2, [[1, 0], [-1, 0]], AROUND, Epsilon(1, "l1"), breaks=True),
    Case("l1 is not linf", [[0, 0]] * 2, [[1, 0], [-1, 0]], AROUND, Epsilon(2 + TINY, "l1"), breaks=False),
    # only the second output differs
    Case("others compared", [[1, 0], [0, 0]], [[1, 0], [1, 0]], UNIT, Epsilon(TENTH, "linf", (0,)), breaks=False),
    Case("this one compared", [[1, 0], [0, 0]], [[1, 0], [1, 0]], UNIT, Epsilon(TENTH, "linf", (1,)), breaks=True),
    # no float is 1/10: neither the bound of the box nor eps may be read as the nearest one
    Case("tenths reached", [[1, 0]], [[2, 0]], [(0, TENTH)], Epsilon(TENTH), breaks=False, exact=True),
    Case("tenths missed", [[1, 0]], [[2, 0]], [(0, TENTH)], Epsilon(TENTH - Fraction(1, 10**20)), breaks=True),
    Case(
        "tenths kept", [[1, 0]], [[2, 0]], [(0, TENTH)], Epsilon(TENTH + Fraction(1, 10**20)), breaks=False, exact=True
    ),
]

DECISIONS = [
    Case("a tie in g alone", [[0, 1], [0, 0]], [[0, 1], [0, 1]], AROUND, Top1(), breaks=False, exact=True),
    Case("a tie in f that g breaks", [[0, 1], [0, 1]], [[0, 1], [0, 0]], AROUND, Top1(), breaks=True),
    Case("both tie", [[0, 1], [0, 1]], [[0, 2], [0, 2]], AROUND, Top1(), breaks=False, exact=True),
    # f = (x, -x) ties at x = 0 only, a corner of [0, 1]; g decides for the first there, so the second breaks it
    Case("a tie in one corner", [[1, 0], [-1, 0]], [[1, 1], [0, 0]], UNIT, Top1(), breaks=True),
    Case("no tie beside it", [[1, 0], [-1, 0]], [[1, 1], [0, 0]], [(2**-20, 1)], Top1(), breaks=False),
    Case("three classes, two tie", [[0, 1], [0, 1], [0, 0]], [[0, 1], [0, 0], [0, 0]], UNIT, Top1(), True),
    Case("the last class turns", [[1, 2], [0, 1], [0, 0]], [[1, 0], [0, -1], [0, 0.5]], UNIT, Top1(), breaks=True),
    Case("one class", [[1, 0]], [[-1, 0]], AROUND, Top1(), breaks=False),
    # f decides for the first class on (0, 1]; g does on [1/4, 1]
    Case("g later than f", [[1, 0], [0, 0]], [[1, -0.25], [0, 0]], [(0.25, 1)], Top1(), breaks=False, exact=True),
    Case("g too late", [[1, 0], [0, 0]], [[1, -0.25], [0, 0]], [(0.25 - 2**-20, 1)], Top1(), breaks=True),
    Case("lowest wins", [[1, 0], [0, 0]], [[-1, 0], [0, 0]], [(1, 2)], Top1(), breaks=True, lowest_wins=True),
    Case("lowest agrees", [[1, 0], [0, 0]], [[2, 1], [0, 0]], [(1, 2)], Top1(), breaks=False, lowest_wins=True),
    # g disagrees for x < 1/2, where the margin of f is x
    Case("margin at the turn", [[1, 0], [0, 0]], [[1, -0.5], [0, 0]], UNIT, Margin(Fraction(1, 2)), False, exact=True),
    Case("margin below", [[1, 0], [0, 0]], [[1, -0.5], [0, 0]], UNIT, Margin(Fraction(1, 2) - TINY), breaks=True),
    Case("margin above", [[1, 0], [0, 0]], [[1, -0.5], [0, 0]], UNIT, Margin(Fraction(1, 2) + TINY), breaks=False),
    # g disagrees everywhere; f has the margin 1 in one corner only
    Case("margin in a corner", [[1, 0], [0, 0]], [[0, 0], [0, 1]], UNIT, Margin(1), breaks=True),
    Case("margin never", [[1, 0], [0, 0]], [[0, 0], [0, 1]], UNIT, Margin(1 + TINY), breaks=False),
    Case(
        "margin over all others",
        [[1, 0], [0, 0], [1, -0.25]],
        [[0, 0], [0, 1], [0, 0]],
        UNIT,
        Margin(0.5),
        breaks=False,
    ),
]

# f = (x, 0): softmax_0 = 1 / (1 + exp(-x)). g decides otherwise for x < 1. sigmoid(1) = 0.7310585786...
TWO = ([[1, 0], [0, 0]], [[1, -1], [0, 0]], [(0, 2)])
# f = (x, 0, 0): softmax_0 = exp(x) / (exp(x) + 2), at x = 1 it is 0.5761168847...
THREE = ([[1, 0], [0, 0], [0, 0]], [[1, -1], [0, 0], [0, -1]], [(0, 2)])

CONFIDENCE = [
    Case("two classes, below", *TWO, Confidence(Fraction("0.7310585")), breaks=True),
    Case("two classes, above", *TWO, Confidence(Fraction("0.7310586")), breaks=False),
    Case("three classes, below", *THREE, Confidence(Fraction("0.576")), breaks=True),
    # the polytope x >= ln(delta / (1 - delta)) = 0.307 contains disagreements, where the true softmax is too small
    Case("three classes, above", *THREE, Confidence(Fraction("0.5762")), breaks=False),
    # at 0.74 > sigmoid(1) the polytope is beyond 1 too
    Case("three classes, far above", *THREE, Confidence(Fraction("0.74")), breaks=False),
    Case("never so confident", *TWO, Confidence(Fraction("0.999")), breaks=False),
    # it is the reference's confidence that counts
    Case("f unsure, g sure", [[1, 0], [0, 0]], [[-9, 0], [0, 0]], UNIT, Confidence(Fraction("0.9")), breaks=False),
    Case("f sure, g unsure", [[9, 0], [0, 0]], [[-1, 0], [0, 0]], UNIT, Confidence(Fraction("0.9")), breaks=True),
    # two classes: 1/2 is Top-1, the tie included
    Case("half is Top-1", *TWO, Confidence(Fraction(1, 2)), breaks=True),
    Case("half, tie", [[0, 1], [0, 1]], [[0, 1], [0, 0]], UNIT, Confidence(Fraction(1, 2)), breaks=True),
    # no class of three has less than a third, so 1/3 and below say nothing
    Case("a third", [[0, 0]] * 3, [[0, 1], [0, 0], [0, 0]], UNIT, Confidence(Fraction(1, 3)), breaks=True),
    Case("below a third", [[1, 2**-9], [0, 0], [0, 0]], THREE[1], UNIT, Confidence(Fraction(1, 10)), breaks=True),
    Case(
        "above a third",
        [[0, 0]] * 3,
        [[0, 1], [0, 0], [0, 0]],
        UNIT,
        Confidence(Fraction(334, 1000)),
        False,
    ),
    # three classes: 1/2 is weaker than Top-1. f = (x, 0, 0) has less than 1/2 for x < ln 2 = 0.693...
    Case("Top-1 of three", THREE[0], THREE[1], [(0, 0.6875)], Top1(), breaks=True),
    Case("half of three", THREE[0], THREE[1], [(0, 0.6875)], Confidence(Fraction(1, 2)), breaks=False),
    # below 1/2 a class may have enough confidence without being the maximum: only the maximum counts
    Case("second best", [[0, 1], [0, 0]], [[0, 1], [0, 0]], UNIT, Confidence(Fraction(1, 4)), breaks=False),
    Case(
        "second of three",
        [[0, 0.25], [0, 0], [0, -9]],
        [[0, 1], [0, 0], [0, -9]],
        UNIT,
        Confidence(Fraction(2, 5)),
        breaks=False,
    ),
    # confidences that floats cannot tell from 1
    Case("nearly certain", [[80, 0], [0, 0]], [[1, -0.5], [0, 0]], UNIT, Confidence(1 - Fraction(1, 10**20)), False),
    Case(
        "nearly certain, broken",
        [[80, 0], [0, 0]],
        [[1, -0.75], [0, 0]],
        UNIT,
        Confidence(1 - Fraction(1, 10**20)),
        True,
    ),
]

INEQUALITIES = [
    # g = x on [0, 1]
    Case("at most 1", [[0, 0]], [[1, 0]], UNIT, Linear((1,), (0,), 1), breaks=False, exact=True),
    Case("less than 1", [[0, 0]], [[1, 0]], UNIT, Linear((1,), (0,), 1, strict=True), breaks=True),
    Case("at most just less", [[0, 0]], [[1, 0]], UNIT, Linear((1,), (0,), 1 - TINY), breaks=True),
    Case("less than just more", [[0, 0]], [[1, 0]], UNIT, Linear((1,), (0,), 1 + TINY, strict=True), breaks=False),
    Case("a constant, at most", [[0, 0]], [[0, 1]], UNIT, Linear((1,), (0,), 1), breaks=False, exact=True),
    Case("a constant, less than", [[0, 0]], [[0, 1]], UNIT, Linear((1,), (0,), 1, strict=True), breaks=True),
    Case("nothing, at most 0", [[1, 0]], [[1, 0]], UNIT, Linear((0,), (0,), 0), breaks=False),
    Case("nothing, less than 0", [[1, 0]], [[1, 0]], UNIT, Linear((0,), (0,), 0, strict=True), breaks=True),
    # coefficients of the reference count with their sign: 3 g - 2 f = x + 1
    Case("both networks", [[1, 1]], [[1, 1]], UNIT, Linear((3,), (-2,), 2), breaks=False, exact=True),
    Case("both networks, broken", [[1, 1]], [[1, 1]], UNIT, Linear((3,), (-2,), 2 - TINY), breaks=True),
    # tenths that no float holds: x / 10 on [0, 1], and 1/10 < 1/10 + 1e-20
    Case("a tenth", [[0, 0]], [[1, 0]], UNIT, Linear((TENTH,), (0,), TENTH), breaks=False, exact=True),
    Case(
        "less than a tenth",
        [[0, 0]],
        [[1, 0]],
        UNIT,
        Linear((TENTH,), (0,), TENTH, strict=True),
        breaks=True,
    ),
    Case(
        "not quite a tenth",
        [[0, 0]],
        [[1, 0]],
        UNIT,
        Linear((TENTH,), (0,), TENTH - Fraction(1, 10**20)),
        True,
    ),
]

FAR = Epsilon(Fraction(1, 2))
REGIONS = [
    # g - f = x breaks eps 1/2 beyond x = 1/2
    Case("a point that breaks", [[0, 0]], [[1, 0]], [(1, 1)], FAR, breaks=True),
    Case("a point that does not", [[0, 0]], [[1, 0]], [(0.25, 0.25)], FAR, breaks=False),
    Case("a point no float holds", [[0, 0]], [[10, 0]], [(TENTH, TENTH)], Epsilon(1), breaks=False, exact=True),
    Case("a point no float holds breaks", [[0, 0]], [[10, 0]], [(TENTH, TENTH)], Epsilon(1 - TINY), breaks=True),
    Case("closed bounds", [[0, 0]], [[1, 0]], [(0, 0.5)], FAR, breaks=False, exact=True),
    Case("cut off", [[0, 0]], [[1, 0]], UNIT, FAR, False, where=(half_space(1, below=Fraction(1, 4)),)),
    Case("cut off just so", [[0, 0]], [[1, 0]], UNIT, FAR, False, exact=True, where=(half_space(1, below=0.5),)),
    Case("not cut off", [[0, 0]], [[1, 0]], UNIT, FAR, True, where=(half_space(1, below=0.5 + 2**-20),)),
    # g = x >= 1 only at x = 1, which the strict constraint leaves out and the other one does not
    Case(
        "up to the border",
        [[0, 0]],
        [[1, 0]],
        UNIT,
        Linear((1,), (0,), 1, strict=True),
        breaks=True,
        where=(half_space(1, below=1),),
    ),
    Case(
        "without the border",
        [[0, 0]],
        [[1, 0]],
        UNIT,
        Linear((1,), (0,), 1, strict=True),
        breaks=False,
        exact=True,
        where=(half_space(1, below=1, strict=True),),
    ),
    Case("empty", [[0, 0]], [[1, 0]], UNIT, FAR, False, where=(half_space(1, below=-1),)),
    Case(
        "empty, but only as strict",
        [[0, 0]],
        [[1, 1]],
        UNIT,
        FAR,
        False,
        exact=True,
        where=(half_space(1, below=0, strict=True),),
    ),
    # x = y on the square: the difference x - y of the networks is 0 there, and 2 elsewhere
    Case(
        "a diagonal",
        [[1, 0, 0]],
        [[0, 1, 0]],
        [(-1, 1), (-1, 1)],
        FAR,
        breaks=False,
        where=(half_space(1, -1, below=0), half_space(-1, 1, below=0)),
    ),
    Case("half a square", [[1, 0, 0]], [[0, 1, 0]], [(-1, 1), (-1, 1)], FAR, True, where=(half_space(1, -1, below=0),)),
]

CASES = [*DISTANCE, *DECISIONS, *CONFIDENCE, *INEQUALITIES, *REGIONS]
