"""Pairs whose inputs differ, as in queries of monotonicity (X_f <= X_g): both networks over one joint input.

The joint input u is X_f followed by the entries of X_g, but for those that an assert says to be the same; or it is X_f
followed by t = X_g - X_f. With matrices P and Q of zeros and ones the query asks about f(P u) and g(Q u): two networks
with one input, which the engine compares as any others, and linear constraints on u. As every column of P and Q has at
most one 1, a first layer is rounded nowhere: its columns move, or stand twice. A graph gets a step in front that adds.

Sound because f(P u) and g(Q u) range over exactly the pairs that the query speaks of, and because the joint networks
count as other functions than f and g (`identity`), also where f and g are the same file. With the entries themselves a
counterexample is soon found, as regions are mostly boxes of them. With differences more is proved: what both networks
do to X_f cancels, and what is left is as small as t.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import AffineLayer, Network
from eqspec.networks.program import INPUTS, Step, Term, Tile, renumbered
from eqspec.vnnlib.network_binding import Bound, Subject
from eqspec.vnnlib.query import All, Assertion, Comparison, Element, Formula, Some, Tensor, compare

_ROUNDS = 4
"""The rounds in which bounds of some entries follow from those of others."""


Taken = tuple[int | None, ...]
"""For each entry of u the entry of a network's input that it is added to; None where the network does not take it."""


@dataclass(frozen=True, eq=False)
class Joint:
    """A subject over joint inputs; `taken` says what each network of the `original` takes of them."""

    subject: Subject
    original: Subject
    taken: tuple[Taken, ...]

    def split(self, point: Sequence[Fraction]) -> list[list[Fraction]]:
        """The input of each network at a joint input."""
        made = []
        for declared, taken in zip(self.original.query.networks, self.taken, strict=True):
            assert declared.input is not None
            numbers = [Fraction(0)] * declared.input.size
            for entry, x in zip(taken, point, strict=True):
                if entry is not None:
                    numbers[entry] += x
            made.append(numbers)
        return made


def join(subject: Subject, *, differences: bool) -> Joint:
    """The same question over entries of both inputs, or over those of one and `differences`; both must be declared."""
    query = subject.query
    first, second = (declared.input for declared in query.networks)
    assert first is not None
    assert second is not None
    parts = [p for assertion in query.assertions for p in _together(assertion.formula)]
    shared = {entry for part in parts if (entry := _same_entry(part)) is not None}
    apart = [entry for entry in range(second.size) if entry not in shared]
    ours: Taken = (*range(first.size), *(None for _ in apart))
    both = range(second.size) if differences else shared
    theirs: Taken = (*(i if i in both else None for i in range(first.size)), *apart)

    def name(index: int) -> str:
        """An entry of u in the words of the file: X_f[0], X_g[0] or (X_g[0] - X_f[0])."""
        if index < first.size:
            return query.named(Element(0, False, index))
        entry = apart[index - first.size]
        theirs = query.named(Element(1, False, entry))
        return f"({theirs} - {query.named(Element(0, False, entry))})" if differences else theirs

    tensor = Tensor("u", (len(ours),), first.kind, first.span, entry_name=name)
    declared = (
        replace(query.networks[0], input=tensor),
        replace(query.networks[1], input=None, like=None),
    )
    asserted = [Assertion(_moved(a.formula, (ours, theirs)), a.span) for a in query.assertions]
    asserted += _implied([p for a in asserted for p in _together(a.formula)], len(ours))
    bound = tuple(
        Bound(b.name, b.path, None if b.network is None else over(b.network, taken))
        for b, taken in zip(subject.networks, (ours, theirs), strict=True)
    )
    made = Subject(replace(query, networks=declared, assertions=tuple(asserted)), bound)
    return Joint(made, subject, (ours, theirs))


def over(network: Network, taken: Taken) -> Network:
    """u -> network(M u), M (I, len(taken)) being 1 where an entry of u is taken. It is read in real arithmetic."""
    digest = hashlib.sha256(f"{network.sha256} {network.output_name} of {taken}".encode()).hexdigest()
    source = f"{network.source} over joint inputs"
    about: dict[str, Any] = {
        "sha256": digest, "source": source, "content": None, "ports": (), "input_shape": (len(taken),)
    }  # fmt: skip
    if network.is_chain:
        weight, *others = network.layers
        error = None if weight.weight_error is None else _columns(weight.weight_error, taken)
        front = AffineLayer(_columns(weight.weight, taken), weight.bias, error, weight.bias_error)
        return network.with_layers([front, *others], **about)
    matrix = _columns(np.eye(network.input_size), taken)
    first = Step((Term(INPUTS, Tile.dense(matrix)),), np.zeros(network.input_size), None, "identity")
    place = {number: number + 1 for number in range(INPUTS, len(network.steps))}
    steps = (first, *(renumbered(step, place) for step in network.steps))
    casts = tuple(replace(cast, step=place[cast.step]) for cast in network.casts)
    return replace(network, steps=steps, casts=casts, input_size=len(taken), **about)


def _columns(weight: NDArray[np.float64], taken: Taken) -> NDArray[np.float64]:
    """(m, I) as (m, len(taken)): the column of what is taken, zeros for what is not."""
    made = np.zeros((len(weight), len(taken)))
    for place, entry in enumerate(taken):
        if entry is not None:
            made[:, place] = weight[:, entry]
    return made


def _together(formula: Formula) -> list[Formula]:
    """What holds together at the top."""
    return [p for part in formula.parts for p in _together(part)] if isinstance(formula, All) else [formula]


def _same_entry(formula: Formula) -> int | None:
    """The entry that (== X_f[i] X_g[i]) says to be the same."""
    if not isinstance(formula, Comparison) or formula.relation != "==" or formula.bound or not formula.linear:
        return None
    terms = formula.coefficients
    if len(terms) != 2 or sum(terms.values(), Fraction(0)) or any(e.output for e in terms):
        return None
    one, other = terms
    return one.entry if one.network != other.network and one.entry == other.entry else None


def _moved(formula: Formula, taken: Sequence[Taken]) -> Formula:
    """The formula with joint inputs, which count as those of the first network, multiplied out."""
    match formula:
        case All(parts):
            return All(tuple(_moved(p, taken) for p in parts))
        case Some(parts):
            return Some(tuple(_moved(p, taken) for p in parts))
        case Comparison():
            terms: dict[tuple[Element, ...], Fraction] = {}
            for monomial, coefficient in formula.terms:
                for factors in product(*(_sum_of(element, taken) for element in monomial)):
                    key = tuple(sorted(factors))
                    terms[key] = terms.get(key, Fraction(0)) + coefficient
            return compare(terms, formula.relation, formula.bound, formula.span)


def _sum_of(element: Element, taken: Sequence[Taken]) -> list[Element]:
    """What an element is the sum of."""
    if element.output:
        return [element]
    return [Element(0, False, i) for i, entry in enumerate(taken[element.network]) if entry == element.entry]


def _implied(parts: Sequence[Formula], size: int) -> list[Assertion]:
    """Bounds of entries without one that follow from the linear asserts and the bounds of others."""
    linear = [p for p in parts if isinstance(p, Comparison) and p.linear and not any(e.output for e in p.elements)]
    rows = [row for p in linear for row in _rows(p)]
    ends: tuple[dict[int, Fraction], dict[int, Fraction]] = {}, {}
    made: list[Assertion] = []
    for number in range(_ROUNDS):
        for coefficients, bound, comparison in rows:
            for entry, coefficient in coefficients.items():
                upper = coefficient > 0
                if len(coefficients) > 1 and (number == 0 or entry in ends[upper]):
                    continue  # first what is said of one entry alone, then what follows where nothing was said
                least = _least(coefficients, ends, entry)
                if least is None:
                    continue
                end = (bound - least) / coefficient
                tighter = min if upper else max
                ends[upper][entry] = tighter(ends[upper].get(entry, end), end)
                if len(coefficients) > 1:
                    sign = 1 if upper else -1
                    term: dict[tuple[Element, ...], Fraction] = {(Element(0, False, entry),): Fraction(sign)}
                    made.append(Assertion(compare(term, "<=", sign * end, comparison.span), comparison.span))
        if all(entry in side for side in ends for entry in range(size)):
            break
    return made


def _rows(comparison: Comparison) -> list[tuple[dict[int, Fraction], Fraction, Comparison]]:
    """sum c_i u_i <= bound; two of them for an equation."""
    coefficients = {e.entry: c for e, c in comparison.coefficients.items()}
    rows = [(coefficients, comparison.bound, comparison)]
    if comparison.relation == "==":
        rows.append(({i: -c for i, c in coefficients.items()}, -comparison.bound, comparison))
    return rows


def _least(
    coefficients: Mapping[int, Fraction], ends: tuple[Mapping[int, Fraction], Mapping[int, Fraction]], but: int
) -> Fraction | None:
    """The least that the other terms add up to; None where that is not known."""
    total = Fraction(0)
    for entry, coefficient in coefficients.items():
        if entry != but:
            end = ends[coefficient < 0].get(entry)
            if end is None:
                return None
            total += coefficient * end
    return total
