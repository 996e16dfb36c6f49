"""Products that a program has as squares, evaluated in floats as products.

A file's u v is read as s^2 - t^2 with s = (u + v) / 2 and t = (u - v) / 2 (`operators/variable_products`). In floats
that keeps nothing of a small factor beside a large one: 1e-9 times 5e8 is the difference of two squares of 6e16. So
the factors are taken from what defines them, u = s + t and v = s - t, term by term before anything is summed up:
weights of u are added to half of themselves, and those of v cancel. What reads s^2 then reads u v, and what reads t^2
reads nothing.

Two steps of squares are such a product where every step that reads one of them reads the other one by the same rows
with the opposite weights. Then W s^2 - W t^2 = W (s + t) (s - t), whatever s and t are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.enclosure import add_up
from eqspec.networks.names import define
from eqspec.networks.program import INPUTS, Array, Step, Term, Tile

_SQUARE = Curves.all(Curve("square"))


@dataclass
class Product:
    """A product: its steps s and t, and steps without a function that give u and v."""

    s: int
    t: int
    u: Step
    v: Step


def products(steps: Sequence[Step]) -> list[tuple[int, int]]:
    """The two steps s^2 and t^2 of each product, in the order of the first ones."""
    squares = [n for n, step in enumerate(steps) if step.function == _SQUARE]
    if not squares:
        return []
    readers: list[list[tuple[int, Term]]] = [[] for _ in steps]
    for number, step in enumerate(steps):
        for term in step.terms:
            if term.source != INPUTS:
                readers[term.source].append((number, term))
    found, left = list[tuple[int, int]](), list(squares)
    while left:
        one = left.pop(0)
        other = next((n for n in left if _opposite(readers[one], readers[n], steps[one].rows == steps[n].rows)), None)
        if other is not None:
            left.remove(other)
            found.append((one, other))
    return found


def factored(steps: Sequence[Step]) -> tuple[Product, ...]:
    """The products whose factors are given by the sources of both squares, in numbers that floats hold."""
    made = []
    for s, t in products(steps):
        known = all(source < s for source in steps[t].sources)
        found = factors_of(steps[s], steps[t], named=False) if known else None
        if found is not None:
            made.append(Product(s, t, *found))
    return tuple(made)


def factors_of(s: Step, t: Step, *, named: bool = True) -> tuple[Step, Step] | None:
    """Steps without a function that give u = s + t and v = s - t; None where floats do not hold their numbers.

    Where they are only evaluated their numbers need not be `named`.
    """
    u, v = _combined(s, t, 1.0, named), _combined(s, t, -1.0, named)
    return None if u is None or v is None else (u, v)


def _combined(s: Step, t: Step, sign: float, named: bool) -> Step | None:
    """The sums of s and of t, or their difference, as one step; terms that read alike become one, or none.

    None where a weight is rounded. What is not known of both adds up.
    """
    left = list(t.terms)
    terms = list[Term]()
    for term in s.terms:
        other = next((o for o in left if _alike(term, o)), None)
        made = term.tile.weight, term.tile.weight_error
        if other is not None:
            left.remove(other)
            added = _sum(made, (sign * other.tile.weight, other.tile.weight_error))
            if added is None:
                return None
            made = added
        if made[0].any() or made[1] is not None:
            terms.append(Term(term.source, Tile(term.tile.index, *made)))
    terms += [Term(o.source, Tile(o.tile.index, sign * o.tile.weight, o.tile.weight_error)) for o in left]
    bias = _sum((s.bias, s.bias_error), (sign * t.bias, t.bias_error))
    if bias is None:
        return None
    names = None
    if named and s.names is not None and t.names is not None:
        names = tuple(define(f"{sign} times", a, b) for a, b in zip(s.names, t.names, strict=True))
    return Step(tuple(terms), *bias, function="identity", names=names)


_Known: TypeAlias = tuple[Array, Array | None]
"""Numbers, and how far off they may be."""


def _sum(one: _Known, other: _Known) -> _Known | None:
    """The sum of numbers that are known so; None where a float does not hold that of the numbers."""
    (a, of_a), (b, of_b) = one, other
    total = a + b
    if ((total - a) != b).any() or ((total - b) != a).any():
        return None
    if of_a is None or of_b is None:
        return total, of_b if of_a is None else of_a
    return total, add_up(of_a, of_b)


def _alike(one: Term, other: Term) -> bool:
    """Whether two terms read the same rows of the same source in the same order."""
    a, b = one.tile, other.tile
    same = one.source == other.source and a.index.shape == b.index.shape and a.weight.shape == b.weight.shape
    return same and bool((a.index == b.index).all())


def _opposite(one: Sequence[tuple[int, Term]], other: Sequence[tuple[int, Term]], same_size: bool) -> bool:
    """Whether the same steps read both, by the same index and with opposite weights, term by term."""
    if not same_size or not one or [n for n, _ in one] != [n for n, _ in other]:
        return False
    return all(_opposite_tiles(a.tile, b.tile) for (_, a), (_, b) in zip(one, other, strict=True))


def _opposite_tiles(a: Tile, b: Tile) -> bool:
    """Whether one of two tiles is the other one with its sign turned round, as far as they are known."""
    if a.index.shape != b.index.shape or a.weight.shape != b.weight.shape or a.exact != b.exact:
        return False
    alike = a.exact or np.array_equal(a.weight_error, b.weight_error)  # type: ignore[arg-type]
    return alike and bool((a.index == b.index).all() and (a.weight == -b.weight).all())
