"""Steps that are sums of others, put into the steps that read them.

A step without a function is there because a file or a rewriting named a value: the products of a matrix product before
they are summed up, the factors of a product, what a concatenation puts side by side. What reads it may read what that
one reads instead,

    A2 (sum of A1_j X_j) = sum of (A2 A1_j) X_j,

so that no form of its rows is made. That is done where it takes no more products than before and where nothing is
rounded: A1_j has powers of two for weights, exactly, and there is no bias. Both networks of a pair are changed at once,
where they read alike, and remain in step.

Sound because both programs compute what they computed. A row that both share (`sharing`) stays shared where all rows
that it reads of the step that is left out are shared, since both are then one function of what stands in front of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.program import INPUTS, NONE, Array, Step, Term, Tile, renumbered
from eqspec.networks.sharing import Rows, read_alike

Both: TypeAlias = tuple[Step, Step]
_Number = TypeVar("_Number", np.float64, np.int32)


def composed(first: Sequence[Step], second: Sequence[Step], shared: Rows) -> tuple[list[Step], list[Step], Rows]:
    """Two aligned programs and the rows that they share, without the steps that their readers can do without."""
    pairs: list[Both] = list(zip(first, second, strict=True))
    rows, left_out = [np.asarray(found, bool) for found in shared], set[int]()
    readers: dict[int, set[int]] = defaultdict(set)
    for number, both in enumerate(pairs):
        for source in chain.from_iterable(step.sources for step in both):
            readers[source].add(number)
    for at in range(len(pairs) - 1):
        made = _without(pairs, at, sorted(readers[at]))
        if made is None:
            continue
        for number, step in made.items():
            rows[number] = rows[number] & _reads_shared(pairs[number][0], at, rows[at])
            pairs[number] = step
        for source in pairs[at][0].sources:
            readers[source] |= readers[at]
            readers[source].discard(at)
        left_out.add(at)
    kept = [n for n in range(len(pairs)) if n not in left_out]
    place = {INPUTS: INPUTS} | {old: new for new, old in enumerate(kept)}
    one, other = ([renumbered(pairs[n][side], place) for n in kept] for side in (0, 1))
    return one, other, [rows[n].tolist() for n in kept]


def _without(pairs: Sequence[Both], at: int, readers: Sequence[int]) -> dict[int, Both] | None:
    """The readers of a step as they are without it; None where it stays."""
    step, other = pairs[at]
    if not readers or not (_sums(step) and _sums(other) and read_alike(step.terms, other.terms)):
        return None
    before, after = step.products + other.products, 0
    made = dict[int, Both]()
    for number in readers:
        a, b = pairs[number]
        if not read_alike(_terms_on(a, at), _terms_on(b, at)):
            return None
        found = _read_through(a, at, step), _read_through(b, at, other)
        if found[0] is None or found[1] is None:
            return None
        before += a.products + b.products
        after += found[0].products + found[1].products
        made[number] = found[0], found[1]
    return made if after <= before else None


def _sums(step: Step) -> bool:
    """Whether a step is a sum of what others give, times powers of two, and nothing else."""
    if step.function != "identity" or step.bias.any() or not step.exact or not step.terms:
        return False
    return all(_powers_of_two(term.tile.weight) for term in step.terms)


def _powers_of_two(weight: Array) -> bool:
    """Whether all numbers are powers of two with a sign, so small and so large that products with them are exact."""
    mantissas, exponents = np.frexp(weight)
    return bool(((np.abs(mantissas) == 0.5) & (np.abs(exponents) < 64)).all())


def _terms_on(step: Step, source: int) -> tuple[Term, ...]:
    return tuple(term for term in step.terms if term.source == source)


def _read_through(reader: Step, at: int, step: Step) -> Step | None:
    """The reader of a step, which reads what that one reads; None where no tile does."""
    terms = list[Term]()
    for term in reader.terms:
        if term.source != at:
            terms.append(term)
            continue
        for inner in step.terms:
            tile = _product(term.tile, inner.tile)
            if tile is None:
                return None
            terms.append(Term(inner.source, tile))
    return Step(tuple(terms), reader.bias, reader.bias_error, reader.function)


def _product(outer: Tile, inner: Tile) -> Tile | None:
    """The tile of outer times inner; None where its weights would differ from position to position, or be rounded."""
    if not all(_in_the_middle(a) for a in (outer.weight, outer.weight_error) if a is not None):
        return None
    nothing = outer.index == NONE  # (G, P, K)
    group, rest = np.divmod(np.where(nothing, 0, outer.index), inner.outputs * inner.positions)
    output, position = np.divmod(rest, inner.positions)
    index = inner.index[group, position]  # (G, P, K, k)
    index[nothing] = NONE
    factors = inner.weight[group, output]  # (G, P, K, k)
    read = index != NONE
    least = np.where(read, factors, np.inf).min(axis=1)
    most = np.where(read, factors, -np.inf).max(axis=1)
    if (least < most).any():
        return None
    of_taps = np.where(np.isinf(least), 0.0, least)  # (G, K, k)
    weight = outer.weight[..., None] * of_taps[:, None]  # (G, O, K, k)
    error = None if outer.weight_error is None else outer.weight_error[..., None] * np.abs(of_taps)[:, None]
    used = read.any(axis=(0, 1)).reshape(-1)
    if not used.any():
        used[0] = True  # a tile has a tap
    return Tile(_taps(index, used), _taps(weight, used), None if error is None else _taps(error, used))


def _in_the_middle(numbers: Array) -> bool:
    """Whether no number is so small or so large that its product with a power of two might be rounded."""
    sizes = np.abs(numbers[numbers != 0])
    return bool(((sizes > 2.0**-900) & (sizes < 2.0**900)).all())


def _taps(a: NDArray[_Number], used: NDArray[np.bool_]) -> NDArray[_Number]:
    """Both axes of taps as one, with those that are used."""
    return np.ascontiguousarray(a.reshape(*a.shape[:2], -1)[:, :, used])


def _reads_shared(reader: Step, at: int, shared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of which rows of a reader all that it reads of a step is shared."""
    found = np.ones(reader.rows, bool)
    for term in _terms_on(reader, at):
        tile = term.tile
        good = ((tile.index == NONE) | shared[tile.index]).all(axis=2)  # (G, P)
        found &= np.repeat(good[:, None], tile.outputs, axis=1).reshape(-1)
    return found
