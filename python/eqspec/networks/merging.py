"""Two programs of steps in step: one list of steps for both, of which every one has the same rows in each.

Given are pairs (i, k) of steps of the first and the second, in the order of both, with a function in both or in
neither. The functions may differ, as where a slope was retrained or a cheaper one took the place of another. A pair
stands together; the thinner one gets channels of zeros. A step without a partner stands against an empty one: no
terms, read by nobody, with a bias of 0, or of 1 where its function has no value at 0. Steps that stand between two
pairs come first from the first network, then from the second, so that what a step reads is always earlier. Where
terms of a pair read the same steps through indices that only differ in the order of taps, both get one index, so that
the core can subtract weights.

Any pairs are sound: each program computes what it computed, whatever stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from eqspec.networks.graph_rewriting import Steps, TooLargeError, idle_bias, longer, placed, same_taps
from eqspec.networks.program import INPUTS, Step, Term, Tile, renumbered

Pairs = list[tuple[int, int]]


def of_one_form(a: Sequence[Step], b: Sequence[Step]) -> bool:
    """Whether steps stand one to one: as many, of the same rows everywhere, with a function in both or in neither."""
    return len(a) == len(b) and all((bent(x), x.rows) == (bent(y), y.rows) for x, y in zip(a, b, strict=True))


def bent(step: Step) -> bool:
    """Whether a step has a function."""
    return step.function != "identity"


def same_structure(a: Sequence[Step], b: Sequence[Step]) -> bool:
    """Whether steps stand one to one: as many, with equal sources, and a function in both or in neither."""
    return len(a) == len(b) and all((bent(x), x.sources) == (bent(y), y.sources) for x, y in zip(a, b, strict=True))


def pairs_by_shape(a: Sequence[Step], b: Sequence[Step]) -> Pairs:
    """Steps of one shape in a longest common subsequence, and the last with the last."""
    first, second = [_shape(step) for step in a[:-1]], [_shape(step) for step in b[:-1]]
    longest = np.zeros((len(first) + 1, len(second) + 1), int)
    for i in reversed(range(len(first))):
        for k in reversed(range(len(second))):
            longest[i, k] = (
                longest[i + 1, k + 1] + 1 if first[i] == second[k] else max(longest[i + 1, k], longest[i, k + 1])
            )
    return [*_common(first, second, longest), (len(a) - 1, len(b) - 1)]


def _common(
    first: list[object], second: list[object], longest: np.ndarray[tuple[int, ...], np.dtype[np.int_]]
) -> Pairs:
    pairs, i, k = [], 0, 0
    while i < len(first) and k < len(second):
        if first[i] == second[k]:
            pairs.append((i, k))
            i, k = i + 1, k + 1
        elif longest[i + 1, k] >= longest[i, k + 1]:
            i += 1
        else:
            k += 1
    return pairs


def _shape(step: Step) -> object:
    """As many rows, with a function or without: as the auditor pairs the steps of a certificate's networks."""
    return bent(step), step.rows


def merged(a: Sequence[Step], b: Sequence[Step], pairs: Pairs) -> tuple[Steps, Steps]:
    """Both programs as lists of one length, with the same rows in every place.

    Raises TooLargeError where a step cannot be given more rows because its tile would have to be written out.
    """
    first, second = Steps(), Steps()
    place_a, place_b = {INPUTS: INPUTS}, {INPUTS: INPUTS}
    for i, k in _order(len(a), len(b), pairs):
        if i is not None:
            first.append(renumbered(a[i], place_a))
            place_a[i] = len(first) - 1
        if k is not None:
            second.append(renumbered(b[k], place_b))
            place_b[k] = len(second) - 1
        if i is None:
            first.append(_nothing(second[-1]))
        if k is None:
            second.append(_nothing(first[-1]))
    for at in range(len(first)):
        first, second = _widened(first, second, at), _widened(second, first, at)
    both = [_on_one_index(x, y) for x, y in zip(first, second, strict=True)]
    return [x for x, _ in both], [y for _, y in both]


def _order(of_a: int, of_b: int, pairs: Pairs) -> Iterator[tuple[int | None, int | None]]:
    i = k = 0
    for to_i, to_k in [*pairs, (of_a, of_b)]:
        yield from ((n, None) for n in range(i, to_i))
        yield from ((None, n) for n in range(k, to_k))
        if to_i < of_a:
            yield to_i, to_k
        i, k = to_i + 1, to_k + 1


def _nothing(step: Step) -> Step:
    """What stands against a step without a partner."""
    return Step((), idle_bias(step.function, step.rows), None, step.function)


def _widened(steps: Steps, others: Steps, at: int) -> Steps:
    """Step `at` with channels of zeros up to the rows that it has in the other program."""
    step, other = steps[at], others[at]
    missing = other.rows - step.rows
    if missing <= 0:
        return steps
    if not step.terms:
        function = longer(step.function, step.rows, other.rows)
        bias = np.append(step.bias, idle_bias(function, other.rows)[step.rows :])
        error = None if step.bias_error is None else np.append(step.bias_error, np.zeros(missing))
        names = None if step.names is None else (*step.names, *[None] * missing)
        changed = list(steps)
        changed[at] = replace(step, bias=bias, bias_error=error, function=function, names=names)
        return changed
    positions = _common_positions(step, other)
    return placed(steps, at, [*range(step.rows // positions), *[None] * (missing // positions)], positions)


def _common_positions(step: Step, other: Step) -> int:
    """The largest number of positions that divides the rows of both and that a tile of either has."""
    known = {term.tile.positions for one in (step, other) for term in one.terms}
    return max((p for p in known if step.rows % p == 0 and other.rows % p == 0), default=1)


def _on_one_index(x: Step, y: Step) -> tuple[Step, Step]:
    """Terms that read the same step get one index, where that is possible."""
    first, second = list(x.terms), list(y.terms)
    changed, used = False, set[int]()
    for place, term in enumerate(first):
        for at, other in enumerate(second):
            if other.source == term.source and at not in used:
                used.add(at)
                one, two = _in_one_form(term, other)
                changed |= one is not term.tile or two is not other.tile
                first[place], second[at] = Term(term.source, one), Term(other.source, two)
                break
    return (replace(x, terms=tuple(first)), replace(y, terms=tuple(second))) if changed else (x, y)


def _in_one_form(term: Term, other: Term) -> tuple[Tile, Tile]:
    try:
        return same_taps(term.tile, other.tile)
    except TooLargeError:
        return term.tile, other.tile
