"""How a softmax is computed from functions of one variable that change slowly: softplus and sigmoid.

    softmax_i(x) = sigmoid(x_i - r_i),   log_softmax_i(x) = -softplus(r_i - x_i),   r_i = ln(sum over j != i of e^x_j)

and r_i comes from pairs by ln(e^a + e^b) = b + softplus(a - b), which holds for all real a and b. No function has a
slope above 1, and the last a slope above 1/4, so differences of scores are never made larger on the way. With
exponentials, 1 / (1 + sum of e^(x_j - x_i)), an exponential and the reciprocal behind it are each steep where the other
one is flat, which bounds of one function at a time do not see.

All r_i share their work in a binary tree over the scores: upwards the sums of its subtrees, downwards the sums of all
that is outside of one. n scores take less than 3 n softplus in at most 2 log2(n) + 2 rounds. Each sum begins at its
last score, so that where scores that a mask hides come first, nothing large is added and taken away again.
"""

from __future__ import annotations

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Sum:
    """A logarithm of a sum of exponentials: the score x[`score`] plus the softplus `added`, as (round, place in it)."""

    score: int
    added: tuple[tuple[int, int], ...] = ()

    @property
    def ready(self) -> int:
        """The first round that may read it."""
        return 1 + max((number for number, _ in self.added), default=-1)


@dataclass(frozen=True)
class Plan:
    """`rounds` of softplus(a - b) for pairs (a, b) that read earlier rounds only, and `rest`: r_i for every score i."""

    rounds: tuple[tuple[tuple[Sum, Sum], ...], ...]
    rest: tuple[Sum, ...]


def plan(scores: int) -> Plan:
    """The plan for at least two scores."""
    rounds: list[list[tuple[Sum, Sum]]] = []
    rest: dict[int, Sum] = {}

    def together(one: Sum, other: Sum) -> Sum:
        a, b = (one, other) if one.score < other.score else (other, one)
        number = max(a.ready, b.ready)
        if number == len(rounds):
            rounds.append([])
        rounds[number].append((a, b))
        return Sum(b.score, (*b.added, (number, len(rounds[number]) - 1)))

    def inside(low: int, high: int) -> Sum:
        if (low, high) not in known:
            middle = (low + high) // 2
            known[low, high] = Sum(low) if high - low == 1 else together(inside(low, middle), inside(middle, high))
        return known[low, high]

    def outside(low: int, high: int, others: Sum | None) -> None:
        """Hand down what is outside of a subtree: `others`, None above the root."""
        if high - low == 1:
            assert others is not None
            rest[low] = others
            return
        middle = (low + high) // 2
        for here, sibling in (((low, middle), (middle, high)), ((middle, high), (low, middle))):
            beside = inside(*sibling)
            outside(*here, beside if others is None else together(others, beside))

    known: dict[tuple[int, int], Sum] = {}
    outside(0, scores, None)
    return Plan(tuple(map(tuple, rounds)), tuple(rest[i] for i in range(scores)))
