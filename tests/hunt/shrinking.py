"""Makes a case that goes wrong small, step by step, as long as it goes wrong: what is left is what matters.

Steps: plainer modes, no constraints, fixed inputs, layers and neurons and outputs left out, weights 0, 1 or fewer
digits. Each step that keeps some complaint is kept; the truth is found anew for every changed case. A case on two
threads is asked a few times, because it may go wrong only now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np

from eqspec.property import Confidence, Epsilon, Linear, Margin
from hunt.cases import Case, Mode
from hunt.judging import judge
from oracle.pairs import Pair
from oracle.pieces import Layers

MOST_TRIES = 3000
Wrong = Callable[[Case], str | None]


def wrong(case: Case) -> str | None:
    """The complaint about a case, asked for more than once where answers may differ."""
    for _ in range(4 if case.mode.threads > 1 else 1):
        if (complaint := judge(case).complaint) is not None:
            return complaint
    return None


def shrink(case: Case, complaint: str, ask: Wrong = wrong) -> tuple[Case, str]:
    """The smallest case found that goes wrong, and how it does."""
    at, improved = 0, False
    for _ in range(MOST_TRIES):
        change = next(islice(_changes(case), at, None), None)
        if change is None:
            if not improved:
                break
            at, improved = 0, False
            continue
        try:
            smaller = change()
            found = ask(smaller)
        except (ArithmeticError, ValueError, IndexError, AssertionError):  # no case any more
            found = None
        if found is None:
            at += 1
        else:  # what came behind this change has moved up to its place, more or less
            case, complaint, improved = smaller, found, True
    return case, complaint


def _changes(case: Case) -> Iterator[Callable[[], Case]]:
    """Simpler cases, those that simplify most first."""
    for mode in _modes(case.mode):
        yield partial(replace, case, mode=mode)
    for pair in _pairs(case.pair):
        yield partial(case.with_pair, pair)
    if isinstance(case.claim, Epsilon | Margin | Confidence | Linear):
        for digits in (-1000, -100, 0, 3, 10, 25):
            yield partial(_rounded_claim, case, digits)


def _modes(mode: Mode) -> Iterator[Mode]:
    plain = Mode(boxes=mode.boxes, seed=mode.seed)
    for name, value in vars(plain).items():
        if getattr(mode, name) != value:
            yield replace(mode, **{name: value})
    if mode.boxes > 1:
        yield replace(mode, boxes=1)
        yield replace(mode, boxes=mode.boxes // 2)


def _pairs(pair: Pair) -> Iterator[Pair]:
    for index in range(len(pair.constraints)):
        yield replace(pair, constraints=(*pair.constraints[:index], *pair.constraints[index + 1 :]))
    if pair.decide == "min":
        yield replace(pair, decide="max")
    if len(pair.lower) > 1:
        for index in range(len(pair.lower)):
            yield _without_input(pair, index)
    for layers in _networks(pair.reference):
        yield replace(pair, reference=layers)
    for layers in _networks(pair.candidate):
        yield replace(pair, candidate=layers)
    for index, (low, high) in enumerate(zip(pair.lower, pair.upper, strict=True)):
        middle = (low + high) / 2
        whole = (Fraction(round(low)), Fraction(round(high)))
        unit = (Fraction(0), Fraction(1))
        for a, b in (unit, whole, (low, low), (high, high), (low, middle), (middle, high)):
            if a <= b and (a, b) != (low, high):
                yield replace(
                    pair,
                    lower=(*pair.lower[:index], a, *pair.lower[index + 1 :]),
                    upper=(*pair.upper[:index], b, *pair.upper[index + 1 :]),
                )


def _without_input(pair: Pair, index: int) -> Pair:
    """The input at 0."""

    def left(layers: Layers) -> Layers:
        (weight, bias), *rest = layers
        return [(np.ascontiguousarray(np.delete(weight, index, axis=1)), bias), *rest]

    return replace(
        pair,
        reference=left(pair.reference),
        candidate=left(pair.candidate),
        lower=pair.lower[:index] + pair.lower[index + 1 :],
        upper=pair.upper[:index] + pair.upper[index + 1 :],
        constraints=tuple(
            replace(c, coefficients=c.coefficients[:index] + c.coefficients[index + 1 :]) for c in pair.constraints
        ),
    )


def _networks(layers: Layers) -> Iterator[Layers]:
    """Without a neuron; with a weight 0, a small whole number or of fewer digits."""
    for at, (weight, bias) in enumerate(layers[:-1]):
        if len(bias) > 1:
            following, rest = layers[at + 1]
            for neuron in range(len(bias)):
                smaller = [*layers]
                smaller[at] = (np.delete(weight, neuron, axis=0), np.delete(bias, neuron))
                smaller[at + 1] = (np.ascontiguousarray(np.delete(following, neuron, axis=1)), rest)
                yield smaller
    for at, arrays in enumerate(layers):
        for part, array in enumerate(arrays):
            for place in np.ndindex(array.shape):
                number = float(array[place])
                whole = float(round(number)) if abs(number) < 1e15 else number
                with np.errstate(over="ignore"):
                    short = float(np.float32(number))
                for simpler in (0.0, 1.0, whole, short):
                    if _simplicity(simpler) < _simplicity(number):
                        changed = array.copy()
                        changed[place] = simpler
                        both = (changed, arrays[1]) if part == 0 else (arrays[0], changed)
                        yield [*layers[:at], both, *layers[at + 1 :]]


def _simplicity(number: float) -> int:
    return 0 if number == 0 else 1 if number == 1 else 1 + len(repr(number))


def _rounded_claim(case: Case, digits: int) -> Case:
    """The threshold with fewer binary digits."""

    def short(number: Fraction) -> Fraction:
        return round(number * Fraction(2) ** digits) / Fraction(2) ** digits

    claim, changed = case.claim, case.claim
    match claim:
        case Epsilon():
            changed = replace(claim, eps=short(Fraction(claim.eps)))
        case Margin():
            changed = replace(claim, margin=short(Fraction(claim.margin)))
        case Confidence():
            changed = replace(claim, delta=short(Fraction(claim.delta)))
        case Linear():
            changed = replace(claim, bound=short(Fraction(claim.bound)))
    if changed == claim or (isinstance(changed, Confidence) and not 0 < Fraction(changed.delta) < 1):
        raise ValueError("nothing shorter")
    return case.with_claim(changed)
