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

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.program import INPUTS, Step, Term, Tile

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
    """The products whose factors are given by the sources of both squares."""
    made = []
    for s, t in products(steps):
        if all(source < s for source in steps[t].sources):
            made.append(Product(s, t, _combined(steps[s], steps[t], 1.0), _combined(steps[s], steps[t], -1.0)))
    return tuple(made)


def _combined(s: Step, t: Step, sign: float) -> Step:
    """The sums of s and of t, or their difference, as one step; terms that read alike become one, or none."""
    left = list(t.terms)
    terms = list[Term]()
    for term in s.terms:
        other = next((o for o in left if _alike(term, o)), None)
        weight = term.tile.weight
        if other is not None:
            left.remove(other)
            weight = weight + sign * other.tile.weight
        if weight.any():
            terms.append(Term(term.source, Tile(term.tile.index, weight)))
    terms += [Term(term.source, Tile(term.tile.index, sign * term.tile.weight)) for term in left]
    return Step(tuple(terms), s.bias + sign * t.bias, function="identity")


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
