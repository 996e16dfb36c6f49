"""Unsafe outputs to claims: which sentence of the language fails exactly where the asserts hold.

The file says what is unsafe, a spec says what must hold, so every claim is the negation of some cases. Cases are
matched up to order and brackets:

    stays within    linf: y_g - y_f > eps and y_f - y_g > eps for every compared output, each a case of its own;
                    l1: one case for each pattern of signs; l2: one case, the sum of squares > eps^2
    equals          the same with an eps of 0, for every output
    keeps top1      a case for every k != j: y_f[k] - y_f[l] >= t for all l != k, and y_g[j] > y_g[k]; t is the margin
    satisfies       what is left: every case that is one linear comparison, negated

f and g may be exchanged, and for `decide min` the scores are turned round. Anything else is no sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Literal

from eqspec.lazy_dataclass import dataclass
from eqspec.property import Epsilon, Linear, Margin, Property, Top1
from eqspec.span import Source, Span
from eqspec.vnnlib.cases import Case
from eqspec.vnnlib.query import Comparison, Element, Monomial, compare

_NOWHERE = Span(Source("<sentence>", ""), 0, 0)


@dataclass(frozen=True)
class Sentence:
    """A claim about two of the networks, counted from 0; they are the same if the file has only one."""

    claim: Property
    reference: int
    candidate: int
    decide: Literal["max", "min"] = "max"


def sentences(unsafe: Sequence[Case], networks: int, outputs: int) -> tuple[list[Sentence], list[Case]]:
    """Claims that together fail exactly where one of the cases holds, and the cases that none of them covers."""
    if networks == 2:
        for match in (_distance, _sum_of_distances, _euclidean, _top1):
            found = match(unsafe, outputs)
            if found is not None:
                return [found], []
    claims = [_linear(case[0], outputs) if len(case) == 1 else None for case in unsafe]
    rest = [case for case, claim in zip(unsafe, claims, strict=True) if claim is None]
    return list(dict.fromkeys(claim for claim in claims if claim is not None)), rest


def _single(unsafe: Sequence[Case]) -> list[Comparison] | None:
    """The comparisons, if every case is just one, and strict."""
    single = [case[0] for case in unsafe if len(case) == 1]
    return single if single and len(single) == len(unsafe) and all(c.relation == "<" for c in single) else None


def _distance(unsafe: Sequence[Case], outputs: int) -> Sentence | None:
    single = _single(unsafe)
    if single is None or not single[0].linear:
        return None
    eps = -single[0].bound
    wanted = {_gap(i, sign, eps).key for c in single for i in _entries(c) for sign in (1, -1)}
    if eps < 0 or wanted != {c.key for c in single}:
        return None
    return Sentence(Epsilon(eps, "linf", _chosen({i for c in single for i in _entries(c)}, outputs)), 0, 1)


def _gap(i: int, sign: int, eps: Fraction) -> Comparison:
    """Sign (y_g - y_f) > eps."""
    terms: dict[Monomial, Fraction] = {(Element(0, True, i),): Fraction(sign), (Element(1, True, i),): Fraction(-sign)}
    return _known(terms, -eps)


def _sum_of_distances(unsafe: Sequence[Case], outputs: int) -> Sentence | None:
    single = _single(unsafe)
    if single is None or len(single) < 4 or not single[0].linear:
        return None
    chosen, eps = sorted(_entries(single[0])), -single[0].bound
    if eps <= 0 or len(single) != 2 ** len(chosen):
        return None
    wanted = set()
    for signs in product((1, -1), repeat=len(chosen)):
        terms: dict[Monomial, Fraction] = {}
        for i, sign in zip(chosen, signs, strict=True):
            terms[(Element(0, True, i),)], terms[(Element(1, True, i),)] = Fraction(sign), Fraction(-sign)
        wanted.add(_known(terms, -eps).key)
    if wanted != {c.key for c in single}:
        return None
    return Sentence(Epsilon(eps, "l1", _chosen(chosen, outputs)), 0, 1)


def _euclidean(unsafe: Sequence[Case], outputs: int) -> Sentence | None:
    single = _single(unsafe)
    if single is None or len(single) != 1 or single[0].linear:
        return None
    chosen = _entries(single[0])
    terms: dict[Monomial, Fraction] = {}
    for i in chosen:
        ours, theirs = Element(0, True, i), Element(1, True, i)
        terms |= {(ours, ours): Fraction(-1), (ours, theirs): Fraction(2), (theirs, theirs): Fraction(-1)}
    square = -single[0].bound
    if square <= 0 or _known(terms, -square).key != single[0].key:
        return None
    eps = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return Sentence(Epsilon(eps, "l2", _chosen(chosen, outputs)), 0, 1) if eps * eps == square else None


def _known(terms: dict[Monomial, Fraction], bound: Fraction) -> Comparison:
    made = compare(terms, "<", bound, _NOWHERE)
    assert isinstance(made, Comparison)
    return made


def _entries(comparison: Comparison) -> set[int]:
    return {e.entry for e in comparison.elements}


def _chosen(entries: Iterable[int], outputs: int) -> tuple[int, ...] | None:
    chosen = tuple(sorted(entries))
    return None if len(chosen) == outputs else chosen


@dataclass(frozen=True)
class _Lead:
    """y[ahead] - y[behind] >= by, or > if strict, in one network."""

    network: int
    ahead: int
    behind: int
    by: Fraction
    strict: bool


def _lead(comparison: Comparison) -> _Lead | None:
    if len(comparison.terms) != 2 or not comparison.linear or comparison.relation == "==":
        return None
    ((first,), a), ((second,), b) = comparison.terms
    if first.network != second.network or not (first.output and second.output) or a != -b:
        return None
    behind, ahead = (first, second) if a > 0 else (second, first)
    return _Lead(first.network, ahead.entry, behind.entry, -comparison.bound, comparison.relation == "<")


def _top1(unsafe: Sequence[Case], outputs: int) -> Sentence | None:
    if outputs < 2 or len(unsafe) != outputs * (outputs - 1):
        return None
    leads: list[list[_Lead]] = []
    for case in unsafe:
        read = [_lead(comparison) for comparison in case]
        if len(read) != outputs or not all(read):
            return None
        leads.append([lead for lead in read if lead is not None])
    for reference, largest in product((0, 1), (True, False)):
        margin = _margin(leads, outputs, reference, largest=largest)
        if margin is not None:
            claim = Margin(margin) if margin else Top1()
            return Sentence(claim, reference, 1 - reference, "max" if largest else "min")
    return None


def _margin(leads: Sequence[Sequence[_Lead]], outputs: int, reference: int, *, largest: bool) -> Fraction | None:
    """The margin t, if there is a case for every k != j: k leads all others by t in f, and j leads k in g."""
    found: set[tuple[int, int]] = set()
    margins: set[Fraction] = set()
    for case in leads:
        guard = [lead for lead in case if lead.network == reference]
        broken = [lead for lead in case if lead.network != reference]
        if len(broken) != 1 or not broken[0].strict or broken[0].by or any(lead.strict for lead in guard):
            return None
        kept, preferred = (broken[0].behind, broken[0].ahead) if largest else (broken[0].ahead, broken[0].behind)
        if {lead.ahead if largest else lead.behind for lead in guard} != {kept}:
            return None
        if len({lead.behind if largest else lead.ahead for lead in guard}) != outputs - 1:
            return None
        margins |= {lead.by for lead in guard}
        found.add((kept, preferred))
    if len(found) != outputs * (outputs - 1) or len(margins) != 1 or min(margins) < 0:
        return None
    return min(margins)


def _linear(comparison: Comparison, outputs: int) -> Sentence | None:
    """The negation of one linear comparison; equations were taken apart before."""
    if not comparison.linear or comparison.relation == "==":
        return None
    rows = [[Fraction(0)] * outputs, [Fraction(0)] * outputs]
    for element, coefficient in comparison.coefficients.items():
        rows[element.network][element.entry] = -coefficient
    strict = comparison.relation == "<="
    used = [number for number in (0, 1) if any(rows[number])]
    if used == [0]:
        return Sentence(Linear(tuple(rows[0]), tuple(rows[1]), -comparison.bound, strict), 0, 0)
    reference, candidate = (0, 1) if 0 in used else (1, 1)
    theirs = rows[0] if 0 in used else [Fraction(0)] * outputs
    return Sentence(Linear(tuple(rows[1]), tuple(theirs), -comparison.bound, strict), reference, candidate)
