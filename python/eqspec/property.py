"""What can be claimed of a pair: f is the reference, g the candidate, x ranges over the region.

This is the one list of the kinds of property. The checker of specs makes them, lowering, replay, wording, JSON and
VNN-LIB take them apart, each in a `match` that names every kind: mypy reports each place where a new kind is missing.

Numbers are exact. A Python float is read as the shortest decimal that denotes it, as in a spec: 0.1 is one tenth.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Literal, Never, NoReturn, TypeAlias, get_args

from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass

Number: TypeAlias = int | float | str | Fraction
Norm = Literal["linf", "l1", "l2"]


def exact(number: Number | Rational) -> Fraction:
    """The rational a number stands for; InputError if it stands for none."""
    try:
        if isinstance(number, float):
            return Fraction(repr(float(number)))
        if isinstance(number, Rational):  # integers of numpy stay what they are inside of a Fraction, and wrap there
            return Fraction(int(number.numerator), int(number.denominator))
        return Fraction(str(number))  # a float32 of numpy is its own shortest decimal too
    except (ValueError, TypeError, ZeroDivisionError):
        message = f"{number!r} is not an exact number; give an int, a finite float, a Fraction or text like '8/255'"
        raise InputError(message) from None


@dataclass(frozen=True)
class Epsilon:
    """||(g - f)(x)|_outputs||_norm <= eps at every x; `outputs` None means all.

    Of a file that ends in Softmax, f(x) and g(x) are the logits in front of it, not probabilities; `verify` then has to
    be told `scores="logits"`.
    """

    eps: Number
    norm: Norm = "linf"
    outputs: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Top1:
    """Every class that is a maximum of f(x) is a maximum of g(x)."""


@dataclass(frozen=True)
class Margin:
    """Top-1 wherever the best class of f leads every other by at least `margin`.

    Of a file that ends in Softmax the scores are the logits in front of it; a lead of probabilities implies theirs.
    """

    margin: Number


@dataclass(frozen=True)
class Confidence:
    """Top-1 wherever the softmax of f gives some class at least `delta`."""

    delta: Number


@dataclass(frozen=True)
class Linear:
    """candidate . g(x) + reference . f(x) <= bound (strictly below if `strict`) at every x.

    Of a file that ends in Softmax, f(x) and g(x) are the logits in front of it, not probabilities; `verify` then has to
    be told `scores="logits"`.
    """

    candidate: tuple[Number, ...]
    reference: tuple[Number, ...]
    bound: Number
    strict: bool = False


@dataclass(frozen=True)
class NeverWraps:
    """Every number that g computes in a type that wraps lies in its type at every x. f plays no part.

    A sum that is brought into its type once is one number: what leaves the type on the way and comes back is none.
    """


@dataclass(frozen=True)
class NeverSaturates:
    """Every number that g computes in a type that saturates lies in its type at every x. f plays no part."""


Decision: TypeAlias = Top1 | Margin | Confidence
"""The claims about which class a network decides for. They are unchanged by what keeps the order of the scores."""
INSTEAD_OF_A_DECISION = (
    "where the sign of a score decides, a distance of 2.197 keeps every decision of which the reference is 90 % sure, "
    "and so does 0.4 between probabilities"
)
"""What to claim of networks with one output, which is the first among the outputs whatever it is."""
Guarded: TypeAlias = Margin | Confidence
"""The claims that say something only where a guard is met, and nothing at all, vacuously, where nothing meets it."""
Comparison: TypeAlias = Epsilon | Linear
"""The claims that compare output values. They depend on what the outputs are: logits or probabilities."""
Containment: TypeAlias = NeverWraps | NeverSaturates
"""The claims that what one network computes on the way stays in its types. They are decided by integers alone."""
Property: TypeAlias = Decision | Comparison | Containment


def without_arrays(claim: Property) -> Property:
    """The same claim with tuples in place of arrays, and outputs as integers of Python; InputError if they are none."""
    try:
        match claim:
            case Epsilon(_, _, chosen) if chosen is not None:
                return replace(claim, outputs=tuple(int(operator.index(i)) for i in chosen))
            case Linear(candidate, reference, _, strict):
                return replace(claim, candidate=tuple(candidate), reference=tuple(reference), strict=bool(strict))
            case Epsilon() | Top1() | Margin() | Confidence() | NeverWraps() | NeverSaturates():
                return claim
            case _:
                _refuse(claim)
    except TypeError as error:
        raise InputError(f"{claim!r}: {error}; outputs and coefficients are sequences of numbers") from None


def validate(claim: Property, outputs: int) -> None:
    """InputError, naming the value and what is accepted, unless the claim makes sense for so many outputs."""
    match claim:
        case Epsilon(eps, norm, chosen):
            if exact(eps) < 0:
                raise InputError(f"eps = {eps} is negative; give a distance, 0 or more")
            if norm not in get_args(Norm):
                raise InputError(f"unknown norm {norm!r}; one of {', '.join(get_args(Norm))}")
            _validate_outputs(chosen, outputs)
        case Margin(margin):
            if exact(margin) < 0:
                raise InputError(f"margin = {margin} is negative, which every input meets; use Top1()")
        case Confidence(delta):
            if not 0 < exact(delta) < 1:
                raise InputError(
                    f"delta = {delta} is not a confidence a softmax can reach; give a number between 0 and 1"
                )
        case Linear(candidate, reference, bound):
            for name, coefficients in (("candidate", candidate), ("reference", reference)):
                if len(coefficients) != outputs:
                    raise InputError(f"{len(coefficients)} {name} coefficients for networks with {outputs} outputs")
                for coefficient in coefficients:
                    exact(coefficient)
            exact(bound)
        case Top1() | NeverWraps() | NeverSaturates():
            pass
        case _:
            _refuse(claim)


def _refuse(claim: Never) -> NoReturn:
    """For callers without a type checker. The parameter's type makes mypy report a kind that `validate` misses."""
    raise InputError(f"{claim!r} is not a property; one of {', '.join(kind.__name__ for kind in get_args(Property))}")


def _validate_outputs(chosen: Sequence[int] | None, outputs: int) -> None:
    if chosen is None:
        return
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError(f"outputs = {tuple(chosen)}: name at least one output, each once")
    for index in chosen:
        if not 0 <= index < outputs:
            raise InputError(f"there is no output {index}: the networks have {outputs}, counted from 0")
